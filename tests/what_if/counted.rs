//! A log of requests with counters by minute beside it.

use std::fmt::Write;
use std::fs;
use std::io::Cursor;
use std::process::Command;

use windtunnel::fit::{Evidence, Fit};
use windtunnel::log::{self, Counters, Format, Names, read_counters};

use crate::formats::map;

const MAP: &str = "time_unit: s\nrows: requests\ncolumns: {request: id, sent: at, took: took, status: status, input_tokens: in, output_tokens: out}\n";

/// Two hours of a request every two seconds; one in a hundred fails for good.
fn requests() -> String {
    let mut text = String::from("id,at,took,status,in,out\n");
    for n in 0..3600 {
        let status = if n % 100 == 7 { 503 } else { 200 };
        writeln!(text, "{n},{},{}.5,{status},100,20", n * 2, 1 + n % 3).expect("it takes all");
    }
    text
}

/// Thirty first attempts a minute; in the second half hour a third of them fails, half with 429 and half
/// in silence, and goes to the second target.
fn counters() -> String {
    let mut text = String::from("minute,target,attempts,status_429,timeouts,errors\n");
    for minute in 0..120 {
        let bad = (30..60).contains(&minute);
        let (limited, silent) = if bad { (5, 5) } else { (0, 0) };
        writeln!(text, "{},first,30,{limited},{silent},", minute * 60).expect("it takes all");
        if bad {
            writeln!(text, "{},second,10,,,1", minute * 60).expect("it takes all");
        }
    }
    text
}

fn read(text: &str) -> Result<(Counters, Names), String> {
    let mut names = Names::default();
    let counters = read_counters("c.csv", Cursor::new(text), &mut names);
    counters.map(|counters| (counters, names)).map_err(|e| e.to_string())
}

#[test]
fn failures_and_their_mix_are_those_of_the_counters() {
    let format = Format::Mapped { map: Box::new(map(MAP)), json: false };
    let mut evidence = Evidence::new();
    let log = requests();
    let mut read = log::read("log", Cursor::new(log), format, |request| evidence.take(&request))
        .unwrap_or_else(|e| panic!("{e}"));
    evidence.finish();
    let text = counters();
    let counters = read_counters("c.csv", Cursor::new(text), &mut read.names);
    let mut counters = counters.unwrap_or_else(|e| panic!("{e}"));
    evidence.count(&mut counters, &read.names);
    read.counters = Some(counters);
    let fit = Fit::of("fitted", "log", &read, &evidence);
    assert_eq!((fit.requests, fit.attempts), (3600, 3900));
    assert!(fit.tells("attempts_per_request") && fit.tells_targets() && !fit.tells("raw_success"));
    assert_eq!(fit.lived.overall().attempts, 3900);
    let at: Vec<(u64, u64)> = fit.lived.targets.iter().map(|t| (t.attempts, t.failures)).collect();
    assert_eq!(at, [(3600, 300), (300, 30)]);
    let text = fit.text(&read);
    // The phase is found to the minute, with all that failed in it.
    assert!(text.contains("0:30–1:00  300 of 900 failed (33.33 %)"), "{text}");
    assert!(text.contains("second tries are among what is counted"), "{text}");
    assert!(text.contains("times are those of all requests together"), "{text}");
    let files = fit.files(&evidence);
    let scenario = &files[0].text();
    assert!(scenario.contains("primary: [first]") && scenario.contains("[[second]]"), "{scenario}");
    assert!(
        scenario.contains("class: rate_limited, status: 429") && scenario.contains("hang: true"),
        "{scenario}"
    );
    // Times are those of the requests that were answered: 1.5, 2.5 or 3.5 s.
    let card =
        &files.iter().find(|file| file.path == "models/first.yaml").expect("it is there").text();
    let first = card.lines().find(|line| line.contains("first_token:")).expect("it has times");
    assert!(first.contains("p50") && first.contains("3564 seen"), "{first}");
}

#[test]
fn counters_that_cannot_be_are_refused_and_rows_counted() {
    for (text, wanted) in [
        ("", "there is no column `minute`"),
        ("minute,target,attempts\n0,a,1\n", "no column counts failures"),
        ("minute,target,errors\n0,a,1\n", "there is no column `attempts`"),
        (
            "minute,target,attempts,erors\n0,a,1,0\n",
            "no counter is called `erors`; did you mean `errors`?",
        ),
        ("minute,target,attempts,status_200\n0,a,1,0\n", "no counter is called `status_200`"),
        ("minute,target,attempts,requests,errors\n", "column `requests` is there twice"),
        ("minute,target,attempts,errors\n", "holds no rows"),
        ("minute,target,attempts,errors\nsoon,a,1,0\n", "line 2: `minute` cannot be read"),
        ("minute,target,attempts,errors\n0,a,-1,0\n", "line 2: `attempts` cannot be read"),
        ("minute,target,attempts,errors\n0,a,1,2\n", "line 2: counts more failures than attempts"),
        ("minute,target,attempts,errors\n0,,1,0\n", "line 2: has no `target`"),
        ("minute,target,attempts,errors\n0,a\n", "line 2: is not written as a row"),
        (
            "minute,target,attempts,errors\n0,a,99999999999999999999,0\n",
            "`attempts` cannot be read",
        ),
    ] {
        let error = read(text).map(drop).expect_err(text);
        assert!(error.starts_with("c.csv") && error.contains(wanted), "{text:?}: {error}");
    }
    let good = "minute,target,model,requests,errors,status_503\n\
        2025-06-10 09:00:00,a,m,10,3,2\n\
        2025-06-10 09:01:00,a,m,10,x,\n";
    let (counters, names) = read(good).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((counters.rows, counters.unusable.count(), counters.minutes.len()), (2, 1, 1));
    assert_eq!(names.targets[0].model, "m");
    let failed: Vec<(u16, u64)> =
        counters.minutes[0].failed.iter().map(|(with, count)| (with.status, *count)).collect();
    assert_eq!(failed, [(503, 2), (0, 1)], "what has no status is a failure without one");
}

#[test]
fn the_program_takes_them() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = [("log.csv", requests()), ("map.yaml", MAP.into()), ("counters.csv", counters())];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("it can be written to");
    }
    let run = |words: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
        let output = program.current_dir(folder.path()).args(words).output().expect("it starts");
        let told = [output.stdout, output.stderr].map(|t| String::from_utf8_lossy(&t).into_owned());
        (output.status.code(), told.concat())
    };
    let log = ["log.csv", "--columns", "map.yaml"];
    let (code, told) = run(&[&["fit"], &log[..], &["--out", "f"]].concat());
    assert_eq!(code, Some(2), "{told}");
    assert!(told.contains("does not say where requests went"), "{told}");
    let with = [&log[..], &["--counters", "counters.csv"]].concat();
    let (code, told) = run(&[&["fit"], &with[..], &["--out", "f"]].concat());
    assert_eq!(code, Some(0), "{told}");
    let ask = ["-p", "conservative", "-p", "single", "--worlds=2"];
    let (code, told) = run(&[&["what-if"], &with[..], &ask[..]].concat());
    assert_eq!(code, Some(0), "{told}");
    let raw = told.lines().find(|line| line.trim_start().starts_with("raw_success"));
    assert!(raw.is_some_and(|line| line.contains("not told")), "{told}");
}
