//! An action that comes again: what its earlier requests did outside is looked up before anything of
//! this one is sent, for nobody here has seen how they ended.

use alloc::vec::Vec;

use super::Router;
use crate::choose::remaining;
use crate::event::{Action, RequestRef, StopReason};
use crate::outcome::{Execution, FailureClass};
use crate::slots::Stage;

impl Router {
    #[inline(never)]
    pub(super) fn look_up(&mut self, i: usize, out: &mut Vec<Action>) {
        let slot = &mut self.slots[i];
        let longest = self.policy.side_effects.longest.min(remaining(slot, self.now));
        slot.stage = Stage::LookingUp;
        (slot.next.since, slot.next.wait) = (self.now, longest);
        let action = slot.request.action;
        out.push(Action::LookUp { request: slot.request_ref(i), action });
        self.arm(i, out);
    }

    #[inline(never)]
    pub(super) fn on_looked_up(
        &mut self,
        request: RequestRef,
        record: Execution,
        out: &mut Vec<Action>,
    ) {
        let Some(i) = self.slots.find(request) else { return };
        if self.slots[i].stage != Stage::LookingUp {
            return;
        }
        match record {
            Execution::NotCalled | Execution::Succeeded => self.start_again(i, out),
            Execution::Planned | Execution::Started => {}
            Execution::Failed => {
                self.slots[i].lapse.class = FailureClass::GatewayDenied;
                self.finish_for(i, StopReason::ToolFailed, out);
            }
            Execution::Unknown => self.give_up_looking(i, out),
        }
    }

    /// Nobody knows whether the tool wrote for an earlier request: this one sends nothing.
    #[inline(never)]
    pub(super) fn give_up_looking(&mut self, i: usize, out: &mut Vec<Action>) {
        self.slots[i].lapse.class = FailureClass::SideEffectUnknown;
        self.finish_for(i, StopReason::NotIdempotent, out);
    }
}
