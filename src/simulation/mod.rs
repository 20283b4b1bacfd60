//! The event loop: the only place where world, fleet, router and records meet.
//!
//! Arrivals and weather are cursors over the world; everything else that will happen is in one
//! queue. Whatever comes first is handed to the fleet or to the router, and what they say is
//! carried out at once. Events of one instant come in the order of [`Rank`].

mod interval;
mod open;
mod pool;
mod watch;

use windtunnel_policy::config::{Policy, Problem};
use windtunnel_policy::event::{
    Action, AttemptRef, Event, Outcome, Request, RequestRef, Send, Terminal,
};
use windtunnel_policy::outcome::{Failure, FailureClass, Phase, Usage};
use windtunnel_policy::target::{ClassId, Group, Role, Topology};
use windtunnel_policy::{Duration, Instant, Money, Router};

use self::interval::Interval;
use self::open::{Asker, Complete, End, Latest, Open};
use self::pool::Pool;
use self::watch::Watch;
use crate::draw::{NameHash, Purpose};
use crate::fleet::{Fleet, Notice, NoticeKind, Order};
use crate::ledger::Ledger;
use crate::occurrence::Occurrence;
use crate::queue::{EventKey, EventQueue, Rank, Timers};
use crate::record::{AttemptRow, ClassTotals, RequestRow, RunTotals, Sink, TargetTotals};
use crate::scenario::Scenario;
use crate::world::{Marks, World, WorldRequest};

/// Runs one policy in worlds of one scenario, reusing its room from run to run.
pub struct Simulation<'s> {
    scenario: &'s Scenario,
    router: Router,
    fleet: Fleet,
    queue: EventQueue<Occurrence>,
    /// What is far off and mostly stale when it comes up: the router's timers, callers' patience.
    timers: Timers<Occurrence>,
    interval: Interval,
    pool: Pool,
    watch: Watch,
    open: Vec<Open>,
    measured_open: u64,
    asked: Vec<Vec<u32>>,
    next_index: u64,
    ledger: Ledger,
    totals: RunTotals,
    actions: Vec<Action>,
    notices: Vec<Notice>,
    watches_idle: bool,
}

impl<'s> Simulation<'s> {
    /// A simulation of this policy in this scenario.
    ///
    /// # Errors
    /// What is wrong with the policy, or with the policy for this scenario.
    pub fn new(scenario: &'s Scenario, policy: &Policy) -> Result<Simulation<'s>, Vec<Problem>> {
        Simulation::over(scenario, scenario.topology.clone(), policy)
    }

    /// The same with nothing to choose from: each route class has its reference target alone.
    ///
    /// # Errors
    /// What is wrong with the policy, or with the policy for this scenario.
    pub fn at_reference(
        scenario: &'s Scenario,
        policy: &Policy,
    ) -> Result<Simulation<'s>, Vec<Problem>> {
        let mut topology = scenario.topology.clone();
        for (class, model) in topology.classes.iter_mut().zip(&scenario.classes) {
            class.groups = vec![Group { role: Role::Primary, targets: vec![model.reference] }];
        }
        Simulation::over(scenario, topology, policy)
    }

