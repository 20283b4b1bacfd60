//! Drills 5 and 11: requests that no target can serve, and targets that cannot serve a request.

use windtunnel_policy::config::Blame;
use windtunnel_policy::event::Outcome;
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::{Capabilities, TargetId};

use super::advice::{core, ended};
use super::evidence::{Case, Evidence};
use super::finding::{Finding, Sight, each};
use super::rules;
use crate::record::AttemptRow;

/// Drill 5.
pub(super) fn invalid_request(evidence: &Evidence<'_>) -> Vec<Finding> {
    // What was cut before its answer came (by a short timeout, or as a losing hedge) shows nothing.
    let malformed = |case: &Case<'_>| {
        let result = &case.request.result;
        let own = result.status == 400 && result.class == Some(FailureClass::ClientInvalid);
        match failed_with(case, FailureClass::ClientInvalid) {
            None if !case.attempts.is_empty() => Sight::Nothing,
            Some(row) if is_last(case, row) && own && !result.retryable => Sight::Kept,
            _ => Sight::Broken(went(evidence, case)),
        }
    };
    let blocked = |case: &Case<'_>| match failed_with(case, FailureClass::ContentPolicy) {
        None => Sight::Nothing,
        Some(row) if is_last(case, row) && !case.request.answered => Sight::Kept,
        Some(_) => Sight::Broken(went(evidence, case)),
    };
    let refused = |case: &Case<'_>| {
        let refusal = matches!(case.request.result.outcome, Outcome::Refused(_));
        let complete = |row: &&&AttemptRow| row.failure.is_none() && !row.cancelled;
        match case.attempts.iter().find(complete) {
            None => Sight::Nothing,
            Some(row) if is_last(case, row) && refusal => Sight::Kept,
            Some(_) => Sight::Broken(went(evidence, case)),
        }
    };
    let closed = |class: FailureClass| {
        move |_: &Case<'_>| {
            let row = evidence.policy.matrix.row(class);
            let blame = if row.blame == Blame::No { "" } else { ", blame: no" };
            let cells = format!("retry: no, failover: no, substitution: no{blame}");
            format!(
                "set `matrix: {{{}: {{{cells}}}}}`: the fault is not the target's",
                class.name()
            )
        }
    };
    vec![
        each(
            rules::MALFORMED,
            evidence.of("malformed"),
            malformed,
            closed(FailureClass::ClientInvalid),
            "no request came",
        ),
        each(
            rules::BLOCKED,
            evidence.of("blocked"),
            blocked,
            closed(FailureClass::ContentPolicy),
            "no request came",
        ),
        each(
            rules::REFUSAL,
            evidence.of("refused"),
            refused,
            closed(FailureClass::Refusal),
            "no request came",
        ),
    ]
}

/// Whether nothing was sent once this attempt had ended.
fn is_last(case: &Case<'_>, row: &AttemptRow) -> bool {
    case.after(row).next().is_none()
}

/// Where a request went, and how it ended.
fn went(evidence: &Evidence<'_>, case: &Case<'_>) -> String {
    let names: Vec<String> =
        case.attempts.iter().map(|row| format!("`{}`", evidence.target(row.target).name)).collect();
    match names.as_slice() {
        [] | [_] => ended(case),
        names => format!("went to {}, and {}", names.join(", then "), ended(case)),
    }
}

/// Drill 11.
pub(super) fn no_match(evidence: &Evidence<'_>) -> Vec<Finding> {
    vec![
        tools(evidence),
        schema(evidence),
        delivered(evidence),
        window(evidence),
        overflow(evidence),
    ]
}

fn tools(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::TOOLS;
    let needed = Capabilities::named("tools").expect("tools are a capability");
    let look = |case: &Case<'_>| {
        let unable = |id: TargetId| !evidence.facts(id).capabilities.covers(needed);
        let wrong = case.attempts.iter().find(|row| unable(row.target));
        Sight::of(wrong.map(|_| went(evidence, case)))
    };
    each(rule, evidence.of("needs-tools"), look, core, "no request came")
}

fn schema(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::SCHEMA;
    let able = Capabilities::named("structured_output").expect("schemas are a capability");
    let look = |case: &Case<'_>| {
        let Some(broken) = failed_with(case, FailureClass::ContractFailure) else {
            return Sight::Nothing;
        };
        let unvalidated = |id: TargetId| !evidence.facts(id).capabilities.covers(able);
        let wrong = case.after(broken).find(|row| unvalidated(row.target));
        Sight::of(wrong.map(|row| {
            let target = &evidence.target(row.target).name;
            format!("went on to `{target}`, which is not validated for the schema")
        }))
    };
    let change = |_: &Case<'_>| {
        "set `matrix: {contract_failure: {failover: if_validated, substitution: \
         if_approved_and_validated}}`"
            .to_owned()
    };
    each(rule, evidence.of("breaks-schema"), look, change, "no answer broke its schema")
}

fn delivered(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::DELIVERED;
    let look = |case: &Case<'_>| {
        let answered = matches!(case.request.result.outcome, Outcome::Answered(_));
        Sight::of((answered && !case.request.contract_success).then(|| ended(case)))
    };
    each(rule, evidence.of("breaks-schema"), look, core, "no request came")
}

fn window(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::WINDOW;
    let look = |case: &Case<'_>| {
        let small = |id: TargetId| evidence.facts(id).context_tokens < case.asked.input;
        let wrong = case.attempts.iter().find(|row| small(row.target));
        Sight::of(wrong.map(|_| went(evidence, case)))
    };
    each(rule, evidence.of("long-prompt"), look, core, "no request came")
}

fn overflow(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::OVERFLOW;
    let look = |case: &Case<'_>| {
        let Some(overflown) = failed_with(case, FailureClass::ContextOverflow) else {
            return Sight::Nothing;
        };
        let window = |id: TargetId| evidence.facts(id).context_tokens;
        let had = window(overflown.target);
        let wrong = case.after(overflown).find(|row| window(row.target) <= had);
        Sight::of(wrong.map(|row| {
            let target = &evidence.target(row.target).name;
            format!("too long for {had} tokens, it went to `{target}` with {}", window(row.target))
        }))
    };
    let change = |_: &Case<'_>| {
        "set `matrix: {context_overflow: {retry: no, failover: no, substitution: larger_window}}`"
            .to_owned()
    };
    each(rule, evidence.of("too-long"), look, change, "no prompt was too long")
}

/// The first attempt that failed with this class.
fn failed_with<'a>(case: &'a Case<'_>, class: FailureClass) -> Option<&'a AttemptRow> {
    case.attempts.iter().copied().find(|row| row.failure == Some(class))
}
