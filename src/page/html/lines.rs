//! Lines with bands. The drawing stretches to the width it is given, without a script; with one, it
//! shows values, and zooms.
//!
//! Data are drawn in a space of its own, 10,000 wide and high, whose y axis points down. Only that
//! space is stretched: strokes and letters are not in it, or do not scale.

use std::fmt::Write;

use super::Ids;
use super::blocks::{figure, plot};
use super::lines_told::told;
use super::markup::Markup;
use super::svg::{colour, dash, number, percent, short};
use crate::page::scale::{Scale, clock_unit};
use crate::page::{Line, LineChart, Page, Shade, X};

/// Side of the space data are drawn in.
const SIDE: f64 = 10_000.0;
/// Room above and below, so that a line at the edge is seen whole.
const MARGIN: f64 = 150.0;
/// Height in pixels of the drawing without the labels below it.
const HEIGHT: f64 = 232.0;
/// Room that bands may take beyond the lines, in heights of the lines; more of a band is cut.
const BAND_ROOM: f64 = 0.3;
/// Points are marked one by one where there are no more.
const MOST_MARKED: usize = 60;

/// The chart as a figure.
pub(super) fn chart(m: &mut Markup, page: &Page, chart: &LineChart, ids: &mut Ids) {
    let y = Scale::around(in_sight(chart), &chart.y);
    let is_time = matches!(chart.x, X::Time { .. });
    let class = if is_time { "chart lines time" } else { "chart lines" };
    let heading = figure(m, ids, class, &chart.title, &chart.about);
    m.element("p", &[("class", "axis-label")], &chart.y.label);
    m.open("div", &[("class", "frame")]);
    y_axis(m, chart, &y);
    let data = told(chart, &y, &x_places(&chart.x));
    plot(m, &heading, &data);
    let height = number(HEIGHT);
    m.open(
        "svg",
        &[("class", "ink"), ("width", "100%"), ("height", &height), ("aria-hidden", "true")],
    );
    grid(m, chart, &y);
    drawing(m, page, chart, &y, &height);
    m.close("svg");
    strips(m, chart);
    x_axis(m, &chart.x);
    m.close("div");
    m.close("div");
    m.element("p", &[("class", "axis-label below")], &x_label(&chart.x));
    m.open("details", &[("class", "data"), ("hidden", "")]);
    m.element("summary", &[], "Data table");
    m.close("details");
    m.close("figure");
}

/// What the vertical axis takes in: all values, and bands as far as they do not dwarf the lines.
fn in_sight(chart: &LineChart) -> Vec<f64> {
    let mut values: Vec<f64> =
        chart.lines.iter().flat_map(|line| line.values.iter().flatten().copied()).collect();
    let lo = values.iter().copied().fold(f64::INFINITY, f64::min);
    let hi = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let room = (hi - lo) * BAND_ROOM;
    let bands = chart.lines.iter().flat_map(|line| line.bands.iter().flatten());
    values.extend(bands.flat_map(|&(from, to)| [from.max(lo - room), to.min(hi + room)]));
    values
}

fn drawing(m: &mut Markup, page: &Page, chart: &LineChart, y: &Scale, height: &str) {
    let view = format!("0 {} {SIDE} {}", -MARGIN, SIDE + 2.0 * MARGIN);
    m.open(
        "svg",
        &[
            ("class", "drawing"),
            ("viewBox", &view),
            ("preserveAspectRatio", "none"),
            ("width", "100%"),
            ("height", height),
        ],
    );
    let across = x_places(&chart.x);
    let span = time_span(&chart.x);
    chart.shades.iter().for_each(|s| shade(m, s, span));
    let marked = matches!(chart.x, X::Values(..)) && across.len() <= MOST_MARKED;
    for line in &chart.lines {
        let of = line.of.to_string();
        debug_assert!(line.of < page.legend.len().max(1), "a line has a name");
        m.open("g", &[("class", &colour(line.of)), ("data-of", &of)]);
        if line.bands.iter().any(Option::is_some) {
            m.leaf("path", &[("class", "band"), ("d", &band(&across, line, y))]);
        }
        let class = format!("line {}", dash(line.of));
        m.leaf("path", &[("class", &class), ("d", &path(&across, line, y))]);
        if marked {
            m.leaf("path", &[("class", "points"), ("d", &points(&across, line, y))]);
        }
        m.close("g");
    }
    m.close("svg");
}

fn shade(m: &mut Markup, shade: &Shade, (from, to): (f64, f64)) {
    let place = |at: f64| ((at - from) / (to - from)).clamp(0.0, 1.0) * SIDE;
    let (left, right) = (place(shade.from), place(shade.to));
    if right <= left {
        return;
    }
    m.leaf(
        "rect",
        &[
            ("class", "shade"),
            ("x", &number(left)),
            ("width", &number(right - left)),
            ("y", &number(-SIDE)),
            ("height", &number(3.0 * SIDE)),
            ("opacity", &short(shade.depth, 3)),
        ],
    );
}

