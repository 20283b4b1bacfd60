//! Command lines that cannot be done.

use tempfile::TempDir;

use super::{FILES, S, T, windtunnel};

#[test]
fn command_lines_that_cannot_be_done() {
    let plain = format!("{FILES}/{S}");
    let folder = TempDir::new().expect("a folder");
    let inside = folder.path().join("report.txt").display().to_string();
    let nowhere = folder.path().join("none/report.txt").display().to_string();
    for (args, wanted) in [
        (vec!["run", "nowhere.yaml"], "nowhere.yaml: no file and no shipped scenario"),
        (vec!["run", "./nowhere.yaml"], "./nowhere.yaml: no such file"),
        (vec!["run", "stedy"], "did you mean `steady`?"),
        (vec!["run", ""], "a scenario: has an empty name"),
        (vec!["run", FILES], "is a directory"),
        (vec!["run", &plain, "--policy", "conservativ"], "did you mean `conservative`?"),
        (vec!["run", &plain, "--policy", &plain], "unknown field"),
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
        (vec!["drill"], "required"),
        (vec!["drill", "conservativ"], "did you mean `conservative`?"),
        (vec!["drill", "nowhere.yaml"], "nowhere.yaml: no file and no shipped policy"),
        (vec!["drill", &plain], "unknown field"),
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
