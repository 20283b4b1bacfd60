//! Points in a plane, with their front.

use std::fmt::Write;

use super::Ids;
use super::blocks::{figure, plot};
use super::markup::Markup;
use super::svg::{colour, number, percent, place_marker, short};
use crate::page::scale::Scale;
use crate::page::{Dot, Page, Scatter};

/// Height of the drawing in pixels.
const HEIGHT: f64 = 380.0;
/// Side of the space the front is drawn in.
const SIDE: f64 = 10_000.0;
/// More points than this are drawn small.
const MANY: usize = 60;

/// The chart as a figure.
pub(super) fn chart(m: &mut Markup, page: &Page, chart: &Scatter, ids: &mut Ids) {
    let ends = |interval: Option<(f64, f64)>| interval.into_iter().flat_map(|(lo, hi)| [lo, hi]);
    let across = chart.dots.iter().flat_map(|d| [d.at.0].into_iter().chain(ends(d.x_interval)));
    let up = chart.dots.iter().flat_map(|d| [d.at.1].into_iter().chain(ends(d.y_interval)));
    let x = Scale::around(across.chain(chart.front.iter().map(|p| p.0)), &chart.x);
    let y = Scale::around(up.chain(chart.front.iter().map(|p| p.1)), &chart.y);
    let place = Place { x, y };
    let heading = figure(m, ids, "chart scatter", &chart.title, &chart.about);
    m.element("p", &[("class", "axis-label")], &chart.y.label);
    m.open("div", &[("class", "frame")]);
    let (height, ticks) = (number(HEIGHT), y.ticks(5, chart.y.unit));
    m.open(
        "svg",
        &[("class", "y-axis"), ("width", "64"), ("height", &height), ("aria-hidden", "true")],
    );
    for (value, label) in &ticks {
        let at = percent(1.0 - y.place(*value));
        m.element(
            "text",
            &[("x", "56"), ("y", &at), ("dy", "0.32em"), ("text-anchor", "end")],
            label,
        );
    }
    m.close("svg");
    let data = data(chart, &place);
    plot(m, &heading, &data);
    m.open(
        "svg",
        &[("class", "ink open"), ("width", "100%"), ("height", &height), ("aria-hidden", "true")],
    );
    grid(m, chart, &place, &ticks);
    front(m, chart, &place);
    let class = if chart.dots.len() > MANY { "dots many" } else { "dots" };
    m.open("g", &[("class", class)]);
    // Those that matter above all others.
    let (named, others): (Vec<&Dot>, Vec<&Dot>) = chart.dots.iter().partition(|d| d.named);
    others.into_iter().chain(named).for_each(|d| dot(m, d, &place));
    m.close("g");
    m.close("svg");
    m.open(
        "svg",
        &[("class", "x-axis"), ("width", "100%"), ("height", "24"), ("aria-hidden", "true")],
    );
    for (value, label) in x.ticks(5, chart.x.unit) {
        let at = percent(x.place(value));
        m.element("text", &[("x", &at), ("y", "16"), ("text-anchor", "middle")], &label);
    }
    m.close("svg");
    m.close("div");
    m.close("div");
    m.element("p", &[("class", "axis-label below")], &chart.x.label);
    m.open("details", &[("class", "data"), ("hidden", "")]);
    m.element("summary", &[], "Data table");
    m.close("details");
    m.close("figure");
    debug_assert!(chart.dots.iter().all(|d| d.of < page.legend.len().max(1)), "dots have names");
}

/// Both axes.
struct Place {
    x: Scale,
    y: Scale,
}

impl Place {
    /// Shares of width and height, from the upper left corner.
    fn of(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.place(x), 1.0 - self.y.place(y))
    }

    fn percent(&self, at: (f64, f64)) -> (String, String) {
        let (x, y) = self.of(at);
        (percent(x), percent(y))
    }
}

fn grid(m: &mut Markup, chart: &Scatter, place: &Place, up: &[(f64, String)]) {
    m.open("g", &[("class", "grid")]);
    for (value, _) in up {
        let at = percent(1.0 - place.y.place(*value));
        m.leaf("line", &[("x1", "0"), ("x2", "100%"), ("y1", &at), ("y2", &at)]);
    }
    for (value, _) in place.x.ticks(5, chart.x.unit) {
        let at = percent(place.x.place(value));
        m.leaf("line", &[("x1", &at), ("x2", &at), ("y1", "0"), ("y2", "100%")]);
    }
    m.close("g");
}

fn front(m: &mut Markup, chart: &Scatter, place: &Place) {
    if chart.front.is_empty() {
        return;
    }
    let mut path = String::new();
    for (position, point) in chart.front.iter().enumerate() {
        let letter = if position == 0 { 'M' } else { 'L' };
        let (x, y) = place.of(*point);
        write!(path, "{letter}{} {}", number(x * SIDE), number(y * SIDE)).expect("memory");
    }
    let view = format!("0 0 {SIDE} {SIDE}");
    let whole = [("width", "100%"), ("height", "100%"), ("preserveAspectRatio", "none")];
    m.open("svg", &[whole.as_slice(), &[("viewBox", view.as_str())]].concat());
    m.leaf("path", &[("class", "front"), ("d", &path)]);
    m.close("svg");
}

fn dot(m: &mut Markup, dot: &Dot, place: &Place) {
    let class = if dot.named { format!("{} named", colour(dot.of)) } else { colour(dot.of) };
    m.open("g", &[("class", &class), ("data-of", &dot.of.to_string())]);
    let (x, y) = place.percent(dot.at);
    if let Some((lo, hi)) = dot.x_interval {
        let ((lo, _), (hi, _)) = (place.percent((lo, dot.at.1)), place.percent((hi, dot.at.1)));
        m.leaf("line", &[("class", "whisker"), ("x1", &lo), ("x2", &hi), ("y1", &y), ("y2", &y)]);
    }
    if let Some((lo, hi)) = dot.y_interval {
        let ((_, lo), (_, hi)) = (place.percent((dot.at.0, lo)), place.percent((dot.at.0, hi)));
        m.leaf("line", &[("class", "whisker"), ("x1", &x), ("x2", &x), ("y1", &lo), ("y2", &hi)]);
    }
    place_marker(m, dot.of, &x, &y);
    if dot.named {
        // To the side where there is room.
        let right = place.of(dot.at).0 < 0.7;
        let (shift, anchor) = if right { ("10", "start") } else { ("-10", "end") };
        m.element(
            "text",
            &[("x", &x), ("y", &y), ("dx", shift), ("dy", "-7"), ("text-anchor", anchor)],
            &dot.label,
        );
    }
    m.close("g");
}

/// What the script is told, as JSON.
fn data(chart: &Scatter, place: &Place) -> String {
    let value = |v: f64| serde_json::Value::from(v);
    let dots: Vec<serde_json::Value> = chart
        .dots
        .iter()
        .map(|dot| {
            let (x, y) = place.of(dot.at);
            let at = |share: f64| short(share, 4).parse::<f64>().expect("a number was written");
            serde_json::json!([dot.of, at(x), at(y), value(dot.at.0), value(dot.at.1), dot.label])
        })
        .collect();
    let axis = |axis: &crate::page::Axis| {
        let unit = axis.unit;
        serde_json::json!({"label": axis.label, "before": unit.before(), "after": unit.after()})
    };
    let object = serde_json::json!({
        "kind": "scatter", "x": axis(&chart.x), "y": axis(&chart.y), "dots": dots,
    });
    object.to_string()
}
