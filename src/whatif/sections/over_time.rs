//! Success over time, and when targets were bad, as tables.

use super::{Section, Table};
use crate::whatif::bad_times::BadTime;
use crate::whatif::course::InTime;
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::words::{change, clock, figure, plain};

/// Bad times of a target that are told one by one, at most.
const MOST_TOLD: usize = 12;

/// Success in each stretch of time, with its change.
pub(in crate::whatif) fn in_time(found: &WhatIf) -> Section {
    let mut head = vec!["from".to_owned(), "requests".to_owned()];
    if found.believed.is_some() {
        head.push("log".into());
    }
    for (at, policy) in found.policies.iter().enumerate() {
        head.push(policy.name.clone());
        head.extend((at > 0).then(|| "change".to_owned()));
    }
    let rows = found.stretches.iter().map(|stretch| {
        let mut row = vec![clock(stretch.from_s as u64), format!("{:.0}", stretch.requests)];
        row.extend(found.believed.is_some().then(|| plain(stretch.logged, Unit::Share)));
        for (at, success) in stretch.success.iter().enumerate() {
            row.push(figure(&success.figure, Unit::Share));
            row.extend((at > 0).then(|| change(found, success, Unit::Share)));
        }
        row
    });
    Section {
        title: "Success over time".into(),
        table: Some(Table { head, rows: rows.collect() }),
        ..Section::default()
    }
}

/// When targets were bad, as the world has it.
pub(in crate::whatif) fn bad_times(found: &WhatIf) -> Option<Section> {
    let sentences = found.bad_times.chunk_by(|a, b| a.target == b.target).map(told);
    let sentences: Vec<String> = sentences.collect();
    (!sentences.is_empty()).then(|| Section {
        title: "When targets were bad".into(),
        sentences,
        ..Section::default()
    })
}

/// The bad times of one target, the worst of them where they are many.
fn told(times: &[BadTime]) -> String {
    let mut worst: Vec<&[BadTime]> = times.chunk_by(alike).collect();
    let all = worst.len();
    let weight = |times: &[BadTime]| -> f64 {
        times.iter().map(|time| time.severity() * (time.to_s - time.from_s)).sum()
    };
    worst.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    worst.truncate(MOST_TOLD);
    worst.sort_by(|a, b| a[0].from_s.total_cmp(&b[0].from_s));
    let rest = match all - worst.len() {
        0 => String::new(),
        rest => format!("; and {rest} more"),
    };
    let worst: Vec<String> = worst.into_iter().map(one).collect();
    format!("{}: {}{rest}; beyond what fails in ordinary times.", times[0].target, worst.join(", "))
}

/// Shares on the way up or down are told together up to the next multiple of ten per cent.
fn alike(a: &BadTime, b: &BadTime) -> bool {
    let tenth =
        |time: &BadTime| (libm::ceil(10.0 * time.failing - 1e-9), libm::ceil(10.0 * time.speed));
    a.to_s == b.from_s && tenth(a) == tenth(b)
}

/// Neighbouring bad times as one.
fn one(times: &[BadTime]) -> String {
    let range = |of: fn(&BadTime) -> f64| {
        let ends =
            times.iter().map(of).fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), value| {
                (low.min(value), high.max(value))
            });
        let (low, high) = (plain(Some(ends.0), Unit::Share), plain(Some(ends.1), Unit::Share));
        if low == high { high } else { format!("{} to {high}", low.trim_end_matches(" %")) }
    };
    let mut what = Vec::new();
    if times.iter().any(|time| time.failing > 0.0) {
        what.push(format!("{} fail", range(|time| time.failing)));
    }
    if times.iter().any(|time| time.speed < 1.0) {
        what.push(format!("at {} of its speed", range(|time| time.speed)));
    }
    let clock = |seconds: f64| clock(seconds as u64);
    let (from, to) = (clock(times[0].from_s), clock(times[times.len() - 1].to_s));
    format!("{from}–{to} {}", what.join(" and "))
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
