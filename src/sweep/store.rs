//! `.sweep` files: a header and a row on each line, as far as a sweep has come.
//!
//! Rows are in the order of their numbers without a gap, so the file says by its length where to go
//! on. A last line that was cut short is not counted; any other that was changed is a mistake.

use std::io::BufRead;

use super::header::Header;
use super::lines::{Damage, Lines, check_header};
use super::row::Row;
use crate::input::InputError;

/// Why a `.sweep` file cannot be used.
fn broken(name: &str, line: u64, message: impl Into<String>) -> InputError {
    InputError::new(name, message).at(line, 1, "")
}

/// A line that is not as `sweep` wrote it.
fn changed(name: &str, line: u64, what: &str) -> InputError {
    broken(name, line, format!("this {what} is not as `sweep` wrote it"))
        .fix("take the file as it was written, or run it again: remove it, then the same command")
}

/// Reads a `.sweep` file row by row.
pub struct Rows<R> {
    name: String,
    reader: R,
    header: Header,
    lines: Lines,
    line: u64,
    bytes: u64,
    expected: Box<dyn Iterator<Item = u64> + Send>,
}

impl<R: BufRead> Rows<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// The file cannot be read, or begins with no header of this version.
    pub fn open(name: &str, mut reader: R) -> Result<Rows<R>, InputError> {
        let text = line(name, &mut reader)?.ok_or_else(|| {
            broken(name, 1, "holds no header")
                .fix("it is no `.sweep` file, or was cut short at once")
        })?;
        let no_header = || {
            broken(name, 1, "is no `.sweep` file of this version")
                .fix("name a file that `sweep --out FILE.sweep` has written")
        };
        let json = check_header(&text).map_err(|damage| match damage {
            Damage::Changed if text.starts_with("{\"windtunnel\":") => changed(name, 1, "header"),
            Damage::Changed | Damage::NoSum => no_header(),
        })?;
        let header: Header = serde_json::from_str(json).map_err(|_| no_header())?;
        let (lines, bytes) = (Lines::of(&header), text.len() as u64 + 1);
        let expected = Box::new(header.shard.rows(header.variants));
        Ok(Rows { name: name.into(), reader, header, lines, line: 1, bytes, expected })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// How many bytes the lines read so far take.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The next row; `None` at the end, and before a line that was cut short.
    ///
    /// # Errors
    /// The file cannot be read, or a line is no row, or not the one that is due.
    pub fn next_row(&mut self) -> Result<Option<Row>, InputError> {
        let Some(text) = line(&self.name, &mut self.reader)? else { return Ok(None) };
        self.line += 1;
        let json = self.lines.check(&text).map_err(|_| changed(&self.name, self.line, "row"))?;
        let row: Row = serde_json::from_str(json)
            .map_err(|_| broken(&self.name, self.line, "is no row of a sweep"))?;
        let due = self.expected.next();
        if due != Some(row.variant) {
            let due = due.map_or("no row".into(), |number| format!("row {number}"));
            let message = format!("expected {due}, found row {}", row.variant);
            return Err(broken(&self.name, self.line, message));
        }
        let shape = (row.fields.len(), row.figures.len());
        if shape != (self.header.fields.len(), self.header.figures.len()) {
            return Err(broken(&self.name, self.line, "has other columns than its header"));
        }
        self.bytes += text.len() as u64 + 1;
        Ok(Some(row))
    }

    /// True where every row of the file's shard was read.
    pub fn is_complete(&self) -> bool {
        let rows = self.header.shard.rows(self.header.variants).len() as u64;
        self.line == rows + 1
    }
}

/// A whole line without its line feed; `None` at the end or where the line has none.
fn line(name: &str, reader: &mut impl BufRead) -> Result<Option<String>, InputError> {
    let mut bytes = Vec::new();
    let failed = |error: std::io::Error| InputError::new(name, format!("cannot be read: {error}"));
    reader.read_until(b'\n', &mut bytes).map_err(failed)?;
    if bytes.pop() != Some(b'\n') {
        return Ok(None);
    }
    // What is no text matches no sum.
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}
