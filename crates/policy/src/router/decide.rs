//! What follows when an attempt fails, or a wait is over: the four gates, then each kind of
//! recovery in the policy's order.

use alloc::vec::Vec;

use super::Router;
use crate::backoff;
use crate::budget::Payer;
use crate::choose::{Choice, Chooser, Refusal, remaining};
use crate::config::{AllUnavailable, LoopOrder, RecoveryAction, RetryRule, Row, WaitTooLong};
use crate::event::{Action, Decision, StopReason};
use crate::gates::{self, Gate};
use crate::mix::{self, Draw};
use crate::outcome::FailureClass;
use crate::slots::{Next, Stage};
use crate::target_set::TargetSet;
use crate::{Duration, Instant};

impl Router {
    /// The first attempt, or none.
    pub(super) fn start(&mut self, i: usize, out: &mut Vec<Action>) {
        match self.first_choice(i) {
            Ok(choice) => self.schedule(i, choice, out),
            Err(refusal) => self.finish_stopped(i, refusal, out),
        }
    }

    /// The latest attempt failed as the slot's lapse says: what now?
    pub(super) fn recover(&mut self, i: usize, out: &mut Vec<Action>) {
        if self.must_reconcile(i) {
            return self.reconcile(i, out);
        }
        match self.decide(i) {
            Ok(choice) => {
                let action = choice.action.expect("a recovery has a kind");
                let decision =
                    Decision::Recover { action, target: choice.target, wait: choice.wait };
                self.decided(i, decision, out);
                self.schedule(i, choice, out);
            }
            Err(refusal) => {
                self.decided(i, Decision::Stop(refusal.reason), out);
                self.stop(i, refusal, out);
            }
        }
    }

    /// The wait before an attempt is over; much may have changed.
    pub(super) fn resume(&mut self, i: usize, out: &mut Vec<Action>) {
        let next = self.slots[i].next;
        self.slots[i].lapse.waited = true;
        let switched_off = next.action.is_some() && self.health.standing.recovery_off();
        let usable = self.chooser(i, next.fail_open).usable(next.target, next.group);
        if usable && !switched_off {
            return self.send(i, next, out);
        }
        self.give_up_next(i);
        match next.action {
            None => self.start(i, out),
            Some(_) => self.recover(i, out),
        }
    }

    pub(super) fn first_choice(&mut self, i: usize) -> Result<Choice, Refusal> {
        let refusal = match self.chooser(i, false).first() {
            Ok(choice) => return Ok(choice),
            Err(refusal) => refusal,
        };
        match (self.policy.all_unavailable, refusal.earliest) {
            (AllUnavailable::FailOpen, _) if refusal.out_of_service > 0 => {
                self.chooser(i, true).first()
            }
            (AllUnavailable::WaitForEarliest, Some(back)) => {
                self.chooser(i, false).wait_for(back).map_err(|reason| refusal.and(reason.into()))
            }
            _ => Err(refusal),
        }
    }

    /// The first attempt is so slow that a second may start beside it.
    pub(super) fn hedge(&mut self, i: usize, out: &mut Vec<Action>) {
        self.slots[i].hedge_at = Instant::FAR_FUTURE;
        let choice = match self.health.standing.recovery_off() {
            true => Err(StopReason::KillSwitch.into()),
            false => {
                self.granted_choice(i, RecoveryAction::Hedge, false, |chooser| chooser.hedge())
            }
        };
        match choice {
            Ok(choice) => self.schedule(i, choice, out),
            Err(_) => self.arm(i, out),
        }
    }

    /// The four gates in their order, then each kind of recovery in the policy's order.
    pub(super) fn decide(&mut self, i: usize) -> Result<Choice, Refusal> {
        let slot = &self.slots[i];
        let (lapse, committed) = (slot.lapse, slot.flight.committed);
        let row = self.policy.matrix.row(lapse.class);
        // A partial stream is known by its phase; its cause says nothing more.
        if lapse.class != FailureClass::PartialStream {
            gates::class(row)?;
        }
        gates::phase(committed)?;
        self.idempotent(i)?;
        if self.health.standing.recovery_off() {
            return Err(StopReason::KillSwitch.into());
        }
        if remaining(&self.slots[i], self.now).is_zero() {
            return Err(StopReason::Deadline.into());
        }

        let refusal = match self.any_kind(i, row, false) {
            Ok(choice) => return Ok(choice),
            Err(refusal) => refusal,
        };
        match (self.policy.all_unavailable, refusal.earliest) {
            _ if self.stops_at(refusal.reason) => Err(refusal),
            (AllUnavailable::FailOpen, _) if refusal.out_of_service > 0 => {
                self.any_kind(i, row, true)
            }
            (AllUnavailable::WaitForEarliest, Some(back)) => {
                let choice = self.chooser(i, false).wait_for(back);
                let choice = choice.map_err(|reason| refusal.and(reason.into()))?;
                match self.granted(i, choice) {
                    true => Ok(choice),
                    false => Err(refusal.and(StopReason::RetryBudget.into())),
                }
            }
            _ => Err(refusal),
        }
    }

