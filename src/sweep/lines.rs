//! The lines of `.sweep` files: JSON, a tab, and a sum of both it and the sweep it belongs to. A line
//! that was edited, or put in from another sweep, does not match its sum.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::header::Header;
use super::row::Row;

/// Digits of a sum.
const DIGITS: usize = 16;

/// Writes and checks the lines of one sweep.
#[derive(Clone, Debug)]
pub struct Lines {
    sweep: String,
}

/// A line that is not as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Damage {
    /// It has no sum.
    NoSum,
    /// Its sum is that of another text, or of another sweep.
    Changed,
}

impl Lines {
    /// Those of the sweep with this header, or of any shard of it.
    pub fn of(header: &Header) -> Lines {
        Lines { sweep: header.hash() }
    }

    /// A row, with its line feed.
    pub fn row(&self, row: &Row) -> String {
        line(&self.sweep, row)
    }

    /// The JSON of a row's line.
    pub(super) fn check<'l>(&self, line: &'l str) -> Result<&'l str, Damage> {
        check(&self.sweep, line)
    }
}

impl Header {
    /// It as a line, with its line feed.
    pub fn line(&self) -> String {
        line("", self)
    }
}

/// The JSON of a header's line.
pub(super) fn check_header(line: &str) -> Result<&str, Damage> {
    check("", line)
}

fn line(sweep: &str, value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("headers and rows are plain data");
    let sum = sum(sweep, &text);
    format!("{text}\t{sum}\n")
}

fn check<'l>(sweep: &str, line: &'l str) -> Result<&'l str, Damage> {
    // JSON writes a tab within a text as `\t`.
    let (text, found) = line.split_once('\t').ok_or(Damage::NoSum)?;
    if found == sum(sweep, text) { Ok(text) } else { Err(Damage::Changed) }
}

fn sum(sweep: &str, text: &str) -> String {
    let digest = Sha256::new().chain_update(sweep).chain_update(text).finalize();
    digest.iter().take(DIGITS / 2).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_changed_shows() {
        let written = line("sweep", &json!({"text": "a\tb", "figure": 1.5}));
        let whole = written.strip_suffix('\n').unwrap();
        assert_eq!(check("sweep", whole), Ok(r#"{"text":"a\tb","figure":1.5}"#));
        assert_eq!(check("another", whole), Err(Damage::Changed));
        assert_eq!(check("sweep", &whole.replace("1.5", "1.6")), Err(Damage::Changed));
        assert_eq!(check("sweep", &format!("{whole}\r")), Err(Damage::Changed));
        assert_eq!(check("sweep", &whole[..whole.len() - 1]), Err(Damage::Changed));
        assert_eq!(check("sweep", r#"{"figure":1.5}"#), Err(Damage::NoSum));
    }
}
