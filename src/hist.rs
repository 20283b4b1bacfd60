//! A fast histogram with the cells of `hdrhistogram` at three significant digits.
//!
//! Values below 2,048 have a cell each; above, every octave has 1,024 cells, so
//! a figure is at most 0.1 % above the value it stands for. Recording is a shift
//! and an addition; at the end of a run the counts fold into an
//! [`hdrhistogram::Histogram`] with the same figures as recording there directly.
//!
//! Requests never answered have no latency: they are counted as +∞, so that a
//! policy cannot improve a quantile by giving up.

mod between;
mod chunk;

pub(crate) use between::{Part, grain, quantile_of};
use chunk::Chunk;

/// Counts of values (microseconds, tokens, …) on 64 bits, and of +∞.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Hist {
    /// Counts by cell, in chunks that take room from the first value in them on: latencies lie in a
    /// few octaves, and a run keeps several histograms for each route class.
    chunks: Vec<Chunk>,
    finite: u64,
    infinite: u64,
}

const DIGITS: u8 = 3;
/// Values below 2¹¹ are exact, as in `hdrhistogram` at three digits.
const EXACT_BITS: u32 = 11;
const CELLS_PER_OCTAVE: usize = 1 << (EXACT_BITS - 1);
const CELLS_PER_CHUNK: usize = CELLS_PER_OCTAVE / 4;

impl Hist {
    /// An empty histogram.
    pub fn new() -> Hist {
        Hist::default()
    }

    /// Counts `value` once.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.mark(value);
        self.count_marked(1);
    }

    /// Counts `value` in its cell, and not yet among all: [`Hist::count_marked`] follows.
    #[inline]
    pub(crate) fn mark(&mut self, value: u64) {
        let cell = cell_of(value);
        let (number, place) = (cell / CELLS_PER_CHUNK, cell % CELLS_PER_CHUNK);
        match self.chunks.get_mut(number) {
            Some(chunk) => chunk.count(place),
            None => self.open(number).count(place),
        }
    }

    /// Counts so many observations among all that were marked in their cells.
    #[inline]
    pub(crate) fn count_marked(&mut self, observations: u64) {
        self.finite += observations;
    }

    /// A chunk, with all those before it. Apart, so that recording stays small enough to be inlined.
    #[cold]
    fn open(&mut self, number: usize) -> &mut Chunk {
        if number >= self.chunks.len() {
            self.chunks.resize(number + 1, Chunk::Empty);
        }
        &mut self.chunks[number]
    }

    /// Counts an observation of +∞: a request never answered.
    #[inline]
    pub fn record_infinite(&mut self) {
        self.infinite += 1;
    }

    /// Number of observations, +∞ included.
    pub fn len(&self) -> u64 {
        self.finite + self.infinite
    }

    /// True when nothing was recorded.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of observations of +∞.
    pub fn infinite(&self) -> u64 {
        self.infinite
    }

    /// The smallest figure that at least a share `q` of all observations do not
    /// exceed; for `q = 0` the lowest value of the first cell met.
    ///
    /// `None` where the quantile falls among the +∞, or nothing was recorded.
    ///
    /// # Panics
    /// `q` is not between 0 and 1.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        let rank = self.rank(q);
        let mut seen = 0;
        let (cell, _) = self.counts().find(|&(_, count)| {
            seen += count;
            seen >= rank
        })?;
        Some(if q == 0.0 { lowest_of(cell) } else { highest_of(cell) })
    }

    /// How many observations lie beyond the `q` quantile's rank: what the
    /// quantile's precision rests on.
    ///
    /// # Panics
    /// `q` is not between 0 and 1.
    pub fn exceedances(&self, q: f64) -> u64 {
        self.len() - self.rank(q).min(self.len())
    }

    /// Adds every observation of `other`.
    pub fn merge(&mut self, other: &Hist) {
        for (number, theirs) in other.chunks.iter().enumerate() {
            if *theirs != Chunk::Empty {
                self.open(number).add(theirs);
            }
        }
        self.finite += other.finite;
        self.infinite += other.infinite;
    }

    /// The finite observations as an `hdrhistogram` at three significant digits.
    pub fn to_hdr(&self) -> hdrhistogram::Histogram<u64> {
        let mut hdr = hdrhistogram::Histogram::new(DIGITS).expect("three digits are allowed");
        for (cell, count) in self.counts() {
            hdr.record_n(lowest_of(cell), count).expect("an auto-resizing histogram holds any u64");
        }
        hdr
    }

    /// The cells in which something was counted, from the lowest.
    fn counts(&self) -> impl Iterator<Item = (usize, u64)> {
        let chunks = self.chunks.iter().enumerate();
        let counts = chunks.flat_map(|(number, chunk)| {
            let first = number * CELLS_PER_CHUNK;
            let places = if *chunk == Chunk::Empty { 0 } else { CELLS_PER_CHUNK };
            (0..places).map(move |place| (first + place, chunk.at(place)))
        });
        counts.filter(|&(_, count)| count > 0)
    }

    /// The rank, from 1, of the observation at quantile `q`: `hdrhistogram`'s rule.
    fn rank(&self, q: f64) -> u64 {
        assert!((0.0..=1.0).contains(&q), "a quantile is between 0 and 1, not {q}");
        ((q * self.len() as f64).ceil() as u64).max(1)
    }
}

