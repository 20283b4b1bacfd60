//! What a search found: for people, as a document, as JSON, and as a policy file.

mod answer;
mod charts;
mod extremes;
mod json;
mod page;
mod policy_file;
mod tables;
mod text;
mod yaml;

pub use charts::{ChartFile, OverTime};

use crate::measures::{Catalogue, Measure};
use crate::page::Page;
use crate::stats::{Paired, Verdict};
use crate::tune::{Gain, Score, Task, Tuning};

/// A search and what it found.
#[derive(Clone, Copy)]
pub struct TuneReport<'a> {
    /// What was searched, and how.
    pub task: &'a Task<'a>,
    /// What was found.
    pub tuning: &'a Tuning,
    /// The command line that finds it again.
    pub command: &'a str,
}

impl TuneReport<'_> {
    /// The answer, then the evidence. Lines end in a line feed; nothing depends on a terminal.
    pub fn text(&self) -> String {
        text::render(self)
    }

    /// One JSON object, indented; `docs/tune.md` describes it.
    pub fn json(&self) -> String {
        json::render(self)
    }

    /// The answer and the evidence as a document; `command` makes it again.
    pub fn page(&self, command: &str) -> Page {
        page::of(self, command)
    }

    /// The recommended policy as a file, with the evidence in comments; `None` without one.
    pub fn policy_file(&self) -> Option<String> {
        policy_file::render(self)
    }

    /// The objective, as the first scenario's catalogue has it.
    fn objective(&self) -> Measure {
        let catalogue = Catalogue::of(&self.task.scenarios[0]);
        self.task.goal.objective(&catalogue).clone()
    }

    /// The objective's value, with half its interval.
    fn value(&self, score: &Score) -> Option<(f64, f64)> {
        let gain = score.loss_with_interval()?;
        Some((self.task.goal.direction.sign() * gain.value, gain.half_width))
    }

    /// A gain as the change of the objective it stands for.
    fn change(&self, gain: Gain) -> Paired {
        let value = -self.task.goal.direction.sign() * gain.value;
        let (low, high) = (value - gain.half_width, value + gain.half_width);
        let verdict = match () {
            () if value == 0.0 && gain.half_width == 0.0 => Verdict::Identical,
            () if low > 0.0 || high < 0.0 => Verdict::Clear,
            () => Verdict::Noise,
        };
        Paired {
            difference: Some(value),
            ci95: Some((low, high)),
            correlation: None,
            verdict: Some(verdict),
            note: None,
        }
    }
}
