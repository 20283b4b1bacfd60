//! `windtunnel drill` as people run it, and its document.

mod any_policy;
mod document;
#[path = "../common/random/mod.rs"]
mod random;

use std::fs;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Where the program is run: paths in what it prints are those it was given.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/drills");

fn drill(words: &[&str]) -> std::process::Output {
    let mut program = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"));
    program.current_dir(FOLDER).arg("drill").args(words).output().expect("it runs")
}

/// What it prints, where it exits with this code.
fn printed(code: i32, words: &[&str]) -> String {
    let output = drill(words);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {errors}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn bad(name: &str) -> String {
    format!("bad/{name}.yaml")
}

/// Version and hashes change for reasons of their own.
fn stable(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("windtunnel "));
    let bare = |line: &str| match line.strip_prefix("policy     ") {
        Some(named) => format!("policy     {}\n", named.split(' ').next().unwrap_or(named)),
        None => format!("{line}\n"),
    };
    lines.map(bare).collect()
}

#[test]
fn a_failure_is_told_with_its_rows() {
    let text = printed(1, &[&bad("late-primary"), "--drill", "late-primary", "--drill", "1"]);
    insta::assert_snapshot!(stable(&text));
}

#[test]
fn several_policies_make_a_matrix() {
    let text =
        printed(1, &["conservative", "fast-failover", "single", "sdk-default", "naive-retry"]);
    insta::assert_snapshot!(stable(&text));
}

#[test]
fn json_has_the_documented_shape() {
    let text = printed(1, &[&bad("breaker"), "-d", "10", "-d", "12", "--format", "json"]);
    let mut object: Value = serde_json::from_str(&text).expect("JSON");
    object["windtunnel"]["version"] = "the version".into();
    object["policies"][0]["hash"] = "its hash".into();
    for drill in object["policies"][0]["drills"].as_array_mut().expect("drills") {
        drill["scenario_hash"] = "its hash".into();
    }
    // One attempt shows what all hold.
    for rule in object["policies"][0]["drills"][0]["rules"].as_array_mut().expect("rules") {
        if let Some(attempts) = rule.pointer_mut("/breach/attempts").and_then(Value::as_array_mut) {
            attempts.truncate(1);
        }
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&object).expect("JSON"));
}

#[test]
fn defaults_pass_and_the_exit_code_says_so() {
    let text = printed(0, &["conservative", "fast-failover"]);
    assert!(!text.contains("FAIL") && !text.contains("n/a"), "{text}");
    assert!(text.contains("`fast-failover` fails none of 13 drills."), "{text}");
    // Nothing failed where nothing applied.
    let text = printed(0, &["single", "--drill", "primary-down"]);
    assert!(text.contains("n/a") && text.contains("allow_failover: false"), "{text}");
    assert_eq!(printed(1, &["naive-retry", "-d", "9", "--quiet"]), "");
}

#[test]
fn two_runs_give_the_same_bytes_and_a_seed_moves_them() {
    let once = |seed: &str| printed(1, &["naive-retry", "--format", "json", "--seed", seed]);
    assert_eq!(once("7"), once("7"));
    assert_ne!(once("7"), once("8"));
    let verdicts = |text: &str| -> Vec<Value> {
        let object: Value = serde_json::from_str(text).expect("JSON");
        let drills = object["policies"][0]["drills"].as_array().expect("drills").clone();
        drills.into_iter().map(|drill| drill["verdict"].clone()).collect()
    };
    assert_eq!(verdicts(&once("7")), verdicts(&once("8")), "luck decides no verdict");
}

#[test]
fn every_bad_policy_fails_by_name() {
    let mut names: Vec<String> = fs::read_dir(format!("{FOLDER}/bad"))
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .map(|path| path.file_stem().expect("a name").to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in names {
        let wanted = name.split('.').next().expect("a name").to_owned();
        let text = printed(1, &[&bad(&name), "--drill", &wanted]);
        assert!(text.contains(&format!("FAILS 1 of 1 drill: {wanted}")), "{name}: {text}");
    }
}

#[test]
fn a_drill_can_be_looked_at_as_a_scenario() {
    let folder = TempDir::new().expect("a folder");
    let rows = folder.path().join("rows.jsonl");
    let ran = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"))
        .args(["run", "late-primary", "--policy", "naive-retry", "--quiet", "--ledger"])
        .arg(&rows)
        .output();
    assert!(ran.expect("it runs").status.success());
    let text = printed(1, &["naive-retry", "-d", "late-primary", "--format", "json"]);
    let object: Value = serde_json::from_str(&text).expect("JSON");
    let shown = &object["policies"][0]["drills"][0]["rules"][0]["breach"]["attempts"][1];
    let rows = fs::read_to_string(rows).expect("a ledger");
    let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let mut same = rows.filter(|row| row["request"] == shown["request"] && row["attempt"] == 2);
    let row = same.next().expect("the ledger has the row");
    for (field, value) in shown.as_object().expect("an object") {
        let equal = match (row[field].as_f64(), value.as_f64()) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-9,
            _ => row[field] == *value,
        };
        assert!(equal, "{field}: {} and {value}", row[field]);
    }
}

#[test]
fn three_by_three_by_two_is_told_as_eighteen() {
    let text = printed(1, &[&bad("layered-loops"), "--drill", "13"]);
    assert!(text.contains("18 calls of providers for one thing a user wanted"), "{text}");
    assert!(text.contains("was sent 9 times, which made 9 attempts"), "{text}");
}

#[test]
fn what_it_tells_to_look_at_is_there() {
    let text = printed(1, &[&bad("breaker"), "-d", "breaker", "-d", "9", "--seed", "3"]);
    assert!(text.contains("attempts more"), "{text}");
    let commands = text.lines().filter_map(|line| line.strip_prefix("look       windtunnel "));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 2, "{text}");
    for command in commands {
        let mut program = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"));
        let words = command.split(' ');
        let output = program.current_dir(FOLDER).args(words).output().expect("it runs");
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && told.contains("seed 3"), "{command}: {told}");
        assert!(told.contains("sends attempt 1 to primary"), "{command}: {told}");
    }
}

#[test]
fn the_list_names_all() {
    let text = printed(0, &["--list"]);
    assert_eq!(text.lines().count(), 13);
    assert!(text.contains(" 4  broken-stream"), "{text}");
}

#[test]
fn a_report_in_a_file_is_whole_or_not_there() {
    let folder = TempDir::new().expect("a folder");
    let out = folder.path().join("report.txt");
    let path = out.display().to_string();
    assert_eq!(printed(1, &["naive-retry", "-d", "9", "--out", &path]), "");
    assert!(fs::read_to_string(&out).expect("it is there").contains("late-primary"));
    let policy = folder.path().join("mine.yaml");
    fs::write(&policy, "attempts: {max: 2}\n").expect("a file");
    let policy = policy.display().to_string();
    let refused = drill(&[&policy, "--out", &policy]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is read as"));
    assert_eq!(fs::read_to_string(&policy).expect("it is there"), "attempts: {max: 2}\n");
}