    /// Gate 3, for the latest failure and for that of an attempt which ran beside it.
    pub(super) fn idempotent(&self, i: usize) -> Gate {
        let slot = &self.slots[i];
        if slot.may_have_acted {
            return Err(StopReason::NotIdempotent);
        }
        let row = self.policy.matrix.row(slot.lapse.class);
        let uncertain = !slot.lapse.unsent && !slot.lapse.settled;
        gates::idempotency(slot.lapse.class, row, uncertain, self.class(i).writes)
    }

    pub(super) fn any_kind(
        &mut self,
        i: usize,
        row: Row,
        fail_open: bool,
    ) -> Result<Choice, Refusal> {
        use RecoveryAction::{Failover, Retry, Substitution};
        let order: &[RecoveryAction] = match self.policy.attempts.order {
            LoopOrder::RetryThenFailover | LoopOrder::FreePick => &[Retry, Failover, Substitution],
            LoopOrder::FailoverThenRetry | LoopOrder::WalkThenRetry => {
                &[Failover, Retry, Substitution]
            }
        };
        let mut all = Refusal::NOTHING;
        for &action in order {
            let one_kind = |chooser: &mut Chooser<'_>| chooser.recovery(action, row);
            match self.granted_choice(i, action, fail_open, one_kind) {
                Ok(choice) => return Ok(choice),
                Err(refusal) => all = all.and(refusal),
            }
            if self.stops_at(all.reason) {
                break;
            }
        }
        Err(all)
    }

    /// A choice of this kind that the shared budgets grant.
    fn granted_choice(
        &mut self,
        i: usize,
        action: RecoveryAction,
        fail_open: bool,
        choose: impl Fn(&mut Chooser<'_>) -> Result<Choice, Refusal>,
    ) -> Result<Choice, Refusal> {
        let mut denied = TargetSet::EMPTY;
        let mut all = Refusal::NOTHING;
        loop {
            let mut chooser = self.chooser(i, fail_open);
            chooser.denied = denied;
            let choice = choose(&mut chooser).map_err(|refusal| all.and(refusal))?;
            if self.granted(i, choice) {
                return Ok(choice);
            }
            all = all.and(StopReason::RetryBudget.into());
            // Another destination may have what this one lacks; a same-route retry has no other.
            if action == RecoveryAction::Retry || !self.budgets_by_destination {
                return Err(all);
            }
            denied.insert(choice.target);
        }
    }

    /// Whether the shared budgets grant a recovery; what they grant is theirs again when its
    /// attempt ends, or is given up.
    pub(super) fn granted(&mut self, i: usize, choice: Choice) -> bool {
        let slot = &self.slots[i];
        let (failing, tenant) = (slot.flight.target, slot.request.tenant);
        let payer = Payer { failing, destination: choice.target, tenant };
        let Some(action) = choice.action else { return true };
        let granted = self.budgets.ask(action, payer, self.now);
        if granted {
            self.publish(|| payer.fact(action, false));
        }
        granted
    }

    /// A wait that does not fit stops all recovery, where the policy says so.
    pub(super) fn stops_at(&self, reason: StopReason) -> bool {
        reason == StopReason::WaitTooLong && self.policy.retry_after.too_long == WaitTooLong::Stop
    }

    pub(super) fn schedule(&mut self, i: usize, choice: Choice, out: &mut Vec<Action>) {
        let next = Next {
            target: choice.target,
            group: choice.group,
            action: choice.action,
            since: self.now,
            at: self.now + choice.wait,
            honoured: choice.honoured,
            fail_open: choice.fail_open,
        };
        let slot = &mut self.slots[i];
        slot.round = choice.round;
        // A hedge ends no series of waits.
        if choice.action != Some(RecoveryAction::Hedge) {
            slot.previous_wait = choice.wait;
        }
        if choice.wait.is_zero() {
            return self.send(i, next, out);
        }
        slot.next = next;
        slot.stage = Stage::Waiting;
        self.arm(i, out);
    }

    pub(super) fn stop(&mut self, i: usize, refusal: Refusal, out: &mut Vec<Action>) {
        let slot = &self.slots[i];
        let row = self.policy.matrix.row(slot.lapse.class);
        let useless = self.policy.backoff.after_last
            && refusal.reason == StopReason::Attempts
            && row.retry != RetryRule::No;
        let index = u32::from(slot.flight.run.saturating_sub(1));
        let draw = mix::draw(slot.request.salt, Draw::Jitter, u64::from(slot.attempts));
        let wait = match useless {
            true => backoff::delay(&self.policy.backoff, index, slot.previous_wait, draw),
            false => Duration::ZERO,
        };
        let wait = wait.min(remaining(slot, self.now));
        if wait.is_zero() {
            return self.finish_stopped(i, refusal, out);
        }
        let at = self.now + wait;
        let slot = &mut self.slots[i];
        slot.stage = Stage::Closing(refusal.reason);
        slot.next.at = at;
        self.arm(i, out);
    }
}
