//! A trace in CSV from any bytes, in every layout: read in order or refused, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windtunnel::trace::TraceFormat;

#[path = "common/layouts.rs"]
mod layouts;

fuzz_target!(|bytes: &[u8]| layouts::read_in_every_layout(bytes, TraceFormat::Csv));
