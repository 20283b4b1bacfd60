//! An event queue for events that move and are replaced again and again: a tournament tree.
//!
//! A heap compares as often as the events happen to lie: where its loops end is anybody's guess, and
//! a processor that guesses wrong waits. Here each event keeps a place, and a change plays the
//! matches between that place and the final again, always as many, with their outcomes as numbers: nothing
//! is guessed.

use std::hint::select_unpredictable;

use super::{EventKey, Heads};

/// Events in the order of their keys, which are numbers of 128 bits.
///
/// Keys in the queue at one time should differ; which of two equal keys comes first rests on what
/// was done before. It allocates only when more are queued than ever before.
#[derive(Clone, Debug)]
pub struct Tournament<T> {
    blocks: Vec<Block>,
    /// The first of each block, where there are several.
    heads: Heads,
    /// What is at each place.
    payloads: Vec<T>,
    /// Places without an event.
    free: Vec<u32>,
    /// The place of the next event.
    first: u32,
    /// The next event is taken, and who comes next is not played out yet.
    taken: bool,
}

/// Places of a block.
const PLACES: usize = 128;
const ROUNDS: u32 = PLACES.ilog2();

/// Some places and the matches among them.
#[derive(Clone, Debug)]
struct Block {
    /// Who wins each match. In match `n` meet the winners of matches `2n` and `2n + 1`; match 1 is the
    /// final, and the second half are the places themselves. There is no match 0.
    winners: [u8; 2 * PLACES],
    /// The upper half of the key at each place, which nearly always decides.
    upper: [u64; PLACES],
    lower: [u64; PLACES],
}

/// In place of the upper half of a key where there is no event: after all that happens, and
/// different everywhere, so that no match is a draw.
const fn vacant(place: usize) -> u64 {
    u64::MAX - PLACES as u64 + place as u64
}

/// Keys are less than those of vacant places.
const LIMIT: u128 = (vacant(0) as u128) << 64;

impl<T> Default for Tournament<T> {
    /// An empty queue.
    fn default() -> Tournament<T> {
        Tournament {
            blocks: Vec::new(),
            heads: Heads::new(0),
            payloads: Vec::new(),
            free: Vec::new(),
            first: 0,
            taken: false,
        }
    }
}

impl<T: Copy> Tournament<T> {
    /// Adds an event; answers whether it is the next one.
    ///
    /// # Panics
    /// The key is among the last 2⁷¹ there are.
    #[inline]
    pub fn push(&mut self, key: u128, payload: T) -> bool {
        let place = if self.taken {
            self.taken = false;
            self.first
        } else {
            match self.free.pop() {
                Some(place) => place,
                None => self.grow(payload),
            }
        };
        self.put(place, key, payload);
        self.first == place
    }

    /// The next event's key.
    #[inline]
    pub fn peek(&mut self) -> Option<u128> {
        if self.taken {
            self.settle();
        }
        let (block, place) = (self.first as usize / PLACES, self.first as usize % PLACES);
        let key = self.blocks.get(block)?.key(place);
        (key < LIMIT).then_some(key)
    }

    /// The next event, which was seen by [`Tournament::peek`].
    #[inline]
    pub fn first(&self) -> T {
        self.payloads[self.first as usize]
    }

    /// Puts an event in the place of the next one, which was seen by [`Tournament::peek`].
    #[inline]
    pub fn replace_first(&mut self, key: u128, payload: T) {
        self.put(self.first, key, payload);
    }

    /// Removes the next event, which was seen by [`Tournament::peek`]. An event that is added then takes its
    /// place at no more cost.
    #[inline]
    pub fn remove_first(&mut self) {
        self.taken = true;
    }

