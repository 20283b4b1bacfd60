//! What a policy must hold beyond its types.

mod classes;
mod groups;
mod health;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::{
    Attempts, Backoff, BudgetKind, BudgetScope, Envelope, Hedge, Jitter, Matrix, Policy,
    RecoveryAction, Replicas, RetryAfter, RetryAfterMode, RetryBudget, RetryRule, Timeouts,
};
use super::{FailoverRule, SubstitutionRule};
use crate::outcome::FailureClass;
use crate::{Duration, Money, Share};

/// One thing wrong with a policy: where, what, and how to mend it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Path of the field, such as `breakers[0].trip`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub fix: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.field, self.message, self.fix)
    }
}

impl core::error::Error for Problem {}

impl Policy {
    /// Checks that every figure makes sense, that the parts agree, and that a router runs every
    /// rule the policy asks for.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the fields.
    pub fn validate(&self) -> Result<(), Vec<Problem>> {
        let mut found = Problems(Vec::new());
        attempts(&self.attempts, &mut found);
        groups::check(&self.groups, &mut found);
        envelope(&self.envelope, &mut found);
        classes::check(self, &mut found);
        timeouts(&self.timeouts, &mut found);
        matrix(&self.matrix, &mut found);
        found.some_time(self.side_effects.longest, "side_effects.longest");
        backoff(&self.backoff, &mut found);
        retry_after(&self.retry_after, &mut found);
        health::check(self, &mut found);
        for (i, budget) in self.retry_budgets.iter().enumerate() {
            retry_budget(budget, &format!("retry_budgets[{i}]"), &mut found);
        }
        if let Some(rule) = &self.hedge {
            hedge(rule, &self.attempts, &mut found);
        }
        replicas(&self.replicas, &mut found);
        if found.0.is_empty() { Ok(()) } else { Err(found.0) }
    }
}

struct Problems(Vec<Problem>);

impl Problems {
    /// A problem of `field`, unless `holds`.
    fn check(&mut self, holds: bool, field: &str, message: &str, fix: &str) {
        if !holds {
            let (field, message, fix) = (field.into(), message.into(), fix.into());
            self.0.push(Problem { field, message, fix });
        }
    }

    fn at_least_one(&mut self, n: u32, field: &str) {
        self.check(n >= 1, field, "is 0", "use 1 or more");
    }

    fn some_time(&mut self, d: Duration, field: &str) {
        self.check(!d.is_zero(), field, "is no time at all", "use a time above 0s");
    }

    fn no_zero_limit(&mut self, d: Option<Duration>, field: &str) {
        let fix = "use a time above 0s, or leave it out for no limit";
        self.check(d != Some(Duration::ZERO), field, "leaves no time at all", fix);
    }

    fn some_share(&mut self, share: Share, field: &str) {
        self.check(share > Share::ZERO, field, "is 0", "use a share above 0");
    }
}

/// Beyond this, attempts that take no time (no connection, no backoff) would pile up in one instant.
const MOST_ATTEMPTS: u16 = 1_000;

fn attempts(attempts: &Attempts, found: &mut Problems) {
    found.at_least_one(attempts.max.into(), "attempts.max");
    found.check(
        attempts.max <= MOST_ATTEMPTS,
        "attempts.max",
        "is above 1000",
        "use 1000 or fewer: no gateway tries more",
    );
    found.at_least_one(attempts.max_same_target.into(), "attempts.max_same_target");
    found.check(
        attempts.max_before_fallback != Some(0),
        "attempts.max_before_fallback",
        "leaves no attempt for the first group",
        "use 1 or more, or leave it out for no limit",
    );
}

fn envelope(envelope: &Envelope, found: &mut Problems) {
    found.no_zero_limit(envelope.deadline_total, "envelope.deadline_total");
    found.no_zero_limit(envelope.deadline_first_output, "envelope.deadline_first_output");
    found.check(
        envelope.max_cost != Some(Money::ZERO),
        "envelope.max_cost",
        "leaves no money at all",
        "use an amount above $0, or leave it out for no limit",
    );
    let total = envelope.deadline_total.unwrap_or(Duration::MAX);
    found.check(
        envelope.deadline_first_output.is_none_or(|first| first <= total),
        "envelope.deadline_first_output",
        "is later than deadline_total",
        "make it deadline_total or less",
    );
    found.check(
        total.is_zero() || envelope.reserve_for_failover < total,
        "envelope.reserve_for_failover",
        "is the whole of deadline_total",
        "leave time for the first target",
    );
    found.check(
        total.is_zero() || envelope.min_useful + envelope.safety_margin < total,
        "envelope.min_useful",
        "and safety_margin together are the whole of deadline_total: no attempt could start",
        "make them less",
    );
    let estimate = &envelope.estimate;
    found.some_share(estimate.quantile, "envelope.estimate.quantile");
    found.at_least_one(estimate.min_samples, "envelope.estimate.min_samples");
    found.some_time(estimate.expires, "envelope.estimate.expires");
}

