//! When a breaker opens: the windows that its outcomes enter.

use alloc::boxed::Box;
use alloc::vec;

use crate::config::Trip;
use crate::rolling::{Counts, Rolling};
use crate::{Duration, Instant, Share};

/// One trip rule and what it has seen.
#[derive(Clone, Hash, Debug)]
pub(super) enum Detector {
    Consecutive { limit: u32, failures: u32 },
    Count { rate: Rate, ring: Ring },
    Time { rate: Rate, window: Rolling },
    Tumbling { rate: Rate, length: Duration, started: Instant, counts: Counts },
    Burst { limit: u32, length: Duration, started: Instant, failures: u32 },
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
#[derive(Clone, Copy, Hash, Debug)]
pub(super) struct Rate {
    at_least: Share,
    min_calls: u32,
}

/// The last outcomes, one bit each.
#[derive(Clone, Hash, Debug)]
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
            Trip::CountOverTumbling { failures: limit, window: length } => {
                Detector::Burst { limit, length, started: Instant::ZERO, failures: 0 }
            }
            Trip::SlowCalls { share, slower_than, window, min_calls } => Detector::Slow {
                rate: Rate { at_least: share, min_calls },
                slower_than,
                window: Rolling::new(window),
            },
        }
    }

    /// Takes an outcome in; true where the rule says to open.
    #[inline(always)]
    pub(super) fn on_outcome(&mut self, outcome: Outcome, now: Instant) -> bool {
        match self {
            Detector::Count { rate, ring } => {
                ring.push(outcome == Outcome::Failure);
                rate.reached(Counts { marked: ring.failures.into(), all: ring.filled.into() })
            }
            detector => detector.on_outcome_in_time(outcome, now),
        }
    }

    /// The same of rules that count otherwise.
    #[inline(never)]
    fn on_outcome_in_time(&mut self, outcome: Outcome, now: Instant) -> bool {
        let failed = u64::from(outcome == Outcome::Failure);
        match self {
            Detector::Consecutive { limit, failures } => {
                *failures = if failed == 1 { failures.saturating_add(1) } else { 0 };
                *failures >= *limit
            }
            Detector::Count { .. } => unreachable!("counted above"),
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
            Detector::Burst { limit, length, started, failures } => {
                if failed == 0 {
                    return false;
                }
                if *failures == 0 || now - *started >= *length {
                    (*started, *failures) = (now, 0);
                }
                *failures = failures.saturating_add(1);
                *failures >= *limit
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
            Detector::Consecutive { failures, .. } | Detector::Burst { failures, .. } => {
                *failures = 0
            }
            Detector::Count { ring, .. } => ring.clear(),
            Detector::Time { window, .. } | Detector::Slow { window, .. } => window.clear(),
            Detector::Tumbling { counts, .. } => *counts = Counts::default(),
        }
    }
}

impl Rate {
    fn reached(self, counts: Counts) -> bool {
        if counts.marked == 0 || counts.all < u64::from(self.min_calls) {
            return false;
        }
        let marked = u128::from(counts.marked) * u128::from(Share::ONE.as_bits());
        let needed = u128::from(counts.all) * u128::from(self.at_least.as_bits());
        marked >= needed
    }
}

impl Ring {
    fn new(size: u32) -> Ring {
        let bits = vec![0; size.div_ceil(64) as usize].into_boxed_slice();
        Ring { bits, size, next: 0, filled: 0, failures: 0 }
    }

    #[inline(always)]
    fn push(&mut self, failed: bool) {
        let word = &mut self.bits[(self.next / 64) as usize];
        let place = self.next % 64;
        let whole = self.filled == self.size;
        // What was never filled is no failure.
        let leaves = whole && *word >> place & 1 == 1;
        *word = *word & !(1 << place) | u64::from(failed) << place;
        self.failures = self.failures + u32::from(failed) - u32::from(leaves);
        self.filled += u32::from(!whole);
        self.next = if self.next + 1 == self.size { 0 } else { self.next + 1 };
    }

