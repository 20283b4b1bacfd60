//! Shares that add up to all, as bars, with the figures in a table below.

use super::Ids;
use super::blocks::{block, figure};
use super::dots::{foot, head, row_head};
use super::markup::Markup;
use super::svg::percent;
use crate::page::scale::Scale;
use crate::page::{BarChart, BarRow, Block, Page, Table, Tone, Unit};

/// Fills in `page.css`: of what is good or neither, and of what is bad.
const FILLS: (usize, usize) = (6, 8);

/// The chart as a figure.
pub(super) fn chart(m: &mut Markup, page: &Page, chart: &BarChart, ids: &mut Ids) {
    figure(m, ids, "chart bars", &chart.title, &chart.about);
    let fills = fills(chart);
    m.open("ul", &[("class", "parts"), ("aria-hidden", "true")]);
    for ((name, _), fill) in chart.parts.iter().zip(&fills) {
        m.open("li", &[]);
        m.open("svg", &[("width", "14"), ("height", "14")]);
        m.leaf("rect", &[("class", fill), ("width", "14"), ("height", "14"), ("rx", "2")]);
        m.close("svg");
        m.element("span", &[], name);
        m.close("li");
    }
    m.close("ul");
    m.open("table", &[("class", "panel wide")]);
    m.element("caption", &[("class", "unseen")], &chart.title);
    head(m, &["name", "drawn"]);
    m.open("tbody", &[]);
    for row in &chart.rows {
        m.open("tr", &[("data-of", &row.of.to_string())]);
        row_head(m, page, row.of);
        m.open("td", &[("class", "track"), ("aria-hidden", "true")]);
        bar(m, row, &fills);
        m.close("td");
        m.close("tr");
    }
    m.close("tbody");
    let whole = Scale { lo: 0.0, hi: 100.0, log: false };
    foot(m, &whole, &whole.ticks(4, Unit::Percent), 2);
    m.close("table");
    let figures = Block::Table(figures(page, chart));
    block(m, page, &Block::Folded("Data table".into(), vec![figures]), ids);
    m.close("figure");
}

/// A fill for each part; the bad in browns of their own.
fn fills(chart: &BarChart) -> Vec<String> {
    let (mut good, mut bad) = (0, 0);
    let one = |(_, tone): &(String, Tone)| {
        let (letter, fills, counter) = match tone {
            Tone::Bad => ('b', FILLS.1, &mut bad),
            Tone::Plain | Tone::Good => ('f', FILLS.0, &mut good),
        };
        *counter += 1;
        format!("{letter}{}", (*counter - 1) % fills)
    };
    chart.parts.iter().map(one).collect()
}

fn bar(m: &mut Markup, row: &BarRow, fills: &[String]) {
    m.open("svg", &[("width", "100%"), ("height", "22")]);
    let mut from = 0.0;
    for (share, fill) in row.shares.iter().zip(fills).filter(|(share, _)| **share > 0.0) {
        let (x, width) = (percent(from), percent(*share));
        m.leaf(
            "rect",
            &[("class", fill), ("x", &x), ("width", &width), ("y", "3"), ("height", "16")],
        );
        from += share;
    }
    m.close("svg");
}

/// The shares as figures.
pub(in crate::page) fn figures(page: &Page, chart: &BarChart) -> Table {
    let name = |row: &BarRow| page.legend.get(row.of).map_or("", String::as_str);
    let mut table = Table::of_figures(chart.title.clone(), "", chart.rows.iter().map(name));
    for (part, (name, _)) in chart.parts.iter().enumerate() {
        let share = |row: &BarRow| format!("{:.3} %", 100.0 * row.shares.get(part).unwrap_or(&0.0));
        table.row(name.clone(), chart.rows.iter().map(share).collect());
    }
    table
}
