//! Findings as bytes: tables, JSON and CSV; rows of a ledger; timelines and charts.
//!
//! A [`Report`] is what was found, with all that is needed to name it. Its methods return text;
//! writing it is the business of the command line.

mod canvas;
mod csv;
mod drills;
mod format;
mod grid;
mod json;
mod latencies;
mod ledger;
mod lines;
mod notes;
mod numbers;
mod page;
mod panels;
mod plot;
mod sides;
mod split;
mod spool;
mod table;
#[cfg(test)]
mod tests;
mod timeline;
mod verdict;

pub(crate) use canvas::{COLOURS, Picture, SHADE, fault, paint};
pub use canvas::{PlotError, PlotFormat};
pub use drills::{DrillReport, PolicyDrilled};
pub(crate) use format::{amount, change, difference, figure};
pub(crate) use grid::Grid;
pub use latencies::{Cells, Latencies, LatencySink, Striking};
pub use ledger::{
    LEDGER_CHUNK_COLUMNS, LEDGER_COLUMNS, LEDGER_DEADLINE_COLUMNS, LEDGER_DISCLOSURE_COLUMNS,
    LEDGER_LAYER_COLUMNS, LEDGER_TENANT_COLUMNS, LEDGER_TOOL_COLUMNS, Ledger, LedgerSink,
};
pub use lines::RowFormat;
pub(crate) use notes::short_hash;
pub(crate) use numbers::rounded;
pub use page::{Extras, striking_requests};
pub(crate) use page::{axis, courses, drawn};
pub(crate) use plot::{Points, style, unit as time_unit};
pub use table::Parts;
pub(crate) use table::{SETTINGS, section};
pub use timeline::TIMELINE_COLUMNS;

use crate::experiment::{Experiment, Findings, Options};
use crate::measures::Catalogue;
use crate::scenario::Scenario;

/// The version of windtunnel, named in every output.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The version of the shapes of JSON, CSV, ledger and timeline; `docs/output.md` describes them.
pub const FORMAT: u32 = 1;

/// What was found, and in what.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// How it was run.
    pub options: &'a Options,
    /// The runs.
    pub experiment: &'a Experiment,
    /// Its measures.
    pub catalogue: &'a Catalogue,
    /// What was found.
    pub findings: &'a Findings,
}

impl Report<'_> {
    /// Tables and a conclusion for people. Lines end in a line feed; nothing depends on a terminal.
    pub fn table(&self, parts: Parts) -> String {
        table::render(self, parts)
    }

    /// One JSON object, indented.
    pub fn json(&self) -> String {
        json::render(self)
    }

    /// One row per policy, route class and measure.
    pub fn csv(&self) -> String {
        csv::render(self)
    }
}
