//! The least of a fixed number of keys that change: a tournament tree.
//!
//! For sources that each know what they do next. A change replays the matches between its source
//! and the root, and nothing stale is ever left behind.

use std::hint::select_unpredictable;

use super::EventKey;

/// When each source acts next, and which of them acts first.
#[derive(Clone, Debug)]
pub struct Heads {
    /// The upper half of the key at which each source acts next, which nearly always decides; that
    /// of [`EventKey::NEVER`] where it has nothing to do.
    upper: Vec<u64>,
    /// The lower half.
    lower: Vec<u64>,
    /// The two that meet in each match. In match `n` meet the winners of matches `2n` and `2n + 1`;
    /// match 1 is the final, and in the second half the sources themselves meet. There is no match 0.
    matches: Vec<[u32; 2]>,
    first: u32,
}

impl Heads {
    /// This many sources with nothing to do.
    pub fn new(sources: usize) -> Heads {
        // A lone source would meet nobody.
        let leaves = sources.next_power_of_two().max(2);
        let mut heads = Heads {
            upper: vec![u64::MAX; leaves],
            lower: vec![u64::MAX; leaves],
            matches: vec![[0; 2]; leaves],
            first: 0,
        };
        heads.clear();
        heads
    }

    /// The number of sources there is room for.
    pub fn sources(&self) -> usize {
        self.upper.len()
    }

    /// The source that acts first, and when; any of them where none has anything to do.
    #[inline]
    pub fn first(&self) -> (EventKey, usize) {
        let first = self.first as usize;
        (self.key(first), first)
    }

    /// From now on `source` acts next at `key`.
    #[inline]
    pub fn set(&mut self, source: usize, key: EventKey) {
        (self.upper[source], self.lower[source]) = key.halves();
        let mut winner = source as u32;
        let mut upper = self.upper[source];
        let mut place = self.matches.len() + source;
        while place > 1 {
            let two = &mut self.matches[place / 2];
            two[place % 2] = winner;
            let other = two[1 - place % 2];
            let others = self.upper[other as usize];
            if others == upper {
                return self.set_to_the_last_bit(source);
            }
            let wins = others < upper;
            winner = select_unpredictable(wins, other, winner);
            upper = select_unpredictable(wins, others, upper);
            place /= 2;
        }
        self.first = winner;
    }

    /// Plays the matches of a source where the upper halves of two keys are equal.
    #[cold]
    #[inline(never)]
    fn set_to_the_last_bit(&mut self, source: usize) {
        let mut winner = source as u32;
        let mut place = self.matches.len() + source;
        while place > 1 {
            let two = &mut self.matches[place / 2];
            two[place % 2] = winner;
            let other = two[1 - place % 2];
            if self.key(other as usize) < self.key(winner as usize) {
                winner = other;
            }
            place /= 2;
        }
        self.first = winner;
    }

    fn key(&self, source: usize) -> EventKey {
        EventKey::of_halves(self.upper[source], self.lower[source])
    }

    /// Nobody has anything to do.
    pub fn clear(&mut self) {
        // Who wins in a side of a match is a source of that side.
        (0..self.sources()).for_each(|source| self.set(source, EventKey::NEVER));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use windtunnel_policy::Instant;

    use super::*;
    use crate::queue::Rank;

    proptest! {
        /// Against a look at all of them, for every number of sources up to nine.
        #[test]
        fn the_first_is_the_least_of_all(
            sources in 1_usize..10,
            steps in prop::collection::vec((0_usize..9, prop::option::of(0_u64..20)), 1..200),
        ) {
            let mut heads = Heads::new(sources);
            let mut keys = vec![EventKey::NEVER; sources];
            for (source, at) in steps {
                let source = source % sources;
                keys[source] = at.map_or(EventKey::NEVER, |at| {
                    EventKey::new(Instant::from_micros(at), Rank::Completion, source as u64, 0)
                });
                heads.set(source, keys[source]);
                let (key, first) = heads.first();
                prop_assert_eq!(Some(&key), keys.iter().min());
                prop_assert!(key == EventKey::NEVER || keys[first] == key);
            }
            heads.clear();
            prop_assert_eq!(heads.first().0, EventKey::NEVER);
        }
    }
}
