//! The figures that policies are held against each other by, and what they vary by.

use crate::record::{ClassTotals, RunTotals};
use crate::stats::two_sided_95;

use super::runs::Runs;
use super::value::{Interval, Missing};

/// One figure of a run.
#[derive(Clone, Copy)]
pub(super) struct Measure {
    /// As the other reports call it.
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    /// Its value in one run, or why there is none.
    pub(super) read: fn(&ClassTotals) -> Result<f64, Missing>,
}

/// What a figure is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unit {
    Share,
    Seconds,
    Dollars,
    Count,
}

impl Unit {
    /// The most that a figure in it can be.
    pub(super) const fn most(self) -> f64 {
        match self {
            Unit::Share => 1.0,
            Unit::Seconds | Unit::Dollars | Unit::Count => f64::INFINITY,
        }
    }

    /// How finely figures in it are known at all, as a part of their size: times stand for the cell of
    /// a histogram they are in, and prices are rounded.
    pub(super) const fn resolution(self) -> f64 {
        match self {
            Unit::Seconds | Unit::Dollars => 1.0 / 1024.0,
            Unit::Share | Unit::Count => 0.0,
        }
    }
}

/// In the order they are shown; the first is what policies are judged by.
pub(super) const MEASURES: [Measure; 9] = [
    Measure {
        name: "success",
        unit: Unit::Share,
        read: |c| ratio(c.answered.total() as f64, c.requests),
    },
    Measure {
        name: "raw_success",
        unit: Unit::Share,
        read: |c| ratio(c.answered.raw as f64, c.requests),
    },
    Measure {
        name: "attempts_per_request",
        unit: Unit::Count,
        read: |c| ratio(c.attempts as f64, c.received),
    },
    Measure {
        name: "added_latency_p99",
        unit: Unit::Seconds,
        read: |c| quantile(&c.added_latency, 0.99),
    },
    Measure { name: "latency_p50", unit: Unit::Seconds, read: |c| quantile(&c.latency, 0.5) },
    Measure { name: "latency_p90", unit: Unit::Seconds, read: |c| quantile(&c.latency, 0.9) },
    Measure { name: "latency_p99", unit: Unit::Seconds, read: |c| quantile(&c.latency, 0.99) },
    Measure { name: "ttft_p50", unit: Unit::Seconds, read: |c| quantile(&c.ttft, 0.5) },
    Measure {
        name: "cost_per_1k",
        unit: Unit::Dollars,
        read: |c| ratio(c.cost as f64 / 1e9, c.requests),
    },
];

fn ratio(of: f64, all: u64) -> Result<f64, Missing> {
    if all > 0 { Ok(of / all as f64) } else { Err(Missing::TooFew) }
}

/// Seconds; needs some observations beyond it.
fn quantile(hist: &crate::hist::Hist, q: f64) -> Result<f64, Missing> {
    match hist.quantile(q) {
        None if !hist.is_empty() => Err(Missing::Unanswered),
        Some(us) if hist.exceedances(q) >= LEAST_BEYOND => Ok(us as f64 / 1e6),
        _ => Err(Missing::TooFew),
    }
}

/// A quantile with fewer observations beyond it says little.
const LEAST_BEYOND: u64 = 10;

/// A figure over the worlds, and what its error is made of.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Spread {
    /// Mean over the worlds.
    pub(super) mean: f64,
    /// Standard deviation from world to world: luck.
    pub(super) luck: f64,
    /// Standard deviation from refit to refit, in the same luck: what the log leaves open.
    pub(super) fit: f64,
    pub(super) worlds: usize,
    pub(super) refits: usize,
}

/// Reads a figure of `read` in all worlds and refits; where one of them has none, why.
pub(super) fn spread(
    runs: &Runs,
    read: impl Fn(&[&RunTotals]) -> Result<f64, Missing>,
) -> Result<Spread, Missing> {
    let of = |worlds: &[Vec<RunTotals>]| -> Result<Vec<f64>, Missing> {
        let count = worlds.first().map_or(0, Vec::len);
        (0..count)
            .map(|w| read(&worlds.iter().map(|policy| &policy[w]).collect::<Vec<_>>()))
            .collect()
    };
    let values = of(&runs.declared)?;
    let refits: Vec<f64> =
        runs.refits.iter().map(|refit| Ok(mean(&of(refit)?))).collect::<Result<_, _>>()?;
    Ok(Spread::of(&values, &refits))
}

impl Spread {
    /// Of a value for each world, and one for each refit.
    pub(super) fn of(values: &[f64], refits: &[f64]) -> Spread {
        Spread {
            mean: mean(values),
            luck: deviation(values),
            fit: deviation(refits),
            worlds: values.len(),
            refits: refits.len(),
        }
    }

    /// Where the mean over all luck lies, at 95 %.
    pub(super) fn interval(&self) -> Interval {
        let luck = self.luck * self.luck / self.worlds as f64;
        self.around(luck)
    }

    /// Where the one course that was lived lies, at 95 %, if the world is as it was fitted.
    pub(super) fn prediction(&self) -> Interval {
        let luck = self.luck * self.luck * (1.0 + 1.0 / self.worlds as f64);
        self.around(luck)
    }

    fn around(&self, luck: f64) -> Interval {
        let fit = self.fit * self.fit;
        let half = match degrees(&[(luck, self.worlds), (fit, self.refits)]) {
            Some(degrees) => two_sided_95(degrees) * libm::sqrt(luck + fit),
            None => 0.0,
        };
        Interval { low: self.mean - half, high: self.mean + half }
    }
}

/// Welch and Satterthwaite's degrees of freedom of a sum of variances; none where nothing varies.
fn degrees(parts: &[(f64, usize)]) -> Option<usize> {
    let sum: f64 = parts.iter().map(|(variance, _)| variance).sum();
    let terms = parts.iter().filter(|(_, n)| *n > 1);
    let below: f64 = terms.map(|(variance, n)| variance * variance / (*n as f64 - 1.0)).sum();
    (below > 0.0).then(|| libm::floor(sum * sum / below).max(1.0) as usize)
}

pub(super) fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

fn deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    libm::sqrt(squares / (values.len() as f64 - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_equal_parts_have_the_degrees_of_both() {
        // Equal variances of ten and twenty: 4 / (1/9 + 1/19).
        assert_eq!(degrees(&[(1.0, 10), (1.0, 20)]), Some(24));
        assert_eq!(degrees(&[(1.0, 10), (0.0, 20)]), Some(9));
        assert_eq!(degrees(&[(0.0, 10), (0.0, 0)]), None);
    }

    #[test]
    fn why_there_is_no_quantile_is_told() {
        let of = |answered: u64, unanswered: u64| {
            let mut hist = crate::hist::Hist::new();
            (0..answered).for_each(|_| hist.record(2_000_000));
            (0..unanswered).for_each(|_| hist.record_infinite());
            quantile(&hist, 0.99)
        };
        assert_eq!(of(600, 0), Err(Missing::TooFew), "six are beyond it");
        assert_eq!(of(600, 60), Err(Missing::Unanswered));
        assert_eq!(of(0, 0), Err(Missing::TooFew));
        assert!(of(2_000, 0).is_ok_and(|seconds| (seconds - 2.0).abs() < 0.002));
    }

    #[test]
    fn an_interval_is_that_of_student() {
        let spread = Spread { mean: 5.0, luck: 2.0, fit: 0.0, worlds: 4, refits: 20 };
        // t(3, 0.975) = 3.182446; the error of the mean is 1.
        assert!((spread.interval().high - 8.182_446).abs() < 1e-5);
    }
}
