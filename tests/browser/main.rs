//! Reports as a browser shows them: a real one without a window, where the machine has one.
#![cfg(unix)]

mod devtools;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use devtools::Browser;
use serde_json::{Value, json};
use tempfile::TempDir;
use windtunnel::page::{
    Axis, Block, KeyFigure, Line, LineChart, Page, Section, Shade, Strip, Table, Tone, Unit, X,
};

const SCENARIO: &str = include_str!("../files/cli/small.yaml");

/// What no name may do.
const BAD: &str = "</script><img src=x onerror=\"window.hit = 1\"><script>window.hit = 1</script>";

/// A browser; `None`, and said so, where there is none.
fn browser(test: &str) -> Option<Browser> {
    let found = devtools::found();
    if found.is_none() {
        eprintln!("skipped {test}: there is no Chromium on this machine");
    }
    found.map(|program| Browser::start(&program))
}

/// A comparison of three policies as a report.
fn report() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let shows = "shows: What the tests of the command line need, and no more.";
    assert!(SCENARIO.contains(shows), "the scenario says what it shows");
    let scenario = SCENARIO.replace(shows, &format!("shows: '{BAD}'"));
    fs::write(folder.path().join("small.yaml"), scenario).unwrap();
    let words =
        ["compare", "small.yaml", "-p", "single", "-p", "sdk-default", "-p", "fast-failover"];
    let output = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"))
        .current_dir(folder.path())
        .args(words)
        .args(["--worlds", "4", "--report", "report.html", "--quiet"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = folder.path().join("report.html");
    (folder, file)
}

/// Everything a page complained of, or reached for outside its file.
fn complaints(browser: &Browser) -> Vec<String> {
    let is_bad = |event: &&Value| match event["method"].as_str() {
        Some("Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Log.entryAdded") => true,
        Some("Network.requestWillBeSent") => {
            let url = event["params"]["request"]["url"].as_str().unwrap_or_default();
            !url.starts_with("file://")
        }
        _ => false,
    };
    browser.events.iter().filter(is_bad).map(Value::to_string).collect()
}

#[test]
fn a_report_opens_without_a_complaint_and_fits() {
    let Some(mut browser) = browser("a_report_opens_without_a_complaint_and_fits") else { return };
    let (_folder, file) = report();
    assert!(fs::metadata(&file).unwrap().len() < 3_000_000);
    for dark in [false, true] {
        browser.prefer_dark(dark);
        for width in [360, 768, 1_440] {
            browser.open(&file, width);
            browser.look("document.querySelectorAll('details').forEach((d) => { d.open = true; })");
            let fits =
                "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(browser.look(fits), true, "wider than {width} pixels");
            let charts = browser.look("document.querySelectorAll('.plot .line').length");
            assert!(charts.as_u64() >= Some(12), "{charts} lines");
            assert_eq!(complaints(&browser), [""; 0]);
        }
    }
    assert_eq!(browser.look("window.hit === undefined && document.images.length === 0"), true);
    assert_eq!(browser.look("document.querySelector('.asked').textContent.includes('<img')"), true);
}

#[test]
fn names_are_switched_on_and_off() {
    let Some(mut browser) = browser("names_are_switched_on_and_off") else { return };
    let (_folder, file) = report();
    browser.open(&file, 1_440);
    let seen = "[...document.querySelectorAll('[data-of=\"0\"]')].filter((e) => e.getClientRects().length).length";
    let axis = "document.querySelector('.lines .y-axis').textContent";
    let (all, before) = (browser.look(seen), browser.look(axis));
    assert!(all.as_u64() >= Some(10), "{all}");
    let press = "document.querySelector('[data-switch=\"0\"]').click()";
    let pressed = "document.querySelector('[data-switch=\"0\"]').getAttribute('aria-pressed')";
    browser.look(press);
    assert_eq!(browser.look(pressed), "false");
    assert_eq!(browser.look(seen), 0);
    assert_ne!(browser.look(axis), before, "the others have the axis to themselves");
    browser.look(press);
    assert_eq!(browser.look(pressed), "true");
    assert_eq!((browser.look(seen), browser.look(axis)), (all, before));
}

#[test]
fn light_and_dark() {
    let Some(mut browser) = browser("light_and_dark") else { return };
    let (_folder, file) = report();
    // The ratio of the luminances of text and paper, by the rule of WCAG 2.
    let contrasts = "(() => {
        const rgb = (name) => {
            const probe = document.body.appendChild(document.createElement('i'));
            probe.style.color = 'var(' + name + ')';
            const parts = getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number);
            probe.remove();
            return parts;
        };
        const light = (name) => rgb(name).slice(0, 3).map((c) => c / 255)
            .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
        const ratio = (a, b) => Math.max(light(a), light(b)) / Math.min(light(a), light(b));
        const texts = ['--ink', '--soft', '--accent', '--good', '--bad'];
        const lines = ['--s0', '--s1', '--s2', '--s3', '--s4', '--s5', '--s6'];
        return [
            Math.min(...texts.flatMap((t) => [ratio(t, '--paper'), ratio(t, '--panel')])),
            Math.min(...lines.map((l) => ratio(l, '--paper'))),
        ];
    })()";
    let paper = "getComputedStyle(document.body).backgroundColor";
    let mut papers = Vec::new();
    for dark in [false, true] {
        browser.prefer_dark(dark);
        browser.open(&file, 1_440);
        let ratios = browser.look(contrasts);
        assert!(ratios[0].as_f64() >= Some(4.5), "text: {ratios}, dark: {dark}");
        assert!(ratios[1].as_f64() >= Some(3.0), "lines: {ratios}, dark: {dark}");
        papers.push(browser.look(paper));
        browser.look("document.getElementById('theme').click()");
        papers.push(browser.look(paper));
    }
    assert_ne!(papers[0], papers[1]);
    assert_eq!(papers[..2], [papers[3].clone(), papers[2].clone()]);
}

