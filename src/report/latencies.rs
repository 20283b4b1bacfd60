//! What a document shows beyond totals: latencies by interval of the timeline, and which requests
//! of the first world are worth a look.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::experiment::{Recorder, RunId};
use crate::record::{AttemptRow, RequestRow, Sink};
use crate::scenario::Scenario;

/// Cells in each octave of latencies: a quantile is within 1/128, 0.8 %, of the true one.
const CELLS: u64 = 128;
/// Observations beyond a quantile that make it worth a point, as in the measures.
const LEAST_BEYOND: u64 = 100;

/// The latencies of every policy in all worlds, by the interval in which requests arrived.
#[derive(Debug)]
pub struct Latencies {
    interval_us: u64,
    /// By policy, then interval. Counts of several worlds add up to the same in any order.
    policies: Vec<Mutex<Vec<Cells>>>,
    /// By policy.
    striking: Vec<Mutex<Striking>>,
}

/// Measured requests of the first world under one policy, by their position in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Striking {
    /// The first that got no answer.
    pub failed: Option<u64>,
    /// The answered one that took longest, and how long, in µs.
    pub slowest: Option<(u64, u64)>,
}

/// How many requests had which latency; those never answered count as +∞.
#[derive(Clone, Debug, Default)]
pub struct Cells {
    counts: BTreeMap<u16, u64>,
    finite: u64,
    infinite: u64,
}

/// Those of one run.
#[derive(Debug)]
pub struct LatencySink {
    interval_us: u64,
    intervals: Vec<Cells>,
    striking: Striking,
}

impl Latencies {
    /// Room for so many policies.
    pub fn new(scenario: &Scenario, policies: usize) -> Latencies {
        let interval_us = scenario.file.interval.as_micros();
        let policies = 0..policies;
        Latencies {
            interval_us,
            policies: policies.clone().map(|_| Mutex::default()).collect(),
            striking: policies.map(|_| Mutex::default()).collect(),
        }
    }

    /// The requests of the first world that are worth a look under this policy.
    pub fn striking(&self, policy: usize) -> Striking {
        *self.striking[policy].lock().expect("no run panics while it holds it")
    }

    /// Those of one policy, by interval; `None` for a policy that was not run.
    pub(super) fn of(&self, policy: usize) -> Option<Vec<Cells>> {
        let intervals = self.policies.get(policy)?.lock();
        Some(intervals.expect("no run panics while it holds the list").clone())
    }
}

impl Recorder for Latencies {
    type Sink = LatencySink;

    fn start(&self, _: RunId) -> LatencySink {
        let (intervals, striking) = (Vec::new(), Striking::default());
        LatencySink { interval_us: self.interval_us, intervals, striking }
    }

    fn finish(&self, run: RunId, sink: LatencySink) {
        let intervals = self.policies[run.policy].lock();
        let mut intervals = intervals.expect("no run panics while it holds the list");
        if intervals.len() < sink.intervals.len() {
            intervals.resize(sink.intervals.len(), Cells::default());
        }
        intervals.iter_mut().zip(&sink.intervals).for_each(|(all, own)| all.add(own));
        if run.world == 0 {
            *self.striking[run.policy].lock().expect("no run panics while it holds it") =
                sink.striking;
        }
    }
}

impl Sink for LatencySink {
    fn attempt(&mut self, _: &AttemptRow) {}

    fn request(&mut self, row: &RequestRow) {
        if !row.measured {
            return;
        }
        let number = (row.arrived.as_micros() / self.interval_us) as usize;
        if number >= self.intervals.len() {
            self.intervals.resize(number + 1, Cells::default());
        }
        let took = row.answered.then(|| (row.closed - row.arrived).as_micros());
        self.intervals[number].count(took);
        match took {
            None => _ = self.striking.failed.get_or_insert(row.request),
            Some(took) if self.striking.slowest.is_none_or(|(_, longest)| took > longest) => {
                self.striking.slowest = Some((row.request, took));
            }
            Some(_) => {}
        }
    }
}

impl Cells {
    /// Adds those of another interval or world.
    pub(super) fn add(&mut self, other: &Cells) {
        other
            .counts
            .iter()
            .for_each(|(cell, count)| *self.counts.entry(*cell).or_default() += count);
        self.finite += other.finite;
        self.infinite += other.infinite;
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.finite + self.infinite
    }

    /// The latency in seconds that a share `q` does not exceed; `None` where too few lie beyond it,
    /// or where it lies among the unanswered.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        let rank = libm::ceil(q * self.len() as f64) as u64;
        if self.len() - rank.min(self.len()) < LEAST_BEYOND {
            return None;
        }
        let mut seen = 0;
        let (cell, _) = self.counts.iter().find(|(_, count)| {
            seen += **count;
            seen >= rank
        })?;
        Some(middle(*cell) / 1e6)
    }

    fn count(&mut self, took_us: Option<u64>) {
        match took_us {
            Some(us) => {
                *self.counts.entry(cell(us)).or_default() += 1;
                self.finite += 1;
            }
            None => self.infinite += 1,
        }
    }
}

/// Below [`CELLS`] a cell for each value, above so many for each octave.
fn cell(us: u64) -> u16 {
    if us < CELLS {
        return us as u16;
    }
    let octave = u64::from(us.ilog2() - CELLS.ilog2());
    // The leading one of the mantissa makes room for the octave's number.
    (octave * CELLS + (us >> octave)) as u16
}

/// The value in the middle of a cell, in µs.
fn middle(cell: u16) -> f64 {
    let cell = u64::from(cell);
    if cell < CELLS {
        return cell as f64;
    }
    let octave = cell / CELLS - 1;
    let low = (cell - octave * CELLS) << octave;
    low as f64 + ((1_u64 << octave) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_holds_its_values_closely() {
        for us in [0, 1, 127, 128, 129, 255, 256, 1_000, 123_456, 987_654_321, 40_000_000_000] {
            let back = middle(cell(us));
            assert!((back - us as f64).abs() <= us as f64 / 256.0, "{us} as {back}");
        }
        let cells: Vec<u16> = (0..5_000).map(cell).collect();
        assert!(cells.is_sorted() && cells.windows(2).all(|two| two[1] - two[0] <= 1));
    }

    #[test]
    fn quantiles_know_what_they_rest_on() {
        let mut cells = Cells::default();
        (1..=9_900).for_each(|ms| cells.count(Some(ms * 1_000)));
        assert_eq!(cells.quantile(0.999), None, "ten lie beyond");
        let p90 = cells.quantile(0.9).unwrap();
        assert!((p90 - 8.91).abs() < 8.91 / 128.0, "{p90}");
        (0..300).for_each(|_| cells.count(None));
        assert_eq!((cells.len(), cells.quantile(0.98)), (10_200, None), "among the unanswered");
    }
}
