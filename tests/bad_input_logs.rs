//! Bad words and bad files for the commands that read logs, timelines, spaces and sweeps: one clear
//! message, exit code 2, nothing half-written, and never a panic.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use tempfile::TempDir;

const TABLE: &str =
    "id,to,at,ms,code\n1,a,2025-06-10 09:00:00,100,200\n2,a,2025-06-10 09:00:01,100,500\n";
const MAP: &str = "time_unit: datetime\nduration_unit: ms\ncolumns: {request: id, target: to, sent: at, took: ms, status: code}\n";
const COUNTERS: &str = "minute,target,attempts,errors\n2025-06-10 09:00:00,a,2,1\n";
const REQUESTS: &str = "time_unit: datetime\nduration_unit: ms\nrows: requests\ncolumns: {request: id, sent: at, took: ms, status: code}\n";
const TIMELINE: &str = r#"{"id": "i", "provider": "openai", "source": "s", "start": "2025-06-10T09:00:00Z", "end": "2025-06-10T10:00:00Z"}"#;
const TRACE: &str =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n2025-06-10 09:00:00,1,1\n2025-06-10 09:00:30,1,1\n";
const LITELLM: &str = r#"{"id":"a","call_type":"completion","status":"success","model":"m","startTime":1750000000.5,"endTime":1750000001.5}"#;

/// A folder of good files and of bad ones.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let truncated = format!("{LITELLM}\n{}\n", &LITELLM[..60]);
    let pretty = LITELLM.replace(',', ",\n");
    let (list, data) =
        (format!("[{LITELLM},\n{LITELLM}]\n"), format!("{{\"data\":[{LITELLM}],\"total\":1}}\n"));
    let files: [(&str, &[u8]); 27] = [
        ("log.csv", TABLE.as_bytes()),
        ("map.yaml", MAP.as_bytes()),
        ("counters.csv", COUNTERS.as_bytes()),
        ("requests.yaml", REQUESTS.as_bytes()),
        ("t.json", TIMELINE.as_bytes()),
        ("trace.csv", TRACE.as_bytes()),
        ("empty.csv", b""),
        ("blank.csv", b" \n\n\t\n"),
        ("words.csv", b"to be or not to be\n"),
        ("binary.csv", &[0, 159, 146, 150, 255, 0, 1, 2, 10, 200, 0, 7]),
        ("header.csv", b"id,to,at,ms,code\n"),
        ("negative.csv", b"id,to,at,ms,code\n1,a,2025-06-10 09:00:00,-100,200\n"),
        ("absurd.csv", b"id,to,at,ms,code\n1,a,2025-06-10 09:00:00,1e400,200\n"),
        ("cut.jsonl", &LITELLM.as_bytes()[..60]),
        ("some-cut.jsonl", truncated.as_bytes()),
        ("embeddings.jsonl", br#"{"id":"a","call_type":"embedding","status":"success","model":"m","startTime":1,"endTime":2}"#),
        ("typo.yaml", b"time_unit: datetime\ncolumns: {request: id, target: to, sent: at, took: ms, stauts: code}\n"),
        ("untargeted.yaml", b"time_unit: datetime\ncolumns: {request: id, sent: at, took: ms}\n"),
        ("weeks.yaml", b"time_unit: datetime\nduration_unit: weeks\ncolumns: {request: id, target: to, sent: at, took: ms}\n"),
        ("both.yaml", b"time_unit: datetime\ncolumns: {request: id, target: to, sent: at, took: ms, ended: ms}\n"),
        ("elsewhere.yaml", b"time_unit: datetime\ncolumns: {request: id, target: backend, sent: at, took: ms}\n"),
        ("list.yaml", b"- time_unit\n"),
        ("bad-counters.csv", b"minute,target,attempts,eror\n"),
        ("pretty.json", pretty.as_bytes()),
        ("list.json", list.as_bytes()),
        ("data.json", data.as_bytes()),
        ("cut.json", &TIMELINE.as_bytes()[..70]),
    ];
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).expect("it can be written to");
    }
    fs::create_dir(folder.path().join("directory")).expect("it can be made");
    folder
}

fn names(folder: &TempDir) -> BTreeSet<String> {
    let entries = fs::read_dir(folder.path()).expect("it is there");
    entries.map(|e| e.expect("it can be read").file_name().to_string_lossy().into_owned()).collect()
}

