//! Published traces are read as they are. Counts and first rows are those of the published files.

use std::path::PathBuf;

use windtunnel::scenario::{TraceColumns, TraceLayout, TraceRow};
use windtunnel::trace::{Trace, read_trace};
use windtunnel_policy::Instant;

/// The trace, or none where the shared data is not there.
fn shared(file: &str, layout: &TraceLayout) -> Option<Trace> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(file);
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
        return None;
    }
    Some(read_trace(&path, layout).unwrap_or_else(|e| panic!("{e}")))
}

fn row(at_us: u64, input: u32, output: u32) -> TraceRow {
    TraceRow { at: Instant::from_micros(at_us), input, output, max_output: None, session: 0 }
}

#[test]
fn azure_2023() {
    let Some(trace) = shared("azure_conv.csv", &TraceLayout::Azure2023) else { return };
    assert_eq!(trace.rows.len(), 19_366);
    // 18:15:46.6805900 and 18:15:50.9951690.
    assert_eq!(trace.rows[..2], [row(0, 374, 44), row(4_314_579, 396, 109)]);
    assert!(trace.notes.is_empty());
    let Some(trace) = shared("azure_code.csv", &TraceLayout::Azure2023) else { return };
    assert_eq!(trace.rows.len(), 8_819);
}

#[test]
fn burst_gpt() {
    let Some(trace) = shared("burstgpt1_first400.csv", &TraceLayout::BurstGpt) else { return };
    assert_eq!(trace.rows[..2], [row(0, 472, 18), row(40_000_000, 1_087, 230)]);
    // The second release has sessions.
    let Some(trace) = shared("burstgpt3_first400.csv", &TraceLayout::BurstGpt) else { return };
    assert_eq!((trace.rows[0].input, trace.rows[0].output), (906, 446));
    assert!(trace.rows.iter().any(|row| row.session != 0));
}

#[test]
fn own_columns() {
    let columns = TraceColumns {
        time: "timestamp_ms".into(),
        time_unit: "ms".into(),
        input_tokens: "input_tokens".into(),
        output_tokens: "output_tokens".into(),
        max_output_tokens: None,
        session: None,
    };
    let layout = TraceLayout::Columns(columns);
    let Some(trace) = shared("mooncake_conversation_lengths.csv", &layout) else { return };
    assert_eq!(trace.rows.len(), 12_031);
    assert_eq!(trace.rows[..2], [row(0, 6_758, 500), row(0, 7_322, 490)]);
}
