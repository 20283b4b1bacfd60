//! Charts: success and attempts over time, and each policy's measures with their intervals.

use super::shades::{shades, strips};
use crate::page::{self, Axis, Block, DotChart, DotPanel, DotRow, Line, LineChart, Section, X};
use crate::whatif::course::InTime;
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::policy::PolicyFinding;
use crate::whatif::sections;
use crate::whatif::value::{Difference, Interval};
use crate::whatif::words::{difference, figure, unit_of};

/// Points of a line, at most; where there would be more, several intervals make one.
const MOST_POINTS: usize = 1_000;

pub(super) fn over_time(found: &WhatIf) -> Section {
    let piece = found.in_time.len().div_ceil(MOST_POINTS).max(1);
    let pieces: Vec<&[InTime]> = found.in_time.chunks(piece).collect();
    let policies = found.policies.len();
    let line = |of: usize, value: &dyn Fn(&[InTime]) -> Option<f64>| Line {
        of,
        values: pieces.iter().map(|intervals| value(intervals)).collect(),
        bands: Vec::new(),
    };
    let percent = |intervals: &[InTime], of: &dyn Fn(&InTime) -> Option<f64>| {
        Some(sections::weighted(intervals, of)? * 100.0)
    };
    let mut success: Vec<Line> = (0..policies)
        .map(|policy| line(policy, &|piece| percent(piece, &|i| i.success[policy])))
        .collect();
    if found.believed.is_some() {
        success.push(line(policies, &|piece| percent(piece, &|i| i.logged)));
    }
    let sent = (0..policies).map(|policy| {
        line(policy, &|intervals| {
            let sent: f64 = intervals.iter().map(|interval| interval.sent[policy]).sum();
            Some(sent / intervals.len() as f64)
        })
    });
    let (shades, strips) = (shades(found), strips(found));
    let chart = |title: &str, about: &str, y: Axis, lines: Vec<Line>| LineChart {
        title: title.into(),
        about: about.into(),
        x: X::Time {
            from: found.in_time.first().map_or(0.0, |interval| interval.from_s),
            step: found.interval_s * piece as f64,
            count: pieces.len(),
        },
        y,
        lines,
        shades: shades.clone(),
        strips: strips.clone(),
    };
    let lived = match found.believed {
        Some(_) => " The log is one course of luck: it scatters more than they do.",
        None => "",
    };
    let about = format!(
        "The share of requests that are answered, by when they arrived. Policies are means over {} worlds.\
         {lived}",
        found.worlds
    );
    let answered = Axis::new("answered", page::Unit::Percent);
    let attempts = Axis::new("attempts", page::Unit::Number);
    let shaded = match found.bad_times.as_slice() {
        [] => "",
        _ => {
            " Shaded: when attempts fail more than in ordinary times, or take longer, at any target (behind) and at \
             each (below), the darker the more; the list below says when."
        }
    };
    let about = about + shaded;
    let mut charts = vec![
        Block::Lines(chart("Success", &about, answered, success)),
        Block::Lines(chart(
            "Attempts",
            "Attempts sent in an interval: what the policies ask of the targets.",
            attempts,
            sent.collect(),
        )),
    ];
    charts.insert(1, Block::Lines(changes(found)));
    if let Some(told) = sections::bad_times(found) {
        charts.push(Block::Folded(told.title.clone(), super::blocks(&told, "")));
    }
    let told = sections::in_time(found);
    charts.push(Block::Folded(
        "Success and its change, with intervals".into(),
        super::blocks(&told, &told.title),
    ));
    Section::new("Over time", charts)
}

/// What changes over time, in stretches long enough for an interval.
fn changes(found: &WhatIf) -> LineChart {
    let from = found.stretches.first().map_or(0.0, |stretch| stretch.from_s);
    let step = found.stretches.first().map_or(1.0, |stretch| stretch.to_s - stretch.from_s);
    let line = |of: usize| {
        let changes = || found.stretches.iter().map(move |s| s.success[of].change.as_ref());
        let points = |difference: f64| 100.0 * difference;
        let band = |of: &Difference| of.ci95.map(|ci95| (points(ci95.low), points(ci95.high)));
        Line {
            of,
            values: changes().map(|change| change?.difference.map(points)).collect(),
            bands: changes().map(|change| band(change?)).collect(),
        }
    };
    LineChart {
        title: "Change of success".into(),
        about: format!(
            "Against `{}`, in percentage points, with 95 % intervals: the same requests, weather and luck.",
            found.policies[0].name
        ),
        x: X::Time { from, step, count: found.stretches.len() },
        y: Axis::signed("change (pp)", page::Unit::Number),
        lines: (1..found.policies.len()).map(line).collect(),
        shades: shades(found),
        strips: Vec::new(),
    }
}

pub(super) fn by_policy(found: &WhatIf) -> Section {
    let values = DotChart {
        title: "What each policy does".into(),
        about: "Values with their 95 % intervals. Axes begin where the values do, not at zero."
            .into(),
        panels: panels(found, 0, |policy, measure| {
            let own = &policy.figures[measure];
            (own.value, own.ci95, figure(own, unit_of(&own.name)))
        }),
    };
    let mut blocks = vec![Block::Dots(values)];
    let changes = DotChart {
        title: format!("Changes from `{}`", found.policies[0].name),
        about: "The same requests, weather and luck, paired; an interval that leaves out zero is clear."
            .into(),
        panels: panels(found, 1, |policy, measure| {
            let paired = &policy.differences[measure];
            let shown = difference(paired.difference, paired.ci95, unit_of(&paired.name));
            (paired.difference, paired.ci95, shown)
        }),
    };
    blocks.push(Block::Dots(changes));
    let tables = (1..found.policies.len()).map(|i| sections::changes(found, i));
    for told in tables {
        blocks.extend(super::blocks(&told, &told.title));
    }
    let all = super::blocks(&sections::policies(found), "All measures");
    blocks.push(Block::Folded("All measures".into(), all));
    Section::new("By policy", blocks)
}

/// A panel for each measure, with the policies from this one on; `read` gives the value, its interval
/// and both in words.
fn panels(
    found: &WhatIf,
    from: usize,
    read: impl Fn(&PolicyFinding, usize) -> (Option<f64>, Option<Interval>, String),
) -> Vec<DotPanel> {
    let names = found.policies[0].figures.iter().map(|figure| figure.name.as_str());
    let panel = |(measure, name): (usize, &str)| {
        let (unit, factor) = match unit_of(name) {
            Unit::Share => (page::Unit::Percent, 100.0),
            Unit::Seconds => (page::Unit::Seconds, 1.0),
            Unit::Dollars => (page::Unit::Dollars, 1.0),
            Unit::Count => (page::Unit::Number, 1.0),
        };
        let rows = found.policies.iter().enumerate().skip(from).map(|(of, policy)| {
            let (value, ci95, shown) = read(policy, measure);
            DotRow {
                of,
                value: value.map(|value| value * factor),
                interval: ci95.map(|ci95| (ci95.low * factor, ci95.high * factor)),
                shown,
            }
        });
        let rows: Vec<DotRow> = rows.collect();
        let axis = if from == 0 { Axis::new(name, unit) } else { Axis::signed(name, unit) };
        rows.iter().any(|row| row.value.is_some()).then(|| DotPanel {
            axis,
            note: String::new(),
            rows,
        })
    };
    names.enumerate().filter_map(panel).collect()
}
