//! `check`, and what every command says of bad input.

use std::fs;
use std::path::Path;

use super::{code, folder, in_folder, windtunnel};

#[test]
fn bad_input_is_one_message_and_exit_2() {
    let folder = folder();
    fs::create_dir(folder.path().join("taken")).unwrap();
    let cases: [&[&str]; 22] = [
        &["run", "nowhere.yaml"],
        &["run", "stedy"],
        &["run", "small.yaml", "--policy", "convervative"],
        &["run", "small.yaml", "--worlds", "0"],
        &["run", "small.yaml", "--seed", "-1"],
        &["run", "small.yaml", "--threads", "0"],
        &["run", "small.yaml", "--format", "xml"],
        &["run", "small.yaml", "--out", "no/such/folder/file"],
        &["run", "small.yaml", "--out", "taken"],
        &["run", "small.yaml", "--ledger", "rows.txt"],
        &["run", "small.yaml", "--plot", "chart.gif"],
        &["run", "small.yaml", "--report", "report.pdf"],
        &["run", "small.yaml", "--report", "no/such/folder/report.html"],
        &["run", "small.yaml", "--report", "x.html", "--out", "x.html"],
        &["run", "small.yaml", "--out", "x.csv", "--timeline", "x.csv"],
        &["run", "small.yaml", "--gate", "succes >= 99%"],
        &["run", "small.yaml", "--gate", "success >= base"],
        &["compare", "small.yaml", "--policy", "single", "--policy", "single"],
        &["compare", "small.yaml", "-p", "single", "-p", "fast-failover", "--split", "90:5:5"],
        &["compare", "small.yaml", "-p", "single", "-p", "fast-failover", "--split", "95%:5%"],
        &["compare", "small.yaml", "-p", "single", "-p", "fast-failover", "--split", "100:0"],
        &["profile", "nowhere.csv", "--layout", "azure2024", "--out", "p.yaml"],
    ];
    for words in cases {
        let output = in_folder(&folder, words);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(message.starts_with("error: "), "{words:?}: {message}");
        assert!(output.stdout.is_empty(), "{words:?}");
        assert!(!message.contains("panicked"), "{words:?}: {message}");
    }
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "small.yaml" && name != "taken")
        .collect();
    assert!(left.is_empty(), "half-written files: {left:?}");
}

#[test]
fn nearest_names_are_offered() {
    let folder = folder();
    let says = |words: &[&str], expected: &str| {
        let message = String::from_utf8(in_folder(&folder, words).stderr).unwrap();
        assert!(message.contains(expected), "{message}");
    };
    says(&["run", "stedy"], "steady");
    says(&["run", "small.yaml", "--policy", "conservativ"], "conservative");
    says(&["run", "small.yaml", "--gate", "succes >= 99%"], "`success`");
    says(&["comprae", "small.yaml"], "compare");
}

#[test]
fn shipped_files_are_listed_and_checked() {
    let list = windtunnel().arg("list").output().unwrap();
    let text = String::from_utf8(list.stdout).unwrap();
    for name in ["steady", "conservative", "openai-gpt-4o"] {
        assert!(text.contains(name), "{name}");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let good = windtunnel().arg("check").arg(root.join("policies/single.yaml")).output().unwrap();
    assert_eq!(good.status.code(), Some(0));
    let folder = folder();
    fs::write(folder.path().join("bad.yaml"), "attempts: {max: none}\n").unwrap();
    let bad = in_folder(&folder, &["check", "small.yaml", "bad.yaml"]);
    assert_eq!(bad.status.code(), Some(2));
    assert_eq!(String::from_utf8(bad.stdout).unwrap(), "1 of 2 files are good\n");
    assert!(String::from_utf8(bad.stderr).unwrap().starts_with("error: bad.yaml:1:"));
}

#[test]
fn shipped_files_are_checked_by_name() {
    let output = in_folder(&folder(), &["check", "small.yaml", "steady", "conservative"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "3 of 3 files are good\n");
    assert_eq!(code(&folder(), &["check", "stedy"]), 2);
}

#[test]
fn what_is_wasteful_is_warned_about_and_fails_where_asked() {
    let folder = folder();
    let text = "timeouts: {attempt: 11s}\n";
    fs::write(folder.path().join("long.yaml"), text).unwrap();
    let check =
        |more: &[&str]| in_folder(&folder, &[&["check", "small.yaml", "long.yaml"], more].concat());
    let warned = check(&[]);
    assert_eq!(warned.status.code(), Some(0));
    let said = String::from_utf8(warned.stderr).unwrap();
    assert!(
        said.starts_with("warning: long.yaml:1:12: timeouts.attempt: 3 attempts of 11s"),
        "{said}"
    );
    assert_eq!(check(&["--strict"]).status.code(), Some(1));
    assert_eq!(code(&folder, &["check", "small.yaml", "--strict"]), 0);
}
