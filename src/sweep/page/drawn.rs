//! Charts: objectives against each other, and what each field does.

use crate::page::{Axis, Block, Dot, Line, LineChart, Scatter, Section, Table, Unit, X};
use crate::report::{axis, drawn};
use crate::space::Scale;
use crate::stats::Dimension;
use crate::sweep::effects::{At, Bin, Effect, ranked};
use crate::sweep::header::Holds;
use crate::sweep::row::Figure;
use crate::sweep::summary::{Point, Summary};
use crate::sweep::text::{SHOWN, shown_as, spread, value_cell};

/// Positions in the legend.
const BASE: usize = 0;
const FRONT: usize = 1;
const OTHER: usize = 2;
const MEAN: usize = 3;

/// Variants drawn beside the front, at most: evenly spread over their numbers.
const MOST_DOTS: usize = 2_000;
/// Fields drawn for each objective.
const MOST_FIELDS: usize = 6;
/// From this ratio of its ends on, an axis is logarithmic.
const WIDE: f64 = 20.0;

impl Summary {
    pub(super) fn dimension(&self, objective: usize) -> Dimension {
        let (score, _) = self.header.objective_columns()[objective];
        self.header.figures[score].dimension.into()
    }

    /// The first objective against another.
    pub(super) fn scatter(&self, front: &[usize], other: usize) -> Scatter {
        let named: Vec<usize> = spread(front, SHOWN).collect();
        let rest: Vec<usize> = (0..self.points.len()).filter(|at| !front.contains(at)).collect();
        let is_base = |at: &usize| self.points[*at].variant == 0;
        let base = (0..self.points.len()).filter(is_base);
        // What is drawn later lies on top.
        let mut shown: Vec<usize> = spread(&rest, MOST_DOTS).filter(|at| !is_base(at)).collect();
        shown.extend(front.iter().copied().filter(|at| !is_base(at)));
        shown.extend(base);
        let dots = shown
            .iter()
            .filter_map(|&at| self.dot(at, other, front.contains(&at), named.contains(&at)));
        // With two objectives this is the front; with more, what of it lies on this plane.
        let mut line: Vec<(f64, f64)> = self
            .front_of(&[0, other])
            .into_iter()
            .filter_map(|at| Some(self.dot(at, other, true, true)?.at))
            .collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let names = [other, 0].map(|at| self.header.objectives[at].measure.clone());
        let [across, up] = names;
        Scatter {
            title: format!("{up} against {across}"),
            about: "Every variant; the line joins what nothing beats in these two. Bars are 95 % intervals of \
                    the difference to the base."
                .into(),
            x: axis(across, self.dimension(other)),
            y: axis(up, self.dimension(0)),
            dots: dots.collect(),
            front: line,
        }
    }

    fn dot(&self, at: usize, other: usize, on_front: bool, named: bool) -> Option<Dot> {
        let point = &self.points[at];
        let place = |objective: usize| {
            let (_, factor) = drawn(self.dimension(objective));
            let value = point.scores[objective].value()? * factor;
            let half = point.differences[objective].ci95().map(|(lo, hi)| factor * (hi - lo) / 2.0);
            let axis = axis("", self.dimension(objective));
            let interval = half.filter(|_| on_front);
            Some((value, interval.map(|half| within(&axis, (value - half, value + half)))))
        };
        let ((x, x_interval), (y, y_interval)) = (place(other)?, place(0)?);
        let number = format!("#{}", point.variant);
        let (of, label) = match (point.variant, named) {
            (0, _) => (BASE, "base".into()),
            (_, true) => (FRONT, number),
            _ => {
                (if on_front { FRONT } else { OTHER }, format!("{number}: {}", self.set_by(point)))
            }
        };
        let named = named || point.variant == 0;
        Some(Dot { of, at: (x, y), x_interval, y_interval, label, named })
    }

    /// What a variant sets, without what a choice sets.
    fn set_by(&self, point: &Point) -> String {
        let fields = self.header.fields.iter().zip(&point.fields);
        let own = fields.filter(|(field, cell)| {
            !cell.is_null() && (field.choice.is_none() || field.is_choice())
        });
        let words = own.map(|(field, cell)| format!("{} {}", field.name, shown_as(cell, field)));
        words.collect::<Vec<_>>().join(", ")
    }

