//! Drills 3 and 12: callers that go away. The policy core holds what is checked here whatever a
//! policy says; when a caller goes is read from the world, not from the rows.

use windtunnel_policy::event::Outcome;

use super::advice::{NO_FAILOVER, core};
use super::effects;
use super::evidence::{Case, Evidence};
use super::finding::{Finding, Sight, each, not_applicable};
use super::rules;
use crate::record::AttemptRow;

/// Drill 3.
pub(super) fn cancels(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rule = rules::ENDS_WITH_IT;
    let all = || evidence.cases.iter();
    vec![
        each(rules::NONE_AFTERWARDS, all(), none_afterwards, core, "every request ended before"),
        each(rule, all(), ends_with_it, core, "every request ended before"),
    ]
}

fn none_afterwards(case: &Case<'_>) -> Sight {
    let after = case.attempts.iter().find(|row| row.sent > case.gone());
    match after {
        Some(row) => {
            let late = row.sent.since(case.gone());
            Sight::Broken(format!("attempt {} was sent {late} after the cancellation", row.number))
        }
        None if case.request.closed < case.gone() => Sight::Nothing,
        None => Sight::Kept,
    }
}

fn ends_with_it(case: &Case<'_>) -> Sight {
    let (gone, closed) = (case.gone(), case.request.closed);
    if closed < gone {
        return Sight::Nothing;
    }
    let cancelled = case.request.result.outcome == Outcome::Cancelled;
    // What ends by itself in the very microsecond of the cancellation comes first.
    if closed == gone && !cancelled && !case.attempts.iter().any(|row| row.cancelled) {
        return Sight::Nothing;
    }
    let longest = case.attempts.iter().map(|row| row.ended).max();
    Sight::of(match longest.filter(|ended| *ended > gone) {
        Some(ended) => Some(format!("an attempt ran on for {}", ended.since(gone))),
        None if closed > gone => Some(format!("was closed {} later", closed.since(gone))),
        None if !cancelled => Some(format!("ended as {}", case.request.result.outcome.name())),
        None => None,
    })
}

/// Drill 12.
pub(super) fn cancels_pending(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = match evidence.policy.attempts.allow_failover {
        true => pending_ends(evidence),
        false => [rules::PENDING, rules::NONE_AFTERWARDS]
            .map(|rule| not_applicable(rule, NO_FAILOVER))
            .into(),
    };
    findings.extend(effects::same_key(evidence));
    findings
}

fn pending_ends(evidence: &Evidence<'_>) -> Vec<Finding> {
    let aborted =
        |case: &Case<'_>| match pending(case) {
            None => Sight::Nothing,
            Some(row) => Sight::of((row.ended > case.gone() || !row.cancelled).then(|| {
                format!("its fallback attempt ended {} later", row.ended.since(case.gone()))
            })),
        };
    let nothing_more = |case: &Case<'_>| match pending(case) {
        None => Sight::Nothing,
        Some(_) => none_afterwards(case),
    };
    let otherwise = "no fallback attempt was pending when its caller cancelled";
    vec![
        each(rules::PENDING, evidence.of("chat"), aborted, core, otherwise),
        each(rules::NONE_AFTERWARDS, evidence.of("chat"), nothing_more, core, otherwise),
    ]
}

/// The attempt after the first that was in flight when the caller went.
fn pending<'a>(case: &'a Case<'_>) -> Option<&'a AttemptRow> {
    let gone = case.gone();
    let mut after_first = case.attempts.iter().filter(|row| row.number > 1);
    after_first.find(|row| row.sent < gone && row.ended >= gone).copied()
}
