//! Limits on attempts and shared budgets that nothing ever reaches.

use windtunnel_policy::Share;
use windtunnel_policy::config::{BudgetKind, BudgetScope, RecoveryAction};

use super::Warnings;

pub(super) fn check(warnings: &mut Warnings<'_>) {
    attempt_limits(warnings);
    shared(warnings);
}

/// A part above the whole.
fn attempt_limits(warnings: &mut Warnings<'_>) {
    let attempts = &warnings.policy.attempts;
    if attempts.scope != BudgetScope::Request {
        return;
    }
    let max = attempts.max;
    for (limit, field) in [
        (Some(attempts.max_same_target), "attempts.max_same_target"),
        (attempts.max_before_fallback, "attempts.max_before_fallback"),
        (attempts.max_after_fallback, "attempts.max_after_fallback"),
    ] {
        if let Some(limit) = limit.filter(|limit| *limit > max) {
            let message = format!("{limit} never binds: attempts.max allows {max} in all");
            warnings.add(field, message, "lower it, or raise attempts.max");
        }
    }
}

fn shared(warnings: &mut Warnings<'_>) {
    let policy = warnings.policy;
    let attempts = &policy.attempts;
    let more = attempts.max > 1;
    for (i, budget) in policy.retry_budgets.iter().enumerate() {
        let mut governs = 0;
        for (j, action) in budget.governs.iter().enumerate() {
            let happens = match action {
                RecoveryAction::Retry => warnings.retries() > 0,
                RecoveryAction::Failover => more && attempts.allow_failover,
                RecoveryAction::Substitution => more && attempts.allow_substitution,
                RecoveryAction::Hedge => policy.hedge.is_some(),
            };
            if happens {
                governs += 1;
            } else {
                let message =
                    format!("the policy makes no {}: there is nothing to govern", action.name());
                let field = format!("retry_budgets[{i}].governs[{j}]");
                warnings.add(&field, message, "leave it out, or allow it in attempts");
            }
        }
        if governs > 0 && attempts.scope == BudgetScope::Request {
            never_binds(warnings, i, budget.kind);
        }
    }
}

/// A budget that each request fills by as much as it can ever take.
fn never_binds(warnings: &mut Warnings<'_>, i: usize, kind: BudgetKind) {
    let recoveries = warnings.policy.attempts.max.saturating_sub(1);
    let share = match kind {
        BudgetKind::TokenBucket { per_request, .. } => per_request,
        BudgetKind::Ratio { share, .. } | BudgetKind::RatioAndReserve { share, .. } => share,
        BudgetKind::Throttle { .. } | BudgetKind::InFlight { .. } | BudgetKind::Rate { .. } => {
            return;
        }
    };
    if share == Share::ONE && recoveries == 1 {
        let message = "never denies anything: every first attempt pays for the one recovery that \
                       attempts.max leaves"
            .to_owned();
        warnings.add(&format!("retry_budgets[{i}].kind"), message, "lower the share, or remove it");
    }
}
