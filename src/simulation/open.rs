//! The requests that are open, by the router's slot.

use std::mem::offset_of;

use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::{AttemptRef, RequestRef, Send};
use windtunnel_policy::outcome::{Execution, FailureClass, Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Instant, Money};

use super::alarm::Alarm;
use super::arrive::{Asked, Whose};
use super::row::{Course, NO_ATTEMPT, NO_COURSE, NO_ROW, Row, phase_now};
use crate::fleet::FleetRef;
use crate::record::{AttemptRow, Sink};
use crate::world::WorldRequest;

/// One open request. With many in flight each event waits for memory: what all of them look at is in the first
/// of its cache lines, what its end does in the next two, then what is asked at its start, and timers. The
/// last two are for what few requests need.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Open {
    /// The router's handle.
    pub(super) handle: RequestRef,
    /// Its latest attempt, and where that is; of two in flight, the one at hand.
    pub(super) latest: Latest,
    /// What that attempt is.
    pub(super) row: Row,
    /// The position of its totals.
    pub(super) account: u16,
    /// The gateway that has it.
    pub(super) gateway: u16,
    /// Whether it counts in the measures.
    pub(super) measured: bool,
    /// Whether `rival` is of this request.
    hedged: bool,
    /// Whether it was sent to `other_targets`.
    went_on: bool,
    /// Whether its caller's patience is not queued yet: a wake-up comes before its end.
    pub(super) patient: bool,
    /// Whether `asker` waits for it.
    asked_in_loop: bool,
    /// What the record of its tool said last.
    pub(super) record: Option<Execution>,
    /// The target it was sent to first, and how often.
    first_target: (u16, u16),
    /// The interval of its arrival.
    interval: u32,
    /// When output was first passed to the caller.
    pub(super) released: Option<Instant>,
    /// What that attempt has come to.
    pub(super) course: Course,
    /// The latest complete response.
    pub(super) complete: Option<Complete>,
    /// Everything billed so far.
    pub(super) cost: Money,
    /// Its position in the world.
    pub(super) index: u64,
    /// What the world knows of it.
    pub(super) request: WorldRequest,
    /// Its timer.
    pub(super) alarm: Alarm,
    /// The closed loop's user that waits for it.
    asker: Asker,
    /// The other attempt, while a hedge is in flight.
    rival: Rival,
    /// The other targets it was sent to, and how often.
    other_targets: Vec<(u16, u16)>,
    /// The rows of both attempts, the one at hand first, as far as only a sink looks at them; made once,
    /// where one keeps rows.
    seen: Option<Box<[AttemptRow; 2]>>,
}

const _: () = assert!(
    offset_of!(Open, course) == 64
        && offset_of!(Open, request.max_output) == 3 * 64
        && offset_of!(Open, asker) == 4 * 64
        && size_of::<Open>() <= 6 * 64
);

/// The user of a closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asker {
    pub(super) closed_loop: u16,
    pub(super) user: u32,
}

/// The second of two attempts in flight.
#[derive(Clone, Copy, Debug)]
struct Rival {
    latest: Latest,
    row: Row,
    course: Course,
}

/// Where an attempt of a request is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Latest {
    /// Nowhere: there is none, or its row was handed on.
    Done,
    /// In flight, at this place in the fleet.
    InFlight(FleetRef),
    /// In flight as the router knows it, but it found no connection.
    Unsent,
    /// In flight as the router knows it, between two calls of a proxy.
    Pausing,
    /// Over; the decision about it is not known yet.
    Pending,
}

impl Latest {
    /// In flight as the router knows it.
    pub(super) fn is_in_flight(self) -> bool {
        matches!(self, Latest::InFlight(_) | Latest::Unsent | Latest::Pausing)
    }
}

