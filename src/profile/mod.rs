//! Traffic profiles: small files computed from a trace, without its rows.

/// A traffic profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// Where it comes from, for people.
    pub source: String,
    /// Requests in each second.
    pub counts: Vec<u32>,
}
