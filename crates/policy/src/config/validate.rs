//! What a policy must hold beyond its types.

use alloc::string::String;
use core::fmt;

/// One thing wrong with a policy: where, what, and how to mend it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Path of the field, such as `breakers[0].trip`.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
    /// What to do.
    pub fix: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.field, self.message, self.fix)
    }
}

impl core::error::Error for Problem {}
