//! What to change in a policy that stopped, or went on, where it should not have.

use windtunnel_policy::config::{Policy, RetryAfterMode, WaitTooLong};
use windtunnel_policy::event::StopReason;
use windtunnel_policy::outcome::FailureClass;

use super::evidence::Case;

/// Why a drill that needs a second target says nothing about a policy without failover.
pub(super) const NO_FAILOVER: &str =
    "the policy forbids failover by design (attempts.allow_failover: false)";

/// Where no policy can break a rule, none can mend it.
pub(super) const CORE: &str =
    "report this: no policy can break the rule, so windtunnel itself is at fault";

/// The same, of any request.
pub(super) fn core(_: &Case<'_>) -> String {
    CORE.into()
}

/// How a request ended, for people.
pub(super) fn ended(case: &Case<'_>) -> String {
    let result = &case.request.result;
    let after = match case.attempts.len() {
        0 => "without an attempt".to_owned(),
        1 => "after one attempt".to_owned(),
        n => format!("after {n} attempts"),
    };
    let why = result.stop.map(|stop| format!(", stopped by {}", stop.name())).unwrap_or_default();
    format!("ended as {} (status {}) {after}{why}", result.outcome.name(), result.status)
}

/// What keeps a policy from failing over, by the gate that stopped the request.
pub(super) fn to_fail_over(case: &Case<'_>, policy: &Policy) -> String {
    let class = case.attempts.last().and_then(|row| row.failure);
    let class = class.or(case.request.result.class).unwrap_or(FailureClass::Unknown).name();
    match case.request.result.stop {
        Some(StopReason::FailureClass) => {
            format!(
                "set `matrix: {{{class}: {{failover: yes}}}}`: this class is failed over nowhere"
            )
        }
        Some(StopReason::Attempts) if policy.attempts.max_after_fallback == Some(0) => {
            "raise `attempts.max_after_fallback`: it is 0, so no fallback is ever tried".into()
        }
        Some(StopReason::Attempts) => format!(
            "make `attempts.max` ({}) larger than `attempts.max_same_target` ({}), so that an \
             attempt is left for another target",
            policy.attempts.max, policy.attempts.max_same_target
        ),
        Some(StopReason::Deadline) if policy.timeouts.first_token.is_none() => {
            "set `timeouts.first_token`, so that a silent target is left while there is time for \
             another"
                .into()
        }
        Some(StopReason::Deadline) => {
            "shorten `timeouts.first_token`, `timeouts.attempt` or `backoff`: the deadline is gone \
             before another target can answer"
                .into()
        }
        Some(StopReason::GroupFull) => {
            "raise `groups.fallbacks` `admission.rpm`: the fallback group is full".into()
        }
        Some(StopReason::RetryBudget) => {
            "let no ratio of live traffic govern failover in `retry_budgets`: it bars the way to \
             an idle target; bound it by `in_flight`, charged to the destination"
                .into()
        }
        Some(StopReason::AddedLatency) => "raise `envelope.max_added_latency`".into(),
        Some(StopReason::Cost) => "raise `envelope.max_cost`".into(),
        Some(StopReason::WaitTooLong) => "set `retry_after.too_long: fail_over`".into(),
        _ => "look at `breakers` and `isolation`: the failures of one target must not take out \
              another provider's"
            .into(),
    }
}

/// What makes a policy send again before a wait is over.
pub(super) fn to_wait(policy: &Policy) -> String {
    let hint = &policy.retry_after;
    match (hint.mode, hint.too_long) {
        (RetryAfterMode::Ignore, _) => {
            "set `retry_after.mode: at_least`: it is `ignore`, so wait hints are thrown away".into()
        }
        (RetryAfterMode::CapAt(most), _) => format!(
            "set `retry_after.mode: at_least`, with `longest_wait: {most}` and `too_long: \
             fail_over`: a wait that is cut short is no wait"
        ),
        (_, WaitTooLong::Backoff) => {
            "set `retry_after.too_long: fail_over` (or `stop`): it is `backoff`, so a wait that \
             does not fit is replaced by a short one"
                .into()
        }
        _ => {
            "set `matrix: {rate_limited: {retry: delayed}}` and `retry_after.source: latest`".into()
        }
    }
}
