//! A request's one timer, and its one result.

use alloc::vec::Vec;

use super::Router;
use crate::choose::{Chooser, Refusal};
use crate::config::{FirstToken, Timeouts};
use crate::event::{Action, Decision, Outcome, RequestRef, Terminal};
use crate::outcome::{FailureClass, Phase};
use crate::plan::ClassPlan;
use crate::slots::{Flight, Slot, Stage};
use crate::target_set::TargetSet;
use crate::terminal::Stopped;
use crate::{Duration, Instant};

impl Router {
    /// Arms the request's timer where the armed one is too late. An early one costs a wake-up,
    /// and is cheaper than a timer for every limit.
    pub(super) fn arm(&mut self, i: usize, out: &mut Vec<Action>) {
        let slot = &mut self.slots[i];
        let due = due(slot, &self.policy.timeouts);
        if due < slot.armed {
            slot.armed = due;
            slot.epoch = slot.epoch.wrapping_add(1);
            let request = RequestRef { slot: i as u32, generation: slot.generation };
            out.push(Action::SetTimer { request, at: due, epoch: slot.epoch });
        }
    }

    pub(super) fn finish_stopped(&mut self, i: usize, refusal: Refusal, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let stopped = Stopped {
            reason: refusal.reason,
            class: slot.lapse.class,
            status: slot.lapse.status,
            attempts: slot.attempts,
            number: slot.flight.number,
            committed: slot.flight.committed,
            out_of_service: refusal.out_of_service > 0,
            all_cooling: refusal.all_cooling(),
            writes: self.class(i).writes,
        };
        let retryable = stopped.retryable() && !self.policy.attempts.owns_retries;
        let returns = refusal.earliest.map(|back| back.at.since(self.now));
        let refused = matches!(stopped.outcome(), Outcome::Refused(_));
        let result = Terminal {
            id: slot.request.id,
            outcome: stopped.outcome(),
            status: stopped.status(),
            class: (stopped.status() != 200).then_some(stopped.visible_class()),
            stop: (stopped.status() != 200).then_some(refusal.reason),
            retryable,
            retry_after: slot.lapse.hint.or(returns).filter(|_| retryable),
            attempts: slot.attempts - slot.unsent,
            cost: slot.spent,
            disclosed: refused && self.class(i).disclosed.contains(slot.flight.target),
        };
        self.finish(i, result, out);
    }

    pub(super) fn finish(&mut self, i: usize, result: Terminal, out: &mut Vec<Action>) {
        // Nothing of a request outlives it.
        let class = match result.outcome {
            Outcome::Cancelled => Some(FailureClass::CallerCancelled),
            _ => None,
        };
        self.drop_rival(i, class, out);
        out.push(Action::Finish { request: self.slots.request_ref(i), result });
        self.slots.close(i);
    }

    pub(super) fn decided(&self, i: usize, decision: Decision, out: &mut Vec<Action>) {
        out.push(Action::Decided { attempt: self.slots.attempt_ref(i), decision });
    }

    pub(super) fn class(&self, i: usize) -> &ClassPlan {
        &self.classes[usize::from(self.slots[i].request.class.0)]
    }

    pub(super) fn chooser(&mut self, i: usize, fail_open: bool) -> Chooser<'_> {
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
            refusal: Refusal::NOTHING,
        }
    }
}

/// When a request needs its timer.
#[inline]
pub(super) fn due(slot: &Slot, timeouts: &Timeouts) -> Instant {
    match slot.stage {
        Stage::Free => Instant::FAR_FUTURE,
        Stage::Waiting | Stage::Reconciling | Stage::LookingUp | Stage::Closing(_) => slot.next.at,
        Stage::InFlight => attempts_due(slot, timeouts)
            .min(slot.hedge_at)
            .min(slot.policy_deadline)
            .min(slot.deadline)
            .min(slot.first_output_by),
    }
}

/// When the first of the attempts in flight reaches a time limit of its own.
#[inline]
fn attempts_due(slot: &Slot, timeouts: &Timeouts) -> Instant {
    let due = |flight| attempt_due(flight, slot.request.streamed, timeouts);
    slot.rival.as_ref().map_or(Instant::FAR_FUTURE, due).min(due(&slot.flight))
}

/// When an attempt in flight reaches a time limit of its own.
#[inline]
pub(super) fn attempt_due(flight: &Flight, streamed: bool, timeouts: &Timeouts) -> Instant {
    let (from, limit) = match flight.phase {
        Phase::AfterOutput => (flight.progress, timeouts.idle_stream),
        // Of an answer that is not streamed nothing is seen before its end: there is no first
        // token to wait for.
        _ if !streamed => return flight.limit,
        Phase::BeforeOutput if timeouts.first_token_means == FirstToken::Headers => {
            return flight.limit;
        }
        Phase::BeforeHeaders | Phase::BeforeOutput => (flight.sent, timeouts.first_token),
    };
    flight.limit.min(from + limit.unwrap_or(Duration::MAX))
}
