//! The least of a fixed number of keys that change: a tournament tree.
//!
//! For sources that each know what they do next. A change replays the matches between its source
//! and the root, and nothing stale is ever left behind.

use super::EventKey;

/// When each source acts next, and which of them acts first.
#[derive(Clone, Debug)]
pub struct Heads {
    /// By source; [`EventKey::NEVER`] for who has nothing to do.
    keys: Vec<EventKey>,
    /// Node `n` is won by the winner of nodes `2n` and `2n + 1`; the root is node 1, and the
    /// second half are the sources themselves.
    winners: Vec<u32>,
}

impl Heads {
    /// This many sources, at least one, with nothing to do.
    pub fn new(sources: usize) -> Heads {
        // A lone source would be the root, whose match nobody plays.
        let leaves = sources.next_power_of_two().max(2);
        let mut winners: Vec<u32> = (0..2 * leaves as u32).collect();
        winners[leaves..].iter_mut().zip(0..).for_each(|(winner, source)| *winner = source);
        let mut heads = Heads { keys: vec![EventKey::NEVER; leaves], winners };
        heads.clear();
        heads
    }

    /// The source that acts first, and when.
    #[inline]
    pub fn first(&self) -> (EventKey, usize) {
        let source = self.winners[1] as usize;
        (self.keys[source], source)
    }

    /// From now on `source` acts next at `key`.
    #[inline]
    pub fn set(&mut self, source: usize, key: EventKey) {
        if self.keys[source] == key {
            return;
        }
        self.keys[source] = key;
        let (mut node, mut winner) = (self.keys.len() + source, source as u32);
        while node > 1 {
            let other = self.winners[node ^ 1];
            if self.keys[other as usize] < self.keys[winner as usize] {
                winner = other;
            }
            node /= 2;
            self.winners[node] = winner;
        }
    }

    /// Nobody has anything to do.
    pub fn clear(&mut self) {
        self.keys.fill(EventKey::NEVER);
        for node in (1..self.keys.len()).rev() {
            self.winners[node] = self.winners[2 * node];
        }
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
