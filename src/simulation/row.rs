//! What is noted of an attempt: in any run what its totals take, and the rest where a sink keeps rows.

use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::BreakerState;
use windtunnel_policy::outcome::{FailureClass, Phase, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Money};

use crate::record::AttemptRow;

/// What is noted of an attempt in any run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub(super) number: u16,
    pub(super) target: TargetId,
    pub(super) recovery: Option<RecoveryAction>,
    pub(super) breaker: BreakerState,
    pub(super) failure: Option<FailureClass>,
    pub(super) was_sent: bool,
    pub(super) hidden_calls: u8,
}

/// When an attempt was sent, and what it has been billed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    pub(super) sent: Instant,
    pub(super) cost: Money,
    pub(super) usage: Usage,
}

impl Row {
    /// The row of this attempt, beside what a sink looks at.
    #[inline]
    pub(super) fn beside(&self, course: &Course, seen: &AttemptRow) -> AttemptRow {
        let Course { sent, cost, usage } = *course;
        let Row { number, target, recovery, breaker, failure, was_sent, hidden_calls } = *self;
        AttemptRow {
            sent,
            cost,
            usage,
            number,
            target,
            recovery,
            breaker,
            failure,
            was_sent,
            hidden_calls,
            ..*seen
        }
    }
}

/// How far the response had come, by the milestones that were seen.
pub(super) fn phase_now(row: &AttemptRow) -> Phase {
    match (row.headers.or(row.first_chunk), row.first_output) {
        (_, Some(_)) => Phase::AfterOutput,
        (Some(_), None) => Phase::BeforeOutput,
        (None, None) => Phase::BeforeHeaders,
    }
}

/// Stands where there was no attempt yet.
pub(super) const NO_ATTEMPT: Row = Row {
    number: 0,
    target: TargetId(0),
    recovery: None,
    breaker: BreakerState::Closed,
    failure: None,
    was_sent: false,
    hidden_calls: 0,
};

/// The same.
pub(super) const NO_COURSE: Course = Course {
    sent: Instant::ZERO,
    cost: Money::ZERO,
    usage: Usage { input: 0, cached: 0, output: 0 },
};

/// A row of which nothing was seen yet.
pub(super) const NO_ROW: AttemptRow = AttemptRow {
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
