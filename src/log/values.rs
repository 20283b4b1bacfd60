//! Values of JSON objects, as logs write them: numbers as text, times as dates or numbers.

use serde_json::Value;
use windtunnel_policy::text::scaled;

use super::Unusable;
use super::json_lines::at;
use crate::trace::cells;
use crate::trace::layout::TimeUnit;

/// A text or a number as text; none where it is missing or empty.
pub(super) fn text(object: &Value, path: &str) -> Option<String> {
    match at(object, path)? {
        Value::String(text) if text.is_empty() || text == "-" => None,
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// A whole number.
pub(super) fn whole(object: &Value, path: &str) -> Result<Option<u64>, Unusable> {
    parse(object, path, |text| text.trim_end_matches(".0").parse().ok())
}

/// Seconds since 1970 as a number, or a date and time; in µs.
pub(super) fn seconds(object: &Value, path: &str) -> Result<Option<u64>, Unusable> {
    parse(object, path, |text| {
        let number = cells::time(text, TimeUnit::Micros(1_000_000)).ok();
        number.or_else(|| cells::time(text, TimeUnit::DateTime).ok())
    })
}

/// A date and time, in µs since 1970.
pub(super) fn date_time(object: &Value, path: &str) -> Result<u64, Unusable> {
    let read = |object: &Value, path: &str| {
        parse(object, path, |text| cells::time(text, TimeUnit::DateTime).ok())
    };
    must(read, object, path)
}

/// Dollars, in picodollars. Numbers may have an exponent: costs of a call are small.
pub(super) fn dollars(object: &Value, path: &str) -> Result<Option<u64>, Unusable> {
    parse(object, path, |text| {
        let exact = scaled(text, 1_000_000_000_000).and_then(|pico| u64::try_from(pico).ok());
        exact.or_else(|| {
            let dollars: f64 = text.parse().ok()?;
            (0.0..1e6).contains(&dollars).then(|| libm::round(dollars * 1e12) as u64)
        })
    })
}

/// What must be there.
pub(super) fn must<T>(
    read: impl Fn(&Value, &str) -> Result<Option<T>, Unusable>,
    object: &Value,
    path: &str,
) -> Result<T, Unusable> {
    read(object, path)?.ok_or_else(|| Unusable::Missing(path.to_owned()))
}

fn parse<T>(
    object: &Value,
    path: &str,
    of: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Unusable> {
    match text(object, path) {
        None => Ok(None),
        Some(text) => of(&text).map(Some).ok_or_else(|| Unusable::Unreadable(path.to_owned())),
    }
}
