//! What happens next at the providers.

use windtunnel_policy::Instant;

use super::attempt::{Attempt, FleetRef};
use crate::queue::{EventKey, EventQueue, Heads, Rank};

/// The next milestone of each target, and the failures that need no work.
///
/// Milestones move with every change of speed: each target has one key here that is always right,
/// where entries of a queue would go stale.
#[derive(Clone, Debug)]
pub(super) struct Agenda {
    milestones: Heads,
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

impl Agenda {
    pub(super) fn new(targets: usize) -> Agenda {
        Agenda {
            milestones: Heads::new(targets),
            failures: EventQueue::with_capacity(0),
            next: EventKey::NEVER,
        }
    }

    pub(super) fn clear(&mut self) {
        self.milestones.clear();
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
        let (_, handle) = self.failures.pop().expect("something is due");
        self.next = self.milestones.first().0.min(self.next_failure());
        handle
    }

    /// The next milestone of `target`; [`EventKey::NEVER`] where it has none.
    #[inline]
    pub(super) fn set_milestone(&mut self, target: usize, key: EventKey) {
        self.milestones.set(target, key);
        self.next = self.milestones.first().0.min(self.next_failure());
    }

    /// `attempt` fails at `at`.
    #[inline]
    pub(super) fn add_failure(&mut self, at: Instant, handle: FleetRef, attempt: &Attempt) {
        let key = EventKey::new(at, Rank::Completion, attempt.id, attempt.attempt.number);
        self.failures.push(key, handle);
        self.next = self.next.min(key);
    }

    fn next_failure(&self) -> EventKey {
        self.failures.peek().unwrap_or(EventKey::NEVER)
    }
}
