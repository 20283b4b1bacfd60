//! The policy in force, simulated in the fitted world, against the log itself.

use serde::Serialize;

use super::Question;
use super::course::counted;
use super::figures::{MEASURES, Spread, Unit, spread};
use super::policy::whole;
use super::runs::Runs;
use super::value::{Interval, Missing};
use crate::fit::Fit;
use crate::record::{RunTotals, TargetTotals};

/// Whether the policy in force, simulated, does what the log says.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Believed {
    /// All of `checks` are within sampling error.
    pub reproduces: bool,
    /// Figure by figure.
    pub checks: Vec<Check>,
    /// Success by interval.
    pub intervals: Vec<Check>,
    /// Attempts and failures by target.
    pub targets: Vec<Check>,
}

/// One figure of the log against the simulation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// Which.
    pub name: String,
    /// What the log says.
    pub logged: Option<f64>,
    /// Mean over the worlds.
    pub simulated: Option<f64>,
    /// Where one course of it lies, at 95 %.
    pub range95: Option<Interval>,
    /// What comes of it.
    pub verdict: Verdict,
}

/// What comes of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The log is within the range.
    WithinSamplingError,
    /// It is not, like no more of its kind than chance would have outside.
    OutsideByChance,
    /// It is not.
    Off,
    /// The log does not tell it.
    NotTold,
    /// It falls among the unanswered, in the log or simulated.
    Unanswered,
    /// There are too few requests to tell it.
    TooFew,
}

