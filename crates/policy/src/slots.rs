//! The requests a router holds: dense slots, reused, each with a generation.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::breaker::Permit;
use crate::config::RecoveryAction;
use crate::event::{AttemptRef, Left, Request, RequestRef, StopReason, Tries};
use crate::outcome::{FailureClass, Phase};
use crate::plan::ClassPlan;
use crate::target::{ClassId, TargetId, TenantId};
use crate::{Duration, Instant, Money};

/// What a request is doing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Stage {
    /// The slot holds no request.
    Free,
    /// An attempt is in flight, or two.
    InFlight,
    /// It waits for its next attempt.
    Waiting,
    /// It waits for the record of a tool that may have been called.
    Reconciling,
    /// It came again, and waits for the record of the tool that earlier requests may have called.
    LookingUp,
    /// Recovery is over; a useless wait precedes the result.
    Closing(StopReason),
}

/// An attempt in flight, or the latest one.
#[derive(Clone, Copy, Hash, Debug)]
pub(crate) struct Flight {
    /// 1 for the request's first attempt.
    pub(crate) number: u16,
    /// Attempts in a row on its target, itself included.
    pub(crate) run: u16,
    pub(crate) target: TargetId,
    /// The target of the attempt before, whose budget may pay for this one; of a hedge, the target
    /// of the attempt it runs beside.
    pub(crate) failing: TargetId,
    pub(crate) action: Option<RecoveryAction>,
    pub(crate) group: u8,
    pub(crate) phase: Phase,
    /// Its output was released to the caller.
    pub(crate) committed: bool,
    pub(crate) sent: Instant,
    /// End of its own time limit.
    pub(crate) limit: Instant,
    /// When it reaches a limit of its own as it stands: that one, or the wait for output.
    pub(crate) due: Instant,
    /// What the breakers gave it; of no meaning once it is over.
    pub(crate) permit: Permit,
    /// Another model answers than the one asked for, and the answer must say so.
    pub(crate) disclosed: bool,
}

/// The attempt that was decided on, to be made when its wait is over.
#[derive(Clone, Copy, Hash, Debug)]
pub(crate) struct Next {
    pub(crate) target: TargetId,
    pub(crate) group: u8,
    /// `None` for the first attempt.
    pub(crate) action: Option<RecoveryAction>,
    /// The round of a repeated walk it belongs to.
    pub(crate) round: u16,
    /// Its target is used although it is out of service.
    pub(crate) fail_open: bool,
    pub(crate) wait: Duration,
    /// The wait hint within the wait.
    pub(crate) honoured: Option<Duration>,
    /// When it was decided on.
    pub(crate) since: Instant,
}

impl Next {
    /// A first attempt that waits for nothing.
    pub(crate) const FIRST: Next = Next {
        target: TargetId(0),
        group: 0,
        action: None,
        round: 1,
        fail_open: false,
        wait: Duration::ZERO,
        honoured: None,
        since: Instant::ZERO,
    };

    /// When the wait is over.
    pub(crate) fn at(&self) -> Instant {
        self.since + self.wait
    }
}

/// The latest failure.
#[derive(Clone, Copy, Hash, Debug)]
pub(crate) struct Lapse {
    /// Its normalised class.
    pub(crate) class: FailureClass,
    /// The provider's status, or 0.
    pub(crate) status: u16,
    /// The provider's wait hint.
    pub(crate) hint: Option<Duration>,
    /// A wait followed it already.
    pub(crate) waited: bool,
    /// Nothing was sent, so nothing can have happened.
    pub(crate) unsent: bool,
    /// The record of the tool says that nothing stands in the way of another attempt.
    pub(crate) settled: bool,
}

impl Lapse {
    /// A failure with no more to say than its class.
    pub(crate) const fn new(class: FailureClass) -> Lapse {
        Lapse { class, status: 0, hint: None, waited: false, unsent: false, settled: false }
    }
}

