//! What this gateway itself sees of its targets' load: attempts in flight, recent latency.

use alloc::vec;
use alloc::vec::Vec;

use crate::target::TargetId;
use crate::{Duration, Instant};

/// Weight of the newest latency in the mean: one part in this many.
const SMOOTHING: u64 = 8;

/// Attempts in flight and mean recent latency, by target.
#[derive(Clone, Hash, Debug)]
pub(crate) struct Load {
    in_flight: Vec<u32>,
    /// How long a latency counts; `None` where no rule asks for latencies, and none are kept.
    forget_after: Option<Duration>,
    /// Mean latency and when it was last heard of.
    latencies: Vec<Option<(Duration, Instant)>>,
}

impl Load {
    /// Nothing in flight, no latency seen. Latencies are forgotten this long after the latest, and not
    /// even kept where that is `None`.
    pub(crate) fn new(targets: usize, forget_after: Option<Duration>) -> Load {
        Load { in_flight: vec![0; targets], forget_after, latencies: vec![None; targets] }
    }

    /// Attempts in flight to a target.
    pub(crate) fn in_flight(&self, target: TargetId) -> u32 {
        self.in_flight[usize::from(target.0)]
    }

    /// The same of all targets together.
    pub(crate) fn all_in_flight(&self) -> usize {
        self.in_flight.iter().map(|in_flight| *in_flight as usize).sum()
    }

    /// The first of these targets with the fewest in flight.
    #[inline(always)]
    pub(crate) fn least_in_flight(&self, targets: &[TargetId]) -> Option<TargetId> {
        let (mut least, rest) = targets.split_first()?;
        let mut fewest = self.in_flight(*least);
        for target in rest {
            let in_flight = self.in_flight(*target);
            if in_flight < fewest {
                (least, fewest) = (target, in_flight);
            }
        }
        Some(*least)
    }

    /// Mean recent latency, an exponential average; `None` where none was seen lately, so that a
    /// target that was slow once is tried again.
    pub(crate) fn latency(&self, target: TargetId, now: Instant) -> Option<Duration> {
        let (mean, heard) = self.latencies[usize::from(target.0)]?;
        (now - heard < self.forget_after?).then_some(mean)
    }

    /// An attempt was sent.
    pub(crate) fn on_sent(&mut self, target: TargetId) {
        self.in_flight[usize::from(target.0)] += 1;
    }

    /// An attempt is over.
    pub(crate) fn on_end(&mut self, target: TargetId) {
        let in_flight = &mut self.in_flight[usize::from(target.0)];
        *in_flight = in_flight.checked_sub(1).expect("every attempt that ended was sent");
    }

    /// A latency was learnt: of a first output, or at least this much where none came in time.
    #[inline]
    pub(crate) fn on_latency(&mut self, target: TargetId, latency: Duration, now: Instant) {
        if self.forget_after.is_some() {
            self.average(target, latency, now);
        }
    }

    fn average(&mut self, target: TargetId, latency: Duration, now: Instant) {
        let mean = match self.latency(target, now) {
            Some(mean) => mean.mul_div(SMOOTHING - 1, SMOOTHING) + latency.mul_div(1, SMOOTHING),
            None => latency,
        };
        self.latencies[usize::from(target.0)] = Some((mean, now));
    }

    /// As new.
    pub(crate) fn reset(&mut self) {
        self.in_flight.fill(0);
        self.latencies.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TargetId = TargetId(0);
    const B: TargetId = TargetId(1);

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    #[test]
    fn counts_what_is_in_flight() {
        let mut load = Load::new(2, None);
        load.on_sent(A);
        load.on_sent(A);
        load.on_end(A);
        assert_eq!((load.in_flight(A), load.in_flight(B), load.all_in_flight()), (1, 0, 1));
        load.reset();
        assert_eq!(load.in_flight(A), 0);
    }

    #[test]
    fn latency_is_an_exponential_average_that_is_forgotten() {
        let mut load = Load::new(2, Some(Duration::from_secs(60)));
        assert_eq!(load.latency(A, at(0)), None);
        load.on_latency(A, Duration::from_millis(800), at(0));
        load.on_latency(A, Duration::from_millis(1_600), at(1));
        // 800 · 7/8 + 1,600 / 8.
        assert_eq!(load.latency(A, at(1)), Some(Duration::from_millis(900)));
        assert_eq!(load.latency(A, at(61)), None);
        load.on_latency(A, Duration::from_millis(5), at(61));
        assert_eq!(load.latency(A, at(61)), Some(Duration::from_millis(5)));
        assert_eq!(load.latency(B, at(61)), None);
    }
}
