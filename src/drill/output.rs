//! Drills 4 and 6: what must not happen twice, because it was seen or because it may have had an
//! effect.

use windtunnel_policy::config::Streaming;
use windtunnel_policy::event::Outcome;
use windtunnel_policy::outcome::FailureClass;

use super::advice::{CORE, ended};
use super::evidence::{Case, Evidence};
use super::finding::{Finding, Sight, each};
use super::rules;
use crate::record::AttemptRow;

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

/// Drill 6.
pub(super) fn tools_once(evidence: &Evidence<'_>) -> Vec<Finding> {
    let core = |_: &Case<'_>| CORE.to_owned();
    let once = |case: &Case<'_>| match ambiguous(case) {
        None => Sight::Nothing,
        Some(open) => Sight::of(case.after(open).next().map(|row| {
            let (sent, open) = (row.number, open.number);
            format!("attempt {sent} was sent though attempt {open} may have had its effect")
        })),
    };
    let told = |case: &Case<'_>| match ambiguous(case) {
        None => Sight::Nothing,
        Some(_) => {
            let invites = case.request.result.retryable;
            Sight::of(invites.then(|| format!("{}, marked as safe to send again", ended(case))))
        }
    };
    let never = "no attempt failed in a way that leaves its effect open";
    let all = || evidence.cases.iter();
    vec![
        each(rules::ONCE, all(), once, core, never),
        each(rules::NOT_RETRYABLE, all(), told, core, never),
    ]
}

/// The first attempt of which nobody knows whether it had its effect.
fn ambiguous<'a>(case: &'a Case<'_>) -> Option<&'a AttemptRow> {
    let open = [FailureClass::Transport, FailureClass::Timeout, FailureClass::DeadlineExhausted];
    let is_open = |row: &&AttemptRow| row.failure.is_some_and(|f| open.contains(&f));
    case.attempts.iter().copied().filter(|row| row.was_sent).find(is_open)
}
