//! The program as people run it: what it prints, where, and with which exit code.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// A small scenario: two targets, the first of which fails a third of the time for a while.
const SCENARIO: &str = include_str!("files/cli/small.yaml");

fn windtunnel() -> Command {
    Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"))
}

/// A folder with the small scenario in it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.yaml"), SCENARIO).unwrap();
    folder
}

fn in_folder(folder: &TempDir, words: &[&str]) -> std::process::Output {
    windtunnel().current_dir(folder.path()).args(words).output().unwrap()
}

fn code(folder: &TempDir, words: &[&str]) -> i32 {
    in_folder(folder, words).status.code().expect("it ends by itself")
}

const COMPARE: [&str; 8] =
    ["compare", "small.yaml", "--policy", "single", "--policy", "fast-failover", "--worlds", "4"];

fn compare(folder: &TempDir, more: &[&str]) -> std::process::Output {
    in_folder(folder, &[&COMPARE, more].concat())
}

fn json(folder: &TempDir, more: &[&str]) -> Value {
    let output = compare(folder, &[&["--format", "json"], more].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!("{error}: {}", String::from_utf8_lossy(&output.stderr));
    })
}

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
fn one_world_leaves_gates_undecided() {
    let words = ["run", "small.yaml", "--gate", "success >= 10%"];
    assert_eq!(code(&folder(), &words), 3);
}

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
fn outputs_are_whole_files() {
    let folder = folder();
    fs::write(folder.path().join("report.json"), "old").unwrap();
    let words = ["--format", "json", "--out", "report.json", "--ledger", "rows.csv"];
    let more = ["--timeline", "time.csv", "--plot", "chart.svg", "--plot-measures", "measures.svg"];
    let output = compare(&folder, &[&words[..], &more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.is_empty());
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(serde_json::from_str::<Value>(&read("report.json")).is_ok());
    let header = windtunnel::report::LEDGER_COLUMNS.join(",");
    assert_eq!(read("rows.csv").lines().next(), Some(header.as_str()));
    let header = windtunnel::report::TIMELINE_COLUMNS.join(",");
    assert_eq!(read("time.csv").lines().next(), Some(header.as_str()));
    assert!(read("chart.svg").starts_with("<svg"));
    let measures = read("measures.svg");
    for axis in ["answered (%)", "sent per request", "mean latency (s)", "cost per 1,000 ($)"] {
        assert!(measures.starts_with("<svg") && measures.contains(axis), "{axis}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 6, "no leftovers");
}

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
    let bad = include_str!("drills/bad/primary-down.yaml");
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

#[test]
fn png_charts_are_pictures() {
    let folder = folder();
    assert_eq!(compare(&folder, &["--quiet", "--plot", "chart.png"]).stdout, b"");
    let bytes = fs::read(folder.path().join("chart.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
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

#[test]
fn a_reader_that_leaves_is_no_mistake() {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let mut child = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"))
        .args(["schema", "scenario"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Closes the pipe at once, as `head -c 0` does.
    drop(child.stdout.take());
    let mut message = String::new();
    child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(message, "");
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
fn no_output_takes_the_place_of_a_file_in_use() {
    let folder = folder();
    let at = |name: &str| folder.path().join(name);
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/");
    for name in ["traced.yaml", "plain-card.yaml", "plain-trace.csv", "plain-policy.yaml"] {
        fs::copy(format!("{files}{name}"), at(name)).unwrap();
    }
    fs::create_dir(at("deep")).unwrap();
    let mut cases = vec![
        (vec!["run", "small.yaml", "--out", "small.yaml"], "--out would overwrite it"),
        (vec!["run", "small.yaml", "--out", "deep/../small.yaml"], "--out would overwrite it"),
        (vec!["run", "traced.yaml", "--out", "plain-card.yaml"], "--out would overwrite it"),
        (vec!["run", "traced.yaml", "--ledger", "plain-trace.csv"], "--ledger would overwrite it"),
        (
            vec!["run", "small.yaml", "-p", "plain-policy.yaml", "-o", "plain-policy.yaml"],
            "--out would overwrite it",
        ),
        (
            vec!["compare", "small.yaml", "-p", "single", "-p", "plain-policy.yaml", "-o"]
                .into_iter()
                .chain(["./plain-policy.yaml"])
                .collect(),
            "--out would overwrite it",
        ),
        (
            vec!["run", "small.yaml", "--ledger", "new.csv", "--timeline", "./deep/../new.csv"],
            "is to be written by --ledger and by --timeline",
        ),
        (
            vec!["profile", "plain-trace.csv", "--layout", "azure2023", "-o", "plain-trace.csv"],
            "--out would overwrite it",
        ),
    ];
    #[cfg(unix)]
    {
        use std::os::unix::fs::symlink;
        symlink("small.yaml", at("link.txt")).unwrap();
        symlink("none.csv", at("dangling.csv")).unwrap();
        fs::hard_link(at("small.yaml"), at("hard.txt")).unwrap();
        cases.push((vec!["run", "small.yaml", "-o", "link.txt"], "--out would overwrite it"));
        cases.push((vec!["run", "small.yaml", "-o", "hard.txt"], "--out would overwrite it"));
        cases.push((
            vec!["run", "small.yaml", "--out", "none.csv", "--ledger", "dangling.csv"],
            "is to be written by --out and by --ledger",
        ));
    }
    for (words, wanted) in cases {
        let output = in_folder(&folder, &words);
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(message.contains(wanted), "{words:?}: {message}");
    }
    assert_eq!(fs::read_to_string(at("small.yaml")).unwrap(), SCENARIO);
    // A card of a shipped file's name is no file here.
    assert_eq!(code(&folder, &["run", "small.yaml", "--out", "openai-gpt-4o"]), 0);
}

#[test]
fn shipped_files_are_checked_by_name() {
    let output = in_folder(&folder(), &["check", "small.yaml", "steady", "conservative"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "3 of 3 files are good\n");
    assert_eq!(code(&folder(), &["check", "stedy"]), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_a_mistake() {
    let folder = folder();
    for words in [&["list"][..], &["run", "small.yaml"], &["check", "small.yaml"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"));
        let output = program.current_dir(folder.path()).args(words).stdout(full).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
        assert!(message.contains("error: standard output: cannot be written"), "{message}");
    }
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
