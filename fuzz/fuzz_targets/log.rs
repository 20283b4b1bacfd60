//! A gateway's attempt log from any bytes, in every format that is known by itself: rows are read or
//! counted, without a panic, and so is a fit of what was read.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windtunnel::fit::{Evidence, Fit};
use windtunnel::log::{Format, read};

fuzz_target!(|bytes: &[u8]| {
    let formats = [
        Format::Ledger { json: false },
        Format::Ledger { json: true },
        Format::LiteLlm,
        Format::Envoy,
        Format::Otlp { whole: false },
        Format::Otlp { whole: true },
    ];
    for format in formats {
        let mut evidence = Evidence::new();
        let Ok(read) = read("log", bytes, format, |request| evidence.take(&request)) else { continue };
        evidence.finish();
        if evidence.has_attempts() {
            Fit::of("fuzz", "log", &read, &evidence).files(&evidence);
        }
    }
});
