//! How logs are written, and what each way cannot show.

use super::{ColumnMap, RowsAre, Shows, envoy, litellm, otlp};

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
    /// LiteLLM's standard logging payload, as JSON Lines.
    LiteLlm,
    /// Envoy's access log, as JSON Lines.
    Envoy,
    /// OpenTelemetry spans in OTLP's JSON encoding.
    Otlp {
        /// The file is one object rather than one in each line.
        whole: bool,
    },
}

impl Format {
    /// Its name, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Format::Ledger { .. } => "ledger",
            Format::Mapped { .. } => "columns",
            Format::LiteLlm => "litellm",
            Format::Envoy => "envoy",
            Format::Otlp { .. } => "otlp",
        }
    }

    /// Whether the rows of a request follow one another.
    pub(super) fn keeps_requests_together(&self) -> bool {
        matches!(self, Format::Ledger { .. })
    }

    /// Which attempts such a log shows, of whose requests some have `several` rows or none has.
    pub(super) fn shows(&self, several: bool) -> Shows {
        match self {
            Format::Mapped { map, .. } if map.rows == RowsAre::Requests => Shows::LastAttempt,
            Format::LiteLlm | Format::Envoy if !several => Shows::LastAttempt,
            _ => Shows::EveryAttempt,
        }
    }

    /// What such a log does not show, one sentence each, and what is done about it.
    pub fn blind_to(&self) -> Vec<String> {
        let words = |said: &[&str]| said.iter().map(|&words| words.to_owned()).collect();
        match self {
            Format::Ledger { .. } => Vec::new(),
            Format::Mapped { map, .. } => map.blind_to(),
            Format::LiteLlm => words(&litellm::BLIND_TO),
            Format::Envoy => words(&envoy::BLIND_TO),
            Format::Otlp { .. } => words(&otlp::BLIND_TO),
        }
    }
}
