//! What happens to requests: they arrive, attempts move on, timers and callers' patience run out.

use windtunnel_policy::event::{Action, AttemptRef, Event, Left, Request, RequestRef, Tries};
use windtunnel_policy::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::target::{ClassId, TenantId};
use windtunnel_policy::{Duration, Instant, Money};

use super::Simulation;
use super::alarm::Woken;
use super::gateways::Dealt;
use super::occurrence::Occurrence;
use super::open::{Asker, Complete, End, Latest, Open};
use crate::fleet::{Notice, NoticeKind};
use crate::queue::{EventKey, Rank};
use crate::record::{AttemptRow, Sink};
use crate::scenario::Layer;
use crate::world::{KillSwitch, Marks, World, WorldRequest};

/// What is asked of the gateway, and who asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// What the world knows of it.
    pub(super) request: WorldRequest,
    /// Its number in the run.
    pub(super) index: u64,
    /// The interval of its arrival.
    pub(super) interval: usize,
    /// Whether it counts in the measures.
    pub(super) measured: bool,
    /// The position of its totals: by arm of a split, then by class.
    pub(super) account: u16,
    /// The gateway it comes to, however often.
    pub(super) gateway: u16,
    /// The closed loop's user that waits for it.
    pub(super) asker: Option<Asker>,
}

/// Whose account a closed request goes to: what is still needed of [`Asked`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose {
    /// The position of its totals.
    pub(super) account: u16,
    /// The interval of its arrival.
    pub(super) interval: usize,
    /// What was special about it.
    pub(super) marks: Marks,
    /// The closed loop's user that waits for it.
    pub(super) asker: Option<Asker>,
}

impl Asked {
    /// Whose account it goes to.
    pub(super) fn whose(&self) -> Whose {
        let Asked { account, interval, asker, .. } = *self;
        Whose { account, interval, marks: self.request.marks, asker }
    }
}

/// The handle of a place that no request has had yet.
const NOBODY: RequestRef = RequestRef { slot: u32::MAX, generation: u32::MAX };