/// One request. What an event looks at lies together, for with many requests open each event waits for
/// memory: a timer that comes too late looks at the first cache line, a first output at that, at the
/// flight and at the end of the request, and an attempt that fails also at what follows these.
#[derive(Clone, Copy, Hash, Debug)]
#[repr(C)]
pub(crate) struct Slot {
    /// The handle of the request in it; of a free one, the next request's.
    pub(crate) handle: RequestRef,
    pub(crate) epoch: u32,
    pub(crate) stage: Stage,
    /// Whether what it tried stands in the [`Tallies`](crate::tally::Tallies).
    pub(crate) tallied: bool,
    /// One of two attempts failed in a way that forbids any further one.
    pub(crate) may_have_acted: bool,
    /// When the armed timer fires; [`Instant::FAR_FUTURE`] where none is armed.
    pub(crate) armed: Instant,
    /// The earliest of the three ends that follow.
    pub(crate) ends: Instant,
    /// End of the product's limit on the whole.
    pub(crate) deadline: Instant,
    /// End of the policy's own total limit; free waits move it.
    pub(crate) policy_deadline: Instant,
    /// When the first output must have been released: the limit of a streamed request until it
    /// is. A caller who does not stream sees no first output.
    pub(crate) first_output_by: Instant,
    /// When the first attempt is slow enough for a hedge; [`Instant::FAR_FUTURE`] where none is to
    /// start.
    pub(crate) hedge_at: Instant,
    /// The attempt in flight, or the latest one. Of two in flight, the one that is spoken of.
    pub(crate) flight: Flight,
    /// Attempts so far.
    pub(crate) attempts: u16,
    /// Of those, never sent.
    pub(crate) unsent: u16,
    /// Round of a repeated walk over the targets, from 1.
    pub(crate) round: u16,
    pub(crate) request: Request,
    /// Cost as reported.
    pub(crate) spent: Money,
    pub(crate) lapse: Lapse,
    /// The wait before, for decorrelated jitter.
    pub(crate) previous_wait: Duration,
    /// The request's first wait hint.
    pub(crate) first_hint: Option<Duration>,
    pub(crate) arrived: Instant,
    /// The most that aborted attempts may still be billed: nobody reported it.
    pub(crate) presumed: Money,
    pub(crate) next: Next,
    /// The other attempt, while two are in flight.
    pub(crate) rival: Option<Flight>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Slot>() <= 6 * 64, "six cache lines hold a slot");

impl Slot {
    /// The handle of the attempt spoken of.
    #[inline]
    pub(crate) fn attempt_ref(&self) -> AttemptRef {
        AttemptRef { request: self.handle, number: self.flight.number }
    }

    /// Whether this is the handle of the request in it; it names this slot.
    #[inline(always)]
    fn holds(&self, request: RequestRef) -> bool {
        self.stage != Stage::Free && self.handle.generation == request.generation
    }

    /// Holds no request any longer: every handle to the one it held is stale from now on.
    #[inline]
    pub(crate) fn free(&mut self) {
        debug_assert!(self.stage != Stage::Free, "a request is closed once");
        debug_assert!(self.rival.is_none(), "its attempts are over");
        self.stage = Stage::Free;
        self.handle.generation = self.handle.generation.wrapping_add(1);
    }

    /// Hashes all but the request's handle, and who has asked what it tried.
    pub(crate) fn hash_request<H: Hasher>(&self, state: &mut H) {
        let handle = Slot::FREE.handle;
        Slot { handle, tallied: false, ..*self }.hash(state);
    }

    /// Brings `ends` in line, after one of the three has moved.
    pub(crate) fn note_end(&mut self) {
        self.ends = self.deadline.min(self.policy_deadline).min(self.first_output_by);
    }

    /// A layer below has called the provider for an attempt so often beyond the first call.
    #[inline(never)]
    pub(crate) fn note_used_below(&mut self, number: u16, calls: u16) {
        if !self.turn_to(number) {
            return;
        }
        let left = &mut self.request.left.attempts;
        // No limit stays none.
        if *left != Left::ALL.attempts {
            *left = left.saturating_sub(calls);
        }
    }

    /// Goes on with the other attempt in flight, if there is one, in place of this one, which is
    /// over.
    pub(crate) fn turn_to_rival(&mut self) -> bool {
        match self.rival.take() {
            Some(rival) => {
                self.flight = rival;
                true
            }
            None => false,
        }
    }

    /// Of two attempts in flight, speaks of the earlier one.
    pub(crate) fn turn_to_earlier(&mut self) {
        if let Some(rival) = &mut self.rival
            && rival.number < self.flight.number
        {
            core::mem::swap(rival, &mut self.flight);
        }
    }

    /// Makes the attempt in flight with this number the one that is spoken of; false where it is
    /// over.
    #[inline(always)]
    pub(crate) fn turn_to(&mut self, number: u16) -> bool {
        self.flight.number == number || self.turn_to_other(number)
    }

    #[cold]
    fn turn_to_other(&mut self, number: u16) -> bool {
        match &mut self.rival {
            Some(rival) if rival.number == number => {
                core::mem::swap(rival, &mut self.flight);
                true
            }
            _ => false,
        }
    }

