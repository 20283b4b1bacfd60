//! What cannot be swept, merged or resumed: one message, exit code 2, nothing written.

use super::{SWEEP, folder, sweep, there, windtunnel};

fn refused(folder: &tempfile::TempDir, words: &[&str], wanted: &str) {
    let output = windtunnel(folder, words);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
    assert!(told.contains(wanted), "{words:?}: expected {wanted:?} in\n{told}");
    assert!(!told.contains("panicked"), "{told}");
}

#[test]
#[rustfmt::skip]
fn sweeps_that_cannot_be() {
    let folder = folder();
    for (more, wanted) in [
        (&["--vary", "backof.base=1s..2s"][..], "did you mean `backoff`?"),
        (&["--vary", "timeouts.first_token"], "has no `=`"),
        (&["--vary", "timeouts.first_token=2s..1s"], "`2s` is not below `1s`"),
        (&["--vary", "timeouts.first_token=1s..2s:fast"], "`fast` is neither"),
        (&["--vary", "envelope.min_useful=1s..9s:4000", "--sample", "grid"], "a grid needs a number of values of `backoff.base`"),
        (&["--vary", "attempts.max_same_target=0,1"], "attempts.max_same_target"),
        (&["--vary", "attempts.max_same_target=3..1"], "turn them round: from `1` to `3`"),
        (&["--vary", "attempts.max_same_target=1-3"], "is no range; write `1..3`"),
        (&["--vary", "timeouts.first_token=0s..2s:log"], "begin it above zero, such as at `1ms`, or leave out `log`"),
        (&["--vary", "attempts.max_same_target=1..1001", "--vary", "envelope.min_useful=2s..1s"], "--vary 'envelope.min_useful=2s..1s': `2s` is not below"),
        (&["--vary", "attempts.max_same_target=0..200"], "is 0 (with attempts.max_same_target 0)"),
        (&["--vary", "envelope.max_cost=$0..$9"], "envelope.max_cost: leaves no money at all (with envelope.max_cost $0.00)"),
        (&["--vary", "breakers[0].key=[provider]"], "put each list in brackets of its own"),
        (&["--objective", "succes"], "did you mean `success`?"),
        (&["--objective", "recovered_by_retry"], "write `min:recovered_by_retry` or `max:recovered_by_retry`"),
        (&["--objective", "success", "--objective", "success"], "is given twice"),
        (&["--robust"], "there is one scenario"),
        (&["--shard", "3/2", "--out", "x.sweep"], "expected a shard such as 2/8"),
        (&["--shard", "3/2", "--out", "x.sweep"], "name one of 1/2 to 2/2"),
        (&["--shard", "0/0", "--out", "x.sweep"], "write `--shard 1/8` for the first of eight parts"),
        (&["--shard", "1/2"], "a shard writes one file"),
        (&["--shard", "1/2", "--out", "x.csv"], "a shard alone makes no table"),
        (&["--resume"], "nothing was kept without `--out`"),
        (&["--out", "x.txt"], "end it in .csv, .jsonl, .parquet or .sweep"),
        (&["--out", "a.sweep", "--out", "b.sweep"], "name one `.sweep` file"),
        (&["--out", "nowhere/x.csv"], "there is no such directory"),
        (&["--out", "small.yaml"], "is read as"),
        (&["--plot", "small.yaml"], "it is a file, and a folder is wanted"),
        (&["--plot", "small.yaml/charts"], "small.yaml/charts: cannot be written"),
        (&["--show", "99"], "there is no variant 99"),
        (&["--policy", "no-such-policy"], "no shipped policy of this name"),
    ] {
        refused(&folder, &[&SWEEP, more].concat(), wanted);
    }
    refused(&folder, &["sweep", "small.yaml", "small.yaml", "--vary", "attempts.max=1..2"], "is given twice");
    refused(&folder, &["sweep", "small.yaml", "--vary", "attempts.max=1..2", "--variants", "70000"], "the Sobol sequence has 65536");
    refused(&folder, &["sweep", "small.yaml=0", "--vary", "attempts.max=1..2"], "write `small.yaml=2`, or `small.yaml`");
    refused(&folder, &["sweep", "small.yaml=high", "--vary", "attempts.max=1..2"], "`high` is no weight, which is a number; write `small.yaml=2`");
    let grid = ["sweep", "small.yaml", "--vary", "retry_budgets[0].kind.ratio.min_per_second=1..5000", "--sample", "grid"];
    refused(&folder, &grid, "of whole numbers it takes each, up to 1,000 of them; give the range a `count`");
    for left in ["x.sweep", "x.csv", "x.csv.sweep", "a.sweep", "b.sweep"] {
        assert!(!there(&folder, left), "{left} is left over");
    }
}

