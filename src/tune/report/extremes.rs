//! What is left of a recommendation where failures stick otherwise than declared: a sentence, a table
//! and JSON.

use serde_json::{Map, Value, json};

use super::TuneReport;
use super::json::{change, standing};
use super::tables::{conditions, with_interval};
use crate::experiment::{Identified, Setting};
use crate::report::{Grid, SETTINGS};
use crate::stats::Outcome;
use crate::tune::{AtExtreme, Finalist, Holds};

impl TuneReport<'_> {
    /// True where the second line of the answer takes something from the first.
    pub(super) fn is_qualified(&self) -> bool {
        self.tuning.recommended().is_some_and(|finalist| !self.at_extremes(finalist).0)
    }

    /// Whether a recommendation holds at both extremes, and a sentence about it.
    pub(super) fn at_extremes(&self, finalist: &Finalist) -> (bool, Option<String>) {
        let there = |wanted: Holds| {
            let those = finalist.extremes.iter().filter(move |there| there.holds == wanted);
            those.map(|there| self.there(there)).collect::<Vec<_>>().join("; ")
        };
        let line = match finalist.identified() {
            None => "Not known: whether it holds where failures stick otherwise than declared \
                     (interrupted before that)."
                .into(),
            Some(Identified::Yes) => format!(
                "At both extremes of stickiness ({} held-out worlds) it holds: {}.",
                finalist.extremes[0].score.worlds,
                there(Holds::Yes)
            ),
            Some(Identified::InPart) => format!(
                "Not clear at every stickiness of failures (nobody publishes how far they stick): {}.",
                there(Holds::Unclear)
            ),
            Some(Identified::No) => format!(
                "Not identified: it turns with how far failures stick to their request, which nobody \
                 publishes: {}.",
                there(Holds::No)
            ),
        };
        (finalist.identified() == Some(Identified::Yes), Some(line))
    }

    /// One extreme, with the change there and the conditions that are not met.
    fn there(&self, there: &AtExtreme) -> String {
        let setting = match there.setting {
            Setting::Independent => "where none sticks (0),",
            Setting::Declared => "as declared,",
            Setting::AllToRequest => "where all stick (1),",
        };
        let change = there.gain.map(|gain| self.shown(&self.change(gain)));
        let change = change.unwrap_or_else(|| "no value".into());
        let mut parts = vec![format!("{setting} {} {change}", self.task.goal.measure)];
        let checks = there.score.checks.iter().zip(&there.base.checks);
        let doubtful = checks.filter_map(|(check, base)| {
            let standing = match check.result.outcome {
                Outcome::Passed => return None,
                Outcome::Failed => "missed",
                Outcome::Undecided { .. } => "undecided",
            };
            let condition = &self.task.goal.constraints[check.constraint];
            let value = self.value_of(check);
            let as_base = match base.result.outcome == check.result.outcome {
                true => format!(", as by `{}`", self.tuning.base().variant.policy.name),
                false => String::new(),
            };
            Some(format!("`{condition}` {standing}{as_base} ({value})"))
        });
        parts.extend(doubtful);
        parts.join(", ")
    }
}

/// A row for each confirmed finalist and extreme; `None` where none was run there.
pub(super) fn titled(report: &TuneReport<'_>) -> Option<(String, Grid)> {
    let finalists = report.tuning.finalists.iter().enumerate();
    let worlds = report.tuning.finalists.iter().flat_map(|f| &f.extremes).next()?.score.worlds;
    let measure = &report.task.goal.measure;
    let mut table = Grid::new(&[
        "",
        "stickiness of failures",
        "base",
        "finalist",
        measure,
        "conditions",
        "there",
    ]);
    for (position, finalist) in finalists {
        for (row, there) in finalist.extremes.iter().enumerate() {
            let number = if row == 0 { (position + 1).to_string() } else { String::new() };
            let change = there.gain.map(|gain| report.shown(&report.change(gain)));
            table.add_row([
                number,
                SETTINGS[there.setting as usize].to_owned(),
                with_interval(report, &there.base),
                with_interval(report, &there.score),
                change.unwrap_or_else(|| "–".into()),
                conditions(report, &there.score),
                words(there.holds).to_owned(),
            ]);
        }
    }
    table.figures(2..4);
    Some((
        format!("Confirmed finalists at both extremes of stickiness ({worlds} held-out worlds)"),
        table,
    ))
}

/// By setting: what a finalist does there, and whether it holds.
pub(super) fn json(report: &TuneReport<'_>, finalist: &Finalist) -> Value {
    let Some(identified) = finalist.identified() else { return Value::Null };
    let there = finalist.extremes.iter().map(|there| {
        let value = json!({
            "change": there.gain.map(|gain| change(report, gain)),
            "base": standing(report, &there.base),
            "finalist": standing(report, &there.score),
            "holds": match there.holds {
                Holds::Yes => "yes",
                Holds::Unclear => "unclear",
                Holds::No => "no",
            },
        });
        (there.setting.name().to_owned(), value)
    });
    let mut object: Map<String, Value> = there.collect();
    object.insert("identified".into(), json!(identified.name()));
    Value::Object(object)
}

fn words(holds: Holds) -> &'static str {
    match holds {
        Holds::Yes => "holds",
        Holds::Unclear => "not clear",
        Holds::No => "does not hold",
    }
}