    /// Forgets every event and keeps the memory, for the next run.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.heads.clear();
        self.payloads.clear();
        self.free.clear();
        (self.first, self.taken) = (0, false);
    }

    /// Plays out who follows an event that was taken, where none has taken its place.
    #[inline(never)]
    fn settle(&mut self) {
        self.taken = false;
        self.free.push(self.first);
        let place = self.first as usize % PLACES;
        self.set(self.first, u128::from(vacant(place)) << 64);
    }

    #[inline(always)]
    fn put(&mut self, place: u32, key: u128, payload: T) {
        assert!(key < LIMIT, "a key comes before those of vacant places");
        self.payloads[place as usize] = payload;
        self.set(place, key);
    }

    #[inline(always)]
    fn set(&mut self, place: u32, key: u128) {
        let (index, place) = (place as usize / PLACES, place as usize % PLACES);
        let block = &mut self.blocks[index];
        block.upper[place] = (key >> 64) as u64;
        block.lower[place] = key as u64;
        let winner = block.play(place);
        if self.blocks.len() == 1 {
            self.first = winner as u32;
        } else {
            self.set_head(index);
        }
    }

    #[inline(never)]
    fn set_head(&mut self, index: usize) {
        let block = &self.blocks[index];
        self.heads.set(index, EventKey(block.key(block.first())));
        let (_, index) = self.heads.first();
        self.first = (index * PLACES + self.blocks[index].first()) as u32;
    }

    /// Makes room, and gives a place of it; the events keep theirs.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: T) -> u32 {
        let before = self.payloads.len();
        let end = u32::try_from(before + PLACES).expect("fewer than 2^32 events are queued");
        self.blocks.push(Block::VACANT);
        self.payloads.resize(before + PLACES, filler);
        self.free.extend((before as u32..end).rev());
        if self.blocks.len() > self.heads.sources() {
            self.heads = Heads::new(self.blocks.len());
        }
        (0..self.blocks.len()).for_each(|block| self.set_head(block));
        self.free.pop().expect("there are new places")
    }
}

impl Block {
    const VACANT: Block = {
        let mut block = Block { winners: [0; 2 * PLACES], upper: [0; PLACES], lower: [0; PLACES] };
        let mut n = 2 * PLACES;
        while n > 1 {
            n -= 1;
            // Of vacant places the first wins.
            block.winners[n] = if n < PLACES { block.winners[2 * n] } else { (n - PLACES) as u8 };
            if n >= PLACES {
                block.upper[n - PLACES] = vacant(n - PLACES);
            }
        }
        block
    };

    fn first(&self) -> usize {
        usize::from(self.winners[1]) % PLACES
    }

    #[inline]
    fn key(&self, place: usize) -> u128 {
        u128::from(self.upper[place]) << 64 | u128::from(self.lower[place])
    }

    /// Plays the matches of this place, whose key has changed, up to the final. Answers who wins that.
    #[inline(always)]
    fn play(&mut self, place: usize) -> usize {
        let (mut winner, mut key) = (place, self.upper[place]);
        let mut n = PLACES + place;
        for _ in 0..ROUNDS {
            let other = usize::from(self.winners[n ^ 1]) % PLACES;
            let others = self.upper[other];
            if others == key {
                return self.play_to_the_last_bit(place);
            }
            let wins = others < key;
            winner = select_unpredictable(wins, other, winner);
            key = select_unpredictable(wins, others, key);
            n /= 2;
            self.winners[n] = winner as u8;
        }
        winner
    }

    /// The same where the upper halves of two keys are equal.
    #[cold]
    #[inline(never)]
    fn play_to_the_last_bit(&mut self, place: usize) -> usize {
        let mut winner = place;
        let mut n = PLACES + place;
        for _ in 0..ROUNDS {
            let other = usize::from(self.winners[n ^ 1]) % PLACES;
            if self.key(other) < self.key(winner) {
                winner = other;
            }
            n /= 2;
            self.winners[n] = winner as u8;
        }
        winner
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against an ordered set, with keys that share their upper halves and keys that do not, in
        /// one block and in several.
        #[test]
        fn events_come_in_the_order_of_their_keys(
            at_first in 0_u64..400,
            steps in prop::collection::vec((0_u8..4, 0_u64..8), 1..600),
        ) {
            let mut queue = Tournament::default();
            let mut reference = BTreeSet::new();
            let added = (0..at_first).map(|n| (0, n % 9));
            for (n, (step, upper)) in added.chain(steps).enumerate() {
                let n = n as u64;
                // Of those with one upper half, the later added come first.
                let key = u128::from(upper) << 64 | u128::from(u64::MAX - n);
                match step {
                    0 | 1 => {
                        let first = queue.push(key, n);
                        reference.insert((key, n));
                        prop_assert_eq!(first, reference.first() == Some(&(key, n)));
                    }
                    _ => if queue.peek().is_some() && reference.pop_first().is_some() {
                        if step == 2 {
                            queue.replace_first(key, n);
                            reference.insert((key, n));
                        } else {
                            queue.remove_first();
                        }
                    }
                }
                if step < 3 {
                    let next = queue.peek().map(|key| (key, queue.first()));
                    prop_assert_eq!(next, reference.first().copied());
                }
            }
        }
    }
}
