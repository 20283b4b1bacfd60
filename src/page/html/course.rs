//! A request's attempts, a lane each, as a table.

use super::Ids;
use super::blocks::figure;
use super::dots::{foot, head};
use super::markup::Markup;
use super::svg::percent;
use crate::page::scale::Scale;
use crate::page::{Course, Ending, Lane, Span, Stretch, Unit};

/// Outlines of endings around (0, 0): a filled dot, a cross, a bar.
const ENDINGS: [&str; 3] =
    ["M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", "M-4-4L4 4M-4 4L4-4", "M0-6V6"];

/// The course as a figure.
pub(super) fn chart(m: &mut Markup, course: &Course, ids: &mut Ids) {
    let scale = Scale { lo: 0.0, hi: longest(course), log: false };
    let ticks = scale.ticks(4, Unit::Seconds);
    figure(m, ids, "chart course", &course.title, &course.about);
    m.open("ul", &[("class", "parts"), ("aria-hidden", "true")]);
    for what in [Stretch::Wait, Stretch::Silent, Stretch::Output] {
        m.open("li", &[]);
        m.open("svg", &[("width", "22"), ("height", "14")]);
        m.leaf("rect", &[("class", class(what)), ("width", "22"), ("height", "14"), ("rx", "2")]);
        m.close("svg");
        m.element("span", &[], what.name());
        m.close("li");
    }
    m.close("ul");
    m.open("table", &[("class", "panel lanes")]);
    m.element("caption", &[("class", "unseen")], &course.title);
    head(m, &["attempt", "drawn", "how it ended"]);
    m.open("tbody", &[]);
    for lane in &course.lanes {
        m.open("tr", &[]);
        m.element("th", &[("scope", "row")], &lane.label);
        m.open("td", &[("class", "track"), ("aria-hidden", "true")]);
        track(m, lane, &scale, &ticks);
        m.close("td");
        m.element("td", &[("class", "shown")], &ended(lane));
        m.close("tr");
    }
    m.close("tbody");
    foot(m, &scale, &ticks, 3);
    m.close("table");
    m.close("figure");
}

fn longest(course: &Course) -> f64 {
    let ends = course.lanes.iter().flat_map(|lane| {
        lane.spans.iter().map(|span| span.to).chain(lane.mark.iter().map(|mark| mark.at))
    });
    ends.fold(course.length, f64::max).max(1e-3) * 1.02
}

/// How and when a lane ended, in words.
pub(in crate::page) fn ended(lane: &Lane) -> String {
    lane.mark.as_ref().map_or(String::new(), |mark| format!("{:.2} s: {}", mark.at, mark.text))
}

const fn class(what: Stretch) -> &'static str {
    match what {
        Stretch::Wait => "wait",
        Stretch::Silent => "silent",
        Stretch::Output => "output",
    }
}

fn track(m: &mut Markup, lane: &Lane, scale: &Scale, ticks: &[(f64, String)]) {
    m.open("svg", &[("width", "100%"), ("height", "26")]);
    m.open("g", &[("class", "grid")]);
    for (value, _) in ticks {
        let at = percent(scale.place(*value));
        m.leaf("line", &[("x1", &at), ("x2", &at), ("y1", "0"), ("y2", "26")]);
    }
    m.close("g");
    lane.spans.iter().for_each(|s| span(m, s, scale));
    if let Some(mark) = &lane.mark {
        let (name, outline) = match mark.ending {
            Ending::Answered => ("ending answered", ENDINGS[0]),
            Ending::Failed => ("ending failed", ENDINGS[1]),
            Ending::Cut => ("ending cut", ENDINGS[2]),
        };
        let x = percent(scale.place(mark.at));
        m.open("svg", &[("x", &x), ("y", "13"), ("overflow", "visible")]);
        m.leaf("path", &[("class", name), ("d", outline)]);
        m.close("svg");
    }
    m.close("svg");
}

fn span(m: &mut Markup, span: &Span, scale: &Scale) {
    let (from, to) = (scale.place(span.from), scale.place(span.to));
    let (x, width) = (percent(from), percent(to - from));
    m.leaf(
        "rect",
        &[
            ("class", class(span.what)),
            ("x", &x),
            ("width", &width),
            ("y", "6"),
            ("height", "14"),
            ("rx", "2"),
        ],
    );
}
