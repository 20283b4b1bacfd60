//! Lanes: a queue for events that are mostly pushed in the order they will come.
//!
//! Timers that follow "now" by a constant (a deadline, a first-token limit) come in that order,
//! one lane for each constant, and most of them are stale when they come up. In a heap, thousands
//! of them would lie over everything that happens soon; here a push appends and a pop takes the
//! front.

use std::collections::VecDeque;

use super::EventKey;

const LANES: usize = 4;

/// Events in a few lanes, each in order.
#[derive(Clone, Debug)]
pub struct Lanes<T> {
    lanes: [VecDeque<(EventKey, T)>; LANES],
    /// The first key of each lane; [`EventKey::NEVER`] for an empty one.
    heads: [EventKey; LANES],
    /// The lane with the least head.
    first: usize,
}

impl<T: Copy> Lanes<T> {
    /// Empty lanes.
    pub fn new() -> Lanes<T> {
        Lanes {
            lanes: std::array::from_fn(|_| VecDeque::new()),
            heads: [EventKey::NEVER; LANES],
            first: 0,
        }
    }

    /// Adds an event where a lane can take it at its end; false where none can.
    #[inline]
    pub fn push(&mut self, key: EventKey, payload: T) -> bool {
        // Of the lanes that end before it, the one that ends last: the others stay free for
        // events that come sooner.
        let mut best: Option<(usize, Option<EventKey>)> = None;
        for (i, lane) in self.lanes.iter().enumerate() {
            let last = lane.back().map(|(last, _)| *last);
            if last < Some(key) && best.is_none_or(|(_, found)| last > found) {
                best = Some((i, last));
            }
        }
        let Some((lane, last)) = best else { return false };
        self.lanes[lane].push_back((key, payload));
        if last.is_none() {
            self.heads[lane] = key;
            if key < self.heads[self.first] {
                self.first = lane;
            }
        }
        true
    }

    /// The next event's key; [`EventKey::NEVER`] where there is none.
    #[inline]
    pub fn peek(&self) -> EventKey {
        self.heads[self.first]
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(EventKey, T)> {
        let lane = &mut self.lanes[self.first];
        let event = lane.pop_front()?;
        self.heads[self.first] = lane.front().map_or(EventKey::NEVER, |(key, _)| *key);
        self.first = (1..LANES).fold(0, |m, i| if self.heads[i] < self.heads[m] { i } else { m });
        Some(event)
    }

    /// Forgets every event and keeps the memory, for the next run.
    pub fn clear(&mut self) {
        self.lanes.iter_mut().for_each(VecDeque::clear);
        self.heads = [EventKey::NEVER; LANES];
    }
}

impl<T: Copy> Default for Lanes<T> {
    fn default() -> Lanes<T> {
        Lanes::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use windtunnel_policy::Instant;

    use super::*;
    use crate::queue::{EventQueue, Rank};

    proptest! {
        /// Events that follow "now" by four constants need no heap, and come out as from one.
        #[test]
        fn constant_delays_fit_the_lanes(
            steps in prop::collection::vec((any::<bool>(), 0_u64..3, 0_usize..5), 1..600),
        ) {
            const DELAYS: [u64; 5] = [30, 8, 8, 60, 20];
            let mut lanes = Lanes::new();
            let mut reference = EventQueue::with_capacity(0);
            let mut now = 0;
            for (id, (push, later, delay)) in steps.into_iter().enumerate() {
                now += later;
                if push {
                    let at = Instant::from_micros(now + DELAYS[delay]);
                    let key = EventKey::new(at, Rank::Timer, id as u64, 0);
                    reference.push(key, id);
                    prop_assert!(lanes.push(key, id), "four delays fill four lanes");
                } else {
                    prop_assert_eq!(lanes.pop(), reference.pop());
                }
            }
            while let Some(next) = reference.pop() {
                prop_assert_eq!(lanes.pop(), Some(next));
            }
            prop_assert_eq!(lanes.peek(), EventKey::NEVER);
        }
    }

    #[test]
    fn what_comes_before_the_end_of_every_lane_is_left_to_a_heap() {
        let mut lanes = Lanes::new();
        let key = |at| EventKey::new(Instant::from_micros(at), Rank::Timer, 0, 0);
        assert!([9, 8, 7, 6].into_iter().all(|at| lanes.push(key(at), at)));
        assert!(!lanes.push(key(5), 5));
        assert!(lanes.push(key(10), 10));
        let popped: Vec<u64> =
            std::iter::from_fn(|| lanes.pop()).map(|(_, payload)| payload).collect();
        assert_eq!(popped, [6, 7, 8, 9, 10]);
        lanes.push(key(3), 3);
        lanes.clear();
        assert_eq!((lanes.peek(), lanes.pop()), (EventKey::NEVER, None));
    }
}
