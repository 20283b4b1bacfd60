//! One JSON object, described in `docs/drills.md`.

use serde_json::{Value, json};
use windtunnel_policy::Instant;
use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::Decision;
use windtunnel_policy::outcome::FailureClass;

use super::{DrillReport, PolicyDrilled};
use crate::drill::{Breach, Drilled, Finding, Verdict};
use crate::record::{AttemptRow, RequestRow};
use crate::report::{FORMAT, VERSION};

pub(super) fn render(report: &DrillReport) -> String {
    let object = json!({
        "windtunnel": {"version": VERSION, "format": FORMAT, "seed": report.seed},
        "policies": report.policies.iter().map(policy).collect::<Vec<Value>>(),
    });
    let mut text = serde_json::to_string_pretty(&object).expect("plain values");
    text.push('\n');
    text
}

fn policy(policy: &PolicyDrilled) -> Value {
    let failed = policy.failed().next().is_some();
    json!({
        "name": policy.name,
        "hash": policy.hash,
        "verdict": if failed { "failed" } else { "passed" },
        "drills": policy.drills.iter().map(drill).collect::<Vec<Value>>(),
    })
}

fn drill(drilled: &Drilled) -> Value {
    json!({
        "number": drilled.drill.number,
        "name": drilled.drill.name,
        "checks": drilled.drill.checks,
                "scenario_hash": drilled.scenario_hash,
        "verdict": drilled.verdict.name(),
        "reason": reason(&drilled.verdict),
        "rules": drilled.findings.iter().map(|f| rule(drilled, f)).collect::<Vec<Value>>(),
    })
}

fn reason(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::NotApplicable(reason) => Some(reason),
        Verdict::Passed { .. } | Verdict::Failed(_) => None,
    }
}

fn rule(drilled: &Drilled, finding: &Finding) -> Value {
    let (seen, broken) = match &finding.verdict {
        Verdict::Passed { seen } => (*seen, 0),
        Verdict::Failed(breach) => (breach.seen, breach.broken),
        Verdict::NotApplicable(_) => (0, 0),
    };
    let breach = match &finding.verdict {
        Verdict::Failed(breach) => Some(evidence(drilled, breach)),
        _ => None,
    };
    json!({
        "rule": finding.rule.text,
        "held_by": finding.rule.held_by.name(),
        "verdict": finding.verdict.name(),
        "reason": reason(&finding.verdict),
        "seen": seen,
        "broken": broken,
        "breach": breach,
    })
}

fn evidence(drilled: &Drilled, breach: &Breach) -> Value {
    json!({
        "what": breach.what,
        "change": breach.change,
        "request": breach.request.as_ref().map(|row| request(drilled, row)),
        "attempts_left_out": breach.left_out,
        "attempts": breach.attempts.iter().map(|row| attempt(drilled, row)).collect::<Vec<Value>>(),
    })
}

/// Under the names of the ledger's columns.
fn request(drilled: &Drilled, row: &RequestRow) -> Value {
    json!({
        "request": row.request,
        "class": drilled.classes[usize::from(row.class)],
        "arrived_s": seconds(row.arrived),
        "request_closed_s": seconds(row.closed),
        "request_outcome": row.result.outcome.name(),
        "request_status": row.result.status,
        "request_stop": row.result.stop.map(|stop| stop.name()),
        "request_retryable": row.result.retryable,
        "request_answered": row.answered,
        "request_cost_usd": row.cost.as_dollars(),
    })
}

/// Under the names of the ledger's columns.
fn attempt(drilled: &Drilled, row: &AttemptRow) -> Value {
    let (decision, why) = match row.decision {
        None => (None, None),
        Some(Decision::Recover { action, .. }) => (Some("recover"), Some(action.name())),
        Some(Decision::Await) => (Some("await"), None),
        Some(Decision::Stop(reason)) => (Some("stop"), Some(reason.name())),
    };
    json!({
        "request": row.request,
        "attempt": row.number,
        "target": drilled.targets[usize::from(row.target.0)],
        "recovery": row.recovery.map_or("first", RecoveryAction::name),
        "status": row.status,
        "failure": row.failure.map(FailureClass::name),
        "phase": row.phase.name(),
        "breaker": row.breaker.name(),
        "waited_s": row.waited.as_micros() as f64 / 1e6,
        "retry_after_s": row.retry_after.map(|hint| hint.as_micros() as f64 / 1e6),
        "sent_s": seconds(row.sent),
        "first_output_s": row.first_output.map(seconds),
        "ended_s": seconds(row.ended),
        "cancelled": row.cancelled,
        "remaining_s": row.remaining.as_micros() as f64 / 1e6,
        "cost_usd": row.cost.as_dollars(),
        "decision": decision,
        "decision_reason": why,
    })
}

fn seconds(at: Instant) -> f64 {
    at.as_micros() as f64 / 1e6
}
