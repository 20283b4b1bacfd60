//! How a log is written, from its name and its first line.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::{ColumnMap, Format, envoy, litellm, otlp};
use crate::input::{InputError, open, plain};

/// A first line is looked at no further.
const LOOKED_AT: u64 = 1 << 20;

/// The format of the log at `path`; with a mapping, that of a table.
///
/// # Errors
/// It cannot be read, or is in no known format.
pub fn detect(path: &Path, map: Option<ColumnMap>) -> Result<Format, InputError> {
    let name = path.display().to_string();
    let first = first_line(path)?;
    let json = first.starts_with('{');
    if let Some(map) = map {
        return Ok(Format::Mapped { map: Box::new(map), json });
    }
    let ours = |holds: &dyn Fn(&str) -> bool| {
        ["policy", "world", "attempt", "request_outcome"].iter().all(|c| holds(c))
    };
    if json {
        let value: Option<serde_json::Value> = serde_json::from_str(&first).ok();
        let object = value.as_ref().and_then(serde_json::Value::as_object);
        if object.is_some_and(|object| ours(&|column| object.contains_key(column))) {
            return Ok(Format::Ledger { json });
        }
        match &value {
            Some(value) if otlp::is_batch(value) => return Ok(Format::Otlp { whole: false }),
            Some(value) if litellm::is_payload(value) => return Ok(Format::LiteLlm),
            Some(value) if envoy::is_entry(value) => return Ok(Format::Envoy),
            // An object over several lines.
            None if first == "{" => return Ok(Format::Otlp { whole: true }),
            _ => {}
        }
    } else if ours(&|column| first.split(',').any(|name| name.trim() == column)) {
        return Ok(Format::Ledger { json });
    }
    Err(InputError::new(name, "is a log in no format that is known by itself").fix(
        "say what its columns mean with `--columns MAP.yaml`; docs/examples/columns.yaml is one",
    ))
}

fn first_line(path: &Path) -> Result<String, InputError> {
    let name = path.display().to_string();
    let failed =
        |e: std::io::Error| InputError::new(&name, format!("cannot be read: {}", plain(&e)));
    let mut reader = BufReader::new(open(path)?).take(LOOKED_AT);
    let mut bytes = Vec::new();
    while bytes.iter().all(u8::is_ascii_whitespace) {
        bytes.clear();
        if reader.read_until(b'\n', &mut bytes).map_err(failed)? == 0 {
            return Err(InputError::new(&name, "is empty").fix("a log needs at least one attempt"));
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_start_matches('\u{feff}').trim().to_owned())
}
