//! The router: events in, actions out. The one file with control flow.

use alloc::vec::Vec;

use crate::backoff;
use crate::breaker::Change;
use crate::budget::Budgets;
use crate::check;
use crate::choose::{Choice, Chooser, Refusal, estimated_cost};
use crate::config::{
    AllUnavailable, Blame, ChargedTo, FirstToken, LoopOrder, Policy, Problem, RecoveryAction,
    RetryRule, Row, Streaming, TotalCovers, WaitTooLong,
};
use crate::event::{
    Action, AttemptRef, Decision, Event, Outcome, Request, RequestRef, Send, StopReason, Terminal,
};
use crate::gates;
use crate::health::Health;
use crate::mix::{self, Draw};
use crate::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use crate::plan::{self, ClassPlan};
use crate::slots::{Flight, Lapse, Next, Slots, Stage};
use crate::target::{TargetId, Topology};
use crate::target_set::TargetSet;
use crate::terminal::Stopped;
use crate::{Duration, Instant};

/// Decides where requests go, and what follows when an attempt fails.
///
/// It performs no I/O, reads no clock and draws no random numbers. The embedder's side of the
/// contract:
///
/// - Call [`handle`](Router::handle) with every event and the time it was seen. Time never runs
///   backwards here: an earlier `now` counts as the latest one seen.
/// - Perform the appended actions in their order, and empty the buffer.
/// - Keep one timer per request: each [`Action::SetTimer`] replaces the one before. Deliver it as
///   [`Event::Timer`] with its epoch; late, or after the request has ended, is harmless.
/// - Before delivering a timer, deliver [`Event::Progress`] where a stream has moved since: an
///   idle timeout knows only what it was told.
/// - Report every attempt's end once: `Ended`, `Failed` or `NotSent`. Of an attempt that the
///   router cancelled nothing more is needed; what still comes is ignored.
///
/// The router's side:
///
/// - Exactly one [`Action::Finish`] for each request, and it is the last action for it.
/// - At most one attempt of a request is in flight. None starts after the caller has cancelled,
///   none after output was released.
/// - What an event of one request leads to is about that request, or a breaker: an embedder may
///   serve each request on a thread of its own around one locked router.
/// - Handles that are no longer current (of an earlier attempt, of a request that has ended) are
///   ignored.
/// - Each attempt that ends without an answer is followed by [`Action::Decided`] with the reason.
///   A wait after which the chosen target is out of service leads to a further decision.
/// - The same events at the same times give the same actions.
/// - At most [`max_actions_per_event`](Router::max_actions_per_event) actions per event; no
///   allocation once as many requests have been open as ever will be, beyond the caller's buffer.
#[derive(Clone, Debug)]
pub struct Router {
    policy: Policy,
    topology: Topology,
    classes: Vec<ClassPlan>,
    health: Health,
    budgets: Budgets,
    /// Whether a budget that denies one destination may grant another.
    budgets_by_destination: bool,
    slots: Slots,
    in_flight: usize,
    now: Instant,
}

impl Router {
    /// A router for this policy over these targets.
    ///
    /// # Errors
    /// Everything wrong with either of them, as a list with a path and a remedy for each.
    pub fn new(policy: Policy, topology: Topology) -> Result<Router, Vec<Problem>> {
        let mut problems = policy.validate().err().unwrap_or_default();
        problems.extend(check::topology(&topology));
        if !problems.is_empty() {
            return Err(problems);
        }
        let classes = plan::compile(&policy, &topology);
        let groups = topology.classes.iter().map(|class| class.groups.len()).max().unwrap_or(0);
        let segments = classes.iter().map(ClassPlan::segments).sum();
        let budgets_by_destination =
            policy.retry_budgets.iter().any(|b| b.charged_to == ChargedTo::Destination)
                || topology.targets.iter().any(|t| t.failover_in_flight.is_some());
        Ok(Router {
            health: Health::new(&policy, &topology, segments),
            budgets: Budgets::new(&policy.retry_budgets, &topology),
            budgets_by_destination,
            slots: Slots::new(topology.targets.len(), groups),
            in_flight: 0,
            now: Instant::ZERO,
            classes,
            policy,
            topology,
        })
    }