/// A complete response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Complete {
    /// Number of the attempt.
    pub(super) number: u16,
    /// Where it went.
    pub(super) target: TargetId,
    /// The kind of recovery it was.
    pub(super) recovery: Option<RecoveryAction>,
    /// When it was sent.
    pub(super) sent: Instant,
    /// When it ended.
    pub(super) ended: Instant,
    /// What it cost.
    pub(super) cost: Money,
    /// Whether it keeps its contract, noticed or not.
    pub(super) contract_ok: bool,
    /// Whether it does the job.
    pub(super) task_done: bool,
}

impl Open {
    /// Reuses the room of a closed request for a new one.
    #[inline]
    pub(super) fn reopen(&mut self, handle: RequestRef, asked: &Asked) {
        let Asked { request, index, interval, measured, account, gateway, asker } = *asked;
        self.handle = handle;
        self.latest = Latest::Done;
        (self.account, self.gateway, self.measured) = (account, gateway, measured);
        (self.hedged, self.went_on, self.patient) = (false, false, false);
        self.asked_in_loop = asker.is_some();
        self.record = None;
        self.first_target = (0, 0);
        self.interval = u32::try_from(interval).expect("fewer than 2^32 intervals");
        self.released = None;
        self.complete = None;
        self.cost = Money::ZERO;
        self.index = index;
        self.request = request;
        self.alarm = Alarm::NONE;
        if let Some(asker) = asker {
            self.asker = asker;
        }
    }

    /// A request that just arrived.
    pub(super) fn new(handle: RequestRef, asked: &Asked) -> Open {
        let mut open = Open {
            handle,
            latest: Latest::Done,
            row: NO_ATTEMPT,
            account: 0,
            gateway: 0,
            measured: false,
            hedged: false,
            went_on: false,
            patient: false,
            asked_in_loop: false,
            record: None,
            first_target: (0, 0),
            interval: 0,
            released: None,
            course: NO_COURSE,
            complete: None,
            cost: Money::ZERO,
            index: 0,
            request: asked.request,
            alarm: Alarm::NONE,
            asker: Asker { closed_loop: 0, user: 0 },
            rival: Rival { latest: Latest::Done, row: NO_ATTEMPT, course: NO_COURSE },
            other_targets: Vec::with_capacity(7),
            seen: None,
        };
        open.reopen(handle, asked);
        open
    }

    /// Whose account it goes to.
    #[inline]
    pub(super) fn whose(&self) -> Whose {
        let asker = self.asked_in_loop.then_some(self.asker);
        let (account, interval) = (self.account, self.interval as usize);
        Whose { account, interval, marks: self.request.marks, asker }
    }

    /// Takes this attempt in hand; false where it is over.
    #[inline(always)]
    pub(super) fn take_up(&mut self, attempt: AttemptRef) -> bool {
        if self.handle != attempt.request {
            return false;
        }
        if self.row.number != attempt.number && self.has_rival() {
            self.turn();
        }
        self.row.number == attempt.number && self.latest.is_in_flight()
    }

    /// Whether another attempt than the one at hand is in flight.
    #[inline]
    pub(super) fn has_rival(&self) -> bool {
        self.hedged && self.rival.latest.is_in_flight()
    }

    /// The other attempt in flight: where it is, and its number.
    pub(super) fn rival(&self) -> Option<(Latest, u16)> {
        self.has_rival().then_some((self.rival.latest, self.rival.row.number))
    }

    /// Puts the attempt at hand aside for the other.
    #[inline(never)]
    pub(super) fn turn(&mut self) {
        if !self.hedged {
            // What stands there is of an earlier request.
            self.rival.latest = Latest::Done;
            self.hedged = true;
        }
        std::mem::swap(&mut self.latest, &mut self.rival.latest);
        std::mem::swap(&mut self.row, &mut self.rival.row);
        std::mem::swap(&mut self.course, &mut self.rival.course);
        if let Some(rows) = &mut self.seen {
            rows.swap(0, 1);
        }
    }

