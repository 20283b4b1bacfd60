//! Which request is explained.

use windtunnel_policy::Instant;
use windtunnel_policy::event::{Action, Event};

use crate::record::{AttemptRow, RequestRow, Sink};

/// Which request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// The one at this position in its world.
    Request(u64),
    /// The first of the worst measured ones.
    Worst(Worst),
    /// The first measured one that got no answer.
    Failed,
}

/// Worst in what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Worst {
    /// Time from arrival to close.
    Latency,
    /// Everything billed.
    Cost,
    /// Attempts.
    Attempts,
}

/// Looks for it among the requests of a run.
pub(super) struct Best {
    pick: Pick,
    /// Its badness, and its position.
    best: Option<(u64, u64)>,
}

impl Best {
    pub(super) fn new(pick: Pick) -> Best {
        Best { pick, best: None }
    }

    pub(super) fn found(&self) -> Option<u64> {
        self.best.map(|(_, request)| request)
    }
}

impl Sink for Best {
    fn attempt(&mut self, _: &AttemptRow) {}

    fn request(&mut self, row: &RequestRow) {
        let badness = match self.pick {
            Pick::Request(request) => u64::from(request == row.request),
            Pick::Worst(Worst::Latency) => row.closed.since(row.arrived).as_micros(),
            Pick::Worst(Worst::Cost) => row.cost.as_pico(),
            Pick::Worst(Worst::Attempts) => row.result.attempts.into(),
            Pick::Failed => u64::from(!row.answered),
        };
        if !row.measured || badness == 0 {
            return;
        }
        // They close in another order than they came.
        let worse = |(known, request): (u64, u64)| {
            badness > known || (badness == known && row.request < request)
        };
        if self.best.is_none_or(worse) {
            self.best = Some((badness, row.request));
        }
    }

    fn routed(&mut self, _: Instant, _: &Event, _: &[Action]) {}
}