    /// Takes an event in at `now`, and appends what must be done about it.
    ///
    /// # Panics
    /// Where a request names a route class, or a kill switch a target, that the topology does not
    /// have.
    pub fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        self.now = self.now.max(now);
        match event {
            Event::Arrived(request) => self.on_arrived(request, actions),
            Event::Headers(attempt) => self.on_headers(attempt),
            Event::FirstOutput(attempt) => self.on_first_output(attempt, actions),
            Event::Progress { attempt, at } => self.on_progress(attempt, at),
            Event::Ended { attempt, usage, answer } => {
                self.on_ended(attempt, usage, answer, actions);
            }
            Event::Failed { attempt, failure } => self.on_failed(attempt, failure, actions),
            Event::NotSent(attempt) => self.on_not_sent(attempt, actions),
            Event::Timer { request, epoch } => self.on_timer(request, epoch, actions),
            Event::Cancelled(request) => self.on_cancelled(request, actions),
            Event::KillSwitch { target, off } => {
                assert!(
                    target.is_none_or(|t| usize::from(t.0) < self.topology.targets.len()),
                    "a kill switch names a target of the topology"
                );
                self.health.standing.on_kill_switch(target, off);
            }
        }
    }

    /// The most actions one event can append: what a buffer must hold never to grow.
    pub fn max_actions_per_event(&self) -> usize {
        // Cancel, decision, a decision revised, send or finish, timer; and a change of each
        // breaker over the failed target and over the next one.
        let over_one_target = self.policy.breakers.len();
        5 + 2 * over_one_target
    }

    /// Name and targets of each breaker, as [`Action::Breaker`] numbers them.
    pub fn breakers(&self) -> impl Iterator<Item = (&str, Vec<TargetId>)> {
        let breakers = &self.health.breakers;
        (0..breakers.len() as u16).map(|b| (breakers.name(b), breakers.covers(b).collect()))
    }

    /// The policy it runs.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The targets and route classes it serves.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Attempts in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Requests that have not ended.
    pub fn open_requests(&self) -> usize {
        self.slots.open_requests()
    }

    /// Probe permits of half-open breakers that attempts in flight hold.
    pub fn permits_out(&self) -> u64 {
        self.health.breakers.probing()
    }

    /// How often recovery asked a shared budget.
    pub fn budget_asks(&self) -> u64 {
        self.budgets.asks()
    }

    /// How often a shared budget denied it.
    pub fn budget_denials(&self) -> u64 {
        self.budgets.denials()
    }

    /// As new, but without allocating. Handles given out before must not be used again: they would
    /// name other requests.
    pub fn reset(&mut self) {
        self.health.reset();
        self.budgets.reset();
        self.slots.reset();
        self.in_flight = 0;
        self.now = Instant::ZERO;
    }
}

/// Events.
impl Router {
    fn on_arrived(&mut self, request: Request, out: &mut Vec<Action>) {
        assert!(
            usize::from(request.class.0) < self.classes.len(),
            "a request names a route class of the topology"
        );
        let i = self.slots.open(request, self.now);
        self.slots[i].policy_deadline = self.now + self.class(i).policy_total;
        self.start(i, out);
    }

