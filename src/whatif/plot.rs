//! A chart over time for documents that take pictures: success, its change and attempts, with the bad
//! times of each target behind and below.

use plotters::coord::Shift;
use plotters::prelude::*;

use super::finding::WhatIf;
use super::page::{shades, strips};
use super::sections::weighted;
use crate::page::{Shade, Strip};
use crate::report::{
    Picture, PlotError, PlotFormat, Points, SHADE, fault, paint, style, time_unit,
};

/// Width of the chart, and of the strip that names the lines.
const WIDTH: u32 = 1_200;
const NAMES: u32 = 220;
/// Heights: of the title, of a panel, of what stands below the last of them, and of a target's strip.
const TITLE: u32 = 44;
const PANEL: u32 = 240;
const FOOT: u32 = 48;
const STRIP: u32 = 34;
/// Around a panel, and left of it for the labels of its axis.
const MARGIN: u32 = 10;
const LABELS: u32 = 76;
/// Longer names are cut.
const LONGEST_NAME: usize = 21;
/// Points of a line, at most.
const MOST_POINTS: usize = 400;

impl WhatIf {
    /// Success, its change and attempts over time, with when targets were bad.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn plot(&self, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
        paint(&Chart { found: self, shades: shades(self), strips: strips(self) }, format)
    }
}

struct Chart<'a> {
    found: &'a WhatIf,
    shades: Vec<Shade>,
    strips: Vec<Strip>,
}

/// One measure over time.
struct Panel {
    words: &'static str,
    /// By position in the legend.
    lines: Vec<(usize, Points)>,
    /// The lower and the upper bound of some.
    bands: Vec<(usize, Points)>,
    least: f64,
    most: f64,
}

impl Picture for Chart<'_> {
    fn size(&self) -> (u32, u32) {
        let strips = STRIP * self.strips.len() as u32;
        (WIDTH, TITLE + PANEL * self.panels().len() as u32 + FOOT + strips + MARGIN)
    }

    fn draw<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        area.fill(&WHITE).map_err(fault)?;
        let (head, body) = area.split_vertically(TITLE);
        let of = match (&self.found.log, &self.found.timeline) {
            (Some(log), _) => &log.name,
            (None, Some(timeline)) => &timeline.name,
            (None, None) => &self.found.scenario,
        };
        let worlds = self.found.worlds;
        let title =
            format!("{of}: what each policy does ({worlds} worlds, seed {})", self.found.seed);
        head.draw(&Text::new(title, (20, 14), ("sans-serif", 22))).map_err(fault)?;
        let (plot, beside) = body.split_horizontally(WIDTH - NAMES);
        self.names(&beside)?;
        let panels = self.panels();
        let mut rest = plot;
        for (at, panel) in panels.iter().enumerate() {
            let last = at + 1 == panels.len();
            let (here, below) = rest.split_vertically(if last { PANEL + FOOT } else { PANEL });
            self.panel(&here, panel, last)?;
            rest = below;
        }
        self.targets(&rest)?;
        area.present().map_err(fault)
    }
}