fn timeouts(timeouts: &Timeouts, found: &mut Problems) {
    found.no_zero_limit(timeouts.attempt, "timeouts.attempt");
    let attempt = timeouts.attempt.unwrap_or(Duration::MAX);
    for (limit, field) in [
        (timeouts.first_token, "timeouts.first_token"),
        (timeouts.idle_stream, "timeouts.idle_stream"),
    ] {
        found.no_zero_limit(limit, field);
        found.check(
            limit.is_none_or(|limit| limit <= attempt),
            field,
            "is longer than timeouts.attempt, so it never ends an attempt",
            "make it shorter, or leave it out",
        );
    }
}

/// Cells that no policy may open: what they would replay is never safe, or nothing failed at all.
fn matrix(matrix: &Matrix, found: &mut Problems) {
    for (class, why) in [
        (FailureClass::CallerCancelled, "the caller is gone"),
        (FailureClass::PartialStream, "output was released, and is never replayed"),
        (FailureClass::SideEffectUnknown, "a tool may have written already"),
        (FailureClass::DeadlineExhausted, "no time is left"),
        (FailureClass::NoEligibleTarget, "no target is left"),
    ] {
        let row = matrix.row(class);
        let closed = row.retry == RetryRule::No
            && row.failover == FailoverRule::No
            && row.substitution == SubstitutionRule::No;
        let fix = "set retry, failover and substitution of this class to no";
        found.check(closed, &format!("matrix.{}", class.name()), why, fix);
    }
    for class in FailureClass::ALL {
        let some = matrix.row(class).retry != RetryRule::UpTo(0);
        let field = format!("matrix.{}.retry", class.name());
        found.check(some, &field, "allows none", "use `no`, or 1 and more");
    }
}

fn backoff(backoff: &Backoff, found: &mut Problems) {
    let fix = "raise max or lower base";
    found.check(backoff.base <= backoff.max, "backoff.base", "is longer than backoff.max", fix);
    let grows = backoff.factor_percent >= 100;
    let fix = "use 100 for no growth, or more";
    found.check(grows, "backoff.factor_percent", "is below 100", fix);
    if let Jitter::Proportional(share) | Jitter::Subtractive(share) = backoff.jitter {
        let fix = "use a share above 0, or the jitter exponential";
        found.check(share > Share::ZERO, "backoff.jitter", "is a share of 0", fix);
    }
    let fix = "use a time above 0s, or the jitter exponential";
    let some = backoff.jitter != Jitter::Added(Duration::ZERO);
    found.check(some, "backoff.jitter", "adds no time at all", fix);
}

fn retry_after(retry_after: &RetryAfter, found: &mut Problems) {
    let fix = "use a time above 0s, or the mode ignore";
    let cut = retry_after.mode != RetryAfterMode::CapAt(Duration::ZERO);
    found.check(cut, "retry_after.mode", "cuts every hint to nothing", fix);
}

fn hedge(hedge: &Hedge, attempts: &Attempts, found: &mut Problems) {
    found.some_share(hedge.after_quantile, "hedge.after_quantile");
    found.no_zero_limit(hedge.prior, "hedge.prior");
    let starts = attempts.max >= 2 || attempts.scope != BudgetScope::Request;
    let fix = "allow 2 attempts or more, or remove hedge";
    found.check(starts, "hedge", "never starts: attempts.max is 1", fix);
}

fn retry_budget(budget: &RetryBudget, field: &str, found: &mut Problems) {
    let governs = format!("{field}.governs");
    found.check(!budget.governs.is_empty(), &governs, "is empty", "name the actions it governs");
    let twice = |action: &RecoveryAction| budget.governs.iter().filter(|a| *a == action).count();
    let distinct = budget.governs.iter().all(|action| twice(action) == 1);
    found.check(distinct, &governs, "names an action twice", "name each once");

    let kind = format!("{field}.kind");
    match budget.kind {
        BudgetKind::TokenBucket { capacity, per_request, per_second } => {
            found.at_least_one(capacity, &kind);
            let fills = per_request > Share::ZERO || per_second > 0;
            let fix = "set per_request or per_second";
            found.check(fills, &kind, "never fills again", fix);
        }
        BudgetKind::Throttle { tokens, per_success } => {
            let fix = "use 2 or more: at half of one no recovery is granted";
            found.check(tokens >= 2, &kind, "starts with too few tokens", fix);
            let fix = "set per_success";
            found.check(per_success > Share::ZERO, &kind, "never recovers", fix);
        }
        BudgetKind::Ratio { share, window, min_per_second }
        | BudgetKind::RatioAndReserve { share, window, reserve_per_second: min_per_second } => {
            found.some_time(window, &kind);
            let fix = "set share or the recoveries per second";
            let grants = share > Share::ZERO || min_per_second > 0;
            found.check(grants, &kind, "never grants anything", fix);
        }
        BudgetKind::InFlight { max: n } | BudgetKind::Rate { per_second: n } => {
            found.at_least_one(n, &kind);
        }
    }
}

/// The most gateways that run one policy.
const MOST_REPLICAS: u32 = 1_000;

fn replicas(replicas: &Replicas, found: &mut Problems) {
    found.check(
        (1..=MOST_REPLICAS).contains(&replicas.count),
        "replicas.count",
        "is 0 or above 1000",
        "use 1 to 1000",
    );
}

#[cfg(test)]
mod tests;
