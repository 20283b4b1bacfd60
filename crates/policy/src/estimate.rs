//! The latency to expect of an attempt: a trailing quantile per route class and target.

use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

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
#[derive(Clone, Hash, Debug)]
pub(crate) struct Estimates {
    quantile: Share,
    min_samples: u32,
    /// Outcomes are kept in two halves of the time they are remembered.
    half_us: u64,
    targets: usize,
    cells: Vec<Cell>,
}

/// One route class at one target. What each outcome looks at beside its bucket is one cache line.
#[derive(Clone, Debug)]
#[repr(C)]
struct Cell {
    /// When the newer half ends, in µs.
    until: u64,
    /// Number of the newer half since the origin; its histogram is at this number modulo 2.
    newest: u64,
    counts: [u32; 2],
    /// No outcome lies in a bucket above this one.
    top: usize,
    /// The quantile at `cached_count` outcomes; valid while `fresh`.
    cached: Duration,
    /// Outcomes since the quantile was computed.
    since_cached: u32,
    fresh: bool,
    halves: [[u32; BUCKETS]; 2],
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
    #[inline]
    pub(crate) fn record(
        &mut self,
        class: ClassId,
        target: TargetId,
        elapsed: Duration,
        now: Instant,
    ) {
        let cell = self.cell(class, target, now);
        let half = (cell.newest % 2) as usize;
        let bucket = bucket(elapsed);
        cell.halves[half][bucket] += 1;
        cell.top = cell.top.max(bucket);
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
    #[inline]
    fn cell(&mut self, class: ClassId, target: TargetId, now: Instant) -> &mut Cell {
        let cell = &mut self.cells[usize::from(class.0) * self.targets + usize::from(target.0)];
        // Divides once a half, not at every look.
        if now.as_micros() >= cell.until {
            cell.go_on(now.as_micros() / self.half_us, self.half_us);
        }
        cell
    }
}

impl Hash for Cell {
    /// A half without outcomes holds nothing but zeros.
    fn hash<H: Hasher>(&self, state: &mut H) {
        for (half, count) in self.halves.iter().zip(self.counts) {
            count.hash(state);
            if count > 0 {
                half.hash(state);
            }
        }
        (self.newest, self.until).hash(state);
        (self.cached, self.since_cached, self.fresh).hash(state);
    }
}

impl Cell {
    const EMPTY: Cell = Cell {
        halves: [[0; BUCKETS]; 2],
        counts: [0; 2],
        top: 0,
        newest: 0,
        until: 0,
        cached: Duration::ZERO,
        since_cached: 0,
        fresh: false,
    };

    /// Goes on to the half of this number.
    #[cold]
    fn go_on(&mut self, half: u64, half_us: u64) {
        if half > self.newest {
            self.rotate(half);
        }
        self.until = (half + 1).saturating_mul(half_us);
    }

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
        // The smallest value that at least this many outcomes do not exceed: all but the rest lie
        // at or below it. High quantiles are asked for, so that the rest is counted.
        let wanted = u64::from(all) - quantile.complement().of(u64::from(all));
        let mut rest = u64::from(all) - wanted.max(1);
        let mut place = self.top;
        loop {
            let here = u64::from(self.halves[0][place]) + u64::from(self.halves[1][place]);
            if here > rest || place == 0 {
                return upper_edge(place);
            }
            rest -= here;
            place -= 1;
        }
    }
}

/// The bucket of a latency: eight equal parts of each factor of two.
#[inline]
fn bucket(elapsed: Duration) -> usize {
    let us = elapsed.as_micros();
    if us >> FIRST_OCTAVE == 0 {
        return 0;
    }
    let octave = us.ilog2();
    let part = (us >> (octave - PER_OCTAVE.ilog2())) - PER_OCTAVE;
    let place = 1 + u64::from(octave - FIRST_OCTAVE) * PER_OCTAVE + part;
    (place as usize).min(BUCKETS - 1)
}

