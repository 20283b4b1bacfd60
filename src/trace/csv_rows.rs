//! Rows of a CSV trace.

use std::io::Read;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

use super::RawRow;
use super::layout::Columns;
use crate::input::{InputError, did_you_mean, plain};

/// Hands every row to `row`, in the order of the file.
pub(super) fn each(
    name: &str,
    from: impl Read,
    columns: &Columns,
    mut row: impl FnMut(RawRow<'_>) -> Result<(), InputError>,
) -> Result<(), InputError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).from_reader(from);
    let header = reader.headers().map_err(|e| explain(name, &e))?.clone();
    if header.is_empty() {
        return Err(InputError::new(name, "is empty").fix("the first line names the columns"));
    }
    let places = Places::of(name, &header, columns)?;
    let mut record = StringRecord::new();
    while reader.read_record(&mut record).map_err(|e| explain(name, &e))? {
        let shown = record.iter().collect::<Vec<_>>().join(",");
        row(RawRow {
            line: record.position().map_or(0, csv::Position::line),
            shown: &shown,
            time: &record[places.time],
            input: &record[places.input],
            output: &record[places.output],
            max_output: places.max_output.map(|place| &record[place]),
            session: places.session.map(|place| &record[place]),
        })?;
    }
    Ok(())
}

/// Where the columns stand.
struct Places {
    time: usize,
    input: usize,
    output: usize,
    max_output: Option<usize>,
    session: Option<usize>,
}

impl Places {
    fn of(name: &str, header: &StringRecord, columns: &Columns) -> Result<Places, InputError> {
        let names: Vec<&str> =
            header.iter().map(|column| column.trim_start_matches('\u{feff}')).collect();
        refuse_twice(name, &names)?;
        let place = |column: &str| names.iter().position(|name| *name == column);
        let must = |column: &str| {
            place(column).ok_or_else(|| {
                let shown = header.iter().collect::<Vec<_>>().join(",");
                InputError::new(name, format!("there is no column `{column}`"))
                    .at(1, 0, &shown)
                    .fix(did_you_mean(column, "column", names.iter().copied()))
            })
        };
        let session = match &columns.session {
            Some(column) if columns.session_may_lack => place(column),
            Some(column) => Some(must(column)?),
            None => None,
        };
        Ok(Places {
            time: must(&columns.time)?,
            input: must(&columns.input)?,
            output: must(&columns.output)?,
            max_output: columns.max_output.as_deref().map(must).transpose()?,
            session,
        })
    }
}

/// Columns of one name cannot be told apart; those without a name are never read.
fn refuse_twice(name: &str, names: &[&str]) -> Result<(), InputError> {
    let twice = names.iter().enumerate().filter(|(_, column)| !column.is_empty()).find_map(
        |(second, column)| {
            let first = names[..second].iter().position(|earlier| earlier == column)?;
            Some((first, second, column))
        },
    );
    let Some((first, second, column)) = twice else { return Ok(()) };
    let message = format!("columns {} and {} are both called `{column}`", first + 1, second + 1);
    Err(InputError::new(name, message).at(1, 0, &names.join(",")).fix("rename or remove one"))
}

fn explain(name: &str, error: &csv::Error) -> InputError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        ErrorKind::Io(error) => InputError::new(name, format!("cannot be read: {}", plain(error))),
        ErrorKind::Utf8 { .. } => {
            InputError::new(name, "is not UTF-8 text").at(line, 0, "").fix("save it as UTF-8")
        }
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let message = format!("expected {expected_len} columns, found {len}");
            InputError::new(name, message)
                .at(line, 0, "")
                .fix("complete the row, or close a quote in it")
        }
        _ => InputError::new(name, "is not CSV").at(line, 0, ""),
    }
}