/// The middle of a chart's drawing, moved by a share of its width.
fn on_chart(browser: &mut Browser, shift: f64) -> (f64, f64) {
    let look = "(() => {
        const ink = document.querySelector('.lines .ink');
        ink.scrollIntoView({ block: 'center', behavior: 'instant' });
        const box = ink.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2, box.width];
    })()";
    let place = browser.look(look);
    let part = |at: usize| place[at].as_f64().expect("a number");
    (part(0) + shift * part(2), part(1))
}

#[test]
fn values_are_read_and_time_is_zoomed() {
    let Some(mut browser) = browser("values_are_read_and_time_is_zoomed") else { return };
    let (_folder, file) = report();
    browser.open(&file, 1_440);
    let views = "[...document.querySelectorAll('.time .drawing')].map((d) => d.getAttribute('viewBox').split(' ')[2])";
    let whole = browser.look(views);
    assert!(whole.as_array().unwrap().iter().all(|width| width == "10000"), "{whole}");
    let (from, to) = (on_chart(&mut browser, -0.1), on_chart(&mut browser, 0.1));
    browser.mouse("mouseMoved", from);
    let tip = "document.querySelector('.lines .tip:not([hidden])')?.textContent || ''";
    let told = browser.look(tip);
    let told = told.as_str().unwrap();
    assert!(told.contains("fast-failover") && told.contains(" % ("), "{told}");
    browser.mouse("mousePressed", from);
    browser.mouse("mouseMoved", ((from.0 + to.0) / 2.0, from.1));
    browser.mouse("mouseMoved", to);
    browser.mouse("mouseReleased", to);
    let close = browser.look(views);
    let widths: Vec<f64> =
        close.as_array().unwrap().iter().map(|w| w.as_str().unwrap().parse().unwrap()).collect();
    assert!(widths.iter().all(|width| *width < 5_000.0), "{widths:?}");
    browser.look("document.querySelector('.lines .plot').focus()");
    browser.key("0");
    assert_eq!(browser.look(views), whole);
    // The value told is the one in the table.
    browser.key("Home");
    browser.key("ArrowRight");
    browser.look("document.querySelector('.lines details.data').open = true");
    browser.look("new Promise((done) => setTimeout(done, 100))");
    let numbers = |of: &str| format!("({of}).match(/[0-9.:]+/g).join(' ')");
    let in_table = "[...document.querySelectorAll('.lines details.data tbody tr')[1].cells]\
                    .map((cell) => cell.textContent).join(' ')";
    let (told, in_table) = (browser.look(&numbers(tip)), browser.look(&numbers(in_table)));
    assert_eq!(told, in_table);
    assert!(told.as_str().unwrap().starts_with("1:00 2:00 "), "{told}");
}

