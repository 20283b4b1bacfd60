//! What the router is told, and what it says: sends, timers, aborts, decisions.

use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::{Action, AttemptRef, Decision, Event, RequestRef, Send};
use windtunnel_policy::outcome::{FailureClass, Usage};
use windtunnel_policy::{Instant, Money};

use super::Simulation;
use super::occurrence::Occurrence;
use super::open::{End, Latest};
use super::tools::NO_ATTEMPT;
use crate::fleet::Order;
use crate::queue::{EventKey, Rank};
use crate::record::Sink;
use crate::scenario::Scenario;
use crate::world::{Marks, World, WorldRequest};

impl Simulation<'_> {
    #[inline(always)]
    pub(super) fn tell(&mut self, now: Instant, event: Event, world: &World, sink: &mut impl Sink) {
        self.route(now, event, sink);
        self.carry_out(now, world, sink);
    }

    /// Tells the router, and keeps what it says for [`Simulation::carry_out`].
    #[inline(always)]
    pub(super) fn route(&mut self, now: Instant, event: Event, sink: &mut impl Sink) {
        self.gateways.handle(now, event, &mut self.actions);
        self.queue_gossip();
        sink.routed(now, &event, &self.actions);
    }

    /// Queues the arrival of what replicas tell each other.
    #[inline]
    pub(super) fn queue_gossip(&mut self) {
        if self.gateways.shares() {
            self.queue_gossip_there_is();
        }
    }

    #[cold]
    fn queue_gossip_there_is(&mut self) {
        while let Some((at, policy)) = self.gateways.next_gossip() {
            let key = EventKey::new(at, Rank::Completion, policy.into(), 0);
            self.queue.push(key, Occurrence::Gossip(policy));
        }
    }

    /// What replicas have told each other arrives: at all but the one that told it, in their order.
    pub(super) fn on_gossip(
        &mut self,
        now: Instant,
        policy: u16,
        world: &World,
        sink: &mut impl Sink,
    ) {
        while let Some((from, fact, replicas)) = self.gateways.arrived(now, policy) {
            for gateway in replicas.filter(|&gateway| gateway != from) {
                let event = Event::Learnt(fact);
                self.gateways.tell(now, gateway, event, &mut self.actions);
                sink.learnt(now, gateway, &event, &self.actions);
                self.carry_out(now, world, sink);
            }
        }
        self.queue_gossip();
    }

    /// Does what the router said. Its commonest answers are each carried out by themselves: the loop over
    /// any actions costs 45 instructions more. Actions are looked at where the router wrote them: a copy
    /// reads in larger pieces what was written in smaller ones just before, and waits for that.
    #[inline(always)]
    pub(super) fn carry_out(&mut self, now: Instant, world: &World, sink: &mut impl Sink) {
        let mut actions = std::mem::take(&mut self.actions);
        match actions[..] {
            [] => {}
            // What follows the first output of a stream.
            [Action::Release(attempt)] => self.release(now, attempt),
            // What follows most arrivals.
            [Action::Send(ref send), Action::SetTimer { request, at, epoch }] => {
                self.send(now, send, sink);
                self.set_timer(now, request, at, epoch);
            }
            // What follows the end of most streams, …
            [Action::Finish { request, ref result }] => {
                self.close(now, request, result, world, sink);
            }
            // … of most other answers, …
            [Action::Release(attempt), Action::Finish { request, ref result }] => {
                self.release(now, attempt);
                self.close(now, request, result, world, sink);
            }
            // … and of most failures.
            [Action::Decided { attempt, decision }, Action::SetTimer { request, at, epoch }] => {
                self.note_decision(attempt, decision, sink);
                self.set_timer(now, request, at, epoch);
            }
            _ => self.carry_out_all(&actions, now, world, sink),
        }
        actions.clear();
        self.actions = actions;
    }

    /// The same whatever it said. What an action takes is in functions of their own: in one body
    /// with this loop, they would all be prepared for before the first action is looked at.
    #[inline(never)]
    fn carry_out_all(
        &mut self,
        actions: &[Action],
        now: Instant,
        world: &World,
        sink: &mut impl Sink,
    ) {
        for action in actions {
            match *action {
                Action::Send(ref send) => self.send(now, send, sink),
                Action::SetTimer { request, at, epoch } => self.set_timer(now, request, at, epoch),
                Action::Release(attempt) => self.release(now, attempt),
                Action::Decided { attempt, decision } => {
                    self.note_decision(attempt, decision, sink);
                }
                Action::Finish { request, ref result } => {
                    self.close(now, request, result, world, sink);
                }
                Action::Cancel { attempt, class } => self.abort(now, attempt, class, sink),
                Action::Reconcile(attempt) => self.ask_record(now, attempt),
                Action::LookUp { request, .. } => {
                    self.ask_record(now, AttemptRef { request, number: NO_ATTEMPT });
                }
                Action::Breaker { breaker, state, until } => {
                    let breaker = (self.gateways.latest(), breaker);
                    self.watch.on_breaker(now, breaker, state, until, world);
                }
            }
        }
    }

    /// Output of an attempt is passed to the caller from now on.
    #[inline]
    fn release(&mut self, now: Instant, attempt: AttemptRef) {
        self.open[attempt.request.slot as usize].released.get_or_insert(now);
    }

    /// It is known what follows an attempt that ended.
    #[inline]
    fn note_decision<S: Sink>(&mut self, attempt: AttemptRef, decision: Decision, sink: &mut S) {
        let slot = attempt.request.slot as usize;
        if S::KEEPS_ROWS {
            let open = &mut self.open[slot];
            if open.latest == Latest::Pending {
                open.seen().decision = Some(decision);
            }
        }
        if decision == Decision::Await {
            self.turn_to_rival(slot, sink);
        }
    }

    /// Sets the one timer of a request.
    #[inline(always)]
    fn set_timer(&mut self, now: Instant, request: RequestRef, at: Instant, epoch: u32) {
        if self.open[request.slot as usize].alarm.set(at, epoch) {
            self.queue_wake_up(now, request, at, epoch);
        }
    }

    /// Queues a wake-up of a request, at the place in the order of its timer of that epoch.
    #[inline(never)]
    pub(super) fn queue_wake_up(
        &mut self,
        now: Instant,
        request: RequestRef,
        at: Instant,
        epoch: u32,
    ) {
        let index = self.open[request.slot as usize].index;
        let key = EventKey::new(at, Rank::Timer, index, epoch as u16);
        self.timers.push(now, key, Occurrence::Timer(request));
    }

    #[inline(never)]
    fn send<S: Sink>(&mut self, now: Instant, send: &Send, sink: &mut S) {
        let slot = send.attempt.request.slot as usize;
        self.flush(slot, sink);
        if send.recovery == Some(RecoveryAction::Hedge) {
            self.open[slot].turn();
        }
        self.ledger.start();
        let target = usize::from(send.target.0);
        let connected = self.pool.take(self.gateways.of(send.attempt.request), target);
        let open = &mut self.open[slot];
        open.begin_row::<S>(send, connected, now);
        if !connected {
            open.latest = Latest::Unsent;
            let key = EventKey::new(now, Rank::Completion, open.index, send.attempt.number);
            self.queue.push(key, Occurrence::NotSent(send.attempt));
            return;
        }
        self.proxies.hold(now, send);
        let tool_at = self.plan_tool(send.attempt);
        let open = &mut self.open[slot];
        let before = open.count_send(send.target);
        let nth_on_target = self.layers.count(slot, 0, before);
        let prefix = match self.fleet.remembers() {
            true => prefix(self.scenario, &open.request),
            false => 0,
        };
        let order = Order {
            request: &open.request,
            request_index: open.index,
            attempt: send.attempt,
            target: send.target,
            nth_on_target,
            streamed: open.request.marks.has(Marks::STREAMED),
            headers_matter: self.headers_matter,
            chunk_matters: self.chunk_matters,
            prefix,
            tool_at,
            deadline: now + send.timeout,
        };
        open.latest = Latest::InFlight(self.fleet.submit(now, &order));
        self.totals.interval(self.interval.at(now)).sent += 1;
    }

    #[inline(never)]
    fn abort<S: Sink>(
        &mut self,
        now: Instant,
        attempt: AttemptRef,
        class: Option<FailureClass>,
        sink: &mut S,
    ) {
        let slot = attempt.request.slot as usize;
        if self.open[slot].row.number != attempt.number {
            // The other one ended first: its row comes first.
            self.flush(slot, sink);
        }
        let open = &mut self.open[slot];
        assert!(open.take_up(attempt), "the router aborts only what is in flight");
        let (usage, bill) = match open.latest {
            Latest::InFlight(fleet) => {
                let bill = self.fleet.abort(now, fleet);
                self.end_tool(attempt, self.fleet.runs_on(fleet));
                (bill.usage, bill.money)
            }
            _ => (Usage::default(), Money::ZERO),
        };
        let open = &mut self.open[attempt.request.slot as usize];
        let end = End { status: 0, failure: class, phase: None, cancelled: true, usage, bill };
        let pausing = open.latest == Latest::Pausing;
        open.end_latest::<S>(now, &end);
        // The call that its proxy was about to make is not made.
        open.row.hidden_calls -= u8::from(pausing);
        if open.row.was_sent {
            let gateway = self.gateways.of(attempt.request);
            self.pool.give_back(gateway, usize::from(open.row.target.0));
        }
        self.ledger.end(bill);
        if class.is_none() {
            self.turn_to_rival(slot, sink);
        }
    }

    /// The attempt at hand is over, and nothing more is decided about it: on to the other one, if
    /// that is still in flight.
    #[inline(never)]
    fn turn_to_rival(&mut self, slot: usize, sink: &mut impl Sink) {
        self.flush(slot, sink);
        let open = &mut self.open[slot];
        if open.has_rival() {
            open.turn();
        }
    }

    /// Hands on the row of the attempt that ended last, now that what follows is decided.
    #[inline(always)]
    pub(super) fn flush<S: Sink>(&mut self, slot: usize, sink: &mut S) {
        let open = &mut self.open[slot];
        if open.latest == Latest::Pending {
            open.latest = Latest::Done;
            if open.measured {
                let first = match self.gateways.arms() {
                    // By far the commonest, and a division is slow.
                    1 => 0,
                    _ => {
                        let arm = usize::from(open.account) / self.scenario.classes.len();
                        arm * self.scenario.targets.len()
                    }
                };
                self.totals.targets[first + usize::from(open.row.target.0)]
                    .end(&open.counted_row());
            }
            if S::KEEPS_ROWS {
                sink.attempt(&open.seen_row());
            }
        }
    }
}

/// Tokens that the prompt of a request shares with the one before it.
#[inline]
pub(super) fn prefix(scenario: &Scenario, request: &WorldRequest) -> u32 {
    let share = scenario.classes[usize::from(request.class)].shared_prefix;
    share.of(request.input.into()) as u32
}
