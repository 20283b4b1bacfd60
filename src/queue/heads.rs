//! The least of a fixed number of keys that change: a tournament tree.
//!
//! For sources that each know what they do next. A change replays the matches between its source
//! and the root, and nothing stale is ever left behind.

use super::EventKey;

/// When each source acts next, and which of them acts first.
#[derive(Clone, Debug)]
pub struct Heads {
    /// Key and source of who wins each node. Node `n` is fought for by the winners of nodes `2n`
    /// and `2n + 1`; the root is node 1, and the second half are the sources themselves, with
    /// [`EventKey::NEVER`] where one has nothing to do.
    winners: Vec<(EventKey, u32)>,
}

impl Heads {
    /// This many sources, at least one, with nothing to do.
    pub fn new(sources: usize) -> Heads {
        // A lone source would be the root itself.
        let leaves = sources.next_power_of_two().max(2);
        let mut heads = Heads { winners: vec![(EventKey::NEVER, 0); 2 * leaves] };
        heads.clear();
        heads
    }

    /// The source that acts first, and when.
    #[inline]
    pub fn first(&self) -> (EventKey, usize) {
        let (key, source) = self.winners[1];
        (key, source as usize)
    }

    /// From now on `source` acts next at `key`.
    #[inline]
    pub fn set(&mut self, source: usize, key: EventKey) {
        let winners = self.winners.as_mut_slice();
        let mut node = winners.len() / 2 + source;
        let mut winner = (key, source as u32);
        while node > 1 {
            winners[node] = winner;
            let other = winners[node ^ 1];
            winner = if other.0 < winner.0 { other } else { winner };
            node /= 2;
            if winners[node] == winner {
                // Further up nothing changes.
                return;
            }
        }
        winners[1] = winner;
    }

    /// Nobody has anything to do.
    pub fn clear(&mut self) {
        let leaves = self.winners.len() / 2;
        for source in 0..leaves {
            self.winners[leaves + source] = (EventKey::NEVER, source as u32);
        }
        for node in (1..leaves).rev() {
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
