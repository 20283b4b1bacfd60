//! What each field does to an objective: a panel each, the field that matters most first.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::super::effects::{At, Bin, Effect, ranked};
use super::super::summary::Summary;
use super::axis::{Axis, Shows, cut, field_title, shown, title};
use super::ruler::Ruler;
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
/// Room for what has no place on an axis, as a share of the axis.
const SLOT: f64 = 0.16;

pub(super) struct Effects<'a> {
    summary: &'a Summary,
    objective: usize,
    effects: Vec<Effect>,
}

impl<'a> Effects<'a> {
    /// Refuses where no field does anything.
    pub(super) fn new(summary: &'a Summary, objective: usize) -> Result<Effects<'a>, String> {
        let effects = ranked(summary, objective);
        let effects: Vec<Effect> = effects.into_iter().take(MOST).collect();
        match effects.is_empty() {
            true => Err("no field that varies has values of it to compare".into()),
            false => Ok(Effects { summary, objective, effects }),
        }
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
        let text = "means over variants with 95 % intervals, all other fields varying as they do; \
                    per cent: the part of the variance";
        head.draw(&Text::new(text, (16, 38), ("sans-serif", 15))).map_err(fault)?;
        let shows = Shows::of_objective(header, self.objective);
        let bins = || self.effects.iter().flat_map(|effect| &effect.bins);
        let values = bins().map(|bin| (bin.mean, interval(bin, shows)));
        // One vertical axis for all, so that panels can be compared.
        let up = Axis::over_intervals(values.collect::<Vec<_>>().into_iter(), shows);
        let name = title(header, self.objective, up.is_logarithmic());
        let text = format!("What each field does to {name}");
        head.draw(&Text::new(text, (16, 10), ("sans-serif", 22))).map_err(fault)?;
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
        let across = Axis::of_field(column, numbers);
        let shows = Shows::of_field(column.holds);
        let name = |bin: &Bin| match &bin.at {
            At::Number(number) => shown(*number, shows, None),
            At::Name(name) => short(name, LETTERS / effect.bins.len()),
        };
        // What has no place on the axis stands left of all that has one.
        let on_axis = |bin: &&Bin| matches!(bin.at, At::Number(number) if across.has(number));
        let off_axis: Vec<&Bin> = effect.bins.iter().filter(|bin| !on_axis(bin)).collect();
        let slot = SLOT * (across.to - across.from);
        let slots = off_axis.len() as f64;
        let (from, to) = match (named, off_axis.len()) {
            (true, _) => (-0.5, effect.bins.len() as f64 - 0.5),
            (false, 0) => (across.from, across.to),
            (false, _) => (across.from - (slots + 0.3) * slot, across.to),
        };
        let beside: Vec<(f64, String)> = match named {
            true => {
                effect.bins.iter().enumerate().map(|(at, bin)| (at as f64, name(bin))).collect()
            }
            false => {
                let at = |position: usize| across.from - (slots - position as f64 - 0.3) * slot;
                off_axis.iter().enumerate().map(|(i, bin)| (at(i), name(bin))).collect()
            }
        };
        let place = |bin: &Bin| match bin.at {
            At::Number(number) if across.has(number) => across.place(number),
            _ => {
                let position = off_axis.iter().position(|other| *other == bin);
                position.map_or(from, |position| beside[position].0)
            }
        };
        let ticks: Vec<f64> = beside.iter().map(|(at, _)| *at).collect();
        let ruler = match named {
            true => Ruler::at(from..to, ticks),
            false => Ruler::beside(&across, from..to, ticks),
        };
        let share = format!("{}: {:.0} %", cut(&column.name), 100.0 * effect.share);
        let mut chart = ChartBuilder::on(area)
            .caption(share, ("sans-serif", 16))
            .margin(10)
            .margin_right(20)
            .x_label_area_size(46)
            .y_label_area_size(66)
            .build_cartesian_2d(ruler, Ruler::of(up))
            .map_err(fault)?;
        let label = |x: &f64| match beside.iter().find(|(at, _)| at == x) {
            Some((_, name)) => name.clone(),
            None => across.label(*x),
        };
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(SHADE.mix(0.2))
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&label)
            .y_label_formatter(&|y| up.label(*y))
            .x_desc(field_title(column, !named && across.is_logarithmic()))
            .label_style(("sans-serif", 13))
            .axis_desc_style(("sans-serif", 14))
            .draw()
            .map_err(fault)?;
        let colour = COLOURS[0];
        let shows = Shows::of_objective(header, self.objective);
        let placed = || effect.bins.iter().map(|bin| (place(bin), bin));
        if !named {
            let numbers = placed().filter(|(_, bin)| on_axis(bin));
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
        Ok(())
    }
}

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