    /// How often it was sent to this target before. Counts the send to come.
    #[inline]
    pub(super) fn count_send(&mut self, target: TargetId) -> u32 {
        let (first, times) = &mut self.first_target;
        if *times == 0 {
            *first = target.0;
        }
        if *first == target.0 {
            *times += 1;
            return u32::from(*times) - 1;
        }
        self.count_send_elsewhere(target)
    }

    /// The same for another target than its first.
    fn count_send_elsewhere(&mut self, target: TargetId) -> u32 {
        if !self.went_on {
            self.went_on = true;
            self.other_targets.clear();
        }
        let known = self.other_targets.iter_mut().find(|(other, _)| *other == target.0);
        if let Some((_, times)) = known {
            *times += 1;
            return u32::from(*times) - 1;
        }
        self.other_targets.push((target.0, 1));
        0
    }

    /// How often it was sent to the target of the attempt at hand before that.
    pub(super) fn sends_before(&self) -> u32 {
        let others = if self.went_on { &self.other_targets[..] } else { &[] };
        let mut all = std::iter::once(&self.first_target).chain(others);
        let to_target = all.find(|(sent_to, _)| *sent_to == self.row.target.0);
        to_target.map_or(0, |(_, times)| u32::from(*times) - 1)
    }

    /// Notes an attempt that starts now, with the fields of its end still open.
    #[inline]
    pub(super) fn begin_row<S: Sink>(&mut self, send: &Send, was_sent: bool, now: Instant) {
        self.row = Row {
            number: send.attempt.number,
            target: send.target,
            recovery: send.recovery,
            breaker: send.breaker,
            failure: None,
            was_sent,
            hidden_calls: 0,
        };
        self.course = Course { sent: now, ..NO_COURSE };
        if S::KEEPS_ROWS {
            *self.seen() = AttemptRow {
                request: self.index,
                class: self.request.class,
                group: send.group,
                waited: send.waited,
                retry_after: send.retry_after,
                arrived: self.request.at,
                ended: now,
                remaining: send.remaining,
                ..NO_ROW
            };
        }
    }

    /// What only a sink looks at in the row of the attempt at hand.
    pub(super) fn seen(&mut self) -> &mut AttemptRow {
        &mut self.seen.get_or_insert_with(|| Box::new([NO_ROW; 2]))[0]
    }

    /// The whole row of the attempt at hand, where rows are kept.
    pub(super) fn seen_row(&mut self) -> AttemptRow {
        let (row, course) = (self.row, self.course);
        row.beside(&course, self.seen())
    }

    /// The row of the attempt at hand as the totals of its target take it.
    #[inline]
    pub(super) fn counted_row(&self) -> AttemptRow {
        self.row.beside(&self.course, &NO_ROW)
    }

    /// Ends the attempt in flight and keeps what was noted until the decision about it is known.
    #[inline]
    pub(super) fn end_latest<S: Sink>(&mut self, now: Instant, end: &End) {
        self.row.failure = end.failure;
        if S::KEEPS_ROWS {
            let row = self.seen();
            row.ended = now;
            row.status = end.status;
            row.phase = end.phase.unwrap_or_else(|| phase_now(row));
            row.cancelled = end.cancelled;
        }
        self.bill(end.usage, end.bill);
        self.latest = Latest::Pending;
    }

    /// Adds what a call of the provider used to the bill of the attempt and of the request.
    #[inline]
    pub(super) fn bill(&mut self, usage: Usage, bill: Money) {
        let course = &mut self.course;
        let before = course.usage;
        course.usage = match self.row.hidden_calls {
            0 => usage,
            _ => Usage {
                input: before.input.saturating_add(usage.input),
                cached: before.cached.saturating_add(usage.cached),
                output: before.output.saturating_add(usage.output),
            },
        };
        course.cost += bill;
        self.cost += bill;
    }
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) status: u16,
    pub(super) failure: Option<FailureClass>,
    /// As the provider's side knows it; by the milestones seen where absent.
    pub(super) phase: Option<Phase>,
    pub(super) cancelled: bool,
    pub(super) usage: Usage,
    pub(super) bill: Money,
}
