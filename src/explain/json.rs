//! A request's life for programs.

use serde_json::{Value, json};
use windtunnel_policy::event::Tries;
use windtunnel_policy::outcome::Execution;
use windtunnel_policy::{Duration, Instant};

use super::{Explanation, Happening, Told};
use crate::record::{AttemptRow, Call};

pub(super) fn explanation(all: &Explanation) -> String {
    let lives: Vec<Value> = all.lives.iter().map(|told| life(all, told)).collect();
    let all = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "scenario": all.scenario,
        "seed": all.seed,
        "world": all.world,
        "request": all.request,
        "policies": lives,
    });
    format!("{all:#}\n")
}

fn life(all: &Explanation, told: &Told) -> Value {
    let row = &told.row;
    let origin = row.arrived;
    let say = |action| told.names.action(action, origin);
    json!({
        "policy": told.policy,
        "arrived_s": seconds(origin.since(Instant::ZERO)),
        "closed_s": seconds(row.closed.since(origin)),
        "outcome": row.result.outcome.name(),
        "status": row.result.status,
        "stop": row.result.stop.map(|stop| stop.name()),
        "answered": row.answered,
        "action": told.asked().map(|asked| asked.action),
        "layer_path": told.asked().map(|asked| layer_path(asked.tries)),
        "record": row.record.map(Execution::name),
        "cost_usd": row.cost.as_pico() as f64 / 1e12,
        "breakers_at_arrival": told.breakers.iter().map(say).collect::<Vec<_>>(),
        "course": told.course.iter().map(|happening| course(told, happening)).collect::<Vec<_>>(),
        "tool_calls": told.calls.iter().map(|call| tool_call(told, call)).collect::<Vec<_>>(),
        "attempts": told.attempts.iter().map(|row| attempt(all, row)).collect::<Vec<_>>(),
    })
}

/// As the ledger's column of that name.
fn layer_path(tries: Tries) -> String {
    format!("{}.{}", tries.application, tries.sdk)
}

fn course(told: &Told, happening: &Happening) -> Value {
    let (moment, origin) = (&happening.moment, told.row.arrived);
    let say = |action| told.names.action(action, origin);
    json!({
        "t_s": seconds(moment.now.since(origin)),
        "elsewhere": happening.elsewhere,
        "event": told.names.event(&moment.event),
        "actions": moment.actions.iter().map(say).collect::<Vec<_>>(),
    })
}

/// Before zero where an earlier request of the action made it.
fn tool_call(told: &Told, call: &Call) -> Value {
    let (at, origin) = (call.at, told.row.arrived);
    let t_s = if at < origin { -seconds(origin.since(at)) } else { seconds(at.since(origin)) };
    json!({"t_s": t_s, "writes": call.writes})
}

fn attempt(all: &Explanation, row: &AttemptRow) -> Value {
    let place = &all.targets[usize::from(row.target.0)];
    let since = |at: Instant| seconds(at.since(row.arrived));
    json!({
        "attempt": row.number,
        "target": place.name,
        "provider": place.provider,
        "model": place.model,
        "region": place.region,
        "recovery": row.recovery.map(|action| action.name()),
        "breaker": row.breaker.name(),
        "waited_s": seconds(row.waited),
        "sent_s": since(row.sent),
        "headers_s": row.headers.map(since),
        "first_chunk_s": row.first_chunk.map(since),
        "first_output_s": row.first_output.map(since),
        "ended_s": since(row.ended),
        "sent": row.was_sent,
        "provider_calls": row.provider_calls(),
        "cancelled": row.cancelled,
        "status": row.status,
        "failure": row.failure.map(|class| class.name()),
        "phase": row.phase.name(),
        "input_tokens": row.usage.input,
        "cached_tokens": row.usage.cached,
        "output_tokens": row.usage.output,
        "cost_usd": row.cost.as_pico() as f64 / 1e12,
    })
}

fn seconds(length: Duration) -> f64 {
    length.as_micros() as f64 / 1e6
}
