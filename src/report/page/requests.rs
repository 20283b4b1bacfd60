//! Requests one by one: which are worth a look, and their attempts over time.

use windtunnel_policy::Instant;
use windtunnel_policy::config::{Policy, RecoveryAction};
use windtunnel_policy::outcome::FailureClass;

use crate::experiment::Findings;
use crate::explain::{Explanation, Told};
use crate::page::{Block, Course, Ending, Lane, Mark, Section, Span, Stretch};
use crate::record::AttemptRow;
use crate::report::Latencies;
use crate::report::drills::table::next;

/// The requests of the first world to be shown, each with why, and the policies to show it under:
/// one that the first policy loses (the next best, where the first answers most), the slowest that
/// the best answers, and one that even it loses.
pub fn striking_requests(
    policies: &[Policy],
    findings: &Findings,
    seen: &Latencies,
) -> Vec<(String, u64, Vec<Policy>)> {
    let both = |one: usize, other: usize| vec![policies[one].clone(), policies[other].clone()];
    let Some(top) = &findings.top else {
        let (name, alone) = (&policies[0].name, policies[..1].to_vec());
        let striking = seen.striking(0);
        let failed = striking.failed.map(|r| (format!("`{name}` loses it"), r, alone.clone()));
        let slowest = striking.slowest;
        let slowest =
            slowest.map(|(r, _)| (format!("The slowest that `{name}` answers"), r, alone));
        return failed.into_iter().chain(slowest).collect();
    };
    let (best, other) = if top.best == 0 { (0, top.next) } else { (top.best, 0) };
    let (name, others) = (&policies[best].name, &policies[other].name);
    let lost = seen.striking(other).failed;
    let lost = lost.map(|r| (format!("`{others}` loses it"), r, both(other, best)));
    let slowest = seen.striking(best).slowest;
    let slowest =
        slowest.map(|(r, _)| (format!("The slowest that `{name}` answers"), r, both(best, other)));
    let even = seen.striking(best).failed;
    let even = even.map(|r| (format!("Even `{name}` loses it"), r, both(best, other)));
    lost.into_iter().chain(slowest).chain(even).collect()
}

/// The requests, each under its policies; `None` where there are none.
pub(super) fn section(requests: &[(String, Explanation)]) -> Option<Section> {
    if requests.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Text(
        "Three at most, of the first world. `windtunnel explain` tells each step by step, with the \
         reason for every decision."
            .into(),
    )];
    for (why, told) in requests {
        blocks.push(Block::Text(format!("{why}: `--request {}`", told.request)));
        blocks.push(Block::Beside(courses(told, true).into_iter().map(Block::Course).collect()));
    }
    Some(Section::new("Requests worth a look", blocks))
}

/// A request's attempts over time under each of its policies, on the same scale; with what they cost where
/// prices are known.
pub(crate) fn courses(told: &Explanation, priced: bool) -> Vec<Course> {
    let longest = told.lives.iter().map(|life| since(life, life.row.closed));
    let length = longest.fold(0.0, f64::max);
    told.lives.iter().map(|life| course(told, life, length, priced)).collect()
}

fn course(told: &Explanation, life: &Told, length: f64, priced: bool) -> Course {
    let row = &life.row;
    let attempts = match row.result.attempts {
        1 => "1 attempt".into(),
        n => format!("{n} attempts"),
    };
    let cost = if priced { format!(", {}", row.cost) } else { String::new() };
    let lane = |attempt: &AttemptRow| lane(life, attempt);
    Course {
        title: format!("Request {} under {}", told.request, life.policy),
        about: format!(
            "{} after {:.2} s, {attempts}{cost}.",
            row.result.outcome.name(),
            since(life, row.closed),
        ),
        length,
        lanes: life.attempts.iter().map(lane).collect(),
    }
}

fn lane(life: &Told, row: &AttemptRow) -> Lane {
    let how = row.recovery.map_or("first", RecoveryAction::name);
    let (sent, ended) = (since(life, row.sent), since(life, row.ended));
    let waited = row.waited.as_micros() as f64 / 1e6;
    let output = row.first_output.map_or(ended, |at| since(life, at));
    let spans = [
        Span { from: sent - waited, to: sent, what: Stretch::Wait },
        Span { from: sent, to: output, what: Stretch::Silent },
        Span { from: output, to: ended, what: Stretch::Output },
    ];
    let ending = match row.failure {
        Some(_) => Ending::Failed,
        None if row.cancelled => Ending::Cut,
        None => Ending::Answered,
    };
    Lane {
        label: format!("{} {how}: {}", row.number, life.names.target(row.target)),
        spans: spans.into_iter().filter(|span| span.to > span.from).collect(),
        mark: Some(Mark { at: ended, ending, text: ended_how(row) }),
    }
}

/// Status and failure, and what followed.
fn ended_how(row: &AttemptRow) -> String {
    let failure = row.failure.map(FailureClass::name);
    let what = match (row.was_sent, row.status, failure) {
        (false, ..) => "no connection".to_owned(),
        (true, 0, Some(failure)) => failure.into(),
        (true, status, Some(failure)) => format!("{status} {failure}"),
        (true, ..) if row.cancelled => "cut".into(),
        (true, status, None) => format!("{status} answered"),
    };
    match row.decision {
        Some(_) => format!("{what}, then {}", next(row)),
        None => what,
    }
}

/// Seconds from the request's arrival.
fn since(life: &Told, at: Instant) -> f64 {
    at.since(life.row.arrived).as_micros() as f64 / 1e6
}
