//! The event queue: what happens next, in an order that is total and written down.
//!
//! Only attempts in flight and wake-ups enter the queue; arrivals stay a cursor
//! over the world and are merged by comparing an [`EventKey`] with the head.

mod heads;
mod timers;
mod tournament;

use windtunnel_policy::Instant;

pub use self::heads::Heads;
pub use self::timers::Timers;
pub use self::tournament::Tournament;

/// Which of several events at one instant comes first, and why.
///
/// Below the rank, events of one instant follow request id, then attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Rank {
    /// Work ends first: an answer that comes at its timeout counts, and the slot
    /// it frees serves whoever comes at the same instant.
    Completion = 0,
    /// Then the weather changes, so that it governs all that begins at this instant.
    Weather = 1,
    /// Then callers give up, before a timer can spend another attempt on them.
    Cancel = 2,
    /// Then timers fire: waits decided earlier come before new work.
    Timer = 3,
    /// New requests come last and see the instant's final state.
    Arrival = 4,
}

const ID_BITS: u32 = 40;
const ATTEMPT_BITS: u32 = 16;

/// The place of an event in the order of a run: instant, rank, request id, attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EventKey(u128);

impl EventKey {
    /// Comes after everything that happens.
    pub const NEVER: EventKey = EventKey(u128::MAX);

    /// The key of an event about `attempt` of request `id`.
    ///
    /// # Panics
    /// `id` needs more than 40 bits: no world holds so many requests.
    #[inline]
    pub const fn new(at: Instant, rank: Rank, id: u64, attempt: u16) -> EventKey {
        assert!(id >> ID_BITS == 0, "a request id has at most 40 bits");
        let order = (rank as u64) << (ID_BITS + ATTEMPT_BITS) | id << ATTEMPT_BITS | attempt as u64;
        EventKey((at.as_micros() as u128) << 64 | order as u128)
    }

    /// The upper and the lower half of the key as a number.
    #[inline]
    const fn halves(self) -> (u64, u64) {
        ((self.0 >> 64) as u64, self.0 as u64)
    }

    /// The key with these halves.
    #[inline]
    const fn of_halves(upper: u64, lower: u64) -> EventKey {
        EventKey((upper as u128) << 64 | lower as u128)
    }

    /// When it happens.
    #[inline]
    pub const fn at(self) -> Instant {
        Instant::from_micros((self.0 >> 64) as u64)
    }

    /// The request it concerns.
    #[inline]
    pub const fn id(self) -> u64 {
        (self.0 as u64 >> ATTEMPT_BITS) & ((1 << ID_BITS) - 1)
    }

    /// The attempt of that request it concerns.
    #[inline]
    pub const fn attempt(self) -> u16 {
        self.0 as u16
    }
}

/// A priority queue of events: a 4-ary implicit heap, which touches half the
/// levels of a binary one. It allocates only when it outgrows its capacity.
///
/// Keys in the queue at one time should differ; equal keys come out one after
/// the other in an order that rests on the pushes and pops before.
#[derive(Clone, Debug)]
pub struct EventQueue<T> {
    /// The events, and behind them what fills the last group of four: at [`EventKey::NEVER`].
    heap: Vec<(EventKey, T)>,
    len: usize,
}

const ARITY: usize = 4;

impl<T: Copy> EventQueue<T> {
    /// An empty queue with room for `capacity` events.
    pub fn with_capacity(capacity: usize) -> EventQueue<T> {
        EventQueue { heap: Vec::with_capacity(capacity + ARITY), len: 0 }
    }

    /// Adds an event, which happens: its key is not [`EventKey::NEVER`].
    #[inline]
    pub fn push(&mut self, key: EventKey, payload: T) {
        debug_assert!(key < EventKey::NEVER, "what is queued happens");
        let hole = self.len;
        if hole == self.heap.len() {
            self.add_group(payload);
        }
        self.len += 1;
        self.sift_up(hole, (key, payload));
    }

    /// The next event's key.
    #[inline]
    pub fn peek(&self) -> Option<EventKey> {
        if self.len > 0 { Some(self.heap[0].0) } else { None }
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(EventKey, T)> {
        self.len = self.len.checked_sub(1)?;
        let (first, last) = (self.heap[0], self.heap[self.len]);
        self.heap[self.len].0 = EventKey::NEVER;
        if self.len > 0 {
            self.sift_down(last);
        }
        Some(first)
    }

    /// Takes the next event if it comes before `limit`, the head of another source.
    #[inline]
    pub fn pop_before(&mut self, limit: EventKey) -> Option<(EventKey, T)> {
        if self.peek()? < limit { self.pop() } else { None }
    }

    /// The number of events queued.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True when nothing is queued.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Forgets every event and keeps the memory, for the next run.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.len = 0;
    }

    /// Makes room for the root, or for four events more.
    #[inline(never)]
    fn add_group(&mut self, filler: T) {
        let room = if self.heap.is_empty() { 1 } else { ARITY };
        self.heap.resize(self.heap.len() + room, (EventKey::NEVER, filler));
    }