    fn on_headers(&mut self, attempt: AttemptRef) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let flight = &mut self.slots[i].flight;
        flight.phase = flight.phase.max(Phase::BeforeOutput);
    }

    fn on_first_output(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        if self.slots[i].flight.phase == Phase::AfterOutput {
            return;
        }
        self.succeeded(i, out);
        let pass_through = self.policy.streaming == Streaming::PassThrough;
        let slot = &mut self.slots[i];
        slot.flight.phase = Phase::AfterOutput;
        slot.flight.progress = self.now;
        if slot.request.streamed && pass_through {
            slot.flight.committed = true;
            // Nothing can follow it now, so that a reserve for what follows is pointless.
            let own = self.policy.timeouts.attempt;
            slot.flight.limit = own.map_or(Instant::FAR_FUTURE, |own| slot.flight.sent + own);
            out.push(Action::Release(attempt));
        }
        self.arm(i, out);
    }

    fn on_progress(&mut self, attempt: AttemptRef, at: Instant) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        let flight = &mut self.slots[i].flight;
        flight.progress = flight.progress.max(at.min(self.now));
    }

    fn on_ended(
        &mut self,
        attempt: AttemptRef,
        usage: Usage,
        answer: Answer,
        out: &mut Vec<Action>,
    ) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        if self.slots[i].flight.phase != Phase::AfterOutput {
            self.succeeded(i, out);
        }
        self.took_at_least(i);
        self.charge(i, usage);
        if answer == Answer::Invalid {
            let lapse = Lapse::new(FailureClass::ContractFailure);
            return self.fail(i, lapse, out);
        }
        self.close_attempt(i);
        if !self.slots[i].flight.committed {
            out.push(Action::Release(attempt));
        }
        let outcome = match answer {
            Answer::Refusal => Outcome::Refused(attempt.number),
            Answer::Valid | Answer::Invalid => Outcome::Answered(attempt.number),
        };
        let slot = &self.slots[i];
        let result = Terminal {
            id: slot.request.id,
            outcome,
            status: 200,
            class: None,
            stop: None,
            retryable: false,
            retry_after: None,
            attempts: slot.attempts - slot.unsent,
            cost: slot.spent,
        };
        self.finish(i, result, out);
    }

    fn on_failed(&mut self, attempt: AttemptRef, failure: Failure, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        self.charge(i, failure.usage);
        let committed = self.slots[i].flight.committed;
        let class = match failure.class {
            class @ (FailureClass::Refusal | FailureClass::CallerCancelled) => class,
            _ if committed => FailureClass::PartialStream,
            // It broke, but nobody has seen any of it: as good as before the output.
            FailureClass::PartialStream => FailureClass::Transport,
            class => class,
        };
        let lapse =
            Lapse { status: failure.status, hint: failure.retry_after, ..Lapse::new(class) };
        self.fail(i, lapse, out);
    }

    fn on_not_sent(&mut self, attempt: AttemptRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find_attempt(attempt) else { return };
        self.slots[i].unsent += 1;
        self.close_attempt(i);
        self.slots[i].lapse = Lapse { unsent: true, ..Lapse::new(FailureClass::Transport) };
        self.recover(i, out);
    }

    fn on_timer(&mut self, request: RequestRef, epoch: u32, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find(request) else { return };
        let slot = &mut self.slots[i];
        if slot.epoch != epoch {
            return;
        }
        slot.armed = Instant::FAR_FUTURE;
        if self.now < self.due(i) {
            return self.arm(i, out);
        }
        match self.slots[i].stage {
            Stage::Free => unreachable!("a handle to a free slot is stale"),
            Stage::InFlight if self.attempt_due(i) <= self.now => self.time_out(i, out),
            Stage::InFlight => self.on_deadline(i, out),
            Stage::Waiting => self.resume(i, out),
            Stage::Closing(reason) => self.finish_stopped(i, reason.into(), out),
        }
    }

    fn on_cancelled(&mut self, request: RequestRef, out: &mut Vec<Action>) {
        let Some(i) = self.slots.find(request) else { return };
        match self.slots[i].stage {
            Stage::Free => unreachable!("a handle to a free slot is stale"),
            Stage::InFlight => {
                self.abort(i, FailureClass::CallerCancelled, out);
                self.close_attempt(i);
                self.decided(i, Decision::Stop(StopReason::CallerCancelled), out);
            }
            Stage::Waiting => self.give_up_next(i),
            Stage::Closing(_) => {}
        }
        self.finish_stopped(i, StopReason::CallerCancelled.into(), out);
    }

    /// An attempt reached one of its own time limits.
    fn time_out(&mut self, i: usize, out: &mut Vec<Action>) {
        let class = match self.slots[i].flight.committed {
            true => FailureClass::PartialStream,
            false => FailureClass::Timeout,
        };
        self.abort(i, class, out);
        self.took_at_least(i);
        self.fail(i, Lapse::new(class), out);
    }

    /// The request's deadline passed while an attempt was in flight.
    fn on_deadline(&mut self, i: usize, out: &mut Vec<Action>) {
        let class = FailureClass::DeadlineExhausted;
        self.abort(i, class, out);
        self.took_at_least(i);
        self.blame(i, class, None, out);
        self.close_attempt(i);
        self.slots[i].lapse = Lapse::new(class);
        self.decided(i, Decision::Stop(StopReason::Deadline), out);
        self.finish_stopped(i, StopReason::Deadline.into(), out);
    }
}

/// Decisions.
impl Router {
    /// The first attempt, or none.
    fn start(&mut self, i: usize, out: &mut Vec<Action>) {
        match self.first_choice(i) {
            Ok(choice) => self.schedule(i, choice, out),
            Err(refusal) => self.finish_stopped(i, refusal, out),
        }
    }

