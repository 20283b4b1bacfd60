//! Two objectives against each other: every variant, the front, the base and what is recommended.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::super::summary::{Point, Summary};
use super::axis::{Axis, Shows, cut, title};
use crate::report::{COLOURS, Picture, PlotError, SHADE, fault};

/// Width and height in pixels.
const SIZE: (u32, u32) = (1_100, 720);
/// Height of what stands above the chart, and where in it marks are explained.
const HEAD: u32 = 78;
const LEGEND: i32 = 58;

pub(super) struct Front<'a> {
    summary: &'a Summary,
    /// The objective on the vertical axis.
    up: usize,
    /// The objective on the horizontal axis.
    across: usize,
}

impl<'a> Front<'a> {
    pub(super) fn new(summary: &'a Summary, up: usize, across: usize) -> Front<'a> {
        Front { summary, up, across }
    }

    /// On the same worlds a difference is known far better than either value, so bars are those of the
    /// difference to the base.
    fn bar(&self, point: &Point, objective: usize, value: f64) -> Option<[f64; 2]> {
        let (lo, hi) = point.differences[objective].ci95()?;
        let half = (hi - lo) / 2.0;
        let share = Shows::of_objective(&self.summary.header, objective) == Shows::Share;
        let most = if share { 1.0 } else { f64::INFINITY };
        Some([(value - half).max(value / 1e3), (value + half).min(most)])
    }

    fn at(&self, point: &Point) -> Option<(f64, f64)> {
        Some((point.scores[self.across].value()?, point.scores[self.up].value()?))
    }
}

impl Picture for Front<'_> {
    fn size(&self) -> (u32, u32) {
        SIZE
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        let Summary { header, points, .. } = self.summary;
        let all: Vec<(f64, f64)> = points.iter().filter_map(|point| self.at(point)).collect();
        // With two objectives these are the front; with more, what of it lies on this plane.
        let front = self.summary.front_of(&[self.up, self.across]);
        let axis = |objective: usize, of: fn(&(f64, f64)) -> f64| {
            let bar = |&at: &usize| {
                let value = of(&self.at(&points[at])?);
                Some((value, self.bar(&points[at], objective, value).unwrap_or([value; 2])))
            };
            let alone = all.iter().map(|at| (of(at), [of(at); 2]));
            let values: Vec<_> = alone.chain(front.iter().filter_map(bar)).collect();
            Axis::over_intervals(values.into_iter(), Shows::of_objective(header, objective))
        };
        let (across, up) = (axis(self.across, |at| at.0), axis(self.up, |at| at.1));
        let place = |(x, y): (f64, f64)| (across.place(x), up.place(y));

        area.fill(&WHITE).map_err(fault)?;
        let names: Vec<&str> = header.scenarios.iter().map(|s| s.name.as_str()).collect();
        let caption = format!(
            "{}: {} variants of {}, {} {}, seed {}",
            names.join(", "),
            points.iter().filter(|point| point.variant > 0).count(),
            header.base.name,
            header.worlds,
            self.summary.worlds_as.as_deref().unwrap_or("worlds"),
            header.seed,
        );
        let (head, below) = area.split_vertically(HEAD);
        let text = Text::new(caption, (20, 14), ("sans-serif", 22));
        head.draw(&text).map_err(fault)?;
        self.legend(&head)?;
        let mut chart = ChartBuilder::on(&below)
            .margin(16)
            .margin_top(4)
            .margin_right(28)
            .x_label_area_size(56)
            .y_label_area_size(84)
            .build_cartesian_2d(across.from..across.to, up.from..up.to)
            .map_err(fault)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(SHADE.mix(0.2))
            .x_desc(title(header, self.across))
            .y_desc(title(header, self.up))
            .x_label_formatter(&|x| across.label(*x))
            .y_label_formatter(&|y| up.label(*y))
            .label_style(("sans-serif", 15))
            .axis_desc_style(("sans-serif", 17))
            .draw()
            .map_err(fault)?;

        let dots = all.iter().map(|&at| Circle::new(place(at), 3, SHADE.mix(0.45).filled()));
        chart.draw_series(dots).map_err(fault)?;

        let colour = COLOURS[1];
        for &at in &front {
            let point = &points[at];
            let Some((x, y)) = self.at(point) else { continue };
            let up_and_down = self.bar(point, self.up, y).map(|ends| ends.map(|y| place((x, y))));
            let to_and_fro =
                self.bar(point, self.across, x).map(|ends| ends.map(|x| place((x, y))));
            let bars = up_and_down.into_iter().chain(to_and_fro);
            let bars =
                bars.map(|ends| PathElement::new(ends.to_vec(), colour.mix(0.5).stroke_width(2)));
            chart.draw_series(bars).map_err(fault)?;
        }
        let on_front = front.iter().filter_map(|&at| self.at(&points[at]));
        let on_front = on_front.map(|at| Circle::new(place(at), 5, colour.filled()));
        chart.draw_series(on_front).map_err(fault)?;

        let base = self.summary.base().and_then(|point| self.at(point));
        let base = base.map(|at| TriangleMarker::new(place(at), 10, BLACK.filled()));
        chart.draw_series(base).map_err(fault)?;
        let recommended = self.summary.recommended;
        let point = points.iter().find(|point| Some(point.variant) == recommended);
        let at = point.and_then(|point| self.at(point));
        let ring = at.map(|at| Circle::new(place(at), 10, COLOURS[0].stroke_width(3)));
        chart.draw_series(ring).map_err(fault)?;
        area.present().map_err(fault)
    }
}

impl Front<'_> {
    /// What the marks mean, in a row above the chart: in it, some corner would hide what matters.
    fn legend<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        let style = ("sans-serif", 15).into_font().color(&BLACK);
        let mut x = 28;
        let mut next = |text: &str| -> Result<(i32, i32), PlotError> {
            let (width, _) = area.estimate_text_size(text, &style).map_err(fault)?;
            area.draw(&Text::new(text, (x + 16, LEGEND - 8), style.clone())).map_err(fault)?;
            let at = (x, LEGEND);
            x += width as i32 + 44;
            Ok(at)
        };
        let at = next("variant")?;
        area.draw(&Circle::new(at, 3, SHADE.mix(0.45).filled())).map_err(fault)?;
        let at = next("front; bars: 95 % of the difference to the base")?;
        area.draw(&Circle::new(at, 5, COLOURS[1].filled())).map_err(fault)?;
        let at = next(&format!("base: {}", cut(&self.summary.header.base.name)))?;
        area.draw(&TriangleMarker::new(at, 8, BLACK.filled())).map_err(fault)?;
        if let Some(number) = self.summary.recommended {
            let name = match &self.summary.recommended_as {
                Some(name) => cut(name),
                None => format!("#{number}"),
            };
            let at = next(&format!("recommended: {name}"))?;
            area.draw(&Circle::new(at, 7, COLOURS[0].stroke_width(3))).map_err(fault)?;
        }
        Ok(())
    }
}
