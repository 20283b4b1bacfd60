//! Files and standard output: whole, never over one that is in use.

use std::fs;

use serde_json::Value;

use super::{SCENARIO, code, compare, folder, in_folder};

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
fn png_charts_are_pictures() {
    let folder = folder();
    assert_eq!(compare(&folder, &["--quiet", "--plot", "chart.png"]).stdout, b"");
    let bytes = fs::read(folder.path().join("chart.png")).unwrap();
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n"));
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

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_changes_no_exit_code() {
    let folder = folder();
    for words in [&["check", "none.yaml"][..], &["run", "none.yaml"], &["compare", "none.yaml"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin!("windtunnel"));
        let status = program.current_dir(folder.path()).args(words).stderr(full).status().unwrap();
        assert_eq!(status.code(), Some(2), "{words:?}");
    }
}

/// A document is the same wherever it goes, and whatever else is written.
#[test]
fn a_document_is_the_same_on_standard_output_and_in_a_file() {
    let folder = folder();
    let words = ["run", "small.yaml", "--format", "markdown"];
    let alone = in_folder(&folder, &words).stdout;
    let beside = in_folder(&folder, &[&words[..], &["--report", "page.md"]].concat()).stdout;
    let file = fs::read(folder.path().join("page.md")).unwrap();
    let without_command = |text: &[u8]| {
        let text = String::from_utf8(text.to_vec()).unwrap();
        let lines = text.lines().filter(|line| !line.contains("windtunnel run"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without_command(&alone), without_command(&beside));
    assert_eq!(without_command(&alone), without_command(&file));
}

/// By a shell's limit of one block on files, and on a device that is always full.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_whole_is_told_and_leaves_nothing() {
    use std::process::Command;
    let folder = folder();
    let outputs = [
        "--out report.json --format json",
        "--ledger rows.csv",
        "--timeline time.csv",
        "--plot chart.svg",
        "--plot-measures measures.png",
        "--report report.html",
    ];
    for words in outputs {
        let name = words.split(' ').nth(1).expect("a file");
        let program = assert_cmd::cargo::cargo_bin!("windtunnel").display().to_string();
        let run = |before: &str, words: &str| {
            let line = format!(
                "{before} '{program}' compare small.yaml -p single -p conservative --worlds 2 --quiet {words}"
            );
            let mut shell = Command::new("sh");
            let output = shell.current_dir(folder.path()).args(["-c", &line]).output();
            let output = output.expect("a shell");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(2), "{line}: {message}");
            assert_eq!(message.lines().count(), 1, "{message}");
            message
        };
        let message = run("ulimit -f 1;", words);
        let wanted =
            format!("error: {name}: cannot be written: it grows beyond the limit on files");
        assert!(message.starts_with(&wanted), "{message}");
        let full = words.replacen(name, &format!("full-{name}"), 1);
        std::os::unix::fs::symlink("/dev/full", folder.path().join(format!("full-{name}")))
            .expect("a link");
        let message = run("", &full);
        assert!(message.contains("cannot be written: no space is left there"), "{message}");
        let links = fs::read_dir(folder.path()).unwrap().filter(|entry| {
            let leaf = entry.as_ref().expect("an entry").file_name();
            !leaf.to_string_lossy().starts_with("full-")
        });
        assert_eq!(links.count(), 1, "the scenario alone: {words}");
    }
}
