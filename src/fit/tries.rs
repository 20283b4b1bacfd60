//! First tries at a target, one by one: when each was sent, and what became of it.

use std::collections::BTreeSet;

use super::sends::Sent;

/// First tries of requests, ascending by the time they were sent.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Tries(Vec<(u64, u8)>);

impl Tries {
    /// Those among attempts in the order they were sent, but for these.
    pub(super) fn but_for(
        explained: &BTreeSet<(u64, u8)>,
        sends: impl Iterator<Item = Sent>,
    ) -> Tries {
        let first = |send: Sent| Some((send.at_us, send.outcome?));
        Tries(sends.filter_map(first).filter(|of| !explained.contains(of)).collect())
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// When the try at this position was sent, µs.
    pub(super) fn at(&self, position: usize) -> u64 {
        self.0[position].0
    }

    /// 0 where it was good, else one more than the position of its kind of failure.
    pub(super) fn outcome(&self, position: usize) -> usize {
        usize::from(self.0[position].1)
    }

    /// Tries at these moments, with what became of them.
    #[cfg(test)]
    pub(super) fn at_moments(tries: impl Iterator<Item = (u64, bool)>) -> Tries {
        Tries(tries.map(|(at, failed)| (at, u8::from(failed))).collect())
    }
}
