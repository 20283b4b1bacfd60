//! Drills 4 and 6: what must not happen twice, because it was seen or because it may have had an
//! effect.

use windtunnel_policy::config::Streaming;
use windtunnel_policy::event::Outcome;
use windtunnel_policy::outcome::FailureClass;

use super::advice::{CORE, ended};
use super::evidence::{Case, Evidence};
use super::finding::{Finding, Sight, each};
use super::rules;

/// Drill 4.
pub(super) fn broken_stream(evidence: &Evidence<'_>) -> Vec<Finding> {
    let core = |_: &Case<'_>| CORE.to_owned();
    let (all, never) = (|| evidence.cases.iter(), "no stream broke");
    if evidence.policy.streaming == Streaming::BufferThenRelease {
        let rule = rules::WHOLE;
        return vec![each(rule, all(), whole_or_nothing, core, never)];
    }
    vec![
        each(rules::NO_REPLAY, all(), no_replay, core, never),
        each(rules::PARTIAL, all(), partial, core, never),
    ]
}

fn whole_or_nothing(case: &Case<'_>) -> Sight {
    let partly = case.request.released && case.answer().is_none();
    Sight::of(partly.then(|| format!("passed on a part of an answer, and {}", ended(case))))
}

fn no_replay(case: &Case<'_>) -> Sight {
    let Some(shown) = case.attempts.iter().position(|row| row.first_output.is_some()) else {
        return Sight::Nothing;
    };
    Sight::of(case.attempts.get(shown + 1).map(|row| {
        format!("attempt {} was sent after output of attempt {}", row.number, shown + 1)
    }))
}

fn partial(case: &Case<'_>) -> Sight {
    let broke =
        |row: &&&crate::record::AttemptRow| row.first_output.is_some() && row.failure.is_some();
    if !case.attempts.iter().any(|row| broke(&row)) {
        return Sight::Nothing;
    }
    let is_partial = case.request.result.outcome == Outcome::Partial && !case.request.answered;
    Sight::of((!is_partial).then(|| ended(case)))
}

/// Drill 6.
pub(super) fn tools_once(evidence: &Evidence<'_>) -> Vec<Finding> {
    let core = |_: &Case<'_>| CORE.to_owned();
    let once = |case: &Case<'_>| match ambiguous(case) {
        None => Sight::Nothing,
        Some(at) => Sight::of(case.attempts.get(at + 1).map(|row| {
            format!(
                "attempt {} was sent though attempt {} may have had its effect",
                row.number,
                at + 1
            )
        })),
    };
    let told = |case: &Case<'_>| match ambiguous(case) {
        None => Sight::Nothing,
        Some(_) => Sight::of(
            case.request
                .result
                .retryable
                .then(|| format!("{}, marked as safe to send again", ended(case))),
        ),
    };
    let never = "no attempt failed in a way that leaves its effect open";
    let all = || evidence.cases.iter();
    vec![
        each(rules::ONCE, all(), once, core, never),
        each(rules::NOT_RETRYABLE, all(), told, core, never),
    ]
}

/// The first attempt of which nobody knows whether it had its effect.
fn ambiguous(case: &Case<'_>) -> Option<usize> {
    let open = [FailureClass::Transport, FailureClass::Timeout, FailureClass::DeadlineExhausted];
    case.attempts
        .iter()
        .position(|row| row.was_sent && row.failure.is_some_and(|f| open.contains(&f)))
}
