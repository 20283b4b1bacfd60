//! Timers: a queue for events that are far off and seldom happen.
//!
//! A timer that follows "now" by a constant (a deadline, a first-token limit) comes after all that
//! were set before it by the same constant: it is appended to that constant's lane. Nearly all of
//! them are stale when they come up. In the heap of what happens soon, thousands of them would
//! make every push and pop deeper; here they cost an append, a glance and a removal.

use std::collections::VecDeque;

use windtunnel_policy::{Duration, Instant};

use super::{EventKey, EventQueue};

/// Constants beyond these have no lane.
const MOST_LANES: usize = 8;
/// The place of the heap among the heads.
const HEAP: usize = MOST_LANES;

/// Timers in lanes, each in order, and a heap for those that follow no constant.
#[derive(Clone, Debug)]
pub struct Timers<T> {
    /// Those in use first: many constants are known, and few ever set a timer.
    lanes: Vec<(Duration, VecDeque<(EventKey, T)>)>,
    in_use: usize,
    heap: EventQueue<T>,
    /// The first key of each lane and of the heap; [`EventKey::NEVER`] where there is none.
    heads: [EventKey; MOST_LANES + 1],
    /// Where the least head is, and that head.
    first: usize,
    next: EventKey,
}

impl<T: Copy> Timers<T> {
    /// No timers; with a lane for each of the first eight different constants in `delays`.
    pub fn new(delays: impl IntoIterator<Item = Duration>) -> Timers<T> {
        let mut lanes: Vec<(Duration, VecDeque<_>)> = Vec::new();
        for delay in delays {
            if lanes.len() < MOST_LANES && lanes.iter().all(|(known, _)| *known != delay) {
                lanes.push((delay, VecDeque::new()));
            }
        }
        Timers {
            lanes,
            in_use: 0,
            heap: EventQueue::with_capacity(0),
            heads: [EventKey::NEVER; MOST_LANES + 1],
            first: HEAP,
            next: EventKey::NEVER,
        }
    }

    /// Sets a timer at `now`.
    #[inline(always)]
    pub fn push(&mut self, now: Instant, key: EventKey, payload: T) {
        let delay = key.at() - now;
        let place = match self.lane_of(delay) {
            // Of two timers of one instant the second may come first.
            Some(i) if self.lanes[i].1.back().is_none_or(|(last, _)| *last < key) => {
                self.lanes[i].1.push_back((key, payload));
                i
            }
            _ => {
                self.heap.push(key, payload);
                HEAP
            }
        };
        if key < self.heads[place] {
            self.heads[place] = key;
            if key < self.next {
                (self.first, self.next) = (place, key);
            }
        }
    }

    /// The next timer's key; [`EventKey::NEVER`] where there is none.
    #[inline]
    pub fn peek(&self) -> EventKey {
        self.next
    }

    /// Takes the next timer, and drops those that follow it in its lane up to the first that is not
    /// `stale`: what is stale once stays so. When a timer comes up, nearly all that were set within as
    /// long a time before are, and it costs less to pass them in one go than to wait for each.
    #[inline]
    pub fn pop(&mut self, stale: impl Fn(T) -> bool) -> Option<(EventKey, T)> {
        let (timer, next) = if self.first == HEAP {
            (self.heap.pop()?, self.heap.peek())
        } else {
            let lane = &mut self.lanes[self.first].1;
            let timer = lane.pop_front()?;
            while lane.front().is_some_and(|&(_, payload)| stale(payload)) {
                lane.pop_front();
            }
            (timer, lane.front().map(|(key, _)| *key))
        };
        self.heads[self.first] = next.unwrap_or(EventKey::NEVER);
        let lanes = self.heads[..self.in_use].iter().copied().enumerate();
        let heap = (HEAP, self.heads[HEAP]);
        (self.first, self.next) =
            lanes.fold(heap, |least, lane| if lane.1 < least.1 { lane } else { least });
        Some(timer)
    }

    /// The lane of this delay, which is in use from now on.
    #[inline]
    fn lane_of(&mut self, delay: Duration) -> Option<usize> {
        let lane = self.lanes.iter().position(|(known, _)| *known == delay)?;
        if lane < self.in_use {
            return Some(lane);
        }
        self.lanes.swap(lane, self.in_use);
        self.in_use += 1;
        Some(self.in_use - 1)
    }

