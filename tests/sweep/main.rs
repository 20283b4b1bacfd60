//! Sweeps as people run them: the same rows at any number of threads, in one go, resumed, or in
//! shards; and what cannot be swept.

mod refused;

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use tempfile::TempDir;
use windtunnel::library::{load_policy, single};
use windtunnel::scenario::Scenario;
use windtunnel::space::{Method, Sampling, Space};
use windtunnel::sweep::{
    Aggregate, Goal, Objective, Row, Runner, Shard, Study, StudyOptions, Weighted,
};

/// A small scenario: two targets, the first of which fails a third of the time for a while.
const SCENARIO: &str = include_str!("../files/cli/small.yaml");
const SPACE: &str = "\
name: little
policy: fast-failover
vary:
  - field: attempts.max
    values: [1, 2, 3]
  - field: backoff.base
    range: {from: 50ms, to: 2s, scale: log}
    when: attempts.max > 1
  - choice: breaker
    options:
      - name: as-is
      - {name: wary, set: {'breakers[0].open_for': 60s, selection.strategy: least_in_flight}}
where:
  - backoff.base * attempts.max <= 5s
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.yaml"), SCENARIO).unwrap();
    fs::write(folder.path().join("little.yaml"), SPACE).unwrap();
    folder
}

fn windtunnel(folder: &TempDir, words: &[&str]) -> std::process::Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"));
    command.current_dir(folder.path()).args(words).output().unwrap()
}

const SWEEP: [&str; 8] =
    ["sweep", "small.yaml", "-s", "little.yaml", "--variants", "12", "--worlds", "3"];

fn good(folder: &TempDir, words: &[&str]) -> String {
    let output = windtunnel(folder, words);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{words:?}: {told}");
    String::from_utf8(output.stdout).unwrap()
}

fn sweep(folder: &TempDir, more: &[&str]) -> String {
    good(folder, &[&SWEEP, more].concat())
}

