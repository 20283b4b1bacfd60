//! Where rows go besides the totals.

use windtunnel_policy::Instant;
use windtunnel_policy::event::{Action, Event};

use super::{AttemptRow, RequestRow};
use crate::scenario::Layer;

/// Takes every row of a run, in the order attempts end and requests close.
pub trait Sink {
    /// False where it looks at nothing: what would only be seen in rows need not happen then.
    const KEEPS_ROWS: bool = true;
    /// An attempt ended, and what follows is decided.
    fn attempt(&mut self, row: &AttemptRow);
    /// A request was closed.
    fn request(&mut self, row: &RequestRow);
    /// An outer layer sent an action again, as this request.
    #[inline]
    fn resent(&mut self, _request: u64, _of: Resent) {}
    /// A tool was called for an action, and will write.
    #[inline]
    fn effect(&mut self, _effect: &Effect) {}
    /// A tool was called for an action, which may have been in vain: it failed, or knew the key again.
    #[inline]
    fn called(&mut self, _call: &Call) {}
    /// The router was told of `event`, and this is what it said: told the same in the same order,
    /// another router of the policy says the same.
    #[inline]
    fn routed(&mut self, _now: Instant, _event: &Event, _actions: &[Action]) {}
    /// The router of this gateway was told what another replica has learnt, and this is what it said.
    #[inline]
    fn learnt(&mut self, _now: Instant, _gateway: usize, _event: &Event, _actions: &[Action]) {}
}

/// Where a request comes from that an outer layer sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resent {
    /// The action: its first request.
    pub action: u64,
    /// Who sent it again.
    pub layer: Layer,
    /// Number of the application's try, and of the SDK's within it.
    pub tries: [u8; 2],
}

/// One write outside the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effect {
    /// The action it was done for: its first request.
    pub action: u64,
    /// When its tool was called.
    pub called: Instant,
    /// Writes for this action so far; from 2 on, a violation.
    pub writes: u32,
}

/// One call of a tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The action it was made for: its first request.
    pub action: u64,
    /// When.
    pub at: Instant,
    /// Writes for this action that it makes: one or none.
    pub writes: bool,
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSink;

impl Sink for NoSink {
    const KEEPS_ROWS: bool = false;
    #[inline]
    fn attempt(&mut self, _: &AttemptRow) {}
    #[inline]
    fn request(&mut self, _: &RequestRow) {}
}

/// Keeps all rows in memory, for tests and explanations.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Rows {
    /// Attempts, in the order they ended.
    pub attempts: Vec<AttemptRow>,
    /// Requests, in the order they closed.
    pub requests: Vec<RequestRow>,
    /// Writes outside the model, in the order their tools were called.
    pub effects: Vec<Effect>,
    /// Requests that an outer layer sent, in the order they came.
    pub resent: Vec<(u64, Resent)>,
}

impl Sink for Rows {
    fn attempt(&mut self, row: &AttemptRow) {
        self.attempts.push(*row);
    }

    fn request(&mut self, row: &RequestRow) {
        self.requests.push(*row);
    }

    fn effect(&mut self, effect: &Effect) {
        self.effects.push(*effect);
    }

    fn resent(&mut self, request: u64, of: Resent) {
        self.resent.push((request, of));
    }
}
