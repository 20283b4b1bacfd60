use windtunnel_policy::Instant;

use super::*;
use crate::scenario::TraceColumns;

fn csv(text: &str, layout: &TraceLayout) -> Result<Trace, String> {
    parse_trace("t.csv", text.as_bytes(), TraceFormat::Csv, layout).map_err(|e| e.to_string())
}

fn own() -> TraceLayout {
    TraceLayout::Columns(TraceColumns {
        time: "timestamp_ms".into(),
        time_unit: "ms".into(),
        input_tokens: "input_tokens".into(),
        output_tokens: "output_tokens".into(),
        max_output_tokens: None,
        session: None,
    })
}

#[test]
fn azure_rows_count_from_the_first() {
    let text = "TIMESTAMP,ContextTokens,GeneratedTokens\n\
                2023-11-16 18:15:46.6805900,374,44\n\
                2023-11-16 18:15:50.9951690,396,109\n";
    let trace = csv(text, &TraceLayout::Azure2023).unwrap();
    let row = |us, input, output| TraceRow {
        at: Instant::from_micros(us),
        input,
        output,
        max_output: None,
        session: 0,
    };
    assert_eq!(trace.rows, [row(0, 374, 44), row(4_314_579, 396, 109)]);
}

#[test]
fn failed_rows_are_left_out_and_told() {
    let text = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n\
                5,ChatGPT,10,0,10,Conversation log\n\
                7,ChatGPT,472,18,490,Conversation log\n\
                45,ChatGPT,1087,0,1087,Conversation log\n";
    let trace = csv(text, &TraceLayout::BurstGpt).unwrap();
    assert_eq!(trace.rows.len(), 1);
    assert_eq!(trace.rows[0].at, Instant::ZERO);
    assert!(trace.notes[0].contains("2 of 3 rows"), "{:?}", trace.notes);
}

#[test]
fn mooncake_lines_are_milliseconds() {
    let text = "{\"timestamp\": 27482, \"input_length\": 6955, \"output_length\": 52, \"hash_ids\": [46, 47]}\n\n\
                {\"timestamp\": 30535, \"input_length\": 1, \"output_length\": 2, \"hash_ids\": []}\n";
    let trace =
        parse_trace("t.jsonl", text.as_bytes(), TraceFormat::JsonLines, &TraceLayout::Mooncake);
    let rows = trace.unwrap().rows;
    assert_eq!((rows[0].input, rows[0].output), (6955, 52));
    assert_eq!(rows[1].at, Instant::from_micros(3_053_000));
}

#[test]
fn dates_become_microseconds_since_1970() {
    for (text, us) in [
        ("1970-01-01 00:00:00", 0),
        // `date -u -d ... +%s` says so.
        ("2000-02-29T12:00:00Z", 951_825_600_000_000),
        ("2023-11-16 18:15:46.6805900", 1_700_158_546_680_590),
        ("2023-11-16 18:15:46.68+01:30", 1_700_153_146_680_000),
    ] {
        assert_eq!(cells::time(text, layout::TimeUnit::DateTime), Ok(us), "{text}");
    }
    for bad in [
        "2023-02-29 00:00:00",
        "2023-13-01 00:00:00",
        "2023-11-16",
        "2023-11-16 24:00:00",
        "2023-11-16 1:00:00",
        "16.11.2023 10:00:00",
        "2023-11-16 10:00:00.",
        "",
    ] {
        assert!(cells::time(bad, layout::TimeUnit::DateTime).is_err(), "{bad}");
    }
}

#[test]
fn mistakes_name_line_and_column() {
    let head = "timestamp_ms,input_tokens,output_tokens\n";
    for (rows, wanted) in [
        ("5,1,2\n4,1,2\n", "t.csv:3: timestamp_ms: `4` is earlier than the row before"),
        ("5,1,2\n6,x,2\n", "t.csv:3: input_tokens: expected a token count"),
        ("5,1,NaN\n", "t.csv:2: output_tokens: expected a token count"),
        ("-5,1,2\n", "t.csv:2: timestamp_ms: expected a time"),
        ("5,1\n", "t.csv:2: expected 3 columns, found 2"),
        ("5,1,99999999999999999999\n", "t.csv:2: output_tokens: expected a token count"),
        ("99999999999999999999999,1,2\n", "too large"),
        ("0,1,2\n99999999999999,1,2\n", "more than 400 days"),
        ("", "holds no rows"),
        ("0,5,0\n", "holds no row with output"),
    ] {
        let error = csv(&format!("{head}{rows}"), &own()).unwrap_err();
        assert!(error.contains(wanted), "{rows:?}: {error}");
    }
    let error = csv("timestamp_ms,inputtokens,output_tokens\n1,2,3\n", &own()).unwrap_err();
    assert!(error.contains("no column `input_tokens`; did you mean `inputtokens`?"), "{error}");
    assert!(csv("", &own()).unwrap_err().contains("is empty"));
}

/// The shipped profile was computed from the same trace by another reader of its rows.
#[test]
fn the_profile_of_a_trace_is_the_shipped_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/azure_conv.csv");
    let path = Path::new(path);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return;
    }
    let trace = read_trace(path, &TraceLayout::Azure2023).expect("a trace");
    let about = About {
        name: String::new(),
        description: String::new(),
        source: String::new(),
        licence: String::new(),
        date: String::new(),
    };
    let minutes = |yaml: &str| yaml.split_once("\nminutes:").map(|parts| parts.1.to_string());
    let shipped = include_str!("../../models/traffic/azure-2023-conversation.yaml");
    assert_eq!(minutes(&trace.profile(about).to_yaml()), minutes(shipped));
}