/// Where a bucket ends; of the last one, which has no end, an eighth above its start.
fn upper_edge(bucket: usize) -> Duration {
    let part = bucket as u64 % PER_OCTAVE + PER_OCTAVE;
    let octave = FIRST_OCTAVE + bucket as u32 / PER_OCTAVE as u32;
    Duration::from_micros(part << (octave - PER_OCTAVE.ilog2()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::{Draw, below, draw};

    const CHAT: ClassId = ClassId(0);
    const A: TargetId = TargetId(0);
    const B: TargetId = TargetId(1);
    const PRIOR: Duration = Duration::from_secs(77);

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    /// The p95 of the last 300 s, from 20 outcomes on.
    fn estimates() -> Estimates {
        Estimates::new(&Estimate::default(), 2, 2)
    }

    fn expected(e: &mut Estimates, now: u64) -> Duration {
        e.expected(CHAT, A, PRIOR, at(now))
    }

    #[test]
    fn every_latency_lies_below_the_edge_of_its_bucket_by_an_eighth_at_most() {
        let mut edges = (0..BUCKETS).map(upper_edge);
        assert!(edges.clone().zip(edges.by_ref().skip(1)).all(|(a, b)| a < b));
        for us in (0..200_000).chain((18..32).flat_map(|o| (1 << o) - 2..(1 << o) + 2)) {
            let edge = upper_edge(bucket(Duration::from_micros(us))).as_micros();
            assert!(us < edge, "{us} {edge}");
            assert!(edge <= 1_024 || edge <= us + us / 8 + 1, "{us} {edge}");
        }
        assert_eq!(bucket(Duration::MAX), BUCKETS - 1);
    }

    #[test]
    fn the_prior_holds_until_enough_was_seen() {
        let mut e = estimates();
        (0..19).for_each(|_| e.record(CHAT, A, ms(100), at(1)));
        assert_eq!(expected(&mut e, 1), PRIOR);
        e.record(CHAT, A, ms(100), at(1));
        // 100 ms lies in the bucket from 98.304 to 106.496 ms.
        assert_eq!(expected(&mut e, 1), Duration::from_micros(106_496));
        assert_eq!(e.expected(CHAT, B, PRIOR, at(1)), PRIOR);
        assert_eq!(e.expected(ClassId(1), A, PRIOR, at(1)), PRIOR);
    }

    #[test]
    fn the_quantile_is_what_enough_outcomes_do_not_exceed() {
        for (slow, p95) in [(1, 11_264), (2, 1_048_576)] {
            let mut e = estimates();
            (slow..20).for_each(|_| e.record(CHAT, A, ms(11), at(1)));
            (0..slow).for_each(|_| e.record(CHAT, A, ms(1_000), at(1)));
            assert_eq!(expected(&mut e, 1).as_micros(), p95, "{slow} of 20");
        }
    }

    #[test]
    fn news_is_heard() {
        let mut e = estimates();
        (0..100).for_each(|_| e.record(CHAT, A, ms(11), at(1)));
        assert_eq!(expected(&mut e, 1).as_micros(), 11_264);
        (0..6).for_each(|_| e.record(CHAT, A, ms(1_000), at(1)));
        assert_eq!(expected(&mut e, 1).as_micros(), 1_048_576);
    }

    #[test]
    fn a_bad_spell_is_forgotten() {
        let mut e = estimates();
        (0..100).for_each(|_| e.record(CHAT, A, Duration::from_secs(60), at(100)));
        // Halves of 150 s: what came in the first leaves with the start of the third.
        assert_eq!(expected(&mut e, 299).as_micros(), 15 << 22);
        assert_eq!(expected(&mut e, 300), PRIOR);
        (0..30).for_each(|_| e.record(CHAT, A, ms(11), at(310)));
        assert_eq!(expected(&mut e, 310).as_micros(), 11_264);
        e.reset();
        assert_eq!(expected(&mut e, 310), PRIOR);
    }

    #[test]
    fn both_halves_count() {
        let both = || {
            let mut e = estimates();
            (0..50).for_each(|_| e.record(CHAT, A, ms(11), at(100)));
            (0..50).for_each(|_| e.record(CHAT, A, ms(1_000), at(200)));
            e
        };
        assert_eq!(expected(&mut both(), 200).as_micros(), 1_048_576);
        // The slow ones alone are left, then none.
        let mut e = both();
        assert_eq!(expected(&mut e, 400).as_micros(), 1_048_576);
        assert_eq!(expected(&mut e, 450), PRIOR);
        // A silence of more than two halves leaves none at once.
        assert_eq!(expected(&mut both(), 600), PRIOR);
    }

    /// Against the exact quantile of all that was recorded, again and again.
    #[test]
    fn tracks_the_exact_quantile() {
        let mut e = estimates();
        let mut all = alloc::vec::Vec::new();
        for n in 0..2_000 {
            let us = 1_000 + below(draw(n, Draw::Choice, 0), 4_000_000);
            e.record(CHAT, A, Duration::from_micros(us), at(1));
            all.push(us);
            let now = expected(&mut e, 1).as_micros() as f64;
            if n % 20 != 0 || n < 200 {
                continue;
            }
            // The latest 32nd may be missing from it: the p95 of the rest has a rank of 0.95 · 31/32
            // to that and 1/32 among all, 0.920 to 0.952.
            let mut sorted = all.clone();
            sorted.sort_unstable();
            let rank = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize] as f64;
            let (low, high) = (rank(0.915), rank(0.957) * 1.125 + 1.0);
            assert!((low..=high).contains(&now), "{n}: {low} {now} {high}");
        }
    }
}
