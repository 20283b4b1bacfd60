//! Two sinks of one run.

use windtunnel_policy::Instant;
use windtunnel_policy::event::{Action, Event};

use super::{AttemptRow, Call, Effect, RequestRow, Resent, Sink};

/// Gives every row to both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Both<A, B>(pub A, pub B);

impl<A: Sink, B: Sink> Sink for Both<A, B> {
    const KEEPS_ROWS: bool = A::KEEPS_ROWS || B::KEEPS_ROWS;

    fn attempt(&mut self, row: &AttemptRow) {
        self.0.attempt(row);
        self.1.attempt(row);
    }

    fn request(&mut self, row: &RequestRow) {
        self.0.request(row);
        self.1.request(row);
    }

    fn resent(&mut self, request: u64, of: Resent) {
        self.0.resent(request, of);
        self.1.resent(request, of);
    }

    fn effect(&mut self, effect: &Effect) {
        self.0.effect(effect);
        self.1.effect(effect);
    }

    fn called(&mut self, call: &Call) {
        self.0.called(call);
        self.1.called(call);
    }

    fn routed(&mut self, now: Instant, event: &Event, actions: &[Action]) {
        self.0.routed(now, event, actions);
        self.1.routed(now, event, actions);
    }
}
