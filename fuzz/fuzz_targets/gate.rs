//! A gate from any text: parsed or refused, and what is parsed prints as it can be parsed again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windtunnel::stats::{Dimension, Gate, Known};

const KNOWN: [Known<'_>; 4] = [
    Known { name: "success", dimension: Dimension::Share, signed: false },
    Known { name: "latency_p99", dimension: Dimension::Seconds, signed: false },
    Known { name: "cost_per_1k", dimension: Dimension::Dollars, signed: false },
    Known { name: "attempts_per_request", dimension: Dimension::Count, signed: false },
];

fuzz_target!(|text: &str| {
    if let Ok(gate) = Gate::parse(text, &KNOWN) {
        assert_eq!(Gate::parse(&gate.to_string(), &KNOWN), Ok(gate));
    }
});
