//! Rows of a log in JSON Lines.

use std::borrow::Cow;
use std::io::{BufRead, Read};

use serde_json::Value;

use super::mapped::{self, Cells};
use super::row::Row;
use super::tabular::OnRow;
use super::{ColumnMap, Unusable, otlp};
use crate::input::{InputError, plain};

/// No line is longer: a batch of spans may be some megabytes.
const LONGEST_LINE: u64 = 64 << 20;

/// Hands the row of every line to `on_row`, by the mapping of its fields. A field may be a path,
/// such as `metadata.route`.
pub(super) fn each_mapped(
    name: &str,
    from: impl BufRead,
    map: &ColumnMap,
    on_row: &mut OnRow<'_>,
) -> Result<(), InputError> {
    each(name, from, |object, line, shown| {
        let row = match object {
            Some(object) => mapped::row(&Fields(&object), map),
            None => Err(Unusable::Malformed),
        };
        on_row(row, line, shown)
    })
}

/// Hands the row that `row` makes of every line to `on_row`.
pub(super) fn each_object(
    name: &str,
    from: impl BufRead,
    row: impl Fn(&Value) -> Result<Row, Unusable>,
    on_row: &mut OnRow<'_>,
) -> Result<(), InputError> {
    each(name, from, |object, line, shown| {
        on_row(object.ok_or(Unusable::Malformed).and_then(|object| row(&object)), line, shown)
    })
}

/// Hands every span of every batch to `on_row`; the file is one batch, or has one in each line.
pub(super) fn each_batch(
    name: &str,
    mut from: impl BufRead,
    whole: bool,
    on_row: &mut OnRow<'_>,
) -> Result<(), InputError> {
    let mut batch = |object: Option<Value>, line: u64, shown: &str| {
        let Some(object) = object else { return on_row(Err(Unusable::Malformed), line, shown) };
        let mut result = Ok(());
        // In a file that is one batch no line tells where a span stands.
        let line = if whole { 0 } else { line };
        otlp::rows(&object, |row, called| {
            if result.is_ok() {
                result = on_row(row, line, called);
            }
        });
        result
    };
    if !whole {
        return each(name, from, batch);
    }
    let mut bytes = Vec::new();
    let read = Read::by_ref(&mut from).take(LONGEST_LINE).read_to_end(&mut bytes);
    read.map_err(|e| InputError::new(name, format!("cannot be read: {}", plain(&e))))?;
    if bytes.len() as u64 == LONGEST_LINE {
        let message = "one object of more than 64 MiB";
        return Err(InputError::new(name, message).fix("export one batch a line"));
    }
    batch(serde_json::from_slice(&bytes).ok(), 1, "(not JSON)")
}

/// Hands every line to `on_line`: the value in it, `None` where it is no JSON; blank lines are
/// skipped.
pub(super) fn each(
    name: &str,
    mut from: impl BufRead,
    mut on_line: impl FnMut(Option<Value>, u64, &str) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let read = Read::by_ref(&mut from).take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        let read =
            read.map_err(|e| InputError::new(name, format!("cannot be read: {}", plain(&e))))?;
        if read == 0 {
            break;
        }
        if bytes.len() as u64 == LONGEST_LINE {
            let message = "the line is longer than 64 MiB";
            return Err(InputError::new(name, message).at(line, 0, "").fix("one object a line"));
        }
        let Ok(text) = std::str::from_utf8(&bytes) else {
            on_line(None, line, "(not UTF-8 text)")?;
            continue;
        };
        let shown = text.trim_start_matches('\u{feff}').trim();
        if shown.is_empty() {
            continue;
        }
        on_line(serde_json::from_str(shown).ok().filter(Value::is_object), line, shown)?;
    }
    Ok(())
}

/// The value at a path of keys; a key that holds the whole path goes first.
pub(super) fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let found = object.get(path).or_else(|| {
        let (first, rest) = path.split_once('.')?;
        at(object.get(first)?, rest)
    });
    found.filter(|value| !value.is_null())
}

struct Fields<'a>(&'a Value);

impl Cells for Fields<'_> {
    fn cell(&self, column: &str) -> Option<Cow<'_, str>> {
        match at(self.0, column)? {
            Value::String(text) if text.is_empty() => None,
            Value::String(text) => Some(Cow::Borrowed(text)),
            other => Some(Cow::Owned(other.to_string())),
        }
    }
}