/// Runs each row's words, separated by blanks, and holds the message against what it must say.
fn table(rows: &[(&str, &str)]) {
    let folder = folder();
    let before = names(&folder);
    let mut wrong = Vec::new();
    for (words, holds) in rows {
        let mut program = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
        let output = program.current_dir(folder.path()).args(words.split(' ')).output();
        let output = output.expect("the program starts");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        let clear = output.status.code() == Some(2)
            && told.starts_with("error: ")
            && told.contains(holds)
            && !told.contains("panicked")
            && output.stdout.is_empty();
        if !clear {
            wrong.push(format!("{words}: {:?}, wanted `{holds}`: {told}", output.status.code()));
        }
        let left: Vec<String> = names(&folder).difference(&before).cloned().collect();
        if !left.is_empty() {
            wrong.push(format!("{words}: left {left:?}"));
            left.iter().for_each(|name| drop(fs::remove_dir_all(folder.path().join(name))));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
#[rustfmt::skip]
fn logs_that_cannot_be_fitted() {
    table(&[
        ("fit nothing.csv --out w", "nothing.csv: no such file"),
        ("fit directory --out w", "directory: is a directory"),
        ("fit empty.csv --out w", "empty.csv: is empty"),
        ("fit blank.csv --out w", "blank.csv: is empty"),
        ("fit words.csv --out w", "words.csv: is a log in no format that is known by itself"),
        ("fit binary.csv --out w", "binary.csv: is a log in no format"),
        ("fit cut.jsonl --out w", "cut.jsonl: is a log in no format"),
        ("fit pretty.json --out w", "has objects over many lines; write one object a line: `jq -c '.' LOG"),
        ("fit list.json --out w", "is one list; write one object a line: `jq -c '.[]' LOG"),
        ("fit data.json --out w", "holds its rows in one list; write one object a line: `jq -c '.data[]' LOG"),
        ("fit embeddings.jsonl --out w", "its only row cannot be used; line 1: is no call of a model"),
        ("fit log.csv --out w", "log.csv: is a log in no format that is known by itself"),
        ("fit header.csv --columns map.yaml --out w", "header.csv: holds no rows"),
        ("fit negative.csv --columns map.yaml --out w", "its only row cannot be used; line 2: `ms` cannot be read"),
        ("fit absurd.csv --columns map.yaml --out w", "its only row cannot be used; line 2: `ms` cannot be read"),
        ("fit binary.csv --columns map.yaml --out w", "binary.csv"),
        ("fit empty.csv --columns map.yaml --out w", "empty.csv: is empty"),
        ("fit log.csv --columns nothing.yaml --out w", "nothing.yaml: no such file"),
        ("fit log.csv --columns typo.yaml --out w", "columns.stauts: unknown field; did you mean `status`?"),
        ("fit log.csv --columns untargeted.yaml --out w", "columns.target: is missing; name it, or say `rows: requests`"),
        ("fit log.csv --columns weeks.yaml --out w", "duration_unit: no such unit is called `weeks`"),
        ("fit log.csv --columns both.yaml --out w", "columns: name either `ended` or `took`"),
        ("fit log.csv --columns elsewhere.yaml --out w", "log.csv:1: there is no column `backend`"),
        ("fit log.csv --columns list.yaml --out w", "list.yaml:1"),
        ("fit log.csv --columns empty.csv --out w", "empty.csv: is empty"),
        ("fit log.csv --columns requests.yaml --out w", "log.csv: does not say where requests went"),
        ("fit log.csv --columns map.yaml --out log.csv", "log.csv"),
        ("fit log.csv --columns map.yaml", "--out <DIR>"),
        ("fit --out w", "<LOG>"),
    ]);
}

#[test]
#[rustfmt::skip]
fn counters_that_cannot_be_taken() {
    table(&[
        ("fit log.csv --columns map.yaml --counters counters.csv --out w", "--counters: the log shows every attempt by itself"),
        ("fit log.csv --columns requests.yaml --counters nothing.csv --out w", "nothing.csv: no such file"),
        ("fit log.csv --columns requests.yaml --counters directory --out w", "directory: is a directory"),
        ("fit log.csv --columns requests.yaml --counters bad-counters.csv --out w", "bad-counters.csv:1: no counter is called `eror`; did you mean `errors`?"),
        ("fit log.csv --columns requests.yaml --counters empty.csv --out w", "empty.csv"),
        ("fit log.csv --columns requests.yaml --counters binary.csv --out w", "binary.csv"),
        ("fit --timeline t.json --traffic trace.csv --counters counters.csv --out w", "--counters"),
    ]);
}

#[test]
#[rustfmt::skip]
fn timelines_that_cannot_be() {
    table(&[
        ("fit --timeline t.json --out w", "--traffic"),
        ("fit --traffic trace.csv --out w", "--timeline"),
        ("fit log.csv --timeline t.json --traffic trace.csv --out w", "cannot be used with"),
        ("fit --timeline nothing.json --traffic azure-2023-conversation --out w", "nothing.json: no such file"),
        ("fit --timeline t.json#other --traffic azure-2023-conversation --out w", "t.json: no incident is called `other`"),
        ("fit --timeline cut.json --traffic azure-2023-conversation --out w", "cut.json:"),
        ("fit --timeline binary.csv --traffic azure-2023-conversation --out w", "binary.csv"),
        ("fit --timeline empty.csv --traffic azure-2023-conversation --out w", "empty.csv: is empty"),
        ("fit --timeline t.json --traffic trace.csv --out w", "trace.csv: is a trace: what its columns mean is not said"),
        ("fit --timeline t.json --traffic trace.csv --layout azure2022 --out w", "did you mean `azure2023`?"),
        ("fit --timeline t.json --traffic nothing.csv --layout azure2023 --out w", "nothing.csv: no such file"),
        ("fit --timeline t.json --traffic azure-2023-conversaton --out w", "did you mean `azure-2023-conversation`?"),
        ("fit --timeline t.json --traffic azure-2023-conversation --layout azure2023 --out w", "--layout: is for traces"),
        ("fit --timeline t.json --traffic azure-2023-conversation --severity 150% --out w", "--severity"),
        ("fit --timeline t.json --traffic azure-2023-conversation --severity=-5% --out w", "--severity"),
        ("fit --timeline t.json --traffic azure-2023-conversation --target gpt-6 --out w", "gpt-6: no file and no shipped model card of this name"),
        ("fit --timeline t.json --traffic azure-2023-conversation --target groq-gpt-oss-120b --out w", "provider: no target is run by `openai`"),
        ("fit --timeline t.json --traffic azure-2023-conversation --out t.json", "t.json"),
    ]);
}

#[test]
#[rustfmt::skip]
fn questions_that_cannot_be_asked() {
    table(&[
        ("what-if log.csv --columns map.yaml -p single", "--policy: there is nothing to compare with"),
        ("what-if log.csv --columns map.yaml", "--policy"),
        ("what-if log.csv --columns map.yaml -p single -p conservatve", "did you mean `conservative`?"),
        ("what-if log.csv --columns map.yaml -p single -p directory", "directory"),
        ("what-if log.csv --columns map.yaml -p single -p log.csv", "log.csv"),
        ("what-if nothing.csv -p single -p conservative", "nothing.csv: no such file"),
        ("what-if words.csv -p single -p conservative", "words.csv: is a log in no format"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --world nothing.yaml", "nothing.yaml"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --worlds 1", "--worlds"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --refits 5", "--refits"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --threads 0", "--threads"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --format pdf", "--format"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --report r.pdf", "end it in .html or .md"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --report no/where/r.html", "no/where"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --report directory", "directory"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --out log.csv", "log.csv: is read as"),
        ("what-if log.csv --columns map.yaml -p single -p conservative --out map.yaml", "map.yaml: is read as"),
        ("what-if log.csv --columns requests.yaml --counters counters.csv -p single -p conservative --out counters.csv", "counters.csv: is read as"),
        ("what-if --timeline t.json --traffic azure-2023-conversation -p single -p conservative --out t.json", "t.json: is read as"),
    ]);
}

#[test]
#[rustfmt::skip]
fn searches_that_cannot_be() {
    table(&[
        ("tune steady --space nothing.yaml --maximize success", "nothing"),
        ("tune steady --space empty.csv --maximize success", "empty.csv"),
        ("tune steady --space binary.csv --maximize success", "binary.csv"),
        ("tune nothing --space retry-budget --maximize success", "nothing"),
        ("tune steady --space log.csv --maximize success", "log.csv"),
        ("sweep nothing --vary attempts.max=1..2", "nothing"),
        ("sweep steady --vary attempts.max=-1..2", "attempts.max"),
        ("sweep steady --vary attempts.max=1..99999999999999999999", "attempts.max"),
        ("sweep steady --vary timeouts.first_token=-5s..2s", "timeouts.first_token"),
        ("sweep steady --space binary.csv", "binary.csv"),
        ("sweep steady --vary attempts.max=1..2 --variants 0", "--variants"),
        ("sweep steady --vary attempts.max=1..2 --report r.pdf", "r.pdf"),
        ("sweep steady --vary attempts.max=1..2 --report no/where/r.html", "no/where"),
        ("merge nothing.sweep", "nothing.sweep: no such file"),
        ("merge directory", "directory"),
        ("merge empty.csv", "empty.csv"),
        ("merge binary.csv", "binary.csv"),
        ("merge log.csv", "log.csv"),
        ("merge some-cut.jsonl", "some-cut.jsonl"),
        ("merge", "<FILE"),
    ]);
}

/// What can be read is read, and what cannot is counted and shown.
#[test]
fn a_truncated_line_is_counted() {
    let folder = folder();
    let mut program = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
    let words = ["fit", "some-cut.jsonl", "--out", "w"];
    let output = program.current_dir(folder.path()).args(words).output().expect("it starts");
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("1 row cannot be used:"), "{told}");
    assert!(told.contains("1 × is not written as a row of this log, first in line 2: {"), "{told}");
}
