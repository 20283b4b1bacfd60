//! Bad input gets one clear message at its place, and never a panic.
//!
//! Each row changes one thing in a good file and says what the message must hold. The good files
//! are `tests/files/plain.yaml` and the card and trace beside it.

mod cards_and_policies;
mod classes;
mod command_lines;
mod fields;
mod files;
mod scenarios;

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;
use windtunnel::check::check_file;

pub(crate) const FILES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files");

/// File, what is replaced in it, by what, and what the message holds.
pub(crate) type Row<'a> = (&'static str, &'static str, &'a str, &'static str);

pub(crate) const S: &str = "plain.yaml";

pub(crate) const C: &str = "plain-card.yaml";

pub(crate) const P: &str = "plain-policy.yaml";

pub(crate) const T: &str = "plain-trace.csv";

pub(crate) const TRACED: &str = "traced.yaml";

/// Stands for the whole file.
pub(crate) const ALL: &str = "\0";

/// Stand for blocks of the scenario.
pub(crate) const CLASSES: &str = "\0classes";

pub(crate) const TARGETS: &str = "\0targets";

pub(crate) const EFFECTS: &str = "\0effects";

/// Each row alone gives its message; all files of the table, given to the program together, one
/// message each and exit code 2.
pub(crate) fn table(rows: &[Row]) {
    let mut folders = Vec::new();
    let mut roots: Vec<std::ffi::OsString> = vec!["check".into()];
    for (file, old, new, wanted) in rows {
        let folder = TempDir::new().expect("a folder");
        for name in [S, C, P, T, TRACED] {
            let mut text =
                fs::read_to_string(Path::new(FILES).join(name)).expect("the file is there");
            if name == *file {
                text = changed(&text, old, new);
            }
            fs::write(folder.path().join(name), text).expect("writes");
        }
        let root = match *file {
            C => S,
            T => TRACED,
            other => other,
        };
        let Err(error) = check_file(&folder.path().join(root)) else {
            panic!("{file}: {new:?} in place of {old:?} was accepted; expected {wanted:?}");
        };
        let shown = error.to_string();
        assert!(shown.contains(wanted), "{file}: {new:?}: expected {wanted:?}, got\n{shown}");
        assert!(shown.lines().count() <= 3, "one message with its line and caret:\n{shown}");
        roots.push(folder.path().join(root).into_os_string());
        folders.push(folder);
    }
    let (code, errors) = windtunnel(&roots);
    assert_eq!(code, Some(2), "{errors}");
    assert_eq!(errors.lines().filter(|line| line.starts_with("error: ")).count(), rows.len());
}

/// Runs the program; returns its exit code and what it wrote to standard error.
pub(crate) fn windtunnel(args: &[impl AsRef<std::ffi::OsStr>]) -> (Option<i32>, String) {
    let run = Command::new(env!("CARGO_BIN_EXE_windtunnel")).args(args).output();
    let run = run.expect("the program starts");
    (run.status.code(), String::from_utf8(run.stderr).expect("messages are UTF-8"))
}

pub(crate) fn changed(text: &str, old: &str, new: &str) -> String {
    let block = |from: &str, to: &str| {
        let start = text.find(from).expect("the block is there");
        let end = if to.is_empty() { text.len() } else { text.find(to).expect("its end is there") };
        format!("{}{new}{}", &text[..start], &text[end..])
    };
    match old {
        ALL => new.to_owned(),
        CLASSES => block("classes:\n", "targets:\n"),
        TARGETS => block("targets:\n", "weather:\n"),
        EFFECTS => block("    effects:\n", ""),
        _ => {
            assert!(text.contains(old), "{old:?} is not in the good file");
            text.replacen(old, new, 1)
        }
    }
}
