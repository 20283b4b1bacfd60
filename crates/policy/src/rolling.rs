//! Two counts over a rolling time window, in ten buckets.

use crate::{Duration, Instant};

const BUCKETS: usize = 10;

/// Counts of events, and of marked events among or beside them, over the last nine to ten
/// tenths of a window.
#[derive(Clone, Hash, Debug)]
pub(crate) struct Rolling {
    width_us: u64,
    /// Number of the newest bucket since the origin.
    newest: u64,
    /// Its place.
    place: usize,
    /// When that bucket ends, in µs.
    until: u64,
    buckets: [Counts; BUCKETS],
    sum: Counts,
}

/// Two counts that a window keeps side by side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Counts {
    /// Failures, slow calls, recoveries.
    pub(crate) marked: u64,
    /// Outcomes, first attempts.
    pub(crate) all: u64,
}

impl Counts {
    #[inline(always)]
    fn add(&mut self, marked: u64, all: u64) {
        self.marked += marked;
        self.all += all;
    }

    /// Both together.
    pub(crate) fn and(self, other: Counts) -> Counts {
        Counts { marked: self.marked + other.marked, all: self.all + other.all }
    }
}

impl Rolling {
    /// An empty window of this length.
    pub(crate) fn new(window: Duration) -> Rolling {
        Rolling {
            width_us: (window.as_micros() / BUCKETS as u64).max(1),
            newest: 0,
            place: 0,
            until: 0,
            buckets: [Counts::default(); BUCKETS],
            sum: Counts::default(),
        }
    }

    /// Adds to both counts at `now`.
    #[inline(always)]
    pub(crate) fn add(&mut self, marked: u64, all: u64, now: Instant) {
        self.advance(now);
        self.buckets[self.place].add(marked, all);
        self.sum.add(marked, all);
    }

    /// What is in the window at `now`.
    pub(crate) fn counts(&mut self, now: Instant) -> Counts {
        self.advance(now);
        self.sum
    }

    /// What is in the window at `now`, without moving it there.
    pub(crate) fn counts_at(&self, now: Instant) -> Counts {
        let newest = now.as_micros() / self.width_us;
        let gone = newest.saturating_sub(self.newest).min(BUCKETS as u64);
        (1..=gone).fold(self.sum, |sum, step| {
            let bucket = &self.buckets[((self.newest + step) % BUCKETS as u64) as usize];
            Counts { marked: sum.marked - bucket.marked, all: sum.all - bucket.all }
        })
    }

    /// Empties the window and forgets the time.
    pub(crate) fn clear(&mut self) {
        self.buckets = [Counts::default(); BUCKETS];
        self.sum = Counts::default();
        (self.newest, self.place, self.until) = (0, 0, 0);
    }

    /// Drops the buckets that have left the window.
    #[inline]
    fn advance(&mut self, now: Instant) {
        // Divides once a bucket, not at every look.
        if now.as_micros() >= self.until {
            self.go_on(now);
        }
    }

    #[cold]
    fn go_on(&mut self, now: Instant) {
        let newest = now.as_micros() / self.width_us;
        let steps = newest.saturating_sub(self.newest).min(BUCKETS as u64);
        for step in 1..=steps {
            let gone = &mut self.buckets[((self.newest + step) % BUCKETS as u64) as usize];
            self.sum.marked -= gone.marked;
            self.sum.all -= gone.all;
            *gone = Counts::default();
        }
        self.newest = newest.max(self.newest);
        self.place = (self.newest % BUCKETS as u64) as usize;
        self.until = (self.newest + 1).saturating_mul(self.width_us);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_micros(ms * 1_000)
    }

    #[test]
    fn buckets_leave_one_by_one() {
        let mut r = Rolling::new(Duration::from_secs(10));
        r.add(1, 2, at(500));
        r.add(0, 3, at(1_500));
        assert_eq!(r.counts_at(at(10_000)), Counts { marked: 0, all: 3 });
        assert_eq!(r.counts_at(at(100_000)), Counts::default());
        assert_eq!(r.counts(at(9_999)), Counts { marked: 1, all: 5 });
        assert_eq!(r.counts(at(10_000)), Counts { marked: 0, all: 3 });
        assert_eq!(r.counts(at(11_000)), Counts::default());
    }

    #[test]
    fn a_long_silence_empties_it() {
        let mut r = Rolling::new(Duration::from_secs(1));
        r.add(7, 7, at(100));
        assert_eq!(r.counts(at(1_000_000)), Counts::default());
        r.add(1, 1, at(1_000_050));
        assert_eq!(r.counts(at(1_000_060)), Counts { marked: 1, all: 1 });
    }
}
