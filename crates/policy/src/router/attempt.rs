//! An attempt, from its sending to its end: what it holds, and what follows.

use alloc::vec::Vec;

use super::Core;
use super::learn::report;
use super::results::in_flight_due;
use crate::breaker::Lane;
use crate::budget::Payer;
use crate::choose::{estimated_cost, remaining};
use crate::config::{RecoveryAction, RetryRule, TotalCovers};
use crate::event::{Action, Decision, Send, StopReason};
use crate::facts::Fact;
use crate::gates;
use crate::outcome::{FailureClass, Phase, Usage};
use crate::plan::DoorPlan;
use crate::slots::{Flight, Lapse, Next, Slot, Stage};
use crate::target::ClassId;
use crate::{Duration, Instant};

impl Core {
    /// Makes the attempt that the slot holds as its next.
    #[inline(never)]
    pub(super) fn send(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let now = self.now;
        let class = &self.classes[usize::from(slot.request.class.0)];
        let Next { target, group, action, honoured, since, .. } = slot.next;
        let waited = now.since(since);
        let sent_to_group = self.tallies.of(slot).count(target, group);
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
        let breaker = self.health.breakers.state(target, class.lane, now);
        let breakers = &mut self.health.breakers;
        let permit = breakers.on_sent(target, class.lane, elsewhere, now, &mut report(out));
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
            attempt: slot.attempt_ref(),
            target,
            group,
            recovery: action,
            breaker,
            waited,
            retry_after: honoured,
            remaining,
            timeout,
            left: match slot.request.left.attempts {
                u16::MAX => u16::MAX,
                brought => brought.saturating_sub(number),
            },
            disclose: class.must_disclose(target),
        }));
        let due = in_flight_due(slot);
        match number {
            1 => self.first_sent(slot, due, out),
            _ => slot.arm_for(due, out),
        }
    }

    /// The request's first attempt was sent; so far its timer is due at this time.
    #[inline]
    fn first_sent(&mut self, slot: &mut Slot, due: Instant, out: &mut Vec<Action>) {
        let (target, tenant) = (slot.flight.target, slot.request.tenant);
        self.budgets.on_first_attempt(target, tenant, self.now);
        if !self.classes[usize::from(slot.request.class.0)].hedges {
            slot.arm_for(due, out);
            return self.publish(|| Fact::FirstAttempt { target, tenant });
        }
        self.publish(|| Fact::FirstAttempt { target, tenant });
        let hedge_at = self.now + self.hedge_delay(slot);
        slot.hedge_at = hedge_at;
        slot.arm_for(due.min(hedge_at), out);
    }

    /// Whose breakers the requests of a class meet.
    pub(crate) fn lane(&self, class: ClassId) -> Lane {
        self.classes[usize::from(class.0)].lane
    }

    /// The door of a group, where it has one.
    pub(crate) fn door(&self, class: ClassId, group: u8) -> Option<DoorPlan> {
        self.classes[usize::from(class.0)].groups[usize::from(group)].door
    }

    /// The attempt failed and is over: its target's standing, then recovery.
    #[inline(always)]
    pub(super) fn fail(&mut self, slot: &mut Slot, lapse: Lapse, out: &mut Vec<Action>) {
        self.blame(slot, lapse.class, lapse.hint, out);
        self.close_attempt(slot);
        slot.first_hint = slot.first_hint.or(lapse.hint);
        slot.lapse = lapse;
        if self.policy.matrix.row(lapse.class).retry == RetryRule::No {
            self.tallies.of(slot).exclude(slot.flight.target);
        }
        self.over(slot, out);
    }

    /// An attempt is over as the slot's lapse says. What another one in flight may still bring is
    /// waited for, unless this is the request's result.
    #[inline(always)]
    pub(super) fn over(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        match slot.rival {
            None => self.recover(slot, out),
            Some(_) => self.over_beside(slot, out),
        }
    }

    /// The same of an attempt with another one in flight.
    #[inline(never)]
    fn over_beside(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let class = slot.lapse.class;
        let is_result = match class {
            FailureClass::Refusal => gates::class(self.policy.matrix.row(class)).is_err(),
            class => class == FailureClass::CallerCancelled,
        };
        if is_result {
            return self.recover(slot, out);
        }
        let unsafe_now = self.chooser(slot).idempotent().is_err();
        self.decided(slot, Decision::Await, out);
        slot.may_have_acted |= unsafe_now;
        slot.turn_to_rival();
    }

    /// The attempt spoken of has won, or the caller has gone: the other one is cut, if there is one.
    #[inline(always)]
    pub(super) fn drop_rival(
        &mut self,
        slot: &mut Slot,
        class: Option<FailureClass>,
        out: &mut Vec<Action>,
    ) {
        if slot.rival.is_some() {
            self.cut_rival(slot, class, out);
        }
    }

    #[inline(never)]
    fn cut_rival(&mut self, slot: &mut Slot, class: Option<FailureClass>, out: &mut Vec<Action>) {
        let winner = slot.flight;
        slot.turn_to_rival();
        self.abort(slot, class, out);
        if class.is_none() {
            self.lost(slot);
        }
        self.close_attempt(slot);
        if class.is_some() {
            self.decided(slot, Decision::Stop(StopReason::CallerCancelled), out);
        }
        slot.flight = winner;
    }

    /// Cuts the attempt in flight. What it will be billed is not known: the most it may be counts
    /// against the ceiling, and not in the reported cost.
    pub(super) fn abort(
        &mut self,
        slot: &mut Slot,
        class: Option<FailureClass>,
        out: &mut Vec<Action>,
    ) {
        out.push(Action::Cancel { attempt: slot.attempt_ref(), class });
        slot.presumed += estimated_cost(&slot.request, &self.topology, slot.flight.target);
    }

    /// An attempt is over: what it held returns.
    #[inline(always)]
    pub(super) fn close_attempt(&mut self, slot: &mut Slot) {
        let flight = &mut slot.flight;
        assert!(flight.permit.is_some(), "an attempt in flight holds a permit");
        if let Some(permit) = flight.permit {
            self.health.breakers.on_end(permit, self.now);
        }
        flight.permit = None;
        self.health.load.on_end(flight.target);
        self.in_flight -= 1;
        if self.follows_recoveries && flight.action.is_some() {
            self.recovery_over(slot);
        }
    }

    /// An attempt that the shared budgets granted is over.
    #[inline(never)]
    fn recovery_over(&mut self, slot: &Slot) {
        let Slot { flight, request, .. } = slot;
        let Some(action) = flight.action else { return };
        let payer =
            Payer { failing: flight.failing, destination: flight.target, tenant: request.tenant };
        self.budgets.on_recovery_ended(action, payer);
        self.publish(|| payer.fact(action, true));
    }

    /// The attempt that the request waits for will not be made.
    pub(super) fn give_up_next(&mut self, slot: &Slot) {
        if let Some(action) = slot.next.action {
            let (failing, tenant) = (slot.flight.target, slot.request.tenant);
            let planned = Payer { failing, destination: slot.next.target, tenant };
            self.budgets.on_recovery_ended(action, planned);
            self.publish(|| planned.fact(action, true));
        }
    }

    #[inline(always)]
    pub(super) fn charge(&mut self, slot: &mut Slot, usage: Usage) {
        if usage == Usage::default() {
            return;
        }
        let price = &self.topology.targets[usize::from(slot.flight.target.0)].price;
        slot.spent += price.bill(usage.input, usage.cached, usage.output);
    }
}
