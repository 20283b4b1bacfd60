//! What of the files that were read cannot be used.

use serde::Serialize;
use windtunnel_policy::text::escaped;

use super::finding::WhatIf;
use super::sections::Section;
use crate::fit::{self, many};

/// Rows of one file: the log, or counters beside it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct LeftOut {
    /// What it is called.
    pub file: String,
    /// Its rows, without a header.
    pub rows: u64,
    /// Those of them that cannot be used.
    pub unusable: u64,
    /// Why.
    pub reasons: Vec<Reason>,
    #[serde(skip)]
    told: Vec<String>,
}

/// A reason why rows cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Reason {
    /// In words, of a row.
    pub reason: String,
    /// Rows.
    pub rows: u64,
    /// Line of the first, from 1; null where a row is not a line.
    pub line: Option<u64>,
    /// The first, cut short.
    pub example: String,
}

impl LeftOut {
    pub(super) fn of(of: &fit::LeftOut) -> LeftOut {
        let reasons = of.unusable.iter().map(|(why, seen)| Reason {
            reason: why.words(),
            rows: seen.count,
            line: seen.line,
            example: seen.example.clone(),
        });
        LeftOut {
            file: of.file.clone(),
            rows: of.rows,
            unusable: of.unusable.count(),
            reasons: reasons.collect(),
            told: of.unusable.told().collect(),
        }
    }

    /// How many of how many, in words.
    pub(super) fn count(&self) -> String {
        format!("{} of {} of {}", self.unusable, many(self.rows, "row"), escaped(&self.file))
    }
}

/// Files of which rows cannot be used.
pub(super) fn files(found: &WhatIf) -> impl Iterator<Item = &LeftOut> {
    let all = found.log.iter().flat_map(|log| &log.left_out);
    all.filter(|file| file.unusable > 0)
}

/// Why they cannot be used, with the first of each reason.
pub(super) fn section(found: &WhatIf) -> Option<Section> {
    let of = |file: &LeftOut| {
        let count = format!("{} cannot be used and are left out:", file.count());
        [count].into_iter().chain(file.told.clone())
    };
    let sentences: Vec<String> = files(found).flat_map(of).collect();
    (!sentences.is_empty()).then(|| Section {
        title: "Rows that cannot be used".into(),
        sentences,
        ..Section::default()
    })
}
