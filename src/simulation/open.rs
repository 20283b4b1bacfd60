//! The requests that are open, by the router's slot.

use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::{AttemptRef, BreakerState, RequestRef, Send};
use windtunnel_policy::outcome::{Execution, FailureClass, Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Money};

use super::alarm::Alarm;
use super::arrive::{Asked, Whose};
use crate::fleet::FleetRef;
use crate::record::{AttemptRow, Sink};
use crate::world::WorldRequest;

/// One open request.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The router's handle.
    pub(super) handle: RequestRef,
    /// Its timer.
    pub(super) alarm: Alarm,
    /// What the world knows of it.
    pub(super) request: WorldRequest,
    /// Its position in the world.
    pub(super) index: u64,
    /// The interval of its arrival.
    pub(super) interval: usize,
    /// Whether it counts in the measures.
    pub(super) measured: bool,
    /// The position of its totals.
    pub(super) account: u16,
    /// The gateway that has it.
    pub(super) gateway: u16,
    /// The closed loop's user that waits for it.
    pub(super) asker: Option<Asker>,
    /// Targets it was sent to, and how often.
    sent_to: Vec<(u16, u32)>,
    /// A bit for each of these, by the target's number modulo 64: most sends are the first to a target.
    sent_to_any: u64,
    /// Its latest attempt, and where that is; of two in flight, the one at hand. The row stays in
    /// one place from send to sink.
    pub(super) latest: Latest,
    /// The row of that attempt.
    pub(super) row: AttemptRow,
    /// The other attempt, while a hedge is in flight.
    pub(super) rival: Rival,
    /// The latest complete response.
    pub(super) complete: Option<Complete>,
    /// What the record of its tool said last.
    pub(super) record: Option<Execution>,
    /// When output was first passed to the caller.
    pub(super) released: Option<Instant>,
    /// When its caller goes away, where that is not queued yet: a wake-up comes before.
    pub(super) patience: Option<Instant>,
    /// Everything billed so far.
    pub(super) cost: Money,
}

/// The user of a closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asker {
    pub(super) closed_loop: u16,
    pub(super) user: u32,
}