    fn over(
        scenario: &'s Scenario,
        topology: Topology,
        policy: &Policy,
    ) -> Result<Simulation<'s>, Vec<Problem>> {
        let router = Router::new(policy.clone(), topology)?;
        let covers =
            router.breakers().map(|(_, covers)| covers.iter().map(|t| t.0).collect()).collect();
        let targets = scenario.targets.len();
        let actions = Vec::with_capacity(router.max_actions_per_event());
        Ok(Simulation {
            scenario,
            watches_idle: policy.timeouts.idle_stream.is_some(),
            router,
            fleet: Fleet::new(scenario),
            queue: EventQueue::with_capacity(4096),
            timers: Timers::new(constant_delays(scenario, policy)),
            interval: Interval::new(scenario.file.interval),
            pool: Pool::new(&scenario.file.gateway, targets),
            watch: Watch::new(covers, targets),
            open: Vec::with_capacity(1024),
            measured_open: 0,
            asked: Vec::new(),
            next_index: 0,
            ledger: Ledger::default(),
            totals: RunTotals::default(),
            actions,
            notices: Vec::with_capacity(64),
        })
    }

    /// Runs the policy in one world, to the close of its last request.
    ///
    /// # Panics
    /// Where the accounts do not balance: a fault of the simulator.
    pub fn run(&mut self, world: &World, sink: &mut impl Sink) -> RunTotals {
        self.reset(world);
        let (mut arrivals, mut edges) = (0, 0);
        let mut now = Instant::ZERO;
        loop {
            let arrival = world.requests.get(arrivals).filter(|r| self.takes_in(r.at, world));
            let asks = self.takes_in(now, world) && !world.closed_loops.is_empty();
            if arrival.is_none() && !asks && self.ledger.open() == 0 && self.fleet.in_flight() == 0
            {
                break;
            }
            let arrival_key = arrival.map_or(EventKey::NEVER, |r| {
                EventKey::new(r.at, Rank::Arrival, arrivals as u64, 0)
            });
            let edge = world.weather.edges.get(edges);
            let edge_key = edge
                .map_or(EventKey::NEVER, |e| EventKey::new(e.at, Rank::Weather, edges as u64, 0));
            self.totals.events += 1;
            let before = arrival_key.min(edge_key);
            if let Some((key, occurrence)) = self.next_before(before) {
                now = key.at();
                self.on_occurrence(now, occurrence, world, sink);
            } else if edge_key < arrival_key {
                now = edge_key.at();
                // All the weather of an instant, then what is heard of it: who goes elsewhere
                // because of it meets the new weather there.
                for edge in world.weather.edges[edges..].iter().take_while(|e| e.at == now) {
                    let (queue, notices) = (&mut self.queue, &mut self.notices);
                    self.fleet.on_edge(now, edge, &world.weather, queue, notices);
                    edges += 1;
                }
                self.on_notices(now, world, sink);
            } else if let Some(request) = arrival {
                now = request.at;
                self.arrive(now, *request, arrivals as u64, None, world, sink);
                arrivals += 1;
            } else {
                let waited_for = asks || self.ledger.open() > 0;
                assert!(!waited_for, "a request is open, but nothing will ever happen to it");
                self.fleet.drop_stranded(now);
            }
        }
        self.finish(world, now)
    }

    /// Takes what comes next, unless that is not before `limit`.
    #[inline]
    fn next_before(&mut self, limit: EventKey) -> Option<(EventKey, Occurrence)> {
        let timer = self.timers.peek();
        if timer >= limit {
            return self.queue.pop_before(limit);
        }
        if let Some(event) = self.queue.pop_before(timer) {
            return Some(event);
        }
        self.timers.pop()
    }

    /// Whether requests that come at this time are taken in: until all measured ones are closed.
    fn takes_in(&self, at: Instant, world: &World) -> bool {
        at < world.measured_to || self.measured_open > 0
    }

    fn reset(&mut self, world: &World) {
        self.router.reset();
        self.fleet.reset(world);
        self.queue.clear();
        self.timers.clear();
        self.interval.reset();
        self.pool.reset();
        self.watch.reset(world);
        self.measured_open = 0;
        self.ledger = Ledger::default();
        self.next_index = world.requests.len() as u64;
        self.totals = RunTotals {
            classes: vec![ClassTotals::default(); self.scenario.classes.len()],
            targets: vec![TargetTotals::default(); self.scenario.targets.len()],
            measured: world.measured_to - world.measured_from,
            ..RunTotals::default()
        };
        self.asked.clear();
        for (i, closed_loop) in world.closed_loops.iter().enumerate() {
            self.asked.push(vec![0; closed_loop.users as usize]);
            for user in 0..closed_loop.users {
                self.think(Instant::ZERO, Asker { closed_loop: i as u16, user }, world);
            }
        }
    }

    fn finish(&mut self, world: &World, end: Instant) -> RunTotals {
        self.ledger.assert_balanced(world.options.seed);
        assert_eq!(self.pool.in_use(), 0, "seed {}: connections not returned", world.options.seed);
        assert_eq!(
            self.router.permits_out(),
            0,
            "seed {}: probe permits leaked",
            world.options.seed
        );
        self.fleet.assert_idle();
        let mut totals = std::mem::take(&mut self.totals);
        self.watch.finish(world, end, &mut totals);
        totals.budget_asks = self.router.budget_asks();
        totals.budget_denials = self.router.budget_denials();
        totals.requests = self.ledger.arrived();
        totals
    }

    /// Schedules the next question of a closed loop's user.
    fn think(&mut self, now: Instant, asker: Asker, world: &World) {
        let n = self.asked[usize::from(asker.closed_loop)][asker.user as usize];
        let at = now + world.think(asker.closed_loop.into(), asker.user, n);
        let key = EventKey::new(at, Rank::Arrival, u64::from(asker.user), asker.closed_loop);
        let ask = Occurrence::Ask { closed_loop: asker.closed_loop, user: asker.user };
        self.queue.push(key, ask);
    }

    fn arrive(
        &mut self,
        now: Instant,
        request: WorldRequest,
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
        let event = Event::Arrived(Request {
            id: index,
            salt: request.key.draw(Purpose::Salt, NameHash::NONE, 0),
            class: ClassId(request.class),
            input_tokens: request.input,
            max_output_tokens: request.max_output,
            streamed: request.marks.has(Marks::STREAMED),
            session: request.session,
        });
        self.route(now, event, sink);
        let handle =
            self.actions.iter().find_map(request_of).expect("an arrival leads to an action");
        let slot = handle.slot as usize;
        if let Some(open) = self.open.get_mut(slot) {
            open.reopen(handle, request, index, interval, measured, asker);
        } else {
            assert_eq!(slot, self.open.len(), "the router hands out slots in order");
            self.open.push(Open::new(handle, request, index, interval, measured, asker));
        }
        let deadline = self.scenario.classes[usize::from(request.class)].deadline;
        if request.patience <= deadline {
            let key = EventKey::new(now + request.patience, Rank::Cancel, index, 0);
            self.timers.push(now, key, Occurrence::Patience(handle));
        }
        self.carry_out(now, world, sink);
    }

    fn on_occurrence(
        &mut self,
        now: Instant,
        occurrence: Occurrence,
        world: &World,
        sink: &mut impl Sink,
    ) {
        match occurrence {
            Occurrence::Work { .. } | Occurrence::Wall { .. } | Occurrence::Background { .. } => {
                self.fleet.on_occurrence(now, occurrence, &mut self.queue, &mut self.notices);
                self.on_notices(now, world, sink);
            }
            Occurrence::Timer(request) => {
                let open = &mut self.open[request.slot as usize];
                if open.handle != request {
                    return;
                }
                if open.wake_up == Some(now) {
                    open.wake_up = None;
                }
                let (at, epoch) = open.timer;
                if at != now {
                    // Replaced since, or fired by another wake-up of this moment.
                    return;
                }
                open.timer.0 = Instant::FAR_FUTURE;
                if self.watches_idle {
                    self.report_progress(now, request, sink);
                }
                self.tell(now, Event::Timer { request, epoch }, world, sink);
            }
            Occurrence::Patience(request) => {
                if self.open[request.slot as usize].handle == request {
                    self.tell(now, Event::Cancelled(request), world, sink);
                }
            }
            Occurrence::NotSent(attempt) => {
                let open = &mut self.open[attempt.request.slot as usize];
                if open.waits_for(attempt) {
                    open.end_latest(
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
            Occurrence::Ask { closed_loop, user } if self.takes_in(now, world) => {
                let asked = &mut self.asked[usize::from(closed_loop)][user as usize];
                let request = world.ask(closed_loop.into(), user, *asked, now);
                *asked += 1;
                let index = self.next_index;
                self.next_index += 1;
                self.arrive(now, request, index, Some(Asker { closed_loop, user }), world, sink);
            }
            Occurrence::Ask { .. } => {}
        }
    }

    /// Tells the router when the stream of a request was last seen, so that its idle timeout needs
    /// no event per token.
    fn report_progress(&mut self, now: Instant, request: RequestRef, sink: &mut impl Sink) {
        let open = &self.open[request.slot as usize];
        let Latest::InFlight(fleet) = open.latest else { return };
        if let Some(at) = self.fleet.last_output(now, fleet) {
            let attempt = AttemptRef { request, number: open.row.number };
            self.route(now, Event::Progress { attempt, at }, sink);
        }
    }

    fn on_notices(&mut self, now: Instant, world: &World, sink: &mut impl Sink) {
        let mut notices = std::mem::take(&mut self.notices);
        for notice in &notices {
            self.on_notice(now, notice, world, sink);
        }
        notices.clear();
        self.notices = notices;
    }

    fn on_notice(&mut self, now: Instant, notice: &Notice, world: &World, sink: &mut impl Sink) {
        let attempt = notice.attempt;
        let open = &mut self.open[attempt.request.slot as usize];
        if !open.waits_for(attempt) {
            return;
        }
        match notice.kind {
            NoticeKind::Headers => {
                open.row.headers = Some(now);
                self.tell(now, Event::Headers(attempt), world, sink);
            }
            NoticeKind::FirstOutput => {
                open.row.first_output = Some(now);
                self.tell(now, Event::FirstOutput(attempt), world, sink);
            }
            NoticeKind::Ended { usage, answer, task_done, contract_ok, bill } => {
                let end = End {
                    status: 200,
                    failure: None,
                    phase: Some(Phase::AfterOutput),
                    cancelled: false,
                    usage,
                    bill,
                };
                open.end_latest(now, &end);
                let AttemptRow { number, recovery, sent, target, .. } = open.row;
                open.complete = Some(Complete {
                    number,
                    recovery,
                    sent,
                    ended: now,
                    cost: bill,
                    contract_ok,
                    task_done,
                });
                self.end_attempt(target.0, bill);
                self.tell(now, Event::Ended { attempt, usage, answer }, world, sink);
            }
            NoticeKind::Failed { failure, bill } => {
                let Failure { class, status, phase, usage, .. } = failure;
                let end = End {
                    status,
                    failure: Some(class),
                    phase: Some(phase),
                    cancelled: false,
                    usage,
                    bill,
                };
                open.end_latest(now, &end);
                let target = open.row.target.0;
                self.end_attempt(target, bill);
                self.tell(now, Event::Failed { attempt, failure }, world, sink);
            }
        }
    }

    fn end_attempt(&mut self, target: u16, bill: Money) {
        self.pool.give_back(usize::from(target));
        self.ledger.end(bill);
    }

    fn tell(&mut self, now: Instant, event: Event, world: &World, sink: &mut impl Sink) {
        self.route(now, event, sink);
        self.carry_out(now, world, sink);
    }

    /// Tells the router, and keeps what it says for [`Simulation::carry_out`].
    fn route(&mut self, now: Instant, event: Event, sink: &mut impl Sink) {
        self.router.handle(now, event, &mut self.actions);
        sink.routed(now, &event, &self.actions);
    }

    /// Does what the router said.
    fn carry_out(&mut self, now: Instant, world: &World, sink: &mut impl Sink) {
        let mut actions = std::mem::take(&mut self.actions);
        for action in &actions {
            match *action {
                Action::Send(ref send) => self.send(now, send, sink),
                Action::SetTimer { request, at, epoch } => self.set_timer(now, request, at, epoch),
                Action::Cancel { attempt, class } => self.abort(now, attempt, class),
                Action::Release(attempt) => {
                    let open = &mut self.open[attempt.request.slot as usize];
                    open.released.get_or_insert(now);
                }
                Action::Decided { attempt, decision } => {
                    let open = &mut self.open[attempt.request.slot as usize];
                    if open.latest == Latest::Pending {
                        open.row.decision = Some(decision);
                    }
                }
                Action::Finish { request, ref result } => {
                    self.close(now, request, result, world, sink);
                }
                Action::Breaker { breaker, state, until } => {
                    self.watch.on_breaker(now, breaker, state, until, &world.weather.incidents);
                }
            }
        }
        actions.clear();
        self.actions = actions;
    }

    /// Sets the one timer of a request. A wake-up of that moment may be queued already: after a
    /// wait, the deadline is set again.
    fn set_timer(&mut self, now: Instant, request: RequestRef, at: Instant, epoch: u32) {
        let open = &mut self.open[request.slot as usize];
        open.timer = (at, epoch);
        if open.wake_up == Some(at) {
            return;
        }
        open.wake_up = open.wake_up.max(Some(at));
        let key = EventKey::new(at, Rank::Timer, open.index, epoch as u16);
        self.timers.push(now, key, Occurrence::Timer(request));
    }

    fn send(&mut self, now: Instant, send: &Send, sink: &mut impl Sink) {
        let slot = send.attempt.request.slot as usize;
        self.flush(slot, sink);
        self.ledger.start();
        let target = usize::from(send.target.0);
        let connected = self.pool.take(target);
        let open = &mut self.open[slot];
        open.begin_row(send, connected, now);
        if !connected {
            open.latest = Latest::Unsent;
            let key = EventKey::new(now, Rank::Completion, open.index, send.attempt.number);
            self.queue.push(key, Occurrence::NotSent(send.attempt));
            return;
        }
        let before = open.sent_to.iter().filter(|t| **t == send.target.0).count() as u32;
        open.sent_to.push(send.target.0);
        let order = Order {
            request: &open.request,
            request_index: open.index,
            attempt: send.attempt,
            target: send.target,
            nth_on_target: before,
            streamed: open.request.marks.has(Marks::STREAMED),
            deadline: now + send.timeout,
        };
        let fleet = self.fleet.submit(now, &order, &mut self.queue);
        open.latest = Latest::InFlight(fleet);
        let reference = self.scenario.classes[usize::from(open.request.class)].reference;
        if before == 0 && send.target == reference {
            open.unhindered = self.fleet.unhindered(fleet);
        }
        self.totals.interval(self.interval.at(now)).sent += 1;
    }

    fn abort(&mut self, now: Instant, attempt: AttemptRef, class: FailureClass) {
        let open = &mut self.open[attempt.request.slot as usize];
        assert!(open.waits_for(attempt), "the router aborts only what is in flight");
        let (usage, bill) = match open.latest {
            Latest::InFlight(fleet) => {
                let bill = self.fleet.abort(now, fleet, &mut self.queue);
                (bill.usage, bill.money)
            }
            _ => (Usage::default(), Money::ZERO),
        };
        let end =
            End { status: 0, failure: Some(class), phase: None, cancelled: true, usage, bill };
        open.end_latest(now, &end);
        if open.row.was_sent {
            self.pool.give_back(usize::from(open.row.target.0));
        }
        self.ledger.end(bill);
    }

    /// Hands on the row of the attempt that ended last, now that what follows is decided.
    fn flush(&mut self, slot: usize, sink: &mut impl Sink) {
        let open = &mut self.open[slot];
        if open.latest == Latest::Pending {
            open.latest = Latest::Done;
            if open.measured {
                self.totals.targets[usize::from(open.row.target.0)].end(&open.row);
            }
            sink.attempt(&open.row);
        }
    }

    fn close(
        &mut self,
        now: Instant,
        request: RequestRef,
        result: &Terminal,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let slot = request.slot as usize;
        self.flush(slot, sink);
        let row = self.request_row(now, &self.open[slot], result);
        self.ledger.close(row.cost);
        let open = &mut self.open[slot];
        // A handle nobody holds: late occurrences of this request find nothing.
        open.handle.generation = open.handle.generation.wrapping_add(1);
        let own_fault = {
            let marks = open.request.marks;
            marks.has(Marks::INVALID) || marks.has(Marks::CANCELS)
        };
        let (asker, interval) = (open.asker.take(), open.interval);
        if row.measured {
            self.measured_open -= 1;
            self.totals.classes[usize::from(row.class)].close(&row);
        }
        if !own_fault {
            self.count_interval(&row, interval);
            self.watch.on_close(row.arrived, row.answered);
        }
        sink.request(&row);
        if let Some(asker) = asker {
            self.think(now, asker, world);
        }
    }

    fn request_row(&self, now: Instant, open: &Open, result: &Terminal) -> RequestRow {
        let class = &self.scenario.classes[usize::from(open.request.class)];
        let (by, refused) = match result.outcome {
            Outcome::Answered(n) => (Some(n), false),
            Outcome::Refused(n) => (Some(n), true),
            _ => (None, false),
        };
        let delivered = open.complete.filter(|c| Some(c.number) == by);
        assert!(by.is_none() || delivered.is_some(), "an answer comes from a complete response");
        let contract_success = delivered.is_some_and(|c| refused || c.contract_ok);
        let answer = delivered.filter(|_| contract_success);
        let excess = |complete: &Complete| {
            let drawn = open.unhindered;
            let alone =
                drawn.unwrap_or_else(|| self.fleet.unloaded(class.reference, &open.request));
            (complete.ended - open.request.at).as_micros() as i64 - alone.as_micros() as i64
        };
        RequestRow {
            request: open.index,
            class: open.request.class,
            measured: open.measured,
            arrived: open.request.at,
            closed: now,
            result: *result,
            answered: answer.is_some(),
            by: answer.and_then(|c| c.recovery),
            transport_success: open.complete.is_some(),
            contract_success,
            task_success: answer.is_some_and(|c| !refused && c.task_done),
            added_latency: answer.map(|c| c.sent - open.request.at),
            excess_latency_us: answer.map(|c| excess(&c)),
            ttft: answer.map(|_| open.released.unwrap_or(now) - open.request.at),
            released: open.released.is_some(),
            cost: open.cost,
            wasted: open.cost.saturating_sub(answer.map_or(Money::ZERO, |c| c.cost)),
            deadline: class.deadline,
        }
    }

    fn count_interval(&mut self, row: &RequestRow, arrival: usize) {
        let took = (row.closed - row.arrived).min(row.deadline);
        let counted = if row.answered { took } else { row.deadline };
        let interval = self.totals.interval(arrival);
        interval.answered += u64::from(row.answered);
        interval.raw += u64::from(row.answered && row.by.is_none());
        interval.latency_sum += u128::from(counted.as_micros());
        interval.cost += u128::from(row.cost.as_pico());
        if row.answered {
            self.totals.interval(self.interval.at(row.closed)).goodput += 1;
        }
    }
}

/// The delays at which the router sets its timers again and again.
fn constant_delays(scenario: &Scenario, policy: &Policy) -> impl Iterator<Item = Duration> {
    let Policy { timeouts, envelope, .. } = policy;
    let own = [timeouts.first_token, timeouts.attempt, timeouts.idle_stream];
    let own = own.into_iter().chain([envelope.deadline_first_output, envelope.deadline_total]);
    own.flatten().chain(scenario.classes.iter().map(|class| class.deadline))
}

fn request_of(action: &Action) -> Option<RequestRef> {
    match action {
        Action::Send(send) => Some(send.attempt.request),
        Action::SetTimer { request, .. } | Action::Finish { request, .. } => Some(*request),
        Action::Cancel { attempt, .. }
        | Action::Release(attempt)
        | Action::Decided { attempt, .. } => Some(attempt.request),
        Action::Breaker { .. } => None,
    }
}
