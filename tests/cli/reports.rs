//! Documents for people.

use std::fs;

use super::{code, compare, folder};

#[test]
fn a_report_is_the_same_whatever_else_is_written() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let written = |more: &[&str]| {
        let output = compare(&folder, &[&["--quiet"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    };
    written(&["--report", "a.html", "--threads", "1", "--ledger", "a.csv"]);
    written(&["--report", "b.html", "--threads", "3"]);
    written(&["--ledger", "c.csv"]);
    assert_eq!(read("a.html"), read("b.html"));
    assert_eq!(read("a.csv"), read("c.csv"), "a report changes no row");
    let html = read("a.html");
    assert!(html.starts_with("<!DOCTYPE html>") && html.ends_with("</html>\n"));
    let command = "windtunnel compare small.yaml --policy single --policy fast-failover --worlds 4 \
                   --seed 1 --report report.html";
    assert!(html.contains(command));
    written(&["--report", "a.md"]);
    let printed = compare(&folder, &["--format", "markdown"]).stdout;
    let (text, printed) = (read("a.md"), String::from_utf8(printed).unwrap());
    assert!(text.starts_with("# 2 policies in small\n"), "{text}");
    for heading in ["## How far to believe it", "## Over time", "## Reproduce"] {
        assert!(text.contains(heading) && printed.contains(heading), "{heading}");
    }
}

#[test]
fn reports_of_a_run_a_split_and_gates() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(code(&folder, &["run", "small.yaml", "--report", "run.md", "--quiet"]), 0);
    assert!(read("run.md").starts_with("# `conservative` in small\n"));
    let split =
        ["--split", "90:10", "--report", "split.md", "--quiet", "--gate", "success >= 100%"];
    assert_eq!(compare(&folder, &split).status.code(), Some(1));
    let text = read("split.md");
    for part in ["## Gates", "A gate FAILED.", "## Split 90 : 10", "--gate 'success >= 100%'"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn drills_have_a_report_too() {
    let folder = folder();
    let bad = include_str!("../drills/bad/primary-down.yaml");
    fs::write(folder.path().join("bad.yaml"), bad).unwrap();
    let words = ["drill", "bad.yaml", "conservative", "--drill", "primary-down", "--quiet"];
    assert_eq!(code(&folder, &[&words[..], &["--report", "drills.md"]].concat()), 1);
    let text = fs::read_to_string(folder.path().join("drills.md")).unwrap();
    let parts = ["# Safety drills of 2 policies\n", "0 of 1 passed | 1 FAILED", "- To do: "];
    let more = ["windtunnel explain primary-down", "windtunnel drill bad.yaml conservative"];
    for part in parts.into_iter().chain(more) {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    assert_eq!(code(&folder, &[&words[..], &["--report", "drills.pdf"]].concat()), 2);
}
