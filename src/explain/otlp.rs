//! A request's life as an OpenTelemetry trace: OTLP in its JSON encoding, with the attributes of the
//! semantic conventions for generative AI (1.37).
//!
//! A simulated request has no date: its clock begins with 2025-01-01T00:00:00Z.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use windtunnel_policy::Instant;
use windtunnel_policy::event::{Action, Decision};

use super::{Explanation, Place, Told};
use crate::record::AttemptRow;

/// The first instant of a world, in nanoseconds since 1970.
const EPOCH_NS: u64 = 1_735_689_600_000_000_000;
/// `SPAN_KIND_SERVER` and `SPAN_KIND_CLIENT`.
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
/// `STATUS_CODE_OK` and `STATUS_CODE_ERROR`.
const OK: u8 = 1;
const ERROR: u8 = 2;

pub(super) fn traces(all: &Explanation) -> String {
    let resources: Vec<Value> = all.lives.iter().map(|told| resource(all, told)).collect();
    format!("{:#}\n", json!({ "resourceSpans": resources }))
}

fn resource(all: &Explanation, told: &Told) -> Value {
    let mut spans = vec![request(all, told)];
    spans.extend(told.attempts.iter().map(|row| attempt(all, told, row)));
    json!({
        "resource": { "attributes": [
            text("service.name", "windtunnel"),
            text("service.version", env!("CARGO_PKG_VERSION")),
            text("windtunnel.scenario", &all.scenario),
            text("windtunnel.policy", &told.policy),
            whole("windtunnel.world", all.world.into()),
        ]},
        "scopeSpans": [{
            "scope": { "name": "windtunnel", "version": env!("CARGO_PKG_VERSION") },
            "spans": spans,
        }],
    })
}

/// The caller's request, with the decisions on it as events.
fn request(all: &Explanation, told: &Told) -> Value {
    let row = &told.row;
    let mut attributes = vec![
        text("windtunnel.class", told.names.class(row.class)),
        whole("windtunnel.request", row.request),
        text("windtunnel.outcome", row.result.outcome.name()),
        whole("windtunnel.attempts", row.result.attempts.into()),
        number("windtunnel.cost_usd", row.cost.as_pico() as f64 / 1e12),
        whole("http.response.status_code", row.result.status.into()),
    ];
    if let Some(asked) = told.asked() {
        attributes.push(whole("windtunnel.action", asked.action));
        attributes.push(whole("windtunnel.try.application", asked.tries.application.into()));
        attributes.push(whole("windtunnel.try.sdk", asked.tries.sdk.into()));
    }
    if let Some(record) = row.record {
        attributes.push(text("windtunnel.tool.record", record.name()));
    }
    let failed = row.result.status != 200;
    if failed {
        let class = row.result.class.map_or("_OTHER", |class| class.name());
        attributes.push(text("error.type", class));
    }
    let moments = told.course.iter().map(|happening| &happening.moment);
    let events: Vec<Value> = moments
        .flat_map(|moment| {
            moment.actions.iter().filter_map(|action| decision(told, moment.now, action))
        })
        .collect();
    json!({
        "traceId": trace_id(all, told),
        "spanId": span_id(all, told, 0),
        "name": format!("request {}", told.names.class(row.class)),
        "kind": SERVER,
        "startTimeUnixNano": nanos(row.arrived),
        "endTimeUnixNano": nanos(row.closed),
        "attributes": attributes,
        "events": events,
        "status": status(failed.then(|| row.result.outcome.name())),
    })
}

fn decision(told: &Told, now: Instant, action: &Action) -> Option<Value> {
    let (name, attributes) = match action {
        Action::Decided { attempt, decision } => {
            let mut attributes = vec![whole("windtunnel.attempt", attempt.number.into())];
            match decision {
                Decision::Recover { action, target, wait } => {
                    attributes.push(text("windtunnel.target", told.names.target(*target)));
                    attributes.push(text("windtunnel.recovery", action.name()));
                    attributes.push(number("windtunnel.wait_s", wait.as_micros() as f64 / 1e6));
                }
                Decision::Await => attributes.push(text("windtunnel.awaits", "the other attempt")),
                Decision::Stop(reason) => attributes.push(text("windtunnel.stop", reason.name())),
            }
            ("windtunnel.decision", attributes)
        }
        Action::Breaker { breaker, state, .. } => {
            let name = text("windtunnel.breaker", told.names.breaker(*breaker));
            ("windtunnel.breaker", vec![name, text("windtunnel.breaker.state", state.name())])
        }
        Action::Reconcile(attempt) => {
            ("windtunnel.reconcile", vec![whole("windtunnel.attempt", attempt.number.into())])
        }
        Action::LookUp { action, .. } => {
            ("windtunnel.look_up", vec![whole("windtunnel.action", *action)])
        }
        _ => return None,
    };
    Some(json!({ "timeUnixNano": nanos(now), "name": name, "attributes": attributes }))
}

