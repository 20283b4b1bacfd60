//! A request's one timer, and its one result.

use alloc::vec::Vec;

use super::Core;
use crate::Instant;
use crate::choose::{Chooser, Refusal};
use crate::event::{Action, Decision, Outcome, StopReason, Terminal};
use crate::outcome::FailureClass;
use crate::plan::ClassPlan;
use crate::slots::{Slot, Stage};
use crate::terminal::Stopped;

impl Core {
    /// Ends the request for this reason alone.
    pub(super) fn finish_for(
        &mut self,
        slot: &mut Slot,
        reason: StopReason,
        out: &mut Vec<Action>,
    ) {
        self.known.refusal = reason.into();
        self.finish_stopped(slot, out);
    }

    /// Ends the request as `refusal` says.
    #[inline(never)]
    pub(super) fn finish_stopped(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let refusal = &self.known.refusal;
        let class = self.class(slot);
        let stopped = Stopped {
            reason: refusal.reason,
            class: slot.lapse.class,
            status: slot.lapse.status,
            attempts: slot.attempts,
            number: slot.flight.number,
            committed: slot.flight.committed,
            out_of_service: refusal.out_of_service > 0,
            all_cooling: refusal.all_cooling(),
            writes: class.writes,
            unsettled: !slot.lapse.unsent && !slot.lapse.settled,
        };
        let retryable = stopped.retryable() && !self.rules.policy.attempts.owns_retries;
        let returns = refusal.earliest.map(|back| back.at.since(self.known.now));
        let (outcome, status) = (stopped.outcome(), stopped.status());
        let refused = matches!(outcome, Outcome::Refused(_));
        let result = Terminal {
            id: slot.request.id,
            outcome,
            status,
            class: (status != 200).then_some(stopped.visible_class()),
            stop: (status != 200).then_some(refusal.reason),
            retryable,
            retry_after: slot.lapse.hint.or(returns).filter(|_| retryable),
            attempts: slot.attempts - slot.unsent,
            cost: slot.spent,
            disclosed: refused && slot.flight.disclosed,
            advice: stopped.advice(retryable),
        };
        self.finish(slot, result, out);
    }

    #[inline(always)]
    pub(super) fn finish(&mut self, slot: &mut Slot, result: Terminal, out: &mut Vec<Action>) {
        // Nothing of a request outlives it.
        let class = match result.outcome {
            Outcome::Cancelled => Some(FailureClass::CallerCancelled),
            _ => None,
        };
        self.drop_rival(slot, class, out);
        out.push(Action::Finish { request: slot.handle, result });
        self.close(slot);
    }

    pub(super) fn decided(&self, slot: &Slot, decision: Decision, out: &mut Vec<Action>) {
        out.push(Action::Decided { attempt: slot.attempt_ref(), decision });
    }

    pub(super) fn class(&self, slot: &Slot) -> &ClassPlan {
        &self.rules.classes[usize::from(slot.request.class.0)]
    }

    /// What decides on the request's next attempt; nothing was refused yet.
    #[inline(always)]
    pub(super) fn chooser<'a>(&'a mut self, slot: &'a mut Slot) -> Chooser<'a> {
        self.known.refusal = Refusal::NOTHING;
        Chooser {
            rules: &self.rules,
            class: &self.rules.classes[usize::from(slot.request.class.0)],
            known: &mut self.known,
            tally: self.tallies.of(slot),
            slot,
            denied: None,
            fail_open: false,
        }
    }
}

impl Slot {
    /// Arms the request's timer where the armed one is too late. An early one costs a wake-up,
    /// and is cheaper than a timer for every limit.
    #[inline]
    pub(super) fn arm(&mut self, out: &mut Vec<Action>) {
        self.arm_for(due(self), out);
    }

    /// The same, where it is known when the request needs its timer.
    #[inline(always)]
    pub(super) fn arm_for(&mut self, due: Instant, out: &mut Vec<Action>) {
        if due < self.armed {
            self.armed = due;
            self.epoch = self.epoch.wrapping_add(1);
            let request = self.handle;
            out.push(Action::SetTimer { request, at: due, epoch: self.epoch });
        }
    }
}

/// When a request needs its timer.
#[inline]
pub(super) fn due(slot: &Slot) -> Instant {
    match slot.stage {
        Stage::Free => Instant::FAR_FUTURE,
        Stage::Waiting | Stage::Reconciling | Stage::LookingUp | Stage::Closing(_) => {
            slot.next.at()
        }
        Stage::InFlight => in_flight_due(slot),
    }
}

/// The same of a request that has an attempt in flight.
#[inline]
pub(super) fn in_flight_due(slot: &Slot) -> Instant {
    let rival = slot.rival.as_ref().map_or(Instant::FAR_FUTURE, |rival| rival.due);
    rival.min(slot.flight.due).min(slot.hedge_at).min(slot.ends)
}
