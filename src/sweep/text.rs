//! A sweep in words and tables.

use serde_json::Value;
use windtunnel_policy::Duration;

use super::effects::{Effect, name_of, ranked};
use super::header::{Counted, FieldColumn, Header, Holds};
use super::objective::Goal;
use super::row::Figure;
use super::score::Aggregate;
use super::summary::{Point, Summary};
use crate::report::{Grid, change, figure, short_hash};
use crate::stats::{Dimension, Estimate};

/// Variants of the front that are shown; the table says how many more there are.
pub(super) const SHOWN: usize = 6;
/// Fields shown by what they matter.
const MATTERING: usize = 8;

impl Summary {
    /// The front and what matters, for people.
    pub fn text(&self) -> String {
        let mut sections = vec![self.head()];
        let front = self.front();
        sections.push(self.front_table(&front));
        sections.extend(self.fitted());
        sections.extend(self.effects_table());
        sections.join("\n")
    }

    fn head(&self) -> String {
        let header = &self.header;
        let mut lines = vec![format!("windtunnel {}", header.windtunnel)];
        for scenario in &header.scenarios {
            lines.push(format!("scenario   {}", scenario_line(header, scenario)));
        }
        let base = &header.base;
        lines.push(format!("base       {} ({})", base.name, short_hash(&base.hash)));
        let tally = header.tally;
        let left_out = [(tally.excluded, "excluded"), (tally.repeated, "repeated")];
        let left_out = left_out.iter().filter(|(count, _)| *count > 0);
        let left_out: String = left_out.map(|(count, word)| format!(", {count} {word}")).collect();
        lines.push(format!(
            "space      {} ({}), {} of {} points{left_out}",
            header.space.name,
            short_hash(&header.space.hash),
            header.sample,
            tally.drawn,
        ));
        let plural = if header.worlds == 1 { "world" } else { "worlds" };
        let resampled = if header.resample { ", resampled" } else { "" };
        let (variants, worlds, seed) = (header.variants, header.worlds, header.seed);
        lines
            .push(format!("variants   {variants}, on {worlds} {plural} of seed {seed}{resampled}"));
        if !self.is_complete() {
            let (done, all) = (self.points.len(), header.variants + 1);
            lines.push(format!("note       interrupted: {done} of {all} rows are there"));
        }
        lines.push(format!("wanted     {}", wanted(header)));
        lines.extend(self.without_value().map(|line| format!("note       {line}")));
        lines.join("\n") + "\n"
    }

    /// Of each objective that some policies have no value for, how many those are.
    pub(super) fn without_value(&self) -> impl Iterator<Item = String> {
        self.header.objectives.iter().enumerate().filter_map(|(at, objective)| {
            let has_none = |point: &&Point| point.scores[at].value().is_none();
            let without = self.points.iter().filter(has_none).count();
            (without > 0).then(|| {
                format!(
                    "{} has no value for {without} of {} policies, and the front is without them: \
                     `windtunnel run` says why",
                    objective.measure,
                    self.points.len(),
                )
            })
        })
    }

    /// The front, and what to mind about it.
    fn front_table(&self, front: &[usize]) -> String {
        let variants = self.points.iter().filter(|point| point.variant > 0).count();
        let (table, more) = self.front_cells(front);
        let more = match more {
            0 => String::new(),
            more => format!(" {more} more of the front are in the rows."),
        };
        let title = format!(
            "Pareto front: {} of {} policies ({variants} variants and the base{})",
            front.len(),
            self.policies(),
            self.base_again()
        );
        let table = table.ruled();
        if front.is_empty() {
            return format!("{title}\n{table}\nNo policy has a value for every objective.\n");
        }
        format!(
            "{title}\n{table}\nNothing beats these in every objective.{more} The best of {variants} \
             looks better than it is:\nconfirm one on other worlds, such as those of another \
             `--seed`, before it goes anywhere.\n{}",
            self.noise(front).map_or(String::new(), |noise| noise + "\n"),
        )
    }

    /// One column for the base and for each variant shown; one row for each objective, then for
    /// each field in which they differ. And how many more are on the front.
    pub(super) fn front_cells(&self, front: &[usize]) -> (Grid, usize) {
        let on_front =
            |point: &Point| front.iter().any(|&at| self.points[at].variant == point.variant);
        let shown: Vec<&Point> = spread(front, SHOWN).map(|at| &self.points[at]).collect();
        let base = self.base();
        let others = shown.iter().copied().filter(|point| point.variant > 0);
        let columns: Vec<&Point> = base.into_iter().chain(others).collect();
        let names = columns.iter().map(|point| match point.variant {
            0 if on_front(point) => "base, on the front".into(),
            0 => "base".into(),
            number => format!("#{number}"),
        });
        let mut table = table(names.collect());
        for (at, objective) in self.header.objectives.iter().enumerate() {
            let (score, _) = self.header.objective_columns()[at];
            let dimension = self.header.figures[score].dimension.into();
            let cells = columns.iter().map(|point| value_cell(point.scores[at], dimension));
            table.add_row(row(objective.measure.clone(), cells));
            let cells = columns.iter().map(|point| match point.variant {
                0 => String::new(),
                _ => change_cell(point.differences[at], dimension),
            });
            table.add_row(row("  less the base".into(), cells));
        }
        for (at, field) in self.header.fields.iter().enumerate() {
            let cells: Vec<String> =
                columns.iter().map(|point| shown_as(&point.fields[at], field)).collect();
            if cells.iter().any(|cell| *cell != cells[0]) {
                table.add_row(row(field.name.clone(), cells.into_iter()));
            }
        }
        (table, front.len().saturating_sub(shown.len()))
    }