    /// What the fields that matter do to an objective.
    pub(super) fn effects_section(&self, at: usize) -> Option<Section> {
        let effects = ranked(self, at).into_iter().filter(|effect| effect.share > 0.0);
        let blocks = effects.take(MOST_FIELDS).map(|effect| self.effect_block(at, &effect));
        let (charts, mut blocks): (Vec<Block>, Vec<Block>) =
            blocks.partition(|block| matches!(block, Block::Lines(_)));
        if !charts.is_empty() {
            blocks.insert(0, Block::Beside(charts));
        }
        let title = format!("What each field does to {}", self.header.objectives[at].measure);
        (!blocks.is_empty()).then(|| Section::new(title, blocks))
    }

    /// A line over the field's numbers; a table where it holds names.
    fn effect_block(&self, at: usize, effect: &Effect) -> Block {
        let column = &self.header.fields[effect.field];
        let dimension = self.dimension(at);
        let title = format!("{}: {:.0} %", column.name, 100.0 * effect.share);
        let mean = |bin: &Bin| {
            let ci95 = bin.half.map(|half| (bin.mean - half, bin.mean + half));
            value_cell(Figure::new(Some(bin.mean), ci95), dimension)
        };
        let (unit, scale) = match column.holds {
            Holds::Seconds => (Unit::Seconds, 1.0),
            Holds::Dollars => (Unit::Dollars, 1.0),
            Holds::Share => (Unit::Percent, 100.0),
            Holds::Number | Holds::Truth | Holds::Text => (Unit::Number, 1.0),
        };
        let number = |bin: &Bin| match bin.at {
            At::Number(number) => Some(number * scale),
            At::Name(_) => None,
        };
        let numbers: Vec<(f64, &Bin)> =
            effect.bins.iter().filter_map(|bin| Some((number(bin)?, bin))).collect();
        if numbers.len() < 2 {
            let mut table = Table::of_figures(
                title,
                column.name.as_str(),
                ["variants", self.header.objectives[at].measure.as_str()],
            );
            for bin in &effect.bins {
                let name = match &bin.at {
                    At::Name(name) => name.clone(),
                    At::Number(number) => shown_as(&(*number).into(), column),
                };
                table.row(name, vec![bin.count.to_string(), mean(bin)]);
            }
            return Block::Table(table);
        }
        let none = effect.bins.iter().find(|bin| number(bin).is_none());
        let none = none.map_or(String::new(), |bin| format!(" Without a value: {}.", mean(bin)));
        let (_, factor) = drawn(dimension);
        let up = axis(&*self.header.objectives[at].measure, dimension);
        let band = |bin: &Bin| {
            let half = bin.half?;
            Some(within(&up, ((bin.mean - half) * factor, (bin.mean + half) * factor)))
        };
        let xs: Vec<f64> = numbers.iter().map(|(x, _)| *x).collect();
        let declared = column.scale == Scale::Log;
        let log = xs[0] > 0.0 && (declared || xs[xs.len() - 1] / xs[0] > WIDE);
        let x = Axis { log, ..Axis::new(column.name.as_str(), unit) };
        Block::Lines(LineChart {
            title,
            about: format!(
                "Means over variants with 95 % intervals, all other fields varying as they do; per cent: the \
                 part of the variance.{none}"
            ),
            x: X::Values(x, xs),
            y: axis(&*self.header.objectives[at].measure, dimension),
            lines: vec![Line {
                of: MEAN,
                values: numbers.iter().map(|(_, bin)| Some(bin.mean * factor)).collect(),
                bands: numbers.iter().map(|(_, bin)| band(bin)).collect(),
            }],
            shades: Vec::new(),
            strips: Vec::new(),
        })
    }
}

/// The part of an interval that the axis's measure can be: no share is above all.
fn within(axis: &Axis, (lo, hi): (f64, f64)) -> (f64, f64) {
    (axis.least.map_or(lo, |least| lo.max(least)), axis.most.map_or(hi, |most| hi.min(most)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_end_where_a_share_does() {
        let ends = |dimension, interval| within(&axis("", dimension), interval);
        assert_eq!(ends(Dimension::Share, (90.0, 104.0)), (90.0, 100.0));
        assert_eq!(ends(Dimension::Share, (-3.0, 4.0)), (0.0, 4.0));
        assert_eq!(ends(Dimension::Seconds, (90.0, 104.0)), (90.0, 104.0));
    }
}
