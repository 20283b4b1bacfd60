//! An attempt, from its sending to its end: what it holds, and what follows.

use alloc::vec::Vec;

use super::Core;
use super::results::in_flight_due;
use crate::breaker::{Lane, Permit};
use crate::budget::Payer;
use crate::choose::{estimated_cost, remaining};
use crate::config::{RecoveryAction, RetryRule, TotalCovers};
use crate::event::{Action, Decision, Send, StopReason};
use crate::facts::Fact;
use crate::gates;
use crate::known::Known;
use crate::outcome::{FailureClass, Phase, Usage};
use crate::plan::{ClassPlan, DoorPlan};
use crate::rules::Rules;
use crate::slots::{Flight, Lapse, Next, Slot, Stage};
use crate::tally::Tallies;
use crate::target::{ClassId, TargetId};
use crate::{Duration, Instant};

impl Known {
    /// Makes a request's first attempt, which has waited for nothing. The same for most requests: compiled
    /// by itself, for what it is.
    #[inline(always)]
    pub(super) fn send_first(
        &mut self,
        rules: &Rules,
        class: &ClassPlan,
        tallies: &mut Tallies,
        slot: &mut Slot,
        target: TargetId,
        out: &mut Vec<Action>,
    ) {
        let next = Next { target, since: self.now, ..Next::FIRST };
        self.send(rules, class, tallies, slot, next, out);
    }

    #[inline(always)]
    fn send(
        &mut self,
        rules: &Rules,
        class: &ClassPlan,
        tallies: &mut Tallies,
        slot: &mut Slot,
        next: Next,
        out: &mut Vec<Action>,
    ) {
        let now = self.now;
        let Next { target, group, action, honoured, since, .. } = next;
        let first = action.is_none();
        let waited = now.since(since);
        let sent_to_group = match slot.tallied || !first {
            true => tallies.of(slot).count(target, group),
            false => 0,
        };
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
        let (breaker, permit) = self.health.on_sent(target, class.lane, elsewhere, now, out);

        let failing = slot.flight.target;
        let same = !first && failing == target;
        let run = if same { slot.flight.run.saturating_add(1) } else { 1 };
        if action == Some(RecoveryAction::Hedge) {
            slot.rival = Some(slot.flight);
        } else if !same {
            slot.previous_wait = Duration::ZERO;
        }
        let number = if first { 1 } else { slot.attempts + 1 };
        slot.attempts = number;
        if rules.policy.timeouts.total_covers == TotalCovers::AttemptsOnly {
            slot.policy_deadline = slot.policy_deadline + waited;
            slot.note_end();
        }
        let disclosed = class.must_disclose(target);
        let remaining = remaining(slot, now);
        // Its own time limit; and for a retry on the first target no more than the reserve leaves.
        let own = rules.limits.attempt.min(remaining);
        let timeout = match action {
            Some(RecoveryAction::Retry) if remaining != Duration::MAX => {
                own.min(remaining.saturating_sub(class.reserve(number == run)))
            }
            _ => own,
        };
        let limit = if timeout < remaining { now + timeout } else { Instant::FAR_FUTURE };
        let due = match slot.request.streamed {
            // Of an answer that is not streamed nothing is seen before its end: there is no first
            // token to wait for.
            true => limit.min(now + rules.limits.first_token),
            false => limit,
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
            permit,
            disclosed,
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
            disclose: disclosed,
        }));
        if !first {
            let due = match action {
                Some(RecoveryAction::Hedge) => in_flight_due(slot),
                _ => due.min(slot.ends),
            };
            return slot.arm_for(due, out);
        }
        let tenant = slot.request.tenant;
        self.budgets.on_first_attempt(target, tenant, now);
        self.publish(|| Fact::FirstAttempt { target, tenant });
        let mut due = due.min(slot.ends);
        if class.hedges {
            slot.hedge_at = now + self.hedge_delay(rules, slot);
            due = due.min(slot.hedge_at);
        }
        slot.arm_for(due, out);
    }
}

impl Core {
    /// Makes the attempt that the slot holds as its next.
    #[inline(never)]
    pub(super) fn send_next(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let Core { rules, known, tallies, .. } = self;
        let class = &rules.classes[usize::from(slot.request.class.0)];
        known.send(rules, class, tallies, slot, slot.next, out);
    }

    /// Whose breakers the requests of a class meet.
    pub(crate) fn lane(&self, class: ClassId) -> Lane {
        self.rules.classes[usize::from(class.0)].lane
    }

    /// The door of a group, where it has one.
    pub(crate) fn door(&self, class: ClassId, group: u8) -> Option<DoorPlan> {
        self.rules.classes[usize::from(class.0)].groups[usize::from(group)].door
    }

    /// The attempt failed as the slot's lapse says, and is over: its target's standing, then recovery.
    #[inline(never)]
    pub(super) fn fail(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let Lapse { class, hint, .. } = slot.lapse;
        self.blame(slot, class, hint, out);
        self.close_attempt(slot);
        slot.first_hint = slot.first_hint.or(hint);
        if self.rules.policy.matrix.row(class).retry == RetryRule::No {
            let failed = slot.flight.target;
            self.tallies.of(slot).exclude(failed);
        }
        match slot.rival {
            None => self.recover_now(slot, out),
            Some(_) => self.over_beside(slot, out),
        }
    }

    /// The attempt failed with no more to say than this class, and is over.
    #[inline(never)]
    pub(super) fn fail_as(&mut self, slot: &mut Slot, class: FailureClass, out: &mut Vec<Action>) {
        slot.lapse = Lapse::new(class);
        self.fail(slot, out);
    }

    /// An attempt is over as the slot's lapse says. What another one in flight may still bring is
    /// waited for, unless this is the request's result.
    pub(super) fn over(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        match slot.rival.is_some() {
            true => self.over_beside(slot, out),
            false => self.recover(slot, out),
        }
    }

    /// The same of an attempt with another one in flight.
    #[inline(never)]
    fn over_beside(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let class = slot.lapse.class;
        let is_result = match class {
            FailureClass::Refusal => gates::class(self.rules.policy.matrix.at(class)).is_err(),
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
        slot.presumed += estimated_cost(&slot.request, &self.rules.topology, slot.flight.target);
    }

    /// An attempt is over: what it held returns.
    #[inline(always)]
    pub(super) fn close_attempt(&mut self, slot: &mut Slot) {
        let flight = &mut slot.flight;
        self.known.health.breakers.on_end(&flight.permit, self.known.now);
        flight.permit = Permit::NONE;
        self.known.health.load.on_end(flight.target);
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
        self.known.budgets.on_recovery_ended(action, payer);
        self.known.publish(|| payer.fact(action, true));
    }

    /// The attempt that the request waits for will not be made.
    pub(super) fn give_up_next(&mut self, slot: &Slot) {
        if let Some(action) = slot.next.action {
            let (failing, tenant) = (slot.flight.target, slot.request.tenant);
            let planned = Payer { failing, destination: slot.next.target, tenant };
            self.known.budgets.on_recovery_ended(action, planned);
            self.known.publish(|| planned.fact(action, true));
        }
    }

    #[inline(always)]
    pub(super) fn charge(&mut self, slot: &mut Slot, usage: Usage) {
        if usage == Usage::default() {
            return;
        }
        let price = &self.rules.topology.targets[usize::from(slot.flight.target.0)].price;
        slot.spent += price.bill(usage.input, usage.cached, usage.output);
    }
}