    /// The latest attempt failed as the slot's lapse says: what now?
    fn recover(&mut self, i: usize, out: &mut Vec<Action>) {
        match self.decide(i) {
            Ok(choice) => {
                let action = choice.action.expect("a recovery has a kind");
                let decision = Decision::Recover { action, wait: choice.wait };
                self.decided(i, decision, out);
                self.schedule(i, choice, out);
            }
            Err(refusal) => {
                self.decided(i, Decision::Stop(refusal.reason), out);
                self.stop(i, refusal, out);
            }
        }
    }

    /// The wait before an attempt is over; much may have changed.
    fn resume(&mut self, i: usize, out: &mut Vec<Action>) {
        let next = self.slots[i].next;
        self.slots[i].lapse.waited = true;
        let switched_off = next.action.is_some() && self.health.standing.recovery_off();
        let usable = self.chooser(i, next.fail_open).usable(next.target);
        if usable && !switched_off {
            return self.send(i, next, out);
        }
        self.give_up_next(i);
        match next.action {
            None => self.start(i, out),
            Some(_) => self.recover(i, out),
        }
    }

    fn first_choice(&mut self, i: usize) -> Result<Choice, Refusal> {
        let refusal = match self.chooser(i, false).first() {
            Ok(choice) => return Ok(choice),
            Err(refusal) => refusal,
        };
        match (self.policy.all_unavailable, refusal.earliest) {
            (AllUnavailable::FailOpen, _) if refusal.out_of_service > 0 => {
                self.chooser(i, true).first()
            }
            (AllUnavailable::WaitForEarliest, Some(back)) => {
                self.chooser(i, false).wait_for(back).map_err(|reason| refusal.and(reason.into()))
            }
            _ => Err(refusal),
        }
    }

    /// The four gates in their order, then each kind of recovery in the policy's order.
    fn decide(&mut self, i: usize) -> Result<Choice, Refusal> {
        let slot = &self.slots[i];
        let (lapse, committed) = (slot.lapse, slot.flight.committed);
        let row = self.policy.matrix.row(lapse.class);
        // A partial stream is known by its phase; its cause says nothing more.
        if lapse.class != FailureClass::PartialStream {
            gates::class(row)?;
        }
        gates::phase(committed)?;
        gates::idempotency(lapse.class, row, !lapse.unsent, self.class(i).writes)?;
        if self.health.standing.recovery_off() {
            return Err(StopReason::KillSwitch.into());
        }
        if self.chooser(i, false).remaining(Duration::ZERO).is_zero() {
            return Err(StopReason::Deadline.into());
        }

        let refusal = match self.any_kind(i, row, false) {
            Ok(choice) => return Ok(choice),
            Err(refusal) => refusal,
        };
        match (self.policy.all_unavailable, refusal.earliest) {
            _ if self.stops_at(refusal.reason) => Err(refusal),
            (AllUnavailable::FailOpen, _) if refusal.out_of_service > 0 => {
                self.any_kind(i, row, true)
            }
            (AllUnavailable::WaitForEarliest, Some(back)) => {
                let choice = self.chooser(i, false).wait_for(back);
                let choice = choice.map_err(|reason| refusal.and(reason.into()))?;
                match self.granted(i, choice) {
                    true => Ok(choice),
                    false => Err(refusal.and(StopReason::RetryBudget.into())),
                }
            }
            _ => Err(refusal),
        }
    }

    fn any_kind(&mut self, i: usize, row: Row, fail_open: bool) -> Result<Choice, Refusal> {
        use RecoveryAction::{Failover, Retry, Substitution};
        let order = match self.policy.attempts.order {
            LoopOrder::RetryThenFailover | LoopOrder::FreePick => [Retry, Failover, Substitution],
            LoopOrder::FailoverThenRetry | LoopOrder::WalkThenRetry => {
                [Failover, Retry, Substitution]
            }
        };
        let mut all = Refusal::NOTHING;
        for action in order {
            match self.one_kind(i, row, action, fail_open) {
                Ok(choice) => return Ok(choice),
                Err(refusal) => all = all.and(refusal),
            }
            if self.stops_at(all.reason) {
                break;
            }
        }
        Err(all)
    }

