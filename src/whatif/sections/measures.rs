//! What each policy does, and by how much that differs.

use super::{Section, Table};
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::policy::PolicyFinding;
use crate::whatif::words::{bill, clear, difference, figure, requests, unit_of};

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
    let impact = found.policies.iter().map(|policy| figure(&policy.impact_minutes, Unit::Count));
    rows.push(["impact_minutes".to_owned()].into_iter().chain(impact).collect());
    let bills = found.policies.iter().map(|policy| bill(policy.bill));
    rows.push(["bill".to_owned()].into_iter().chain(bills).collect());
    Section {
        title: "What each policy does".into(),
        table: Some(Table { head, rows }),
        ..Section::default()
    }
}

pub(in crate::whatif) fn changes(found: &WhatIf, i: usize) -> Section {
    let policy = &found.policies[i];
    let rows = policy.differences.iter().map(|change| {
        let unit = unit_of(&change.name);
        let shown = difference(change.difference, change.ci95, unit);
        vec![change.name.clone(), shown, clear(change).to_owned()]
    });
    Section {
        title: format!("`{}` against `{}`", policy.name, found.policies[0].name),
        sentences: vec![format!(
            "The same requests, weather and luck: {} requests are answered that were not, {} no longer.",
            requests(policy.saved),
            requests(policy.lost)
        )],
        table: Some(Table {
            head: ["", "change", ""].map(str::to_owned).to_vec(),
            rows: rows.collect(),
        }),
        verbatim: None,
    }
}

pub(in crate::whatif) fn by_class(found: &WhatIf) -> Option<Section> {
    if found.policies[0].by_class.len() < 2 {
        return None;
    }
    let mut head = vec![String::new()];
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    let rows = found.policies[0].by_class.iter().enumerate().map(|(i, class)| {
        let cells = found.policies.iter().map(|policy| {
            let own = &policy.by_class[i];
            let success = figure(&own.success, Unit::Share);
            match &own.change {
                Some(change) => format!(
                    "{success} ({})",
                    difference(change.difference, change.ci95, Unit::Share)
                ),
                None => success,
            }
        });
        [class.class.clone()].into_iter().chain(cells).collect()
    });
    Some(Section {
        title: "Success by route class".into(),
        table: Some(Table { head, rows: rows.collect() }),
        ..Section::default()
    })
}

pub(in crate::whatif) fn targets(found: &WhatIf) -> Section {
    let head = ["target", "policy", "attempts", "failed", "bill"].map(str::to_owned).to_vec();
    let mut rows = Vec::new();
    for i in 0..found.policies[0].targets.len() {
        for policy in &found.policies {
            let target = &policy.targets[i];
            rows.push(vec![
                target.target.clone(),
                policy.name.clone(),
                format!("{:.0}", target.attempts),
                format!("{:.0}", target.failed),
                bill(target.bill),
            ]);
        }
    }
    Section {
        title: "What goes where".into(),
        table: Some(Table { head, rows }),
        ..Section::default()
    }
}