impl Chart<'_> {
    /// The time that is shown, in seconds.
    fn ends(&self) -> (f64, f64) {
        let times = &self.found.in_time;
        let from = times.first().map_or(0.0, |interval| interval.from_s);
        let last = times.last().map_or(1.0, |interval| interval.from_s);
        (from, last + self.found.interval_s)
    }

    fn panels(&self) -> Vec<Panel> {
        let found = self.found;
        let policies = 0..found.policies.len();
        let mut answered: Vec<(usize, Points)> =
            policies.clone().map(|p| (p, self.line(|i| i.success[p].map(|s| 100.0 * s)))).collect();
        if found.believed.is_some() {
            answered.push((found.policies.len(), self.line(|i| i.logged.map(|s| 100.0 * s))));
        }
        let sent = policies.clone().map(|p| (p, self.line(|i| Some(i.sent[p]))));
        let others = policies.skip(1);
        let end = |of: usize, which: fn(f64, Option<(f64, f64)>) -> Option<f64>| -> Points {
            let stretches = found.stretches.iter();
            let point = stretches.filter_map(|stretch| {
                let change = stretch.success[of].change.as_ref()?;
                let ends = change.ci95.map(|ci95| (ci95.low, ci95.high));
                let value = which(change.difference?, ends)?;
                Some(((stretch.from_s + stretch.to_s) / 2.0, 100.0 * value))
            });
            point.collect()
        };
        let lower = |of| end(of, |_, ends| ends.map(|ends| ends.0));
        let upper = |of| end(of, |_, ends| ends.map(|ends| ends.1));
        let band = |of: usize| -> (usize, Points) {
            (of, upper(of).into_iter().chain(lower(of).into_iter().rev()).collect())
        };
        let changes = others.clone().map(|of| (of, end(of, |value, _| Some(value)))).collect();
        let panel = |words, lines, bands, least, most| Panel { words, lines, bands, least, most };
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        vec![
            panel("answered (%)", answered, Vec::new(), 0.0, 100.0),
            panel("change of success (pp)", changes, others.map(band).collect(), free.0, free.1),
            panel("attempts per interval", sent.collect(), Vec::new(), 0.0, free.1),
        ]
    }

    /// A value at the middle of some intervals together, weighted by their requests.
    fn line(&self, value: impl Fn(&super::course::InTime) -> Option<f64>) -> Points {
        let all = &self.found.in_time;
        let piece = all.len().div_ceil(MOST_POINTS).max(1);
        let middle = self.found.interval_s * piece as f64 / 2.0;
        let points = all.chunks(piece);
        points.filter_map(|some| Some((some[0].from_s + middle, weighted(some, &value)?))).collect()
    }

    fn panel<B: DrawingBackend>(
        &self,
        area: &DrawingArea<B, Shift>,
        panel: &Panel,
        last: bool,
    ) -> Result<(), PlotError> {
        let (from, to) = self.ends();
        let (unit, per) = time_unit(to);
        let values = || panel.lines.iter().flat_map(|(_, line)| line).map(|(_, y)| *y);
        let low = values().fold(f64::INFINITY, f64::min).min(panel.most);
        let high = values().fold(f64::NEG_INFINITY, f64::max).max(low);
        // Where there is no interval to draw, the library would look for labels of an endless axis for ever.
        let (low, high) = if high.is_finite() { (low, high) } else { (0.0, 0.0) };
        let room = if high > low { (high - low) * 0.08 } else { high.abs().max(1.0) * 0.05 };
        // A line at all is seen whole, a band only as far as it does not dwarf it.
        let bands = || panel.bands.iter().flat_map(|(_, band)| band).map(|(_, y)| *y);
        let (least, most) = (bands().fold(low, f64::min), bands().fold(high, f64::max));
        let low = (low - room).min(least.max(low - 4.0 * room)).max(panel.least);
        let high = (high + room).max(most.min(high + 4.0 * room)).min(panel.most + 0.25 * room);
        let mut chart = ChartBuilder::on(area)
            .margin(MARGIN)
            .x_label_area_size(if last { FOOT } else { 20 })
            .y_label_area_size(LABELS)
            .build_cartesian_2d(from / per..to / per, low..high)
            .map_err(fault)?;
        let boxes = self.shades.iter().map(|shade| {
            let ends = (shade.from.clamp(from, to) / per, shade.to.clamp(from, to) / per);
            let faint = SHADE.mix(0.25 * shade.depth).filled();
            Rectangle::new([(ends.0, low), (ends.1, high)], faint)
        });
        chart.draw_series(boxes).map_err(fault)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT)
            .bold_line_style(SHADE.mix(0.2))
            .y_labels(6)
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .y_desc(panel.words)
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15));
        let time = format!("time since the start ({unit})");
        if last {
            mesh.x_desc(time);
        }
        mesh.draw().map_err(fault)?;
        for (of, band) in &panel.bands {
            let inside = band.iter().map(|(x, y)| (x / per, y.clamp(low, high)));
            let colour = style(*of).color.mix(0.2);
            let area = Polygon::new(inside.collect::<Points>(), colour);
            chart.draw_series([area]).map_err(fault)?;
        }
        for (of, line) in &panel.lines {
            let line = line.iter().map(|(x, y)| (x / per, *y));
            chart.draw_series(LineSeries::new(line, style(*of))).map_err(fault)?;
        }
        Ok(())
    }

    /// Names the lines, and what is shaded.
    fn names<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        let log = self.found.believed.as_ref().map(|_| "the log");
        let names = self.found.policies.iter().map(|policy| policy.name.as_str()).chain(log);
        let mut y = 26;
        let font = || ("sans-serif", 16).into_font();
        for (at, name) in names.enumerate() {
            let name: String = name.chars().take(LONGEST_NAME).collect();
            area.draw(&PathElement::new([(4, y), (30, y)], style(at))).map_err(fault)?;
            area.draw(&Text::new(name, (38, y - 8), font())).map_err(fault)?;
            y += 28;
        }
        if !self.shades.is_empty() {
            let grey = SHADE.mix(0.2).filled();
            area.draw(&Rectangle::new([(4, y - 8), (30, y + 8)], grey)).map_err(fault)?;
            area.draw(&Text::new("a target is bad", (38, y - 8), font())).map_err(fault)?;
            area.draw(&Text::new("(which: below)", (38, y + 12), font())).map_err(fault)?;
        }
        Ok(())
    }

    /// When each target was bad, one below the other, under the same axis of time.
    fn targets<B: DrawingBackend>(&self, area: &DrawingArea<B, Shift>) -> Result<(), PlotError> {
        let (from, to) = self.ends();
        let (left, right) = (f64::from(MARGIN + LABELS), f64::from(WIDTH - NAMES - MARGIN));
        let x =
            |at: f64| (left + (at.clamp(from, to) - from) / (to - from) * (right - left)) as i32;
        for (at, strip) in self.strips.iter().enumerate() {
            let top = (STRIP * at as u32) as i32;
            let label = Text::new(strip.label.as_str(), (left as i32, top), ("sans-serif", 14));
            area.draw(&label).map_err(fault)?;
            let (from_y, to_y) = (top + 18, top + 27);
            let ground = Rectangle::new(
                [(left as i32, from_y), (right as i32, to_y)],
                SHADE.mix(0.08).filled(),
            );
            area.draw(&ground).map_err(fault)?;
            for shade in &strip.shades {
                let ends = (x(shade.from), x(shade.to).max(x(shade.from) + 1));
                let dark = SHADE.mix(shade.depth).filled();
                let bad = Rectangle::new([(ends.0, from_y), (ends.1, to_y)], dark);
                area.draw(&bad).map_err(fault)?;
            }
        }
        Ok(())
    }
}

/// A label of an axis without zeros that say nothing.
fn short(value: f64) -> String {
    // Steps between labels are of few digits; the rest is what floats leave over.
    let text = format!("{value:.4}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".into() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::short;
    use crate::report::PlotFormat;
    use crate::whatif::finding::empty;

    #[test]
    fn labels_are_short() {
        assert_eq!([20.0, -0.05, 99.950_000_001, -1e-9].map(short), ["20", "-0.05", "99.95", "0"]);
    }

    /// A log may have no whole interval that counts: then there is nothing to draw, and still an end.
    #[test]
    fn where_there_is_no_interval_there_is_an_empty_chart() {
        let picture = empty().plot(PlotFormat::Svg).expect("it is drawn");
        assert!(String::from_utf8(picture).expect("SVG is text").ends_with("</svg>\n"));
    }
}
