//! Envoy's access log as JSON. Its keys are the operator's; those of Envoy's own default and of Envoy AI
//! Gateway are known.

use serde_json::Value;
use windtunnel_policy::outcome::FailureClass;

use super::litellm::tokens;
use super::nested::Nested;
use super::row::Row;
use super::values::{date_time, text, whole};
use super::{Unusable, mapped};
use crate::input::InputError;

/// What is said of the format.
pub(super) const BLIND_TO: [&str; 4] = [
    "Envoy's access log says that a request was sent again by an SDK or application only in fields `idempotency_key`, `x_stainless_retry_count` or `prompt_hash`: without them such requests count as demand",
    "Envoy does not log the first output or headers: an answer's time is laid on its first token",
    "Envoy does not log bills: prices are zero until you put them into the cards",
    "Envoy does not log deadlines or groups: roles are taken from the order of use",
];

const STATUS: [&str; 2] = ["response_code", "status"];
const SPAN: [&str; 2] = ["duration", "duration_ms"];
/// What operators call `%UPSTREAM_REQUEST_ATTEMPT_COUNT%` and headers of the request. Official SDKs send
/// how often they sent it before.
const ATTEMPTS: [&str; 3] =
    ["upstream_request_attempt_count", "x_envoy_attempt_count", "x-envoy-attempt-count"];
const ACTION: [&str; 2] = ["idempotency_key", "idempotency-key"];
const RESENT: [&str; 3] =
    ["x_stainless_retry_count", "x-stainless-retry-count", "stainless_retry_count"];
const LIKENESS: [&str; 2] = ["prompt_hash", "prompt-hash"];
/// What operators call `%ACCESS_LOG_TYPE%`.
const TYPE: [&str; 2] = ["access_log_type", "log_type"];

/// Whether an object is such an entry.
pub(super) fn is_entry(object: &Value) -> bool {
    let any = |keys: &[&str]| keys.iter().any(|key| object.get(key).is_some());
    any(&["start_time"]) && any(&STATUS) && any(&SPAN)
}

/// That requests and their attempts are in one log, and no field tells which is which.
pub(super) fn counts_twice(name: &str, nested: Nested) -> InputError {
    let Nested { several, spanned } = nested;
    let message = format!(
        "in {spanned} of {several} requests with several entries one spans the others: the downstream \
         and the upstream log, or those of two proxies, which would count requests twice"
    );
    InputError::new(name, message).fix(
        "log `%ACCESS_LOG_TYPE%` as `access_log_type`, or leave out all entries but those of one proxy's upstream log",
    )
}

/// The row of an entry.
///
/// # Errors
/// A field that every row needs is missing or cannot be read, or it is no entry of a request that ended.
pub(super) fn row(object: &Value) -> Result<Row, Unusable> {
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(object, key));
    let kind = first(&TYPE).unwrap_or_default();
    match kind.as_str() {
        "DownstreamStart" | "DownstreamPeriodic" | "UpstreamPoolReady" | "UpstreamPeriodic" => {
            return Err(Unusable::GoesOn);
        }
        tcp if tcp.starts_with("Tcp") || tcp.contains("Tunnel") => return Err(Unusable::OtherKind),
        _ => {}
    }
    let sent = date_time(object, "start_time")?;
    let key = SPAN.iter().copied().find(|key| object.get(key).is_some()).unwrap_or(SPAN[0]);
    let took = whole(object, key)?.ok_or_else(|| Unusable::Missing(key.into()))?;
    let key = STATUS.iter().copied().find(|key| object.get(key).is_some()).unwrap_or(STATUS[0]);
    let status = whole(object, key)?.and_then(|status| u16::try_from(status).ok());
    let status = status.ok_or_else(|| Unusable::Unreadable(key.into()))?;
    let target = first(&["genai_backend_name", "upstream_cluster", "upstream_host"]);
    let request = first(&["request_id", "x-request-id", "x_request_id", "request-id"]);
    let mut row = Row {
        // Without a name every entry is a request of its own.
        request: request.unwrap_or_else(|| format!("{sent} {took} {status} {target:?}")),
        of_request: kind == "DownstreamEnd",
        class: first(&["route_name"]),
        provider: first(&["genai_provider_name"]),
        model: first(&["genai_model_name_override", "genai_model_name", "genai_response_model"]),
        arrived_us: Some(sent),
        sent_us: Some(sent),
        ended_us: Some(sent.saturating_add(took.saturating_mul(1_000))),
        status: Some(status),
        input: whole(object, "genai_tokens_input")?.map(tokens),
        output: whole(object, "genai_tokens_output")?.map(tokens),
        tries: first(&ATTEMPTS).and_then(|count| count.parse().ok()),
        action: first(&ACTION),
        resent: first(&RESENT).and_then(|count| count.parse().ok()).map(|times: u32| times > 0),
        likeness: first(&LIKENESS),
        ..Row::default()
    };
    let flags = first(&["response_flags"]).unwrap_or_default();
    let flag = |name: &str| flags.split(',').any(|flag| flag.trim() == name);
    match target.filter(|target| target != "-") {
        Some(target) => row.target = Some(target),
        // No route, no healthy host, or refused by Envoy itself.
        None => row.not_sent = true,
    }
    row.failure = match () {
        () if flag("UT") || flag("SI") => Some(FailureClass::Timeout),
        () if flag("DC") => Some(FailureClass::CallerCancelled),
        () if flag("UC") || flag("UF") || flag("UR") || flag("LR") => Some(FailureClass::Transport),
        () if flag("UO") => Some(FailureClass::Overloaded),
        () if flag("RL") || flag("UAEX") => Some(FailureClass::GatewayDenied),
        () => mapped::failure_by_status(&row),
    };
    row.cancelled = flag("UT") || flag("SI") || flag("DC");
    if row.cancelled {
        row.status = Some(0);
    }
    row.end = Some(mapped::end_by(row.failure));
    Ok(row)
}
