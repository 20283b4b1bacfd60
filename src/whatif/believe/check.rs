//! One figure of the log against the simulation.

use serde::Serialize;

use super::tolerance::{Counted, Tolerance};
use crate::whatif::figures::Spread;
use crate::whatif::value::{Interval, Missing};

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
    /// How far it may be off before it matters; null where the log does not tell it.
    pub tolerance: Option<f64>,
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
    /// It is not, by no more than is tolerated.
    WithinTolerance,
    /// It is not, by more than is tolerated.
    Off,
    /// The log does not tell it.
    NotTold,
    /// It falls among the unanswered, in the log or simulated.
    Unanswered,
    /// There are too few requests to tell it.
    TooFew,
}

impl Check {
    /// Log and simulation have a value to be held against each other.
    pub(super) fn is_held(&self) -> bool {
        !matches!(self.verdict, Verdict::NotTold | Verdict::Unanswered | Verdict::TooFew)
    }

    /// The log is outside the range, by chance or not.
    pub(in crate::whatif) fn outside(&self) -> bool {
        use Verdict::{Off, OutsideByChance, WithinTolerance};
        matches!(self.verdict, Off | OutsideByChance | WithinTolerance)
    }

    /// The log is within a range that takes in more than is tolerated: it tells too little to be off.
    pub(in crate::whatif) fn loose(&self) -> bool {
        let half = self.range95.map(|range| (range.high - range.low) / 2.0);
        let wide = half.zip(self.tolerance).is_some_and(|(half, tolerated)| half > tolerated);
        wide && self.verdict == Verdict::WithinSamplingError
    }
}

/// Holds one figure of the log against what was simulated.
pub(super) fn check(
    name: &str,
    counted: Counted,
    tolerance: Tolerance,
    logged: Result<f64, Missing>,
    simulated: Result<Spread, Missing>,
) -> Check {
    let unit = counted.unit();
    let range95 = simulated.ok().filter(|spread| spread.worlds > 1).map(|spread| {
        let range = spread.prediction();
        // Nothing here is below zero, and no share above one.
        Interval { low: range.low.max(0.0), high: range.high.min(unit.most()) }
    });
    let tolerated = logged.ok().map(|value| tolerance.of(value, counted));
    let verdict = match (logged, range95) {
        (Ok(value), Some(range)) => {
            // A float of sums may lie a hair beyond an interval without width, and no figure is known
            // more finely than it is kept.
            let least = value.abs() * unit.resolution() + 1e-12;
            let gap = simulated.map_or(0.0, |spread| (spread.mean - value).abs());
            match value >= range.low - least && value <= range.high + least {
                true => Verdict::WithinSamplingError,
                false if tolerated.is_some_and(|most| gap <= most) => Verdict::WithinTolerance,
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
        tolerance: tolerated,
        verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::whatif::figures::Unit;

    const SURE: Spread = Spread { mean: 2.0, luck: 0.0, fit: 0.0, worlds: 4, refits: 20 };
    const NONE: Tolerance = Tolerance { share: 0.0, part: 0.0 };

    /// Half a percentage point, whatever the sampling error.
    #[test]
    fn a_gap_matters_where_it_is_beyond_both() {
        let held = |log: f64, error: f64| {
            let spread = Spread { mean: 0.99, luck: error, fit: 0.0, worlds: 10, refits: 20 };
            let share = Counted::In(Unit::Share);
            check("x", share, Tolerance::default(), Ok(log), Ok(spread))
        };
        // t(9, 0.975) = 2.262: a range of 0.99 ± 0.00024, then of 0.99 ± 0.024.
        assert_eq!(held(0.9902, 1e-4).verdict, Verdict::WithinSamplingError);
        assert_eq!(held(0.9940, 1e-4).verdict, Verdict::WithinTolerance);
        assert_eq!(held(0.9840, 1e-4).verdict, Verdict::Off);
        assert_eq!(held(0.9840, 1e-2).verdict, Verdict::WithinSamplingError);
        assert!(held(0.9840, 1e-2).loose() && !held(0.9902, 1e-4).loose());
        assert!(held(0.9940, 1e-4).outside() && !held(0.9840, 1e-2).outside());
    }

    #[test]
    fn no_figure_is_held_more_finely_than_it_is_kept() {
        let verdict =
            |unit, value| check("x", Counted::In(unit), NONE, Ok(value), Ok(SURE)).verdict;
        assert_eq!(verdict(Unit::Seconds, 2.001), Verdict::WithinSamplingError);
        assert_eq!(verdict(Unit::Seconds, 2.005), Verdict::Off);
        assert_eq!(verdict(Unit::Count, 2.001), Verdict::Off);
    }

    #[test]
    fn what_is_missing_says_why() {
        let verdict = |logged| {
            check("x", Counted::In(Unit::Seconds), NONE, logged, Err(Missing::Unanswered)).verdict
        };
        assert_eq!(verdict(Err(Missing::NotTold)), Verdict::NotTold);
        assert_eq!(verdict(Err(Missing::TooFew)), Verdict::Unanswered);
        assert_eq!(verdict(Ok(1.0)), Verdict::Unanswered);
        let few = check(
            "x",
            Counted::In(Unit::Seconds),
            NONE,
            Err(Missing::TooFew),
            Err(Missing::TooFew),
        );
        assert_eq!(few.verdict, Verdict::TooFew);
    }

    #[test]
    fn a_range_of_shares_stays_among_shares() {
        let wide = Spread { mean: 0.99, luck: 0.5, fit: 0.5, worlds: 10, refits: 20 };
        let range = |unit| {
            check("x", Counted::In(unit), NONE, Ok(1.0), Ok(wide)).range95.expect("ten worlds")
        };
        assert_eq!(range(Unit::Share), Interval { low: 0.0, high: 1.0 });
        assert!(range(Unit::Count).high > 1.0);
    }
}
