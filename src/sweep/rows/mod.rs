//! The rows of a sweep as tables for other programs, written as they come.

mod csv;
mod jsonl;
#[cfg(feature = "parquet")]
mod parquet;

use std::io::{self, Write};
use std::path::Path;

use super::header::Header;
use super::row::Row;

/// How a table is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableFormat {
    /// Comma-separated values, with a header.
    Csv,
    /// One JSON object for each row.
    JsonLines,
    /// Apache Parquet.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl TableFormat {
    /// The endings that name a format, for messages.
    pub const ENDINGS: &str =
        if cfg!(feature = "parquet") { ".csv, .jsonl, .parquet" } else { ".csv, .jsonl" };

    /// The format of a file by its ending; `None` where the ending names none.
    pub fn of(path: &Path) -> Option<TableFormat> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(TableFormat::Csv),
            "jsonl" => Some(TableFormat::JsonLines),
            #[cfg(feature = "parquet")]
            "parquet" => Some(TableFormat::Parquet),
            _ => None,
        }
    }
}

/// A table being written.
pub struct Table<W: Write + Send>(Kind<W>);

enum Kind<W: Write + Send> {
    Csv(Box<csv::Csv<W>>),
    JsonLines(jsonl::JsonLines<W>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Parquet<W>>),
}

impl<W: Write + Send> Table<W> {
    /// Begins a table.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn new(out: W, format: TableFormat, header: &Header) -> io::Result<Table<W>> {
        Ok(Table(match format {
            TableFormat::Csv => Kind::Csv(Box::new(csv::Csv::new(out, header)?)),
            TableFormat::JsonLines => Kind::JsonLines(jsonl::JsonLines::new(out, header)),
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => Kind::Parquet(Box::new(parquet::Parquet::new(out, header)?)),
        }))
    }

    /// Adds a row.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        match &mut self.0 {
            Kind::Csv(table) => table.write(row),
            Kind::JsonLines(table) => table.write(row),
            #[cfg(feature = "parquet")]
            Kind::Parquet(table) => table.write(row),
        }
    }

    /// Completes the table.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn finish(self) -> io::Result<W> {
        match self.0 {
            Kind::Csv(table) => table.finish(),
            Kind::JsonLines(table) => Ok(table.finish()),
            #[cfg(feature = "parquet")]
            Kind::Parquet(table) => table.finish(),
        }
    }
}
