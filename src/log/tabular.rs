//! Rows of a log in CSV.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;

use csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};

use super::mapped::{self, Cells};
use super::row::Row;
use super::{ColumnMap, Unusable};
use crate::input::{InputError, did_you_mean, plain};

/// Takes a row, its line, and its text.
pub(super) type OnRow<'a> =
    dyn FnMut(Result<Row, Unusable>, u64, &str) -> Result<(), InputError> + 'a;

/// Hands every row to `on_row`, in the order of the file.
pub(super) fn each(
    name: &str,
    from: impl BufRead,
    map: &ColumnMap,
    on_row: &mut OnRow<'_>,
) -> Result<(), InputError> {
    let mut reader = ReaderBuilder::new().trim(Trim::All).flexible(true).from_reader(from);
    let header = reader.headers().map_err(|e| explain(name, &e))?.clone();
    let places = places(name, &header, map)?;
    let mut record = StringRecord::new();
    loop {
        let more = match reader.read_record(&mut record) {
            Ok(more) => more,
            Err(error) if matches!(error.kind(), ErrorKind::Utf8 { .. }) => {
                let line = error.position().map_or(0, csv::Position::line);
                on_row(Err(Unusable::Malformed), line, "(not UTF-8 text)")?;
                continue;
            }
            Err(error) => return Err(explain(name, &error)),
        };
        if !more {
            return Ok(());
        }
        let line = record.position().map_or(0, csv::Position::line);
        let row = match record.len() == header.len() {
            true => mapped::row(&Line { record: &record, places: &places }, map),
            false if record.iter().any(|cell| cell.contains('\n')) => Err(Unusable::OpenQuote),
            false => Err(Unusable::Malformed),
        };
        match row {
            Ok(row) => on_row(Ok(row), line, "")?,
            Err(why) => on_row(Err(why), line, &record.iter().collect::<Vec<_>>().join(","))?,
        }
    }
}

/// Where columns stand. Those the mapping names must be there.
fn places(
    name: &str,
    header: &StringRecord,
    map: &ColumnMap,
) -> Result<BTreeMap<String, usize>, InputError> {
    if header.is_empty() {
        return Err(InputError::new(name, "is empty").fix("the first line names the columns"));
    }
    let names = header.iter().map(|column| column.trim_start_matches('\u{feff}').to_owned());
    let mut places = BTreeMap::new();
    for (place, column) in names.enumerate() {
        // Of two columns of one name the first is read.
        places.entry(column).or_insert(place);
    }
    for column in map.named() {
        if !places.contains_key(column) {
            let shown = header.iter().collect::<Vec<_>>().join(",");
            return Err(InputError::new(name, format!("there is no column `{column}`"))
                .at(1, 0, &shown)
                .fix(did_you_mean(column, "column", places.keys().map(String::as_str))));
        }
    }
    Ok(places)
}

struct Line<'a> {
    record: &'a StringRecord,
    places: &'a BTreeMap<String, usize>,
}

impl Cells for Line<'_> {
    fn cell(&self, column: &str) -> Option<Cow<'_, str>> {
        let text = self.record.get(*self.places.get(column)?)?;
        (!text.is_empty()).then_some(Cow::Borrowed(text))
    }
}

pub(super) fn explain(name: &str, error: &csv::Error) -> InputError {
    let line = error.position().map_or(0, csv::Position::line);
    match error.kind() {
        ErrorKind::Io(error) => InputError::new(name, format!("cannot be read: {}", plain(error))),
        ErrorKind::Utf8 { .. } => {
            InputError::new(name, "is not UTF-8 text").at(line, 0, "").fix("save it as UTF-8")
        }
        _ => InputError::new(name, "is not CSV").at(line, 0, ""),
    }
}
