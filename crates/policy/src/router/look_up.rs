//! An action that comes again: what its earlier requests did outside is looked up before anything of
//! this one is sent, for nobody here has seen how they ended.

use alloc::vec::Vec;

use super::Core;
use crate::choose::remaining;
use crate::event::{Action, StopReason};
use crate::outcome::{Execution, FailureClass};
use crate::slots::{Slot, Stage};

impl Core {
    #[inline(never)]
    pub(super) fn look_up(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let longest = self.rules.policy.side_effects.longest.min(remaining(slot, self.known.now));
        slot.stage = Stage::LookingUp;
        (slot.next.since, slot.next.wait) = (self.known.now, longest);
        let action = slot.request.action;
        out.push(Action::LookUp { request: slot.handle, action });
        slot.arm(out);
    }

    #[inline(never)]
    pub(super) fn on_looked_up(
        &mut self,
        slot: &mut Slot,
        record: Execution,
        out: &mut Vec<Action>,
    ) {
        if slot.stage != Stage::LookingUp {
            return;
        }
        match record {
            Execution::NotCalled | Execution::Succeeded => self.start_again(slot, out),
            Execution::Planned | Execution::Started => {}
            Execution::Failed => {
                slot.lapse.class = FailureClass::GatewayDenied;
                self.finish_for(slot, StopReason::ToolFailed, out);
            }
            Execution::Unknown => self.give_up_looking(slot, out),
        }
    }

    /// Nobody knows whether the tool wrote for an earlier request: this one sends nothing.
    #[inline(never)]
    pub(super) fn give_up_looking(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        slot.lapse.class = FailureClass::SideEffectUnknown;
        self.finish_for(slot, StopReason::NotIdempotent, out);
    }
}
