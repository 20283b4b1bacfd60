//! An attempt comes to its end: what it held returns, and what follows.

use alloc::vec::Vec;

use super::Core;
use crate::breaker::{Lane, Permit};
use crate::budget::Payer;
use crate::choose::estimated_cost;
use crate::config::RetryRule;
use crate::event::{Action, Decision, StopReason};
use crate::gates;
use crate::outcome::{FailureClass, Usage};
use crate::plan::DoorPlan;
use crate::slots::{Lapse, Slot};
use crate::target::ClassId;

impl Core {
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
        if let Some(hint) = hint {
            slot.first_hint.get_or_insert(hint);
        }
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
        // One attempt has no rival, wherever that would lie.
        if slot.attempts > 1 && slot.rival.is_some() {
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
