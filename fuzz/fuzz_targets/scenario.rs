//! A scenario, with the shipped files it names, from any bytes: read or refused, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windtunnel::input::SourceFile;
use windtunnel::scenario::Scenario;

fuzz_target!(|bytes: &[u8]| {
    let file = SourceFile::from_bytes("fuzz".into(), bytes.to_vec());
    if let Err(error) = file.and_then(|file| Scenario::read(file).map(drop)) {
        assert!(error.to_string().lines().count() <= 3);
    }
});
