//! No input makes a parser panic or run without end: shipped files with random damage, and noise.

use std::sync::OnceLock;

use proptest::prelude::*;
use windtunnel::check::kind_of;
use windtunnel::fit::Evidence;
use windtunnel::input::{InputError, SourceFile};
use windtunnel::library::{Kind, list, load_policy, read_policy};
use windtunnel::log::{self, Format};
use windtunnel::profile::Profile;
use windtunnel::scenario::{ModelCard, Scenario, TraceColumns, TraceLayout};
use windtunnel::space::{Method, Plan, Sampling, Space};
use windtunnel::stats::{Dimension, Gate, Known};
use windtunnel::trace::{TraceFormat, parse_trace};

/// One change of a text.
#[derive(Clone, Debug)]
enum Damage {
    /// Takes some characters away.
    Cut { at: usize, length: usize },
    /// Puts something in.
    Insert { at: usize, text: String },
    /// Repeats a line elsewhere.
    Copy { line: usize, to: usize },
}

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let place = 0..usize::MAX;
    let awkward = prop::sample::select(vec![
        "-1",
        "0",
        ".nan",
        ".inf",
        "1e308",
        "99999999999999999999",
        "[",
        "]",
        "{",
        "}",
        ":",
        "- ",
        "\n",
        "\t",
        "'",
        "\"",
        "&a ",
        "*a",
        "!!binary ",
        "---\n",
        "null",
        "~",
        "é",
        "\u{0}",
        "0s",
        "0%",
        "100%",
        "400d",
        "1000000/s",
        "$0",
        "''",
        "? ",
        "| \n",
        "#",
        ",",
    ]);
    let insert = prop_oneof![awkward.prop_map(str::to_owned), "\\PC{0,8}"];
    let one = prop_oneof![
        (place.clone(), 1..40_usize).prop_map(|(at, length)| Damage::Cut { at, length }),
        (place.clone(), insert).prop_map(|(at, text)| Damage::Insert { at, text }),
        (place.clone(), place).prop_map(|(line, to)| Damage::Copy { line, to }),
    ];
    prop::collection::vec(one, 1..5)
}

fn damaged(text: &str, damage: &[Damage]) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for one in damage {
        match one {
            Damage::Cut { at, length } => {
                let start = at % chars.len().max(1);
                let end = (start + length).min(chars.len());
                chars.drain(start.min(end)..end);
            }
            Damage::Insert { at, text } => {
                let at = at % (chars.len() + 1);
                chars.splice(at..at, text.chars());
            }
            Damage::Copy { line, to } => {
                let text: String = chars.iter().collect();
                let mut lines: Vec<&str> = text.lines().collect();
                if !lines.is_empty() {
                    lines.insert(to % lines.len(), lines[line % lines.len()]);
                }
                chars = lines.join("\n").chars().collect();
            }
        }
    }
    chars.into_iter().collect()
}

/// The shipped files of all kinds; built once, listing unpacks them.
fn shipped() -> &'static [(Kind, String, &'static str)] {
    static ALL: OnceLock<Vec<(Kind, String, &str)>> = OnceLock::new();
    ALL.get_or_init(|| {
        let of = |kind| list(kind).into_iter().map(move |file| (kind, file.path, file.text));
        Kind::ALL.into_iter().flat_map(of).collect()
    })
}

fn read(kind: Kind, name: &str, text: String) -> Result<(), InputError> {
    let file = SourceFile { name: name.to_owned(), text, folder: None };
    match kind {
        Kind::Scenario => Scenario::read(file).map(drop),
        Kind::Policy => read_policy(&file).map(drop),
        Kind::Card => ModelCard::read(&file).map(drop),
        Kind::Profile => Profile::read(&file).map(drop),
        Kind::Space => {
            let space = Space::read(file)?.around(&load_policy("conservative")?)?;
            let sampling = Sampling { method: Method::Sobol, count: 8, seed: 1 };
            Plan::new(&space, &sampling).map(drop)
        }
    }
}

/// A message is one line and, where it has a place, that line and a caret; nothing in it moves
/// the cursor of a terminal.
fn is_clear(error: &InputError) -> bool {
    let text = error.to_string();
    let lines = text.lines().count();
    lines <= 3 && !text.chars().any(|c| c.is_control() && c != '\n')
}

fn columns() -> TraceLayout {
    TraceLayout::Columns(TraceColumns {
        time: "t".into(),
        time_unit: "s".into(),
        input_tokens: "in".into(),
        output_tokens: "out".into(),
        max_output_tokens: Some("max".into()),
        session: Some("session".into()),
    })
}

