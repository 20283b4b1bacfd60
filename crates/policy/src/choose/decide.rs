//! What follows when an attempt has failed: the four gates, then each kind of recovery in the
//! policy's order, as far as the shared budgets grant it.

use super::{Chooser, Refusal, remaining};
use crate::budget::Payer;
use crate::config::{AllUnavailable, LoopOrder, RecoveryAction, Row, WaitTooLong};
use crate::event::StopReason;
use crate::gates::{self, Gate};
use crate::outcome::FailureClass;
use crate::target_set::TargetSet;

impl Chooser<'_> {
    /// The first attempt, if there is a target for it.
    pub(crate) fn decide_first(&mut self) -> bool {
        self.first() || self.first_of_the_unavailable()
    }

    /// The first attempt where none can be made as things stand: what the policy says of that.
    #[cold]
    fn first_of_the_unavailable(&mut self) -> bool {
        match (self.rules.policy.all_unavailable, self.known.refusal.earliest) {
            (AllUnavailable::FailOpen, _) if self.known.refusal.out_of_service > 0 => {
                self.known.refusal = Refusal::NOTHING;
                self.fail_open = true;
                self.first()
            }
            (AllUnavailable::WaitForEarliest, Some(back)) => self.wait_for(back),
            _ => false,
        }
    }

    /// A second attempt beside the first, if the budgets grant it.
    pub(crate) fn decide_hedge(&mut self) -> bool {
        // It follows no failure, and whatever the row of one says is not asked.
        let (action, rules) = (RecoveryAction::Hedge, self.rules);
        let row = rules.policy.matrix.at(FailureClass::Unknown);
        !self.known.health.standing.recovery_off()
            && self.recovery(action, row)
            && (self.granted() || self.elsewhere(action, row))
    }

    /// The attempt after the latest one, which failed as the slot's lapse says: the four gates in
    /// their order, then each kind of recovery in the policy's order.
    #[inline(always)]
    pub(crate) fn decide(&mut self) -> bool {
        let class = self.slot.lapse.class;
        let rules = self.rules;
        let row = rules.policy.matrix.at(class);
        // A partial stream is known by its phase; its cause says nothing more.
        if class != FailureClass::PartialStream
            && let Err(reason) = gates::class(row)
        {
            return self.refuse(reason);
        }
        if let Err(reason) = gates::phase(self.slot.flight.committed) {
            return self.refuse(reason);
        }
        if let Err(reason) = self.idempotent() {
            return self.refuse(reason);
        }
        if self.known.health.standing.recovery_off() {
            return self.refuse(StopReason::KillSwitch);
        }
        if remaining(self.slot, self.known.now).is_zero() {
            return self.refuse(StopReason::Deadline);
        }
        self.any_kind(row) || self.any_of_the_unavailable(row)
    }

    /// Gate 3, for the latest failure and for that of an attempt which ran beside it.
    #[inline]
    pub(crate) fn idempotent(&self) -> Gate {
        if self.slot.may_have_acted {
            return Err(StopReason::NotIdempotent);
        }
        let lapse = &self.slot.lapse;
        let uncertain = !lapse.unsent && !lapse.settled;
        let row = self.rules.policy.matrix.at(lapse.class);
        gates::idempotency(lapse.class, row, uncertain, self.class.writes)
    }

    /// Each kind of recovery in turn. The order is spelled out, and not a list, so that each is
    /// compiled for what it is.
    #[inline(always)]
    fn any_kind(&mut self, row: &Row) -> bool {
        use RecoveryAction::{Failover, Retry, Substitution};
        let failover_first = match self.class.attempts.order {
            LoopOrder::RetryThenFailover | LoopOrder::FreePick => false,
            LoopOrder::FailoverThenRetry | LoopOrder::WalkThenRetry => true,
        };
        (failover_first && self.kind(Failover, row))
            || self.kind(Retry, row)
            || (!failover_first && self.kind(Failover, row))
            || self.kind(Substitution, row)
    }

    /// A recovery of this kind, as far as nothing has stopped all recovery before.
    #[inline(always)]
    fn kind(&mut self, action: RecoveryAction, row: &Row) -> bool {
        gates::allows(row, &self.class.attempts, action)
            && !self.stops()
            && self.recovery(action, row)
            && (self.granted() || self.elsewhere(action, row))
    }

    /// A recovery where none can be made as things stand: what the policy says of that.
    fn any_of_the_unavailable(&mut self, row: &Row) -> bool {
        match (self.rules.policy.all_unavailable, self.known.refusal.earliest) {
            _ if self.stops() => false,
            (AllUnavailable::FailOpen, _) if self.known.refusal.out_of_service > 0 => {
                self.known.refusal = Refusal::NOTHING;
                self.fail_open = true;
                self.any_kind(row)
            }
            (AllUnavailable::WaitForEarliest, Some(back)) => {
                self.wait_for(back) && (self.granted() || self.refuse(StopReason::RetryBudget))
            }
            _ => false,
        }
    }

    /// A wait that does not fit stops all recovery, where the policy says so.
    #[inline]
    fn stops(&self) -> bool {
        self.known.refusal.reason == StopReason::WaitTooLong
            && self.rules.policy.retry_after.too_long == WaitTooLong::Stop
    }

    /// The budgets have denied what was chosen. Another destination may have what this one lacks; a
    /// same-route retry has no other.
    #[cold]
    fn elsewhere(&mut self, action: RecoveryAction, row: &Row) -> bool {
        self.refuse(StopReason::RetryBudget);
        if action == RecoveryAction::Retry || !self.known.budgets.differ_by_destination() {
            return false;
        }
        let mut denied = TargetSet::EMPTY;
        let granted = loop {
            denied.insert(self.slot.next.target);
            self.denied = Some(denied);
            if !self.recovery(action, row) {
                break false;
            }
            if self.granted() {
                break true;
            }
            self.refuse(StopReason::RetryBudget);
        };
        self.denied = None;
        granted
    }

    /// Whether the shared budgets grant the next attempt; what they grant is theirs again when it
    /// ends, or is given up.
    #[inline(always)]
    fn granted(&mut self) -> bool {
        let Some(action) = self.slot.next.action else { return true };
        let payer = Payer {
            failing: self.slot.flight.target,
            destination: self.slot.next.target,
            tenant: self.slot.request.tenant,
        };
        let granted = self.known.budgets.ask(action, payer, self.known.now);
        if granted && let Some(facts) = &mut self.known.facts {
            facts.push(payer.fact(action, false));
        }
        granted
    }
}
