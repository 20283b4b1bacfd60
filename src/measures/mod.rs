//! The measures: their names, units and meanings, and how each is read from the totals of runs.
//!
//! - [`Catalogue`] lists the measures of a scenario, in the order of tables;
//! - [`Runs`] is what they are read from: one policy in several worlds;
//! - [`Measure::read`] gives a measure's value and interval, and what differences are made of.
//!
//! Names are the same in tables, JSON, CSV and gates. Rates are fractions, times are seconds,
//! money is dollars.

mod catalogue;
mod read;
mod runs;
#[cfg(test)]
mod tests;

use crate::record::RunTotals;
use crate::stats::{Dimension, Estimate, Note, Sample, estimate};
use read::Read;

pub use catalogue::Catalogue;
pub use runs::Runs;

/// Incidents that an interval of their times takes.
const MIN_INCIDENTS: u64 = 3;

/// One measure.
#[derive(Clone, Debug)]
pub struct Measure {
    /// As written in tables, JSON, CSV and gates.
    pub name: String,
    /// The unit of its values, for people.
    pub unit: &'static str,
    /// What it is measured in, hence the units its limits may have.
    pub dimension: Dimension,
    /// Which way is good.
    pub better: Better,
    /// Where it stands in a table.
    pub block: Block,
    /// What it says, in one line.
    pub describes: String,
    read: Read,
}

/// Which way a measure is good.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither by itself.
    Neither,
}

/// Where a measure stands in a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Block {
    /// The answer to the question: success before and after recovery, attempts, delay, cost.
    Answer,
    /// What kinds of success, and how the rest ended.
    Outcomes,
    /// How long things take.
    Times,
    /// What is billed.
    Money,
    /// What the policy's parts did.
    Parts,
}

/// What one measure says of some runs.
pub struct Reading {
    /// As the statistics want it; `None` where the runs do not model it, or where it belongs to
    /// whole runs and these are one route class.
    pub sample: Option<Sample<'static>>,
    /// The value with its interval, or the reason why there is none.
    pub estimate: Estimate,
}

impl Measure {
    /// Reads the measure of these runs.
    pub fn read(&self, runs: &Runs<'_>) -> Reading {
        let Some(sample) = self.read.sample(runs) else {
            return Reading {
                sample: None,
                estimate: Estimate::not_modelled(runs.worlds() as u32),
            };
        };
        let mut estimate = estimate(&sample);
        if let Some((reached, of)) = self.read.reached(runs) {
            if reached < of || (1..MIN_INCIDENTS).contains(&reached) {
                estimate.note = Some(Note::Reached { reached, of });
            }
            estimate.ci95 = estimate.ci95.filter(|_| reached >= MIN_INCIDENTS);
        }
        if !self.read.is_signed() {
            estimate.ci95 = estimate.ci95.map(|(lo, hi)| (lo.max(0.0), hi));
        }
        Reading { sample: Some(sample), estimate }
    }

    /// Drops from a run's totals the histograms and intervals of time that none of these measures
    /// is read from: most of what totals weigh.
    pub fn keep_what_they_read(measures: &[&Measure], run: &mut RunTotals) {
        run.timeline = Vec::new();
        let parts = run.arms.iter_mut().flatten().chain(&mut run.tenants);
        let parts = run.classes.iter_mut().chain(parts);
        parts.for_each(|class| read::keep(measures.iter().map(|measure| measure.read), class));
    }

    /// True for one of many of which most are zero: tables show it where it occurs.
    pub fn only_where_it_occurs(&self) -> bool {
        matches!(self.read, Read::EndedAs(_))
    }

    /// True where it is read by route class too, not of whole runs only.
    pub fn by_class(&self) -> bool {
        self.read.by_class()
    }
}

impl Block {
    /// Its heading.
    pub const fn title(self) -> &'static str {
        match self {
            Block::Answer => "the answer",
            Block::Outcomes => "outcomes",
            Block::Times => "times",
            Block::Money => "money",
            Block::Parts => "parts of the policy",
        }
    }
}
