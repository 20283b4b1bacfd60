//! Drills 1 and 7: recovery that must come, and the error where none can.

use windtunnel_policy::config::AllUnavailable;

use super::advice::{self, NO_FAILOVER, core, ended};
use super::evidence::{Case, Evidence};
use super::finding::{Finding, Rule, Sight, each, not_applicable};
use super::rules;

/// Drill 1. Health may have moved the traffic already, so that the healthy target answers at once.
pub(super) fn primary_down(evidence: &Evidence<'_>) -> Vec<Finding> {
    [("refused", rules::REFUSED), ("overloaded", rules::OVERLOADED), ("silent", rules::SILENT)]
        .map(|(class, rule)| same_model_answers(evidence, class, rule))
        .into()
}

fn same_model_answers(evidence: &Evidence<'_>, class: &str, rule: Rule) -> Finding {
    if !evidence.policy.attempts.allow_failover {
        return not_applicable(rule, NO_FAILOVER);
    }
    let (healthy, substitute) = (evidence.named("healthy"), evidence.named("substitute"));
    let look = |case: &Case<'_>| {
        let first = |id| case.attempts.iter().position(|row| row.target == id);
        let jumped = first(substitute).is_some_and(|at| first(healthy).is_none_or(|h| at < h));
        Sight::of(match case.answer() {
            _ if jumped => Some("went to a substitute before the target of its own model".into()),
            Some(answer) if answer.target == healthy => None,
            _ => Some(ended(case)),
        })
    };
    let change = |case: &Case<'_>| advice::to_fail_over(case, evidence.policy);
    each(rule, evidence.of(class), look, change, "no request came")
}

/// Drill 7.
pub(super) fn all_exhausted(evidence: &Evidence<'_>) -> Vec<Finding> {
    let policy = evidence.policy;
    let clear = |case: &Case<'_>| {
        let result = &case.request.result;
        let is_error = !case.request.answered
            && result.status >= 400
            && result.class.is_some()
            && result.stop.is_some();
        Sight::of(match case.closings {
            1 if is_error => None,
            1 => Some(ended(case)),
            n => Some(format!("was closed {n} times")),
        })
    };
    let counted = |case: &Case<'_>| {
        let sent = case.attempts.iter().filter(|row| row.was_sent).count();
        let told = usize::from(case.request.result.attempts);
        let wrong =
            (told != sent).then(|| format!("its error speaks of {told} attempts, not {sent}"));
        Sight::of(wrong)
    };
    vec![
        each(rules::ONE_ERROR, evidence.of("chat"), clear, core, "no request came"),
        each(rules::COUNTED, evidence.of("chat"), counted, core, "no request came"),
        in_good_time(evidence, policy.all_unavailable),
    ]
}

fn in_good_time(evidence: &Evidence<'_>, all_unavailable: AllUnavailable) -> Finding {
    if all_unavailable == AllUnavailable::WaitForEarliest {
        let reason = "the policy waits for a target to return, by design \
                      (all_unavailable: wait_for_earliest)";
        return not_applicable(rules::IN_GOOD_TIME, reason);
    }
    let look =
        |case: &Case<'_>| {
            let took = case.request.closed.since(case.request.arrived);
            let late = took.as_micros() * 2 > case.request.deadline.as_micros();
            Sight::of(late.then(|| {
                format!("{} after {took}, though every target fails at once", ended(case))
            }))
        };
    let change = |case: &Case<'_>| {
        format!(
            "lower `attempts.max` ({}) or `attempts.max_same_target` ({}): {} attempts were sent \
             to targets that were down",
            evidence.policy.attempts.max,
            evidence.policy.attempts.max_same_target,
            case.attempts.len()
        )
    };
    each(rules::IN_GOOD_TIME, evidence.of("chat"), look, change, "no request came")
}
