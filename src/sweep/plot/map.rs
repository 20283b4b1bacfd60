//! The two fields that matter most to an objective, against each other.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::Value;

use super::super::effects::{Effect, name_of, ranked};
use super::super::summary::Summary;
use super::axis::{Axis, Shows, cut, field_title, shown, title};
use super::effects::short;
use super::ruler::Ruler;
use crate::report::{Picture, PlotError, SHADE, fault};
use crate::space::Scale;

/// Width and height in pixels.
const SIZE: (u32, u32) = (1_000, 800);
/// Height of what stands above the map.
const HEAD: u32 = 92;
/// Cells of a field with numbers.
const CELLS: usize = 6;
/// Letters of a name, left of the map or below it.
const LETTERS: usize = 19;
/// The share of its cells that a map has something to say about, at least.
const FILLED: f64 = 0.6;
/// Darkest to lightest: the cividis scale, which is read alike by all kinds of colour vision, and in
/// grey.
const SCALE: [(f64, f64, f64); 6] = [
    (0.0, 34.0, 78.0),
    (53.0, 69.0, 108.0),
    (102.0, 105.0, 112.0),
    (148.0, 142.0, 119.0),
    (201.0, 181.0, 105.0),
    (254.0, 232.0, 56.0),
];

pub(super) struct Map<'a> {
    summary: &'a Summary,
    objective: usize,
    across: Cells,
    up: Cells,
    /// By cell across, then up: the mean, and of how many variants.
    means: Vec<Vec<Option<(f64, usize)>>>,
    /// Why these two fields.
    chosen: String,
}

/// How a field is cut into cells.
struct Cells {
    field: usize,
    /// What is written at each.
    labels: Vec<String>,
    /// The low ends of all cells of numbers but the first; `None` for names alone.
    cuts: Option<Vec<f64>>,
    /// The names of cells without numbers.
    names: Vec<String>,
    /// The cells of numbers follow each other in the logarithm.
    is_logarithmic: bool,
}

