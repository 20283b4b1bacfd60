//! Uncertain side effects: the record of the tool's execution is asked before anything is sent
//! again, and where it does not say, the request ends.

use alloc::vec::Vec;

use super::Router;
use crate::choose::remaining;
use crate::event::{Action, AttemptRef, Decision, StopReason};
use crate::outcome::{Execution, FailureClass, Phase};
use crate::slots::{Lapse, Stage};

impl Router {
    /// Whether the record must be asked before anything follows the latest failure.
    #[inline]
    pub(super) fn must_reconcile(&self, i: usize) -> bool {
        self.policy.side_effects.reconcile && self.is_uncertain(i)
    }

    fn is_uncertain(&self, i: usize) -> bool {
        let slot = &self.slots[i];
        self.class(i).writes
            && !slot.lapse.unsent
            && !slot.lapse.settled
            && !slot.flight.committed
            // Nobody waits for more, or this is the result.
            && !matches!(
                slot.lapse.class,
                FailureClass::CallerCancelled | FailureClass::Refusal
            )
            && (slot.flight.phase == Phase::AfterOutput || may_have_called(slot.lapse.class))
    }

    pub(super) fn reconcile(&mut self, i: usize, out: &mut Vec<Action>) {
        let slot = &mut self.slots[i];
        let longest = self.policy.side_effects.longest.min(remaining(slot, self.now));
        slot.stage = Stage::Reconciling;
        (slot.next.since, slot.next.wait) = (self.now, longest);
        out.push(Action::Reconcile(self.slots[i].attempt_ref(i)));
        self.arm(i, out);
    }

    pub(super) fn on_reconciled(
        &mut self,
        attempt: AttemptRef,
        record: Execution,
        out: &mut Vec<Action>,
    ) {
        let Some(i) = self.slots.find(attempt.request) else { return };
        let slot = &mut self.slots[i];
        if slot.stage != Stage::Reconciling || slot.attempts != attempt.number {
            return;
        }
        match record {
            Execution::NotCalled | Execution::Succeeded => {
                slot.lapse.settled = true;
                if slot.lapse.class == FailureClass::SideEffectUnknown {
                    // What was unknown of it is known: a call that broke, and no more.
                    slot.lapse.class = FailureClass::Transport;
                }
                self.recover(i, out);
            }
            Execution::Failed => self.end_reconciling(i, StopReason::ToolFailed, out),
            Execution::Planned | Execution::Started => {}
            Execution::Unknown => self.give_up_reconciling(i, out),
        }
    }

    /// Nobody knows whether the tool wrote: never again, and the application is told.
    pub(super) fn give_up_reconciling(&mut self, i: usize, out: &mut Vec<Action>) {
        self.slots[i].lapse = Lapse::new(FailureClass::SideEffectUnknown);
        self.end_reconciling(i, StopReason::NotIdempotent, out);
    }

    pub(super) fn end_reconciling(&mut self, i: usize, reason: StopReason, out: &mut Vec<Action>) {
        self.decided(i, Decision::Stop(reason), out);
        self.finish_for(i, reason, out);
    }
}

/// Whether an attempt that ended so may have called a tool: not one that was turned away. One that
/// met an overload may have been at work: who sheds load does not say when.
fn may_have_called(class: FailureClass) -> bool {
    !matches!(
        class,
        FailureClass::ClientInvalid
            | FailureClass::ContextOverflow
            | FailureClass::GatewayDenied
            | FailureClass::UpstreamAuth
            | FailureClass::RateLimited
            | FailureClass::QuotaExhausted
            | FailureClass::TargetMissing
            | FailureClass::Refusal
            | FailureClass::ContentPolicy
            | FailureClass::CallerCancelled
            | FailureClass::DeadlineExhausted
            | FailureClass::NoEligibleTarget
    )
}