/// One attempt: a client's span as the conventions for inference describe it.
fn attempt(all: &Explanation, told: &Told, row: &AttemptRow) -> Value {
    let place = &all.targets[usize::from(row.target.0)];
    let mut attributes = vec![
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.provider.name", provider(place)),
        text("gen_ai.request.model", &place.model),
        whole("gen_ai.usage.input_tokens", row.usage.input.into()),
        whole("gen_ai.usage.output_tokens", row.usage.output.into()),
        // The simulated server has no other name, and no port but the usual one.
        text("server.address", &place.name),
        whole("server.port", 443),
        whole("windtunnel.attempt", row.number.into()),
        whole("windtunnel.provider_calls", row.provider_calls()),
        text("windtunnel.breaker.state", row.breaker.name()),
        number("windtunnel.waited_s", row.waited.as_micros() as f64 / 1e6),
        number("windtunnel.cost_usd", row.cost.as_pico() as f64 / 1e12),
    ];
    if !place.region.is_empty() {
        attributes.push(text("windtunnel.region", &place.region));
    }
    if let Some(request) = told.asked() {
        attributes.push(whole("gen_ai.request.max_tokens", request.max_output_tokens.into()));
    }
    if row.headers.is_some() {
        attributes.push(text("gen_ai.response.model", &place.model));
    }
    if row.status > 0 {
        attributes.push(whole("http.response.status_code", row.status.into()));
    }
    if let Some(recovery) = row.recovery {
        attributes.push(text("windtunnel.recovery", recovery.name()));
    }
    let failure = row.failure.map(|class| class.name());
    attributes.extend(failure.map(|class| text("error.type", class)));
    let milestones = [
        ("windtunnel.headers", row.headers),
        ("windtunnel.first_chunk", row.first_chunk),
        ("windtunnel.first_output", row.first_output),
    ];
    let events: Vec<Value> = milestones
        .into_iter()
        .filter_map(|(name, at)| Some(json!({ "timeUnixNano": nanos(at?), "name": name })))
        .collect();
    json!({
        "traceId": trace_id(all, told),
        "spanId": span_id(all, told, row.number),
        "parentSpanId": span_id(all, told, 0),
        "name": format!("chat {}", place.model),
        "kind": CLIENT,
        "startTimeUnixNano": nanos(row.sent),
        "endTimeUnixNano": nanos(row.ended),
        "attributes": attributes,
        "events": events,
        "status": status(failure),
    })
}

/// The conventions' own word for a provider, where they have one.
fn provider(place: &Place) -> &str {
    match place.provider.as_str() {
        "azure" => "azure.ai.openai",
        "bedrock" => "aws.bedrock",
        "gemini" => "gcp.gemini",
        other => other,
    }
}

fn status(failure: Option<&str>) -> Value {
    match failure {
        Some(message) => json!({ "code": ERROR, "message": message }),
        None => json!({ "code": OK }),
    }
}

fn trace_id(all: &Explanation, told: &Told) -> String {
    hex(&all.digest(told, None)[..16])
}

/// The request's own span for attempt 0.
fn span_id(all: &Explanation, told: &Told, attempt: u16) -> String {
    hex(&all.digest(told, Some(attempt))[..8])
}

impl Explanation {
    /// The same request under the same policy is the same trace, whenever it is made.
    fn digest(&self, told: &Told, attempt: Option<u16>) -> Vec<u8> {
        let (policy, of) = (&told.policy, attempt.map_or("trace".to_owned(), |n| n.to_string()));
        let (scenario, seed, world, request) =
            (&self.scenario, self.seed, self.world, self.request);
        let text = format!("{scenario}\n{policy}\n{seed}\n{world}\n{request}\n{of}");
        Sha256::digest(text.as_bytes()).to_vec()
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whole numbers of 64 bits are text in this encoding.
fn nanos(at: Instant) -> String {
    (EPOCH_NS + at.as_micros().saturating_mul(1_000)).to_string()
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn whole(key: &str, value: u64) -> Value {
    json!({ "key": key, "value": { "intValue": value.to_string() } })
}

fn number(key: &str, value: f64) -> Value {
    json!({ "key": key, "value": { "doubleValue": value } })
}