    /// A slot that holds nothing.
    const FREE: Slot = Slot {
        handle: RequestRef { slot: 0, generation: 0 },
        stage: Stage::Free,
        request: Request {
            id: 0,
            salt: 0,
            class: ClassId(0),
            input_tokens: 0,
            max_output_tokens: 0,
            streamed: false,
            session: 0,
            tenant: TenantId::FIRST,
            action: 0,
            tries: Tries::FIRST,
            left: Left::ALL,
        },
        arrived: Instant::ZERO,
        deadline: Instant::FAR_FUTURE,
        first_output_by: Instant::FAR_FUTURE,
        policy_deadline: Instant::FAR_FUTURE,
        ends: Instant::FAR_FUTURE,
        armed: Instant::FAR_FUTURE,
        epoch: 0,
        attempts: 0,
        tallied: false,
        unsent: 0,
        round: 1,
        spent: Money::ZERO,
        presumed: Money::ZERO,
        previous_wait: Duration::ZERO,
        first_hint: None,
        hedge_at: Instant::FAR_FUTURE,
        rival: None,
        may_have_acted: false,
        flight: Flight {
            number: 0,
            run: 0,
            target: TargetId(0),
            failing: TargetId(0),
            group: 0,
            action: None,
            phase: Phase::BeforeHeaders,
            committed: false,
            sent: Instant::ZERO,
            limit: Instant::FAR_FUTURE,
            due: Instant::FAR_FUTURE,
            permit: Permit::NONE,
            disclosed: false,
        },
        next: Next::FIRST,
        lapse: Lapse::new(FailureClass::NoEligibleTarget),
    };
}

/// All slots. A closed one is taken again by a later request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots(Vec<Slot>);

impl Slots {
    /// One more slot, which is free; its number.
    #[cold]
    pub(crate) fn grow(&mut self) -> u32 {
        let number = self.0.len() as u32;
        let request = RequestRef { slot: number, generation: 0 };
        self.0.push(Slot { handle: request, ..Slot::FREE });
        number
    }

    /// How many there are, free or not.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The slot of this number, which is free, for a request of this class from now on.
    #[inline(always)]
    pub(crate) fn open(
        &mut self,
        number: u32,
        request: &Request,
        class: &ClassPlan,
        now: Instant,
    ) -> &mut Slot {
        let slot = &mut self.0[number as usize];
        let first_output = match request.streamed {
            true => class.first_output.min(request.left.first_output),
            false => Duration::MAX,
        };
        let deadline = now + class.product_total.min(request.left.total);
        let first_output_by = now + first_output;
        let policy_deadline = now + class.policy_total;
        // Field by field, and of what holds nothing only that it does. A free slot has no rival.
        slot.stage = Stage::Waiting;
        slot.request = *request;
        slot.arrived = now;
        slot.deadline = deadline;
        slot.first_output_by = first_output_by;
        slot.policy_deadline = policy_deadline;
        slot.ends = deadline.min(policy_deadline).min(first_output_by);
        slot.armed = Slot::FREE.armed;
        slot.epoch = Slot::FREE.epoch;
        slot.attempts = Slot::FREE.attempts;
        slot.tallied = Slot::FREE.tallied;
        slot.unsent = Slot::FREE.unsent;
        slot.round = Slot::FREE.round;
        slot.spent = Slot::FREE.spent;
        slot.presumed = Slot::FREE.presumed;
        slot.previous_wait = Slot::FREE.previous_wait;
        slot.first_hint = None;
        slot.hedge_at = Slot::FREE.hedge_at;
        slot.flight = Slot::FREE.flight;
        slot.may_have_acted = Slot::FREE.may_have_acted;
        slot.next = Slot::FREE.next;
        slot.lapse = Slot::FREE.lapse;
        slot
    }

    /// The slot of a handle, unless it is stale.
    #[inline(always)]
    pub(crate) fn find(&mut self, request: RequestRef) -> Option<&mut Slot> {
        let slot = self.0.get_mut(request.slot as usize)?;
        slot.holds(request).then_some(slot)
    }

    /// The slot of a request that has an attempt in flight, unless the handle is stale.
    #[inline(always)]
    pub(crate) fn find_in_flight(&mut self, request: RequestRef) -> Option<&mut Slot> {
        let slot = self.0.get_mut(request.slot as usize)?;
        (slot.handle.generation == request.generation && slot.stage == Stage::InFlight)
            .then_some(slot)
    }

    /// The slot of a handle to look at, unless it is stale.
    pub(crate) fn look_at(&self, request: RequestRef) -> Option<&Slot> {
        let slot = self.0.get(request.slot as usize)?;
        slot.holds(request).then_some(slot)
    }

    /// As new, the memory kept.
    pub(crate) fn reset(&mut self) {
        for slot in &mut self.0 {
            let handle = RequestRef { generation: 0, ..slot.handle };
            *slot = Slot { handle, ..Slot::FREE };
        }
    }
}
