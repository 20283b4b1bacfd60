//! The kinds of recovery, each with its own terms for the search.

use super::{Choice, Chooser, Refusal, Return, Terms};
use crate::Duration;
use crate::config::{FailoverRule, LoopOrder, RecoveryAction, RetryRule, Row, SubstitutionRule};
use crate::event::StopReason;
use crate::gates;
use crate::health::Standstill;

impl Chooser<'_> {
    pub(super) fn retry(&mut self, row: Row, index: u32) -> Option<Choice> {
        let (slot, limits) = (self.slot(), &self.policy.attempts);
        let (target, group) = (slot.flight.target, slot.flight.group);
        let tried = self.slots.on_target(self.i, target);
        let in_a_row = if limits.repick_failed { slot.flight.run } else { tried.attempts };
        let once = row.retry == RetryRule::OnceIfIdempotent;
        if in_a_row >= self.class.groups[usize::from(group)].max_same_target
            || (once && in_a_row > 1)
        {
            return self.refuse(StopReason::Attempts);
        }
        let gate = gates::attempts(limits, self.used(tried, group));
        self.ask(gate)?;

        let needed = self.needed(target);
        let reserve = self.reserve();
        let room = self.room(Duration::ZERO);
        let gate = self.affordable(target, needed + reserve, &room);
        self.ask(gate)?;
        let wait = self.wait_before(index, true, needed + reserve);
        let (wait, honoured) = self.ask(wait)?;

        if let Some(at) = self.full_until(group) {
            let mut refusal = Refusal::from(StopReason::GroupFull);
            let action = Some(RecoveryAction::Retry);
            refusal.note_return(Return { target, group, action, at }, self.now);
            self.refusal = self.refusal.and(refusal);
            return None;
        }
        if let Some(why) = self.standstill(target) {
            let usable = match why {
                Standstill::Operator => false,
                Standstill::Until(at) => {
                    self.fail_open || (!wait.is_zero() && at <= self.now + wait)
                }
            };
            if !usable {
                let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
                self.note_standstill(&mut refusal, why, target, group, Some(RecoveryAction::Retry));
                self.refusal = self.refusal.and(refusal);
                return None;
            }
        }
        Some(Choice {
            target,
            group,
            action: Some(RecoveryAction::Retry),
            wait,
            honoured,
            round: slot.round,
            fail_open: self.fail_open,
        })
    }

    pub(super) fn failover(&mut self, row: Row) -> Option<Choice> {
        let wait = self.failover_wait();
        let wait = self.ask(wait)?;
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds: self.rounds(),
            latest: false,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            wait,
        };
        let found = self.search_groups(terms)?;
        Some(self.choice(found, terms))
    }

    pub(super) fn substitution(&mut self, row: Row) -> Option<Choice> {
        let wait = self.failover_wait();
        let wait = self.ask(wait)?;
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
        let found = self.search_substitutes(terms)?;
        Some(self.choice(found, terms))
    }

    /// The whole walk again: every target whose failures allow it, the latest included.
    pub(super) fn walk(&mut self, row: Row) -> Option<Choice> {
        let round = self.slot().round.saturating_add(1);
        if round > self.class.most_same_target {
            return self.refuse(StopReason::Attempts);
        }
        let again = self.any_target(row, round, u32::from(round - 2))?;
        Some(Choice { round, ..again })
    }

    /// A fresh choice among all targets, the latest included.
    pub(super) fn free_pick(&mut self, row: Row) -> Option<Choice> {
        let index = u32::from(self.slot().attempts.saturating_sub(1));
        self.any_target(row, self.class.most_same_target, index)
    }

    fn any_target(&mut self, row: Row, rounds: u16, index: u32) -> Option<Choice> {
        if gates::kind(row, &self.policy.attempts, RecoveryAction::Failover).is_err() {
            return self.retry(row, index);
        }
        // A wait hint is about the latest target only.
        let wait = self.wait_before(index, false, Duration::ZERO);
        let (wait, _) = self.ask(wait)?;
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds,
            latest: true,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            wait,
        };
        let found = self.search_groups(terms)?;
        if found.target != self.slot().flight.target {
            return Some(self.choice(found, terms));
        }
        let before = self.refusal;
        if let Some(again) = self.retry(row, index) {
            return Some(again);
        }
        let others = Terms { latest: false, ..terms };
        let found = self.search_groups(others)?;
        // The latest target's refusal counts only where no other is found.
        self.refusal = before;
        Some(self.choice(found, others))
    }

    /// A second attempt beside the one in flight, on another target of the class's own model.
    pub(crate) fn hedge(&mut self) -> Result<Choice, Refusal> {
        let terms = Terms {
            action: Some(RecoveryAction::Hedge),
            rounds: 1,
            latest: false,
            validated: false,
            larger_than: 0,
            wait: Duration::ZERO,
        };
        let found = self.search_groups(terms);
        found.map(|found| self.choice(found, terms)).ok_or(self.refusal)
    }

    /// Below how many attempts a target may be failed over to.
    pub(super) fn rounds(&self) -> u16 {
        let limits = &self.policy.attempts;
        match limits.order {
            _ if limits.repick_failed => u16::MAX,
            LoopOrder::RetryThenFailover | LoopOrder::FailoverThenRetry => 1,
            LoopOrder::WalkThenRetry => self.slot().round,
            LoopOrder::FreePick => self.class.most_same_target,
        }
    }
}
