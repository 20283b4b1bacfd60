//! First tries at a target, one by one: when each was sent, and what became of it.

/// Bits of a try that hold its outcome; kinds of failure are fewer.
const BITS: u32 = 5;

/// First tries of requests, ascending by the time they were sent once [`Tries::sort`] was called.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Tries(Vec<u64>);

impl Tries {
    /// Adds a try sent at `sent_us`; its outcome is 0 where it was good, else one more than the position
    /// of its kind of failure.
    pub(super) fn add(&mut self, sent_us: u64, outcome: usize) {
        assert!(outcome < 1 << BITS, "kinds of failure are few");
        self.0.push(sent_us << BITS | outcome as u64);
    }

    pub(super) fn sort(&mut self) {
        self.0.sort_unstable();
        self.0.shrink_to_fit();
    }

    pub(super) fn clear(&mut self) {
        self.0 = Vec::new();
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// When the try at this position was sent, µs.
    pub(super) fn at(&self, position: usize) -> u64 {
        self.0[position] >> BITS
    }

    /// What became of it.
    pub(super) fn outcome(&self, position: usize) -> usize {
        (self.0[position] & ((1 << BITS) - 1)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_are_kept_in_the_order_they_were_sent() {
        let mut tries = Tries::default();
        [(70, 24), (5, 0), (4_102_444_800_000_000, 3)].map(|(at, of)| tries.add(at, of));
        tries.sort();
        let all: Vec<(u64, usize)> =
            (0..tries.len()).map(|i| (tries.at(i), tries.outcome(i))).collect();
        assert_eq!(all, [(5, 0), (70, 24), (4_102_444_800_000_000, 3)]);
    }
}
