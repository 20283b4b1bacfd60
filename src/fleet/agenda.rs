//! What happens next at the providers.

use windtunnel_policy::Instant;

use super::attempt::Attempt;
use super::slab::FleetRef;
use crate::queue::{EventKey, EventQueue, Heads, Rank};

/// The next milestone of each target, and the failures that need no work.
///
/// Milestones move with every change of speed: each target has one key here that is always right,
/// where entries of a queue would go stale.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    milestones: Heads,
    /// The failure that comes first; [`EventKey::NEVER`] and nobody where there is none. A refusal that takes
    /// no time comes next, whatever waits, and never enters the heap.
    failure: (EventKey, FleetRef),
    /// The others.
    failures: EventQueue<FleetRef>,
    /// The first of both.
    next: EventKey,
}

/// What is due.
#[derive(Clone, Copy, Debug)]
pub(super) enum Due {
    /// The next milestone of the target at this position.
    Milestone(usize),
    /// An attempt fails without having done any work, if it has not been given up.
    Failure(FleetRef),
}

const NO_FAILURE: (EventKey, FleetRef) = (EventKey::NEVER, FleetRef { slot: 0, generation: 0 });

impl Agenda {
    pub(super) fn new(targets: usize) -> Agenda {
        Agenda {
            milestones: Heads::new(targets),
            failure: NO_FAILURE,
            failures: EventQueue::with_capacity(0),
            next: EventKey::NEVER,
        }
    }

    pub(super) fn clear(&mut self) {
        self.milestones.clear();
        self.failure = NO_FAILURE;
        self.failures.clear();
        self.next = EventKey::NEVER;
    }

    /// When something is due next; [`EventKey::NEVER`] where nothing is.
    #[inline]
    pub(super) fn next(&self) -> EventKey {
        self.next
    }

    /// Takes what is due next, which there is; a milestone stays until its target sets another.
    #[inline]
    pub(super) fn take(&mut self) -> Due {
        let (milestone, target) = self.milestones.first();
        match milestone == self.next {
            true => Due::Milestone(target),
            false => Due::Failure(self.take_failure()),
        }
    }

    #[inline(never)]
    fn take_failure(&mut self) -> FleetRef {
        let (key, handle) = self.failure;
        assert!(key != EventKey::NEVER, "something is due");
        self.failure = self.failures.pop().unwrap_or(NO_FAILURE);
        self.next = self.milestones.first().0.min(self.failure.0);
        handle
    }

    /// The next milestone of `target`; [`EventKey::NEVER`] where it has none.
    #[inline]
    pub(super) fn set_milestone(&mut self, target: usize, key: EventKey) {
        self.milestones.set(target, key);
        self.next = self.milestones.first().0.min(self.failure.0);
    }

    /// `attempt` fails at `at`.
    #[inline]
    pub(super) fn add_failure(&mut self, at: Instant, handle: FleetRef, attempt: &Attempt) {
        let key = EventKey::new(at, Rank::Completion, attempt.id, attempt.attempt.number);
        if key < self.failure.0 {
            let later = std::mem::replace(&mut self.failure, (key, handle));
            if later.0 != EventKey::NEVER {
                self.failures.push(later.0, later.1);
            }
            self.next = self.next.min(key);
        } else {
            self.failures.push(key, handle);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::slab::Slab;
    use super::*;

    #[test]
    fn failures_come_by_time_then_request_however_they_were_added() {
        let (mut agenda, mut attempts) = (Agenda::new(1), Slab::default());
        let mut add = |agenda: &mut Agenda, at: u64, id: u64| {
            let (handle, attempt) = attempts.claim();
            attempt.id = id;
            agenda.add_failure(Instant::from_micros(at), handle, attempt);
        };
        let take = |agenda: &mut Agenda| {
            let key = agenda.next();
            assert!(matches!(agenda.take(), Due::Failure(_)));
            (key.at().as_micros(), key.id())
        };
        for (at, id) in [(5, 1), (3, 2), (9, 3), (3, 0), (7, 4)] {
            add(&mut agenda, at, id);
        }
        assert_eq!([(); 2].map(|()| take(&mut agenda)), [(3, 0), (3, 2)]);
        add(&mut agenda, 4, 5);
        add(&mut agenda, 8, 6);
        let rest = [(); 5].map(|()| take(&mut agenda));
        assert_eq!(rest, [(4, 5), (5, 1), (7, 4), (8, 6), (9, 3)]);
        assert_eq!(agenda.next(), EventKey::NEVER);
    }
}
