//! The program as people run it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const SMALL: &str = include_str!("../files/cli/small.yaml");

/// The small scenario for so long, with a minute of trouble and for half of all calls.
fn lasting(horizon: &str) -> String {
    let changes =
        [("11m", horizon), ("from: 3m, lasts: 3m", "from: 1m, lasts: 1m"), ("33%", "50%")];
    changes.iter().fold(SMALL.to_owned(), |text, (old, new)| {
        assert!(text.contains(old));
        text.replace(old, new)
    })
}

fn windtunnel(folder: &TempDir, words: &[&str]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
    program.current_dir(folder.path()).args(words).output().expect("the program starts")
}

/// A folder with the small scenario, and one like it in which the trouble is another.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("small.yaml"), lasting("3m")).unwrap();
    let worse =
        lasting("3m").replace("name: small", "name: worse").replace("share: 50%", "share: 90%");
    fs::write(folder.path().join("worse.yaml"), worse).unwrap();
    fs::write(folder.path().join("tiny.yaml"), lasting("65s")).unwrap();
    folder
}

const TUNE: [&str; 15] = [
    "tune",
    "small.yaml",
    "--hold-out",
    "worse.yaml",
    "--policy",
    "sdk-default",
    "--vary",
    "attempts.allow_failover=true,false",
    "--vary",
    "attempts.max_same_target=1..3",
    "--maximize",
    "success",
    "--variants",
    "6",
    "--held-out-worlds=20",
];

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let folder = folder();
    let report = |threads: &str, format: &str| {
        let words = ["--threads", threads, "--format", format, "--recommend", "tuned.yaml"];
        let output = windtunnel(&folder, &[&TUNE[..], &words].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(errors.is_empty(), "{errors}");
        let file = fs::read(folder.path().join("tuned.yaml")).ok();
        (output.status.code(), output.stdout, file)
    };
    let one = report("1", "json");
    assert_eq!(report("2", "json"), one);
    assert_eq!(report("8", "json"), one);
    assert_eq!(report("2", "text").1, report("8", "text").1);
}

