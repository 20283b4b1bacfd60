//! Other worlds, single requests, and what to change.

use super::{Section, Table};
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::otherwise::{Sensitivity, leaders};
use crate::whatif::story::Story;
use crate::whatif::words::{difference, plain};

pub(in crate::whatif) fn sensitivity(found: &WhatIf) -> Option<Section> {
    if found.sensitivity.is_empty() {
        return None;
    }
    let mut head = vec!["success if".to_owned()];
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    head.push("who answers most".into());
    let rows = found.sensitivity.iter().map(|case| {
        let cell = |(at, success): (usize, &Option<f64>)| {
            let change = at.checked_sub(1).and_then(|at| case.changes.get(at));
            let change = change.filter(|change| change.difference.is_some());
            let change = change.map_or(String::new(), |change| {
                format!(" ({})", difference(change.difference, change.ci95, Unit::Share))
            });
            format!("{}{change}", plain(*success, Unit::Share))
        };
        let cells = case.success.iter().enumerate().map(cell);
        [case.what.clone()].into_iter().chain(cells).chain([leads(found, case)]).collect()
    });
    Some(Section {
        title: format!("Worlds the {} cannot tell from this one", found.made_of()),
        table: Some(Table { head, rows: rows.collect() }),
        ..Section::default()
    })
}

/// Who answers most in a world, beside who does in the one that was fitted.
fn leads(found: &WhatIf, case: &Sensitivity) -> String {
    let fitted: Vec<Option<f64>> = found.policies.iter().map(|of| of.figures[0].value).collect();
    match &case.leader {
        None => "level".into(),
        Some(_) if !case.same_order => "ANOTHER".into(),
        Some(_) if leaders(&fitted).len() == 1 => "the same".into(),
        Some(only) => format!("`{only}`"),
    }
}

/// The requests worth a look, as they are told.
pub(super) fn stories(found: &WhatIf) -> Vec<Section> {
    let of = |story: &Story| Section {
        title: format!("Request {}: {}", story.request, story.why),
        verbatim: Some(story.told.clone()),
        ..Section::default()
    };
    found.stories.iter().map(of).collect()
}

pub(in crate::whatif) fn recommended(found: &WhatIf) -> Section {
    let recommended = &found.recommended;
    let mut sentences = match &recommended.policy {
        Some(policy) => vec![format!("Change to `{policy}`.")],
        None => vec!["No change is recommended.".to_owned()],
    };
    sentences.extend(recommended.because.iter().map(|because| sentence(because)));
    let line = |sign: char, field: &str, value: &Option<String>| {
        value.as_ref().map_or(String::new(), |value| format!("{sign} {field}: {value}\n"))
    };
    let diff = recommended.changes.iter().map(|change| {
        line('-', &change.field, &change.from) + &line('+', &change.field, &change.to)
    });
    let diff: String = diff.collect();
    let verbatim = (!diff.is_empty()).then_some(diff);
    Section { title: "What to change".into(), sentences, table: None, verbatim }
}

/// With a capital letter, where it begins with a letter, and a full stop.
fn sentence(words: &str) -> String {
    let mut rest = words.chars();
    let first = rest.next().map_or(String::new(), |first| first.to_uppercase().to_string());
    format!("{first}{}.", rest.as_str())
}
