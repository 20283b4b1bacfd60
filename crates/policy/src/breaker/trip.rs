//! When a breaker opens: the windows that its outcomes enter.

use alloc::boxed::Box;
use alloc::vec;

use crate::config::Trip;
use crate::rolling::{Counts, Rolling};
use crate::{Duration, Instant, Share};

/// One trip rule and what it has seen.
#[derive(Clone, Debug)]
pub(super) enum Detector {
    Consecutive { limit: u32, failures: u32 },
    Count { rate: Rate, ring: Ring },
    Time { rate: Rate, window: Rolling },
    Tumbling { rate: Rate, length: Duration, started: Instant, counts: Counts },
    Slow { rate: Rate, slower_than: Duration, window: Rolling },
}

/// An outcome that enters the windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// First output this long after sending.
    Success(Duration),
    Failure,
}

/// A share of enough outcomes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    at_least: Share,
    min_calls: u32,
}

/// The last outcomes, one bit each.
#[derive(Clone, Debug)]
pub(super) struct Ring {
    bits: Box<[u64]>,
    size: u32,
    next: u32,
    filled: u32,
    failures: u32,
}

impl Detector {
    pub(super) fn new(trip: &Trip) -> Detector {
        match *trip {
            Trip::Consecutive(limit) => Detector::Consecutive { limit, failures: 0 },
            Trip::RateOverCount { failures, last, min_calls } => Detector::Count {
                rate: Rate { at_least: failures, min_calls },
                ring: Ring::new(last),
            },
            Trip::RateOverTime { failures, window, min_calls } => Detector::Time {
                rate: Rate { at_least: failures, min_calls },
                window: Rolling::new(window),
            },
            Trip::RateOverTumbling { failures, window, min_calls } => Detector::Tumbling {
                rate: Rate { at_least: failures, min_calls },
                length: window,
                started: Instant::ZERO,
                counts: Counts::default(),
            },
            Trip::SlowCalls { share, slower_than, window, min_calls } => Detector::Slow {
                rate: Rate { at_least: share, min_calls },
                slower_than,
                window: Rolling::new(window),
            },
        }
    }

    /// Takes an outcome in; true where the rule says to open.
    pub(super) fn on_outcome(&mut self, outcome: Outcome, now: Instant) -> bool {
        let failed = u64::from(outcome == Outcome::Failure);
        match self {
            Detector::Consecutive { limit, failures } => {
                *failures = if failed == 1 { failures.saturating_add(1) } else { 0 };
                *failures >= *limit
            }
            Detector::Count { rate, ring } => {
                ring.push(failed == 1);
                rate.reached(Counts { marked: ring.failures.into(), all: ring.filled.into() })
            }
            Detector::Time { rate, window } => {
                window.add(failed, 1, now);
                rate.reached(window.counts(now))
            }
            Detector::Tumbling { rate, length, started, counts } => {
                if counts.all == 0 || now - *started >= *length {
                    (*started, *counts) = (now, Counts::default());
                }
                counts.marked += failed;
                counts.all += 1;
                rate.reached(*counts)
            }
            Detector::Slow { rate, slower_than, window } => {
                // A call that failed without output is in no sense a slow one.
                let Outcome::Success(elapsed) = outcome else { return false };
                window.add(u64::from(elapsed > *slower_than), 1, now);
                rate.reached(window.counts(now))
            }
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        match self {
            Detector::Consecutive { failures, .. } => *failures = 0,
            Detector::Count { ring, .. } => ring.clear(),
            Detector::Time { window, .. } | Detector::Slow { window, .. } => window.clear(),
            Detector::Tumbling { counts, .. } => *counts = Counts::default(),
        }
    }
}

impl Rate {
    fn reached(self, counts: Counts) -> bool {
        let marked = u128::from(counts.marked) * u128::from(Share::ONE.as_bits());
        let needed = u128::from(counts.all) * u128::from(self.at_least.as_bits());
        counts.marked > 0 && counts.all >= u64::from(self.min_calls) && marked >= needed
    }
}

impl Ring {
    fn new(size: u32) -> Ring {
        let bits = vec![0; size.div_ceil(64) as usize].into_boxed_slice();
        Ring { bits, size, next: 0, filled: 0, failures: 0 }
    }

    fn push(&mut self, failed: bool) {
        let word = &mut self.bits[(self.next / 64) as usize];
        let bit = 1 << (self.next % 64);
        if self.filled == self.size {
            self.failures -= u32::from(*word & bit != 0);
        } else {
            self.filled += 1;
        }
        *word = if failed { *word | bit } else { *word & !bit };
        self.failures += u32::from(failed);
        self.next = (self.next + 1) % self.size;
    }

    fn clear(&mut self) {
        (self.next, self.filled, self.failures) = (0, 0, 0);
    }
}
