//! The policy in force, simulated in the fitted world, against the log itself.

mod check;
mod together;
mod tolerance;

use serde::Serialize;

pub use check::{Check, Verdict};
pub use tolerance::Tolerance;

use check::check;
use together::judge_together;
use tolerance::Counted;

use super::Question;
use super::course::counted;
use super::figures::{MEASURES, Unit, spread};
use super::policy::whole;
use super::runs::Runs;
use super::value::Missing;
use super::words::clock;
use crate::fit::Fit;
use crate::record::{RunTotals, TargetTotals};

/// Whether the policy in force, simulated, does what the log says.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Believed {
    /// None of `checks` is off by more than sampling error and more than is tolerated; none where the log
    /// tells too little to hold any.
    pub reproduces: Option<bool>,
    /// What is tolerated.
    pub tolerance: Tolerance,
    /// Figure by figure.
    pub checks: Vec<Check>,
    /// Success by interval.
    pub intervals: Vec<Check>,
    /// Attempts and failures by target.
    pub targets: Vec<Check>,
}

/// A count of one target.
type OfTarget = fn(&TargetTotals) -> u64;

/// Fewer requests in an interval say nothing.
const LEAST_REQUESTS: u64 = 30;

/// Holds every figure of the log against the range the simulation gives one course of it.
pub(super) fn of(question: &Question<'_>, fit: &Fit, runs: &Runs) -> Believed {
    let lived = &fit.lived;
    let tolerance = question.options.tolerance;
    let checks: Vec<Check> = MEASURES
        .iter()
        .map(|measure| {
            let simulated = spread(runs, |of| runs.read(*measure, &whole(of[0])));
            let logged = match fit.tells(measure.name) {
                true => (measure.read)(&whole(lived)),
                false => Err(Missing::NotTold),
            };
            check(measure.name, Counted::In(measure.unit), tolerance, logged, simulated)
        })
        .collect();
    let intervals = counted(question, lived).filter(|(_, i)| i.requests >= LEAST_REQUESTS);
    let intervals = intervals.map(|(number, interval)| {
        let simulated = spread(runs, |of| success_of(of[0], number));
        let seconds = number as u64 * question.scenario.file.interval.as_micros() / 1_000_000;
        let name = format!("success from {}", clock(seconds));
        let logged = interval.answered as f64 / interval.requests as f64;
        check(&name, Counted::In(Unit::Share), tolerance, Ok(logged), simulated)
    });
    let seen = question.scenario.targets.iter().enumerate();
    let seen = seen.filter_map(|(i, target)| Some((i, fit.position(&target.name)?, target)));
    let targets = seen.flat_map(|(simulated, logged, target)| {
        let per_request = |run: &RunTotals, i: usize, of: OfTarget| {
            let requests: u64 = run.classes.iter().map(|class| class.requests).sum();
            let target = run.targets.get(i).filter(|_| requests > 0).ok_or(Missing::TooFew)?;
            Ok(of(target) as f64 / requests as f64)
        };
        let kinds: [(&str, OfTarget); 2] =
            [("attempts", |t| t.attempts), ("failures", |t| t.failures)];
        kinds.map(|(kind, of)| {
            let simulated = spread(runs, |runs| per_request(runs[0], simulated, of));
            check(
                &format!("{kind} at {} per request", target.name),
                Counted::PerRequest,
                tolerance,
                match fit.tells_targets() {
                    true => per_request(lived, logged, of),
                    false => Err(Missing::NotTold),
                },
                simulated,
            )
        })
    });
    let (mut intervals, mut targets): (Vec<Check>, Vec<Check>) =
        (intervals.collect(), targets.collect());
    judge_together(&mut intervals);
    judge_together(&mut targets);
    let held = checks.iter().any(|check| check.is_held());
    let reproduces = held.then(|| checks.iter().all(|check| check.verdict != Verdict::Off));
    Believed { reproduces, tolerance, intervals, targets, checks }
}

fn success_of(run: &RunTotals, number: usize) -> Result<f64, Missing> {
    let interval = run.timeline.get(number).filter(|interval| interval.requests > 0);
    let interval = interval.ok_or(Missing::TooFew)?;
    Ok(interval.answered as f64 / interval.requests as f64)
}
