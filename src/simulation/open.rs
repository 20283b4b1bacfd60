//! The requests that are open, by the router's slot.

use windtunnel_policy::event::{AttemptRef, RequestRef, Send};
use windtunnel_policy::outcome::{FailureClass, Phase, Usage};
use windtunnel_policy::{Instant, Money};

use crate::fleet::FleetRef;
use crate::record::AttemptRow;
use crate::world::WorldRequest;

/// One open request.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// The router's handle.
    pub(super) handle: RequestRef,
    /// Epoch of its timer; earlier ones were replaced.
    pub(super) timer: u32,
    /// What the world knows of it.
    pub(super) request: WorldRequest,
    /// Its position in the world.
    pub(super) index: u64,
    /// Whether it counts in the measures.
    pub(super) measured: bool,
    /// The closed loop's user that waits for it.
    pub(super) asker: Option<Asker>,
    /// Targets it was sent to, in order.
    pub(super) sent_to: Vec<u16>,
    /// The attempt in flight.
    pub(super) live: Option<Live>,
    /// The attempt that ended last, until the decision about it is known.
    pub(super) pending: Option<AttemptRow>,
    /// The latest complete response.
    pub(super) complete: Option<Complete>,
    /// When output was first passed to the caller.
    pub(super) released: Option<Instant>,
    /// Everything billed so far.
    pub(super) cost: Money,
}

/// The user of a closed loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asker {
    pub(super) closed_loop: u16,
    pub(super) user: u32,
}

/// An attempt in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    /// What is known of it so far.
    pub(super) row: AttemptRow,
    /// Its place in the fleet; `None` where it found no connection.
    pub(super) fleet: Option<FleetRef>,
}

/// A complete response.
#[derive(Clone, Copy, Debug)]
pub(super) struct Complete {
    /// The attempt's row.
    pub(super) row: AttemptRow,
    /// Whether it keeps its contract, noticed or not.
    pub(super) contract_ok: bool,
    /// Whether it does the job.
    pub(super) task_done: bool,
}

impl Open {
    /// Reuses the room of a closed request for a new one.
    pub(super) fn reopen(
        &mut self,
        handle: RequestRef,
        request: WorldRequest,
        index: u64,
        measured: bool,
        asker: Option<Asker>,
    ) {
        self.handle = handle;
        self.request = request;
        self.index = index;
        self.measured = measured;
        self.asker = asker;
        self.sent_to.clear();
        self.live = None;
        self.pending = None;
        self.complete = None;
        self.released = None;
        self.cost = Money::ZERO;
    }

    /// A request that just arrived.
    pub(super) fn new(
        handle: RequestRef,
        request: WorldRequest,
        index: u64,
        measured: bool,
        asker: Option<Asker>,
    ) -> Open {
        Open {
            handle,
            timer: 0,
            request,
            index,
            measured,
            asker,
            sent_to: Vec::with_capacity(8),
            live: None,
            pending: None,
            complete: None,
            released: None,
            cost: Money::ZERO,
        }
    }

    /// True while this attempt is in flight.
    pub(super) fn waits_for(&self, attempt: AttemptRef) -> bool {
        self.handle == attempt.request
            && self.live.is_some_and(|live| live.row.number == attempt.number)
    }

    /// The row of the attempt in flight.
    pub(super) fn live_row(&mut self) -> &mut AttemptRow {
        &mut self.live.as_mut().expect("an attempt is in flight").row
    }

    /// The row of an attempt that starts now, with the fields of its end still open.
    pub(super) fn row(&self, send: &Send, now: Instant) -> AttemptRow {
        AttemptRow {
            request: self.index,
            class: self.request.class,
            number: send.attempt.number,
            group: send.group,
            target: send.target,
            recovery: send.recovery,
            decision: None,
            status: 0,
            failure: None,
            phase: Phase::BeforeHeaders,
            breaker: send.breaker,
            waited: send.waited,
            retry_after: send.retry_after,
            arrived: self.request.at,
            sent: now,
            headers: None,
            first_output: None,
            ended: now,
            cancelled: false,
            was_sent: true,
            remaining: send.remaining,
            usage: Usage::default(),
            cost: Money::ZERO,
        }
    }

    /// Ends the attempt in flight and keeps its row until the decision about it is known.
    pub(super) fn end_live(&mut self, now: Instant, end: End) -> Live {
        let mut live = self.live.take().expect("only an attempt in flight ends");
        live.row.ended = now;
        live.row.status = end.status;
        live.row.failure = end.failure;
        live.row.phase = end.phase.unwrap_or_else(|| live.row.phase_now());
        live.row.cancelled = end.cancelled;
        live.row.usage = end.usage;
        live.row.cost = end.bill;
        self.cost += end.bill;
        self.pending = Some(live.row);
        live
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

impl AttemptRow {
    fn phase_now(&self) -> Phase {
        match (self.headers, self.first_output) {
            (_, Some(_)) => Phase::AfterOutput,
            (Some(_), None) => Phase::BeforeOutput,
            (None, None) => Phase::BeforeHeaders,
        }
    }
}
