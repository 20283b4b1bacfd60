//! Logs unlike what they are said to be, and what was done that no log says.

use std::fs;

use serde_json::Value;

use crate::honest::{LOG, ask, folder, json, log, named};
use crate::program::{good, windtunnel};

/// What operators took out answers nobody, under any policy, for as long as it was out.
#[test]
fn switches_that_were_thrown_hold_for_every_policy() {
    let folder = folder("0.004");
    let switches = "description: x\nswitches:\n  - {at: 10m, off: {targets: {target: east}}}\n  - {at: 20m, on: {targets: {target: east}}}\n";
    fs::write(folder.path().join("switches.yaml"), switches).expect("it can be written to");
    let told = json(&folder, ["one.yaml", "three.yaml"], &["--switches=switches.yaml"]);
    let success = |policy: &Value| named(&policy["figures"], "success")["value"].as_f64();
    for policy in told["policies"].as_array().expect("two policies") {
        // Ten of forty minutes.
        let success = success(policy).expect("a figure");
        assert!((0.65..=0.76).contains(&success), "{policy}");
    }
    let late = switches.replace("10m", "2h").replace("20m", "3h");
    fs::write(folder.path().join("switches.yaml"), late).expect("it can be written to");
    let words = ["what-if", "log.csv", "--columns", "map.yaml", "--switches=switches.yaml"];
    let output =
        windtunnel(&folder, &[&words[..], &["-p", "one.yaml", "-p", "three.yaml"]].concat());
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        error.contains("switches.yaml") && error.contains("is not before the horizon"),
        "{error}"
    );
}

/// What is too short for an interval is drawn without one, and what was packed is called so.
#[test]
fn a_short_log_is_drawn_and_a_packed_one_named() {
    let folder = folder("0.004");
    let short: String = log("0.004").lines().take(4).map(|line| format!("{line}\n")).collect();
    fs::write(folder.path().join("log.csv"), short).expect("it can be written to");
    ask(&folder, ["one.yaml", "three.yaml"], &["--plot=short.svg"]);
    let picture = fs::read_to_string(folder.path().join("short.svg")).expect("it was drawn");
    assert!(picture.contains("</svg>"));

    fs::write(folder.path().join("log.csv.gz"), [0x1f, 0x8b, 8, 0, 0])
        .expect("it can be written to");
    let words = ["fit", "log.csv.gz", "--out", "fitted"];
    let output = windtunnel(&folder, &words);
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("is packed (gzip)") && error.contains("gunzip --keep"), "{error}");
}

/// A column that holds no statuses is none of statuses, and without one no failure is seen.
#[test]
fn whether_a_call_failed_is_seen_or_said_not_to_be() {
    let folder = folder("0.004");
    let odd = log("0.004").replace(",503,", ",2548,");
    fs::write(folder.path().join("log.csv"), odd).expect("it can be written to");
    let text = good(&folder, &[&["fit", "--out", "odd"], &LOG[..]].concat());
    assert!(text.contains("40 rows cannot be used") && text.contains("status"), "{text}");

    fs::write(folder.path().join("log.csv"), log("0.004")).expect("it can be written to");
    let map = fs::read_to_string(folder.path().join("map.yaml")).expect("it was written");
    let blind = map.replace("status: status, ", "");
    assert_ne!(map, blind);
    fs::write(folder.path().join("map.yaml"), blind).expect("it can be written to");
    let text = good(&folder, &[&["fit", "--out", "blind"], &LOG[..]].concat());
    assert!(text.contains("whether a call failed is not seen"), "{text}");
}