#[test]
fn a_screen_reader_finds_its_way_and_paper_takes_it() {
    let Some(mut browser) = browser("a_screen_reader_finds_its_way_and_paper_takes_it") else {
        return;
    };
    let (_folder, file) = report();
    browser.open(&file, 1_440);
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let nodes = tree["nodes"].as_array().unwrap();
    let with_role = |role: &str| -> Vec<String> {
        let of_role = nodes.iter().filter(|node| node["role"]["value"] == role);
        of_role.map(|node| node["name"]["value"].as_str().unwrap_or_default().to_owned()).collect()
    };
    for role in ["main", "navigation", "banner"] {
        assert_eq!(with_role(role).len(), 1, "{role}");
    }
    for role in ["region", "table", "button", "heading", "figure", "columnheader", "rowheader"] {
        let names = with_role(role);
        assert!(!names.is_empty(), "no {role}");
        // The corner of a table may be empty.
        let may_be_empty = role == "columnheader";
        assert!(
            may_be_empty || names.iter().all(|name| !name.trim().is_empty()),
            "{role}: {names:?}"
        );
    }
    let levels = "[...document.querySelectorAll('h1, h2, h3')].map((h) => Number(h.tagName[1]))";
    let levels = browser.look(levels);
    let levels: Vec<u64> = levels.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    assert!(levels[0] == 1 && levels.windows(2).all(|two| two[1] <= two[0] + 1), "{levels:?}");
    let folded = "document.querySelectorAll('details.folded[open]').length";
    assert_eq!(browser.look(folded), 0);
    let printed = browser.call("Page.printToPDF", json!({"printBackground": true}));
    assert!(printed["data"].as_str().unwrap().len() > 40_000, "hardly anything is printed");
    assert_eq!(complaints(&browser), [""; 0]);
}

/// What is shaded below a chart of time is as wide as the chart, however close one looks.
#[test]
fn strips_follow_their_chart() {
    let Some(mut browser) = browser("strips_follow_their_chart") else { return };
    let folder = tempfile::tempdir().unwrap();
    let shade = |from: f64, to: f64| Shade { from, to, depth: 0.5 };
    let values = (0..60).map(|minute| Some(f64::from(minute % 7))).collect();
    let chart = LineChart {
        title: "Over time".into(),
        about: "Shaded: the worst half hour.".into(),
        x: X::Time { from: 0.0, step: 60.0, count: 60 },
        y: Axis::new("value", Unit::Number),
        lines: vec![Line { of: 0, values, bands: Vec::new() }],
        shades: vec![shade(600.0, 2_400.0)],
        strips: vec![Strip { label: "a-target".repeat(20), shades: vec![shade(600.0, 2_400.0)] }],
    };
    let page = Page {
        title: "strips".into(),
        legend: vec!["one".into()],
        sections: vec![Section::new("Charts", vec![Block::Lines(chart)])],
        ..Page::default()
    };
    let file = folder.path().join("strips.html");
    fs::write(&file, page.html()).unwrap();
    browser.open(&file, 360);
    let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
    assert_eq!(browser.look(fits), true);
    let across = "['.drawing', '.strip'].map((which) => document.querySelector(which).getAttribute('viewBox').split(' '))\
                  .map((view) => view[0] + ' ' + view[2]).join(', ')";
    assert_eq!(browser.look(across), "0 10000, 0 10000");
    browser.look("document.querySelector('.lines .plot').focus()");
    browser.key("+");
    let close = browser.look(across);
    let (drawing, strip) = close.as_str().unwrap().split_once(", ").unwrap();
    assert_eq!(drawing, strip);
    assert_eq!(drawing, "2500 5000", "the middle half");
    assert_eq!(complaints(&browser), [""; 0]);
}

#[test]
fn hostile_names_are_shown_and_do_nothing() {
    let Some(mut browser) = browser("hostile_names_are_shown_and_do_nothing") else { return };
    let folder = tempfile::tempdir().unwrap();
    let bad = || BAD.to_owned();
    let mut table = Table::of_figures(BAD, BAD, [BAD]);
    table.row(BAD, vec![bad()]);
    let page = Page {
        title: bad(),
        asked: bad(),
        answer: bad(),
        figures: vec![KeyFigure { label: bad(), value: bad(), note: bad(), tone: Tone::Plain }],
        legend: vec![bad(), "another".into()],
        sections: vec![Section::new(BAD, vec![Block::Text(bad()), Block::Table(table)])],
        ..Page::default()
    };
    let file = folder.path().join("bad.html");
    fs::write(&file, page.html()).unwrap();
    browser.open(&file, 360);
    assert_eq!(complaints(&browser), [""; 0]);
    assert_eq!(browser.look("window.hit === undefined && document.images.length === 0"), true);
    assert_eq!(browser.look("document.querySelector('h1').textContent"), BAD);
    assert_eq!(browser.look("document.scripts.length"), 1);
    // And should markup ever get in, the policy stops it.
    browser.look(
        "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hit = 1\">')",
    );
    browser.look("new Promise((done) => setTimeout(done, 200))");
    assert_eq!(browser.look("window.hit === undefined"), true);
    assert!(!complaints(&browser).is_empty(), "the browser says what it has stopped");
}
