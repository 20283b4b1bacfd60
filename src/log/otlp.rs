//! OpenTelemetry spans with the attributes of the GenAI conventions, in OTLP's JSON encoding: each client
//! span of a model is an attempt, and those below one parent are the attempts of one request.

use serde_json::Value;
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::text::scaled;

use super::litellm::tokens;
use super::row::Row;
use super::{Unusable, mapped};

/// What is said of the format.
pub(super) const BLIND_TO: [&str; 3] = [
    "spans say which request is sent again only in the headers `idempotency-key` and `x-stainless-retry-count`: elsewhere one that comes within a minute of a failure in the same trace is taken for it",
    "the conventions have no deadlines or groups: roles are taken from the order of use",
    "bills are seen only where a span has `windtunnel.cost_usd` or `gen_ai.usage.cost`: elsewhere prices are zero until you put them into the cards",
];

/// Where a batch keeps its spans by resource: Tempo calls that `batches`, or puts a batch into a `trace`.
const BATCHES: [&str; 3] = ["/resourceSpans", "/batches", "/trace/resourceSpans"];
/// What calls of a model are called, also by instrumentations older than the conventions.
const OPERATION: [&str; 2] = ["gen_ai.operation.name", "llm.request.type"];
const FIRST: [&str; 2] =
    ["gen_ai.response.time_to_first_chunk", "gen_ai.response.time_to_first_token"];
const INPUT: [&str; 2] = ["gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"];
const OUTPUT: [&str; 2] = ["gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"];
const CACHED: [&str; 2] =
    ["gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"];

/// Whether an object is a batch of spans.
pub(super) fn is_batch(object: &Value) -> bool {
    BATCHES.iter().any(|place| object.pointer(place).is_some_and(Value::is_array))
}

