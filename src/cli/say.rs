//! What is said on standard error, beside results.

use std::fmt::Display;
use std::io::{Write, stderr};

/// Says what kind of message it is, and the message. Where nobody can hear it, the exit code still
/// tells.
pub(super) fn say(kind: &str, message: impl Display) {
    let _ = writeln!(stderr(), "{kind}: {message}");
}