impl Simulation<'_> {
    /// Schedules the next question of a closed loop's user.
    pub(super) fn think(&mut self, now: Instant, asker: Asker, world: &World) {
        let n = self.asked[usize::from(asker.closed_loop)][asker.user as usize];
        let at = now + world.think(asker.closed_loop.into(), asker.user, n);
        let key = EventKey::new(at, Rank::Arrival, u64::from(asker.user), asker.closed_loop);
        let ask = Occurrence::Ask { closed_loop: asker.closed_loop, user: asker.user };
        self.queue.push(key, ask);
    }

    pub(super) fn arrive(
        &mut self,
        now: Instant,
        request: &WorldRequest,
        index: u64,
        asker: Option<Asker>,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let inside = world.measured_from <= now && now < world.measured_to;
        let own_fault = request.marks.has(Marks::INVALID) || request.marks.has(Marks::CANCELS);
        let measured = inside && !own_fault;
        self.ledger.arrive();
        self.measured_open += u64::from(measured);
        let interval = self.interval.at(now);
        if !own_fault {
            self.totals.interval(interval).requests += 1;
        }
        let Dealt { arm, gateway } = self.gateways.deal(request);
        let account = arm * self.scenario.classes.len() as u16 + request.class;
        let asked = Asked { request: *request, index, interval, measured, account, gateway, asker };
        if self.layers.around(request.class) {
            return self.undertake(now, asked, world, sink);
        }
        match self.door.is_open() {
            true => self.enter(now, &asked, None, now, world, sink),
            false => self.knock(now, asked, None, world, sink),
        }
    }

    /// A request comes to the gateway, alone or as one of an action.
    #[inline]
    pub(super) fn receive(
        &mut self,
        now: Instant,
        asked: &Asked,
        action: Option<u32>,
        world: &World,
        sink: &mut impl Sink,
    ) {
        match self.door.is_open() {
            true => self.enter(now, asked, action, now, world, sink),
            false => self.knock(now, *asked, action, world, sink),
        }
    }

    /// A request comes in that came to the door at `since`.
    pub(super) fn enter(
        &mut self,
        now: Instant,
        asked: &Asked,
        action: Option<u32>,
        since: Instant,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let Asked { ref request, index, gateway, .. } = *asked;
        let path = action.map_or(0, |action| self.layers.path(action));
        let left = self.left(now, request, action, since);
        let (first, tries) = match action {
            Some(action) => (self.layers.number(action), self.layers.tries(action)),
            None => (index, Tries::FIRST),
        };
        let event = Event::Arrived(Request {
            id: index,
            salt: request.salt(path),
            class: ClassId(request.class),
            input_tokens: request.input,
            max_output_tokens: request.max_output,
            streamed: request.marks.has(Marks::STREAMED),
            session: request.session,
            tenant: TenantId(request.tenant),
            action: first,
            tries,
            left,
        });
        self.gateways.hear(now, gateway.into(), event, &mut self.actions);
        self.queue_gossip();
        sink.routed(now, &event, &self.actions);
        let handle =
            self.actions.iter().find_map(Action::request).expect("an arrival leads to an action");
        let slot = handle.slot as usize;
        if let Some(open) = self.open.get_mut(slot) {
            open.reopen(handle, asked);
        } else {
            // Slots of several gateways lie between each other's.
            self.open.resize_with(slot, || Open::new(NOBODY, asked));
            self.open.push(Open::new(handle, asked));
        }
        self.layers.hold(handle, action);
        self.carry_out(now, world, sink);
        let deadline = self.scenario.classes[usize::from(request.class)].deadline;
        if request.patience <= deadline {
            self.note_patience(now, handle, request.at + request.patience);
        }
    }

    /// The caller of a request that has just come in goes away at `until`, if it is still open then.
    /// Most are not: where a wake-up comes before, that is queued then.
    fn note_patience(&mut self, now: Instant, handle: RequestRef, until: Instant) {
        let open = &mut self.open[handle.slot as usize];
        if open.handle != handle {
            return;
        }
        match open.alarm.wakes_before(until) {
            true => open.patience = Some(until),
            false => self.queue_patience(now, handle, until),
        }
    }

    fn queue_patience(&mut self, now: Instant, handle: RequestRef, until: Instant) {
        let index = self.open[handle.slot as usize].index;
        let key = EventKey::new(until, Rank::Cancel, index, 0);
        self.timers.push(now, key, Occurrence::Patience(handle));
    }

    /// What is left of the budget of a request that came to the door at `since`.
    #[inline]
    fn left(
        &mut self,
        now: Instant,
        request: &WorldRequest,
        action: Option<u32>,
        since: Instant,
    ) -> Left {
        let class = usize::from(request.class);
        let retries = self.scenario.classes[class].retries.as_ref();
        if since == now && retries.is_none() {
            return Left::ALL;
        }
        self.left_of(now, request, action, since)
    }

    /// The same where it waited, or where its class says who repeats.
    #[cold]
    fn left_of(
        &mut self,
        now: Instant,
        request: &WorldRequest,
        action: Option<u32>,
        since: Instant,
    ) -> Left {
        let class = usize::from(request.class);
        let retries = self.scenario.classes[class].retries.as_ref();
        let facts = &self.scenario.topology.classes[class];
        let after_waiting = |limit: Duration| match limit {
            Duration::MAX => limit,
            limit => limit.saturating_sub(now - since),
        };
        let mut left = Left {
            first_output: after_waiting(facts.deadline_first_output),
            total: after_waiting(facts.deadline_total),
            ..Left::ALL
        };
        let Some(retries) = retries else { return left };
        let spent = match action {
            Some(action) => {
                let (ends, attempts) = self.layers.budget(action);
                left.total = left.total.min(ends.since(now));
                attempts
            }
            None => 0,
        };
        left.attempts = retries.attempts.map_or(u16::MAX, |all| all.saturating_sub(spent));
        if retries.owner.is_some_and(|owner| owner != Layer::Gateway) {
            left.attempts = 1;
        }
        left
    }

    /// A wake-up of a request comes.
    fn on_wake_up(
        &mut self,
        now: Instant,
        request: RequestRef,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let open = &mut self.open[request.slot as usize];
        if open.handle != request {
            return;
        }
        let woken = open.alarm.wake(now);
        if let Some(until) = open.patience.take() {
            self.queue_patience(now, request, until);
        }
        match woken {
            Woken::ForNothing => {}
            Woken::TooEarly(at, epoch) => self.queue_wake_up(now, request, at, epoch),
            Woken::Fires(epoch) => {
                if self.watches_idle {
                    self.report_progress(now, request, sink);
                }
                self.tell(now, Event::Timer { request, epoch }, world, sink);
            }
        }
    }

    #[inline]
    pub(super) fn on_occurrence(
        &mut self,
        now: Instant,
        occurrence: Occurrence,
        world: &World,
        sink: &mut impl Sink,
    ) {
        match occurrence {
            Occurrence::Timer(request) => self.on_wake_up(now, request, world, sink),
            // Most of those who would have lost patience have been answered.
            Occurrence::Patience(request) if self.open[request.slot as usize].handle != request => {
            }
            _ => self.on_other(now, occurrence, world, sink),
        }
    }

    /// What happens seldom.
    #[inline(never)]
    fn on_other<S: Sink>(
        &mut self,
        now: Instant,
        occurrence: Occurrence,
        world: &World,
        sink: &mut S,
    ) {
        match occurrence {
            Occurrence::Timer(request) => self.on_wake_up(now, request, world, sink),
            Occurrence::Patience(request) => {
                self.tell(now, Event::Cancelled(request), world, sink);
            }
            Occurrence::NotSent(attempt) => {
                let open = &mut self.open[attempt.request.slot as usize];
                if open.take_up(attempt) {
                    open.end_latest::<S>(
                        now,
                        &End {
                            status: 0,
                            failure: Some(FailureClass::Transport),
                            phase: Some(Phase::BeforeHeaders),
                            cancelled: false,
                            usage: Usage::default(),
                            bill: Money::ZERO,
                        },
                    );
                    self.ledger.end(Money::ZERO);
                    self.tell(now, Event::NotSent(attempt), world, sink);
                }
            }
            Occurrence::Judged { gateway, target, done } => {
                let event = Event::TaskJudged { target, done };
                self.gateways.tell(now, gateway.into(), event, &mut self.actions);
                sink.routed(now, &event, &self.actions);
                self.carry_out(now, world, sink);
            }
            Occurrence::Record(attempt) => self.on_record(now, attempt, world, sink),
            Occurrence::UpstreamCall(attempt) => self.on_upstream_call(now, attempt),
            Occurrence::Layer { action, epoch } => self.on_layer(now, action, epoch, world, sink),
            Occurrence::Ask { closed_loop, user } if self.takes_in(now, world) => {
                let asked = &mut self.asked[usize::from(closed_loop)][user as usize];
                let request = world.ask(closed_loop.into(), user, *asked, now);
                *asked += 1;
                let index = self.next_index;
                self.next_index += 1;
                self.arrive(now, &request, index, Some(Asker { closed_loop, user }), world, sink);
            }
            Occurrence::WaitedEnough(ticket) => self.on_waited_enough(now, ticket, world, sink),
            Occurrence::Admit(gateway) => self.admit(now, gateway, world, sink),
            Occurrence::Gossip(policy) => self.on_gossip(now, policy, world, sink),
            Occurrence::Operator(position) => {
                let KillSwitch { target, off, .. } = world.switches[position as usize];
                let event = Event::KillSwitch { target, off };
                self.gateways.tell_all(now, event, &mut self.actions);
                sink.routed(now, &event, &self.actions);
                self.carry_out(now, world, sink);
            }
            Occurrence::Ask { .. } => {}
        }
    }

    /// Tells the router when the stream of a request was last seen, so that its idle timeout needs
    /// no event per token.
    fn report_progress(&mut self, now: Instant, request: RequestRef, sink: &mut impl Sink) {
        let Open { latest, row, rival, .. } = &self.open[request.slot as usize];
        for (latest, number) in [(*latest, row.number), (rival.latest, rival.row.number)] {
            let Latest::InFlight(fleet) = latest else { continue };
            if let Some(at) = self.fleet.last_output(now, fleet) {
                let attempt = AttemptRef { request, number };
                self.route(now, Event::Progress { attempt, at }, sink);
            }
        }
    }

    pub(super) fn on_notice<S: Sink>(
        &mut self,
        now: Instant,
        notice: &Notice,
        world: &World,
        sink: &mut S,
    ) {
        let attempt = notice.attempt;
        if let NoticeKind::CallsTool(key) = notice.kind {
            return self.on_tool_call(now, attempt, key, sink);
        }
        let open = &mut self.open[attempt.request.slot as usize];
        if !open.take_up(attempt) {
            return;
        }
        match notice.kind {
            NoticeKind::CallsTool(_) => {}
            NoticeKind::Headers => {
                open.row.headers = Some(now);
                self.tell(now, Event::Headers(attempt), world, sink);
            }
            NoticeKind::FirstChunk => {
                open.row.first_chunk = Some(now);
                self.tell(now, Event::FirstChunk(attempt), world, sink);
            }
            NoticeKind::FirstOutput => {
                open.row.first_output = Some(now);
                // Headers, or a chunk without content, that were passed on before are no output.
                if let Some(released) = &mut open.released {
                    *released = now;
                }
                self.tell(now, Event::FirstOutput(attempt), world, sink);
            }
            NoticeKind::Ended { usage, answer, task_done, contract_ok, bill } => {
                self.end_tool(attempt, false);
                let open = &mut self.open[attempt.request.slot as usize];
                let broken = answer == Answer::Invalid;
                let end = End {
                    status: 200,
                    failure: broken.then_some(FailureClass::ContractFailure),
                    phase: Some(Phase::AfterOutput),
                    cancelled: false,
                    usage,
                    bill,
                };
                open.end_latest::<S>(now, &end);
                let AttemptRow { number, recovery, sent, target, .. } = open.row;
                open.complete = Some(Complete {
                    number,
                    target,
                    recovery,
                    sent,
                    ended: now,
                    cost: bill,
                    contract_ok,
                    task_done,
                });
                let hides = open.row.hidden_calls > 0;
                self.end_attempt(attempt, target.0, bill);
                if hides {
                    self.tell_calls(now, attempt, sink);
                }
                self.tell(now, Event::Ended { attempt, usage, answer }, world, sink);
            }
            NoticeKind::Failed { failure, bill } => {
                self.end_tool(attempt, false);
                if self.is_hidden(now, attempt, &failure, bill) {
                    return;
                }
                let open = &mut self.open[attempt.request.slot as usize];
                let Failure { class, status, phase, usage, .. } = failure;
                let end = End {
                    status,
                    failure: Some(class),
                    phase: Some(phase),
                    cancelled: false,
                    usage,
                    bill,
                };
                open.end_latest::<S>(now, &end);
                let (target, hides) = (open.row.target.0, open.row.hidden_calls > 0);
                self.end_attempt(attempt, target, bill);
                if hides {
                    self.tell_calls(now, attempt, sink);
                }
                self.tell(now, Event::Failed { attempt, failure }, world, sink);
            }
        }
    }

    #[inline]
    pub(super) fn end_attempt(&mut self, attempt: AttemptRef, target: u16, bill: Money) {
        self.pool.give_back(self.gateways.of(attempt.request), usize::from(target));
        self.ledger.end(bill);
    }
}
