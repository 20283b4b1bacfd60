//! What each field does to an objective: a panel each, the field that matters most first.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::super::effects::{At, Bin, Effect, ranked};
use super::super::summary::Summary;
use super::axis::{Axis, Shows, cut, field_title, title};
use crate::report::{COLOURS, Picture, PlotError, SHADE, fault};

/// Fields shown.
const MOST: usize = 9;
/// Panels beside each other.
const ACROSS: usize = 3;
/// Width and height of a panel, and what stands above them all.
const PANEL: (u32, u32) = (460, 330);
const HEAD: u32 = 64;
/// Letters beside each other below a panel.
const LETTERS: usize = 52;
/// Names of values are not cut shorter.
const LEAST_LETTERS: usize = 14;

pub(super) struct Effects<'a> {
    summary: &'a Summary,
    objective: usize,
    effects: Vec<Effect>,
}

impl<'a> Effects<'a> {
    /// `None` where no field does anything.
    pub(super) fn new(summary: &'a Summary, objective: usize) -> Option<Effects<'a>> {
        let effects = ranked(summary, objective);
        let effects: Vec<Effect> = effects.into_iter().take(MOST).collect();
        (!effects.is_empty()).then_some(Effects { summary, objective, effects })
    }
}

impl Picture for Effects<'_> {
    fn size(&self) -> (u32, u32) {
        let (columns, rows) = shape(self.effects.len());
        (PANEL.0 * columns as u32, PANEL.1 * rows as u32 + HEAD)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        area.fill(&WHITE).map_err(fault)?;
        let header = &self.summary.header;
        let (head, body) = area.split_vertically(HEAD);
        let text = format!("What each field does to {}", title(header, self.objective));
        head.draw(&Text::new(text, (16, 10), ("sans-serif", 22))).map_err(fault)?;
        let text = "means over variants with 95 % intervals, all other fields varying as they do; \
                    per cent: the part of the variance";
        head.draw(&Text::new(text, (16, 38), ("sans-serif", 15))).map_err(fault)?;
        let shows = Shows::of_objective(header, self.objective);
        let bins = || self.effects.iter().flat_map(|effect| &effect.bins);
        let values = bins().map(|bin| (bin.mean, interval(bin, shows)));
        // One vertical axis for all, so that panels can be compared.
        let up = Axis::over_intervals(values.collect::<Vec<_>>().into_iter(), shows);
        let (columns, rows) = shape(self.effects.len());
        let panels = body.split_evenly((rows, columns));
        for (panel, effect) in panels.iter().zip(&self.effects) {
            self.panel(panel, effect, &up)?;
        }
        area.present().map_err(fault)
    }
}

impl Effects<'_> {
    fn panel<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        effect: &Effect,
        up: &Axis,
    ) -> Result<(), PlotError> {
        let header = &self.summary.header;
        let column = &header.fields[effect.field];
        let numbers = effect.bins.iter().filter_map(|bin| match bin.at {
            At::Number(number) => Some(number),
            At::Name(_) => None,
        });
        let named = numbers.clone().count() == 0;
        let without = !named && effect.bins.iter().any(|bin| matches!(bin.at, At::Name(_)));
        let across = Axis::over(numbers, Shows::of_field(column.holds));
        // Variants without a number stand left of all that have one.
        let beside = across.from - 0.12 * (across.to - across.from);
        let (from, to) = match (named, without) {
            (true, _) => (-0.5, effect.bins.len() as f64 - 0.5),
            (false, true) => (beside - 0.08 * (across.to - across.from), across.to),
            (false, false) => (across.from, across.to),
        };
        let place = |position: usize, at: &At| match at {
            At::Number(number) => across.place(*number),
            At::Name(_) if without => beside,
            At::Name(_) => position as f64,
        };
        let name_at = |x: f64| {
            let near = (x - libm::round(x)).abs() < 1e-6;
            let bin = effect.bins.get(libm::round(x) as usize).filter(|_| near && x > -0.1);
            match bin.map(|bin| &bin.at) {
                Some(At::Name(name)) => short(name, LETTERS / effect.bins.len()),
                _ => String::new(),
            }
        };
        let share = format!("{}: {:.0} %", cut(&column.name), 100.0 * effect.share);
        let mut chart = ChartBuilder::on(area)
            .caption(share, ("sans-serif", 16))
            .margin(10)
            .margin_right(20)
            .x_label_area_size(46)
            .y_label_area_size(66)
            .build_cartesian_2d(from..to, up.from..up.to)
            .map_err(fault)?;
        let labels = if named { 2 * effect.bins.len() + 1 } else { 6 };
        let label = |x: &f64| match named {
            true => name_at(*x),
            false if *x < across.from => String::new(),
            false => across.label(*x),
        };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(SHADE.mix(0.2))
            .x_labels(labels)
            .y_labels(6)
            .x_label_formatter(&label)
            .y_label_formatter(&|y| up.label(*y))
            .x_desc(field_title(header, effect.field))
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .draw()
            .map_err(fault)?;
        let colour = COLOURS[0];
        let shows = Shows::of_objective(header, self.objective);
        let placed = || effect.bins.iter().enumerate().map(|(i, bin)| (place(i, &bin.at), bin));
        if !named {
            let numbers = placed().filter(|(_, bin)| matches!(bin.at, At::Number(_)));
            let line = numbers.map(|(x, bin)| (x, up.place(bin.mean)));
            chart.draw_series(LineSeries::new(line, colour.stroke_width(2))).map_err(fault)?;
        }
        let bars = placed().map(|(x, bin)| {
            let ends = interval(bin, shows).map(|y| (x, up.place(y).clamp(up.from, up.to)));
            PathElement::new(ends.to_vec(), colour.stroke_width(2))
        });
        chart.draw_series(bars).map_err(fault)?;
        let dots =
            placed().map(|(x, bin)| Circle::new((x, up.place(bin.mean)), 4, colour.filled()));
        chart.draw_series(dots).map_err(fault)?;
        if without {
            let style = ("sans-serif", 13).into_font().color(&BLACK);
            let text = Text::new("none", (beside, up.from), style.pos(BELOW));
            chart.plotting_area().draw(&text).map_err(fault)?;
        }
        Ok(())
    }
}

/// Where a word stands that is written at the foot of a panel.
const BELOW: Pos = Pos { h_pos: HPos::Center, v_pos: VPos::Bottom };

/// The ends of a bin's interval, within what the measure can be.
fn interval(bin: &Bin, shows: Shows) -> [f64; 2] {
    let half = bin.half.unwrap_or(0.0);
    let (low, high) = (bin.mean - half, bin.mean + half);
    // Nothing that is measured falls below zero.
    let low = if bin.mean >= 0.0 { low.max(0.0) } else { low };
    [low, if shows == Shows::Share { high.min(1.0) } else { high }]
}

/// Columns and rows of so many panels.
fn shape(panels: usize) -> (usize, usize) {
    let columns = panels.min(ACROSS);
    (columns, panels.div_ceil(columns.max(1)))
}

/// A value's name in about so many letters.
pub(super) fn short(name: &str, letters: usize) -> String {
    let letters = letters.max(LEAST_LETTERS);
    if name.chars().count() <= letters {
        return name.into();
    }
    let begin: String = name.chars().take(letters - 1).collect();
    format!("{begin}…")
}