    fn one_kind(
        &mut self,
        i: usize,
        row: Row,
        action: RecoveryAction,
        fail_open: bool,
    ) -> Result<Choice, Refusal> {
        let mut denied = TargetSet::EMPTY;
        let mut all = Refusal::NOTHING;
        loop {
            let mut chooser = self.chooser(i, fail_open);
            chooser.denied = denied;
            let choice = chooser.recovery(action, row).map_err(|refusal| all.and(refusal))?;
            if self.granted(i, choice) {
                return Ok(choice);
            }
            all = all.and(StopReason::RetryBudget.into());
            // Another destination may have what this one lacks; a same-route retry has no other.
            if action == RecoveryAction::Retry || !self.budgets_by_destination {
                return Err(all);
            }
            denied.insert(choice.target);
        }
    }

    /// Whether the shared budgets grant a recovery; what they grant is theirs again when its
    /// attempt ends, or is given up.
    fn granted(&mut self, i: usize, choice: Choice) -> bool {
        let failing = self.slots[i].flight.target;
        choice
            .action
            .is_none_or(|action| self.budgets.ask(action, failing, choice.target, self.now))
    }

    /// A wait that does not fit stops all recovery, where the policy says so.
    fn stops_at(&self, reason: StopReason) -> bool {
        reason == StopReason::WaitTooLong && self.policy.retry_after.too_long == WaitTooLong::Stop
    }

    fn schedule(&mut self, i: usize, choice: Choice, out: &mut Vec<Action>) {
        let next = Next {
            target: choice.target,
            group: choice.group,
            action: choice.action,
            since: self.now,
            at: self.now + choice.wait,
            honoured: choice.honoured,
            fail_open: choice.fail_open,
        };
        let slot = &mut self.slots[i];
        slot.round = choice.round;
        slot.previous_wait = choice.wait;
        if choice.wait.is_zero() {
            return self.send(i, next, out);
        }
        slot.next = next;
        slot.stage = Stage::Waiting;
        self.arm(i, out);
    }

    fn stop(&mut self, i: usize, refusal: Refusal, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let row = self.policy.matrix.row(slot.lapse.class);
        let useless = self.policy.backoff.after_last
            && refusal.reason == StopReason::Attempts
            && row.retry != RetryRule::No;
        let index = u32::from(slot.run.saturating_sub(1));
        let draw = mix::draw(slot.request.salt, Draw::Jitter, u64::from(slot.attempts));
        let wait = match useless {
            true => backoff::delay(&self.policy.backoff, index, slot.previous_wait, draw),
            false => Duration::ZERO,
        };
        let wait = wait.min(self.chooser(i, false).remaining(Duration::ZERO));
        if wait.is_zero() {
            return self.finish_stopped(i, refusal, out);
        }
        let at = self.now + wait;
        let slot = &mut self.slots[i];
        slot.stage = Stage::Closing(refusal.reason);
        slot.next.at = at;
        self.arm(i, out);
    }
}

/// Attempts, from their sending to their end.
impl Router {
    fn send(&mut self, i: usize, next: Next, out: &mut Vec<Action>) {
        let now = self.now;
        let waited = now.since(next.since);
        let recovering =
            matches!(next.action, Some(RecoveryAction::Failover | RecoveryAction::Substitution));
        let breaker = self.health.breakers.state(next.target, now);
        let permit = self.health.breakers.on_sent(next.target, recovering, now, &mut report(out));
        self.health.load.on_sent(next.target);
        self.slots.count(i, next.target, next.group);
        self.in_flight += 1;

        let slot = &mut self.slots[i];
        if slot.attempts == 0 {
            self.budgets.on_first_attempt(next.target, now);
        }
        let failing = slot.flight.target;
        let same = slot.attempts > 0 && failing == next.target;
        slot.run = if same { slot.run.saturating_add(1) } else { 1 };
        if !same {
            slot.previous_wait = Duration::ZERO;
        }
        slot.attempts += 1;
        if self.policy.timeouts.total_covers == TotalCovers::AttemptsOnly {
            slot.policy_deadline = slot.policy_deadline + waited;
        }
        slot.stage = Stage::InFlight;
        slot.flight = Flight {
            target: next.target,
            failing,
            group: next.group,
            action: next.action,
            phase: Phase::BeforeHeaders,
            committed: false,
            sent: now,
            limit: Instant::FAR_FUTURE,
            progress: now,
            permit: Some(permit),
        };

        let remaining = self.chooser(i, false).remaining(Duration::ZERO);
        let timeout = self.own_limit(i, remaining);
        if timeout < remaining {
            self.slots[i].flight.limit = now + timeout;
        }
        out.push(Action::Send(Send {
            attempt: self.slots.attempt_ref(i),
            target: next.target,
            group: next.group,
            recovery: next.action,
            breaker,
            waited,
            retry_after: next.honoured,
            remaining,
            timeout,
        }));
        self.arm(i, out);
    }

