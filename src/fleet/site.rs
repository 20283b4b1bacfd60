//! The run state of one target: who is in work, who waits, and when the next milestone comes.

use std::collections::VecDeque;

use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Instant, Share};

use super::attempt::{Attempt, Fall, FleetRef, Plan, Slab, Stage};
use super::climate::Climate;
use super::clock::{self, Work, WorkClock, micros_at};
use super::luck::Latencies;
use super::wall;
use crate::draw::Purpose;
use crate::occurrence::Occurrence;
use crate::queue::{EventKey, EventQueue, Rank};
use crate::scenario::TargetModel;
use crate::world::Stickiness;

/// One target of one run.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) id: TargetId,
    pub(super) model: TargetModel,
    pub(super) latencies: Latencies,
    /// Tokens that fit, input and output together.
    pub(super) context: u32,
    pub(super) climate: Climate,
    pub(super) clock: WorkClock,
    pub(super) in_work: u32,
    pub(super) queued: u32,
    /// First come, first served; holds attempts that were given up until they are met.
    waiting: VecDeque<FleetRef>,
    /// The next milestone of everyone in work, by reading of the clock; holds attempts that
    /// were given up until they are met.
    milestones: EventQueue<FleetRef, WorkKey>,
    /// The live entry in the event queue: never later than the next milestone.
    wake: Option<EventKey>,
    epoch: u32,
}

/// The place of a milestone among a target's: reading of the clock, request id, attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct WorkKey(u128);

const ORDER_BITS: u32 = 56;
const ATTEMPT_BITS: u32 = 16;

impl WorkKey {
    fn new(at: Work, attempt: &Attempt) -> WorkKey {
        let order = attempt.id << ATTEMPT_BITS | u64::from(attempt.attempt.number);
        WorkKey(at << ORDER_BITS | u128::from(order))
    }

    fn reading(self) -> Work {
        self.0 >> ORDER_BITS
    }

    /// The key in the event queue of what happens at `at`.
    fn event(self, at: Instant) -> EventKey {
        let order = self.0 as u64 & ((1 << ORDER_BITS) - 1);
        EventKey::new(at, Rank::Completion, order >> ATTEMPT_BITS, order as u16)
    }
}

impl Site {
    /// The target, idle and in clear weather.
    pub(super) fn new(id: TargetId, model: &TargetModel, context: u32) -> Site {
        let mut site = Site {
            id,
            model: model.clone(),
            latencies: Latencies::new(&model.latency),
            context,
            climate: Climate::clear(model),
            clock: WorkClock::new(),
            in_work: 0,
            queued: 0,
            waiting: VecDeque::new(),
            milestones: EventQueue::with_capacity(0),
            wake: None,
            epoch: 0,
        };
        site.keep_pace(Instant::ZERO);
        site
    }

    /// Back to idle and clear weather; keeps its memory.
    pub(super) fn reset(&mut self, stickiness: Stickiness) {
        self.climate.reset(&self.model, stickiness);
        self.clock = WorkClock::new();
        (self.in_work, self.queued, self.wake) = (0, 0, None);
        self.waiting.clear();
        self.milestones.clear();
        self.keep_pace(Instant::ZERO);
    }

    /// Takes in an attempt that needs work: starts it, lets it wait, or sheds it.
    pub(super) fn take_in(
        &mut self,
        now: Instant,
        handle: FleetRef,
        attempts: &mut Slab,
        queue: &mut EventQueue<Occurrence>,
    ) {
        if self.in_work < self.climate.slots {
            self.start(now, handle, attempts, queue);
            self.changed(now, attempts, queue);
        } else if self.queued < self.model.capacity.queue {
            self.queued += 1;
            self.forget_those_given_up(attempts);
            self.waiting.push_back(handle);
        } else {
            self.turn_away(now, handle, attempts, queue);
        }
    }

