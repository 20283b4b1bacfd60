//! Requests that a log holds twice: as a row for each attempt, and as a row for all of them.

use super::Attempt;

/// Times are rounded down to milliseconds, begin and length each.
const ROUNDED_US: u64 = 2_000;

/// Requests of several rows, and those in which one row spans the others.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Nested {
    pub(super) several: u64,
    pub(super) spanned: u64,
}

impl Nested {
    /// Counts a request by its rows.
    pub(super) fn see(&mut self, rows: &[Attempt]) {
        self.several += u64::from(rows.len() > 1);
        self.spanned += u64::from(one_spans_the_others(rows));
    }

    /// Attempts of a gateway follow one another: one that spans the others is the exception.
    pub(super) fn are_most(self) -> bool {
        self.spanned * 2 > self.several
    }
}

/// Whether the longest row begins before the others and ends after them, of which one lasts beyond its
/// middle: a failure just before a long answer does not.
fn one_spans_the_others(rows: &[Attempt]) -> bool {
    let took = |row: &Attempt| row.ended_us.saturating_sub(row.sent_us);
    let Some((at, longest)) = rows.iter().enumerate().max_by_key(|(_, row)| took(row)) else {
        return false;
    };
    let others = || rows.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, row)| row);
    let within = |row: &Attempt| {
        row.sent_us.saturating_add(ROUNDED_US) >= longest.sent_us
            && row.ended_us <= longest.ended_us.saturating_add(ROUNDED_US)
    };
    let middle = longest.sent_us + took(longest) / 2;
    took(longest) > ROUNDED_US && others().all(within) && others().any(|row| row.ended_us > middle)
}

#[cfg(test)]
mod tests {
    use crate::log::{End, Format, Request, read};

    /// Rows of one request, from and to in ms.
    fn nested(rows: &[(u64, u64)]) -> bool {
        let row = |(from, to): &(u64, u64)| {
            format!(
                r#"{{"start_time":"2025-06-10T09:00:{:02}.{:03}Z","duration":{},"response_code":503,"upstream_cluster":"a","request_id":"r"}}"#,
                from / 1_000,
                from % 1_000,
                to - from
            )
        };
        let text: Vec<String> = rows.iter().map(row).collect();
        let mut all: Vec<Request> = Vec::new();
        let from = std::io::Cursor::new(text.join("\n"));
        let read = read("log", from, Format::Envoy, |request| all.push(request));
        assert!(all.len() == 1 && all[0].end == End::Failed && all[0].attempts.len() == rows.len());
        read.is_err()
    }

    #[test]
    fn a_row_that_spans_the_others_is_no_attempt() {
        assert!(nested(&[(0, 1_000), (5, 995)]));
        assert!(nested(&[(0, 3_000), (1, 1_000), (1_025, 3_001)]), "rounded");
        assert!(!nested(&[(0, 1_000), (1_025, 3_000)]));
        assert!(!nested(&[(0, 0), (0, 1)]), "refused twice in a millisecond");
        assert!(!nested(&[(0, 1), (1, 900)]), "a failure just before an answer");
    }
}
