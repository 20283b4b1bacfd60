//! The program as people run it: the report of a question to a log.

use std::fs;
use std::process::{Command, Output};

use tempfile::TempDir;

const SMALL: &str = include_str!("../files/cli/small.yaml");

/// A log whose name would like to be markup.
const LOG: &str = "<img onerror=alert(1)>.csv";
const ESCAPED: &str = "&lt;img onerror=alert(1)&gt;.csv";

pub(super) fn windtunnel(folder: &TempDir, words: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
    program.current_dir(folder.path()).args(words).output().expect("the program starts")
}

pub(super) fn good(folder: &TempDir, words: &[&str]) -> String {
    let output = windtunnel(folder, words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A folder with the log of a run.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("small.yaml"), SMALL).expect("it can be written to");
    good(&folder, &["run", "small.yaml", "-p", "conservative", "--ledger", "log.csv", "--quiet"]);
    fs::rename(folder.path().join("log.csv"), folder.path().join(LOG)).expect("it is there");
    folder
}

const ASK: [&str; 7] = ["what-if", LOG, "-p", "conservative", "-p", "single", "--worlds=3"];

#[test]
fn a_report_says_what_the_text_says() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it was written");
    let text = good(&folder, &[&ASK[..], &["--report", "a.html", "--threads", "1"]].concat());
    good(&folder, &[&ASK[..], &["--report", "b.html", "--threads", "2", "--quiet"]].concat());
    let html = read("a.html");
    assert!(html == read("b.html"), "the same bytes at any number of threads");
    assert!(html.contains(ESCAPED) && !html.contains("<img"), "names are no markup");

    let markdown = good(&folder, &[&ASK[..], &["--report", "a.md", "--format=markdown"]].concat());
    assert_eq!(markdown, read("a.md"));
    let command = "windtunnel what-if '<img onerror=alert(1)>.csv' --policy conservative --policy single --seed 1 \
                   --worlds 3 --refits 20 --report report.html";
    for part in ["## How far to believe it", "## Over time", "## What to change", command] {
        assert!(markdown.contains(part), "{part} is not in\n{markdown}");
    }
    // The figures of the text stand in the document, too: those of the first row of each table.
    let success = text.lines().filter(|line| line.trim_start().starts_with("success  "));
    let figures = success.flat_map(|line| line.split("  ").map(str::trim));
    let figures: Vec<&str> = figures.filter(|cell| cell.contains('±')).collect();
    assert!(figures.len() >= 3, "two policies and a difference: {figures:?}");
    for figure in figures {
        assert!(markdown.contains(figure), "{figure} is not in\n{markdown}");
    }
}

/// The log is one of `conservative`; `single` never tries twice.
#[test]
fn a_report_says_first_where_the_log_is_not_reproduced() {
    let folder = folder();
    let ask = ["what-if", LOG, "-p", "single", "-p", "conservative", "--worlds=3"];
    let markdown = good(&folder, &[&ask[..], &["--format=markdown"]].concat());
    let mut said = markdown.lines().filter(|line| !line.is_empty()).skip(2);
    let answer = said.next().unwrap_or_default();
    assert!(answer.starts_with("NOT REPRODUCED: "), "{markdown}");
    assert!(markdown.contains("| the log is reproduced | NO |"), "{markdown}");
}

#[test]
fn a_report_that_cannot_be_written_is_refused_at_once() {
    let folder = folder();
    let cases = [
        ("report.pdf", "end it in .html or .md"),
        ("no/such/folder/report.html", "no/such/folder"),
        (LOG, LOG),
    ];
    for (path, said) in cases {
        let output = windtunnel(&folder, &[&ASK[..], &["--report", path]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}: {message}");
        assert!(message.starts_with("error: ") && message.contains(said), "{path}: {message}");
        assert!(output.stdout.is_empty(), "{path}");
    }
}

/// By a shell's limit of one block on files: no part of the world stays, and the next try is not refused for it.
#[cfg(target_os = "linux")]
#[test]
fn a_world_that_cannot_be_written_whole_leaves_no_folder() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_windtunnel");
    let line = format!("ulimit -f 1; '{program}' fit '{LOG}' --out new/world");
    let mut shell = Command::new("sh");
    let output = shell.current_dir(folder.path()).args(["-c", &line]).output().expect("a shell");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with("error: new/world/"), "{message}");
    assert!(message.contains("cannot be written: it grows beyond the limit"), "{message}");
    assert!(!folder.path().join("new").exists());
    good(&folder, &["fit", LOG, "--out", "new/world"]);
}
