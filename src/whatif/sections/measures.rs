//! What each policy does, and by how much that differs.

use super::summary::moved;
use super::{Section, Table};
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::policy::PolicyFinding;
use crate::whatif::value::Compared;
use crate::whatif::words::{bill, change, clear, difference, figure, unit_of};

pub(in crate::whatif) fn policies(found: &WhatIf) -> Section {
    let mut head = vec![String::new()];
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    let figures = found.policies[0].figures.iter().enumerate().map(|(i, first)| {
        let of = |policy: &PolicyFinding| {
            let own = &policy.figures[i];
            figure(own, unit_of(&own.name))
        };
        let cells = found.policies.iter().map(of);
        [first.name.clone()].into_iter().chain(cells).collect()
    });
    let mut rows: Vec<Vec<String>> = figures.collect();
    let impact =
        found.policies.iter().map(|policy| figure(&policy.impact_minutes.figure, Unit::Count));
    rows.push(["impact_minutes".to_owned()].into_iter().chain(impact).collect());
    let bills = found.policies.iter().map(|policy| bill(&policy.bill.figure));
    rows.push(["bill".to_owned()].into_iter().chain(bills).collect());
    Section {
        title: "What each policy does".into(),
        table: Some(Table { head, rows }),
        ..Section::default()
    }
}

pub(in crate::whatif) fn changes(found: &WhatIf, i: usize) -> Section {
    let policy = &found.policies[i];
    let beside =
        [&policy.impact_minutes, &policy.bill].into_iter().filter_map(|of| of.change.as_ref());
    let rows = policy.differences.iter().chain(beside).map(|change| {
        let unit = unit_of(&change.name);
        let shown = difference(change.difference, change.ci95, unit);
        vec![change.name.clone(), shown, clear(found, change).to_owned()]
    });
    Section {
        title: format!("`{}` against `{}`", policy.name, found.policies[0].name),
        sentences: vec![format!("The same requests, weather and luck: {}.", moved(policy))],
        table: Some(Table {
            head: ["", "change", ""].map(str::to_owned).to_vec(),
            rows: rows.collect(),
        }),
        verbatim: None,
    }
}

/// Measures of route classes that are shown first.
pub(in crate::whatif) const FIRST: [&str; 3] = ["success", "added_latency_p99", "cost_per_1k"];

/// What each policy does in each route class, by these measures or by all.
pub(in crate::whatif) fn by_class(found: &WhatIf, only: Option<[&str; 3]>) -> Option<Section> {
    if found.policies[0].by_class.len() < 2 {
        return None;
    }
    let head = ["class", "measure", "policy", "value", "change"].map(str::to_owned).to_vec();
    let mut rows = Vec::new();
    for class in 0..found.policies[0].by_class.len() {
        for measure in 0..found.policies[0].figures.len() {
            let name = found.policies[0].figures[measure].name.as_str();
            if only.is_some_and(|only| !only.contains(&name)) {
                continue;
            }
            for policy in &found.policies {
                let of = &policy.by_class[class];
                let own = &of.figures[measure];
                let unit = unit_of(&own.name);
                let change = of.differences.get(measure).map_or("–".into(), |change| {
                    let shown = difference(change.difference, change.ci95, unit);
                    format!("{shown} {}", clear(found, change))
                });
                let policy = policy.name.clone();
                rows.push(vec![
                    of.class.clone(),
                    own.name.clone(),
                    policy,
                    figure(own, unit),
                    change,
                ]);
            }
        }
    }
    Some(Section {
        title: "By route class".into(),
        table: Some(Table { head, rows }),
        ..Section::default()
    })
}

pub(in crate::whatif) fn targets(found: &WhatIf) -> Section {
    let head = ["target", "policy", "attempts", "change", "failed", "change", "bill", "change"];
    let mut rows = Vec::new();
    for at in 0..found.policies[0].targets.len() {
        for policy in &found.policies {
            let target = &policy.targets[at];
            let count =
                |of: &Compared| [figure(&of.figure, Unit::Count), change(found, of, Unit::Count)];
            let cost = [bill(&target.bill.figure), change(found, &target.bill, Unit::Dollars)];
            let cells = [count(&target.attempts), count(&target.failed), cost].concat();
            rows.push([vec![target.target.clone(), policy.name.clone()], cells].concat());
        }
    }
    Section {
        title: "What goes where".into(),
        table: Some(Table { head: head.map(str::to_owned).to_vec(), rows }),
        ..Section::default()
    }
}
