//! The document: head, summary, sections, origin.

mod bars;
mod blocks;
mod course;
mod dots;
mod lines;
mod lines_told;
mod markup;
mod policy;
mod scatter;
mod svg;

use self::blocks::block;
use self::markup::Markup;
pub(super) use self::{bars::figures as bar_figures, course::ended as lane_ended};
use super::{KeyFigure, Page, Section, Tone};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The whole file.
pub(super) fn document(page: &Page) -> String {
    let mut m = Markup::default();
    m.void("!DOCTYPE html", &[]);
    m.line();
    m.open("html", &[("lang", "en")]);
    head(&mut m, page);
    m.open("body", &[]);
    m.element("a", &[("class", "skip"), ("href", "#summary")], "Skip to the summary");
    banner(&mut m, page);
    m.open("main", &[]);
    summary(&mut m, page);
    legend(&mut m, page);
    let mut ids = Ids::default();
    for (number, section) in page.sections.iter().enumerate() {
        m.line();
        body(&mut m, page, section, number + 1, &mut ids);
    }
    origin(&mut m, page);
    m.close("main");
    m.line();
    m.own("script", SCRIPT);
    m.close("body");
    m.close("html");
    m.line();
    m.finish()
}

/// Numbers for elements that others refer to.
#[derive(Default)]
pub(super) struct Ids(usize);

impl Ids {
    fn next(&mut self, what: &str) -> String {
        self.0 += 1;
        format!("{what}-{}", self.0)
    }
}

fn head(m: &mut Markup, page: &Page) {
    m.open("head", &[]);
    m.void("meta", &[("charset", "utf-8")]);
    let policy = policy::content_security_policy(STYLE, SCRIPT);
    m.void("meta", &[("http-equiv", "Content-Security-Policy"), ("content", &policy)]);
    m.void("meta", &[("name", "viewport"), ("content", "width=device-width, initial-scale=1")]);
    m.void("meta", &[("name", "color-scheme"), ("content", "light dark")]);
    m.void("meta", &[("name", "robots"), ("content", "noindex")]);
    m.element("title", &[], &page.title.replace('`', ""));
    m.own("style", STYLE);
    m.close("head");
    m.line();
}

/// The strip above everything: whose document it is, its parts, and light or dark.
fn banner(m: &mut Markup, page: &Page) {
    m.open("header", &[("class", "banner")]);
    m.open("p", &[("class", "brand")]);
    m.element("strong", &[], "windtunnel");
    m.text(" ");
    m.element("span", &[], &page.kind);
    m.close("p");
    m.open("nav", &[("aria-label", "Contents")]);
    m.open("ol", &[]);
    let titles = page.sections.iter().map(|section| section.title.as_str());
    for (number, title) in titles.enumerate() {
        m.open("li", &[]);
        m.element("a", &[("href", &format!("#section-{}", number + 1))], title);
        m.close("li");
    }
    m.open("li", &[]);
    m.element("a", &[("href", "#origin")], "Reproduce");
    m.close("li");
    m.close("ol");
    m.close("nav");
    let button = [("type", "button"), ("id", "theme"), ("class", "button"), ("hidden", "")];
    m.element("button", &button, "Dark");
    m.close("header");
    m.line();
}

fn summary(m: &mut Markup, page: &Page) {
    m.open("section", &[("id", "summary"), ("aria-labelledby", "title")]);
    m.element("h1", &[("id", "title")], &page.title);
    if !page.asked.is_empty() {
        m.element("p", &[("class", "asked")], &page.asked);
    }
    if !page.answer.is_empty() {
        m.element("p", &[("class", "answer")], &page.answer);
    }
    if !page.figures.is_empty() {
        m.open("dl", &[("class", "figures")]);
        page.figures.iter().for_each(|figure| key_figure(m, figure));
        m.close("dl");
    }
    if !page.belief.is_empty() {
        m.open("div", &[("class", "belief")]);
        m.element("h2", &[], "How far to believe it");
        list(m, &page.belief);
        m.close("div");
    }
    m.close("section");
}

fn key_figure(m: &mut Markup, figure: &KeyFigure) {
    let tone = match figure.tone {
        Tone::Plain => "figure",
        Tone::Good => "figure good",
        Tone::Bad => "figure bad",
    };
    m.open("div", &[("class", tone)]);
    m.element("dt", &[], &figure.label);
    m.open("dd", &[]);
    // The interval is set smaller than the value.
    let (value, interval) = match figure.value.split_once(" ± ") {
        Some((value, half)) => (value, format!("± {half}")),
        None => (figure.value.as_str(), String::new()),
    };
    m.element("span", &[("class", "value")], value);
    if !interval.is_empty() {
        m.text(" ");
        m.element("span", &[("class", "interval")], &interval);
    }
    if !figure.note.is_empty() {
        m.element("span", &[("class", "note")], &tied(&figure.note));
    }
    m.close("dd");
    m.close("div");
}

/// Figures stay on one line with their units and intervals.
fn tied(text: &str) -> String {
    let mut tied = String::new();
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        tied.push_str(word);
        let Some(next) = words.peek() else { break };
        let figure = word.ends_with(|c: char| c.is_ascii_digit());
        let unit = next.starts_with(['%', '±']) || ["pp", "ms", "s", "min"].contains(next);
        tied.push(if figure && unit || word == "±" { '\u{a0}' } else { ' ' });
    }
    tied
}

/// The names that charts tell apart, each a switch.
fn legend(m: &mut Markup, page: &Page) {
    if page.legend.len() < 2 {
        return;
    }
    m.line();
    m.open("div", &[("class", "legend"), ("role", "group"), ("aria-label", "Shown in charts")]);
    for (of, name) in page.legend.iter().enumerate() {
        let number = of.to_string();
        m.open("button", &[("type", "button"), ("aria-pressed", "true"), ("data-switch", &number)]);
        svg::sample(m, of);
        m.element("span", &[], name);
        m.close("button");
    }
    m.close("div");
}

fn body(m: &mut Markup, page: &Page, section: &Section, number: usize, ids: &mut Ids) {
    let (id, title) = (format!("section-{number}"), format!("section-{number}-title"));
    m.open("section", &[("id", &id), ("aria-labelledby", &title)]);
    m.element("h2", &[("id", &title)], &section.title);
    section.blocks.iter().for_each(|b| block(m, page, b, ids));
    m.close("section");
}

fn origin(m: &mut Markup, page: &Page) {
    m.line();
    m.open("section", &[("id", "origin"), ("aria-labelledby", "origin-title")]);
    m.element("h2", &[("id", "origin-title")], "Reproduce");
    if !page.origin.command.is_empty() {
        m.element(
            "p",
            &[],
            "The same version, files and command give the same figures, to the byte.",
        );
        m.open("pre", &[("tabindex", "0"), ("aria-label", "Command")]);
        m.open("code", &[]);
        m.text(&page.origin.command);
        m.close("code");
        m.close("pre");
    }
    m.open("dl", &[("class", "facts")]);
    for (name, value) in &page.origin.facts {
        m.element("dt", &[], name);
        m.element("dd", &[], value);
    }
    m.close("dl");
    m.close("section");
}

fn list(m: &mut Markup, items: &[String]) {
    m.open("ul", &[]);
    items.iter().for_each(|item| m.element("li", &[], item));
    m.close("ul");
}
