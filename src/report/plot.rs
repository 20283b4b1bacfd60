//! A chart of success over time, one line per policy, with the incidents shaded.

use plotters::coord::Shift;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use windtunnel_policy::{Duration, Instant};

use super::Report;
use super::canvas::{COLOURS, Picture, PlotError, PlotFormat, SHADE, fault, paint};
use super::notes::short_hash;
use super::timeline::Interval;
use crate::weather::Incident;

/// Width and height in pixels.
const SIZE: (u32, u32) = (1_200, 640);
/// Width of the strip that names the lines: beside the chart, where it hides none of them.
pub(super) const NAMES: u32 = 210;
/// Longer names are cut.
const LONGEST_NAME: usize = 20;

impl Report<'_> {
    /// Success by interval of each policy, all worlds together, with the incidents shaded.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn plot(&self, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
        paint(self, format)
    }
}

impl Picture for Report<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        draw(self, area)
    }
}

pub(super) fn seconds(length: Duration) -> f64 {
    length.as_micros() as f64 / 1e6
}

/// The unit of the time axis: name, and seconds in it.
pub(crate) fn unit(seconds: f64) -> (&'static str, f64) {
    match seconds {
        s if s <= 600.0 => ("seconds", 1.0),
        s if s <= 4.0 * 3_600.0 => ("minutes", 60.0),
        s if s <= 4.0 * 86_400.0 => ("hours", 3_600.0),
        _ => ("days", 86_400.0),
    }
}

pub(crate) type Points = Vec<(f64, f64)>;

fn draw<B: DrawingBackend>(
    report: &Report<'_>,
    area: &DrawingArea<B, Shift>,
) -> Result<(), PlotError> {
    let horizon = seconds(report.scenario.file.horizon);
    let (unit, per) = unit(horizon);
    let lines: Vec<Points> = (0..report.findings.policies.len())
        .map(|policy| points(report, policy, per, success))
        .collect();
    let lowest = lines.iter().flatten().map(|&(_, y)| y).fold(100.0, f64::min);
    // Room below the lowest point, down to a round figure.
    let floor = if lowest > 95.0 { (lowest - 0.5).floor() } else { (lowest / 10.0).floor() * 10.0 };
    let top = 100.0 + (100.0 - floor) * 0.02;

    area.fill(&WHITE).map_err(fault)?;
    let title = title(report, "success");
    let (plot, strip) = area.split_horizontally(SIZE.0 - NAMES);
    let mut chart = ChartBuilder::on(&plot)
        .caption(title, ("sans-serif", 22))
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..horizon / per, floor..top)
        .map_err(fault)?;
    shade(report, &mut chart, per, (floor, top))?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(SHADE.mix(0.2))
        .x_desc(format!("time from the scenario's start ({unit})"))
        .y_desc("requests answered (%)")
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .draw()
        .map_err(fault)?;
    for (position, line) in lines.into_iter().enumerate() {
        chart.draw_series(LineSeries::new(line, style(position))).map_err(fault)?;
    }
    names(report, &strip)?;
    area.present().map_err(fault)
}

/// What is shown, of what, and in which worlds.
pub(super) fn title(report: &Report<'_>, shows: &str) -> String {
    let worlds = report.experiment.worlds.len();
    let worlds = if worlds == 1 { "1 world".into() } else { format!("{worlds} worlds") };
    format!(
        "{}: {shows} per {} ({worlds}, seed {}, {})",
        report.scenario.file.name,
        spoken(report.scenario.file.interval),
        report.options.seed,
        short_hash(&report.scenario.hash),
    )
}

/// Success in per cent.
pub(super) fn success(interval: &Interval) -> Option<f64> {
    Some(100.0 * interval.success()?)
}

/// A policy's value at the middle of each interval before the horizon.
pub(super) fn points(
    report: &Report<'_>,
    policy: usize,
    per: f64,
    value: impl Fn(&Interval) -> Option<f64>,
) -> Points {
    let horizon = seconds(report.scenario.file.horizon);
    let intervals = report.intervals(policy).into_iter();
    intervals
        .filter(|interval| seconds(interval.to) <= horizon)
        .filter_map(|interval| {
            let middle = (seconds(interval.from) + seconds(interval.to)) / 2.0;
            Some((middle / per, value(&interval)?))
        })
        .collect()
}

/// Names the lines in the strip beside the chart.
pub(super) fn names<B: DrawingBackend>(
    report: &Report<'_>,
    strip: &DrawingArea<B, Shift>,
) -> Result<(), PlotError> {
    for (position, policy) in report.findings.policies.iter().enumerate() {
        let y = 70 + 28 * position as i32;
        let name: String = policy.name.chars().take(LONGEST_NAME).collect();
        let font = ("sans-serif", 16).into_font();
        strip.draw(&PathElement::new([(4, y), (30, y)], style(position))).map_err(fault)?;
        strip.draw(&Text::new(name, (38, y - 8), font)).map_err(fault)?;
    }
    Ok(())
}

/// How the line of the policy at this position is drawn.
pub(crate) fn style(position: usize) -> ShapeStyle {
    COLOURS[position % COLOURS.len()].stroke_width(2)
}

pub(super) type Chart<'a, B> = ChartContext<'a, B, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// Every world's incidents, each as faint as there are worlds: darkest where all have one. What goes on all
/// the time is none that a shade could tell from other times.
pub(super) fn shade<B: DrawingBackend>(
    report: &Report<'_>,
    chart: &mut Chart<'_, B>,
    per: f64,
    (floor, top): (f64, f64),
) -> Result<(), PlotError> {
    let worlds = &report.experiment.incidents;
    let faint = SHADE.mix(0.22 / worlds.len().max(1) as f64).filled();
    let horizon = report.scenario.file.horizon.as_micros() as f64 / 1e6 / per;
    let at = |instant: Instant| (instant.as_micros() as f64 / 1e6 / per).min(horizon);
    let passes = |incident: &&Incident| at(incident.from) > 0.0 || at(incident.to) < horizon;
    let boxes = worlds.iter().flatten().filter(passes).map(|incident| {
        Rectangle::new([(at(incident.from), floor), (at(incident.to), top)], faint)
    });
    chart.draw_series(boxes).map_err(fault)?;
    Ok(())
}

/// An interval's length in words; durations are whole microseconds, so small figures are exact.
fn spoken(length: Duration) -> String {
    match length.as_micros() {
        1_000_000 => "second".into(),
        60_000_000 => "minute".into(),
        3_600_000_000 => "hour".into(),
        us if us % 60_000_000 == 0 => format!("{} minutes", us / 60_000_000),
        us => format!("{} s", us as f64 / 1e6),
    }
}
