//! First tries at a target, one by one: when each was sent, and what became of it.

use super::sends::Sent;

/// Bits of a try that hold what became of it.
const OUTCOME_BITS: u32 = 8;

/// A first try: when it was sent, and 0 where it was good, else one more than the position of its kind of
/// failure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Try(u64);

/// First tries of requests, ascending by the time they were sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Tries(Vec<Try>);

impl Try {
    /// The first try that an attempt is; none where it is a later one.
    pub(super) fn of(send: &Sent) -> Option<Try> {
        Some(Try(send.at_us << OUTCOME_BITS | u64::from(send.outcome?)))
    }
}

impl Tries {
    /// Those among attempts in the order they were sent, but for these, which ascend.
    pub(super) fn but_for(explained: &[Try], sends: impl Iterator<Item = Sent>) -> Tries {
        let tries = sends.filter_map(|send| Try::of(&send));
        Tries(tries.filter(|of| explained.binary_search(of).is_err()).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// When the try at this position was sent, µs.
    pub(super) fn at(&self, position: usize) -> u64 {
        self.0[position].0 >> OUTCOME_BITS
    }

    /// 0 where it was good, else one more than the position of its kind of failure.
    pub(super) fn outcome(&self, position: usize) -> usize {
        (self.0[position].0 & ((1 << OUTCOME_BITS) - 1)) as usize
    }

    /// Those of this time, each with when it was sent and whether it failed.
    pub(super) fn between(&self, from_us: u64, to_us: u64) -> impl Iterator<Item = (u64, bool)> {
        let before = |at: u64| self.0.partition_point(|of| of.0 >> OUTCOME_BITS < at);
        let within = before(from_us)..before(to_us);
        within.map(|position| (self.at(position), self.outcome(position) > 0))
    }

    /// Tries at these moments, with what became of them.
    #[cfg(test)]
    pub(super) fn at_moments(tries: impl Iterator<Item = (u64, bool)>) -> Tries {
        Tries(tries.map(|(at, failed)| Try(at << OUTCOME_BITS | u64::from(failed))).collect())
    }
}
