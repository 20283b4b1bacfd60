//! The least of a fixed number of keys that change: a tournament tree.
//!
//! For sources that each know what they do next. A change replays the matches between its source
//! and the root, and nothing stale is ever left behind.

/// When each source acts next, and which of them acts first.
#[derive(Clone, Debug)]
pub struct Heads<K> {
    /// When each source acts next; `never` where it has nothing to do.
    keys: Vec<K>,
    /// The two that meet in each match. In match `n` meet the winners of matches `2n` and `2n + 1`;
    /// match 1 is the final, and in the second half the sources themselves meet. There is no match 0.
    matches: Vec<[u32; 2]>,
    first: (K, u32),
    never: K,
}

impl<K: Copy + Ord> Heads<K> {
    /// This many sources with nothing to do; `never` comes after all they do.
    pub fn new(sources: usize, never: K) -> Heads<K> {
        // A lone source would meet nobody.
        let leaves = sources.next_power_of_two().max(2);
        let mut heads = Heads {
            keys: vec![never; leaves],
            matches: vec![[0; 2]; leaves],
            first: (never, 0),
            never,
        };
        heads.clear();
        heads
    }

    /// The number of sources there is room for.
    pub fn sources(&self) -> usize {
        self.keys.len()
    }

    /// The source that acts first, and when; any of them where none has anything to do.
    #[inline]
    pub fn first(&self) -> (K, usize) {
        (self.first.0, self.first.1 as usize)
    }

    /// From now on `source` acts next at `key`.
    #[inline]
    pub fn set(&mut self, source: usize, key: K) {
        self.keys[source] = key;
        let mut place = self.matches.len() + source;
        let mut winner = (key, source as u32);
        while place > 1 {
            let two = &mut self.matches[place / 2];
            two[place % 2] = winner.1;
            let other = two[1 - place % 2];
            let others = self.keys[other as usize];
            winner = if others < winner.0 { (others, other) } else { winner };
            place /= 2;
        }
        self.first = winner;
    }

    /// Nobody has anything to do.
    pub fn clear(&mut self) {
        self.keys.fill(self.never);
        // Who wins in a side of a match is a source of that side.
        (0..self.keys.len()).for_each(|source| self.set(source, self.never));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use windtunnel_policy::Instant;

    use super::*;
    use crate::queue::{EventKey, Rank};

    proptest! {
        /// Against a look at all of them, for every number of sources up to nine.
        #[test]
        fn the_first_is_the_least_of_all(
            sources in 1_usize..10,
            steps in prop::collection::vec((0_usize..9, prop::option::of(0_u64..20)), 1..200),
        ) {
            let mut heads = Heads::new(sources, EventKey::NEVER);
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