impl<'a> Map<'a> {
    /// The field that matters most against the next that does, or the only other that varies: who varies two
    /// fields wants to see them. Refuses where fewer than two of more matter apart from each other.
    pub(super) fn new(summary: &'a Summary, objective: usize) -> Result<Map<'a>, String> {
        let mut ranked = ranked(summary, objective);
        let matters = |effect: &Effect| effect.share > 0.0;
        if ranked.len() != 2 {
            ranked.retain(matters);
        }
        let [first, others @ ..] = ranked.as_slice() else {
            return Err("no field matters to it".into());
        };
        if !matters(first) {
            return Err("no field matters to it".into());
        }
        let name = |effect: &Effect| {
            let name = cut(&summary.header.fields[effect.field].name);
            format!("{name}, {}", per_cent(effect.share))
        };
        if others.is_empty() {
            return Err(format!("one field alone matters to it ({})", name(first)));
        }
        let mut passed_over = Vec::new();
        for second in others {
            let mut map = Map::of(summary, objective, (first.field, second.field));
            // A field that says little but through the first leaves most cells empty.
            if map.filled() >= FILLED {
                map.chosen = format!("{}; {}", name(first), name(second));
                if !passed_over.is_empty() {
                    let over = passed_over.join("; ");
                    map.chosen += &format!(" (most combinations are empty with {over})");
                }
                return Ok(map);
            }
            passed_over.push(name(second));
        }
        Err("no two fields that matter to it have variants in most of their combinations".into())
    }

    fn of(summary: &'a Summary, objective: usize, (across, up): (usize, usize)) -> Map<'a> {
        let (across, up) = (Cells::new(summary, across), Cells::new(summary, up));
        let mut sums = vec![vec![(0.0, 0_usize); up.labels.len()]; across.labels.len()];
        for point in summary.points.iter().filter(|point| point.variant > 0) {
            let Some(value) = point.scores[objective].value() else { continue };
            let (x, y) = (across.cell(&point.fields), up.cell(&point.fields));
            let (Some(x), Some(y)) = (x, y) else { continue };
            sums[x][y].0 += value;
            sums[x][y].1 += 1;
        }
        let mean = |(sum, count): (f64, usize)| (count > 0).then(|| (sum / count as f64, count));
        let means = sums.into_iter().map(|column| column.into_iter().map(mean).collect());
        let means = means.collect();
        Map { summary, objective, across, up, means, chosen: String::new() }
    }

    /// The share of cells with a variant.
    fn filled(&self) -> f64 {
        let filled = self.means.iter().flatten().flatten().count();
        filled as f64 / (self.across.labels.len() * self.up.labels.len()) as f64
    }
}

impl Cells {
    fn new(summary: &Summary, field: usize) -> Cells {
        let column = &summary.header.fields[field];
        let variants = summary.points.iter().filter(|point| point.variant > 0);
        let cells: Vec<&Value> = variants.map(|point| &point.fields[field]).collect();
        let none = cells.iter().any(|cell| cell.is_null());
        let present = cells.iter().filter(|cell| !cell.is_null());
        let numbers: Option<Vec<f64>> = present.map(|cell| cell.as_f64()).collect();
        let numbers = numbers.filter(|numbers| !numbers.is_empty());
        let Some(mut numbers) = numbers else {
            let mut names: Vec<String> = cells.iter().map(|cell| name_of(cell)).collect();
            names.sort();
            names.dedup();
            let labels = names.iter().map(|name| short(name, LETTERS)).collect();
            return Cells { field, labels, cuts: None, names, is_logarithmic: false };
        };
        let names: Vec<String> = none.then(|| name_of(&Value::Null)).into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        let mut distinct = numbers.clone();
        distinct.dedup();
        let shows = Shows::of_field(column.holds);
        let axis = Axis::of_field(column, numbers.iter().copied());
        let is_logarithmic = axis.is_logarithmic();
        if distinct.len() <= CELLS + 2 {
            let labels = distinct.iter().map(|number| shown(*number, shows, None));
            let labels = labels.chain(names.clone()).collect();
            let cuts = Some(distinct[1..].to_vec());
            return Cells { field, labels, cuts, names, is_logarithmic };
        }
        // What has no place on the axis is a cell of its own, before all others.
        let off = numbers.partition_point(|number| !axis.has(*number));
        let off_axis = (off > 0).then(|| shown(numbers[0], shows, None));
        let first_cut = (off > 0).then(|| numbers[off]);
        let numbers = &numbers[off..];
        let mut cuts = inner_cuts(numbers, column.scale);
        cuts.dedup();
        let text = |number: f64| match is_logarithmic {
            true => shown(number, shows, None),
            false => axis.label(axis.place(number)),
        };
        let mut ends = vec![numbers[0]];
        ends.extend(&cuts);
        ends.push(numbers[numbers.len() - 1]);
        let parts = ends.windows(2).map(|pair| format!("{}–{}", text(pair[0]), text(pair[1])));
        let labels = off_axis.into_iter().chain(parts).chain(names.clone()).collect();
        let cuts = Some(first_cut.into_iter().chain(cuts).collect());
        Cells { field, labels, cuts, names, is_logarithmic }
    }

    fn title(&self, summary: &Summary) -> String {
        field_title(&summary.header.fields[self.field], self.is_logarithmic)
    }

    fn cell(&self, fields: &[Value]) -> Option<usize> {
        let value = &fields[self.field];
        match &self.cuts {
            // Those without a number come last.
            Some(cuts) => match value.as_f64() {
                Some(number) => Some(cuts.partition_point(|cut| *cut <= number)),
                None => Some(self.labels.len() - 1),
            },
            None => self.names.iter().position(|name| *name == name_of(value)),
        }
    }
}

impl Picture for Map<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        let header = &self.summary.header;
        let known = || self.means.iter().flatten().flatten().map(|(mean, _)| *mean);
        let (low, high) =
            (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
        let shows = Shows::of_objective(header, self.objective);
        let (columns, rows) = (self.across.labels.len(), self.up.labels.len());

        area.fill(&WHITE).map_err(fault)?;
        let (head, below) = area.split_vertically(HEAD);
        let caption =
            format!("{}, mean of the variants in each cell", title(header, self.objective, false));
        let why = "the two fields that matter most, by the part of the variance over variants between \
                   their values:";
        for (text, y, size) in [(caption.as_str(), 12, 22), (why, 44, 15), (&self.chosen, 66, 15)] {
            head.draw(&Text::new(text, (20, y), ("sans-serif", size))).map_err(fault)?;
        }
        let middles = |cells: usize| (0..cells).map(|cell| cell as f64 + 0.5).collect();
        let mut chart = ChartBuilder::on(&below)
            .margin(16)
            .margin_top(4)
            .x_label_area_size(60)
            .y_label_area_size(166)
            .build_cartesian_2d(
                Ruler::at(0.0..columns as f64, middles(columns)),
                Ruler::at(0.0..rows as f64, middles(rows)),
            )
            .map_err(fault)?;
        let label =
            |labels: &[String], at: f64| labels.get(at as usize).cloned().unwrap_or_default();
        chart
            .configure_mesh()
            .disable_mesh()
            .x_label_formatter(&|x| label(&self.across.labels, *x))
            .y_label_formatter(&|y| label(&self.up.labels, *y))
            .x_desc(self.across.title(self.summary))
            .y_desc(self.up.title(self.summary))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 17))
            .draw()
            .map_err(fault)?;
        let size = f64::from(SIZE.0.min(SIZE.1)) / columns.max(rows) as f64;
        let font = (size / 5.0).clamp(11.0, 17.0);
        for (x, column) in self.means.iter().enumerate() {
            for (y, mean) in column.iter().enumerate() {
                let (x, y) = (x as f64, y as f64);
                let corners = [(x, y), (x + 1.0, y + 1.0)];
                let Some((mean, count)) = mean else {
                    let empty = Rectangle::new(corners, SHADE.mix(0.12).filled());
                    chart.draw_series(std::iter::once(empty)).map_err(fault)?;
                    continue;
                };
                let share = if high > low { (mean - low) / (high - low) } else { 0.5 };
                let cell = Rectangle::new(corners, colour(share).filled());
                chart.draw_series(std::iter::once(cell)).map_err(fault)?;
                let ink = if share < 0.5 { WHITE } else { BLACK };
                let style = ("sans-serif", font).into_font().color(&ink);
                let style = style.pos(Pos::new(HPos::Center, VPos::Center));
                let value = shown(*mean, shows, Some(((high - low) / 10.0).max(mean.abs() / 1e4)));
                let middle = (x + 0.5, y + 0.5);
                let texts = [
                    EmptyElement::at(middle) + Text::new(value, (0, -8), style.clone()),
                    EmptyElement::at(middle) + Text::new(format!("of {count}"), (0, 10), style),
                ];
                chart.draw_series(texts).map_err(fault)?;
            }
        }
        area.present().map_err(fault)
    }
}

/// Where ascending numbers are cut: evenly in the logarithm where they were declared so, else into as many
/// in each cell.
fn inner_cuts(numbers: &[f64], scale: Scale) -> Vec<f64> {
    let last = numbers.len() - 1;
    let cut = |cell: usize| match scale {
        Scale::Linear => numbers[last * cell / CELLS],
        Scale::Log => {
            let ratio = numbers[last] / numbers[0];
            numbers[0] * libm::pow(ratio, cell as f64 / CELLS as f64)
        }
    };
    (1..CELLS).map(cut).collect()
}

/// A share in words.
fn per_cent(share: f64) -> String {
    match share {
        little if little < 0.005 => "less than 1 %".into(),
        share => format!("{:.0} %", 100.0 * share),
    }
}

/// A colour of the scale, from dark at 0 to light at 1.
fn colour(share: f64) -> RGBColor {
    let at = share.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (at as usize).min(SCALE.len() - 2);
    let part = at - below as f64;
    let (a, b) = (SCALE[below], SCALE[below + 1]);
    let mix = |a: f64, b: f64| (a + (b - a) * part + 0.5) as u8;
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}