fn bytes(folder: &TempDir, name: &str) -> Vec<u8> {
    fs::read(folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn there(folder: &TempDir, name: &str) -> bool {
    Path::new(&folder.path().join(name)).exists()
}

#[test]
fn variants_that_are_one_policy_are_told_once() {
    let folder = folder();
    let words = [
        "sweep",
        "small.yaml",
        "--vary",
        "backoff.base=1s,1000ms",
        "--sample",
        "grid",
        "--dry-run",
    ];
    let output = windtunnel(&folder, &words);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    let note = "note: 1 of 2 variants: the policy is that of an earlier one, such as 2, which is 1 \
        whatever it says of `backoff.base`. They are run all the same; leave out values that mean the \
        same, and fields that a later entry sets again\n";
    assert_eq!(told, note);
    let quiet = windtunnel(&folder, &[&words[..], &["--quiet"]].concat());
    assert!(quiet.stderr.is_empty());
}

const FORMATS: [&str; 4] = ["csv", "jsonl", "parquet", "sweep"];

#[test]
fn any_number_of_threads_any_shards_and_any_interruption_give_the_same_bytes() {
    let folder = folder();
    let mut outs = Vec::new();
    for format in FORMATS {
        outs.extend(["--out".to_owned(), format!("one.{format}")]);
    }
    let outs: Vec<&str> = outs.iter().map(String::as_str).collect();
    let printed = sweep(&folder, &[&outs[..], &["--threads", "1"]].concat());

    let two: Vec<String> = outs.iter().map(|word| word.replace("one", "two")).collect();
    let two: Vec<&str> = two.iter().map(String::as_str).collect();
    assert_eq!(printed, sweep(&folder, &[&two[..], &["--threads", "2"]].concat()));

    for number in ["1", "2", "3"] {
        let (shard, out) = (format!("{number}/3"), format!("part-{number}.sweep"));
        let threads = if number == "2" { "2" } else { "1" };
        sweep(&folder, &["--shard", &shard, "--out", &out, "--threads", threads]);
    }
    let mut merge = vec!["merge", "part-3.sweep", "part-1.sweep", "part-2.sweep"];
    let merged: Vec<String> = outs.iter().map(|word| word.replace("one", "merged")).collect();
    merge.extend(merged.iter().map(String::as_str));
    assert_eq!(printed, good(&folder, &merge));

    // Cut in the middle of a row, as a machine that loses its power does.
    let whole = bytes(&folder, "one.sweep");
    let cut = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(5).unwrap().0 + 40;
    fs::write(folder.path().join("resumed.csv.sweep"), &whole[..cut]).unwrap();
    let more = ["--resume", "--out", "resumed.csv", "--out", "resumed.parquet", "--threads", "2"];
    assert_eq!(printed, sweep(&folder, &more));
    assert!(!there(&folder, "resumed.csv.sweep"), "of no use once the sweep is done");

    for format in FORMATS {
        let one = bytes(&folder, &format!("one.{format}"));
        for other in ["two", "merged"] {
            assert_eq!(one, bytes(&folder, &format!("{other}.{format}")), "{other}.{format}");
        }
    }
    assert_eq!(bytes(&folder, "one.csv"), bytes(&folder, "resumed.csv"));
    assert_eq!(bytes(&folder, "one.parquet"), bytes(&folder, "resumed.parquet"));
    // One that was lost before its first line was whole begins anew.
    fs::write(folder.path().join("early.sweep"), &whole[..100]).unwrap();
    sweep(&folder, &["--resume", "--out", "early.sweep"]);
    assert_eq!(whole, bytes(&folder, "early.sweep"));
    // A finished sweep may be resumed, which runs nothing.
    assert_eq!(printed, sweep(&folder, &["--resume", "--out", "one.sweep"]));
    assert_eq!(whole, bytes(&folder, "one.sweep"));
}

#[test]
fn rows_hold_what_compare_says_of_the_same_policy() {
    let folder = folder();
    sweep(&folder, &["--out", "rows.csv"]);
    let policy = good(&folder, &[&SWEEP[..], &["--show", "3"]].concat());
    fs::write(folder.path().join("three.yaml"), policy).unwrap();
    let words = ["compare", "small.yaml", "-p", "fast-failover", "-p", "three.yaml"];
    let compared = good(&folder, &[&words[..], &["--worlds", "3", "--format", "json"]].concat());
    let compared: serde_json::Value = serde_json::from_str(&compared).unwrap();

    let mut rows = csv::Reader::from_path(folder.path().join("rows.csv")).unwrap();
    let names = rows.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = rows.records().map(Result::unwrap).collect();
    let cell = |row: usize, name: &str| -> f64 {
        let at = names.iter().position(|known| known == name);
        rows[row][at.unwrap_or_else(|| panic!("no column {name} in {names:?}"))].parse().unwrap()
    };
    for (row, policy) in [(0, 0), (3, 1)] {
        for measure in ["success", "cost_per_1k", "attempts_per_request", "latency_p50"] {
            let told = &compared["policies"][policy]["measures"][measure];
            assert_eq!(Some(cell(row, measure)), told["value"].as_f64(), "{measure}: {told}");
            let low = cell(row, &format!("{measure}.ci95_lo"));
            assert_eq!(Some(low), told["ci95"][0].as_f64(), "{measure}: {told}");
        }
    }
    let told = &compared["policies"][1]["differences"]["success"];
    assert!((cell(3, "vs_base/success") - told["difference"].as_f64().unwrap()).abs() < 1e-12);
    assert_eq!(cell(0, "vs_base/success"), 0.0);
}

/// Rows of two scenarios, computed again by hand from each alone.
#[test]
fn several_scenarios_by_weight_and_by_their_worst() {
    let load = |text: &str| {
        let text = text.to_owned();
        let file = windtunnel::input::SourceFile { name: "x.yaml".into(), text, folder: None };
        Scenario::read(file).unwrap()
    };
    let hard = load(SCENARIO);
    let easy = load(&SCENARIO.replacen("name: small", "name: easy", 1).replace("33%", "1%"));
    assert_ne!(hard.file, easy.file);
    let rows = |scenarios: &[(&Scenario, f64)], score: Aggregate| -> Vec<Row> {
        let space = Space::of_arguments(&["attempts.max=1..3".into()]).unwrap();
        let space = space.around(&load_policy("fast-failover").unwrap()).unwrap();
        let options = StudyOptions {
            sampling: Sampling { method: Method::Grid, count: 0, seed: 1 },
            seed: 1,
            worlds: 3,
            resample: false,
            objectives: vec![Objective { measure: "success".into(), goal: Goal::Most }],
            score,
            shard: Shard::WHOLE,
        };
        let weighted = scenarios.iter().map(|&(scenario, weight)| Weighted { scenario, weight });
        let study = Study::new(weighted.collect(), space, &options).unwrap();
        let runner = Runner::new(&study, &single().unwrap()).unwrap();
        (0..=study.header.variants).map(|number| runner.row(number)).collect()
    };
    let score = |row: &Row| row.figures[row.figures.len() - 2].value().unwrap();
    let alone = |scenario: &Scenario| rows(&[(scenario, 1.0)], Aggregate::Mean);
    let (hard_rows, easy_rows) = (alone(&hard), alone(&easy));
    let both = [(&hard, 1.0), (&easy, 3.0)];
    let (weighted, worst) = (rows(&both, Aggregate::Mean), rows(&both, Aggregate::Worst));
    for number in 0..4 {
        let (h, e) = (score(&hard_rows[number]), score(&easy_rows[number]));
        assert!(h < e, "the hard one is harder: {h} and {e}");
        assert!((score(&weighted[number]) - (h + 3.0 * e) / 4.0).abs() < 1e-12);
        assert_eq!(score(&worst[number]), h);
        // The interval of the worst is that of the scenario it is, which is alone the hard one.
        let interval = |row: &Row| row.figures[row.figures.len() - 2].ci95();
        assert_eq!(interval(&worst[number]), interval(&hard_rows[number]));
    }
}

#[test]
fn what_is_fitted_to_one_incident_is_shown() {
    let folder = folder();
    let easy = SCENARIO.replacen("name: small", "name: easy", 1).replace("33%", "1%");
    fs::write(folder.path().join("easy.yaml"), easy).unwrap();
    let words = ["sweep", "small.yaml", "easy.yaml=3", "--vary", "attempts.max=1..3", "--robust"];
    let words = [&words[..], &["--sample", "grid", "--worlds", "2", "--out", "rows.csv"]].concat();
    let told = good(&folder, &words);
    assert!(told.contains("each in its worst scenario"), "{told}");
    for row in ["best in small", "best in easy", "best by worst", "base"] {
        assert!(told.contains(&format!("│ {row} ")), "no row {row:?} in\n{told}");
    }
    let rows = String::from_utf8(bytes(&folder, "rows.csv")).unwrap();
    let names = rows.lines().next().unwrap();
    for column in ["small/success", "easy/success", "weighted/success", "worst/success"] {
        assert!(names.split(',').any(|name| name == column), "no {column} in {names}");
    }
}

#[test]
fn the_table_as_people_see_it() {
    let folder = folder();
    insta::assert_snapshot!("table", sweep(&folder, &[]));
}

#[test]
fn an_objective_without_a_value_is_told_and_nothing_is_best_in_it() {
    let folder = folder();
    // Too few requests for a quantile so far out, in two small worlds.
    let words = ["--objective", "ttft_p999", "--objective", "success", "--report", "r.html"];
    let text = sweep(&folder, &words);
    let page = String::from_utf8(bytes(&folder, "r.html")).unwrap();
    assert!(page.contains("ttft_p999 has no value for "), "the document says so, too");
    assert!(text.contains("ttft_p999 has no value for "), "{text}");
    assert!(text.contains("Pareto front: 0 of"), "{text}");
    assert!(text.contains("No policy has a value for every objective."), "{text}");
    assert!(!text.contains("Nothing beats these"), "{text}");
}

#[test]
fn charts_are_drawn() {
    let folder = folder();
    sweep(&folder, &["--plot", "charts", "--quiet"]);
    for chart in ["front-success-cost_per_success", "effects-success"] {
        let png = bytes(&folder, &format!("charts/{chart}.png"));
        assert!(png.starts_with(b"\x89PNG") && png.len() > 10_000, "{chart}");
        let svg = String::from_utf8(bytes(&folder, &format!("charts/{chart}.svg"))).unwrap();
        assert!(svg.contains("<svg") && svg.contains("success (%)"), "{chart}");
    }
}

#[test]
fn charts_are_named_and_those_without_values_are_not_drawn() {
    let folder = folder();
    let words = ["--objective", "success", "--objective", "ttft_p999", "--plot", "charts"];
    let output = windtunnel(&folder, &[&SWEEP[..], &words].concat());
    assert!(output.status.success());
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("charts: effects-success in charts, each as SVG and PNG\n"), "{told}");
    let why = "charts: no front-success-ttft_p999: no policy has a value for ttft_p999\n";
    assert!(told.contains(why), "{told}");
    assert!(!folder.path().join("charts/front-success-ttft_p999.svg").exists());
}

#[test]
fn a_dry_run_and_one_variant_run_nothing() {
    let folder = folder();
    let told = sweep(&folder, &["--dry-run"]);
    assert!(told.contains("variants of `fast-failover`: 12 points"), "{told}");
    let shown = sweep(&folder, &["--show", "2"]);
    assert!(shown.contains("name: fast-failover-2\n"), "{shown}");
    fs::write(folder.path().join("two.yaml"), &shown).unwrap();
    good(&folder, &["check", "two.yaml"]);
    good(&folder, &["check", "little.yaml"]);
}

#[test]
fn the_example_in_the_documentation_is_a_space() {
    let text = include_str!("../../docs/sweep.md");
    let example = text.split("```yaml space\n").nth(1).and_then(|rest| rest.split("```").next());
    let folder = folder();
    fs::write(folder.path().join("example.yaml"), example.expect("an example")).unwrap();
    let told = good(&folder, &["sweep", "small.yaml", "-s", "example.yaml", "--dry-run"]);
    assert!(told.contains("all are good"), "{told}");
}

#[test]
fn the_recipes_in_the_documentation_run_every_shard_once() {
    let text = include_str!("../../docs/sweep.md");
    let block = |fence: &str| {
        let blocks = text.split(fence).skip(1).filter_map(|rest| rest.split("```").next());
        blocks.collect::<Vec<&str>>()
    };
    let jobs = block("```yaml\n");
    assert_eq!(jobs.len(), 1, "each is held against something");
    let job: serde_json::Value = serde_saphyr::from_str(jobs[0]).expect("YAML");
    let (spec, pod) = (&job["spec"], &job["spec"]["template"]["spec"]);
    assert_eq!((&job["kind"], &spec["completionMode"]), (&"Job".into(), &"Indexed".into()));
    // Kubernetes refuses a limit for each index beside any other policy.
    assert_eq!(pod["restartPolicy"], "Never");
    assert!(spec["backoffLimitPerIndex"].is_number() && spec["backoffLimit"].is_null());
    let shards = spec["completions"].as_u64().expect("a number");
    let container = &pod["containers"][0];
    let command = container["args"][0].as_str().expect("a command");
    assert!(command.contains(&format!("--shard $shard/{shards} ")), "{command}");
    assert!(command.contains("--resume") && container["command"][0] == "sh", "{command}");
    let image = block("```dockerfile\n");
    let user = pod["securityContext"]["runAsUser"].as_u64().expect("a user");
    assert!(image.len() == 1 && image[0].contains(&format!("USER {user}:{user}\n")), "{image:?}");
    let slurm = block("```sh\n").into_iter().find(|text| text.contains("#SBATCH")).expect("one");
    for part in [format!("--array=1-{shards}\n"), format!("_TASK_ID/{shards}\""), "--resume".into()]
    {
        assert!(slurm.contains(&part), "{part} is not in\n{slurm}");
    }
}

#[test]
fn a_report_says_what_the_text_says() {
    let folder = folder();
    let space = SPACE.replace("as-is", "'<b>as-is</b>'");
    fs::write(folder.path().join("little.yaml"), space).unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let text = sweep(&folder, &["--report", "a.html", "--threads", "1"]);
    sweep(&folder, &["--report", "b.html", "--threads", "2", "--quiet"]);
    let html = read("a.html");
    assert!(html == read("b.html"), "the same bytes at any number of threads");
    assert!(html.contains("&lt;b&gt;as-is") && !html.contains("<b>as-is"), "names are no markup");

    sweep(&folder, &["--report", "a.md", "--out", "rows.sweep", "--quiet"]);
    let markdown = read("a.md");
    let command = "windtunnel sweep small.yaml --space little.yaml --sample sobol --variants 12 \
                   --sample-seed 1 --worlds 3 --seed 1 --report report.html";
    let parts = ["## What nothing beats", "## What matters", "What each field does to success"];
    for part in parts.into_iter().chain([command]) {
        assert!(markdown.contains(part), "{part} is not in\n{markdown}");
    }
    let figures: Vec<&str> =
        text.split(['│', '┆']).map(str::trim).filter(|cell| cell.contains('±')).collect();
    assert!(figures.len() >= 3, "{text}");
    for figure in figures {
        assert!(markdown.contains(figure), "{figure} is not in\n{markdown}");
    }

    // What was kept gives the same report, its command apart.
    good(&folder, &["merge", "rows.sweep", "--report", "merged.md", "--quiet"]);
    let merged = read("merged.md");
    let again = "windtunnel merge rows.sweep --report report.html";
    assert_eq!(merged, markdown.replace(command, again));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_at_once() {
    let folder = folder();
    for path in ["report.pdf", "no/such/folder/report.html", "small.yaml"] {
        let output = windtunnel(&folder, &[&SWEEP[..], &["--report", path]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}: {message}");
        assert!(message.starts_with("error: ") && message.contains(path), "{path}: {message}");
    }
    let shard = ["--shard", "1/2", "--out", "a.sweep", "--report", "a.html"];
    assert_eq!(windtunnel(&folder, &[&SWEEP[..], &shard].concat()).status.code(), Some(2));
}

#[test]
fn a_point_that_is_the_base_again_is_named_and_not_shown_twice() {
    let folder = folder();
    let words = ["sweep", "small.yaml", "--policy", "conservative", "--sample", "grid"];
    let more = ["--vary", "attempts.max=2..4", "--worlds", "2"];
    let output = windtunnel(&folder, &[&words[..], &more].concat());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // Three tries are what the base has.
    assert!(
        text.contains(" of 3 policies (3 variants and the base; #2 is the base again)"),
        "{text}"
    );
    let head = text.lines().find(|line| line.starts_with('│')).expect("a table");
    assert!(!head.contains("#2"), "{text}");
}
