//! Success over time as a table.

use super::{Section, Table};
use crate::whatif::course::InTime;
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::words::{clock, plain};

/// Rows of the table, at most.
const MOST_ROWS: usize = 16;

/// Success over time, in pieces of as many intervals as make the table short.
pub(super) fn in_time(found: &WhatIf) -> Section {
    let piece = found.in_time.len().div_ceil(MOST_ROWS).max(1);
    let mut head = vec!["from".to_owned(), "requests".to_owned()];
    if found.believed.is_some() {
        head.push("log".into());
    }
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    let rows = found.in_time.chunks(piece).map(|intervals| {
        let requests: f64 = intervals.iter().map(|interval| interval.requests).sum();
        let share =
            |of: &dyn Fn(&InTime) -> Option<f64>| plain(weighted(intervals, of), Unit::Share);
        let mut row = vec![clock(intervals[0].from_s as u64), format!("{requests:.0}")];
        if found.believed.is_some() {
            row.push(share(&|interval| interval.logged));
        }
        row.extend((0..found.policies.len()).map(|p| share(&|interval| interval.success[p])));
        row
    });
    Section {
        title: "Success over time".into(),
        table: Some(Table { head, rows: rows.collect() }),
        ..Section::default()
    }
}

/// A share in several intervals together, by their requests; none where no interval has one.
pub(in crate::whatif) fn weighted(
    intervals: &[InTime],
    of: impl Fn(&InTime) -> Option<f64>,
) -> Option<f64> {
    let parts = intervals.iter().filter_map(|i| Some((of(i)?, i.requests)));
    let (sum, all) =
        parts.fold((0.0, 0.0), |(s, n), (share, count)| (s + share * count, n + count));
    (all > 0.0).then(|| sum / all)
}
