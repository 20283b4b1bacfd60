//! The run state of one target: who is in work, who waits, and when the next milestone comes.

use std::collections::VecDeque;

use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Instant, Share};

use super::Order;
use super::agenda::Agenda;
use super::attempt::{Attempt, Fall, Stage};
use super::cache::Caches;
use super::charge::Ask;
use super::climate::Climate;
use super::clock::{self, Step, Work, WorkClock, micros_at};
use super::luck;
use super::slab::{FleetRef, Slab};
use crate::draw::Purpose;
use crate::queue::{EventKey, Rank, Tournament};
use crate::scenario::TargetModel;
use crate::weather::Conditions;
use crate::world::{Marks, Stickiness, WorldRequest};

/// One target of one run.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) id: TargetId,
    pub(super) model: TargetModel,
    /// Tokens that fit, input and output together.
    pub(super) context: u32,
    pub(super) climate: Climate,
    pub(super) clock: WorkClock,
    /// The clock's speed at the present load, in the present weather.
    step: Step,
    pub(super) in_work: u32,
    pub(super) queued: u32,
    /// First come, first served; holds attempts that were given up until they are met.
    waiting: VecDeque<FleetRef>,
    /// The next milestone of everyone in work, by reading of the clock; holds attempts that
    /// were given up until they are met.
    milestones: Tournament<FleetRef>,
}

/// The place of a milestone among a target's: reading of the clock, request id, attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct WorkKey(u128);

const ORDER_BITS: u32 = 56;
const ATTEMPT_BITS: u32 = 16;