    /// How long the attempt in flight may take: its time limit, and for a retry on the first
    /// target no more than the reserve leaves.
    fn own_limit(&mut self, i: usize, remaining: Duration) -> Duration {
        let own = self.policy.timeouts.attempt.unwrap_or(Duration::MAX).min(remaining);
        let retry = self.slots[i].flight.action == Some(RecoveryAction::Retry);
        if !retry || remaining == Duration::MAX {
            return own;
        }
        own.min(remaining.saturating_sub(self.chooser(i, false).reserve()))
    }

    /// The attempt's first output came, or a whole answer at once.
    fn succeeded(&mut self, i: usize, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let elapsed = self.now.since(slot.flight.sent);
        let draw = mix::draw(slot.request.salt, Draw::OpenJitter, u64::from(slot.attempts));
        self.health.load.on_latency(slot.flight.target, elapsed, self.now);
        if let Some(permit) = slot.flight.permit {
            let breakers = &mut self.health.breakers;
            breakers.on_success(permit, elapsed, self.now, draw, &mut report(out));
        }
    }

    /// The attempt failed and is over: its target's standing, then recovery.
    fn fail(&mut self, i: usize, lapse: Lapse, out: &mut Vec<Action>) {
        self.blame(i, lapse.class, lapse.hint, out);
        self.close_attempt(i);
        let target = self.slots[i].flight.target;
        if self.policy.matrix.row(lapse.class).retry == RetryRule::No {
            self.slots.exclude(i, target);
        }
        let slot = &mut self.slots[i];
        slot.first_hint = slot.first_hint.or(lapse.hint);
        slot.lapse = lapse;
        self.recover(i, out);
    }

    fn blame(
        &mut self,
        i: usize,
        class: FailureClass,
        hint: Option<Duration>,
        out: &mut Vec<Action>,
    ) {
        let slot = &self.slots[i];
        let target = slot.flight.target;
        let standing = &mut self.health.standing;
        match self.policy.matrix.row(class).blame {
            Blame::No | Blame::Contract => {}
            Blame::Cooldown => standing.on_cooldown(target, hint, self.now),
            Blame::Isolate => standing.on_isolation(target, self.now),
            Blame::IsolateAccount => standing.on_account_isolation(target, self.now),
            Blame::Breaker => {
                let draw = mix::draw(slot.request.salt, Draw::OpenJitter, slot.attempts.into());
                if let Some(permit) = slot.flight.permit {
                    let breakers = &mut self.health.breakers;
                    breakers.on_failure(permit, self.now, draw, &mut report(out));
                }
            }
        }
    }

    /// Cuts the attempt in flight. What it will be billed is not known: the most it may be counts
    /// against the ceiling, and not in the reported cost.
    fn abort(&mut self, i: usize, class: FailureClass, out: &mut Vec<Action>) {
        out.push(Action::Cancel { attempt: self.slots.attempt_ref(i), class });
        let slot = &mut self.slots[i];
        slot.presumed += estimated_cost(&slot.request, &self.topology, slot.flight.target);
    }

    /// An attempt is over: what it held returns.
    fn close_attempt(&mut self, i: usize) {
        let flight = &mut self.slots[i].flight;
        let permit = flight.permit.take().expect("an attempt in flight holds a permit");
        self.health.breakers.on_end(permit, self.now);
        self.health.load.on_end(flight.target);
        self.in_flight -= 1;
        if let Some(action) = flight.action {
            self.budgets.on_recovery_ended(action, flight.failing, flight.target);
        }
    }

    /// The attempt that the request waits for will not be made.
    fn give_up_next(&mut self, i: usize) {
        let slot = &self.slots[i];
        if let Some(action) = slot.next.action {
            self.budgets.on_recovery_ended(action, slot.flight.target, slot.next.target);
        }
    }

    /// The attempt's latency, or a lower bound where it was cut: for the estimate of the next.
    fn took_at_least(&mut self, i: usize) {
        let slot = &self.slots[i];
        let (target, elapsed) = (slot.flight.target, self.now.since(slot.flight.sent));
        self.health.estimates.record(slot.request.class, target, elapsed, self.now);
        if slot.flight.phase != Phase::AfterOutput && slot.stage == Stage::InFlight {
            self.health.load.on_latency(target, elapsed, self.now);
        }
    }

