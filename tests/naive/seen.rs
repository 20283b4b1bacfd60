//! What the random scenarios bring about.

use std::collections::BTreeMap;

use windtunnel::record::Rows;
use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::Decision;
use windtunnel_policy::{Duration, Money};

/// What must come about at least a hundred times.
const EXPECTED: [&str; 58] = [
    // Failure classes; the router keeps what overflows a context from being sent.
    "client_invalid",
    "upstream_auth",
    "transport",
    "timeout",
    "rate_limited",
    "quota_exhausted",
    "target_missing",
    "overloaded",
    "server_error",
    "content_policy",
    "caller_cancelled",
    "partial_stream",
    "deadline_exhausted",
    "unknown",
    // Phases, breakers, recoveries.
    "before_headers",
    "before_output",
    "after_output",
    "closed",
    "open",
    "half_open",
    "ramping",
    "retry",
    "failover",
    "substitution",
    "hedge",
    // Gates that stop recovery.
    "failure_class",
    "committed",
    "not_idempotent",
    "attempts",
    "deadline",
    "added_latency",
    "cost",
    "retry_budget",
    "wait_too_long",
    "no_eligible_target",
    // Terminal results.
    "success",
    "refusal",
    "exhausted",
    "cancelled",
    "partial",
    "policy_stop",
    // What else can happen.
    "no failure",
    "first attempt",
    "given up",
    "given up and billed",
    "no connection",
    "waited",
    "hint honoured",
    "recovered",
    "unmeasured",
    "task not done",
    "contract not kept",
    "silent failure",
    "lost",
    "await",
    "answered by a hedge",
    "a chunk without content",
    "failed between chunk and output",
];

/// What the random scenarios have brought about, and how often: agreement on what never happens
/// proves nothing.
#[derive(Default, Debug)]
pub(crate) struct Seen(BTreeMap<&'static str, u64>);

impl Seen {
    fn note(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    pub(crate) fn add(&mut self, other: Seen) {
        for (what, times) in other.0 {
            *self.0.entry(what).or_default() += times;
        }
    }

    pub(crate) fn count(&mut self, rows: &Rows) {
        for row in &rows.attempts {
            self.note("attempt");
            self.note(row.failure.map_or("no failure", |class| class.name()));
            self.note(row.recovery.map_or("first attempt", |action| action.name()));
            self.note(row.breaker.name());
            if let Some(Decision::Stop(reason)) = row.decision {
                self.note(reason.name());
            }
            if row.decision == Some(Decision::Await) {
                self.note("await");
            }
            for (happened, what) in [
                (row.failure.is_some(), row.phase.name()),
                (row.cancelled, "given up"),
                (row.cancelled && row.failure.is_none(), "lost"),
                (row.cancelled && row.cost > Money::ZERO, "given up and billed"),
                (!row.was_sent, "no connection"),
                (row.first_chunk.is_some(), "a chunk without content"),
                (
                    row.failure.is_some()
                        && row.first_chunk.is_some()
                        && row.first_output.is_none(),
                    "failed between chunk and output",
                ),
                (row.waited > Duration::ZERO, "waited"),
                (row.retry_after.is_some(), "hint honoured"),
            ] {
                if happened {
                    self.note(what);
                }
            }
        }
        for row in &rows.requests {
            self.note(row.result.outcome.name());
            for (happened, what) in [
                (row.by.is_some(), "recovered"),
                (row.by == Some(RecoveryAction::Hedge), "answered by a hedge"),
                (!row.measured, "unmeasured"),
                (row.contract_success && !row.task_success, "task not done"),
                (row.transport_success && !row.contract_success, "contract not kept"),
                (row.result.outcome.name() == "success" && !row.answered, "silent failure"),
            ] {
                if happened {
                    self.note(what);
                }
            }
        }
    }

    pub(crate) fn assert_wide(&self) {
        let rare: Vec<_> = EXPECTED
            .into_iter()
            .filter(|what| self.0.get(what).copied().unwrap_or_default() < 100)
            .collect();
        assert!(rare.is_empty(), "hardly ever seen: {rare:?} of {:?}", self.0);
    }
}