impl WorkKey {
    /// Of the milestone that `attempt`, in work, comes to next.
    #[inline]
    fn next_of(attempt: &Attempt) -> WorkKey {
        let at = attempt.due();
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
            context,
            climate: Climate::clear(model),
            clock: WorkClock::new(),
            step: Step::default(),
            in_work: 0,
            queued: 0,
            waiting: VecDeque::new(),
            milestones: Tournament::default(),
        };
        site.keep_pace(Instant::ZERO);
        site
    }

    /// Back to idle and clear weather; keeps its memory.
    pub(super) fn reset(&mut self, stickiness: Stickiness) {
        self.climate.reset(&self.model, stickiness);
        self.step = Step::default();
        self.clock = WorkClock::new();
        (self.in_work, self.queued) = (0, 0);
        self.waiting.clear();
        self.milestones.clear();
        self.keep_pace(Instant::ZERO);
    }

    /// What an order asks of this target.
    #[inline]
    pub(super) fn ask(&self, now: Instant, order: &Order<'_>, caches: &Caches) -> Ask {
        let most = self.model.max_output_tokens;
        let WorldRequest { input, max_output, session, .. } = *order.request;
        let cached = caches.warm(now, order.target, session, order.prefix.min(input));
        Ask { input, cached, max_output: max_output.min(most) }
    }

    /// What is wrong with the request itself.
    #[inline]
    pub(super) fn invalid(&self, order: &Order<'_>, ask: Ask) -> Option<Fall> {
        if order.request.marks.has(Marks::INVALID) {
            Some(Fall::at_the_door(FailureClass::ClientInvalid, 400))
        } else if ask.input.saturating_add(ask.max_output) > self.context {
            Some(Fall::at_the_door(FailureClass::ContextOverflow, 400))
        } else {
            None
        }
    }

    /// Takes in an attempt that needs work: starts it, lets it wait, or sheds it.
    #[inline(always)]
    pub(super) fn take_in(
        &mut self,
        now: Instant,
        handle: FleetRef,
        attempts: &mut Slab,
        agenda: &mut Agenda,
    ) {
        if self.in_work < self.climate.slots {
            let comes_first = self.start(now, handle, attempts, agenda);
            let faster_or_slower = self.keep_pace(now);
            if faster_or_slower || comes_first {
                self.rearm(attempts, agenda);
            }
        } else if self.queued < self.model.capacity.queue {
            self.queued += 1;
            self.forget_those_given_up(attempts);
            self.waiting.push_back(handle);
        } else {
            self.turn_away(now, handle, attempts, agenda);
        }
    }

    /// Whether there is room neither in work nor in the queue.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.in_work >= self.climate.slots && self.queued >= self.model.capacity.queue
    }

    /// Gives back the slot of an attempt that has left work.
    #[inline]
    pub(super) fn leave(&mut self) {
        assert!(self.in_work > 0, "a slot given back was taken before");
        self.in_work -= 1;
    }

    /// After slots were given back or the weather changed: starts who waits as far as slots
    /// reach, and sets the clock and the next milestone right.
    pub(super) fn changed(&mut self, now: Instant, attempts: &mut Slab, agenda: &mut Agenda) {
        self.fill(now, attempts, agenda);
        self.rearm(attempts, agenda);
    }

    /// The same without the next milestone, which the caller sets right.
    #[inline(always)]
    pub(super) fn fill(&mut self, now: Instant, attempts: &mut Slab, agenda: &mut Agenda) {
        if self.queued > 0 {
            self.start_waiting(now, attempts, agenda);
        }
        self.keep_pace(now);
    }

    #[inline(never)]
    fn start_waiting(&mut self, now: Instant, attempts: &mut Slab, agenda: &mut Agenda) {
        while self.queued > 0 && self.in_work < self.climate.slots {
            let handle = self.waiting.pop_front().expect("who is counted as waiting waits");
            if is_queued(attempts, handle) {
                self.queued -= 1;
                self.start(now, handle, attempts, agenda);
            }
        }
    }

    /// The attempt that the next milestone belongs to, when that has come. The caller moves it on.
    pub(super) fn due(&self) -> FleetRef {
        self.milestones.first()
    }

    /// Notes that the attempt which is due has come to its end. [`Site::fill`] and [`Site::rearm`] follow.
    #[inline(always)]
    pub(super) fn done(&mut self) {
        self.milestones.remove_first();
    }

    /// Notes the milestone that `attempt`, which is due, comes to next. [`Site::rearm`] follows.
    #[inline]
    pub(super) fn move_on(&mut self, attempt: &Attempt, handle: FleetRef) {
        self.milestones.replace_first(WorkKey::next_of(attempt).0, handle);
    }

    /// Sets the time of this target's next milestone right.
    #[inline(always)]
    pub(super) fn rearm(&mut self, attempts: &Slab, agenda: &mut Agenda) {
        let next = match self.next_milestone(attempts) {
            Some(key) => key.event(self.clock.reaches(key.reading())),
            None => EventKey::NEVER,
        };
        agenda.set_milestone(self.id.0.into(), next);
    }

    /// Starts an attempt; answers whether its first milestone is the target's next one.
    #[inline(always)]
    fn start(
        &mut self,
        now: Instant,
        handle: FleetRef,
        attempts: &mut Slab,
        agenda: &mut Agenda,
    ) -> bool {
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
                self.turn_away(now, handle, attempts, agenda);
                return false;
            }
        }
        attempt.begin(self.clock.reading(now));
        self.in_work += 1;
        self.milestones.push(WorkKey::next_of(attempt).0, handle)
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
        agenda: &mut Agenda,
    ) {
        let attempt = attempts.live(handle);
        attempt.plan.fails(&self.shed(), 0);
        attempt.stage = Stage::Failing;
        let takes = luck::failure(&self.model, attempt.key, attempt.nth);
        agenda.add_failure(now + takes, handle, attempt);
    }

    /// The weather has changed.
    pub(super) fn set_weather(&mut self, conditions: &Conditions) {
        self.climate.change(&self.model, conditions);
        self.step = Step::default();
    }

    /// Sets the clock to the speed of the present load and weather; answers whether that is another.
    /// As long as the load stays within the step, the clock goes at its speed already.
    #[inline(always)]
    fn keep_pace(&mut self, now: Instant) -> bool {
        !self.step.holds(self.load(self.in_work)) && self.change_pace(now)
    }

    #[inline(never)]
    fn change_pace(&mut self, now: Instant) -> bool {
        let (load, weather) = (self.load(self.in_work), self.climate.speed);
        self.step = Step::at(&self.model.capacity.speed_by_load, load, weather);
        self.clock.set_speed(now, self.step.speed())
    }

    /// Speed in the present weather with this many in work.
    fn speed(&self, in_work: u32) -> u64 {
        let load = self.load(in_work);
        clock::speed(&self.model.capacity.speed_by_load, load, self.climate.speed)
    }

    /// Attempts in work when this many are ours.
    fn load(&self, in_work: u32) -> u32 {
        in_work.saturating_add(self.climate.others)
    }

    /// The next milestone of an attempt that is still in work.
    #[inline]
    fn next_milestone(&mut self, attempts: &Slab) -> Option<WorkKey> {
        while let Some(key) = self.milestones.peek() {
            if attempts.get(self.milestones.first()).is_some() {
                return Some(WorkKey(key));
            }
            self.milestones.remove_first();
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
