//! Command lines that cannot be done.

use tempfile::TempDir;

use super::{C, FILES, P, S, T, windtunnel};

#[test]
fn command_lines_that_cannot_be_done() {
    let plain = format!("{FILES}/{S}");
    let folder = TempDir::new().expect("a folder");
    let inside = folder.path().join("report.txt").display().to_string();
    let (policy, detour) = (format!("{FILES}/{P}"), format!("{FILES}/../files/{P}"));
    let nowhere = folder.path().join("none/report.txt").display().to_string();
    for (args, wanted) in [
        (vec!["run", "nowhere.yaml"], "nowhere.yaml: no file and no shipped scenario"),
        (vec!["run", "./nowhere.yaml"], "./nowhere.yaml: no such file"),
        (vec!["run", "stedy"], "did you mean `steady`?"),
        (vec!["run", ""], "a scenario: has an empty name"),
        (vec!["run", FILES], "is a directory"),
        (vec!["run", &plain, "--policy", "conservativ"], "did you mean `conservative`?"),
        (
            vec!["run", &plain, "--policy", &plain],
            "looks like a scenario, where a policy is expected",
        ),
        (vec!["run", &plain, "--worlds", "0"], "--worlds"),
        (vec!["run", &plain, "--worlds", "-1"], "'-1' for '--worlds"),
        (
            vec!["run", &plain, "--out", "-"],
            "-: is no file here; leave `--out` away for standard output",
        ),
        (vec!["run", &plain, "--worlds", "99999999999"], "--worlds"),
        (vec!["run", &plain, "--threads", "0"], "--threads"),
        (vec!["run", &plain, "--seed", "-1"], "'-1'"),
        (
            vec!["run", &plain, "--seed=-1"],
            "expected a whole number from 0 to 18446744073709551615",
        ),
        (vec!["run", &plain, "--format", "xml"], "--format"),
        (vec!["run", &plain, "--out", &nowhere], "cannot be written: there is no such directory"),
        (vec!["run", &plain, "--out", FILES], "is a directory"),
        (vec!["run", &plain, "--gate", "sucess >= 99%"], "the nearest is `success`"),
        (vec!["run", &plain, "--gate", "success >= 99"], "is a `%` missing?"),
        (vec!["run", &plain, "--gate", ""], "--gate"),
        (vec!["run", &plain, "--gate", "success >= base"], "there is no base"),
        (vec!["run", "./nowhere.yaml", "--out", &inside], "no such file"),
        (vec!["compare", &plain], "names no policies to compare"),
        (vec!["compare", &plain, "--policy", "single", "--policy", "single"], "is given twice"),
        (
            vec!["compare", &plain, "--policy", &policy, "--policy", &detour],
            "which is given, too; leave one out",
        ),
        (vec!["run", &plain, "--gate", "success >= 101%"], "a share is at most 100%"),
        (vec!["run", &plain, "--gate", "cost_per_1k <= -$5"], "this measure is never below zero"),
        (
            vec!["sweep", &(plain.clone() + "=1e308"), "--vary", "attempts.max=1..2"],
            "a weight is a number",
        ),
        (vec!["merge", FILES], "is a directory"),
        (vec!["drill"], "required"),
        (vec!["drill", "conservativ"], "did you mean `conservative`?"),
        (vec!["drill", "nowhere.yaml"], "nowhere.yaml: no file and no shipped policy"),
        (vec!["drill", &plain], "looks like a scenario, where a policy is expected"),
        (vec!["drill", FILES], "is a directory"),
        (vec!["drill", "single", "single"], "is given twice"),
        (vec!["drill", "single", "--drill", "breker"], "did you mean `breaker`?"),
        (vec!["drill", "single", "--drill", "14"], "they are numbered from 1 to 13"),
        (vec!["drill", "single", "--drill", ""], "no drill is called ``"),
        (vec!["drill", "single", "--seed=-1"], "expected a whole number"),
        (vec!["drill", "single", "--format", "csv"], "--format"),
        (vec!["drill", "single", "--out", &nowhere], "there is no such directory"),
        (vec!["drill", "single", "--out", FILES], "is a directory"),
        (vec!["drill", "nowhere.yaml", "--out", &inside], "no file and no shipped policy"),
        (vec!["check"], "required"),
        (vec!["schema", "trace"], "trace"),
        (vec!["profile", &format!("{FILES}/{T}"), "--layout", "azure", "--out", &inside], "azure"),
    ] {
        let (code, error) = windtunnel(&args);
        assert_eq!(code, Some(2), "{args:?}: {error}");
        assert!(error.contains(wanted), "{args:?}: expected {wanted:?}, got\n{error}");
        assert_eq!(error.matches("error: ").count(), 1, "{args:?}: {error}");
        assert!(!folder.path().join("report.txt").exists(), "{args:?} left a file behind");
    }
}

