//! A chart of several measures over time, one above the other, with the incidents shaded.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::Report;
use super::canvas::{Picture, PlotError, PlotFormat, SHADE, fault, paint};
use super::plot::{NAMES, Points, names, points, seconds, shade, style, success, title, unit};
use super::timeline::Interval;

/// Width of the chart, height of a panel, of the title, and of what stands below the last panel.
const WIDTH: u32 = 1_200;
const PANEL: u32 = 220;
const TITLE: u32 = 44;
const FOOT: u32 = 44;

/// What a panel shows: its words, and the value of an interval.
type Panel = (&'static str, fn(&Interval) -> Option<f64>);

const PANELS: [Panel; 4] = [
    ("answered (%)", success),
    ("sent per request", sent),
    ("mean latency (s)", latency),
    ("cost per 1,000 ($)", cost),
];

impl Report<'_> {
    /// Success, attempts, latency and cost by interval of each policy, all worlds together, with the
    /// incidents shaded.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn plot_measures(&self, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
        paint(&Panels(self), format)
    }
}

struct Panels<'a>(&'a Report<'a>);

fn sent(interval: &Interval) -> Option<f64> {
    interval.share(interval.totals.sent as f64)
}

fn latency(interval: &Interval) -> Option<f64> {
    interval.share(interval.totals.latency_sum as f64 / 1e6)
}

/// Money is counted in picodollars.
fn cost(interval: &Interval) -> Option<f64> {
    interval.share(1_000.0 * interval.totals.cost as f64 / 1e12)
}

impl Picture for Panels<'_> {
    fn size(&self) -> (u32, u32) {
        (WIDTH, TITLE + PANEL * PANELS.len() as u32 + FOOT)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        area.fill(&WHITE).map_err(fault)?;
        let (head, body) = area.split_vertically(TITLE);
        let text = title(self.0, "what happens");
        head.draw(&Text::new(text, (20, 14), ("sans-serif", 22))).map_err(fault)?;
        let (plot, strip) = body.split_horizontally(WIDTH - NAMES);
        names(self.0, &strip)?;
        let mut rest = plot;
        for (position, panel) in PANELS.iter().enumerate() {
            let last = position + 1 == PANELS.len();
            let (here, below) = rest.split_vertically(if last { PANEL + FOOT } else { PANEL });
            self.panel(&here, panel, last)?;
            rest = below;
        }
        area.present().map_err(fault)
    }
}

impl Panels<'_> {
    fn panel<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        (words, value): &Panel,
        last: bool,
    ) -> Result<(), PlotError> {
        let report = self.0;
        let horizon = seconds(report.scenario.file.horizon);
        let (unit, per) = unit(horizon);
        let policies = 0..report.findings.policies.len();
        let lines: Vec<Points> =
            policies.map(|policy| points(report, policy, per, value)).collect();
        let values = || lines.iter().flatten().map(|&(_, y)| y);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        let room = if high > low { (high - low) * 0.08 } else { high.max(1.0) * 0.05 };
        let ends = ((low.min(high) - room).max(0.0), high + room);
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(if last { FOOT + 20 } else { 20 })
            .y_label_area_size(76)
            .build_cartesian_2d(0.0..horizon / per, ends.0..ends.1)
            .map_err(fault)?;
        shade(report, &mut chart, per, ends)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT)
            .bold_line_style(SHADE.mix(0.2))
            .y_labels(6)
            .y_desc(*words)
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15));
        let time = format!("time from the scenario's start ({unit})");
        if last {
            mesh.x_desc(time);
        }
        mesh.draw().map_err(fault)?;
        for (position, line) in lines.into_iter().enumerate() {
            chart.draw_series(LineSeries::new(line, style(position))).map_err(fault)?;
        }
        Ok(())
    }
}
