//! Rows of a JSON Lines trace.

use std::io::{BufRead, BufReader, Read};

use serde_json::{Map, Value};

use super::RawRow;
use super::layout::Columns;
use crate::input::{InputError, did_you_mean, plain};

/// No row is longer: Mooncake's longest, with all its block ids, is some 10 kB.
const LONGEST_LINE: u64 = 4 << 20;

/// Hands every row to `row`, in the order of the file; blank lines are skipped.
pub(super) fn each(
    name: &str,
    from: impl Read,
    columns: &Columns,
    mut row: impl FnMut(RawRow<'_>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut reader = BufReader::new(from);
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        let fault = |message: &str, shown: &str| InputError::new(name, message).at(line, 0, shown);
        let read = reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes);
        let read =
            read.map_err(|e| InputError::new(name, format!("cannot be read: {}", plain(&e))))?;
        if read == 0 {
            break;
        }
        if bytes.len() as u64 == LONGEST_LINE {
            return Err(fault("the line is longer than 4 MiB", "").fix("one object a line"));
        }
        let text = std::str::from_utf8(&bytes)
            .map_err(|_| fault("is not UTF-8 text", "").fix("save it as UTF-8"))?;
        let shown = text.trim_start_matches('\u{feff}').trim();
        if shown.is_empty() {
            continue;
        }
        let object: Map<String, Value> = serde_json::from_str(shown).map_err(|e| {
            let at = u64::try_from(e.column()).unwrap_or(0);
            InputError::new(name, "expected a JSON object").at(line, at, shown).fix("one a line")
        })?;
        let cells = Cells { name, line, shown, object: &object };
        row(RawRow {
            line,
            shown,
            time: &cells.must(&columns.time)?,
            input: &cells.must(&columns.input)?,
            output: &cells.must(&columns.output)?,
            max_output: columns.max_output.as_deref().and_then(|c| cells.may(c)).as_deref(),
            session: columns.session.as_deref().and_then(|c| cells.may(c)).as_deref(),
        })?;
    }
    Ok(())
}

/// The fields of one row.
struct Cells<'a> {
    name: &'a str,
    line: u64,
    shown: &'a str,
    object: &'a Map<String, Value>,
}

impl Cells<'_> {
    fn must(&self, column: &str) -> Result<String, InputError> {
        let Some(value) = self.object.get(column) else {
            let names = self.object.keys().map(String::as_str);
            return Err(InputError::new(self.name, format!("there is no field `{column}`"))
                .at(self.line, 0, self.shown)
                .fix(did_you_mean(column, "field", names)));
        };
        Ok(text(value))
    }

    fn may(&self, column: &str) -> Option<String> {
        self.object.get(column).filter(|value| !value.is_null()).map(text)
    }
}

/// A value as a cell's text; what is neither number nor text fails as one.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