/// Hands on every span of a batch; with one that cannot be used, what it is called.
pub(super) fn rows(batch: &Value, mut on_row: impl FnMut(Result<Row, Unusable>, &str)) {
    let list = |value: &Value, key: &str| -> Vec<Value> {
        value.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let resources = BATCHES.iter().find_map(|place| batch.pointer(place)?.as_array());
    for resource in resources.into_iter().flatten() {
        for scope in list(resource, "scopeSpans") {
            for span in list(&scope, "spans") {
                match if is_model(&span) { row(&span) } else { Err(Unusable::OtherKind) } {
                    Ok(row) => on_row(Ok(row), ""),
                    Err(why) => on_row(Err(why), &called(&span)),
                }
            }
        }
    }
}

/// What a span is called, its id and its operation, as far as it has them.
fn called(span: &Value) -> String {
    let text = |key: &str| span.get(key).and_then(as_text);
    let name = text("name").map_or("span".into(), |name| format!("span `{name}`"));
    let id = text("spanId").map_or(String::new(), |id| format!(" ({id})"));
    let operation = operation(span);
    name + &id + &operation.map_or(String::new(), |name| format!(", operation `{name}`"))
}

fn is_model(span: &Value) -> bool {
    operation(span).is_some_and(|name| {
        ["chat", "completion", "text_completion", "generate_content"].contains(&name.as_str())
    })
}

fn operation(span: &Value) -> Option<String> {
    OPERATION.iter().find_map(|key| attribute(span, key).and_then(as_text))
}

fn row(span: &Value) -> Result<Row, Unusable> {
    let missing = |key: &str| Unusable::Missing(key.to_owned());
    let micros = |of: &Value, key: &str| -> Result<u64, Unusable> {
        let nanos = of.get(key).and_then(as_text).ok_or_else(|| missing(key))?;
        nanos
            .parse::<u64>()
            .map(|nanos| nanos / 1_000)
            .map_err(|_| Unusable::Unreadable(key.into()))
    };
    let named = |key: &str| attribute(span, key).and_then(as_text).filter(|text| !text.is_empty());
    let any = |keys: &[&str]| keys.iter().find_map(|key| named(key));
    let number = |keys: &[&str]| any(keys).and_then(|text| text.parse::<u64>().ok());
    let trace = span.get("traceId").and_then(as_text).ok_or_else(|| missing("traceId"))?;
    let own = span.get("spanId").and_then(as_text).ok_or_else(|| missing("spanId"))?;
    let parent = span.get("parentSpanId").and_then(as_text).filter(|parent| !parent.is_empty());
    let model = any(&["gen_ai.request.model", "gen_ai.response.model"]);
    let provider = any(&["gen_ai.provider.name", "gen_ai.system"]);
    let target = any(&["server.address"]).or_else(|| model.clone());
    let event = |name: &str| {
        let events = span.get("events").and_then(Value::as_array)?;
        let event = events.iter().find(|event| {
            event.get("name").and_then(Value::as_str).is_some_and(|known| known.ends_with(name))
        })?;
        micros(event, "timeUnixNano").ok()
    };
    let header = |name: &str| {
        let values = attribute(span, &format!("http.request.header.{name}"))?;
        // Conventions keep headers as lists.
        let first = values.get("values").and_then(|values| values.get(0));
        let text = first.and_then(|value| value.get("stringValue")).unwrap_or(values);
        as_text(text)
    };
    let error = named("error.type");
    let code = span.pointer("/status/code").and_then(as_text);
    let failed = error.is_some() || matches!(code.as_deref(), Some("2" | "STATUS_CODE_ERROR"));
    let (sent, ended) = (micros(span, "startTimeUnixNano")?, micros(span, "endTimeUnixNano")?);
    let first_after = any(&FIRST).and_then(|seconds| scaled(&seconds, 1_000_000));
    let first_after = first_after.and_then(|micros| u64::try_from(micros).ok());
    let first_output = event("first_output").or_else(|| event("first_token"));
    let mut row = Row {
        request: format!("{trace}/{}", parent.unwrap_or(own)),
        target: Some(target.ok_or_else(|| missing("server.address"))?),
        provider,
        model: model.clone(),
        region: any(&["windtunnel.region", "cloud.region"]),
        sent_us: Some(sent),
        ended_us: Some(ended),
        headers_us: event("headers"),
        first_us: first_output.or_else(|| Some(sent.checked_add(first_after?)?.min(ended))),
        status: number(&["http.response.status_code", "http.status_code"])
            .and_then(|n| u16::try_from(n).ok()),
        input: number(&INPUT).map(tokens),
        cached: number(&CACHED).map(tokens),
        output: number(&OUTPUT).map(tokens),
        cost_pico: any(&["windtunnel.cost_usd", "gen_ai.usage.cost"]).and_then(|cost| {
            let dollars: f64 = cost.parse().ok()?;
            (0.0..1e6).contains(&dollars).then(|| libm::round(dollars * 1e12) as u64)
        }),
        action: header("idempotency-key"),
        resent: header("x-stainless-retry-count")
            .and_then(|count| count.parse().ok())
            .map(|times: u32| times > 0),
        likeness: Some(format!("{trace} {}", model.unwrap_or_default())),
        ..Row::default()
    };
    if failed {
        let class = error.as_deref().unwrap_or_default();
        row.failure = FailureClass::ALL.into_iter().find(|known| known.name() == class);
        let timed_out = class.to_lowercase().contains("timeout");
        row.cancelled = timed_out || row.failure == Some(FailureClass::CallerCancelled);
        if row.failure.is_none() {
            // Many instrumentations put the status here.
            row.status =
                row.status.filter(|s| *s >= 400).or_else(|| class.parse().ok()).or(Some(0));
            row.failure = if timed_out {
                Some(FailureClass::Timeout)
            } else {
                mapped::failure_by_status(&row)
            };
        }
        if row.cancelled {
            row.status = Some(0);
        }
        row.failed = true;
    }
    Ok(row)
}

fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a Value> {
    let list = span.get("attributes")?.as_array()?;
    let found =
        list.iter().find(|attribute| attribute.get("key").and_then(Value::as_str) == Some(key))?;
    found.get("value")?.as_object()?.values().next()
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}
