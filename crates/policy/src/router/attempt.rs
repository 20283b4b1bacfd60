//! An attempt, from its sending to its end: what it holds, and what is learnt from it.

use alloc::vec::Vec;

use super::Router;
use super::results::in_flight_due;
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
use crate::slots::{Flight, Lapse, Next, Slot, Stage};
use crate::target::ClassId;
use crate::{Duration, Instant};

impl Router {
    /// Makes the attempt that the slot holds as its next.
    #[inline(never)]
    pub(super) fn send(&mut self, i: usize, out: &mut Vec<Action>) {
        let now = self.now;
        let (slot, mut tally) = self.slots.tried_by(i);
        let class = &self.classes[usize::from(slot.request.class.0)];
        let Next { target, group, action, honoured, since, .. } = slot.next;
        let waited = now.since(since);
        let sent_to_group = tally.count(target, group);
        if class.has_doors
            && let Some(door) = class.groups[usize::from(group)].door
            && (door.counts_attempts || sent_to_group == 0)
        {
            // The attempt is counted at the group's door, or the request with its first there.
            self.health.doors.admit(door.number, now);
            if let Some(facts) = &mut self.facts {
                facts.push(Fact::Admitted { class: slot.request.class, group });
            }
        }
        let elsewhere = action.is_some_and(|action| action != RecoveryAction::Retry);
        let breaker = self.health.breakers.state(target, now);
        let permit = self.health.breakers.on_sent(target, elsewhere, now, &mut report(out));
        self.health.load.on_sent(target);
        self.health.standing.on_sent(target, now);
        self.in_flight += 1;

        let failing = slot.flight.target;
        let same = slot.attempts > 0 && failing == target;
        let run = if same { slot.flight.run.saturating_add(1) } else { 1 };
        if action == Some(RecoveryAction::Hedge) {
            slot.rival = Some(slot.flight);
        } else if !same {
            slot.previous_wait = Duration::ZERO;
        }
        slot.attempts += 1;
        let number = slot.attempts;
        if self.policy.timeouts.total_covers == TotalCovers::AttemptsOnly {
            slot.policy_deadline = slot.policy_deadline + waited;
            slot.note_end();
        }
        let remaining = remaining(slot, now);
        // Its own time limit; and for a retry on the first target no more than the reserve leaves.
        let own = self.policy.timeouts.attempt.unwrap_or(Duration::MAX).min(remaining);
        let timeout = match action {
            Some(RecoveryAction::Retry) if remaining != Duration::MAX => {
                own.min(remaining.saturating_sub(class.reserve(number == run)))
            }
            _ => own,
        };
        let limit = if timeout < remaining { now + timeout } else { Instant::FAR_FUTURE };
        let due = match self.policy.timeouts.first_token {
            // Of an answer that is not streamed nothing is seen before its end: there is no first
            // token to wait for.
            Some(first_token) if slot.request.streamed => limit.min(now + first_token),
            _ => limit,
        };
        slot.flight = Flight {
            number,
            run,
            target,
            failing,
            group,
            action,
            phase: Phase::BeforeHeaders,
            committed: false,
            sent: now,
            limit,
            due,
            permit: Some(permit),
        };
        slot.stage = Stage::InFlight;
        slot.hedge_at = Instant::FAR_FUTURE;
        out.push(Action::Send(Send {
            attempt: slot.attempt_ref(i),
            target,
            group,
            recovery: action,
            breaker,
            waited,
            retry_after: honoured,
            remaining,
            timeout,
            disclose: class.must_disclose(target),
        }));
        let due = in_flight_due(slot);
        match number {
            1 => self.first_sent(i, due, out),
            _ => slot.arm_for(i, due, out),
        }
    }

