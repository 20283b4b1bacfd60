//! The report as sections of sentences and tables, in the order a reader needs them: whether to
//! believe it, what each policy does, when, where, what it rests on, what to change.

mod believed;
mod elsewhere;
mod measures;
mod over_time;
mod summary;

pub(super) use believed::{believed, briefly_reproduced, reproduced};
pub(super) use elsewhere::{recommended, sensitivity};
pub(super) use measures::{FIRST, by_class, changes, policies, targets};
pub(super) use over_time::{bad_times, in_time, weighted};
pub(super) use summary::{briefly, cautious, instead, intervals, of_fewer, unheld};

use super::finding::WhatIf;
use super::left_out;

/// One section.
#[derive(Clone, PartialEq, Debug, Default)]
pub(in crate::whatif) struct Section {
    pub(in crate::whatif) title: String,
    pub(in crate::whatif) sentences: Vec<String>,
    pub(in crate::whatif) table: Option<Table>,
    /// Text to be shown as it stands.
    pub(in crate::whatif) verbatim: Option<String>,
}

/// Cells; the first column is text, the others are figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::whatif) struct Table {
    pub(in crate::whatif) head: Vec<String>,
    pub(in crate::whatif) rows: Vec<Vec<String>>,
}

impl Table {
    /// Whether a column holds figures: words are those of which no cell begins with anything but a letter.
    pub(in crate::whatif) fn holds_figures(&self, column: usize) -> bool {
        let is_figure = |row: &Vec<String>| row[column].starts_with(|c: char| !c.is_alphabetic());
        column > 0 && self.rows.iter().any(is_figure)
    }
}

/// All sections.
pub(super) fn sections(found: &WhatIf) -> Vec<Section> {
    let mut all = vec![summary::summary(found)];
    all.extend(believed(found));
    all.push(policies(found));
    all.extend((1..found.policies.len()).map(|i| changes(found, i)));
    all.push(in_time(found));
    all.extend(bad_times(found));
    all.extend(by_class(found, Some(FIRST)));
    all.push(targets(found));
    all.extend(sensitivity(found));
    all.extend(elsewhere::stories(found));
    all.push(recommended(found));
    all.extend(left_out::section(found));
    all.extend(not_identified(found));
    all
}

pub(super) fn not_identified(found: &WhatIf) -> Option<Section> {
    (!found.not_identified.is_empty()).then(|| Section {
        title: format!("What the {} cannot tell, and what is taken instead", found.made_of()),
        sentences: found.not_identified.clone(),
        ..Section::default()
    })
}