    /// What matters, where anything does.
    fn effects_table(&self) -> Option<String> {
        Some(format!(
            "What matters: the part of the variance over variants that lies between a field's \
             values\n{}\n",
            self.mattering_cells()?.ruled()
        ))
    }

    /// Which fields say how much about each objective; `None` where nothing does.
    pub(super) fn mattering_cells(&self) -> Option<Grid> {
        let objectives = 0..self.header.objectives.len();
        let by_objective: Vec<Vec<Effect>> = objectives.map(|at| ranked(self, at)).collect();
        let share = |field: usize, effects: &[Effect]| {
            effects.iter().find(|effect| effect.field == field).map(|effect| effect.share)
        };
        let most = |field: usize| {
            by_objective.iter().filter_map(|effects| share(field, effects)).fold(0.0, f64::max)
        };
        let mut order: Vec<usize> =
            (0..self.header.fields.len()).filter(|&field| most(field) > 0.0).collect();
        order.sort_by(|&a, &b| most(b).total_cmp(&most(a)));
        if order.is_empty() {
            return None;
        }
        let names = self.header.objectives.iter().map(|objective| objective.measure.clone());
        let mut table = table(names.collect());
        for &field in order.iter().take(MATTERING) {
            let cells = by_objective.iter().map(|effects| match share(field, effects) {
                Some(share) => format!("{:.0} %", 100.0 * share),
                None => "–".into(),
            });
            table.add_row(row(self.header.fields[field].name.clone(), cells));
        }
        Some(table)
    }
}

fn scenario_line(header: &Header, scenario: &Counted) -> String {
    let name = format!("{} ({})", scenario.name, short_hash(&scenario.hash));
    let all: f64 = header.scenarios.iter().map(|scenario| scenario.weight).sum();
    match (header.scenarios.len(), header.score) {
        (1, _) | (_, Aggregate::Worst) => name,
        _ => format!("{name}, weight {:.0} %", 100.0 * scenario.weight / all),
    }
}

pub(super) fn wanted(header: &Header) -> String {
    let objectives = header.objectives.iter().map(|objective| match objective.goal {
        Goal::Most => format!("most {}", objective.measure),
        Goal::Least => format!("least {}", objective.measure),
    });
    let list = objectives.collect::<Vec<_>>().join(", ");
    match (header.scenarios.len(), header.score) {
        (1, _) => list,
        (_, Aggregate::Mean) => format!("{list}; scenarios by weight"),
        (_, Aggregate::Worst) => format!("{list}; each in its worst scenario"),
        (_, Aggregate::Quantile(share)) => {
            format!("{list}; each where {:.0} % of the weight is no better", 100.0 * share)
        }
    }
}

/// At most `most` of a list, evenly spread, both ends among them.
pub(super) fn spread(list: &[usize], most: usize) -> impl Iterator<Item = usize> {
    let count = list.len().min(most);
    (0..count).map(move |i| match count {
        1 => list[0],
        _ => list[i * (list.len() - 1) / (count - 1)],
    })
}

/// A table without rows: a column of names, then columns of figures.
pub(super) fn table(columns: Vec<String>) -> Grid {
    let head: Vec<&str> = [""].into_iter().chain(columns.iter().map(String::as_str)).collect();
    let mut table = Grid::new(&head);
    table.figures(1..head.len());
    table
}

fn row(name: String, cells: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    std::iter::once(name).chain(cells)
}

/// A figure with its interval.
pub(super) fn value_cell(found: Figure, dimension: Dimension) -> String {
    let Some(value) = found.value() else { return "–".into() };
    let (value, ci95) = (Some(value), found.ci95());
    figure(&Estimate { value, ci95, n: 0, worlds: 0, note: None }, dimension)
}

pub(super) fn change_cell(found: Figure, dimension: Dimension) -> String {
    found.value().map_or("–".into(), |value| change(value, found.ci95(), dimension))
}

/// A cell as a policy says it.
pub(super) fn shown_as(cell: &Value, column: &FieldColumn) -> String {
    match (column.holds, cell.as_f64()) {
        (Holds::Seconds, Some(seconds)) => {
            Duration::from_micros((seconds * 1e6 + 0.5) as u64).to_string()
        }
        (Holds::Dollars, Some(dollars)) => format!("${dollars}"),
        (Holds::Share, Some(share)) => {
            let text = format!("{:.4}", 100.0 * share);
            format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
        }
        (Holds::Number, Some(number)) => number.to_string(),
        _ if column.is_choice() && cell.is_null() => "–".into(),
        _ => name_of(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_and_what_lies_between() {
        let list: Vec<usize> = (0..20).collect();
        assert_eq!(spread(&list, 6).collect::<Vec<_>>(), [0, 3, 7, 11, 15, 19]);
        assert_eq!(spread(&list[..3], 6).collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!(spread(&list[..1], 6).collect::<Vec<_>>(), [0]);
        assert_eq!(spread(&[], 6).count(), 0);
    }
}