#[test]
fn shards_and_journals_that_do_not_fit() {
    let folder = folder();
    sweep(&folder, &["--shard", "1/2", "--out", "one.sweep"]);
    sweep(&folder, &["--shard", "2/2", "--out", "two.sweep"]);
    sweep(&folder, &["--shard", "2/2", "--out", "seed.sweep", "--seed", "2"]);
    sweep(&folder, &["--shard", "2/3", "--out", "third.sweep"]);
    let whole = std::fs::read_to_string(folder.path().join("two.sweep")).unwrap();
    let cut = whole.trim_end().rfind('\n').unwrap() + 1;
    std::fs::write(folder.path().join("short.sweep"), &whole[..cut]).unwrap();
    std::fs::write(folder.path().join("noise.sweep"), "{}\n").unwrap();
    std::fs::write(folder.path().join("empty.sweep"), "").unwrap();
    for (files, wanted) in [
        (&["one.sweep"][..], "shard 2 of 2 is missing"),
        (&["one.sweep", "one.sweep"], "is shard 1 of 2, as one.sweep is"),
        (&["one.sweep", "seed.sweep"], "`seed` is 2 here and 1 there"),
        (&["one.sweep", "third.sweep"], "is shard 2 of 3, but one.sweep is one of 2"),
        (&["one.sweep", "short.sweep"], "short.sweep: is not complete"),
        (&["noise.sweep"], "is no `.sweep` file of this version"),
        (&["empty.sweep"], "holds no header"),
        (&["missing.sweep"], "no such file"),
        (&["small.yaml"], "is no `.sweep` file of this version"),
    ] {
        let words = [&["merge"], files, &["--out", "merged.csv"]].concat();
        refused(&folder, &words, wanted);
        assert!(!there(&folder, "merged.csv"), "{files:?}");
    }
    let again = |more: &[&str], wanted| refused(&folder, &[&SWEEP, more].concat(), wanted);
    again(&["--out", "one.sweep"], "go on with it by `--resume`, or remove it");
    again(&["--out", "one.sweep", "--resume"], "is shard 1 of 2");
    again(
        &["--out", "one.sweep", "--resume", "--shard", "1/2", "--seed", "3"],
        "`seed` is 3 here and 1 there",
    );
}

#[test]
fn lines_that_were_edited_are_refused_with_their_place() {
    let folder = folder();
    sweep(&folder, &["--shard", "1/2", "--out", "one.sweep"]);
    sweep(&folder, &["--shard", "2/2", "--out", "two.sweep"]);
    sweep(&folder, &["--shard", "2/2", "--out", "seed.sweep", "--seed", "2"]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let (whole, other) = (read("two.sweep"), read("seed.sweep"));
    let lines: Vec<&str> = whole.lines().collect();
    let edited = |number: usize, text: &str| {
        let mut lines = lines.clone();
        lines[number - 1] = text;
        lines.join("\n") + "\n"
    };
    let third = lines[2];
    let nudged = third.replacen("[[1.0,", "[[0.9,", 1);
    let nudged = if nudged == third { third.replacen("[[0.", "[[0.1", 1) } else { nudged };
    assert_ne!(nudged, third, "a figure is another");
    let header = lines[0].replacen("\"worlds\":", "\"worlds\":1", 1);
    for (text, wanted) in [
        (edited(3, &nudged), "edited.sweep:3:1: this row is not as `sweep` wrote it"),
        (edited(2, other.lines().nth(1).unwrap()), "edited.sweep:2:1: this row is not as"),
        (edited(2, "{}"), "edited.sweep:2:1: this row is not as"),
        (edited(1, &header), "edited.sweep:1:1: this header is not as `sweep` wrote it"),
        (whole.replace('\n', "\r\n"), "edited.sweep:1:1: this header is not as"),
        (whole.clone() + lines[1] + "\n", "expected no row, found row 1"),
    ] {
        let path = folder.path().join("edited.sweep");
        std::fs::write(&path, &text).unwrap();
        let words = ["merge", "one.sweep", "edited.sweep", "--out", "merged.csv"];
        refused(&folder, &words, wanted);
        assert!(!there(&folder, "merged.csv"), "{wanted}");
        let resumed = ["--shard", "2/2", "--out", "edited.sweep", "--resume"];
        refused(&folder, &[&SWEEP[..], &resumed].concat(), wanted);
        assert_eq!(std::fs::read_to_string(path).unwrap(), text, "it is left as it was");
    }
}

#[test]
fn a_journal_that_another_process_writes() {
    let folder = folder();
    sweep(&folder, &["--out", "whole.sweep"]);
    let whole = std::fs::read_to_string(folder.path().join("whole.sweep")).unwrap();
    // Cut in the middle of a row, and in the middle of the header: both would be changed.
    let row = whole.match_indices('\n').nth(5).unwrap().0 + 40;
    for (begun, out, journal) in [
        (&whole[..row], "x.sweep", "x.sweep"),
        (&whole[..100], "early.sweep", "early.sweep"),
        (&whole[..row], "x.csv", "x.csv.sweep"),
    ] {
        let path = folder.path().join(journal);
        std::fs::write(&path, begun).unwrap();
        let writer = std::fs::File::options().read(true).write(true).open(&path).unwrap();
        writer.lock().unwrap();
        let wanted = format!("{journal}: is being written by another windtunnel");
        refused(&folder, &[&SWEEP[..], &["--out", out, "--resume"]].concat(), &wanted);
        refused(&folder, &[&SWEEP[..], &["--out", out]].concat(), &wanted);
        if out == journal {
            refused(&folder, &["merge", "whole.sweep", "--out", out], &wanted);
        }
        writer.unlock().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), begun, "{journal} is as it was");
        sweep(&folder, &["--out", out, "--resume"]);
    }
    for resumed in ["x.sweep", "early.sweep"] {
        assert_eq!(std::fs::read_to_string(folder.path().join(resumed)).unwrap(), whole);
    }
    assert!(there(&folder, "x.csv") && !there(&folder, "x.csv.sweep"));
}

/// Where nobody is stopped from writing, as the superuser is not, there is nothing to see.
#[cfg(unix)]
#[test]
fn a_folder_of_charts_that_cannot_be_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let charts = folder.path().join("charts");
    std::fs::create_dir(&charts).unwrap();
    std::fs::set_permissions(&charts, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(charts.join("probe"), "").is_ok() {
        eprintln!("skipped: permissions do not stop who runs this");
        return;
    }
    let words = [&SWEEP[..], &["--out", "x.csv", "--plot", "charts"]].concat();
    refused(&folder, &words, "charts: cannot be written: permission denied");
    // Rows would be kept from the first on.
    assert!(!there(&folder, "x.csv") && !there(&folder, "x.csv.sweep"));
}
