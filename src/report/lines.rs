//! Rows of a large file, as CSV or JSON Lines, a field at a time and without allocating.

use std::io::Write;
use std::path::Path;

/// How rows are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowFormat {
    /// With a header line.
    Csv,
    /// One JSON object a line.
    JsonLines,
}

impl RowFormat {
    /// The format of a file by its ending; `None` where the ending is neither.
    pub fn of(path: &Path) -> Option<RowFormat> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "csv" => Some(RowFormat::Csv),
            "jsonl" | "ndjson" => Some(RowFormat::JsonLines),
            _ => None,
        }
    }

    /// The line above all rows; empty for JSON Lines.
    pub(super) fn header(self, columns: &[&str]) -> String {
        match self {
            RowFormat::Csv => columns.join(",") + "\n",
            RowFormat::JsonLines => String::new(),
        }
    }
}

/// Rows in memory, each with the same columns in the same order.
pub(super) struct Lines {
    format: RowFormat,
    columns: Vec<&'static str>,
    at: usize,
    bytes: Vec<u8>,
}

impl Lines {
    pub(super) fn new(format: RowFormat, columns: &[&'static str]) -> Lines {
        Lines { format, columns: columns.to_vec(), at: 0, bytes: Vec::new() }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
    }

    /// Text, quoted as need be.
    pub(super) fn text(&mut self, value: &str) {
        self.begin();
        match self.format {
            RowFormat::JsonLines => {
                serde_json::to_writer(&mut self.bytes, value).expect("writing to memory");
            }
            RowFormat::Csv if value.contains(['"', ',', '\n', '\r']) => {
                self.bytes.push(b'"');
                self.bytes.extend_from_slice(value.replace('"', "\"\"").as_bytes());
                self.bytes.push(b'"');
            }
            RowFormat::Csv => self.bytes.extend_from_slice(value.as_bytes()),
        }
    }

    /// Text, or nothing.
    pub(super) fn optional_text(&mut self, value: Option<&str>) {
        match value {
            Some(value) => self.text(value),
            None => self.nothing(),
        }
    }

    pub(super) fn integer(&mut self, value: u64) {
        self.begin();
        write!(self.bytes, "{value}").expect("writing to memory");
    }

    pub(super) fn truth(&mut self, value: bool) {
        self.begin();
        self.bytes.extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// Exactly `value` × 10^−`decimals`.
    pub(super) fn scaled(&mut self, value: u128, decimals: u32) {
        self.begin();
        let unit = 10_u128.pow(decimals);
        let (whole, rest) = (value / unit, value % unit);
        let decimals = decimals as usize;
        write!(self.bytes, "{whole}.{rest:0decimals$}").expect("writing to memory");
    }

    /// Seconds of microseconds.
    pub(super) fn seconds(&mut self, micros: u64) {
        self.scaled(u128::from(micros), 6);
    }

    /// Seconds, or nothing.
    pub(super) fn optional_seconds(&mut self, micros: Option<u64>) {
        match micros {
            Some(micros) => self.seconds(micros),
            None => self.nothing(),
        }
    }

    /// Dollars of picodollars.
    pub(super) fn dollars(&mut self, pico: u128) {
        self.scaled(pico, 12);
    }

    /// A figure, or nothing.
    pub(super) fn number(&mut self, value: Option<f64>) {
        match value {
            Some(value) => {
                self.begin();
                write!(self.bytes, "{value}").expect("writing to memory");
            }
            None => self.nothing(),
        }
    }

    /// A field without a value: empty in CSV, null in JSON.
    pub(super) fn nothing(&mut self) {
        self.begin();
        if self.format == RowFormat::JsonLines {
            self.bytes.extend_from_slice(b"null");
        }
    }

    /// Ends the row.
    ///
    /// # Panics
    /// Where it has not as many fields as there are columns.
    pub(super) fn end(&mut self) {
        assert_eq!(self.at, self.columns.len(), "a row has all its fields");
        self.at = 0;
        if self.format == RowFormat::JsonLines {
            self.bytes.push(b'}');
        }
        self.bytes.push(b'\n');
    }

    fn begin(&mut self) {
        let name = self.columns[self.at];
        match (self.format, self.at) {
            (RowFormat::Csv, 0) => {}
            (RowFormat::Csv, _) => self.bytes.push(b','),
            (RowFormat::JsonLines, at) => {
                self.bytes.push(if at == 0 { b'{' } else { b',' });
                self.bytes.push(b'"');
                self.bytes.extend_from_slice(name.as_bytes());
                self.bytes.extend_from_slice(b"\":");
            }
        }
        self.at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(format: RowFormat) -> String {
        let mut lines = Lines::new(format, &["a", "b", "c", "d", "e"]);
        lines.text("x, \"y\"");
        lines.seconds(1_500);
        lines.dollars(2_000_000_000_001);
        lines.nothing();
        lines.truth(true);
        lines.end();
        String::from_utf8(lines.bytes().to_vec()).unwrap()
    }

    #[test]
    fn both_formats_hold_the_same() {
        assert_eq!(row(RowFormat::Csv), "\"x, \"\"y\"\"\",0.001500,2.000000000001,,true\n");
        let json = row(RowFormat::JsonLines);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["a"], "x, \"y\"");
        assert_eq!(value["b"], 0.0015);
        assert!(value["d"].is_null());
    }

    #[test]
    #[should_panic(expected = "all its fields")]
    fn a_short_row_is_a_fault() {
        let mut lines = Lines::new(RowFormat::Csv, &["a", "b"]);
        lines.integer(1);
        lines.end();
    }
}
