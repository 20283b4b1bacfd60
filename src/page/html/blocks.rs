//! Text, notes, tables, and what is folded away.

use super::markup::Markup;
use super::{Ids, bars, course, dots, lines, list, scatter};
use crate::page::{Block, Page, Row, Table};

/// One block of a section.
pub(super) fn block(m: &mut Markup, page: &Page, block: &Block, ids: &mut Ids) {
    m.line();
    match block {
        Block::Text(text) => m.element("p", &[], text),
        Block::List(items) => list(m, items),
        Block::Note(text) => m.element("p", &[("class", "remark"), ("role", "note")], text),
        Block::Code(caption, text) => code(m, caption, text),
        Block::Table(of) => table(m, of, ids),
        Block::Lines(chart) => lines::chart(m, page, chart, ids),
        Block::Dots(chart) => dots::chart(m, page, chart, ids),
        Block::Bars(chart) => bars::chart(m, page, chart, ids),
        Block::Scatter(chart) => scatter::chart(m, page, chart, ids),
        Block::Course(of) => course::chart(m, of, ids),
        Block::Folded(title, blocks) => folded(m, page, title, blocks, ids),
        Block::Beside(blocks) => {
            m.open("div", &[("class", "beside")]);
            blocks.iter().for_each(|b| self::block(m, page, b, ids));
            m.close("div");
        }
    }
}

/// Opens a figure with its heading and what it shows, and gives the id of its heading.
pub(super) fn figure(
    m: &mut Markup,
    ids: &mut Ids,
    class: &str,
    title: &str,
    about: &str,
) -> String {
    let id = ids.next("figure");
    m.open("figure", &[("class", class), ("aria-labelledby", &id)]);
    m.open("figcaption", &[]);
    m.element("h3", &[("id", &id)], title);
    if !about.is_empty() {
        m.element("p", &[], about);
    }
    m.close("figcaption");
    id
}

/// Opens the part of a figure that values can be read from; `data` is what the script reads.
pub(super) fn plot(m: &mut Markup, heading: &str, data: &str) {
    m.open(
        "div",
        &[
            ("class", "plot"),
            ("role", "group"),
            ("aria-roledescription", "chart"),
            ("aria-labelledby", heading),
            ("data-chart", data),
        ],
    );
}

fn code(m: &mut Markup, caption: &str, text: &str) {
    m.open("figure", &[("class", "code")]);
    if !caption.is_empty() {
        m.element("figcaption", &[], caption);
    }
    m.open("pre", &[("tabindex", "0")]);
    m.open("code", &[]);
    m.text(text);
    m.close("code");
    m.close("pre");
    m.close("figure");
}

/// A table in a frame of its own, which scrolls where it is wider than the page.
fn table(m: &mut Markup, table: &Table, ids: &mut Ids) {
    let id = ids.next("table");
    let frame = [("class", "scroll"), ("role", "region"), ("tabindex", "0")];
    m.open("div", &[frame.as_slice(), &[("aria-labelledby", id.as_str())]].concat());
    m.open("table", &[]);
    m.element("caption", &[("id", &id)], &table.caption);
    m.open("thead", &[]);
    m.open("tr", &[]);
    for column in &table.columns {
        let class = if column.figures { "number" } else { "text" };
        m.element("th", &[("scope", "col"), ("class", class)], &column.title);
    }
    m.close("tr");
    m.close("thead");
    m.open("tbody", &[]);
    table.rows.iter().for_each(|row| table_row(m, table, row));
    m.close("tbody");
    m.close("table");
    m.close("div");
}

fn table_row(m: &mut Markup, table: &Table, row: &Row) {
    m.line();
    m.open("tr", if row.breaks { &[("class", "breaks")] } else { &[] });
    m.open("th", &[("scope", "row")]);
    m.rich(&row.head);
    if !row.about.is_empty() {
        m.element("small", &[], &row.about);
    }
    m.close("th");
    for (cell, column) in row.cells.iter().zip(&table.columns[1..]) {
        let class = if column.figures { "number" } else { "text" };
        m.element("td", &[("class", class)], cell);
    }
    m.close("tr");
}

fn folded(m: &mut Markup, page: &Page, title: &str, blocks: &[Block], ids: &mut Ids) {
    m.open("details", &[("class", "folded")]);
    m.element("summary", &[], title);
    blocks.iter().for_each(|b| block(m, page, b, ids));
    m.close("details");
}
