//! Values with intervals as tables, so that who cannot see the drawing reads the figures.

use super::Ids;
use super::blocks::figure;
use super::markup::Markup;
use super::svg::{colour, percent, place_marker, sample};
use crate::page::scale::Scale;
use crate::page::{DotChart, DotPanel, DotRow, Page};

/// Height of a row's drawing in pixels, and its middle.
const ROW: (&str, &str) = ("22", "11");

/// The chart as a figure.
pub(super) fn chart(m: &mut Markup, page: &Page, chart: &DotChart, ids: &mut Ids) {
    figure(m, ids, "chart dots", &chart.title, &chart.about);
    m.open("div", &[("class", "panels")]);
    chart.panels.iter().for_each(|p| panel(m, page, p));
    m.close("div");
    m.close("figure");
}

fn panel(m: &mut Markup, page: &Page, panel: &DotPanel) {
    let values = panel.rows.iter().flat_map(|row| {
        let (lo, hi) = row.interval.unzip();
        [row.value, lo, hi].into_iter().flatten()
    });
    let scale = Scale::around(values, &panel.axis);
    let ticks = scale.ticks(3, panel.axis.unit);
    m.line();
    m.open("table", &[("class", "panel")]);
    m.open("caption", &[]);
    m.rich(&panel.axis.label);
    if !panel.note.is_empty() {
        m.text(" ");
        m.element("small", &[], &panel.note);
    }
    m.close("caption");
    head(m, &["name", "drawn", "value with interval"]);
    m.open("tbody", &[]);
    for row in &panel.rows {
        m.open("tr", &[("class", &colour(row.of)), ("data-of", &row.of.to_string())]);
        row_head(m, page, row.of);
        m.open("td", &[("class", "track"), ("aria-hidden", "true")]);
        track(m, &scale, &ticks, row);
        m.close("td");
        m.element("td", &[("class", "shown")], &row.shown);
        m.close("tr");
    }
    m.close("tbody");
    foot(m, &scale, &ticks, 3);
    m.close("table");
}

/// Headings that only screen readers need, of a name, a drawing and maybe words.
pub(super) fn head(m: &mut Markup, titles: &[&str]) {
    m.open("colgroup", &[]);
    for (_, class) in titles.iter().zip(["c-name", "c-drawn", "c-shown"]) {
        m.void("col", &[("class", class)]);
    }
    m.close("colgroup");
    m.open("thead", &[("class", "unseen")]);
    m.open("tr", &[]);
    titles.iter().for_each(|title| m.element("th", &[("scope", "col")], title));
    m.close("tr");
    m.close("thead");
}

/// A row's name, with its colour and marker.
pub(super) fn row_head(m: &mut Markup, page: &Page, of: usize) {
    m.open("th", &[("scope", "row")]);
    sample(m, of);
    let name = page.legend.get(of).map_or("", String::as_str);
    m.element("span", &[], name);
    m.close("th");
}

/// The axis below the rows, which have so many columns.
pub(super) fn foot(m: &mut Markup, scale: &Scale, ticks: &[(f64, String)], columns: usize) {
    m.open("tfoot", &[("aria-hidden", "true")]);
    m.open("tr", &[]);
    m.element("td", &[("class", "gap")], "");
    m.open("td", &[("class", "track")]);
    m.open("svg", &[("width", "100%"), ("height", "18")]);
    for (value, label) in ticks {
        let place = scale.place(*value);
        let anchor = match place {
            p if p < 0.02 => "start",
            p if p > 0.985 => "end",
            _ => "middle",
        };
        m.element("text", &[("x", &percent(place)), ("y", "13"), ("text-anchor", anchor)], label);
    }
    m.close("svg");
    m.close("td");
    (2..columns).for_each(|_| m.element("td", &[("class", "gap")], ""));
    m.close("tr");
    m.close("tfoot");
}

fn track(m: &mut Markup, scale: &Scale, ticks: &[(f64, String)], row: &DotRow) {
    m.open("svg", &[("width", "100%"), ("height", ROW.0)]);
    m.open("g", &[("class", "grid")]);
    for (value, _) in ticks {
        let at = percent(scale.place(*value));
        m.leaf("line", &[("x1", &at), ("x2", &at), ("y1", "0"), ("y2", ROW.0)]);
    }
    m.close("g");
    if let Some((lo, hi)) = row.interval {
        let (lo, hi) = (percent(scale.place(lo)), percent(scale.place(hi)));
        let (from, to) = (("y1", "6"), ("y2", "16"));
        m.leaf(
            "line",
            &[("class", "whisker"), ("x1", &lo), ("x2", &hi), ("y1", ROW.1), ("y2", ROW.1)],
        );
        m.leaf("line", &[("class", "whisker"), ("x1", &lo), ("x2", &lo), from, to]);
        m.leaf("line", &[("class", "whisker"), ("x1", &hi), ("x2", &hi), from, to]);
    }
    if let Some(value) = row.value {
        place_marker(m, row.of, &percent(scale.place(value)), ROW.1);
    }
    m.close("svg");
}
