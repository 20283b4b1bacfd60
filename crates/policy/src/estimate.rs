//! The latency to expect of an attempt: a trailing quantile per route class and target.

use alloc::vec;
use alloc::vec::Vec;

use crate::config::Estimate;
use crate::target::{ClassId, TargetId};
use crate::{Duration, Instant, Share};

/// Buckets per factor of two: a bucket's upper edge is at most an eighth above its lower one.
const PER_OCTAVE: u64 = 8;
/// Everything below 1.024 ms is one bucket; everything above 2³² µs (71 minutes) is another.
const FIRST_OCTAVE: u32 = 10;
const LAST_OCTAVE: u32 = 31;
const BUCKETS: usize = (LAST_OCTAVE - FIRST_OCTAVE + 1) as usize * PER_OCTAVE as usize + 2;

/// What attempts of each route class took at each target lately.
#[derive(Clone, Debug)]
pub(crate) struct Estimates {
    quantile: Share,
    min_samples: u32,
    /// Outcomes are kept in two halves of the time they are remembered.
    half_us: u64,
    targets: usize,
    cells: Vec<Cell>,
}

/// One route class at one target.
#[derive(Clone, Debug)]
struct Cell {
    halves: [[u32; BUCKETS]; 2],
    counts: [u32; 2],
    /// Number of the newer half since the origin; its histogram is at this number modulo 2.
    newest: u64,
    /// The quantile at `cached_count` outcomes; valid while `fresh`.
    cached: Duration,
    /// Outcomes since the quantile was computed.
    since_cached: u32,
    fresh: bool,
}

impl Estimates {
    /// No outcome seen; room for this many route classes and targets.
    pub(crate) fn new(config: &Estimate, classes: usize, targets: usize) -> Estimates {
        Estimates {
            quantile: config.quantile,
            min_samples: config.min_samples,
            half_us: (config.expires.as_micros() / 2).max(1),
            targets,
            cells: vec![Cell::EMPTY; classes * targets],
        }
    }

    /// An attempt took this long; one that timed out took at least its timeout.
    pub(crate) fn record(
        &mut self,
        class: ClassId,
        target: TargetId,
        elapsed: Duration,
        now: Instant,
    ) {
        let cell = self.cell(class, target, now);
        let half = (cell.newest % 2) as usize;
        cell.halves[half][bucket(elapsed)] += 1;
        cell.counts[half] += 1;
        cell.since_cached += 1;
        // Amortised to a few steps per outcome; the quantile lags by at most a 32nd of them.
        let all = cell.counts[0] + cell.counts[1];
        cell.fresh = cell.fresh && cell.since_cached <= all / 32;
    }

    /// The latency to expect of the next attempt; `prior` until enough outcomes were seen within
    /// the time they are remembered. The upper edge of the quantile's bucket: at most an eighth
    /// above the quantile.
    pub(crate) fn expected(
        &mut self,
        class: ClassId,
        target: TargetId,
        prior: Duration,
        now: Instant,
    ) -> Duration {
        let (quantile, min_samples) = (self.quantile, self.min_samples);
        let cell = self.cell(class, target, now);
        let all = cell.counts[0] + cell.counts[1];
        if all == 0 || all < min_samples {
            return prior;
        }
        if !cell.fresh {
            cell.cached = cell.quantile(quantile, all);
            (cell.fresh, cell.since_cached) = (true, 0);
        }
        cell.cached
    }

    /// No outcome seen.
    pub(crate) fn reset(&mut self) {
        self.cells.fill(Cell::EMPTY);
    }

    /// The cell, without what has expired.
    fn cell(&mut self, class: ClassId, target: TargetId, now: Instant) -> &mut Cell {
        let half = now.as_micros() / self.half_us;
        let cell = &mut self.cells[usize::from(class.0) * self.targets + usize::from(target.0)];
        if half > cell.newest {
            cell.rotate(half);
        }
        cell
    }
}

impl Cell {
    const EMPTY: Cell = Cell {
        halves: [[0; BUCKETS]; 2],
        counts: [0; 2],
        newest: 0,
        cached: Duration::ZERO,
        since_cached: 0,
        fresh: false,
    };

    fn rotate(&mut self, half: u64) {
        let keeps_older = half == self.newest + 1;
        for number in [half, half + 1] {
            let i = (number % 2) as usize;
            if !(keeps_older && number == half + 1) && self.counts[i] > 0 {
                self.halves[i] = [0; BUCKETS];
                self.counts[i] = 0;
            }
        }
        self.newest = half;
        self.fresh = false;
    }

    fn quantile(&self, quantile: Share, all: u32) -> Duration {
        // The smallest value that at least this many outcomes do not exceed.
        let wanted = u64::from(all) - quantile.complement().of(u64::from(all));
        let mut seen = 0;
        for (i, (a, b)) in self.halves[0].iter().zip(&self.halves[1]).enumerate() {
            seen += u64::from(*a) + u64::from(*b);
            if seen >= wanted.max(1) {
                return upper_edge(i);
            }
        }
        upper_edge(BUCKETS - 1)
    }
}

/// The bucket of a latency: eight equal parts of each factor of two.
fn bucket(elapsed: Duration) -> usize {
    let us = elapsed.as_micros();
    match us.checked_ilog2() {
        None => 0,
        Some(octave) if octave < FIRST_OCTAVE => 0,
        Some(octave) if octave > LAST_OCTAVE => BUCKETS - 1,
        Some(octave) => {
            let part = (us >> (octave - PER_OCTAVE.ilog2())) - PER_OCTAVE;
            1 + ((octave - FIRST_OCTAVE) as u64 * PER_OCTAVE + part) as usize
        }
    }
}

/// Where a bucket ends; of the last one, which has no end, an eighth above its start.
fn upper_edge(bucket: usize) -> Duration {
    let part = bucket as u64 % PER_OCTAVE + PER_OCTAVE;
    let octave = FIRST_OCTAVE + bucket as u32 / PER_OCTAVE as u32;
    Duration::from_micros(part << (octave - PER_OCTAVE.ilog2()))
}