/// A log in each format, with a row or two.
const LOGS: [(&Format, &str); 4] = [
    (
        &Format::Ledger { json: true },
        r#"{"policy":"p","world":0,"request":1,"correlation":1,"class":"c","measured":true,"attempt":1,"group":0,"target":"t","provider":"x","model":"m","region":null,"recovery":"first","status":500,"failure":"server_error","phase":"before_headers","arrived_s":1.5,"sent_s":1.5,"ended_s":2.25,"sent":true,"cancelled":false,"remaining_s":10,"input_tokens":0,"output_tokens":0,"cost_usd":0,"request_outcome":"exhausted","request_answered":false,"request_closed_s":2.25}
"#,
    ),
    (
        &Format::LiteLlm,
        r#"{"id":"a","trace_id":"t","call_type":"acompletion","status":"success","model":"m","startTime":1.5,"endTime":2,"completionStartTime":1.75,"response_cost":1e-5,"prompt_tokens":3,"completion_tokens":4}
{"id":"b","trace_id":"t","call_type":"acompletion","status":"failure","model":"m","startTime":"2025-06-10 09:00:00","endTime":"2025-06-10 09:00:01","error_information":{"error_code":"429"}}
"#,
    ),
    (
        &Format::Envoy,
        r#"{"start_time":"2025-06-10T09:00:00.000Z","duration":12,"response_code":503,"response_flags":"UF","upstream_cluster":"c","request_id":"r"}
"#,
    ),
    (
        &Format::Otlp { whole: false },
        r#"{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"a","spanId":"b","startTimeUnixNano":"1000","endTimeUnixNano":"5000","attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"chat"}},{"key":"gen_ai.request.model","value":{"stringValue":"m"}}]}]}]}]}
"#,
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_files_are_read_or_refused(which in 0..usize::MAX, damage in damage()) {
        let files = shipped();
        let (kind, name, text) = &files[which % files.len()];
        let text = damaged(text, &damage);
        if let Err(error) = read(*kind, name, text) {
            prop_assert!(is_clear(&error), "{error}");
        }
    }

    #[test]
    fn noise_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let Ok(file) = SourceFile::from_bytes("noise".into(), bytes) else { return Ok(()) };
        if let Err(error) = kind_of(&file) {
            prop_assert!(is_clear(&error), "{error}");
        }
        for kind in Kind::ALL {
            // A policy may be all defaults, which `{}` is.
            if let Err(error) = read(kind, "noise", file.text.clone()) {
                prop_assert!(is_clear(&error), "{error}");
            }
        }
    }

    #[test]
    fn damaged_traces_are_read_or_refused(damage in damage(), jsonl in any::<bool>()) {
        let (format, text) = if jsonl {
            let line = "{\"t\": 1.5, \"in\": 10, \"out\": 20, \"max\": null, \"session\": \"a\"}\n";
            (TraceFormat::JsonLines, line.repeat(3))
        } else {
            (TraceFormat::Csv, "t,in,out,max,session\n0,10,20,,a\n1.5,10,20,30,a\n2,1,1,,\n".into())
        };
        match parse_trace("trace", damaged(&text, &damage).as_bytes(), format, &columns()) {
            Ok(trace) => {
                prop_assert!(trace.rows.is_sorted_by_key(|row| row.at));
                prop_assert_eq!(trace.rows[0].at.as_micros(), 0);
            }
            Err(error) => prop_assert!(is_clear(&error), "{error}"),
        }
    }

    #[test]
    fn noisy_traces_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..200), jsonl in any::<bool>()) {
        let format = if jsonl { TraceFormat::JsonLines } else { TraceFormat::Csv };
        for layout in [TraceLayout::Azure2023, TraceLayout::BurstGpt, TraceLayout::Mooncake, columns()] {
            if let Err(error) = parse_trace("noise", bytes.as_slice(), format, &layout) {
                prop_assert!(is_clear(&error), "{error}");
            }
        }
    }

    #[test]
    fn damaged_logs_are_read_or_refused(which in 0..LOGS.len(), damage in damage()) {
        let (format, text) = LOGS[which];
        let mut requests = 0;
        match log::read("log", damaged(text, &damage).as_bytes(), format.clone(), |request| {
            assert!(request.arrived_us <= request.closed_us);
            assert!(request.attempts.is_sorted_by_key(|attempt| attempt.sent_us));
            requests += 1;
        }) {
            Ok(read) => prop_assert!(requests + read.unusable.count() <= read.rows),
            Err(error) => prop_assert!(is_clear(&error), "{error}"),
        }
    }

    #[test]
    fn noisy_logs_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for (format, _) in LOGS {
            let mut evidence = Evidence::new();
            let read = log::read("noise", bytes.as_slice(), format.clone(), |r| evidence.take(&r));
            if let Err(error) = read {
                prop_assert!(is_clear(&error), "{error}");
            }
        }
    }

    #[test]
    fn noisy_gates_are_refused(text in "\\PC{0,40}", damage in damage()) {
        // Only that it ends: what gates mean has tests of its own.
        let known = [Known { name: "success", dimension: Dimension::Share, signed: false }];
        let _ = Gate::parse(&text, &known);
        let _ = Gate::parse(&damaged("success >= base - 0.1pp", &damage), &known);
    }
}
