//! What of the files that were read cannot be used.

use crate::log::{Read, UnusableRows};

/// Rows of one file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// What it is called.
    pub file: String,
    /// Its rows, without a header.
    pub rows: u64,
    /// Those of them that cannot be used, by reason.
    pub unusable: UnusableRows,
}

/// Of the log, and of the counters beside it.
pub(super) fn of(log: &str, read: &Read) -> Vec<LeftOut> {
    let own = LeftOut { file: log.to_owned(), rows: read.rows, unusable: read.unusable.clone() };
    let counters = read.counters.iter().map(|counters| LeftOut {
        file: counters.name.clone(),
        rows: counters.rows,
        unusable: counters.unusable.clone(),
    });
    [own].into_iter().chain(counters).collect()
}
