//! Uncertain side effects: the record of the tool's execution is asked before anything is sent
//! again, and where it does not say, the request ends.

use alloc::vec::Vec;

use super::Core;
use crate::choose::remaining;
use crate::event::{Action, Decision, StopReason};
use crate::outcome::{Execution, FailureClass, Phase};
use crate::slots::{Lapse, Slot, Stage};

impl Core {
    /// Whether the record must be asked before anything follows the latest failure.
    #[inline]
    pub(super) fn must_reconcile(&self, slot: &Slot) -> bool {
        self.rules.policy.side_effects.reconcile && self.is_uncertain(slot)
    }

    fn is_uncertain(&self, slot: &Slot) -> bool {
        self.class(slot).writes
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

    pub(super) fn reconcile(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let longest = self.rules.policy.side_effects.longest.min(remaining(slot, self.known.now));
        slot.stage = Stage::Reconciling;
        (slot.next.since, slot.next.wait) = (self.known.now, longest);
        out.push(Action::Reconcile(slot.attempt_ref()));
        slot.arm(out);
    }

    pub(super) fn on_reconciled(
        &mut self,
        slot: &mut Slot,
        number: u16,
        record: Execution,
        out: &mut Vec<Action>,
    ) {
        if slot.stage != Stage::Reconciling || slot.attempts != number {
            return;
        }
        match record {
            Execution::NotCalled | Execution::Succeeded => {
                slot.lapse.settled = true;
                if slot.lapse.class == FailureClass::SideEffectUnknown {
                    // What was unknown of it is known: a call that broke, and no more.
                    slot.lapse.class = FailureClass::Transport;
                }
                self.recover(slot, out);
            }
            Execution::Failed => self.end_reconciling(slot, StopReason::ToolFailed, out),
            Execution::Planned | Execution::Started => {}
            Execution::Unknown => self.give_up_reconciling(slot, out),
        }
    }

    /// Nobody knows whether the tool wrote: never again, and the application is told.
    pub(super) fn give_up_reconciling(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        slot.lapse = Lapse::new(FailureClass::SideEffectUnknown);
        self.end_reconciling(slot, StopReason::NotIdempotent, out);
    }

    pub(super) fn end_reconciling(
        &mut self,
        slot: &mut Slot,
        reason: StopReason,
        out: &mut Vec<Action>,
    ) {
        self.decided(slot, Decision::Stop(reason), out);
        self.finish_for(slot, reason, out);
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
