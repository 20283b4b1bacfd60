//! Quantiles read between the edges of a cell, without the observations of one world.
//!
//! [`Hist::quantile`] gives the highest value of a cell. Over worlds that is too coarse: the
//! quantile of all worlds and of all but one often fall in one cell, and equal figures would
//! pass for certainty. Here the observations of a cell count as spread evenly over it; a cell
//! of a single value (below 2,048) still gives that value exactly.

use super::chunk::Chunk;
use super::{CELLS_PER_CHUNK, Hist, highest_of, lowest_of};

/// Ranks are products of floats: this much is rounding, far less than one observation.
const ROUNDING: f64 = 1e-6;

/// Observations that lie between two values.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The lowest value.
    pub(crate) lowest: f64,
    /// The highest value.
    pub(crate) highest: f64,
    /// How many.
    pub(crate) count: u64,
}

/// How far the value that an interpolation gives may be from the one that was counted: the width of its
/// cell.
pub(crate) fn grain(value: f64) -> f64 {
    let cell = super::cell_of(value.abs() as u64);
    (highest_of(cell) - lowest_of(cell)) as f64
}

impl Hist {
    /// The value that a share `q` of the observations do not exceed, those of `without` left out:
    /// read between the edges of its cell. `None` where it falls among the +∞, or nothing is left.
    ///
    /// # Panics
    /// `q` is not between 0 and 1, or `without` is not part of `self`.
    pub fn quantile_between(&self, q: f64, without: Option<&Hist>) -> Option<f64> {
        let left = self.len() - without.map_or(0, Hist::len);
        quantile_of(self.parts(without), q, left)
    }

    /// The chunks in order, without the observations of `without`.
    pub(crate) fn parts<'a>(
        &'a self,
        without: Option<&'a Hist>,
    ) -> impl DoubleEndedIterator<Item = Part<'a>> {
        self.chunks.iter().enumerate().filter_map(move |(number, all)| {
            let less = without.and_then(|hist| hist.chunks.get(number));
            let first = number * CELLS_PER_CHUNK;
            (*all != Chunk::Empty).then_some(Part { first, all, less, negative: false })
        })
    }
}

/// A chunk of which some observations are left out.
#[derive(Clone, Copy)]
pub(crate) struct Part<'a> {
    /// Its first cell.
    first: usize,
    all: &'a Chunk,
    less: Option<&'a Chunk>,
    /// Its observations count as negative: the last cell is the lowest.
    negative: bool,
}

impl<'a> Part<'a> {
    /// The same of negative values.
    pub(crate) fn negated(self) -> Part<'a> {
        Part { negative: true, ..self }
    }

    /// How many observations there are.
    fn count(&self) -> u64 {
        self.all.sum() - self.less.map_or(0, Chunk::sum)
    }

    /// The cells with an observation, from the lowest.
    fn spans(self) -> impl Iterator<Item = Span> {
        (0..CELLS_PER_CHUNK).filter_map(move |step| {
            let place = if self.negative { CELLS_PER_CHUNK - 1 - step } else { step };
            let count = self.all.at(place) - self.less.map_or(0, |less| less.at(place));
            let cell = self.first + place;
            let (lowest, highest) = (lowest_of(cell) as f64, highest_of(cell) as f64);
            let (lowest, highest) =
                if self.negative { (-highest, -lowest) } else { (lowest, highest) };
            (count > 0).then_some(Span { lowest, highest, count })
        })
    }
}

/// The value at quantile `q` of `len` observations, of which the finite ones lie in these parts, in
/// ascending order. Parts below the quantile are counted, and only one is looked into: statistics
/// ask for the quantiles without each world in turn.
pub(crate) fn quantile_of<'a>(
    parts: impl Iterator<Item = Part<'a>>,
    q: f64,
    len: u64,
) -> Option<f64> {
    assert!((0.0..=1.0).contains(&q), "a quantile is between 0 and 1, not {q}");
    let rank = q * len as f64;
    // Counts are whole numbers, so that the sums are exact however they are grouped.
    let mut below = 0.0;
    for part in parts {
        let all = part.count() as f64;
        if below + all + ROUNDING < rank {
            below += all;
            continue;
        }
        for span in part.spans() {
            let count = span.count as f64;
            if below + count + ROUNDING >= rank {
                let share = ((rank - below) / count).clamp(0.0, 1.0);
                return Some(span.lowest + (span.highest - span.lowest) * share);
            }
            below += count;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hist(values: impl IntoIterator<Item = u64>) -> Hist {
        let mut hist = Hist::new();
        values.into_iter().for_each(|v| hist.record(v));
        hist
    }

    #[test]
    fn a_wide_cell_is_read_evenly() {
        // 1,048,576 = 2²⁰ opens a cell of 1,024 values.
        let mut all = hist([1_048_576; 3]);
        all.record_infinite();
        assert_eq!(all.quantile_between(0.25, None), Some(1_048_576.0 + 1_023.0 / 3.0));
        assert_eq!(all.quantile_between(0.75, None), Some(1_048_576.0 + 1_023.0));
        assert_eq!(all.quantile_between(0.76, None), None);
        assert_eq!(Hist::new().quantile_between(0.5, None), None);
    }

    #[test]
    fn the_value_counted_is_within_the_grain_of_what_is_read() {
        for value in [3, 2_047, 2_048, 299_000, 1_048_576, 349_123_456] {
            for q in [0.01, 0.5, 1.0] {
                let read = hist([value; 100]).quantile_between(q, None).expect("a value");
                assert!((read - value as f64).abs() <= grain(read), "{value} {q} {read}");
            }
        }
        assert_eq!((grain(2_047.0), grain(2_048.0), grain(1_048_576.0)), (0.0, 1.0, 1_023.0));
    }

    #[test]
    fn small_values_are_exact() {
        let all = hist([0, 0, 0, 0, 7, 7, 900, 2_047]);
        assert_eq!(all.quantile_between(0.5, None), Some(0.0));
        assert_eq!(all.quantile_between(0.51, None), Some(7.0));
        assert_eq!(all.quantile_between(1.0, None), Some(2_047.0));
    }

    #[test]
    fn leaving_a_world_out_is_never_having_recorded_it() {
        let worlds: Vec<Hist> =
            (1..5_u64).map(|w| hist((1..200).map(|v| v * v * w * 37))).collect();
        let pooled = |kept: &[&Hist]| {
            let mut pooled = Hist::new();
            kept.iter().for_each(|h| pooled.merge(h));
            pooled
        };
        let all = pooled(&worlds.iter().collect::<Vec<_>>());
        let others = pooled(&[&worlds[0], &worlds[1], &worlds[3]]);
        for q in [0.01, 0.3, 0.5, 0.9, 0.999] {
            let got = all.quantile_between(q, Some(&worlds[2]));
            assert_eq!(got, others.quantile_between(q, None));
            // The exact quantile lies in the same cell: 0.1 % at most.
            let exact = others.quantile(q).unwrap() as f64;
            assert!((got.unwrap() - exact).abs() <= exact / 1_000.0, "{q}");
        }
    }
}