/// What was on when, one below the other.
fn strips(m: &mut Markup, chart: &LineChart) {
    let span = time_span(&chart.x);
    for strip in &chart.strips {
        m.element("p", &[("class", "strip-label")], &strip.label);
        let view = format!("0 0 {SIDE} 1");
        m.open(
            "svg",
            &[
                ("class", "strip"),
                ("viewBox", &view),
                ("preserveAspectRatio", "none"),
                ("width", "100%"),
                ("height", "7"),
                ("aria-hidden", "true"),
            ],
        );
        strip.shades.iter().for_each(|s| shade(m, s, span));
        m.close("svg");
    }
}

/// Where lines have their values, in the drawing's space.
fn x_places(x: &X) -> Vec<f64> {
    match x {
        X::Time { count, .. } => {
            (0..*count).map(|at| (at as f64 + 0.5) / *count as f64 * SIDE).collect()
        }
        X::Values(axis, values) => {
            let scale = Scale::around(values.iter().copied(), axis);
            values.iter().map(|&value| scale.place(value) * SIDE).collect()
        }
    }
}

/// The first and the last moment; of no use where the axis is none of time.
fn time_span(x: &X) -> (f64, f64) {
    match x {
        X::Time { from, step, count } => (*from, from + step * *count as f64),
        X::Values(..) => (0.0, 1.0),
    }
}

fn down(value: f64, y: &Scale) -> f64 {
    (1.0 - y.place(value)) * SIDE
}

/// A line with gaps where it has no value. A value alone between gaps is a dot.
fn path(across: &[f64], line: &Line, y: &Scale) -> String {
    let mut path = String::new();
    let mut drawing = false;
    for (at, x) in across.iter().enumerate() {
        let Some(value) = line.values.get(at).copied().flatten() else {
            drawing = false;
            continue;
        };
        let letter = if drawing { 'L' } else { 'M' };
        write!(path, "{letter}{} {}", number(*x), number(down(value, y))).expect("memory");
        let alone = !drawing && line.values.get(at + 1).copied().flatten().is_none();
        if alone {
            path.push_str("h0");
        }
        drawing = true;
    }
    path
}

fn points(across: &[f64], line: &Line, y: &Scale) -> String {
    let values = across.iter().zip(&line.values);
    let known = values.filter_map(|(x, value)| Some((x, (*value)?)));
    known.map(|(x, value)| format!("M{} {}h0", number(*x), number(down(value, y)))).collect()
}

/// The area between both bounds, piece by piece.
fn band(across: &[f64], line: &Line, y: &Scale) -> String {
    let bounds: Vec<Option<(f64, f64, f64)>> = across
        .iter()
        .zip(&line.bands)
        .map(|(x, band)| band.map(|(lo, hi)| (*x, down(lo, y), down(hi, y))))
        .collect();
    let mut path = String::new();
    for piece in bounds.split(Option::is_none) {
        let there = piece.iter().flatten().map(|(x, _, hi)| (x, hi));
        let back = piece.iter().flatten().rev().map(|(x, lo, _)| (x, lo));
        for (position, (x, y)) in there.chain(back).enumerate() {
            let letter = if position == 0 { 'M' } else { 'L' };
            write!(path, "{letter}{} {}", number(*x), number(*y)).expect("memory");
        }
        if !piece.is_empty() {
            path.push('Z');
        }
    }
    path
}

/// A place on the vertical axis in pixels.
fn pixel(value: f64, y: &Scale) -> f64 {
    (MARGIN + down(value, y)) / (SIDE + 2.0 * MARGIN) * HEIGHT
}

fn grid(m: &mut Markup, chart: &LineChart, y: &Scale) {
    m.open("g", &[("class", "grid")]);
    for (value, _) in y.ticks(4, chart.y.unit) {
        let at = number(pixel(value, y));
        m.leaf("line", &[("x1", "0"), ("x2", "100%"), ("y1", &at), ("y2", &at)]);
    }
    m.close("g");
}

fn y_axis(m: &mut Markup, chart: &LineChart, y: &Scale) {
    let height = number(HEIGHT);
    m.open(
        "svg",
        &[("class", "y-axis"), ("width", "64"), ("height", &height), ("aria-hidden", "true")],
    );
    for (value, label) in y.ticks(4, chart.y.unit) {
        let at = number(pixel(value, y));
        m.element(
            "text",
            &[("x", "56"), ("y", &at), ("dy", "0.32em"), ("text-anchor", "end")],
            &label,
        );
    }
    m.close("svg");
}

fn x_axis(m: &mut Markup, x: &X) {
    m.open(
        "svg",
        &[("class", "x-axis"), ("width", "100%"), ("height", "24"), ("aria-hidden", "true")],
    );
    let (scale, ticks) = match x {
        X::Time { .. } => {
            let (lo, hi) = time_span(x);
            let scale = Scale { lo, hi, log: false };
            (scale, scale.time_ticks(6))
        }
        X::Values(axis, values) => {
            let scale = Scale::around(values.iter().copied(), axis);
            (scale, scale.ticks(5, axis.unit))
        }
    };
    for (value, label) in ticks {
        let place = scale.place(value);
        let anchor = if place > 0.97 { "end" } else { "middle" };
        m.element("text", &[("x", &percent(place)), ("y", "16"), ("text-anchor", anchor)], &label);
    }
    m.close("svg");
}

fn x_label(x: &X) -> String {
    match x {
        X::Time { .. } => format!("time since the start ({})", clock_unit(time_span(x).1)),
        X::Values(axis, _) => axis.label.clone(),
    }
}
