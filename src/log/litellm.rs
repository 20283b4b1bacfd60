//! LiteLLM's standard logging payload, one JSON object a call.
//!
//! A call that LiteLLM's router repeats is logged once per call where its callbacks are on for each
//! deployment; failure callbacks may also fire once per request, and then earlier failures are missing.

use std::borrow::Cow;

use serde_json::Value;
use windtunnel_policy::normalise::{Provider, ProviderError};
use windtunnel_policy::outcome::FailureClass;

use super::json_lines::at;
use super::row::Row;
use super::values::{dollars, must, seconds, text, whole};
use super::{End, Unusable};

/// What is said of the format.
pub(super) const BLIND_TO: [&str; 4] = [
    "LiteLLM may call its failure callback for some requests once: failures before the last may be missing, and then the failing share is a lower bound",
    "LiteLLM does not log headers, wait hints or breaker states: none is simulated, and a target that was cooled down is seen as one without traffic",
    "LiteLLM does not say which request an application sends again: one that comes within a minute of a failure with the same cache key, messages or a retry count of an official SDK is taken for it; without those it counts as demand",
    "LiteLLM does not log deadlines or groups: roles are taken from the order of use",
];

/// The header in which official SDKs count how often they sent a request before.
const RETRY_COUNT: &str = "x-stainless-retry-count";

/// Whether an object is such a payload, or a row of the table of spend logs, which says the same in
/// other words.
pub(super) fn is_payload(object: &Value) -> bool {
    let has = |key: &&str| object.get(key).is_some();
    ["call_type", "startTime", "endTime"].iter().all(has) && ["status", "spend"].iter().any(has)
}

/// The row of a payload.
///
/// # Errors
/// It is no call of a model, or a field that every row needs is missing.
pub(super) fn row(object: &Value) -> Result<Row, Unusable> {
    let object = &*opened(object);
    let kind = text(object, "call_type").unwrap_or_default();
    if !["completion", "responses", "anthropic_messages", "generate"]
        .iter()
        .any(|k| kind.contains(k))
    {
        return Err(Unusable::OtherKind);
    }
    if text(object, "cache_hit").is_some_and(|hit| hit.eq_ignore_ascii_case("true")) {
        return Err(Unusable::OtherKind);
    }
    let target = ["model_id", "api_base", "model"].iter().find_map(|key| text(object, key));
    let status = ["status", "metadata.status"].iter().find_map(|key| text(object, key));
    // Spend logs of old say so of failures alone.
    let status = status.or_else(|| object.get("spend").map(|_| "success".into()));
    let status = status.ok_or_else(|| Unusable::Missing("status".into()))?;
    let sent = must(seconds, object, "startTime")?;
    let ended = must(seconds, object, "endTime")?;
    let request = ["trace_id", "litellm_trace_id", "session_id", "id", "request_id"]
        .iter()
        .find_map(|key| text(object, key));
    let cached = ["prompt_tokens_details.cached_tokens", "cache_read_input_tokens"]
        .iter()
        .find_map(|key| at(object, &format!("metadata.usage_object.{key}")));
    let mut row = Row {
        request: request.ok_or_else(|| Unusable::Missing("id".into()))?,
        class: text(object, "model_group"),
        target: Some(target.ok_or_else(|| Unusable::Missing("model".into()))?),
        provider: text(object, "custom_llm_provider"),
        model: text(object, "model"),
        sent_us: Some(sent),
        ended_us: Some(ended),
        input: whole(object, "prompt_tokens")?.map(tokens),
        output: whole(object, "completion_tokens")?.map(tokens),
        cached: cached.and_then(Value::as_u64).map(tokens),
        cost_pico: match dollars(object, "response_cost")? {
            None => dollars(object, "spend")?,
            cost => cost,
        },
        resent: resent(object),
        likeness: likeness(object),
        ..Row::default()
    };
    // LiteLLM sets it to the end where nothing was streamed.
    let first = seconds(object, "completionStartTime")?;
    row.first_us = first.filter(|&first| first < ended && first >= sent);
    if status == "success" {
        row.status = Some(200);
        return Ok(row);
    }
    fail(&mut row, object);
    Ok(row)
}

/// The object with what it holds as JSON in a text laid open: so spend logs keep their metadata.
fn opened(object: &Value) -> Cow<'_, Value> {
    let metadata = object.get("metadata").and_then(Value::as_str);
    match metadata.and_then(|text| serde_json::from_str(text).ok()) {
        None => Cow::Borrowed(object),
        Some(metadata) => {
            let mut object = object.clone();
            object["metadata"] = metadata;
            Cow::Owned(object)
        }
    }
}

/// Whether an official SDK says that it sent the request before: it counts in a header of its own.
fn resent(object: &Value) -> Option<bool> {
    let headers = at(object, "metadata.requester_custom_headers")?.as_object()?;
    let count = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(RETRY_COUNT))?.1;
    count.as_str()?.trim().parse().ok().map(|times: u32| times > 0)
}

/// What requests for the same thing share: the key of LiteLLM's own cache, or the messages.
fn likeness(object: &Value) -> Option<String> {
    let who = text(object, "end_user").unwrap_or_default();
    if let Some(key) = text(object, "cache_key").filter(|key| !key.contains("OFF")) {
        return Some(format!("{who} {key}"));
    }
    let messages = at(object, "messages")?;
    let shown = messages.to_string();
    // Where people keep messages out of their logs, all of them are alike.
    let says = !["[]", "{}", "\"\"", "\"[]\"", "\"{}\""].contains(&shown.as_str());
    (says && !shown.contains("redacted"))
        .then(|| format!("{who} {} {shown}", text(object, "model_group").unwrap_or_default()))
}

fn fail(row: &mut Row, object: &Value) {
    let of = |key: &str| {
        let of = |place: &str| text(object, &format!("{place}error_information.{key}"));
        of("").or_else(|| of("metadata.")).unwrap_or_default()
    };
    let (code, class) = (of("error_code"), of("error_class"));
    let message = text(object, "error_str").unwrap_or_else(|| of("error_message"));
    let status: u16 = code.parse().unwrap_or(0);
    let timed_out = class.contains("Timeout");
    row.status = Some(if timed_out { 0 } else { status });
    row.cancelled = timed_out;
    row.failure = Some(match class.as_str() {
        _ if timed_out => FailureClass::Timeout,
        "ContextWindowExceededError" => FailureClass::ContextOverflow,
        "ContentPolicyViolationError" => FailureClass::ContentPolicy,
        "APIConnectionError" => FailureClass::Transport,
        "RouterRateLimitError" | "BudgetExceededError" => FailureClass::GatewayDenied,
        _ => ProviderError {
            provider: provider(row.provider.as_deref().unwrap_or_default()),
            status,
            code: "",
            message: &message,
            in_stream: class == "MidStreamFallbackError",
            after_output: class == "MidStreamFallbackError",
        }
        .class(),
    });
    if matches!(row.failure, Some(FailureClass::ClientInvalid)) {
        row.end = Some(End::Invalid);
    }
}

fn provider(name: &str) -> Provider {
    match name {
        "openai" => Provider::OpenAi,
        "anthropic" => Provider::Anthropic,
        "gemini" | "vertex_ai" => Provider::Gemini,
        "azure" => Provider::AzureOpenAi,
        "bedrock" => Provider::Bedrock,
        _ => Provider::Other,
    }
}

/// A count that fits a token count.
pub(super) fn tokens(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