/// The second of two attempts in flight.
#[derive(Clone, Debug)]
pub(super) struct Rival {
    pub(super) latest: Latest,
    pub(super) row: AttemptRow,
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
        self.alarm = Alarm::NONE;
        self.request = request;
        self.index = index;
        self.interval = interval;
        self.measured = measured;
        self.account = account;
        self.gateway = gateway;
        self.asker = asker;
        self.sent_to.clear();
        self.sent_to_any = 0;
        self.latest = Latest::Done;
        self.rival.latest = Latest::Done;
        self.complete = None;
        self.record = None;
        self.released = None;
        self.patience = None;
        self.cost = Money::ZERO;
    }

    /// A request that just arrived.
    pub(super) fn new(handle: RequestRef, asked: &Asked) -> Open {
        let Asked { request, index, interval, measured, account, gateway, asker } = *asked;
        Open {
            handle,
            alarm: Alarm::NONE,
            request,
            index,
            interval,
            measured,
            account,
            gateway,
            asker,
            sent_to: Vec::with_capacity(8),
            sent_to_any: 0,
            latest: Latest::Done,
            row: NO_ROW,
            rival: Rival { latest: Latest::Done, row: NO_ROW },
            complete: None,
            record: None,
            released: None,
            patience: None,
            cost: Money::ZERO,
        }
    }

    /// Whose account it goes to.
    #[inline]
    pub(super) fn whose(&self) -> Whose {
        let Open { account, interval, asker, .. } = *self;
        Whose { account, interval, marks: self.request.marks, asker }
    }

    /// Takes this attempt in hand; false where it is over.
    #[inline(always)]
    pub(super) fn take_up(&mut self, attempt: AttemptRef) -> bool {
        if self.handle != attempt.request {
            return false;
        }
        if self.row.number != attempt.number && self.rival.latest.is_in_flight() {
            self.turn();
        }
        self.row.number == attempt.number && self.latest.is_in_flight()
    }

    /// Puts the attempt at hand aside for the other.
    pub(super) fn turn(&mut self) {
        std::mem::swap(&mut self.latest, &mut self.rival.latest);
        std::mem::swap(&mut self.row, &mut self.rival.row);
    }

    /// How often it was sent to this target before. Counts the send to come.
    #[inline]
    pub(super) fn count_send(&mut self, target: TargetId) -> u32 {
        let bit = 1 << (target.0 % 64);
        if self.sent_to_any & bit != 0
            && let Some((_, times)) = self.sent_to.iter_mut().find(|(other, _)| *other == target.0)
        {
            *times += 1;
            return *times - 1;
        }
        self.sent_to_any |= bit;
        self.sent_to.push((target.0, 1));
        0
    }

    /// How often it was sent to the target of the attempt at hand before that.
    pub(super) fn sends_before(&self) -> u32 {
        let to_target = |(sent_to, _): &&(u16, u32)| *sent_to == self.row.target.0;
        self.sent_to.iter().find(to_target).map_or(0, |(_, times)| times - 1)
    }

    /// Begins the row of an attempt that starts now, with the fields of its end still open. What
    /// only a sink would look at is left as it is where none keeps rows.
    #[inline]
    pub(super) fn begin_row<S: Sink>(&mut self, send: &Send, was_sent: bool, now: Instant) {
        let row = &mut self.row;
        row.number = send.attempt.number;
        row.target = send.target;
        row.recovery = send.recovery;
        row.breaker = send.breaker;
        row.failure = None;
        row.sent = now;
        row.was_sent = was_sent;
        row.hidden_calls = 0;
        row.usage = Usage::default();
        row.cost = Money::ZERO;
        if S::KEEPS_ROWS {
            *row = AttemptRow {
                request: self.index,
                class: self.request.class,
                group: send.group,
                decision: None,
                status: 0,
                phase: Phase::BeforeHeaders,
                waited: send.waited,
                retry_after: send.retry_after,
                arrived: self.request.at,
                headers: None,
                first_chunk: None,
                first_output: None,
                ended: now,
                cancelled: false,
                remaining: send.remaining,
                ..*row
            };
        }
    }

    /// Ends the attempt in flight and keeps its row until the decision about it is known.
    #[inline]
    pub(super) fn end_latest<S: Sink>(&mut self, now: Instant, end: &End) {
        let row = &mut self.row;
        row.failure = end.failure;
        if S::KEEPS_ROWS {
            row.ended = now;
            row.status = end.status;
            row.phase = end.phase.unwrap_or_else(|| row.phase_now());
            row.cancelled = end.cancelled;
        }
        self.bill(end.usage, end.bill);
        self.latest = Latest::Pending;
    }

    /// Adds what a call of the provider used to the bill of the attempt and of the request.
    #[inline]
    pub(super) fn bill(&mut self, usage: Usage, bill: Money) {
        let row = &mut self.row;
        let before = row.usage;
        row.usage = match row.hidden_calls {
            0 => usage,
            _ => Usage {
                input: before.input.saturating_add(usage.input),
                cached: before.cached.saturating_add(usage.cached),
                output: before.output.saturating_add(usage.output),
            },
        };
        row.cost += bill;
        self.cost += bill;
    }
}

/// Stands where there was no attempt yet.
const NO_ROW: AttemptRow = AttemptRow {
    request: 0,
    class: 0,
    number: 0,
    group: 0,
    target: TargetId(0),
    recovery: None,
    decision: None,
    status: 0,
    failure: None,
    phase: Phase::BeforeHeaders,
    breaker: BreakerState::Closed,
    waited: Duration::ZERO,
    retry_after: None,
    arrived: Instant::ZERO,
    sent: Instant::ZERO,
    headers: None,
    first_chunk: None,
    first_output: None,
    ended: Instant::ZERO,
    cancelled: false,
    was_sent: false,
    hidden_calls: 0,
    remaining: Duration::ZERO,
    usage: Usage { input: 0, cached: 0, output: 0 },
    cost: Money::ZERO,
};

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

impl AttemptRow {
    fn phase_now(&self) -> Phase {
        match (self.headers.or(self.first_chunk), self.first_output) {
            (_, Some(_)) => Phase::AfterOutput,
            (Some(_), None) => Phase::BeforeOutput,
            (None, None) => Phase::BeforeHeaders,
        }
    }
}
