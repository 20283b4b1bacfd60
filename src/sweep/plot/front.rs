//! Two objectives against each other: every variant, the front, the base and what is recommended.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::super::summary::{Point, Summary};
use super::super::text::{SHOWN, spread};
use super::axis::{Axis, Shows, cut, title};
use super::labels::{Area, Name, place as beside};
use super::ruler::Ruler;
use crate::report::{COLOURS, Picture, PlotError, SHADE, fault};

/// Width and height in pixels.
const SIZE: (u32, u32) = (1_100, 720);
/// Height of what stands above the chart, and where in it marks are explained.
const HEAD: u32 = 100;
const LEGEND: i32 = 58;
const LEGEND_LINE: i32 = 22;
/// Size of the names of dots.
const NAMES: u32 = 14;

pub(super) struct Front<'a> {
    summary: &'a Summary,
    /// The objective on the vertical axis.
    up: usize,
    /// The objective on the horizontal axis.
    across: usize,
}

impl<'a> Front<'a> {
    /// Refuses where no policy has a value for both: there is no front, and nothing behind it.
    pub(super) fn new(summary: &'a Summary, up: usize, across: usize) -> Result<Front<'a>, String> {
        let front = Front { summary, up, across };
        if summary.points.iter().any(|point| front.at(point).is_some()) {
            return Ok(front);
        }
        let objectives = &summary.header.objectives;
        let none = |at: usize| summary.points.iter().all(|p| p.scores[at].value().is_none());
        let empty: Vec<&str> = [up, across]
            .into_iter()
            .filter(|&at| none(at))
            .map(|at| objectives[at].measure.as_str())
            .collect();
        Err(match empty.as_slice() {
            [] => "no policy has a value for both measures".into(),
            some => format!("no policy has a value for {}", some.join(" or ")),
        })
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

    /// What it is called beside its mark, as in the table.
    fn name(&self, point: &Point) -> String {
        match point.variant {
            0 => "base".into(),
            number if Some(number) == self.summary.recommended => "recommended".into(),
            number => format!("#{number}"),
        }
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
        // What is recommended stands beside the front where luck put others before it.
        let is_recommended = |at: &usize| Some(points[*at].variant) == self.summary.recommended;
        let beside = (0..points.len()).filter(|at| is_recommended(at) && !front.contains(at));
        let barred: Vec<usize> = front.iter().copied().chain(beside).collect();
        let axis = |objective: usize, of: fn(&(f64, f64)) -> f64| {
            let bar = |&at: &usize| {
                let value = of(&self.at(&points[at])?);
                Some((value, self.bar(&points[at], objective, value).unwrap_or([value; 2])))
            };
            let alone = all.iter().map(|at| (of(at), [of(at); 2]));
            let values: Vec<_> = alone.chain(barred.iter().filter_map(bar)).collect();
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
        let close = self.summary.not_apart(&front, &[self.up, self.across]).unwrap_or_default();
        self.legend(&head, front.len(), close.len())?;
        let mut chart = ChartBuilder::on(&below)
            .margin(16)
            .margin_top(4)
            .margin_right(28)
            .x_label_area_size(56)
            .y_label_area_size(84)
            .build_cartesian_2d(Ruler::of(&across), Ruler::of(&up))
            .map_err(fault)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(SHADE.mix(0.2))
            .x_desc(title(header, self.across, across.is_logarithmic()))
            .y_desc(title(header, self.up, up.is_logarithmic()))
            .x_label_formatter(&|x| across.label(*x))
            .y_label_formatter(&|y| up.label(*y))
            .label_style(("sans-serif", 15))
            .axis_desc_style(("sans-serif", 17))
            .draw()
            .map_err(fault)?;

        let dots = all.iter().map(|&at| Circle::new(place(at), 3, SHADE.mix(0.45).filled()));
        chart.draw_series(dots).map_err(fault)?;

        let colour = COLOURS[1];
        let mut bars = Vec::new();
        for &at in &barred {
            let point = &points[at];
            let Some((x, y)) = self.at(point) else { continue };
            let colour = if is_recommended(&at) { COLOURS[0] } else { colour };
            let up_and_down = self.bar(point, self.up, y).map(|ends| ends.map(|y| place((x, y))));
            let to_and_fro =
                self.bar(point, self.across, x).map(|ends| ends.map(|x| place((x, y))));
            for ends in up_and_down.into_iter().chain(to_and_fro) {
                let bar = PathElement::new(ends.to_vec(), colour.mix(0.5).stroke_width(2));
                chart.draw_series(std::iter::once(bar)).map_err(fault)?;
                bars.push(ends);
            }
        }
        let on_front = |clear: bool| {
            let of = front.iter().filter(|at| close.contains(at) != clear);
            of.filter_map(|&at| self.at(&points[at])).collect::<Vec<_>>()
        };
        let open = on_front(false);
        let ground = open.iter().map(|&at| Circle::new(place(at), 5, WHITE.filled()));
        chart.draw_series(ground).map_err(fault)?;
        let open = open.iter().map(|&at| Circle::new(place(at), 5, colour.stroke_width(2)));
        chart.draw_series(open).map_err(fault)?;
        let clear = on_front(true);
        let clear = clear.iter().map(|&at| Circle::new(place(at), 5, colour.filled()));
        chart.draw_series(clear).map_err(fault)?;

        let base = self.summary.base().and_then(|point| self.at(point));
        let base = base.map(|at| TriangleMarker::new(place(at), 10, BLACK.filled()));
        chart.draw_series(base).map_err(fault)?;
        let recommended = self.summary.recommended;
        let point = points.iter().find(|point| Some(point.variant) == recommended);
        let at = point.and_then(|point| self.at(point));
        let ring = at.map(|at| Circle::new(place(at), 10, COLOURS[0].stroke_width(3)));
        chart.draw_series(ring).map_err(fault)?;

        let pixel = |at: (f64, f64)| chart.backend_coord(&place(at));
        let bars = bars.iter().map(|ends| Area::over(ends.map(|end| chart.backend_coord(&end))));
        let behind = bars.chain(all.iter().map(|&at| Area::around(pixel(at), 3))).collect();
        let (across, up) = chart.plotting_area().get_pixel_range();
        let within = Area { left: across.start, top: up.start, right: across.end, bottom: up.end };
        self.names(area, &front, pixel, behind, within)?;
        area.present().map_err(fault)
    }
}

impl Front<'_> {
    /// The names of the base, of what is recommended, and of as many of the front as have room: its ends
    /// first, then those the table shows.
    fn names<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        front: &[usize],
        pixel: impl Fn((f64, f64)) -> (i32, i32),
        behind: Vec<Area>,
        within: Area,
    ) -> Result<(), PlotError> {
        let Summary { points, recommended, .. } = self.summary;
        let style = ("sans-serif", NAMES).into_font().color(&BLACK);
        let is_marked = |at: &usize| {
            let number = points[*at].variant;
            number == 0 || Some(number) == *recommended
        };
        let ends = front.first().into_iter().chain(front.last()).copied();
        let order = (0..points.len()).filter(is_marked).chain(ends);
        let order = order.chain(spread(front, SHOWN)).chain(front.iter().copied());
        let mut wanted: Vec<usize> = Vec::new();
        for at in order {
            if !wanted.contains(&at) && self.at(&points[at]).is_some() {
                wanted.push(at);
            }
        }
        let placed = |at: usize| self.at(&points[at]).map(&pixel);
        let mut names = Vec::new();
        let mut marks = Vec::new();
        for &at in &wanted {
            let Some(middle) = placed(at) else { continue };
            let text = self.name(&points[at]);
            let (width, height) = area.estimate_text_size(&text, &style).map_err(fault)?;
            let size = (width as i32, height as i32);
            names.push((text, Name { at: middle, size, must: is_marked(&at) }));
            marks.push(Area::around(middle, if is_marked(&at) { 8 } else { 5 }));
        }
        let alone: Vec<Name> = names.iter().map(|(_, name)| *name).collect();
        for ((text, _), place) in names.iter().zip(beside(&alone, &marks, &behind, within)) {
            let Some(Area { left, top, .. }) = place else { continue };
            area.draw(&Text::new(text.as_str(), (left, top), style.clone())).map_err(fault)?;
        }
        Ok(())
    }

    /// What the marks mean, in rows above the chart: in it, some corner would hide what matters.
    fn legend<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        front: usize,
        close: usize,
    ) -> Result<(), PlotError> {
        let style = ("sans-serif", 15).into_font().color(&BLACK);
        let (mut x, mut y) = (28, LEGEND);
        let mut next = |text: &str| -> Result<(i32, i32), PlotError> {
            let (width, _) = area.estimate_text_size(text, &style).map_err(fault)?;
            if x > 28 && x + 16 + width as i32 > SIZE.0 as i32 - 20 {
                (x, y) = (28, y + LEGEND_LINE);
            }
            area.draw(&Text::new(text, (x + 16, y - 8), style.clone())).map_err(fault)?;
            let at = (x, y);
            x += width as i32 + 44;
            Ok(at)
        };
        let at = next("variant")?;
        area.draw(&Circle::new(at, 3, SHADE.mix(0.45).filled())).map_err(fault)?;
        let at = next("front; bars: 95 % of the difference to the base")?;
        area.draw(&Circle::new(at, 5, COLOURS[1].filled())).map_err(fault)?;
        if close > 0 {
            let at =
                next(&format!("not clearly better than another of the front: {close} of {front}"))?;
            area.draw(&Circle::new(at, 5, COLOURS[1].stroke_width(2))).map_err(fault)?;
        }
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
