//! The policy in force, simulated in the fitted world, against the log itself.

use super::Question;
use super::figures::{MEASURES, Spread, Unit, spread};
use super::finding::{Believed, Check, Interval, Verdict, counted, whole};
use super::runs::Runs;
use crate::fit::Fit;
use crate::record::{RunTotals, TargetTotals};

/// A count of one target.
type OfTarget = fn(&TargetTotals) -> u64;

/// Fewer requests in an interval say nothing.
const LEAST_REQUESTS: u64 = 30;

/// Holds every figure of the log against the range the simulation gives one course of it.
pub(super) fn of(question: &Question<'_>, fit: &Fit, runs: &Runs) -> Believed {
    let lived = &fit.lived;
    let checks: Vec<Check> = MEASURES
        .iter()
        .map(|measure| {
            let simulated = spread(runs, |of| (measure.read)(&whole(of[0])));
            let logged = (measure.read)(&whole(lived)).filter(|_| fit.tells(measure.name));
            check(measure.name, measure.unit, logged, simulated)
        })
        .collect();
    let intervals = counted(question, lived).filter(|(_, i)| i.requests >= LEAST_REQUESTS);
    let intervals = intervals.map(|(number, interval)| {
        let simulated = spread(runs, |of| success_of(of[0], number));
        let seconds = number as u64 * question.scenario.file.interval.as_micros() / 1_000_000;
        let name = format!("success from {}", super::words::clock(seconds));
        let logged = interval.answered as f64 / interval.requests as f64;
        check(&name, Unit::Share, Some(logged), simulated)
    });
    let targets = question.scenario.targets.iter().enumerate().flat_map(|(i, target)| {
        let per_request = move |run: &RunTotals, of: OfTarget| {
            let requests: u64 = run.classes.iter().map(|class| class.requests).sum();
            let target = run.targets.get(i)?;
            (requests > 0).then(|| of(target) as f64 / requests as f64)
        };
        let kinds: [(&str, OfTarget); 2] =
            [("attempts", |t| t.attempts), ("failures", |t| t.failures)];
        kinds.map(|(kind, of)| {
            let simulated = spread(runs, |runs| per_request(runs[0], of));
            check(
                &format!("{kind} at {} per request", target.name),
                Unit::Count,
                per_request(lived, of).filter(|_| fit.tells_targets()),
                simulated,
            )
        })
    });
    let targets: Vec<Check> = targets.collect();
    let reproduces = checks.iter().all(|check| check.verdict != Verdict::Off);
    Believed { reproduces, intervals: intervals.collect(), targets, checks }
}

fn success_of(run: &RunTotals, number: usize) -> Option<f64> {
    let interval = run.timeline.get(number)?;
    (interval.requests > 0).then(|| interval.answered as f64 / interval.requests as f64)
}

fn check(name: &str, unit: Unit, logged: Option<f64>, simulated: Option<Spread>) -> Check {
    let range95 = simulated.filter(|spread| spread.worlds > 1).map(|spread| {
        let range = spread.prediction();
        // Nothing here is below zero, and no share above one.
        Interval { low: range.low.max(0.0), high: range.high.min(unit.most()) }
    });
    let verdict = match (logged, range95) {
        // A float of sums may lie a hair beyond an interval without width.
        (Some(value), Some(range)) if value >= range.low - 1e-12 && value <= range.high + 1e-12 => {
            Verdict::WithinSamplingError
        }
        (Some(_), Some(_)) => Verdict::Off,
        _ => Verdict::NotTold,
    };
    Check {
        name: name.into(),
        logged,
        simulated: simulated.map(|spread| spread.mean),
        range95,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_of_shares_stays_among_shares() {
        let wide = Spread { mean: 0.99, luck: 0.5, fit: 0.5, worlds: 10, refits: 20 };
        let range = |unit| check("x", unit, Some(1.0), Some(wide)).range95.expect("ten worlds");
        assert_eq!(range(Unit::Share), Interval { low: 0.0, high: 1.0 });
        assert!(range(Unit::Count).high > 1.0);
    }
}
