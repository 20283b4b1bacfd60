//! `profile`, `verify` and `explain`.

use std::fs;

use super::{code, folder, in_folder};

#[test]
fn a_trace_becomes_a_profile() {
    let folder = folder();
    let rows = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n";
    fs::write(folder.path().join("trace.csv"), rows).unwrap();
    let words = ["profile", "trace.csv", "--layout", "azure2023", "--out", "mine.yaml"];
    let output = in_folder(&folder, &words);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "mine.yaml: 2 requests in 5 s\n");
    assert!(fs::read_to_string(folder.path().join("mine.yaml")).unwrap().contains("mine"));
    let own = ["--layout", "columns:TIMESTAMP,datetime,ContextTokens,GeneratedTokens"];
    let words = [&["profile", "trace.csv"], &own[..], &["--out", "mine.yaml"]].concat();
    assert_eq!(code(&folder, &words), 0);
}

#[test]
fn verify_answers_by_its_exit_code() {
    let folder = folder();
    let verify = |more: &[&str]| {
        let words = [&["verify", "single", "--scenario", "small.yaml", "--depth", "2"], more];
        code(&folder, &words.concat())
    };
    assert_eq!(verify(&[]), 0);
    assert_eq!(verify(&["--format", "json"]), 0);
    assert_eq!(verify(&["--max-states", "1"]), 3);
    assert_eq!(verify(&["--depth", "0"]), 2);
    assert_eq!(code(&folder, &["verify", "no-such-policy"]), 2);
}

#[test]
fn explain_needs_one_request() {
    let folder = folder();
    let explain = |more: &[&str]| code(&folder, &[&["explain", "small.yaml"], more].concat());
    assert_eq!(explain(&["--request", "9"]), 0);
    assert_eq!(explain(&["--worst", "cost", "--vs", "single", "--format", "otlp"]), 0);
    assert_eq!(explain(&[]), 2);
    assert_eq!(explain(&["--request", "9", "--failed"]), 2);
    assert_eq!(explain(&["--request", "999999999"]), 2);
}
