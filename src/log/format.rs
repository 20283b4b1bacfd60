//! How logs are written, and what each way cannot show.

use super::ColumnMap;

/// How a log is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Format {
    /// What `--ledger` writes.
    Ledger {
        /// As JSON Lines rather than CSV.
        json: bool,
    },
    /// A table whose columns a mapping names.
    Mapped {
        /// The mapping.
        map: Box<ColumnMap>,
        /// As JSON Lines rather than CSV.
        json: bool,
    },
}

impl Format {
    /// Its name, as `--log-format` takes it.
    pub fn name(&self) -> &'static str {
        match self {
            Format::Ledger { .. } => "ledger",
            Format::Mapped { .. } => "columns",
        }
    }

    /// Whether the rows of a request follow one another.
    pub(super) fn keeps_requests_together(&self) -> bool {
        matches!(self, Format::Ledger { .. })
    }

    /// What such a log does not show, one sentence each, and what is done about it.
    pub fn blind_to(&self) -> Vec<String> {
        match self {
            Format::Ledger { .. } => Vec::new(),
            Format::Mapped { map, .. } => map.blind_to(),
        }
    }
}
