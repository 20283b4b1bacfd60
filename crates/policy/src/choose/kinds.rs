//! The kinds of recovery, each with its own terms for the search.

use super::{Choice, Chooser, Refusal, Terms};
use crate::Duration;
use crate::config::{FailoverRule, LoopOrder, RecoveryAction, RetryRule, Row, SubstitutionRule};
use crate::event::StopReason;
use crate::gates;
use crate::health::Standstill;

impl Chooser<'_> {
    pub(super) fn retry(&mut self, row: Row, index: u32) -> Result<Choice, Refusal> {
        let (slot, limits) = (self.slot(), &self.policy.attempts);
        let (target, group) = (slot.flight.target, slot.flight.group);
        let (on_target, _) = self.slots.on_target(self.i, target);
        let in_a_row = if limits.repick_failed { slot.run } else { on_target };
        let once = row.retry == RetryRule::OnceIfIdempotent;
        if in_a_row >= limits.max_same_target || (once && in_a_row > 1) {
            return Err(StopReason::Attempts.into());
        }
        gates::attempts(limits, self.used(target, group))?;

        let needed = self.needed(target);
        let reserve = self.reserve();
        self.affordable(target, needed + reserve, Duration::ZERO)?;
        let (wait, honoured) = self.wait_before(index, true, needed + reserve)?;

        let standstill = self.health.standstill(target, self.now, self.ramp_draw());
        let usable = match standstill {
            None => true,
            Some(Standstill::Operator) => false,
            Some(Standstill::Until(at)) => {
                self.fail_open || (!wait.is_zero() && at <= self.now + wait)
            }
        };
        if !usable {
            let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
            self.note_standstill(
                &mut refusal,
                standstill,
                target,
                group,
                Some(RecoveryAction::Retry),
            );
            return Err(refusal);
        }
        Ok(Choice {
            target,
            group,
            action: Some(RecoveryAction::Retry),
            wait,
            honoured,
            round: slot.round,
            fail_open: self.fail_open,
        })
    }

    pub(super) fn failover(&mut self, row: Row) -> Result<Choice, Refusal> {
        let wait = self.failover_wait()?;
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds: self.rounds(),
            latest: false,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            wait,
        };
        let found = self.search(&self.class.equivalent, terms)?;
        Ok(self.choice(found, terms))
    }

    pub(super) fn substitution(&mut self, row: Row) -> Result<Choice, Refusal> {
        let wait = self.failover_wait()?;
        let latest = self.target(self.slot().flight.target);
        let terms = Terms {
            action: Some(RecoveryAction::Substitution),
            rounds: self.rounds(),
            latest: false,
            validated: row.substitution == SubstitutionRule::IfApprovedAndValidated,
            larger_than: match row.substitution {
                SubstitutionRule::LargerWindow => latest.context_tokens,
                _ => 0,
            },
            wait,
        };
        let found = self.search(&self.class.substitutes, terms)?;
        Ok(self.choice(found, terms))
    }

    /// The whole walk again: every target whose failures allow it, the latest included.
    pub(super) fn walk(&mut self, row: Row) -> Result<Choice, Refusal> {
        let round = self.slot().round.saturating_add(1);
        if round > self.policy.attempts.max_same_target {
            return Err(StopReason::Attempts.into());
        }
        let again = self.any_target(row, round, u32::from(round - 2))?;
        Ok(Choice { round, ..again })
    }

    /// A fresh choice among all targets, the latest included.
    pub(super) fn free_pick(&mut self, row: Row) -> Result<Choice, Refusal> {
        let index = u32::from(self.slot().attempts.saturating_sub(1));
        self.any_target(row, self.policy.attempts.max_same_target, index)
    }

    pub(super) fn any_target(
        &mut self,
        row: Row,
        rounds: u16,
        index: u32,
    ) -> Result<Choice, Refusal> {
        if gates::kind(row, &self.policy.attempts, RecoveryAction::Failover).is_err() {
            return self.retry(row, index);
        }
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds,
            latest: true,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            // A wait hint is about the latest target only.
            wait: self.wait_before(index, false, Duration::ZERO)?.0,
        };
        let found = self.search(&self.class.equivalent, terms)?;
        if found.target != self.slot().flight.target {
            return Ok(self.choice(found, terms));
        }
        self.retry(row, index).or_else(|refusal| {
            let others = Terms { latest: false, ..terms };
            let found = self.search(&self.class.equivalent, others);
            let found = found.map_err(|other| refusal.and(other))?;
            Ok(self.choice(found, others))
        })
    }

    /// Below how many attempts a target may be failed over to.
    pub(super) fn rounds(&self) -> u16 {
        let limits = &self.policy.attempts;
        match limits.order {
            _ if limits.repick_failed => u16::MAX,
            LoopOrder::RetryThenFailover | LoopOrder::FailoverThenRetry => 1,
            LoopOrder::WalkThenRetry => self.slot().round,
            LoopOrder::FreePick => limits.max_same_target,
        }
    }
}
