//! `run`: the answer, figures that agree, and what an interrupt leaves.

use std::fs;

use serde_json::Value;

use super::{SCENARIO, folder, in_folder, json};

#[test]
fn run_prints_the_answer_first() {
    let folder = folder();
    let output = in_folder(&folder, &["run", "small.yaml", "--policy", "fast-failover"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let at = |word: &str| text.find(word).unwrap_or_else(|| panic!("no {word} in\n{text}"));
    let order = ["windtunnel", "seed", "raw_success", "│ success", "recovered_by_retry"];
    let rest = ["attempts_per_request", "added_latency_p50", "cost_per_1k", "│ no_recovery"];
    let places: Vec<usize> = order.iter().chain(&rest).map(|word| at(word)).collect();
    assert!(places.is_sorted(), "{places:?}\n{text}");
    assert!(text.ends_with('\n') && output.stderr.is_empty());
    assert!(!text.contains('\u{1b}'), "no colour where there is no terminal");
}

#[test]
fn figures_agree_with_one_another() {
    let folder = folder();
    let ledger = folder.path().join("rows.jsonl");
    let object = json(&folder, &["--ledger", "rows.jsonl"]);
    let rows: Vec<Value> = fs::read_to_string(ledger)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for policy in object["policies"].as_array().unwrap() {
        let figure = |name: &str| policy["measures"][name]["value"].as_f64().unwrap();
        let requests = policy["measures"]["success"]["n"].as_f64().unwrap();
        let measured = || {
            let own = |row: &&Value| row["policy"] == policy["name"] && row["measured"] == true;
            rows.iter().filter(own)
        };
        // One row of each request says what became of it.
        let firsts = || measured().filter(|row| row["attempt"].as_u64().unwrap() <= 1);
        let count = |rows: Vec<&Value>| rows.len() as f64 / requests;
        assert_eq!(firsts().count() as f64, requests);
        // Reading JSON may cost a last bit.
        let same = |x: f64, y: f64| assert!((x - y).abs() < 1e-12, "{x} and {y}");
        let answered = firsts().filter(|row| row["request_answered"] == true).collect();
        same(count(answered), figure("success"));
        let sent = measured().filter(|row| row["sent"] == true).collect();
        same(count(sent), figure("attempts_per_request"));
        let cost: f64 = measured().map(|row| row["cost_usd"].as_f64().unwrap_or(0.0)).sum();
        same(cost / requests, figure("cost_per_request"));
        let sum: f64 = ["raw_success", "recovered_by_retry", "recovered_by_failover"]
            .into_iter()
            .chain(["recovered_by_substitution"])
            .map(figure)
            .sum();
        same(sum, figure("success"));
    }
}

#[test]
fn the_yardstick_is_the_shipped_policy_whatever_lies_about() {
    let folder = folder();
    let run = ["run", "small.yaml", "--policy", "fast-failover", "--format", "json"];
    let before = in_folder(&folder, &run).stdout;
    fs::write(folder.path().join("single"), "attempts: {max: 3}\n").unwrap();
    assert!(!before.is_empty() && in_folder(&folder, &run).stdout == before);
}

#[cfg(unix)]
#[test]
fn an_interrupt_writes_what_is_complete() {
    for (signal, gates, expected) in
        [("-INT", &[][..], 130), ("-TERM", &[][..], 130), ("-INT", &["--gate", "success <= 1%"], 1)]
    {
        let folder = folder();
        let words = ["compare", "small.yaml", "--policy", "single", "--policy", "fast-failover"];
        let more =
            ["--worlds", "20000", "--ledger", "rows.csv", "-o", "r.json", "--format", "json"];
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"))
            .current_dir(folder.path())
            .args([&words[..], &more, gates].concat())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let rows = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().unwrap();
            name.starts_with(".rows.csv.") && entry.metadata().unwrap().len() > 0
        };
        // Rows are written once a world is complete.
        while !fs::read_dir(folder.path()).unwrap().any(|entry| rows(entry.unwrap())) {
            assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let pid = child.id().to_string();
        assert!(
            std::process::Command::new("kill").args([signal, &pid]).status().unwrap().success()
        );
        assert_eq!(child.wait().unwrap().code(), Some(expected), "{signal} {gates:?}");
        let report = fs::read_to_string(folder.path().join("r.json")).unwrap();
        let report: Value = serde_json::from_str(&report).unwrap();
        let worlds = report["windtunnel"]["worlds"].as_u64().unwrap();
        assert!((1..20_000).contains(&worlds), "{worlds}");
        assert_eq!(report["windtunnel"]["worlds_wanted"], 20_000);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3, "no leftovers");
    }
}

#[cfg(unix)]
#[test]
fn a_second_interrupt_ends_at_once_and_leaves_nothing() {
    use std::io::{BufRead, BufReader};
    let folder = folder();
    // A world of a month is never complete here.
    let month = SCENARIO.replacen("horizon: ", "horizon: 30d # ", 1);
    fs::write(folder.path().join("small.yaml"), month).unwrap();
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"))
        .current_dir(folder.path())
        .args(["run", "small.yaml", "--policy", "single", "--ledger", "rows.csv", "-o", "r.txt"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let entries = || fs::read_dir(folder.path()).unwrap().count();
    while entries() < 3 {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    let interrupt = || std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(interrupt().success());
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert!(said.contains("once more to end at once"), "{said}");
    assert!(interrupt().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(entries(), 1, "the scenario alone");
}