/// A file in the place of another kind of file is called what it is, with what takes it.
#[test]
fn files_in_the_place_of_others() {
    let (scenario, policy, card) =
        (format!("{FILES}/{S}"), format!("{FILES}/{P}"), format!("{FILES}/{C}"));
    let folder = TempDir::new().expect("a folder");
    let written = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writes");
        path.display().to_string()
    };
    let space =
        written("space.yaml", "vary:\n  - {field: attempts.max, range: {from: 1, to: 3}}\n");
    let switches = written("switches.yaml", "switches: [{at: 1s, off: recovery}]\n");
    let columns = written("columns.yaml", "columns: {start: t}\ntime_unit: ms\n");
    let rows = written("rows.csv", "world,policy,request\n0,a,1\n");
    let report = written("report.html", "<!doctype html>\n<title>x</title>\n");
    let nested = written("nested.yaml", &std::fs::read_to_string(&scenario).expect("it is there"));
    let broken = std::fs::read_to_string(&nested).expect("it is there");
    written("nested.yaml", &broken.replace("card: plain-card.yaml", &format!("card: {policy}")));
    std::fs::create_dir(folder.path().join("fitted")).expect("a folder");
    let fitted = folder.path().join("fitted").display().to_string();
    std::fs::write(format!("{fitted}/fitted.yaml"), "name: x\n").expect("writes");
    for (args, wanted) in [
        (
            vec!["run", &policy],
            "looks like a policy, where a scenario is expected; a policy goes with `--policy`",
        ),
        (
            vec!["run", &card],
            "looks like a model card, where a scenario is expected; a scenario names it",
        ),
        (
            vec!["run", &space],
            "looks like a space, where a scenario is expected; `sweep` and `tune` take it with `--space`",
        ),
        (
            vec!["run", &rows],
            "looks like a table (CSV), where a scenario is expected; `fit` and `what-if`",
        ),
        (vec!["run", &report], "looks like an HTML report, where a scenario is expected"),
        (vec!["run", &nested], "looks like a policy, where a model card is expected"),
        (vec!["run", &fitted], "is a directory; name the scenario in it: `"),
        (
            vec!["run", &scenario, "--policy", &card],
            "looks like a model card, where a policy is expected",
        ),
        (
            vec!["run", &scenario, "--switches", &columns],
            "looks like a mapping of columns, where a file of kill switches is expected",
        ),
        (
            vec!["verify", &switches],
            "looks like a file of kill switches, where a policy is expected; `run` and `compare` take it with `--switches`",
        ),
        (
            vec!["sweep", &scenario, "--space", &policy],
            "looks like a policy, where a space is expected",
        ),
    ] {
        let (code, error) = windtunnel(&args);
        assert_eq!(code, Some(2), "{args:?}: {error}");
        assert!(error.contains(wanted), "{args:?}: expected {wanted:?}, got\n{error}");
        assert_eq!(error.lines().count(), 1, "{args:?}: {error}");
    }
}
