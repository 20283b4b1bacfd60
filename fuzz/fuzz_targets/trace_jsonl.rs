//! A trace in JSON Lines from any bytes, in every layout: read in order or refused, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windtunnel::scenario::{TraceColumns, TraceLayout};
use windtunnel::trace::{TraceFormat, parse_trace};

fuzz_target!(|bytes: &[u8]| {
    let own = TraceColumns {
        time: "timestamp_ms".into(),
        time_unit: "ms".into(),
        input_tokens: "input_tokens".into(),
        output_tokens: "output_tokens".into(),
        max_output_tokens: None,
        session: None,
    };
    let layouts = [
        TraceLayout::Azure2023,
        TraceLayout::BurstGpt,
        TraceLayout::Mooncake,
        TraceLayout::Columns(own),
    ];
    for layout in layouts {
        if let Ok(trace) = parse_trace("fuzz", bytes, TraceFormat::JsonLines, &layout) {
            assert!(trace.rows.is_sorted_by_key(|row| row.at));
        }
    }
});