    /// Moves `event`, whose place at first is the hole, up to its own. It is handed on: to read what
    /// was written in halves just before waits for the writes.
    #[inline]
    fn sift_up(&mut self, mut hole: usize, event: (EventKey, T)) {
        let heap = self.heap.as_mut_slice();
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if heap[parent].0 <= event.0 {
                break;
            }
            heap[hole] = heap[parent];
            hole = parent;
        }
        heap[hole] = event;
    }

    /// Fills the root with `event`, which came from the bottom: the hole sinks
    /// along the least children all the way, then `event` rises to its place.
    /// That saves a comparison a level, as the event seldom rises far.
    #[inline]
    fn sift_down(&mut self, event: (EventKey, T)) {
        let heap = self.heap.as_mut_slice();
        let (mut hole, mut first) = (0, 1);
        while first < self.len {
            let children = heap[first..].first_chunk().expect("groups are full");
            let (least, child) = least_of_four(children);
            heap[hole] = child;
            hole = first + least;
            first = hole * ARITY + 1;
        }
        self.sift_up(hole, event);
    }
}

/// The first of four events, and which it is: a tournament of sums of comparisons, without branches.
#[inline(always)]
fn least_of_four<T: Copy>(events: &[(EventKey, T); ARITY]) -> (usize, (EventKey, T)) {
    let left = usize::from(events[1].0 < events[0].0);
    let right = 2 | usize::from(events[3].0 < events[2].0);
    let least = if events[right].0 < events[left].0 { right } else { left };
    (least, events[least])
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use proptest::prelude::*;

    use super::*;

    fn key(at: u64, rank: Rank, id: u64, attempt: u16) -> EventKey {
        EventKey::new(Instant::from_micros(at), rank, id, attempt)
    }

    #[test]
    fn one_instant_follows_the_written_order() {
        let written = [
            key(5, Rank::Arrival, 9, 9),
            key(6, Rank::Completion, 7, 0),
            key(6, Rank::Weather, 6, 0),
            key(6, Rank::Cancel, 5, 0),
            key(6, Rank::Timer, 3, 1),
            key(6, Rank::Timer, 4, 0),
            key(6, Rank::Timer, 4, 1),
            key(6, Rank::Arrival, 0, 0),
            key(7, Rank::Completion, 0, 0),
        ];
        let mut queue = EventQueue::with_capacity(0);
        for (i, &k) in written.iter().enumerate().rev() {
            queue.push(k, i);
        }
        let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
        assert_eq!(popped, written.into_iter().zip(0..).collect::<Vec<_>>());
    }

    #[test]
    fn key_gives_back_its_parts() {
        let k = EventKey::new(Instant::FAR_FUTURE, Rank::Arrival, (1 << 40) - 1, u16::MAX);
        assert_eq!((k.at(), k.id(), k.attempt()), (Instant::FAR_FUTURE, (1 << 40) - 1, u16::MAX));
        let k = key(12, Rank::Cancel, 34, 5);
        assert_eq!((k.at().as_micros(), k.id(), k.attempt()), (12, 34, 5));
    }

    #[test]
    #[should_panic(expected = "at most 40 bits")]
    fn an_id_beyond_the_key_is_refused() {
        key(0, Rank::Timer, 1 << 40, 0);
    }

    #[test]
    fn only_what_comes_before_the_limit_is_taken() {
        let mut queue = EventQueue::with_capacity(1);
        queue.push(key(5, Rank::Timer, 1, 0), ());
        assert_eq!(queue.pop_before(key(5, Rank::Cancel, 1, 0)), None);
        assert!(queue.pop_before(key(5, Rank::Arrival, 0, 0)).is_some());
        assert_eq!(queue.pop_before(key(5, Rank::Arrival, 0, 0)), None);
    }

    #[test]
    fn memory_is_kept_between_runs() {
        let mut queue = EventQueue::with_capacity(64);
        let room = queue.heap.capacity();
        for run in 0..3 {
            for id in 0..64 {
                queue.push(key(run, Rank::Timer, id, 0), id);
            }
            assert_eq!(queue.len(), 64);
            queue.clear();
            assert!(queue.is_empty());
        }
        assert_eq!(queue.heap.capacity(), room);
    }

    proptest! {
        /// Against the standard heap, on sequences full of equal instants.
        #[test]
        fn agrees_with_the_standard_heap(
            steps in prop::collection::vec((any::<bool>(), 0_u64..40, 0_u8..5), 1..600),
        ) {
            const RANKS: [Rank; 5] =
                [Rank::Completion, Rank::Weather, Rank::Cancel, Rank::Timer, Rank::Arrival];
            let mut queue = EventQueue::with_capacity(0);
            let mut reference = BinaryHeap::new();
            for (id, &(push, at, rank)) in steps.iter().enumerate() {
                if push {
                    let k = key(at, RANKS[usize::from(rank)], id as u64, 0);
                    queue.push(k, id);
                    reference.push(Reverse((k, id)));
                } else {
                    prop_assert_eq!(queue.pop(), reference.pop().map(|Reverse(event)| event));
                }
                prop_assert_eq!(queue.peek(), reference.peek().map(|Reverse((k, _))| *k));
                prop_assert_eq!(queue.len(), reference.len());
            }
            while let Some(Reverse(event)) = reference.pop() {
                prop_assert_eq!(queue.pop(), Some(event));
            }
            prop_assert!(queue.is_empty());
        }
    }
}
