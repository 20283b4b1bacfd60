//! What follows when a request arrives, an attempt fails, or a wait is over.

use alloc::vec::Vec;

use super::Core;
use crate::Instant;
use crate::backoff;
use crate::choose::{first_of_equals, remaining};
use crate::config::{RecoveryAction, RetryRule};
use crate::event::{Action, Decision, StopReason};
use crate::mix::{self, Draw};
use crate::slots::{Next, Slot, Stage};

impl Core {
    /// The first attempt, or none.
    #[inline(never)]
    pub(super) fn search_first(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        match self.chooser(slot).decide_first() {
            true => self.schedule(slot, out),
            false => self.finish_stopped(slot, out),
        }
    }

    /// The same as [`recover_now`](Core::recover_now), where it is rare.
    #[inline(never)]
    pub(super) fn recover(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        self.recover_now(slot, out);
    }

    /// The latest attempt failed as the slot's lapse says: what now?
    #[inline(always)]
    pub(super) fn recover_now(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        if self.must_reconcile(slot) {
            return self.reconcile(slot, out);
        }
        if self.chooser(slot).decide() {
            let action = slot.next.action.expect("a recovery has a kind");
            let Next { target, wait, .. } = slot.next;
            let decision = Decision::Recover { action, target, wait };
            out.push(Action::Decided { attempt: slot.attempt_ref(), decision });
            self.schedule(slot, out);
        } else {
            self.decided(slot, Decision::Stop(self.known.refusal.reason), out);
            self.stop(slot, out);
        }
    }

    /// The wait before an attempt is over; much may have changed.
    #[inline(never)]
    pub(super) fn resume(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        slot.lapse.waited = true;
        // Nearly always nothing is known against it.
        let well = self.known.health.is_well(slot.next.target)
            && !self.known.health.standing.recovery_off()
            && !self.rules.classes[usize::from(slot.request.class.0)].has_doors
            && !remaining(slot, self.known.now).is_zero();
        match well {
            true => self.send_next(slot, out),
            false => self.resume_or_give_up(slot, out),
        }
    }

    /// The same where something is known.
    #[inline(never)]
    fn resume_or_give_up(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let Next { target, group, action, fail_open, .. } = slot.next;
        let switched_off = action.is_some() && self.known.health.standing.recovery_off();
        if !switched_off && self.chooser(slot).usable(target, group, fail_open) {
            return self.send_next(slot, out);
        }
        self.give_up_next(slot);
        match action {
            None => self.start_again(slot, out),
            Some(_) => self.recover(slot, out),
        }
    }

    /// The first attempt, or none, of a request that has come before: the target chosen then is no longer
    /// to be had, or what earlier requests have done was looked up.
    #[cold]
    pub(super) fn start_again(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let Core { rules, known, .. } = self;
        let (class, now) = (&rules.classes[usize::from(slot.request.class.0)], known.now);
        match first_of_equals(rules, class, &mut known.health, slot, now) {
            Some(target) => {
                slot.next = Next { target, round: slot.round, since: now, ..Next::FIRST };
                self.send_next(slot, out);
            }
            None => self.search_first(slot, out),
        }
    }

    /// The first attempt is so slow that a second may start beside it.
    #[inline(never)]
    pub(super) fn hedge(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        slot.hedge_at = Instant::FAR_FUTURE;
        match self.chooser(slot).decide_hedge() {
            true => self.schedule(slot, out),
            false => slot.arm(out),
        }
    }

    /// Makes the attempt that the slot holds, or waits for its time.
    #[inline(always)]
    fn schedule(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let wait = slot.next.wait;
        slot.round = slot.next.round;
        // A hedge ends no series of waits.
        if slot.next.action != Some(RecoveryAction::Hedge) {
            slot.previous_wait = wait;
        }
        if wait.is_zero() {
            return self.send_next(slot, out);
        }
        slot.stage = Stage::Waiting;
        slot.arm_for(self.known.now + wait, out);
    }

    fn stop(&mut self, slot: &mut Slot, out: &mut Vec<Action>) {
        let useless = self.rules.policy.backoff.after_last
            && self.known.refusal.reason == StopReason::Attempts
            && self.rules.policy.matrix.row(slot.lapse.class).retry != RetryRule::No;
        if !useless {
            return self.finish_stopped(slot, out);
        }
        let index = u32::from(slot.flight.run.saturating_sub(1));
        let draw = mix::draw(slot.request.salt, Draw::Jitter, u64::from(slot.attempts));
        let wait = backoff::delay(&self.rules.policy.backoff, index, slot.previous_wait, draw);
        let wait = wait.min(remaining(slot, self.known.now));
        if wait.is_zero() {
            return self.finish_stopped(slot, out);
        }
        slot.stage = Stage::Closing(self.known.refusal.reason);
        (slot.next.since, slot.next.wait) = (self.known.now, wait);
        slot.arm(out);
    }
}
