//! A histogram of values that may be negative.

use crate::hist::{Hist, Part, quantile_of};

/// Counts of signed values and of +∞.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SignedHist {
    /// Magnitudes of negative values.
    below: Hist,
    /// Values from zero on, and +∞.
    above: Hist,
}

impl SignedHist {
    /// Counts `value` once. Both sides are counted, one of them by nothing: a sum at a place that changes
    /// with the sign would be read too early time and again, while it is still being written.
    #[inline]
    pub fn record(&mut self, value: i64) {
        let negative = value < 0;
        let side = if negative { &mut self.below } else { &mut self.above };
        side.mark(value.unsigned_abs());
        self.below.count_marked(u64::from(negative));
        self.above.count_marked(u64::from(!negative));
    }

    /// Counts an observation of +∞.
    pub fn record_infinite(&mut self) {
        self.above.record_infinite();
    }

    /// Number of observations, +∞ included.
    pub fn len(&self) -> u64 {
        self.below.len() + self.above.len()
    }

    /// True when nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Observations of +∞.
    pub fn infinite(&self) -> u64 {
        self.above.infinite()
    }

    /// The value that a share `q` of observations does not exceed; `None` where that is +∞ or
    /// nothing was recorded.
    pub fn quantile(&self, q: f64) -> Option<i64> {
        let (below, all) = (self.below.len() as f64, self.len() as f64);
        let rank = q * all;
        if rank < below {
            // The q-quantile of -x is minus the (1 - q)-quantile of x.
            return self.below.quantile(1.0 - rank / below).map(|v| -(v as i64));
        }
        let above = self.above.len() as f64;
        self.above
            .quantile(if above > 0.0 { (rank - below) / above } else { 1.0 })
            .map(|v| v as i64)
    }

    /// The `q` quantile, read between the edges of its cell, of all observations but those of
    /// `without`, which must be part of `self`; `None` where that is +∞ or nothing is left.
    pub fn quantile_between(&self, q: f64, without: Option<&SignedHist>) -> Option<f64> {
        let negative = self.below.parts(without.map(|w| &w.below)).rev().map(Part::negated);
        let positive = self.above.parts(without.map(|w| &w.above));
        quantile_of(negative.chain(positive), q, self.len() - without.map_or(0, SignedHist::len))
    }

    /// Observations above the `q`-quantile.
    pub fn exceedances(&self, q: f64) -> u64 {
        let below = self.below.len() as f64;
        let (rank, all) = (q * self.len() as f64, self.len());
        if rank < below {
            return all - rank as u64;
        }
        let above = self.above.len() as f64;
        if above > 0.0 { self.above.exceedances((rank - below) / above) } else { 0 }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &SignedHist) {
        self.below.merge(&other.below);
        self.above.merge(&other.above);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_run_through_zero() {
        let mut h = SignedHist::default();
        for v in -50..50 {
            h.record(v);
        }
        assert_eq!(h.len(), 100);
        assert_eq!(h.quantile(0.5), Some(0));
        assert!((h.quantile(0.25).unwrap() + 25).abs() <= 1);
        assert!((h.quantile(0.75).unwrap() - 25).abs() <= 1);
        assert_eq!(h.quantile_between(0.25, None), Some(-26.0));
        assert_eq!(h.quantile_between(0.505, None), Some(0.0));
        let mut without = SignedHist::default();
        (-50..0).for_each(|v| without.record(v));
        assert_eq!(h.quantile_between(0.5, Some(&without)), Some(24.0));
        h.record_infinite();
        assert_eq!(h.quantile(1.0), None);
        assert_eq!(h.quantile_between(1.0, None), None);
    }
}
