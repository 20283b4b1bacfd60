//! Traces: recorded arrivals, read row by row from CSV or JSON Lines.
//!
//! Rows stand in order of time. Those without output are failures of the recorded system: what
//! they would have cost is not in the trace, so they are left out, and a note says how many.
//! (BurstGPT records failures so; the Azure and Mooncake traces hold none.)

pub(crate) mod cells;
mod csv_rows;
mod json_rows;
pub(crate) mod layout;

use std::io::Read;
use std::path::Path;

use sha2::{Digest, Sha256};
use windtunnel_policy::Instant;

use crate::draw::NameHash;
use crate::input::{InputError, open};
use crate::profile::{About, Profile, Row};
use crate::scenario::{TraceLayout, TraceRow};
use layout::Columns;

/// More rows would not fit in memory beside the run.
const MOST_ROWS: usize = 10_000_000;
/// A longer span is a mistake in the unit of time.
const LONGEST_US: u64 = 400 * 86_400 * 1_000_000;

/// A trace in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// At least one, sorted by time, the first at zero.
    pub rows: Vec<TraceRow>,
    /// The time of the first as written, in µs.
    pub begins_us: u64,
    /// What was left out, one sentence each.
    pub notes: Vec<String>,
}

/// How a trace file is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TraceFormat {
    /// With a header line.
    Csv,
    /// One JSON object a line.
    JsonLines,
}

impl TraceFormat {
    /// The format of a file by its ending; `None` where the ending is neither.
    pub fn of(path: &Path) -> Option<TraceFormat> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(TraceFormat::Csv),
            "jsonl" | "ndjson" => Some(TraceFormat::JsonLines),
            _ => None,
        }
    }
}

/// Reads a trace from disk; its ending says how it is written.
///
/// # Errors
/// The file cannot be read, a column is missing, or a row is malformed or out of order.
pub fn read_trace(path: &Path, layout: &TraceLayout) -> Result<Trace, InputError> {
    let name = path.display().to_string();
    let file = open(path)?;
    let format = TraceFormat::of(path).ok_or_else(|| {
        InputError::new(&name, "expected a trace that ends in .csv or .jsonl").fix("rename it")
    })?;
    parse_trace(&name, std::io::BufReader::new(file), format, layout)
}

/// Reads a trace; `name` is what messages call it.
///
/// # Errors
/// Reading fails, a column is missing, or a row is malformed or out of order.
pub fn parse_trace(
    name: &str,
    from: impl Read,
    format: TraceFormat,
    layout: &TraceLayout,
) -> Result<Trace, InputError> {
    let columns = Columns::of(name, layout)?;
    let mut builder =
        Builder { name, columns: &columns, rows: Vec::new(), first: None, last: 0, failed: 0 };
    match format {
        TraceFormat::Csv => csv_rows::each(name, from, &columns, |row| builder.add(row))?,
        TraceFormat::JsonLines => json_rows::each(name, from, &columns, |row| builder.add(row))?,
    }
    builder.finish()
}

impl Trace {
    /// The traffic profile of this trace: its arrivals and lengths, without its rows.
    pub fn profile(&self, about: About) -> Profile {
        let row = |row: &TraceRow| Row {
            at_us: row.at.as_micros(),
            input: row.input,
            output: row.output,
            session: row.session,
            label: String::new(),
        };
        let rows: Vec<Row> = self.rows.iter().map(row).collect();
        Profile::from_trace(&rows, about).expect("a trace has rows, sorted by time")
    }

    /// SHA-256 over the rows.
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for row in &self.rows {
            let max = row.max_output.map_or(u64::MAX, u64::from);
            let figures =
                [row.at.as_micros(), u64::from(row.input), u64::from(row.output), max, row.session];
            figures.iter().for_each(|figure| hash.update(figure.to_le_bytes()));
        }
        hash.finalize().into()
    }
}

/// One row as text, in the order of [`Columns`].
struct RawRow<'a> {
    line: u64,
    /// The row as it is shown in messages.
    shown: &'a str,
    time: &'a str,
    input: &'a str,
    output: &'a str,
    max_output: Option<&'a str>,
    session: Option<&'a str>,
}

struct Builder<'a> {
    name: &'a str,
    columns: &'a Columns,
    rows: Vec<TraceRow>,
    /// Times since the trace's own origin, in µs.
    first: Option<u64>,
    last: u64,
    failed: u64,
}

impl Builder<'_> {
    fn add(&mut self, raw: RawRow<'_>) -> Result<(), InputError> {
        let columns = self.columns;
        let fault = |column: &str, message: String| {
            InputError::new(self.name, message).field(column).at(raw.line, 0, raw.shown)
        };
        let tokens = |column: &str, text: &str| cells::tokens(text).map_err(|m| fault(column, m));
        let time = cells::time(raw.time, columns.unit).map_err(|m| fault(&columns.time, m))?;
        let input = tokens(&columns.input, raw.input)?;
        let output = tokens(&columns.output, raw.output)?;
        let max_output = match (&columns.max_output, raw.max_output.filter(|text| !text.is_empty()))
        {
            (Some(column), Some(text)) => Some(tokens(column, text)?),
            _ => None,
        };
        if self.first.is_some() && time < self.last {
            let message = format!("`{}` is earlier than the row before", raw.time.trim());
            return Err(fault(&columns.time, message).fix("sort the trace by time"));
        }
        let first = *self.first.get_or_insert(time);
        self.last = time;
        if time - first > LONGEST_US {
            let message = "is more than 400 days after the first row".to_owned();
            return Err(fault(&columns.time, message).fix("check the unit of time"));
        }
        if output == 0 {
            self.failed += 1;
            return Ok(());
        }
        if self.rows.len() == MOST_ROWS {
            let message = format!("more than {MOST_ROWS} rows");
            return Err(fault("", message).fix("cut the trace, or make a profile of it"));
        }
        let session = raw.session.map(str::trim).filter(|name| !name.is_empty());
        self.rows.push(TraceRow {
            at: Instant::from_micros(time - first),
            input,
            output,
            max_output,
            session: session.map_or(0, |name| NameHash::of(name).as_u64()),
        });
        Ok(())
    }

    fn finish(mut self) -> Result<Trace, InputError> {
        let Some(first) = self.rows.first().map(|row| row.at) else {
            let what = if self.failed == 0 { "holds no rows" } else { "holds no row with output" };
            return Err(InputError::new(self.name, what).fix("a trace needs at least one request"));
        };
        // Failed rows before the first good one do not shift the rest.
        let start = first.as_micros();
        let begins_us = self.first.unwrap_or(0).saturating_add(start);
        for row in &mut self.rows {
            row.at = Instant::from_micros(row.at.as_micros() - start);
        }
        let mut notes = Vec::new();
        if self.failed > 0 {
            let all = self.failed + self.rows.len() as u64;
            notes.push(format!(
                "{}: {} of {all} rows have no output (failures of the recorded system) and are \
                 left out",
                self.name, self.failed
            ));
        }
        Ok(Trace { rows: self.rows, begins_us, notes })
    }
}

#[cfg(test)]
mod tests;
