//! Traffic profiles: small files computed from a trace that keep how requests came and how long
//! they were, and no row.
//!
//! A profile holds the exact number of requests of every second, and for every minute the prompt
//! lengths and the answer lengths, each sorted on its own. Which answer belonged to which prompt,
//! and to which second, is gone; within the minute they are dealt out anew for each world. (In the
//! Azure traces prompt and answer lengths are nearly independent, so little is lost: Spearman −0.02
//! and 0.07.) Sessions are kept as how many turns they have and how far apart.
//!
//! A minute with a single request still shows its lengths: whoever makes profiles of private
//! traffic should merge enough of it first.

/// A traffic profile.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// Unique name, equal to the file's.
    pub name: String,
    /// One or two sentences for people.
    pub description: String,
    /// The trace it was computed from, precisely enough to find it again.
    pub source: String,
    /// Licence of the trace.
    pub licence: String,
    /// Day or month the trace was recorded.
    pub date: String,
    /// Consecutive minutes from the first request on; the last may be shorter.
    pub minutes: Vec<Minute>,
    /// How requests hang together, where the trace says.
    pub sessions: Option<Sessions>,
}

/// One minute of traffic.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Minute {
    /// Requests of each second; 60 of them, but for the last minute.
    pub counts: Vec<u32>,
    /// Prompt lengths, ascending.
    pub input: Vec<u32>,
    /// Answer lengths, ascending.
    pub output: Vec<u32>,
}

/// How requests hang together in conversations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sessions {
    /// Number of sessions with 1, 2, 3 … turns.
    pub turns: Vec<u32>,
    /// Evenly spaced quantiles of the time from one turn to the next, in ms; at least two, from
    /// the smallest to the largest.
    pub gaps_ms: Vec<u64>,
}
