//! An attempt, from its sending to its end: what it holds, and what is learnt from it.

use alloc::vec::Vec;

use super::Router;
use crate::breaker::{Change, Permit};
use crate::budget::Payer;
use crate::choose::{estimated_cost, remaining};
use crate::config::{Blame, RecoveryAction, RetryRule, TotalCovers};
use crate::event::{Action, Decision, Send, StopReason};
use crate::facts::{Fact, OutcomeFact};
use crate::gates;
use crate::hedge::WinsBy;
use crate::mix::{self, Draw};
use crate::outcome::{FailureClass, Phase, Usage};
use crate::plan::DoorPlan;
use crate::slots::{Flight, Lapse, Next, Stage};
use crate::target::ClassId;
use crate::{Duration, Instant};

impl Router {
    pub(super) fn send(&mut self, i: usize, next: Next, out: &mut Vec<Action>) {
        let now = self.now;
        let waited = now.since(next.since);
        let elsewhere = next.action.is_some_and(|action| action != RecoveryAction::Retry);
        let breaker = self.health.breakers.state(next.target, now);
        let permit = self.health.breakers.on_sent(next.target, elsewhere, now, &mut report(out));
        self.health.load.on_sent(next.target);
        self.health.standing.on_sent(next.target, now);
        self.admit(i, next.group);
        self.slots.count(i, next.target, next.group);
        self.in_flight += 1;

        let slot = &mut self.slots[i];
        if slot.attempts == 0 {
            self.budgets.on_first_attempt(next.target, slot.request.tenant, now);
        }
        let failing = slot.flight.target;
        let same = slot.attempts > 0 && failing == next.target;
        let run = if same { slot.flight.run.saturating_add(1) } else { 1 };
        slot.hedge_at = Instant::FAR_FUTURE;
        if next.action == Some(RecoveryAction::Hedge) {
            slot.rival = Some(slot.flight);
        } else if !same {
            slot.previous_wait = Duration::ZERO;
        }
        slot.attempts += 1;
        if self.policy.timeouts.total_covers == TotalCovers::AttemptsOnly {
            slot.policy_deadline = slot.policy_deadline + waited;
        }
        slot.stage = Stage::InFlight;
        slot.flight = Flight {
            number: slot.attempts,
            run,
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

        if self.slots[i].attempts == 1 {
            let tenant = self.slots[i].request.tenant;
            self.publish(|| Fact::FirstAttempt { target: next.target, tenant });
        }
        let remaining = remaining(&self.slots[i], now);
        if next.action.is_none() && self.class(i).hedges {
            self.slots[i].hedge_at = now + self.hedge_delay(i);
        }
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
            disclose: self.class(i).disclosed.contains(next.target),
        }));
        self.arm(i, out);
    }

    /// An attempt goes to a group: it, or the request with its first there, is counted at its door.
    #[inline]
    fn admit(&mut self, i: usize, group: u8) {
        let class = self.slots[i].request.class;
        if let Some(door) = self.door(class, group)
            && (door.counts_attempts || self.slots.in_group(i, group) == 0)
        {
            self.health.doors.admit(door.number, self.now);
            self.publish(|| Fact::Admitted { class, group });
        }
    }

    /// The door of a group, where it has one.
    #[inline]
    pub(crate) fn door(&self, class: ClassId, group: u8) -> Option<DoorPlan> {
        self.classes[usize::from(class.0)].groups[usize::from(group)].door
    }

    /// How long the attempt in flight may take: its time limit, and for a retry on the first
    /// target no more than the reserve leaves.
    pub(super) fn own_limit(&mut self, i: usize, remaining: Duration) -> Duration {
        let own = self.policy.timeouts.attempt.unwrap_or(Duration::MAX).min(remaining);
        let retry = self.slots[i].flight.action == Some(RecoveryAction::Retry);
        if !retry || remaining == Duration::MAX {
            return own;
        }
        own.min(remaining.saturating_sub(self.chooser(i, false).reserve()))
    }

    /// The attempt's first output came, or a whole answer at once.
    pub(super) fn succeeded(&mut self, i: usize, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let elapsed = self.now.since(slot.flight.sent);
        let draw = mix::draw(slot.request.salt, Draw::OpenJitter, u64::from(slot.flight.number));
        self.health.load.on_latency(slot.flight.target, elapsed, self.now);
        self.health.on_outcome(slot.flight.target, false, self.now);
        if let Some(permit) = slot.flight.permit {
            let breakers = &mut self.health.breakers;
            breakers.on_success(permit, elapsed, self.now, draw, &mut report(out));
        }
        if self.facts.is_some() {
            self.tell_outcome(i, None, draw, elapsed);
        }
    }

    /// The attempt failed and is over: its target's standing, then recovery.
    pub(super) fn fail(&mut self, i: usize, lapse: Lapse, out: &mut Vec<Action>) {
        self.blame(i, lapse.class, lapse.hint, out);
        self.close_attempt(i);
        let target = self.slots[i].flight.target;
        if self.policy.matrix.row(lapse.class).retry == RetryRule::No {
            self.slots.exclude(i, target);
        }
        let slot = &mut self.slots[i];
        slot.first_hint = slot.first_hint.or(lapse.hint);
        slot.lapse = lapse;
        self.over(i, out);
    }

    /// An attempt is over as the slot's lapse says. What another one in flight may still bring is
    /// waited for, unless this is the request's result.
    pub(super) fn over(&mut self, i: usize, out: &mut Vec<Action>) {
        let class = self.slots[i].lapse.class;
        let is_result = match class {
            FailureClass::Refusal => gates::class(self.policy.matrix.row(class)).is_err(),
            class => class == FailureClass::CallerCancelled,
        };
        if self.slots[i].rival.is_none() || is_result {
            return self.recover(i, out);
        }
        let unsafe_now = self.idempotent(i).is_err();
        self.decided(i, Decision::Await, out);
        let slot = &mut self.slots[i];
        slot.may_have_acted |= unsafe_now;
        slot.turn_to_rival();
    }

    /// The attempt spoken of has won, or the caller has gone: the other one is cut, if there is one.
    #[inline]
    pub(super) fn drop_rival(
        &mut self,
        i: usize,
        class: Option<FailureClass>,
        out: &mut Vec<Action>,
    ) {
        if self.slots[i].rival.is_some() {
            self.cut_rival(i, class, out);
        }
    }

    fn cut_rival(&mut self, i: usize, class: Option<FailureClass>, out: &mut Vec<Action>) {
        let winner = self.slots[i].flight;
        self.slots[i].turn_to_rival();
        self.abort(i, class, out);
        if class.is_none() {
            self.lost(i);
        }
        self.close_attempt(i);
        if class.is_some() {
            self.decided(i, Decision::Stop(StopReason::CallerCancelled), out);
        }
        self.slots[i].flight = winner;
    }

    /// An attempt was cut because the other had won: it took so long at least. Of the whole of an
    /// attempt that would say too little.
    fn lost(&mut self, i: usize) {
        let flight = &self.slots[i].flight;
        if flight.phase != Phase::AfterOutput {
            let elapsed = self.now.since(flight.sent);
            self.health.load.on_latency(flight.target, elapsed, self.now);
        }
        self.note_hedge_delay(i);
    }

    /// How long after its send the first attempt is slow.
    fn hedge_delay(&mut self, i: usize) -> Duration {
        let slot = &self.slots[i];
        let (request, target) = (&slot.request, slot.flight.target);
        let wins_by = WinsBy::of(request, self.policy.streaming);
        let prior = self.topology.targets[usize::from(target.0)].prior_latency;
        let delays = self.health.hedge_delays.as_mut().expect("only a policy that hedges asks");
        delays.delay(wins_by, request, target, prior, self.now)
    }

    /// The attempt came to what it wins with, or was cut before: for the delay of later hedges.
    #[inline]
    pub(super) fn note_hedge_delay(&mut self, i: usize) {
        if self.health.hedge_delays.is_some() {
            self.learn_hedge_delay(i);
        }
    }

    fn learn_hedge_delay(&mut self, i: usize) {
        let slot = &self.slots[i];
        let Some(delays) = &mut self.health.hedge_delays else { return };
        let wins_by = WinsBy::of(&slot.request, self.policy.streaming);
        if wins_by == WinsBy::FirstOutput && slot.flight.phase == Phase::AfterOutput {
            return;
        }
        let elapsed = self.now.since(slot.flight.sent);
        delays.record(wins_by, &slot.request, slot.flight.target, elapsed, self.now);
    }

    /// Tells the other replicas how the attempt went: it failed so, or its first output came.
    fn tell_outcome(&mut self, i: usize, failed: Option<Blame>, draw: u64, elapsed: Duration) {
        let slot = &self.slots[i];
        let (target, now) = (slot.flight.target, self.now);
        let outcome = OutcomeFact {
            target,
            tenant: slot.request.tenant,
            failed: failed.is_some(),
            for_breakers: failed.is_none_or(|blame| blame == Blame::Breaker),
            probe: slot.flight.permit.is_some_and(Permit::probes),
            recovery: slot.flight.permit.is_some_and(Permit::is_recovery),
            sent: slot.flight.sent,
            elapsed,
            draw,
        };
        self.publish(|| Fact::Outcome(outcome));
        let (cooled, isolated) = self.health.standing.until(target);
        match failed {
            Some(Blame::Cooldown) if cooled > now => {
                self.publish(|| Fact::Cooling { target, until: cooled });
            }
            Some(blame @ (Blame::Isolate | Blame::IsolateAccount)) => {
                let account = blame == Blame::IsolateAccount;
                self.publish(|| Fact::Isolated { target, account, until: isolated });
            }
            _ => {}
        }
    }

    pub(super) fn blame(
        &mut self,
        i: usize,
        class: FailureClass,
        hint: Option<Duration>,
        out: &mut Vec<Action>,
    ) {
        let slot = &self.slots[i];
        let target = slot.flight.target;
        let blame = self.policy.matrix.row(class).blame;
        if !matches!(blame, Blame::No | Blame::Contract) {
            self.health.on_outcome(target, true, self.now);
            self.budgets.on_outcome(target, slot.request.tenant, true);
        }
        let standing = &mut self.health.standing;
        match blame {
            Blame::No => {}
            Blame::Contract => self.health.on_contract(target, true, self.now),
            Blame::Cooldown => standing.on_cooldown(target, hint, self.now),
            Blame::Isolate => standing.on_isolation(target, self.now),
            Blame::IsolateAccount => standing.on_account_isolation(target, self.now),
            Blame::Breaker => {
                let draw =
                    mix::draw(slot.request.salt, Draw::OpenJitter, slot.flight.number.into());
                if let Some(permit) = slot.flight.permit {
                    let breakers = &mut self.health.breakers;
                    breakers.on_failure(permit, self.now, draw, &mut report(out));
                }
            }
        }
        if self.facts.is_some() && !matches!(blame, Blame::No | Blame::Contract) {
            let slot = &self.slots[i];
            let draw = mix::draw(slot.request.salt, Draw::OpenJitter, slot.flight.number.into());
            self.tell_outcome(i, Some(blame), draw, Duration::ZERO);
        }
    }

    /// Cuts the attempt in flight. What it will be billed is not known: the most it may be counts
    /// against the ceiling, and not in the reported cost.
    pub(super) fn abort(&mut self, i: usize, class: Option<FailureClass>, out: &mut Vec<Action>) {
        out.push(Action::Cancel { attempt: self.slots.attempt_ref(i), class });
        let slot = &mut self.slots[i];
        slot.presumed += estimated_cost(&slot.request, &self.topology, slot.flight.target);
    }

    /// An attempt is over: what it held returns.
    pub(super) fn close_attempt(&mut self, i: usize) {
        let tenant = self.slots[i].request.tenant;
        let flight = &mut self.slots[i].flight;
        let permit = flight.permit.take().expect("an attempt in flight holds a permit");
        self.health.breakers.on_end(permit, self.now);
        self.health.load.on_end(flight.target);
        self.in_flight -= 1;
        if let Some(action) = flight.action {
            let payer = Payer { failing: flight.failing, destination: flight.target, tenant };
            self.budgets.on_recovery_ended(action, payer);
            self.publish(|| payer.fact(action, true));
        }
    }

    /// The attempt that the request waits for will not be made.
    pub(super) fn give_up_next(&mut self, i: usize) {
        let slot = &self.slots[i];
        if let Some(action) = slot.next.action {
            let (failing, tenant) = (slot.flight.target, slot.request.tenant);
            let planned = Payer { failing, destination: slot.next.target, tenant };
            self.budgets.on_recovery_ended(action, planned);
            self.publish(|| planned.fact(action, true));
        }
    }

    /// The attempt's latency, or a lower bound where it was cut: for the estimate of the next.
    pub(super) fn took_at_least(&mut self, i: usize) {
        let slot = &self.slots[i];
        let (target, elapsed) = (slot.flight.target, self.now.since(slot.flight.sent));
        self.health.estimates.record(slot.request.class, target, elapsed, self.now);
        if slot.flight.phase != Phase::AfterOutput && slot.stage == Stage::InFlight {
            self.health.load.on_latency(target, elapsed, self.now);
        }
        self.note_hedge_delay(i);
    }

    pub(super) fn charge(&mut self, i: usize, usage: Usage) {
        let slot = &mut self.slots[i];
        let price = &self.topology.targets[usize::from(slot.flight.target.0)].price;
        slot.spent += price.bill(usage.input, usage.cached, usage.output);
    }
}

/// Appends changes of breakers.
pub(crate) fn report(out: &mut Vec<Action>) -> impl FnMut(Change) {
    |Change { breaker, state, until }| out.push(Action::Breaker { breaker, state, until })
}