    /// Whether there is room neither in work nor in the queue.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.in_work >= self.climate.slots && self.queued >= self.model.capacity.queue
    }

    /// Gives back the slot of an attempt that has left work.
    pub(super) fn leave(&mut self) {
        assert!(self.in_work > 0, "a slot given back was taken before");
        self.in_work -= 1;
    }

    /// After slots were given back or the weather changed: starts who waits as far as slots
    /// reach, and sets the clock and the wake-up right.
    pub(super) fn changed(
        &mut self,
        now: Instant,
        attempts: &mut Slab,
        queue: &mut EventQueue<Occurrence>,
    ) {
        while self.queued > 0 && self.in_work < self.climate.slots {
            let handle = self.waiting.pop_front().expect("who is counted as waiting waits");
            if is_queued(attempts, handle) {
                self.queued -= 1;
                self.start(now, handle, attempts, queue);
            }
        }
        self.keep_pace(now);
        self.rearm(attempts, queue);
    }

    /// The attempt whose milestone the wake-up `epoch` is for; `None` for a stale one. The
    /// caller moves the attempt on and calls [`Site::changed`] or [`Site::rearm`].
    pub(super) fn due(&mut self, epoch: u32, attempts: &Slab) -> Option<FleetRef> {
        if epoch != self.epoch {
            return None;
        }
        let woken = self.wake.take();
        let (key, handle) = self.next_milestone(attempts)?;
        // The milestone the wake-up was made for may be gone, or later by now.
        if Some(key.event(self.clock.reaches(key.reading()))) != woken {
            return None;
        }
        self.milestones.pop();
        Some(handle)
    }

    /// Notes the milestone that `attempt`, in work, comes to next.
    pub(super) fn await_milestone(&mut self, handle: FleetRef, attempt: &Attempt) {
        let reading = attempt.start + Work::from(attempt.milestone());
        self.milestones.push(WorkKey::new(reading, attempt), handle);
    }

    /// Makes sure that the event queue wakes this target no later than its next milestone.
    ///
    /// An entry that comes too early is left: it costs one look when it comes, which is less
    /// than an entry for every change of speed.
    pub(super) fn rearm(&mut self, attempts: &Slab, queue: &mut EventQueue<Occurrence>) {
        let Some((key, _)) = self.next_milestone(attempts) else { return };
        let event = key.event(self.clock.reaches(key.reading()));
        if self.wake.is_some_and(|wake| wake <= event) {
            return;
        }
        self.epoch = self.epoch.wrapping_add(1);
        self.wake = Some(event);
        queue.push(event, Occurrence::Work { target: self.id.0, epoch: self.epoch });
    }

    fn start(
        &mut self,
        now: Instant,
        handle: FleetRef,
        attempts: &mut Slab,
        queue: &mut EventQueue<Occurrence>,
    ) {
        let attempt = attempts.live(handle);
        let (share, factor) = self.climate.slow;
        if share > Share::ZERO {
            let draw = attempt.key.draw(Purpose::Slowdown, self.model.hash, attempt.nth);
            if share.hits(draw) {
                attempt.plan = attempt.plan.slowed(factor);
            }
        }
        if self.model.capacity.drops_late {
            let takes = micros_at(attempt.plan.end.into(), self.speed(self.in_work + 1));
            if now + takes > attempt.deadline {
                return self.turn_away(now, handle, attempts, queue);
            }
        }
        attempt.start = self.clock.reading(now);
        attempt.stage = attempt.next_stage();
        self.in_work += 1;
        self.await_milestone(handle, attempt);
    }

    /// The failure of an attempt that there is no capacity for.
    pub(super) fn shed(&self) -> Fall {
        Fall::at_the_door(FailureClass::Overloaded, self.model.capacity.shed_status)
    }

    /// Refuses an attempt for want of capacity.
    fn turn_away(
        &mut self,
        now: Instant,
        handle: FleetRef,
        attempts: &mut Slab,
        queue: &mut EventQueue<Occurrence>,
    ) {
        let attempt = attempts.live(handle);
        attempt.plan = Plan::without_work(self.shed());
        attempt.stage = Stage::Failing;
        let takes = self.latencies.failure(attempt.key, self.model.hash, attempt.nth);
        wall(now + takes, handle, attempt.id, attempt.attempt.number, queue);
    }

    /// Sets the clock to the speed of the present load and weather.
    fn keep_pace(&mut self, now: Instant) {
        self.clock.set_speed(now, self.speed(self.in_work));
    }

    /// Speed in the present weather with this many in work.
    fn speed(&self, in_work: u32) -> u64 {
        let load = in_work.saturating_add(self.climate.others);
        clock::speed(&self.model.capacity.speed_by_load, load, self.climate.speed)
    }

    /// The next milestone of an attempt that is still in work.
    #[inline]
    fn next_milestone(&mut self, attempts: &Slab) -> Option<(WorkKey, FleetRef)> {
        while let Some(next) = self.milestones.first() {
            if attempts.get(next.1).is_some() {
                return Some(next);
            }
            self.milestones.pop();
        }
        None
    }

    /// Keeps the waiting line from growing by attempts that were given up in it.
    fn forget_those_given_up(&mut self, attempts: &Slab) {
        if self.waiting.len() > 2 * self.queued as usize + 64 {
            self.waiting.retain(|&handle| is_queued(attempts, handle));
        }
    }
}

fn is_queued(attempts: &Slab, handle: FleetRef) -> bool {
    attempts.get(handle).is_some_and(|attempt| attempt.stage == Stage::Queued)
}