/// The cell of `value`: a shift that leaves 11 significant bits, then those bits.
#[inline]
fn cell_of(value: u64) -> usize {
    let shift = (u64::BITS - EXACT_BITS).saturating_sub(value.leading_zeros());
    shift as usize * CELLS_PER_OCTAVE + (value >> shift) as usize
}

/// The shift and the significant bits of a cell: the inverse of [`cell_of`].
fn parts_of(cell: usize) -> (u32, u64) {
    let shift = (cell / CELLS_PER_OCTAVE).saturating_sub(1);
    (shift as u32, (cell - shift * CELLS_PER_OCTAVE) as u64)
}

fn lowest_of(cell: usize) -> u64 {
    let (shift, bits) = parts_of(cell);
    bits << shift
}

fn highest_of(cell: usize) -> u64 {
    let (shift, _) = parts_of(cell);
    lowest_of(cell) + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUANTILES: [f64; 10] = [0.0, 1e-9, 0.05, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1.0];

    #[test]
    fn cells_follow_one_another_without_gap() {
        for cell in 0..cell_of(u64::MAX) {
            assert_eq!(cell_of(lowest_of(cell)), cell);
            assert_eq!(cell_of(highest_of(cell)), cell);
            assert_eq!(highest_of(cell) + 1, lowest_of(cell + 1));
        }
        assert_eq!(highest_of(cell_of(u64::MAX)), u64::MAX);
    }

    #[test]
    fn unanswered_requests_count_in_every_quantile() {
        let mut hist = Hist::new();
        (1..=90).for_each(|v| hist.record(v));
        (0..10).for_each(|_| hist.record_infinite());
        assert_eq!((hist.len(), hist.infinite()), (100, 10));
        assert_eq!(hist.quantile(0.5), Some(50));
        assert_eq!(hist.quantile(0.9), Some(90));
        assert_eq!(hist.quantile(0.91), None);
        assert_eq!(hist.quantile(1.0), None);
        assert_eq!(hist.exceedances(0.9), 10);
        assert_eq!(hist.exceedances(0.99), 1);
    }

    #[test]
    fn nothing_recorded_has_no_quantile() {
        let hist = Hist::new();
        assert_eq!((hist.quantile(0.5), hist.exceedances(0.5)), (None, 0));
    }

    fn values() -> impl Strategy<Value = Vec<u64>> {
        // Of the very last cell `hdrhistogram` gives a figure one too low.
        let value = (1_u32..64, any::<u64>()).prop_map(|(shift, v)| v >> shift);
        prop::collection::vec(value, 1..400)
    }

    proptest! {
        #[test]
        fn figures_are_those_of_hdrhistogram(values in values()) {
            let mut direct = hdrhistogram::Histogram::<u64>::new(DIGITS).expect("three digits");
            let mut hist = Hist::new();
            for &v in &values {
                direct.record(v).expect("auto-resizing");
                hist.record(v);
            }
            let folded = hist.to_hdr();
            prop_assert_eq!(folded.len(), direct.len());
            prop_assert_eq!(folded.max(), direct.max());
            prop_assert_eq!(folded.min(), direct.min());
            prop_assert_eq!(folded.mean().to_bits(), direct.mean().to_bits());
            for q in QUANTILES {
                prop_assert_eq!(folded.value_at_quantile(q), direct.value_at_quantile(q));
                prop_assert_eq!(hist.quantile(q), Some(direct.value_at_quantile(q)));
            }
        }

        #[test]
        fn merging_is_recording_together(a in values(), b in values()) {
            let record = |values: &[u64]| {
                let mut hist = Hist::new();
                values.iter().for_each(|&v| hist.record(v));
                hist.record_infinite();
                hist
            };
            let mut merged = record(&a);
            merged.merge(&record(&b));
            let mut together = record(&[a, b].concat());
            together.record_infinite();
            prop_assert_eq!(merged, together);
        }
    }
}
