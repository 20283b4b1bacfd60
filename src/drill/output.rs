//! Drill 4: what has been seen is not shown anew.

use windtunnel_policy::config::Streaming;
use windtunnel_policy::event::Outcome;

use super::advice::{core, ended};
use super::evidence::{Case, Evidence};
use super::finding::{Finding, Sight, each};
use super::rules;
use crate::record::AttemptRow;

/// Drill 4.
pub(super) fn broken_stream(evidence: &Evidence<'_>) -> Vec<Finding> {
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
    let Some(shown) = case.attempts.iter().filter_map(|row| row.first_output).min() else {
        return Sight::Nothing;
    };
    let mut later = case.attempts.iter().filter(|row| row.sent > shown);
    Sight::of(later.next().map(|row| {
        let late = row.sent.since(shown);
        format!("attempt {} was sent {late} after output had come", row.number)
    }))
}

fn partial(case: &Case<'_>) -> Sight {
    let broke = |row: &&&AttemptRow| row.first_output.is_some() && row.failure.is_some();
    if !case.attempts.iter().any(|row| broke(&row)) {
        return Sight::Nothing;
    }
    let is_partial = case.request.result.outcome == Outcome::Partial && !case.request.answered;
    Sight::of((!is_partial).then(|| ended(case)))
}
