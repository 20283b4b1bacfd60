//! The same document as Markdown, in the dialect of code hosts: tables with pipes, no HTML.

use std::fmt::Write;

use super::html::{bar_figures, lane_ended};
use super::letter::shown;
use super::{Block, Course, DotChart, LineChart, Page, Scatter, Table};

/// The whole document.
pub(super) fn document(page: &Page) -> String {
    let mut text = format!("# {}\n\n", rich(&page.title));
    for part in [&page.asked, &page.answer] {
        if !part.is_empty() {
            writeln!(text, "{}\n", rich(part)).expect("memory");
        }
    }
    if !page.figures.is_empty() {
        text.push_str("| figure | value | |\n|---|--:|---|\n");
        for figure in &page.figures {
            let cells = [&figure.label, &figure.value, &figure.note].map(|cell| rich(cell));
            writeln!(text, "| {} |", cells.join(" | ")).expect("memory");
        }
        text.push('\n');
    }
    if !page.belief.is_empty() {
        text.push_str("## How far to believe it\n\n");
        text += &list(&page.belief);
    }
    for section in &page.sections {
        write!(text, "## {}\n\n", rich(&section.title)).expect("memory");
        section.blocks.iter().for_each(|b| text += &block(page, b));
    }
    text + &origin(page)
}

fn block(page: &Page, block: &Block) -> String {
    match block {
        Block::Text(text) => format!("{}\n\n", rich(text)),
        Block::Note(text) => format!("> {}\n\n", rich(text)),
        Block::List(items) => list(items),
        Block::Code(caption, text) => code(caption, text),
        Block::Table(of) => table(of),
        Block::Lines(chart) => lines(page, chart),
        Block::Dots(chart) => dots(page, chart),
        Block::Bars(chart) => table(&bar_figures(page, chart)),
        Block::Scatter(chart) => scatter(page, chart),
        Block::Course(of) => course(of),
        Block::Beside(blocks) => blocks.iter().map(|b| self::block(page, b)).collect(),
        Block::Folded(title, blocks) => {
            let inner = blocks.iter().map(|b| self::block(page, b));
            [heading(title, "")].into_iter().chain(inner).collect()
        }
    }
}

fn heading(title: &str, about: &str) -> String {
    let about = if about.is_empty() { String::new() } else { format!("{}\n\n", rich(about)) };
    format!("### {}\n\n{about}", rich(title))
}

fn list(items: &[String]) -> String {
    let items: String = items.iter().map(|item| format!("- {}\n", rich(item))).collect();
    items + "\n"
}

/// Fenced with more backticks than any line of it begins with.
fn code(caption: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let caption = if caption.is_empty() { String::new() } else { format!("{}\n\n", rich(caption)) };
    let text: String = text.trim_end().chars().map(shown).collect();
    format!("{caption}{fence}text\n{text}\n{fence}\n\n")
}

fn table(table: &Table) -> String {
    let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let titles = table.columns.iter().map(|column| rich(&column.title)).collect();
    let rules = table.columns.iter().map(|c| if c.figures { "--:" } else { "---" });
    let rules = format!("|{}|\n", rules.collect::<Vec<_>>().join("|"));
    let rows = table.rows.iter().map(|r| {
        let cells = r.cells.iter().map(|cell| rich(cell));
        row([rich(&r.head)].into_iter().chain(cells).collect())
    });
    let rows: String = rows.collect();
    format!("**{}**\n\n{}{rules}{rows}\n", rich(&table.caption), row(titles))
}

/// Too many figures for a table: the least, the most and the last of each line.
fn lines(page: &Page, chart: &LineChart) -> String {
    let mut figures = Table::of_figures(&*chart.y.label, "", ["least", "most"]);
    for line in &chart.lines {
        let known = || line.values.iter().flatten().copied();
        let unit = chart.y.unit;
        let shown = |value: f64| match value.is_finite() {
            true => format!("{}{value:.2}{}", unit.before(), unit.after()),
            false => "–".into(),
        };
        let least = shown(known().fold(f64::INFINITY, f64::min));
        let most = shown(known().fold(f64::NEG_INFINITY, f64::max));
        figures.row(name(page, line.of), vec![least, most]);
    }
    heading(&chart.title, &chart.about) + &table(&figures)
}

fn dots(page: &Page, chart: &DotChart) -> String {
    let mut text = heading(&chart.title, &chart.about);
    let Some(first) = chart.panels.first() else { return text };
    let names: Vec<String> = first.rows.iter().map(|row| name(page, row.of)).collect();
    let mut all = Table::of_figures(&*chart.title, "", names.iter().map(String::as_str));
    for panel in chart.panels.iter().filter(|panel| panel.rows.len() == names.len()) {
        let shown = panel.rows.iter().map(|row| row.shown.clone());
        all.row(panel.axis.label.clone(), shown.collect());
    }
    text += &table(&all);
    text
}

/// Those that are named.
fn scatter(page: &Page, chart: &Scatter) -> String {
    let axes = [chart.x.label.as_str(), chart.y.label.as_str()];
    let mut named = Table::of_figures(&*chart.title, "", axes);
    for dot in chart.dots.iter().filter(|dot| dot.named) {
        let cells = vec![format!("{:.4}", dot.at.0), format!("{:.4}", dot.at.1)];
        named.row(format!("{} ({})", dot.label, name(page, dot.of)), cells);
    }
    heading(&chart.title, &chart.about) + &table(&named)
}

fn course(course: &Course) -> String {
    let mut lanes = Table::of_text(&*course.title, ["attempt", "ended"]);
    for lane in &course.lanes {
        lanes.row(lane.label.clone(), vec![lane_ended(lane)]);
    }
    heading(&course.title, &course.about) + &table(&lanes)
}

fn origin(page: &Page) -> String {
    let mut text = String::from("## Reproduce\n\n");
    if !page.origin.command.is_empty() {
        text += &code("", &page.origin.command);
    }
    let facts: Vec<String> =
        page.origin.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    let text = text + &list(&facts);
    format!("{}\n", text.trim_end())
}

fn name(page: &Page, of: usize) -> String {
    page.legend.get(of).cloned().unwrap_or_default()
}

/// Text in which nothing is markup but code between backticks.
fn rich(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // Signs of HTML have no place in code, where nothing stands for them.
    let is_plain = |code: &&str| !code.contains(['<', '>', '&']);
    if parts.len().is_multiple_of(2) || !parts.iter().skip(1).step_by(2).all(is_plain) {
        return escape(text);
    }
    let part = |(position, part): (usize, &str)| match position % 2 {
        1 if part.is_empty() => String::new(),
        // A pipe ends a table's cell, even in code; a backslash before it is taken away again.
        1 => format!("`{}`", letters(part).replace('|', "\\|")),
        _ => escape(part),
    };
    parts.into_iter().enumerate().map(part).collect()
}

fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push_str(&letters(c.encode_utf8(&mut [0; 4]))),
        }
    }
    out
}

/// Text on one line.
fn letters(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() { ' ' } else { shown(c) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_code_is_markup() {
        assert_eq!(rich("`a_b|c` is *b_c* <b>"), "`a_b\\|c` is \\*b\\_c\\* &lt;b&gt;");
        assert_eq!(rich("one ` tick"), "one \\` tick");
        assert_eq!(escape("[x](javascript:1)\n- y"), "\\[x\\](javascript:1) - y");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert!(code("", "a ```` b").starts_with("`````text\n"));
    }
}