    fn charge(&mut self, i: usize, usage: Usage) {
        let slot = &mut self.slots[i];
        let price = &self.topology.targets[usize::from(slot.flight.target.0)].price;
        slot.spent += price.bill(usage.input, usage.cached, usage.output);
    }
}

/// Timers and results.
impl Router {
    /// Arms the request's timer where the armed one is too late. An early one costs a wake-up,
    /// and is cheaper than a timer for every limit.
    fn arm(&mut self, i: usize, out: &mut Vec<Action>) {
        let due = self.due(i);
        let request = self.slots.request_ref(i);
        let slot = &mut self.slots[i];
        if due < slot.armed {
            slot.armed = due;
            slot.epoch = slot.epoch.wrapping_add(1);
            out.push(Action::SetTimer { request, at: due, epoch: slot.epoch });
        }
    }

    /// When the request needs its timer.
    fn due(&self, i: usize) -> Instant {
        let slot = &self.slots[i];
        match slot.stage {
            Stage::Free => Instant::FAR_FUTURE,
            Stage::Waiting | Stage::Closing(_) => slot.next.at,
            Stage::InFlight => {
                let class = self.class(i);
                self.attempt_due(i)
                    .min(slot.policy_deadline)
                    .min(slot.arrived + class.product_total)
                    .min(slot.first_output_deadline(class))
            }
        }
    }

    /// When the attempt in flight reaches a time limit of its own.
    fn attempt_due(&self, i: usize) -> Instant {
        let (flight, timeouts) = (&self.slots[i].flight, &self.policy.timeouts);
        let after = |from: Instant, limit: Option<Duration>| {
            limit.map_or(Instant::FAR_FUTURE, |limit| from + limit)
        };
        let awaiting_first = match timeouts.first_token_means {
            FirstToken::Headers => flight.phase == Phase::BeforeHeaders,
            FirstToken::Output => flight.phase != Phase::AfterOutput,
        };
        let silence = match flight.phase {
            Phase::AfterOutput => after(flight.progress, timeouts.idle_stream),
            _ if awaiting_first => after(flight.sent, timeouts.first_token),
            _ => Instant::FAR_FUTURE,
        };
        flight.limit.min(silence)
    }

    fn finish_stopped(&mut self, i: usize, refusal: Refusal, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let stopped = Stopped {
            reason: refusal.reason,
            class: slot.lapse.class,
            status: slot.lapse.status,
            attempts: slot.attempts,
            committed: slot.flight.committed,
            out_of_service: refusal.out_of_service > 0,
            all_cooling: refusal.all_cooling(),
            writes: self.class(i).writes,
        };
        let returns = refusal.earliest.map(|back| back.at.since(self.now));
        let result = Terminal {
            id: slot.request.id,
            outcome: stopped.outcome(),
            status: stopped.status(),
            class: (stopped.status() != 200).then_some(stopped.visible_class()),
            stop: (stopped.status() != 200).then_some(refusal.reason),
            retryable: stopped.retryable(),
            retry_after: slot.lapse.hint.or(returns).filter(|_| stopped.retryable()),
            attempts: slot.attempts - slot.unsent,
            cost: slot.spent,
        };
        self.finish(i, result, out);
    }

    fn finish(&mut self, i: usize, result: Terminal, out: &mut Vec<Action>) {
        out.push(Action::Finish { request: self.slots.request_ref(i), result });
        self.slots.close(i);
    }

    fn decided(&self, i: usize, decision: Decision, out: &mut Vec<Action>) {
        out.push(Action::Decided { attempt: self.slots.attempt_ref(i), decision });
    }

    fn class(&self, i: usize) -> &ClassPlan {
        &self.classes[usize::from(self.slots[i].request.class.0)]
    }

    fn chooser(&mut self, i: usize, fail_open: bool) -> Chooser<'_> {
        Chooser {
            policy: &self.policy,
            topology: &self.topology,
            class: &self.classes[usize::from(self.slots[i].request.class.0)],
            health: &mut self.health,
            slots: &self.slots,
            i,
            now: self.now,
            denied: TargetSet::EMPTY,
            fail_open,
        }
    }
}

fn report(out: &mut Vec<Action>) -> impl FnMut(Change) {
    |Change { breaker, state, until }| out.push(Action::Breaker { breaker, state, until })
}
