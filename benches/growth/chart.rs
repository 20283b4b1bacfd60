//! The curves of growth: a panel for each series, all to one scale.

use std::fs;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::{FontStyle, register_font};

use super::Series;

const PANEL: (u32, u32) = (300, 260);
const HEAD: u32 = 36;
/// The goal: no member of a series costs more than so many times its reference.
const GOAL: f64 = 1.5;
const LINE: RGBColor = RGBColor(0, 114, 178);
const LIMIT: RGBColor = RGBColor(213, 94, 0);

pub(super) fn draw(series: &[Series], path: &Path) {
    register_font("sans-serif", FontStyle::Normal, dejavu::sans::regular())
        .unwrap_or_else(|_| panic!("the font cannot be read"));
    let size = (PANEL.0 * series.len() as u32, PANEL.1 + HEAD);
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, size).into_drawing_area();
        area.fill(&WHITE).expect("room in memory");
        let (top, body) = area.split_vertically(HEAD);
        let title =
            "Cost of a unit of work, as a multiple of the reference (dot at 1); dashed: the goal";
        top.draw(&Text::new(title, (14, 10), ("sans-serif", 16))).expect("room in memory");
        let panels = body.split_evenly((1, series.len()));
        let ratios = series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
        let most = ratios.fold(2.0, f64::max).ceil();
        panels.iter().zip(series).for_each(|(panel, series)| draw_panel(panel, series, most));
        area.present().expect("room in memory");
    }
    fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

fn draw_panel<B: DrawingBackend>(area: &DrawingArea<B, Shift>, series: &Series, most: f64) {
    let place = |size: u64| libm::log10(size as f64);
    let (first, last) = (series.points[0].0, series.points[series.points.len() - 1].0);
    let (from, to) = (place(first) - 0.15, place(last) + 0.15);
    let mut chart = ChartBuilder::on(area)
        .margin(8)
        .x_label_area_size(44)
        .y_label_area_size(36)
        .build_cartesian_2d(from..to, 0.0..most)
        .unwrap_or_else(|error| panic!("{error}"));
    let label = |x: &f64| amount(libm::pow(10.0, *x));
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_labels(5)
        .y_labels(5)
        .x_label_formatter(&label)
        .y_label_formatter(&|y| format!("{y:.1}"))
        .x_desc(series.name)
        .label_style(("sans-serif", 12))
        .axis_desc_style(("sans-serif", 13))
        .draw()
        .unwrap_or_else(|error| panic!("{error}"));
    let goal = DashedLineSeries::new([(from, GOAL), (to, GOAL)], 5, 4, LIMIT.stroke_width(1));
    let line = series.points.iter().map(|&(size, ratio)| (place(size), ratio));
    let dots = line.clone().map(|at| Circle::new(at, 3, LINE.filled()));
    let line = LineSeries::new(line, LINE.stroke_width(2));
    chart.draw_series(goal).unwrap_or_else(|error| panic!("{error}"));
    chart.draw_series(line).unwrap_or_else(|error| panic!("{error}"));
    chart.draw_series(dots).unwrap_or_else(|error| panic!("{error}"));
}

/// 1, 30, 10k, 2M.
fn amount(size: f64) -> String {
    match size {
        size if size >= 999_500.0 => format!("{:.0}M", size / 1e6),
        size if size >= 999.5 => format!("{:.0}k", size / 1e3),
        size => format!("{size:.0}"),
    }
}
