//! Reads a trace in OTLP's JSON encoding from standard input with OpenTelemetry's own types, and holds
//! it against what the specification and the conventions for generative AI (1.37) ask for.

use std::collections::BTreeSet;
use std::io::Read;
use std::process::ExitCode;

use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span, TracesData};
use serde_json::Value;

/// Attributes of the conventions that a span of inference may have, as far as they are written here.
const GEN_AI: [&str; 7] = [
    "gen_ai.operation.name",
    "gen_ai.provider.name",
    "gen_ai.request.model",
    "gen_ai.request.max_tokens",
    "gen_ai.response.model",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens",
];

fn main() -> ExitCode {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).expect("readable input");
    match check(&text) {
        Ok(spans) => {
            println!("a stock parser takes the trace: {spans} spans");
            ExitCode::SUCCESS
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

fn check(text: &str) -> Result<usize, String> {
    let raw: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let traces: TracesData = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let again = serde_json::to_value(&traces).map_err(|error| error.to_string())?;
    kept("", &raw, &again)?;
    let mut spans = 0;
    let mut ids = BTreeSet::new();
    for resource in &traces.resource_spans {
        spans += resource_spans(resource, &mut ids)?;
    }
    holds(spans > 0, "no spans")?;
    Ok(spans)
}

/// Whatever was written is still there after it was read with OpenTelemetry's types.
fn kept(at: &str, written: &Value, read: &Value) -> Result<(), String> {
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    match (written, read) {
        (Value::Object(fields), Value::Object(other)) => fields.iter().try_for_each(|(key, value)| {
            let at = format!("{at}.{key}");
            match other.get(key) {
                Some(found) => kept(&at, value, found),
                None => Err(format!("{at} is not known to OpenTelemetry")),
            }
        }),
        (Value::Array(items), Value::Array(other)) if items.len() == other.len() => {
            items.iter().zip(other).try_for_each(|(item, found)| kept(at, item, found))
        }
        (Value::Array(_), _) | (Value::Object(_), _) => Err(format!("{at} was read otherwise")),
        // Whole numbers of 64 bits may be text or numbers.
        _ if plain(written) == plain(read) => Ok(()),
        _ => Err(format!("{at}: {written} was read as {read}")),
    }
}

fn resource_spans(resource: &ResourceSpans, ids: &mut BTreeSet<Vec<u8>>) -> Result<usize, String> {
    let attributes = resource.resource.as_ref().map(|r| r.attributes.as_slice());
    text(attributes.unwrap_or_default(), "service.name")?;
    let spans: Vec<&Span> = resource.scope_spans.iter().flat_map(|scope| &scope.spans).collect();
    let roots: Vec<&&Span> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    let [root] = roots[..] else { return Err(format!("{} spans without a parent", roots.len())) };
    for span in &spans {
        let name = &span.name;
        holds(span.trace_id.len() == 16 && span.trace_id == root.trace_id, "another trace")?;
        holds(span.span_id.len() == 8 && span.span_id.iter().any(|b| *b > 0), "no span id")?;
        holds(ids.insert([&span.trace_id[..], &span.span_id].concat()), "an id twice")?;
        let (start, end) = (span.start_time_unix_nano, span.end_time_unix_nano);
        holds(start > 0 && start <= end, &format!("{name}: ends before it starts"))?;
        for event in &span.events {
            let within = (start..=end).contains(&event.time_unix_nano);
            holds(within, &format!("{name}: {} outside of it", event.name))?;
        }
        let status = span.status.as_ref().ok_or("a span without a status")?;
        let failed = status.code == StatusCode::Error as i32;
        holds(failed || status.code == StatusCode::Ok as i32, "an unknown status")?;
        let typed = text(&span.attributes, "error.type").is_ok();
        holds(failed == typed, &format!("{name}: error.type and status disagree"))?;
        match span.parent_span_id.is_empty() {
            true => holds(span.kind == SpanKind::Server as i32, "a root that is no server's")?,
            false => attempt(span, root)?,
        }
    }
    Ok(spans.len())
}

/// A span of inference within its request.
fn attempt(span: &Span, root: &Span) -> Result<(), String> {
    let (name, has) = (&span.name, &span.attributes[..]);
    holds(span.parent_span_id == root.span_id, &format!("{name}: another parent"))?;
    holds(span.kind == SpanKind::Client as i32, &format!("{name}: is no client's"))?;
    let within = root.start_time_unix_nano <= span.start_time_unix_nano
        && span.end_time_unix_nano <= root.end_time_unix_nano;
    holds(within, &format!("{name}: outside of its request"))?;
    let unknown = has.iter().find(|a| a.key.starts_with("gen_ai.") && !GEN_AI.contains(&&*a.key));
    holds(unknown.is_none(), &format!("{name}: {unknown:?} is not in the conventions"))?;
    let (operation, model) =
        (text(has, "gen_ai.operation.name")?, text(has, "gen_ai.request.model")?);
    holds(*name == format!("{operation} {model}"), &format!("{name}: named otherwise"))?;
    text(has, "gen_ai.provider.name")?;
    text(has, "server.address")?;
    for key in ["server.port", "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"] {
        holds(whole(has, key)? >= 0, &format!("{name}: {key} below zero"))?;
    }
    Ok(())
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Result<&'a Any, String> {
    let found = attributes.iter().find(|attribute| attribute.key == key);
    let value = found.and_then(|attribute| attribute.value.as_ref()?.value.as_ref());
    value.ok_or_else(|| format!("no attribute {key}"))
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Result<&'a str, String> {
    match value(attributes, key)? {
        Any::StringValue(text) => Ok(text),
        other => Err(format!("{key} is no text: {other:?}")),
    }
}

fn whole(attributes: &[KeyValue], key: &str) -> Result<i64, String> {
    match value(attributes, key)? {
        Any::IntValue(number) => Ok(*number),
        other => Err(format!("{key} is no whole number: {other:?}")),
    }
}

fn holds(kept: bool, problem: &str) -> Result<(), String> {
    if kept { Ok(()) } else { Err(problem.into()) }
}
