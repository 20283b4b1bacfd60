//! What was found as a document: the answer first, then by policy, over time, and to the last
//! figure.

mod by_policy;
mod over_time;
mod requests;
mod shades;
mod summary;
mod tables;

pub(crate) use requests::courses;
pub use requests::striking_requests;

use super::{Latencies, Report, VERSION};
use crate::explain::Explanation;
use crate::page::{Axis, Block, Origin, Page, Section, Unit};
use crate::stats::Dimension;

/// What a document holds beside the findings.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extras<'a> {
    /// The command that makes it again.
    pub command: &'a str,
    /// Latencies by interval, for their chart; without them it shows means.
    pub latencies: Option<&'a Latencies>,
    /// Requests to be shown one by one, each with why.
    pub requests: &'a [(String, Explanation)],
}

impl Report<'_> {
    /// The findings as a document.
    pub fn page(&self, extras: Extras<'_>) -> Page {
        let policies = &self.findings.policies;
        let mut sections = Vec::new();
        let conclusion = self.conclusion();
        if let Some(rest) = conclusion.get(1..).filter(|rest| !rest.is_empty()) {
            sections.push(Section::new("Conclusion", vec![Block::List(rest.to_vec())]));
        }
        sections.extend(tables::gates(self));
        sections.push(by_policy::section(self));
        sections.push(over_time::section(self, extras.latencies));
        sections.extend(requests::section(extras.requests));
        sections.extend(self.findings.stickiness.iter().map(|r| by_policy::stickiness(self, r)));
        sections.extend(self.findings.split.iter().map(|split| tables::split(self, split)));
        sections.push(tables::all(self));
        Page {
            kind: if policies.len() == 1 { "run" } else { "comparison" }.into(),
            title: summary::title(self),
            asked: summary::asked(self),
            answer: conclusion.first().cloned().unwrap_or_default(),
            figures: summary::figures(self),
            belief: summary::belief(self),
            legend: policies.iter().map(|policy| policy.name.clone()).collect(),
            sections,
            origin: self.origin(extras.command),
        }
    }

    fn origin(&self, command: &str) -> Origin {
        let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let seed = self.options.seed.to_string();
        let worlds = self.experiment.worlds.len().to_string();
        let mut facts = vec![
            fact("version", VERSION),
            fact("seed", &seed),
            fact("worlds", &worlds),
            fact(&format!("scenario {}", self.scenario.file.name), &self.scenario.hash),
        ];
        let policies = self.findings.policies.iter();
        facts.extend(policies.map(|p| fact(&format!("policy {}", p.name), &p.hash)));
        Origin { command: command.into(), facts }
    }
}

/// How charts show a dimension: the unit, and what values are multiplied with.
pub(crate) const fn drawn(dimension: Dimension) -> (Unit, f64) {
    match dimension {
        Dimension::Share => (Unit::Percent, 100.0),
        Dimension::Seconds => (Unit::Seconds, 1.0),
        Dimension::Dollars => (Unit::Dollars, 1.0),
        Dimension::Count => (Unit::Number, 1.0),
    }
}

/// An axis for a measure.
pub(crate) fn axis(label: impl Into<String>, dimension: Dimension) -> Axis {
    Axis::new(label, drawn(dimension).0)
}
