//! `compare`: differences, gates, splits and their formats.

use std::fs;

use serde_json::Value;

use super::{SCENARIO, code, compare, folder, json};

#[test]
fn json_keeps_its_shape() {
    let object = json(&folder(), &[]);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    insta::assert_debug_snapshot!(keys(&object), @r#"
    [
        "windtunnel",
        "scenario",
        "notes",
        "policies",
        "stickiness",
        "gates",
        "conclusion",
    ]
    "#);
    insta::assert_debug_snapshot!(keys(&object["windtunnel"]), @r#"
    [
        "version",
        "format",
        "seed",
        "worlds",
        "worlds_wanted",
        "resample",
        "intervals_cover",
        "scenario_hash",
        "policy_hashes",
    ]
    "#);
    let policy = &object["policies"][1];
    assert_eq!(keys(policy), ["name", "hash", "measures", "by_class", "differences"]);
    let success = &policy["measures"]["success"];
    assert_eq!(keys(success), ["value", "unit", "ci95", "n"]);
    assert_eq!(success["unit"], "fraction");
    assert_eq!(keys(&policy["by_class"]), ["chat"]);
    let difference = &policy["differences"]["success"];
    assert_eq!(keys(difference), ["difference", "ci95", "verdict", "correlation"]);
    assert_eq!(object["policies"][0]["differences"], serde_json::json!({}));
}

#[test]
fn gates_decide_the_exit_code() {
    let folder = folder();
    let gated = |gate: &str| compare(&folder, &["--gate", gate]).status.code().unwrap();
    assert_eq!(gated("success >= base"), 0);
    assert_eq!(gated("success <= base - 1pp"), 1);
    // Half-way into the gain's own uncertainty.
    let gain = &json(&folder, &[])["policies"][1]["differences"]["success"]["difference"];
    let points = 100.0 * gain.as_f64().unwrap();
    assert_eq!(gated(&format!("success >= base + {points:.4}pp")), 3);
    let both = compare(&folder, &["--gate", "success >= base", "--gate", "success <= 1%"]);
    assert_eq!(both.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&both.stdout).contains("FAILED"));
}

#[test]
fn one_world_leaves_gates_undecided() {
    let words = ["run", "small.yaml", "--gate", "success >= 10%"];
    assert_eq!(code(&folder(), &words), 3);
}

#[test]
fn a_split_shows_each_policy_beside_the_others_and_alone() {
    let folder = folder();
    let object = json(&folder, &["--split", "3:1", "--threads", "1"]);
    let again = json(&folder, &["--split", "3:1", "--threads", "2"]);
    assert_eq!(object, again, "threads change nothing");
    assert_eq!(object["split"]["parts"], "3 : 1");
    let arms = object["split"]["arms"].as_array().unwrap();
    let requests = |value: &Value| value["success"]["n"].as_u64().unwrap();
    let all = requests(&object["policies"][0]["measures"]);
    assert_eq!(arms.iter().map(|arm| requests(&arm["beside"])).sum::<u64>(), all);
    for (arm, policy) in arms.iter().zip(object["policies"].as_array().unwrap()) {
        assert_eq!(arm["policy"], policy["name"]);
        assert_eq!(requests(&arm["beside"]), requests(&arm["same_requests"]));
        let alone = &arm["alone"]["success"];
        assert_eq!(alone, &policy["measures"]["success"], "alone is what `compare` says");
        let share = |of: &Value, target: &str| {
            of[format!("target_share.{target}")]["value"].as_f64().unwrap()
        };
        let targets = ["near", "far"];
        for target in targets {
            assert_eq!(share(&arm["alone"], target), share(&policy["measures"], target));
        }
        for part in ["beside", "same_requests"] {
            let all: f64 = targets.iter().map(|target| share(&arm[part], target)).sum();
            assert!((all - 1.0).abs() < 1e-9, "{part}: {all}");
        }
        let [here, there] = ["beside", "same_requests"].map(|part| &arm[part]["success"]["value"]);
        let unseen = there.as_f64().unwrap() - here.as_f64().unwrap();
        assert!((arm["unseen"]["success"]["difference"].as_f64().unwrap() - unseen).abs() < 1e-12);
    }
    assert_eq!(arms[1]["so"]["success"], object["policies"][1]["differences"]["success"]);
    let text = String::from_utf8(compare(&folder, &["--split", "3:1"]).stdout).unwrap();
    assert!(text.contains("Split 3 : 1: fast-failover on 25.0 % of the sessions"), "{text}");
    assert!(text.contains("`fast-failover` on 25.0 % of the sessions answers"), "{text}");
    let whole = json(&folder, &[]);
    assert!(whole.get("split").is_none());
    assert_eq!(whole["policies"], object["policies"], "counting by arms changes no figure");
}

#[test]
fn csv_and_json_say_the_same_of_tenants() {
    let folder = folder();
    let tenants = format!("{SCENARIO}tenants: {{large: {{share: 80%}}, small: {{share: 20%}}}}\n");
    fs::write(folder.path().join("small.yaml"), tenants).unwrap();
    let object = json(&folder, &["--threads", "1"]);
    let csv = compare(&folder, &["--threads", "1", "--format", "csv"]).stdout;
    let rows: Vec<std::collections::BTreeMap<String, String>> =
        csv::Reader::from_reader(csv.as_slice()).deserialize().map(Result::unwrap).collect();
    for policy in object["policies"].as_array().unwrap() {
        for tenant in ["large", "small"] {
            let mut of = rows.iter().filter(|row| {
                row["policy"] == policy["name"]
                    && row["tenant"] == tenant
                    && row["measure"] == "success"
            });
            let (row, figure) = (of.next().unwrap(), &policy["by_tenant"][tenant]["success"]);
            assert_eq!(row["value"].parse().ok(), figure["value"].as_f64());
            assert_eq!(row["n"].parse().ok(), figure["n"].as_u64());
            assert_eq!((&*row["class"], &*row["difference"], of.next()), ("", "", None));
        }
    }
}

#[test]
fn threads_change_no_byte() {
    let folder = folder();
    let bytes = |threads: &str| {
        let words = ["--format", "json", "--threads", threads, "--ledger", "rows.csv"];
        let output = compare(&folder, &words).stdout;
        (output, fs::read(folder.path().join("rows.csv")).unwrap())
    };
    let one = bytes("1");
    assert!(!one.0.is_empty() && one.1.len() > 10_000);
    assert!(bytes("2") == one);
    assert!(bytes("8") == one);
}