    /// The request's first attempt was sent; so far its timer is due at this time.
    #[inline]
    fn first_sent(&mut self, i: usize, due: Instant, out: &mut Vec<Action>) {
        let slot = &mut self.slots[i];
        let (target, tenant) = (slot.flight.target, slot.request.tenant);
        self.budgets.on_first_attempt(target, tenant, self.now);
        if !self.classes[usize::from(slot.request.class.0)].hedges {
            slot.arm_for(i, due, out);
            return self.publish(|| Fact::FirstAttempt { target, tenant });
        }
        self.publish(|| Fact::FirstAttempt { target, tenant });
        let hedge_at = self.now + self.hedge_delay(i);
        self.slots[i].hedge_at = hedge_at;
        self.arm_for(i, due.min(hedge_at), out);
    }

    /// The door of a group, where it has one.
    pub(crate) fn door(&self, class: ClassId, group: u8) -> Option<DoorPlan> {
        self.classes[usize::from(class.0)].groups[usize::from(group)].door
    }

    /// The attempt's first output came, or a whole answer at once.
    #[inline(always)]
    pub(super) fn succeeded(&mut self, i: usize, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let Flight { sent, target, permit, .. } = slot.flight;
        let elapsed = self.now.since(sent);
        self.health.load.on_latency(target, elapsed, self.now);
        self.health.on_outcome(target, false, self.now);
        if let Some(permit) = permit {
            let breakers = &mut self.health.breakers;
            let draw = || open_jitter(slot);
            breakers.on_success(permit, elapsed, self.now, draw, &mut report(out));
        }
        if self.facts.is_some() {
            self.tell_outcome(i, None, elapsed);
        }
    }

    /// The attempt failed and is over: its target's standing, then recovery.
    #[inline(always)]
    pub(super) fn fail(&mut self, i: usize, lapse: Lapse, out: &mut Vec<Action>) {
        self.blame(i, lapse.class, lapse.hint, out);
        self.close_attempt(i);
        let slot = &mut self.slots[i];
        slot.first_hint = slot.first_hint.or(lapse.hint);
        slot.lapse = lapse;
        if self.policy.matrix.row(lapse.class).retry == RetryRule::No {
            self.slots.exclude_latest(i);
        }
        self.over(i, out);
    }

    /// An attempt is over as the slot's lapse says. What another one in flight may still bring is
    /// waited for, unless this is the request's result.
    #[inline(always)]
    pub(super) fn over(&mut self, i: usize, out: &mut Vec<Action>) {
        match self.slots[i].rival {
            None => self.recover(i, out),
            Some(_) => self.over_beside(i, out),
        }
    }

    /// The same of an attempt with another one in flight.
    #[inline(never)]
    fn over_beside(&mut self, i: usize, out: &mut Vec<Action>) {
        let class = self.slots[i].lapse.class;
        let is_result = match class {
            FailureClass::Refusal => gates::class(self.policy.matrix.row(class)).is_err(),
            class => class == FailureClass::CallerCancelled,
        };
        if is_result {
            return self.recover(i, out);
        }
        let unsafe_now = self.chooser(i).idempotent().is_err();
        self.decided(i, Decision::Await, out);
        let slot = &mut self.slots[i];
        slot.may_have_acted |= unsafe_now;
        slot.turn_to_rival();
    }

    /// The attempt spoken of has won, or the caller has gone: the other one is cut, if there is one.
    #[inline(always)]
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

    #[inline(never)]
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
    #[inline(never)]
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