    fn clear(&mut self) {
        (self.next, self.filled, self.failures) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    const HALF: Share = Share::ratio(1, 2);
    const NEVER: [usize; 0] = [];

    fn secs(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    /// The positions of the outcomes that trip; `x` fails, `.` succeeds at once, `s` slowly.
    fn trips(trip: Trip, outcomes: &str, gap: Duration) -> Vec<usize> {
        let mut detector = Detector::new(&trip);
        let mut now = Instant::ZERO;
        let mut tripped = Vec::new();
        for (i, c) in outcomes.chars().enumerate() {
            let outcome = match c {
                'x' => Outcome::Failure,
                's' => Outcome::Success(secs(9)),
                _ => Outcome::Success(Duration::ZERO),
            };
            if detector.on_outcome(outcome, now) {
                tripped.push(i);
            }
            now = now + gap;
        }
        tripped
    }

    #[test]
    fn consecutive_failures() {
        assert_eq!(trips(Trip::Consecutive(3), "xx.xxxx", secs(1)), [5, 6]);
    }

    #[test]
    fn rate_over_the_last_outcomes() {
        let rule = |last, min_calls| Trip::RateOverCount { failures: HALF, last, min_calls };
        // Of four: x... is a quarter, xx.. and x.x. are half.
        assert_eq!(trips(rule(4, 4), "x...x.x", secs(0)), [6]);
        assert_eq!(trips(rule(4, 4), "xxxx....", secs(0)), [3, 4, 5]);
        assert_eq!(trips(rule(4, 2), "xx", secs(0)), [1]);
        // A success that completes the minimum can open it.
        assert_eq!(trips(rule(4, 4), "xxx.", secs(0)), [3]);
    }

    #[test]
    fn the_ring_is_exact_at_any_size() {
        for size in [1, 63, 64, 65, 130] {
            let mut ring = Ring::new(size);
            let failed = |i: u32| i.is_multiple_of(3) || i.is_multiple_of(7);
            for i in 0..1_000 {
                ring.push(failed(i));
                let recount = (0..=i).rev().take(size as usize).filter(|j| failed(*j)).count();
                assert_eq!(ring.failures as usize, recount, "{size} {i}");
            }
        }
    }

    #[test]
    fn rate_over_a_rolling_window() {
        let rule = Trip::RateOverTime { failures: HALF, window: secs(10), min_calls: 3 };
        // Ten seconds hold ten outcomes one second apart: the first x has left when the last comes.
        assert_eq!(trips(rule, "xx", secs(1)), NEVER);
        assert_eq!(trips(rule, "xx.", secs(1)), [2]);
        assert_eq!(trips(rule, "x....xxx", secs(1)), [7]);
        assert_eq!(trips(rule, "xxxxxxxx", secs(5)), NEVER);
    }

    #[test]
    fn rate_over_a_tumbling_window() {
        let rule = Trip::RateOverTumbling { failures: HALF, window: secs(4), min_calls: 4 };
        // Windows of four outcomes: |x..x|xxx.| trip at their fourth.
        assert_eq!(trips(rule, "x..xxxx.", secs(1)), [3, 7]);
        // Four failures across two windows do not.
        assert_eq!(trips(rule, "xxxx", secs(2)), NEVER);
    }

    /// As counted of LiteLLM: more than two failures in ten seconds, and one every six never is.
    #[test]
    fn count_over_a_tumbling_window() {
        let rule = Trip::CountOverTumbling { failures: 3, window: secs(10) };
        assert_eq!(trips(rule, "x.x.x", secs(2)), [4]);
        assert_eq!(trips(rule, "xxxxxxxxx", secs(6)), NEVER);
        // The window starts with a failure, and the fourth begins another.
        assert_eq!(trips(rule, "..x...xxx", secs(3)), [8]);
    }

    #[test]
    fn slow_calls() {
        let rule =
            Trip::SlowCalls { share: HALF, slower_than: secs(5), window: secs(100), min_calls: 4 };
        // Failures are no calls by this rule.
        assert_eq!(trips(rule, "sxxx.s", secs(1)), NEVER);
        assert_eq!(trips(rule, "s.s.", secs(1)), [3]);
        assert_eq!(trips(rule, "s...", secs(1)), NEVER);
    }

    #[test]
    fn no_failure_never_trips() {
        let rule = Trip::RateOverCount { failures: Share::ZERO, last: 4, min_calls: 1 };
        assert_eq!(trips(rule, "....", secs(1)), NEVER);
    }
}
