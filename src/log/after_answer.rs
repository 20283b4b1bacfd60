//! Attempts that no gateway would send: mostly, several requests share what a log takes for their id.

use super::Attempt;

/// Requests of which an attempt was sent after another had answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AfterAnswer {
    /// How many.
    pub requests: u64,
    /// Line of the first row of the first; 0 without any.
    pub line: u64,
}

impl AfterAnswer {
    /// Sees the attempts of a request, in the order they were sent.
    pub(super) fn see(&mut self, attempts: &[Attempt], line: u64) {
        let answered = |attempt: &&Attempt| attempt.failure.is_none() && !attempt.cancelled;
        let Some(first) = attempts.iter().filter(answered).map(|attempt| attempt.ended_us).min()
        else {
            return;
        };
        if attempts.iter().any(|attempt| attempt.was_sent && attempt.sent_us > first) {
            self.requests += 1;
            self.line = if self.line == 0 { line } else { self.line };
        }
    }
}
