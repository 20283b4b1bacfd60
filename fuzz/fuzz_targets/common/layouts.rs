//! What the fuzz targets of traces share.

use windtunnel::scenario::{TraceColumns, TraceLayout};
use windtunnel::trace::{TraceFormat, parse_trace};

/// Reads the bytes in every layout: in order or refused, without a panic.
pub fn read_in_every_layout(bytes: &[u8], format: TraceFormat) {
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
        if let Ok(trace) = parse_trace("fuzz", bytes, format, &layout) {
            assert!(trace.rows.is_sorted_by_key(|row| row.at));
        }
    }
}
