//! What is wrong with a part of a space, before it has a place.

/// What is wrong, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    pub(super) message: String,
    pub(super) fix: String,
}

impl Refusal {
    pub(super) fn new(message: impl Into<String>, fix: impl Into<String>) -> Refusal {
        Refusal { message: message.into(), fix: fix.into() }
    }
}
