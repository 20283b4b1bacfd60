//! The four gates before any further attempt, as pure functions.
//!
//! 1. failure class, 2. response phase, 3. idempotency, 4. budgets: attempts, time, added
//!    latency, money. They are asked in this order, and the first refusal is the reason.

use crate::config::{
    Attempts, BudgetScope, FailoverRule, RecoveryAction, RetryRule, Row, SubstitutionRule,
};
use crate::event::StopReason;
use crate::outcome::FailureClass;
use crate::tally::Tried;
use crate::{Duration, Money};

/// Whether a gate lets recovery pass.
pub(crate) type Gate = Result<(), StopReason>;

/// Gate 1 for recovery as a whole: the class allows something.
pub(crate) fn class(row: &Row) -> Gate {
    let nothing = row.retry == RetryRule::No
        && row.failover == FailoverRule::No
        && row.substitution == SubstitutionRule::No;
    pass(!nothing, StopReason::FailureClass)
}

/// Gate 1 for one kind of recovery: whether class and policy allow it.
#[inline]
pub(crate) fn allows(row: &Row, attempts: &Attempts, action: RecoveryAction) -> bool {
    match action {
        RecoveryAction::Retry => attempts.allow_retry && row.retry != RetryRule::No,
        RecoveryAction::Failover => attempts.allow_failover && row.failover != FailoverRule::No,
        RecoveryAction::Substitution => {
            attempts.allow_substitution && row.substitution != SubstitutionRule::No
        }
        // It follows no failure.
        RecoveryAction::Hedge => false,
    }
}

/// Gate 2: nothing was released to the caller.
pub(crate) fn phase(committed: bool) -> Gate {
    pass(!committed, StopReason::Committed)
}

/// Gate 3: repeating the operation cannot do an external effect twice.
pub(crate) fn idempotency(class: FailureClass, row: &Row, sent: bool, writes: bool) -> Gate {
    let ambiguous = || {
        matches!(class, FailureClass::Transport | FailureClass::Timeout)
            || row.retry == RetryRule::OnceIfIdempotent
    };
    let unsafe_now = class == FailureClass::SideEffectUnknown || (writes && ambiguous());
    pass(!(unsafe_now && sent), StopReason::NotIdempotent)
}

/// What a request has used of its attempt budgets, for the candidates of one group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Used {
    /// Attempts in all.
    pub(crate) total: u16,
    /// The most that the request brings with it.
    pub(crate) brought: u16,
    /// Attempts in the candidates' group.
    pub(crate) in_group: u16,
    /// The group's own limit on them.
    pub(crate) most_in_group: u16,
    /// Attempts in the first group.
    pub(crate) in_first_group: u16,
    /// Whether the candidates' group is the first.
    pub(crate) first_group: bool,
}

/// Whether the attempt budgets of a request are spent, as far as the candidates of one group go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spent {
    /// So many attempts on one target spend them; none at all where they are spent already.
    on_target: u16,
}

impl Spent {
    /// Whether they leave nothing for a target that was tried so often.
    #[inline]
    pub(crate) fn for_another_on(self, tried: Tried) -> bool {
        tried.attempts >= self.on_target
    }
}

/// Gate 4, attempts, where nothing but their number in all is limited: by the policy, and by what the request
/// brings.
#[inline(always)]
pub(crate) fn attempts_in_all(total: u16, most: u16, brought: u16) -> Spent {
    let left = total < most && (total == 0 || total < brought);
    Spent { on_target: if left { u16::MAX } else { 0 } }
}

/// Gate 4, attempts: the budgets of request, group and target, before and after the first
/// fallback group.
#[inline(always)]
pub(crate) fn attempts(limits: &Attempts, used: Used) -> Spent {
    let scoped = match limits.scope {
        BudgetScope::Request => used.total < limits.max,
        BudgetScope::Group => used.in_group < limits.max,
        BudgetScope::Target => true,
    };
    let side = match used.first_group {
        true => limits.max_before_fallback.is_none_or(|most| used.in_first_group < most),
        false => limits
            .max_after_fallback
            .is_none_or(|most| used.total.saturating_sub(used.in_first_group) < most),
    };
    let grouped = used.in_group < used.most_in_group;
    // What the request brings is `u16::MAX` at most: an attempt's number stays distinct, whatever
    // the scope.
    let left = used.total == 0 || used.total < used.brought;
    let on_target = match limits.scope {
        BudgetScope::Target => limits.max,
        BudgetScope::Request | BudgetScope::Group => u16::MAX,
    };
    Spent { on_target: if scoped && side && grouped && left { on_target } else { 0 } }
}

/// Gate 4, time: `remaining` leaves room for an attempt expected to need `needed`.
pub(crate) fn time(remaining: Duration, needed: Duration, min_useful: Duration) -> Gate {
    let unlimited = remaining == Duration::MAX;
    pass(unlimited || (remaining > needed && remaining >= min_useful), StopReason::Deadline)
}

/// Gate 4, added latency: an attempt sent this long after arrival is still wanted.
pub(crate) fn added_latency(since_arrival: Duration, most: Option<Duration>) -> Gate {
    pass(most.is_none_or(|most| since_arrival <= most), StopReason::AddedLatency)
}

/// Gate 4, money: what is spent and what the attempt may cost stay under the ceiling.
pub(crate) fn cost(spent: Money, estimated: Money, ceiling: Money) -> Gate {
    pass(ceiling == Money::MAX || spent + estimated <= ceiling, StopReason::Cost)
}

/// Of two refusals the one that tells more: by how far through the gates recovery came.
#[inline(always)]
pub(crate) fn further(a: StopReason, b: StopReason) -> StopReason {
    if depth(b) > depth(a) { b } else { a }
}

#[inline(always)]
fn depth(reason: StopReason) -> u8 {
    match reason {
        StopReason::FailureClass => 0,
        StopReason::Committed => 1,
        // "No other target" says less than "attempts spent on this one".
        StopReason::NoEligibleTarget => 2,
        StopReason::NotIdempotent | StopReason::ToolFailed => 3,
        StopReason::Attempts => 4,
        StopReason::Deadline => 5,
        StopReason::AddedLatency => 6,
        StopReason::Cost => 7,
        StopReason::WaitTooLong => 8,
        StopReason::GroupFull => 9,
        StopReason::GatewayFull => 9,
        StopReason::RetryBudget => 10,
        StopReason::KillSwitch => 11,
        StopReason::CallerCancelled => 12,
    }
}

fn pass(passes: bool, otherwise: StopReason) -> Gate {
    if passes { Ok(()) } else { Err(otherwise) }
}
