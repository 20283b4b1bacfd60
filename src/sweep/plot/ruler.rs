//! Where an axis has its ticks: at round numbers, on a logarithmic one, too.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use super::axis::Axis;

/// What is written at each decade of a logarithmic axis, the most there may be first.
const DIGITS: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];
/// Fewer ticks at such digits say too little.
const FEWEST: usize = 3;

/// An axis with its ticks, between two places of which values lie.
pub(super) struct Ruler {
    ends: Range<f64>,
    /// The axis that round numbers are those of; `None` where all ticks are given.
    axis: Option<Axis>,
    /// More ticks: at what has a place beside the axis.
    more: Vec<f64>,
}

impl Ruler {
    /// All of an axis.
    pub(super) fn of(axis: &Axis) -> Ruler {
        Ruler { ends: axis.from..axis.to, axis: Some(*axis), more: Vec::new() }
    }

    /// An axis in a wider room, with ticks at places beside it.
    pub(super) fn beside(axis: &Axis, ends: Range<f64>, more: Vec<f64>) -> Ruler {
        Ruler { ends, axis: Some(*axis), more }
    }

    /// Ticks at these places alone.
    pub(super) fn at(ends: Range<f64>, ticks: Vec<f64>) -> Ruler {
        Ruler { ends, axis: None, more: ticks }
    }
}

impl Ranged for Ruler {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        plain(&self.ends).map(value, limit)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        let most = hint.max_num_points();
        let mut ticks = match &self.axis {
            Some(axis) if axis.is_logarithmic() => decades(axis.from, axis.to, most),
            Some(axis) => plain(&(axis.from..axis.to)).key_points(hint),
            None => Vec::new(),
        };
        ticks.extend(&self.more);
        ticks
    }

    fn range(&self) -> Range<f64> {
        self.ends.clone()
    }
}

fn plain(ends: &Range<f64>) -> plotters::coord::types::RangedCoordf64 {
    ends.clone().into()
}

/// Places of round numbers between two places of a logarithmic axis, at most so many.
fn decades(from: f64, to: f64, most: usize) -> Vec<f64> {
    let inside = |place: &f64| (from - 1e-9..=to + 1e-9).contains(place);
    let (first, last) = (libm::floor(from) as i32, libm::ceil(to) as i32);
    let at = |digits: &[f64]| {
        let all = (first..=last)
            .flat_map(|decade| digits.iter().map(move |d| f64::from(decade) + libm::log10(*d)));
        all.filter(inside).collect::<Vec<f64>>()
    };
    if at(DIGITS[0]).len() < FEWEST {
        // Less than a decade: round numbers, evenly apart.
        let ends = libm::pow(10.0, from)..libm::pow(10.0, to);
        let points = plain(&ends).key_points(most);
        return points.into_iter().filter(|v| *v > 0.0).map(libm::log10).filter(inside).collect();
    }
    let fits = DIGITS.iter().map(|digits| at(digits)).find(|ticks| ticks.len() <= most);
    fits.unwrap_or_else(|| {
        let whole = at(&[1.0]);
        let every = whole.len().div_ceil(most.max(1));
        whole.into_iter().step_by(every).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(low: f64, high: f64, most: usize) -> Vec<f64> {
        let places = decades(libm::log10(low), libm::log10(high), most);
        places.into_iter().map(|place| (libm::pow(10.0, place) * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn ticks_of_a_logarithmic_axis_are_round() {
        assert_eq!(values(0.05, 2.0, 10), [0.05, 0.1, 0.2, 0.5, 1.0, 2.0]);
        assert_eq!(values(2.0, 20.0, 10), [2.0, 5.0, 10.0, 20.0]);
        assert_eq!(values(0.001, 900.0, 10), [0.001, 0.01, 0.1, 1.0, 10.0, 100.0]);
        assert_eq!(values(0.001, 900.0, 3), [0.001, 0.1, 10.0]);
        // Less than a decade holds too few of those.
        let few = values(2.1, 4.9, 6);
        assert!(few.len() >= 3 && few.iter().all(|value| (value * 2.0).fract() == 0.0), "{few:?}");
    }
}
