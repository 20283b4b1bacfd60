//! The program as people run it: what it prints, where, and with which exit code.

mod check;
mod compare;
mod edges;
mod others;
mod outputs;
mod reports;
mod run;

use std::fs;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A small scenario: two targets, the first of which fails a third of the time for a while.
pub(crate) const SCENARIO: &str = include_str!("../files/cli/small.yaml");

pub(crate) fn windtunnel() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"))
}

/// A folder with the small scenario in it.
pub(crate) fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.yaml"), SCENARIO).unwrap();
    folder
}

pub(crate) fn in_folder(folder: &TempDir, words: &[&str]) -> std::process::Output {
    windtunnel().current_dir(folder.path()).args(words).output().unwrap()
}

pub(crate) fn code(folder: &TempDir, words: &[&str]) -> i32 {
    in_folder(folder, words).status.code().expect("it ends by itself")
}

pub(crate) const COMPARE: [&str; 8] =
    ["compare", "small.yaml", "--policy", "single", "--policy", "fast-failover", "--worlds", "4"];

pub(crate) fn compare(folder: &TempDir, more: &[&str]) -> std::process::Output {
    in_folder(folder, &[&COMPARE, more].concat())
}

pub(crate) fn json(folder: &TempDir, more: &[&str]) -> Value {
    let output = compare(folder, &[&["--format", "json"], more].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    })
}