#[test]
fn a_report_says_what_the_text_says() {
    let folder = folder();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it was written");
    let written = |more: &[&str]| {
        let output = windtunnel(&folder, &[&TUNE[..], more].concat());
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{errors}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let text = written(&["--report", "a.html", "--threads", "1"]);
    written(&["--report", "b.html", "--threads", "2", "--quiet"]);
    assert!(read("a.html") == read("b.html"), "the same bytes at any number of threads");
    written(&["--report", "a.md", "--quiet"]);
    let markdown = read("a.md");
    let answer = text.lines().next().expect("an answer");
    let command = [
        "windtunnel tune small.yaml --policy sdk-default --vary 'attempts.allow_failover=true,false'",
        "--vary attempts.max_same_target=1..3 --maximize success --hold-out worse.yaml --variants 6",
        "--held-out-worlds 20 --seed 1 --report report.html",
    ]
    .join(" ");
    let parts = ["## What to change", "## Finalists", "Where the budget went", "+ attempts."];
    for part in parts.into_iter().chain([answer, &command]) {
        assert!(markdown.contains(part), "{part} is not in\n{markdown}");
    }
    // Every figure with an interval stands in the document, too.
    let cells = text.lines().filter(|line| line.starts_with('│')).flat_map(|line| line.split("  "));
    let cells = cells.map(|cell| cell.trim_matches(['│', ' ']));
    let figures: Vec<&str> = cells.filter(|cell| cell.contains('±')).collect();
    assert!(figures.len() > 10, "{figures:?}");
    for figure in figures {
        assert!(markdown.contains(figure), "{figure} is not in\n{markdown}");
    }
}

#[test]
fn charts_are_the_same_at_any_number_of_threads_and_mark_the_answer() {
    let folder = folder();
    let drawn = |threads: &str, to: &str| {
        let more = ["--threads", threads, "--plot", to, "--quiet"];
        let output = windtunnel(&folder, &[&TUNE[..], &more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let files = fs::read_dir(folder.path().join(to)).expect("it was made");
        let mut files: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
        files.sort();
        let read = |path: &PathBuf| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, fs::read(path).expect("it was written"))
        };
        files.iter().map(read).collect::<Vec<(String, Vec<u8>)>>()
    };
    let one = drawn("1", "one");
    assert!(one == drawn("2", "two"), "the same bytes");
    let svg = |name: &str| {
        let found = one.iter().find(|(file, _)| *file == format!("{name}.svg"));
        let (_, bytes) =
            found.unwrap_or_else(|| panic!("no {name}: {:?}", one.iter().map(|f| &f.0)));
        assert!(one.iter().any(|(file, _)| *file == format!("{name}.png")), "{name}");
        String::from_utf8(bytes.clone()).expect("UTF-8")
    };
    let front = svg("front-success-cost_per_1k");
    for part in
        ["20 held-out worlds", "base: sdk-default", "recommended: sdk-default-tuned", "success (%)"]
    {
        assert!(front.contains(part), "{part}");
    }
    assert!(svg("variants-success-cost_per_1k").contains("10 worlds"));
    assert!(svg("effects-success").contains("attempts.max_same_target"));
    assert!(svg("measures").contains("sdk-default-tuned"));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_at_once() {
    let folder = folder();
    for path in ["report.pdf", "no/such/folder/report.html", "small.yaml"] {
        let output = windtunnel(&folder, &[&TUNE[..], &["--report", path]].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{path}: {message}");
        assert!(message.starts_with("error: ") && message.contains(path), "{path}: {message}");
    }
}

#[test]
fn a_recommendation_is_a_policy_file_with_its_evidence() {
    let folder = folder();
    let words = ["--subject-to", "cost_per_1k <= base * 1.5", "--recommend", "tuned.yaml"];
    let output = windtunnel(&folder, &[&TUNE[..], &words, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let object: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(object["windtunnel"]["format"], 1);
    let file = fs::read_to_string(folder.path().join("tuned.yaml")).unwrap();
    assert!(file.starts_with("# Recommended: `sdk-default-tuned`: success +"), "{file}");
    assert!(file.contains("# windtunnel tune small.yaml --policy sdk-default --vary"), "{file}");
    let checked = windtunnel(&folder, &["check", "tuned.yaml", "--strict"]);
    assert_eq!(checked.status.code(), Some(0), "{}", String::from_utf8_lossy(&checked.stderr));
    // The file is the policy that was measured, but for its name and description.
    let run = windtunnel(&folder, &["run", "small.yaml", "-p", "tuned.yaml", "--format", "json"]);
    let run: Value = serde_json::from_slice(&run.stdout).expect("JSON");
    assert_eq!(run["policies"][0]["name"], "sdk-default-tuned");
    // Half the time the first target fails; the default is to fail over.
    assert!(!file.contains("\n  allow_failover: false"), "{file}");
    // The command of the file finds the same file again.
    let command = file.lines().skip_while(|line| !line.starts_with("# windtunnel tune"));
    let command: Vec<&str> =
        command.take_while(|line| line.starts_with('#')).map(|line| line[1..].trim()).collect();
    let command = command.join(" ").replace("windtunnel", env!("CARGO_BIN_EXE_windtunnel"));
    let again = Command::new("sh")
        .current_dir(folder.path())
        .args(["-c", &format!("{command} --recommend again.yaml --quiet")])
        .output()
        .expect("a shell");
    assert_eq!(again.status.code(), Some(0), "{}", String::from_utf8_lossy(&again.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("again.yaml")).unwrap(), file);
}

#[test]
fn several_scenarios_count_by_mean_or_by_the_worst() {
    let folder = folder();
    let words = [
        "tune",
        "small.yaml",
        "worse.yaml",
        "--policy",
        "sdk-default",
        "--vary",
        "attempts.max=2..5",
        "--maximize",
        "success",
        "--variants",
        "3",
        "--held-out-worlds",
        "10",
        "--format",
        "json",
    ];
    let objective = |robust: &[&str]| {
        let output = windtunnel(&folder, &[&words[..], robust].concat());
        let object: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        object["base_held_out"]["objective"]["value"].as_f64().expect("a number")
    };
    let (mean, worst) = (objective(&[]), objective(&["--robust"]));
    assert!(worst < mean, "{worst} {mean}");
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let folder = folder();
    let vary = ["--vary", "attempts.max=1..5"];
    for (words, wanted) in [
        (vec!["small.yaml", "--minimize", "cost_per_1k"], "--space"),
        (vec!["--minimize", "cost_per_1k", vary[0], vary[1]], "SCENARIO"),
        (vec!["small.yaml", vary[0], vary[1]], "--minimize"),
        (
            vec!["small.yaml", vary[0], vary[1], "--minimize", "success", "--maximize", "success"],
            "cannot be used with",
        ),
        (
            vec!["small.yaml", vary[0], vary[1], "--minimize", "cost_per_1"],
            "did you mean `cost_per_1k`?",
        ),
        (
            vec![
                "small.yaml",
                vary[0],
                vary[1],
                "--minimize",
                "cost_per_1k",
                "--subject-to",
                "sucess >= 99%",
            ],
            "the nearest is `success`",
        ),
        (
            vec![
                "small.yaml",
                vary[0],
                vary[1],
                "--minimize",
                "cost_per_1k",
                "--subject-to",
                "success >= 99",
            ],
            "is a `%` missing?",
        ),
        (
            vec![
                "small.yaml",
                vary[0],
                vary[1],
                "--minimize",
                "cost_per_1k",
                "--subject-to",
                "added_latency_p99 <= 3",
            ],
            "`250ms`, `3s`",
        ),
        (
            vec![
                "small.yaml",
                vary[0],
                vary[1],
                "--minimize",
                "cost_per_1k",
                "--subject-to",
                "success >= 99%",
                "--subject-to",
                "success <= 98%",
            ],
            "nothing meets both",
        ),
        (
            vec!["small.yaml", "--vary", "attempts.max=3..3", "--minimize", "cost_per_1k"],
            "is not below",
        ),
        (
            vec!["small.yaml=2", vary[0], vary[1], "--minimize", "cost_per_1k"],
            "`tune` takes no weights, which `sweep` does: all scenarios count alike; write `small.yaml`",
        ),
        (
            vec!["small.yaml", "--vary", "attempts.max=0..3", "--minimize", "cost_per_1k"],
            "attempts.max: is 0 (with attempts.max 0); use 1 or more",
        ),
        (
            vec!["small.yaml", "--vary", "attempts.max=2", "--minimize", "cost_per_1k"],
            "one variant",
        ),
        (
            vec!["small.yaml", "--vary", "attempts.max=3", "--minimize", "cost_per_1k"],
            "no policy but the base",
        ),
        (
            vec!["small.yaml", "--vary", "atempts.max=3,4", "--minimize", "cost_per_1k"],
            "did you mean `attempts`?",
        ),
        (
            vec!["small.yaml", "small.yaml", vary[0], vary[1], "--minimize", "cost_per_1k"],
            "is given twice",
        ),
        (
            vec![
                "small.yaml",
                "--hold-out",
                "small.yaml",
                vary[0],
                vary[1],
                "--minimize",
                "cost_per_1k",
            ],
            "is given twice",
        ),
        (
            vec!["small.yaml", vary[0], vary[1], "--minimize", "cost_per_1k", "--budget", "many"],
            "500k, 60M or 2G",
        ),
        (
            vec!["small.yaml", vary[0], vary[1], "--minimize", "cost_per_1k", "--budget", "10k"],
            "give at least",
        ),
        (
            vec!["small.yaml", vary[0], vary[1], "--minimize", "duplicate_side_effects"],
            "has no value in `small`",
        ),
        (
            vec!["tiny.yaml", vary[0], vary[1], "--minimize", "latency_p90", "--variants", "8"],
            "take a lower quantile",
        ),
        (
            vec![
                "small.yaml",
                vary[0],
                vary[1],
                "--minimize",
                "cost_per_1k",
                "--policy",
                "single.yml",
                "--out",
                "small.yaml",
            ],
            "would overwrite it",
        ),
    ] {
        let output = windtunnel(&folder, &[&["tune"], &words[..]].concat());
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{words:?}: {error}");
        assert!(error.contains(wanted), "{words:?}: expected {wanted:?}, got\n{error}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    let kept = fs::read_to_string(folder.path().join("small.yaml")).unwrap();
    assert_eq!(kept, lasting("3m"));
}

#[test]
fn success_that_is_given_up_stands_next_to_the_answer() {
    let folder = folder();
    let cheapest = |more: &[&str]| {
        let words = ["tune", "steady", "--vary", "attempts.max=1..3", "--variants", "5"];
        let output = windtunnel(
            &folder,
            &[&words[..], &["--minimize", "cost_per_1k", "--held-out-worlds=20"], more].concat(),
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let alone = cheapest(&["--recommend", "cheap.yaml"]);
    let said = alone.lines().nth(1).unwrap();
    // A tenth of the first attempts fails there.
    assert!(said.starts_with("BUT fewer requests are answered: success -9."), "{alone}");
    let file = fs::read_to_string(folder.path().join("cheap.yaml")).unwrap();
    assert!(file.contains("BUT fewer requests are answered"), "{file}");
    let with = cheapest(&["--subject-to", "success >= 50%"]);
    assert!(with.starts_with("Recommended") && !with.contains("BUT fewer"), "{with}");
}

#[test]
fn a_folder_of_charts_that_cannot_be_made_is_refused_before_the_search() {
    let folder = folder();
    for (plot, wanted) in [
        ("tiny.yaml", "tiny.yaml: cannot be written: it is a file, and a folder is wanted"),
        ("tiny.yaml/charts", "tiny.yaml/charts: cannot be written"),
    ] {
        let words = ["--plot", plot, "--out", "found.txt", "--recommend", "tuned.yaml"];
        let output = windtunnel(&folder, &[&TUNE[..], &words].concat());
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(wanted), "{told}");
        for left in ["found.txt", "tuned.yaml"] {
            assert!(!folder.path().join(left).exists(), "{left} was written");
        }
    }
}
