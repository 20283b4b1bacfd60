//! A figure with its interval, and the change of one.

use serde::Serialize;

use super::figures::Spread;

/// Two ends at 95 %.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A measure with its interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// As other reports call it.
    pub name: String,
    /// Mean over the worlds.
    pub value: Option<f64>,
    /// Why there is no value.
    pub missing: Option<Missing>,
    /// At 95 %: luck, and what the log leaves open.
    pub ci95: Option<Interval>,
}

/// Why a figure is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Too few requests to tell it.
    TooFew,
    /// It falls among the unanswered.
    Unanswered,
    /// The log does not tell it.
    NotTold,
}

/// The change of a measure from the policy in force.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// As other reports call it.
    pub name: String,
    /// Mean over the worlds.
    pub difference: Option<f64>,
    /// Why there is none.
    pub missing: Option<Missing>,
    /// At 95 %: luck, and what the log leaves open.
    pub ci95: Option<Interval>,
    /// Whether the interval leaves out zero.
    pub clear: bool,
}

/// A figure under one policy, and its change from the policy in force.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Compared {
    /// Under this policy.
    #[serde(flatten)]
    pub figure: Figure,
    /// The change; null for the policy in force.
    pub change: Option<Difference>,
}

impl Figure {
    pub(super) fn of(name: &str, spread: Result<Spread, Missing>) -> Figure {
        Figure {
            name: name.into(),
            value: spread.ok().map(|spread| spread.mean),
            missing: spread.err(),
            ci95: interval(spread),
        }
    }
}

impl Difference {
    pub(super) fn of(name: &str, spread: Result<Spread, Missing>) -> Difference {
        let ci95 = interval(spread);
        Difference {
            name: name.into(),
            difference: spread.ok().map(|spread| spread.mean),
            missing: spread.err(),
            ci95,
            clear: ci95.is_some_and(|ci95| ci95.low > 0.0 || ci95.high < 0.0),
        }
    }
}

/// One world tells nothing of luck.
fn interval(spread: Result<Spread, Missing>) -> Option<Interval> {
    spread.ok().filter(|spread| spread.worlds > 1).map(|spread| spread.interval())
}
