//! Two objectives against each other: every variant, the front, the base and what is recommended.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::super::summary::{Point, Summary};
use super::axis::{Axis, Shows, title};
use crate::report::{COLOURS, Picture, PlotError, SHADE, fault};

/// Width and height in pixels.
const SIZE: (u32, u32) = (1_100, 720);

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
        let across =
            Axis::over(all.iter().map(|(x, _)| *x), Shows::of_objective(header, self.across));
        let up = Axis::over(all.iter().map(|(_, y)| *y), Shows::of_objective(header, self.up));
        let place = |(x, y): (f64, f64)| (across.place(x), up.place(y));

        area.fill(&WHITE).map_err(fault)?;
        let names: Vec<&str> = header.scenarios.iter().map(|s| s.name.as_str()).collect();
        let caption = format!(
            "{}: {} variants of {}, {} worlds, seed {}",
            names.join(", "),
            points.iter().filter(|point| point.variant > 0).count(),
            header.base.name,
            header.worlds,
            header.seed,
        );
        let mut chart = ChartBuilder::on(area)
            .caption(caption, ("sans-serif", 22))
            .margin(16)
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
        chart
            .draw_series(dots)
            .map_err(fault)?
            .label("variant")
            .legend(|(x, y)| Circle::new((x + 10, y), 3, SHADE.mix(0.45).filled()));

        // With two objectives these are the front; with more, what of it lies on this plane.
        let front = self.summary.front_of(&[self.up, self.across]);
        let colour = COLOURS[1];
        for &at in &front {
            let point = &points[at];
            let Some((x, y)) = self.at(point) else { continue };
            // On the same worlds a difference is known far better than either value, so bars are those
            // of the difference to the base.
            let bar = |objective: usize, value: f64| {
                let difference = point.differences[objective];
                let (lo, hi) = difference.ci95()?;
                let half = (hi - lo) / 2.0;
                let share = Shows::of_objective(header, objective) == Shows::Share;
                let most = if share { 1.0 } else { f64::INFINITY };
                Some([(value - half).max(value / 1e3), (value + half).min(most)])
            };
            let up_and_down = bar(self.up, y).map(|ends| ends.map(|y| place((x, y))));
            let to_and_fro = bar(self.across, x).map(|ends| ends.map(|x| place((x, y))));
            let bars = up_and_down.into_iter().chain(to_and_fro);
            let bars =
                bars.map(|ends| PathElement::new(ends.to_vec(), colour.mix(0.5).stroke_width(2)));
            chart.draw_series(bars).map_err(fault)?;
        }
        let on_front = front.iter().filter_map(|&at| self.at(&points[at]));
        chart
            .draw_series(on_front.map(|at| Circle::new(place(at), 5, colour.filled())))
            .map_err(fault)?
            .label("front; bars: 95 % of the difference to the base")
            .legend(move |(x, y)| Circle::new((x + 10, y), 5, colour.filled()));

        let base = self.summary.base().and_then(|point| self.at(point));
        chart
            .draw_series(base.map(|at| TriangleMarker::new(place(at), 10, BLACK.filled())))
            .map_err(fault)?
            .label(format!("base: {}", header.base.name))
            .legend(|(x, y)| TriangleMarker::new((x + 10, y), 8, BLACK.filled()));
        if let Some(number) = self.summary.recommended {
            let point = points.iter().find(|point| point.variant == number);
            let at = point.and_then(|point| self.at(point));
            let ring = COLOURS[0].stroke_width(3);
            chart
                .draw_series(at.map(|at| Circle::new(place(at), 10, ring)))
                .map_err(fault)?
                .label(format!("recommended: #{number}"))
                .legend(move |(x, y)| Circle::new((x + 10, y), 7, ring));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .background_style(WHITE.mix(0.85))
            .border_style(SHADE.mix(0.5))
            .label_font(("sans-serif", 15))
            .draw()
            .map_err(fault)?;
        area.present().map_err(fault)
    }
}
