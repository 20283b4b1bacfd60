//! Files that cannot be read, or are not of ours.

use std::fs;
use std::path::Path;

use tempfile::TempDir;
use windtunnel::check::check_file;

use super::{ALL, C, FILES, P, S, T, TRACED, table};

#[test]
fn the_good_files_are_good() {
    for name in [S, C, P, TRACED] {
        let checked = check_file(&Path::new(FILES).join(name)).map(drop);
        assert_eq!(checked.map_err(|e| e.to_string()), Ok(()));
    }
}

#[test]
#[rustfmt::skip]
fn text_that_is_no_file_of_ours() {
    table(&[
        (S, ALL, "", "plain.yaml: is empty"),
        (S, ALL, "# a comment\n", "plain.yaml: is empty"),
        (S, ALL, "- a\n- b\n", "is neither a scenario, nor a policy, a model card, a profile, a space, kill switches or a mapping"),
        (S, ALL, "just words\n", "is neither a scenario"),
        (S, ALL, "colour: red\n", "plain.yaml:1:1: colour: is neither a scenario"),
        (S, ALL, "name: x\nattempt: {max: 2}\n", "plain.yaml:2:1: attempt: unknown field; did you mean `attempts`?"),
        (S, ALL, "attempts:\n\tmax: 2\n", "tab"),
        (S, ALL, "switches: [{at: 9h}]\n", "plain.yaml:1:12: switches[0]: says not one of `off` and `on`"),
        (S, "name: plain\n", "name: \"plain\n", "plain.yaml:"),
        (S, "name: plain\n", "name: [plain\n", "plain.yaml:"),
        (S, "horizon: 10m\n", "horizon: 10m\n\tinterval: 5s\n", "tab"),
        (S, "horizon: 10m\n", "horizon: 10m\nhorizon: 5m\n", ":7:1: horizon: is given twice; remove one"),
        (S, "name: plain\n", "name: plain\n---\nname: other\n", "several YAML documents"),
        (S, "horizon: 10m", "horizon: &h 10m\ninterval: *h", "anchors and aliases are not used here"),
        (S, "horizon: 10m", "horizon: !seconds 10", "unsupported tag"),
        (S, "horizon: 10m", "horizon: 10m\n<<: {interval: 5s}", "merge keys (`<<`) are not used here; write the fields out"),
        (S, "horizon: 10m", "horizon: 10m\n\tinterval: 5s", "a tab, here or in the next line; indent with spaces"),
    ]);
}

#[test]
fn files_that_cannot_be_read() {
    let folder = TempDir::new().expect("a folder");
    let fault = |path: &Path| check_file(path).expect_err("must be refused").to_string();
    assert!(fault(&folder.path().join("none.yaml")).contains("none.yaml: no such file"));
    assert!(fault(folder.path()).ends_with("is a directory; name one file in it"));
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("writes");
        path
    };
    let binary = write("binary.yaml", b"name: x\nshows: \xff\xfe\n");
    assert!(fault(&binary).contains("binary.yaml:2:8: is not UTF-8 text"));
    assert!(fault(&write("nul.yaml", b"name: a\0b\n")).contains("nul.yaml"));
    assert!(fault(&write("large.yaml", &vec![b'#'; 17 << 20])).contains("is larger than 16 MiB"));
    let holds = |name: &str, text: &str, wanted: &str| {
        let error = fault(&write(name, text.as_bytes()));
        assert!(error.contains(wanted), "expected {wanted:?}, got\n{error}");
    };
    let deep = format!("name: {}x{}\n", "[".repeat(5_000), "]".repeat(5_000));
    holds("deep.yaml", &deep, "is nested deeper than 32 levels");
    holds("wide.yaml", &format!("name: [{}1]\n", "1, ".repeat(300_000)), "is too large");
    let bomb = (1..12).fold(String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n"), |text, i| {
        let last = i - 1;
        text + &format!("a{i}: &a{i} [{}*a{last}]\n", format!("*a{last}, ").repeat(8))
    });
    holds("bomb.yaml", &bomb, "anchors and aliases are not used here");
}

#[test]
#[rustfmt::skip]
fn traces_with_malformed_rows() {
    table(&[
        (TRACED, "file: plain-trace.csv", "file: nowhere.csv", "traced.yaml:14:11: classes.chat.traffic.arrivals.trace.file: "),
        (TRACED, "file: plain-trace.csv", "file: traced.yaml", "expected a trace that ends in .csv or .jsonl"),
        (TRACED, "horizon: 60s", "horizon: 10m", "covers 135s of the horizon, 600s"),
        (TRACED, "time_unit: ms", "time_unit: minutes", "no unit of time is called `minutes`"),
        (TRACED, "input_tokens: input_tokens", "input_tokens: inptokens", "no column `inptokens`; did you mean `input_tokens`?"),
        (T, ALL, "", "plain-trace.csv: is empty"),
        (T, ALL, "timestamp_ms,input_tokens,output_tokens\n", "holds no rows"),
        (T, "90000,", "9000,", "plain-trace.csv:4: timestamp_ms: `9000` is earlier than the row before; sort the trace by time"),
        (T, "90000,", "-1,", "plain-trace.csv:4: timestamp_ms: expected a time, a number not negative, found `-1`"),
        (T, "90000,", "NaN,", "found `NaN`"),
        (T, "90000,", "99999999999999999999,", "is too large"),
        (T, "90000,", "9999999999999,", "more than 400 days after the first row"),
        (T, "90000,300,", "90000,-3,", "plain-trace.csv:4: input_tokens: expected a token count"),
        (T, "90000,300,", "90000,3.5,", "found `3.5`"),
        (T, "90000,300,", "90000,,", "found nothing"),
        (T, "90000,300,30", "90000,300", "plain-trace.csv:4: expected 3 columns, found 2"),
        (T, "input_tokens,output_tokens", "input_tokens,input_tokens", "plain-trace.csv:1: columns 2 and 3 are both called `input_tokens`; rename or remove one"),
        (TRACED, "file: plain-trace.csv", "file: plain-trace.csv\n          scale: 1e9", "trace.scale: times divided by 1000000000 leave the trace no time; lower it"),
        (T, "input_tokens", "inputtokens", "no column `input_tokens`; did you mean `inputtokens`?"),
    ]);
}