impl Check {
    /// The log is outside the range, by chance or not.
    pub(super) fn outside(&self) -> bool {
        matches!(self.verdict, Verdict::Off | Verdict::OutsideByChance)
    }
}

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
            let simulated = spread(runs, |of| runs.read(*measure, &whole(of[0])));
            let logged = match fit.tells(measure.name) {
                true => (measure.read)(&whole(lived)),
                false => Err(Missing::NotTold),
            };
            check(measure.name, measure.unit, logged, simulated)
        })
        .collect();
    let intervals = counted(question, lived).filter(|(_, i)| i.requests >= LEAST_REQUESTS);
    let intervals = intervals.map(|(number, interval)| {
        let simulated = spread(runs, |of| success_of(of[0], number));
        let seconds = number as u64 * question.scenario.file.interval.as_micros() / 1_000_000;
        let name = format!("success from {}", super::words::clock(seconds));
        let logged = interval.answered as f64 / interval.requests as f64;
        check(&name, Unit::Share, Ok(logged), simulated)
    });
    let targets = question.scenario.targets.iter().enumerate().flat_map(|(i, target)| {
        let per_request = move |run: &RunTotals, of: OfTarget| {
            let requests: u64 = run.classes.iter().map(|class| class.requests).sum();
            let target = run.targets.get(i).filter(|_| requests > 0).ok_or(Missing::TooFew)?;
            Ok(of(target) as f64 / requests as f64)
        };
        let kinds: [(&str, OfTarget); 2] =
            [("attempts", |t| t.attempts), ("failures", |t| t.failures)];
        kinds.map(|(kind, of)| {
            let simulated = spread(runs, |runs| per_request(runs[0], of));
            check(
                &format!("{kind} at {} per request", target.name),
                Unit::Count,
                match fit.tells_targets() {
                    true => per_request(lived, of),
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
    let reproduces = checks.iter().all(|check| check.verdict != Verdict::Off);
    Believed { reproduces, intervals, targets, checks }
}

/// Of many ranges at 95 % some are missed by chance: where so many are that chance would miss as many in
/// more than one of twenty cases, none of them is off by itself.
fn judge_together(checks: &mut [Check]) {
    let told =
        |check: &&Check| matches!(check.verdict, Verdict::WithinSamplingError | Verdict::Off);
    let all = checks.iter().filter(told).count();
    let outside = checks.iter().filter(|check| check.verdict == Verdict::Off).count();
    if at_least(outside, all) > 0.05 {
        for check in checks.iter_mut().filter(|check| check.verdict == Verdict::Off) {
            check.verdict = Verdict::OutsideByChance;
        }
    }
}

/// The chance that so many of `all` ranges at 95 % are missed, or more: a binomial's upper tail.
fn at_least(missed: usize, all: usize) -> f64 {
    let (mut log, mut below) = (all as f64 * libm::log(0.95), 0.0);
    for i in 0..missed {
        below += libm::exp(log);
        log += libm::log((all - i) as f64 / (i + 1) as f64 * (0.05 / 0.95));
    }
    f64::max(1.0 - below, 0.0)
}

fn success_of(run: &RunTotals, number: usize) -> Result<f64, Missing> {
    let interval = run.timeline.get(number).filter(|interval| interval.requests > 0);
    let interval = interval.ok_or(Missing::TooFew)?;
    Ok(interval.answered as f64 / interval.requests as f64)
}

fn check(
    name: &str,
    unit: Unit,
    logged: Result<f64, Missing>,
    simulated: Result<Spread, Missing>,
) -> Check {
    let range95 = simulated.ok().filter(|spread| spread.worlds > 1).map(|spread| {
        let range = spread.prediction();
        // Nothing here is below zero, and no share above one.
        Interval { low: range.low.max(0.0), high: range.high.min(unit.most()) }
    });
    let verdict = match (logged, range95) {
        (Ok(value), Some(range)) => {
            // A float of sums may lie a hair beyond an interval without width, and no figure is known
            // more finely than it is kept.
            let least = value.abs() * unit.resolution() + 1e-12;
            match value >= range.low - least && value <= range.high + least {
                true => Verdict::WithinSamplingError,
                false => Verdict::Off,
            }
        }
        // That it is not told is more than that there is too little of it.
        (Err(Missing::NotTold), _) => Verdict::NotTold,
        (_, None) if simulated == Err(Missing::NotTold) => Verdict::NotTold,
        (Err(Missing::Unanswered), _) => Verdict::Unanswered,
        (_, None) if simulated == Err(Missing::Unanswered) => Verdict::Unanswered,
        _ => Verdict::TooFew,
    };
    Check {
        name: name.into(),
        logged: logged.ok(),
        simulated: simulated.ok().map(|spread| spread.mean),
        range95,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SURE: Spread = Spread { mean: 2.0, luck: 0.0, fit: 0.0, worlds: 4, refits: 20 };

    #[test]
    fn chance_misses_one_range_of_twenty() {
        // 1 − 0.95²⁹ and 1 − 0.95²⁹ − 29 × 0.05 × 0.95²⁸.
        assert!((at_least(1, 29) - 0.774_06).abs() < 1e-4, "{}", at_least(1, 29));
        assert!((at_least(2, 29) - 0.429_2).abs() < 1e-3, "{}", at_least(2, 29));
        assert!((at_least(0, 29) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn one_of_many_outside_is_chance_and_several_are_not() {
        let judged = |outside: usize| {
            let logged = |i| if i < outside { 3.0 } else { 2.0 };
            let mut checks: Vec<Check> =
                (0..29).map(|i| check("x", Unit::Count, Ok(logged(i)), Ok(SURE))).collect();
            judge_together(&mut checks);
            checks[0].verdict
        };
        assert_eq!(judged(0), Verdict::WithinSamplingError);
        assert_eq!(judged(1), Verdict::OutsideByChance);
        assert_eq!(judged(5), Verdict::Off);
    }

    #[test]
    fn no_figure_is_held_more_finely_than_it_is_kept() {
        let verdict = |unit, value| check("x", unit, Ok(value), Ok(SURE)).verdict;
        assert_eq!(verdict(Unit::Seconds, 2.001), Verdict::WithinSamplingError);
        assert_eq!(verdict(Unit::Seconds, 2.005), Verdict::Off);
        assert_eq!(verdict(Unit::Count, 2.001), Verdict::Off);
    }

    #[test]
    fn what_is_missing_says_why() {
        let verdict = |logged| check("x", Unit::Seconds, logged, Err(Missing::Unanswered)).verdict;
        assert_eq!(verdict(Err(Missing::NotTold)), Verdict::NotTold);
        assert_eq!(verdict(Err(Missing::TooFew)), Verdict::Unanswered);
        assert_eq!(verdict(Ok(1.0)), Verdict::Unanswered);
        let few = check("x", Unit::Seconds, Err(Missing::TooFew), Err(Missing::TooFew));
        assert_eq!(few.verdict, Verdict::TooFew);
    }

    #[test]
    fn a_range_of_shares_stays_among_shares() {
        let wide = Spread { mean: 0.99, luck: 0.5, fit: 0.5, worlds: 10, refits: 20 };
        let range = |unit| check("x", unit, Ok(1.0), Ok(wide)).range95.expect("ten worlds");
        assert_eq!(range(Unit::Share), Interval { low: 0.0, high: 1.0 });
        assert!(range(Unit::Count).high > 1.0);
    }
}
