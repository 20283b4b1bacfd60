//! How a log is written, from its name and its first lines.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::{Deserializer, Value};

use super::{ColumnMap, Format, envoy, litellm, otlp};
use crate::input::{InputError, open, plain};

/// What is looked at of a file to know it, in bytes.
const LOOKED_AT: u64 = 1 << 20;
/// The same of an object over many lines.
const LONGEST_OBJECT: u64 = 64 << 20;

/// The format of the log at `path`; with a mapping, that of a table.
///
/// # Errors
/// It cannot be read, or is in no known format.
pub fn detect(path: &Path, map: Option<ColumnMap>) -> Result<Format, InputError> {
    let name = path.display().to_string();
    refuse_packed(path, &name)?;
    let start = start(path)?;
    let first = start.lines().next().unwrap_or_default();
    if let Some(map) = map {
        return Ok(Format::Mapped { map: Box::new(map), json: first.starts_with('{') });
    }
    let ours = |holds: &dyn Fn(&str) -> bool| {
        ["policy", "world", "attempt", "request_outcome"].iter().all(|c| holds(c))
    };
    if ours(&|column| first.split(',').any(|name| name.trim() == column)) {
        return Ok(Format::Ledger { json: false });
    }
    // Proxies write access logs between the lines of their own log.
    let objects = start.lines().filter_map(|line| serde_json::from_str(line.trim()).ok());
    let known = objects.into_iter().find_map(|value: Value| {
        let object = value.as_object()?;
        match () {
            () if ours(&|column| object.contains_key(column)) => {
                Some(Format::Ledger { json: true })
            }
            () if otlp::is_batch(&value) => Some(Format::Otlp { whole: false }),
            () if litellm::is_payload(&value) => Some(Format::LiteLlm),
            () if envoy::is_entry(&value) => Some(Format::Envoy),
            () => None,
        }
    });
    if let Some(known) = known {
        return Ok(known);
    }
    if first.starts_with(['{', '[']) {
        return over_many_lines(path, &name, first.starts_with('['));
    }
    Err(unknown(name))
}

/// Refuses what was packed when logs were rotated.
fn refuse_packed(path: &Path, name: &str) -> Result<(), InputError> {
    let mut begins = [0; 4];
    let read = open(path)?.read(&mut begins).unwrap_or(0);
    let packed = match &begins[..read] {
        [0x1f, 0x8b, ..] => ("gzip", "gunzip --keep"),
        [0x28, 0xb5, 0x2f, 0xfd] => ("zstd", "unzstd --keep"),
        [b'P', b'K', 3, 4] => ("zip", "unzip"),
        _ => return Ok(()),
    };
    let (kind, unpacks) = packed;
    let fix = format!("unpack it first: `{unpacks} {name}`");
    Err(InputError::new(name, format!("is packed ({kind})")).fix(fix))
}

fn unknown(name: String) -> InputError {
    InputError::new(name, "is a log in no format that is known by itself").fix(
        "say what its columns mean with `--columns MAP.yaml`; docs/examples/columns.yaml is one",
    )
}

/// The format of a file whose first line is no whole object: one batch of spans can be read so.
fn over_many_lines(path: &Path, name: &str, list: bool) -> Result<Format, InputError> {
    let file = BufReader::new(open(path)?).take(LONGEST_OBJECT);
    let mut values = Deserializer::from_reader(file).into_iter::<Value>();
    let first = values.next().and_then(Result::ok).unwrap_or_default();
    let alone = values.next().is_none();
    if otlp::is_batch(&first) && alone {
        return Ok(Format::Otlp { whole: true });
    }
    let known = |value: &Value| {
        otlp::is_batch(value) || litellm::is_payload(value) || envoy::is_entry(value)
    };
    let lists = |key: &str| first.get(key).and_then(Value::as_array);
    let within = ["data", "logs"].into_iter().find(|key| lists(key).is_some());
    let (message, filter) = match within {
        _ if list => ("is one list", ".[]".to_owned()),
        Some(key) => ("holds its rows in one list", format!(".{key}[]")),
        None if known(&first) => ("has objects over many lines", ".".to_owned()),
        None => return Err(unknown(name.to_owned())),
    };
    Err(InputError::new(name, message)
        .fix(format!("write one object a line: `jq -c '{filter}' LOG > LOG.jsonl`")))
}

/// The first lines of a file, from the first that is not blank.
fn start(path: &Path) -> Result<String, InputError> {
    let name = path.display().to_string();
    let failed =
        |e: std::io::Error| InputError::new(&name, format!("cannot be read: {}", plain(&e)));
    let mut reader = BufReader::new(open(path)?);
    let mut bytes = Vec::new();
    // All of a line that begins within what is looked at: a batch of spans may be long.
    loop {
        let before = bytes.len();
        let rest = LONGEST_OBJECT.saturating_sub(before as u64);
        reader.by_ref().take(rest).read_until(b'\n', &mut bytes).map_err(failed)?;
        if bytes.len() == before || bytes.len() as u64 >= LOOKED_AT {
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Err(InputError::new(&name, "is empty").fix("a log needs at least one attempt"));
    }
    Ok(text.to_owned())
}
