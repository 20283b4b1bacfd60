//! The kinds of recovery, each with its own terms for the search.

use super::{Chooser, Refusal, Return, Terms};
use crate::config::{FailoverRule, LoopOrder, RecoveryAction, RetryRule, Row, SubstitutionRule};
use crate::event::StopReason;
use crate::gates;
use crate::health::Standstill;
use crate::slots::Next;
use crate::tally::Tried;
use crate::{Duration, Money};

impl Chooser<'_> {
    /// The latest target again.
    #[inline(always)]
    pub(super) fn retry(&mut self, row: &Row, index: u32) -> bool {
        let (target, group) = (self.slot.flight.target, self.slot.flight.group);
        let tried = self.tally.on_target(target);
        let in_a_row = match self.class.attempts.repick_failed {
            true => self.slot.flight.run,
            false => tried.attempts,
        };
        let most = match row.retry {
            RetryRule::OnceIfIdempotent => 1,
            RetryRule::UpTo(most) => most,
            RetryRule::No | RetryRule::Bounded | RetryRule::Delayed => u16::MAX,
        };
        let spent =
            in_a_row >= self.class.groups[usize::from(group)].max_same_target || in_a_row > most;
        if spent { self.refuse(StopReason::Attempts) } else { self.retry_again(index, tried) }
    }

    /// The same where its own attempts are not spent.
    fn retry_again(&mut self, index: u32, tried: Tried) -> bool {
        let (target, group) = (self.slot.flight.target, self.slot.flight.group);
        if self.spent_attempts(group).for_another_on(tried) {
            return self.refuse(StopReason::Attempts);
        }

        let needed = self.needed(target);
        let reserve = self.class.reserve(self.slot.attempts == self.slot.flight.run);
        let nothing_needed = (needed + reserve).is_zero() && self.class.ceiling == Money::MAX;
        if !(nothing_needed && self.has_room()) {
            let room = self.room(Duration::ZERO);
            if let Err(reason) = self.affordable(target, needed + reserve, &room) {
                return self.refuse(reason);
            }
        }
        let (wait, honoured) = match self.wait_before(index, true, needed + reserve) {
            Ok(wait) => wait,
            Err(reason) => return self.refuse(reason),
        };

        if let Some(at) = self.full_until(group) {
            let mut refusal = Refusal::from(StopReason::GroupFull);
            let action = Some(RecoveryAction::Retry);
            refusal.note_return(Return { target, group, action, at }, self.known.now);
            self.known.refusal.add(refusal);
            return false;
        }
        if let Some(why) = self.standstill(target) {
            let usable = match why {
                Standstill::Operator => false,
                Standstill::Until(at) => {
                    self.fail_open || (!wait.is_zero() && at <= self.known.now + wait)
                }
            };
            if !usable {
                let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
                self.note_standstill(&mut refusal, why, target, group, Some(RecoveryAction::Retry));
                self.known.refusal.add(refusal);
                return false;
            }
        }
        self.slot.next = Next {
            target,
            group,
            action: Some(RecoveryAction::Retry),
            round: self.slot.round,
            fail_open: self.fail_open,
            wait,
            honoured,
            since: self.known.now,
        };
        true
    }

    #[inline(always)]
    pub(super) fn failover(&mut self, row: &Row) -> bool {
        let Some(wait) = self.failover_wait() else { return false };
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds: self.rounds(),
            latest: false,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            wait,
        };
        let Some(found) = self.search_groups(&terms) else { return false };
        self.take(found, terms.action, wait);
        true
    }

    pub(super) fn substitution(&mut self, row: &Row) -> bool {
        let Some(wait) = self.failover_wait() else { return false };
        let terms = Terms {
            action: Some(RecoveryAction::Substitution),
            rounds: self.rounds(),
            latest: false,
            validated: row.substitution == SubstitutionRule::IfApprovedAndValidated,
            larger_than: match row.substitution {
                SubstitutionRule::LargerWindow => {
                    self.target(self.slot.flight.target).context_tokens
                }
                _ => 0,
            },
            wait,
        };
        let Some(found) = self.search_substitutes(&terms) else { return false };
        self.take(found, terms.action, wait);
        true
    }

    /// The whole walk again: every target whose failures allow it, the latest included.
    pub(super) fn walk(&mut self, row: &Row) -> bool {
        let round = self.slot.round.saturating_add(1);
        if round > self.class.most_same_target {
            return self.refuse(StopReason::Attempts);
        }
        let found = self.any_target(row, round, u32::from(round - 2));
        if found {
            self.slot.next.round = round;
        }
        found
    }

    /// A fresh choice among all targets, the latest included.
    pub(super) fn free_pick(&mut self, row: &Row) -> bool {
        self.any_target(row, self.class.most_same_target, self.place_in_series())
    }

    fn any_target(&mut self, row: &Row, rounds: u16, index: u32) -> bool {
        if !gates::allows(row, &self.class.attempts, RecoveryAction::Failover) {
            return self.retry(row, index);
        }
        // A wait hint is about the latest target only.
        let wait = match self.wait_before(index, false, Duration::ZERO) {
            Ok((wait, _)) => wait,
            Err(reason) => return self.refuse(reason),
        };
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds,
            latest: true,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            wait,
        };
        let Some(found) = self.search_groups(&terms) else { return false };
        if found.target != self.slot.flight.target {
            self.take(found, terms.action, wait);
            return true;
        }
        let before = self.known.refusal;
        if self.retry(row, index) {
            return true;
        }
        let others = Terms { latest: false, ..terms };
        let Some(found) = self.search_groups(&others) else { return false };
        // The latest target's refusal counts only where no other is found.
        self.known.refusal = before;
        self.take(found, terms.action, wait);
        true
    }

    /// A second attempt beside the one in flight, on another target of the class's own model.
    pub(super) fn hedge(&mut self) -> bool {
        let terms = Terms {
            action: Some(RecoveryAction::Hedge),
            rounds: 1,
            latest: false,
            validated: false,
            larger_than: 0,
            wait: Duration::ZERO,
        };
        let Some(found) = self.search_groups(&terms) else { return false };
        self.take(found, terms.action, Duration::ZERO);
        true
    }

    /// Below how many attempts a target may be failed over to.
    pub(super) fn rounds(&self) -> u16 {
        let limits = &self.class.attempts;
        match limits.order {
            _ if limits.repick_failed => u16::MAX,
            LoopOrder::RetryThenFailover | LoopOrder::FailoverThenRetry => 1,
            LoopOrder::WalkThenRetry => self.slot.round,
            LoopOrder::FreePick => self.class.most_same_target,
        }
    }
}