    /// Forgets every timer and keeps the memory, for the next run.
    pub fn clear(&mut self) {
        self.lanes.iter_mut().for_each(|(_, lane)| lane.clear());
        self.heap.clear();
        self.heads = [EventKey::NEVER; MOST_LANES + 1];
        (self.first, self.next) = (HEAP, EventKey::NEVER);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::queue::Rank;

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    proptest! {
        /// Against the heap alone, with delays that have a lane and delays that have none, and
        /// identities that go up and down within an instant.
        #[test]
        fn timers_come_in_the_order_of_a_heap(
            steps in prop::collection::vec((any::<bool>(), 0_u64..3, 0_usize..6, 0_u64..99), 1..600),
        ) {
            const DELAYS: [u64; 6] = [30, 8, 60, 20, 7, 9];
            let mut timers = Timers::new([us(30), us(8), us(60), us(8)]);
            prop_assert_eq!(timers.lanes.len(), 3);
            let mut reference = EventQueue::with_capacity(0);
            let mut now = Instant::ZERO;
            for (n, (push, later, delay, id)) in steps.into_iter().enumerate() {
                now = now + us(later);
                if push {
                    let key = EventKey::new(now + us(DELAYS[delay]), Rank::Timer, id, n as u16);
                    reference.push(key, n);
                    timers.push(now, key, n);
                } else {
                    prop_assert_eq!(timers.pop(|_| false), reference.pop());
                }
                prop_assert_eq!(timers.peek(), reference.peek().unwrap_or(EventKey::NEVER));
            }
            while let Some(next) = reference.pop() {
                prop_assert_eq!(timers.pop(|_| false), Some(next));
            }
            prop_assert_eq!(timers.pop(|_| false), None);
        }
    }

    proptest! {
        /// Against the heap alone, whose stale timers are passed over one by one: those that are not
        /// stale come at the same moments in the same order.
        #[test]
        fn stale_timers_may_be_dropped_before_they_come(
            steps in prop::collection::vec((any::<bool>(), 0_u64..3, 0_usize..6, any::<bool>()), 1..400),
        ) {
            const DELAYS: [u64; 6] = [30, 8, 60, 20, 7, 9];
            let stale = |(_, stale): (usize, bool)| stale;
            let mut timers = Timers::new([us(30), us(8), us(60)]);
            let mut reference = EventQueue::with_capacity(0);
            let mut now = Instant::ZERO;
            let (mut come, mut expected) = (Vec::new(), Vec::new());
            let mut take = |timers: &mut Timers<_>, reference: &mut EventQueue<_>, until: EventKey| {
                while timers.peek() <= until {
                    come.extend(timers.pop(stale).filter(|&(_, timer)| !stale(timer)));
                }
                while let Some(next) = reference.pop_before(until) {
                    expected.extend((!stale(next.1)).then_some(next));
                }
            };
            for (n, (push, later, delay, is_stale)) in steps.into_iter().enumerate() {
                now = now + us(later);
                if push {
                    let key = EventKey::new(now + us(DELAYS[delay]), Rank::Timer, n as u64, 0);
                    reference.push(key, (n, is_stale));
                    timers.push(now, key, (n, is_stale));
                } else {
                    take(&mut timers, &mut reference, EventKey::new(now, Rank::Arrival, 0, 0));
                }
            }
            take(&mut timers, &mut reference, EventKey::new(now + us(99), Rank::Arrival, 0, 0));
            prop_assert!(timers.pop(stale).is_none());
            prop_assert_eq!(come, expected);
        }
    }

    #[test]
    fn cleared_timers_never_come() {
        let mut timers = Timers::new((1..20).map(us));
        for delay in 1..20 {
            let key = EventKey::new(Instant::ZERO + us(delay), Rank::Timer, 0, 0);
            timers.push(Instant::ZERO, key, delay);
        }
        assert_eq!(timers.pop(|_| false).map(|(_, delay)| delay), Some(1));
        timers.clear();
        assert_eq!((timers.peek(), timers.pop(|_| false)), (EventKey::NEVER, None));
    }
}
