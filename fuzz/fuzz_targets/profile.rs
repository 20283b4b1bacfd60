//! A traffic profile from any bytes: read or refused, without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windtunnel::input::SourceFile;
use windtunnel::profile::Profile;

fuzz_target!(|bytes: &[u8]| {
    let file = SourceFile::from_bytes("fuzz".into(), bytes.to_vec());
    if let Err(error) = file.and_then(|file| Profile::read(&file).map(drop)) {
        assert!(error.to_string().lines().count() <= 3);
    }
});