    #[inline(never)]
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
    #[cold]
    fn tell_outcome(&mut self, i: usize, failed: Option<Blame>, elapsed: Duration) {
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
            draw: open_jitter(slot),
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

    /// What a failure of the attempt says about its target.
    #[inline(always)]
    pub(super) fn blame(
        &mut self,
        i: usize,
        class: FailureClass,
        hint: Option<Duration>,
        out: &mut Vec<Action>,
    ) {
        let blame = self.policy.matrix.row(class).blame;
        if blame != Blame::No {
            self.blamed(i, blame, hint, out);
        }
    }

    #[inline(never)]
    fn blamed(&mut self, i: usize, blame: Blame, hint: Option<Duration>, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let target = slot.flight.target;
        if blame == Blame::Contract {
            return self.health.on_contract(target, true, self.now);
        }
        self.health.on_outcome(target, true, self.now);
        self.budgets.on_outcome(target, slot.request.tenant, true);
        let standing = &mut self.health.standing;
        match blame {
            Blame::No | Blame::Contract => {}
            Blame::Cooldown => standing.on_cooldown(target, hint, self.now),
            Blame::Isolate => standing.on_isolation(target, self.now),
            Blame::IsolateAccount => standing.on_account_isolation(target, self.now),
            Blame::Breaker => {
                if let Some(permit) = slot.flight.permit {
                    let breakers = &mut self.health.breakers;
                    let draw = || open_jitter(slot);
                    breakers.on_failure(permit, self.now, draw, &mut report(out));
                }
            }
        }
        if self.facts.is_some() {
            self.tell_outcome(i, Some(blame), Duration::ZERO);
        }
    }

    /// Cuts the attempt in flight. What it will be billed is not known: the most it may be counts
    /// against the ceiling, and not in the reported cost.
    pub(super) fn abort(&mut self, i: usize, class: Option<FailureClass>, out: &mut Vec<Action>) {
        out.push(Action::Cancel { attempt: self.slots[i].attempt_ref(i), class });
        let slot = &mut self.slots[i];
        slot.presumed += estimated_cost(&slot.request, &self.topology, slot.flight.target);
    }

    /// An attempt is over: what it held returns.
    #[inline(always)]
    pub(super) fn close_attempt(&mut self, i: usize) {
        let flight = &mut self.slots[i].flight;
        assert!(flight.permit.is_some(), "an attempt in flight holds a permit");
        if let Some(permit) = flight.permit {
            self.health.breakers.on_end(permit, self.now);
        }
        flight.permit = None;
        self.health.load.on_end(flight.target);
        self.in_flight -= 1;
        if self.follows_recoveries && flight.action.is_some() {
            self.recovery_over(i);
        }
    }

    /// An attempt that the shared budgets granted is over.
    #[inline(never)]
    fn recovery_over(&mut self, i: usize) {
        let Slot { flight, request, .. } = &self.slots[i];
        let Some(action) = flight.action else { return };
        let payer =
            Payer { failing: flight.failing, destination: flight.target, tenant: request.tenant };
        self.budgets.on_recovery_ended(action, payer);
        self.publish(|| payer.fact(action, true));
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
    #[inline(always)]
    pub(super) fn took_at_least(&mut self, i: usize) {
        let slot = &self.slots[i];
        let (target, elapsed) = (slot.flight.target, self.now.since(slot.flight.sent));
        if let Some(estimates) = &mut self.health.estimates {
            estimates.record(slot.request.class, target, elapsed, self.now);
        }
        if slot.flight.phase != Phase::AfterOutput && slot.stage == Stage::InFlight {
            self.health.load.on_latency(target, elapsed, self.now);
        }
        self.note_hedge_delay(i);
    }

    #[inline(always)]
    pub(super) fn charge(&mut self, i: usize, usage: Usage) {
        if usage == Usage::default() {
            return;
        }
        let slot = &mut self.slots[i];
        let price = &self.topology.targets[usize::from(slot.flight.target.0)].price;
        slot.spent += price.bill(usage.input, usage.cached, usage.output);
    }
}

/// Random bits for the open time of a breaker that the attempt's outcome opens.
fn open_jitter(slot: &Slot) -> u64 {
    mix::draw(slot.request.salt, Draw::OpenJitter, u64::from(slot.flight.number))
}

/// Appends changes of breakers.
pub(crate) fn report(out: &mut Vec<Action>) -> impl FnMut(Change) {
    |Change { breaker, state, until }| out.push(Action::Breaker { breaker, state, until })
}
