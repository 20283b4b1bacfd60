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

mod deal;
mod from_trace;
mod text;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use deal::Dealt;
pub use from_trace::{About, Row};
pub use text::ProfileError;

/// A traffic profile.
#[derive(Clone, PartialEq, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Version of the format: 1.
    pub format: u32,
    /// Its name in results: by custom the file's, which is what it is found by.
    pub name: String,
    /// One or two sentences for people.
    pub description: String,
    /// The trace it was computed from, precisely enough to find it again.
    pub source: String,
    /// Licence of the trace.
    pub licence: String,
    /// Day or month the trace was recorded.
    pub date: String,
    /// Share of requests that bear each label the trace gave them (a model, a kind of log), for
    /// people who divide the profile over route classes by `scale`.
    #[serde(default)]
    pub labels: BTreeMap<String, f64>,
    /// Consecutive minutes from the first request on; the last may be shorter.
    pub minutes: Vec<Minute>,
    /// How requests hang together, where the trace says.
    #[serde(default)]
    pub sessions: Option<Sessions>,
}

impl Profile {
    /// The version of the format this release reads and writes.
    pub const FORMAT: u32 = 1;

    /// The time it covers, in seconds.
    pub fn seconds(&self) -> u64 {
        self.minutes.iter().map(|minute| minute.counts.len() as u64).sum()
    }

    /// The number of requests.
    pub fn requests(&self) -> u64 {
        self.minutes.iter().map(|minute| minute.input.len() as u64).sum()
    }
}

/// One minute of traffic.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Minute {
    /// Requests of each second; 60 of them, but for the last minute. In a file, numbers between
    /// blanks; `0*12` is twelve times 0.
    #[serde(deserialize_with = "text::runs")]
    #[schemars(with = "String")]
    pub counts: Vec<u32>,
    /// Prompt lengths, ascending. In a file, the first and then the differences.
    #[serde(deserialize_with = "text::ascending")]
    #[schemars(with = "String")]
    pub input: Vec<u32>,
    /// Answer lengths, ascending. In a file, the first and then the differences.
    #[serde(deserialize_with = "text::ascending")]
    #[schemars(with = "String")]
    pub output: Vec<u32>,
}

/// How requests hang together in conversations.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sessions {
    /// Number of sessions with 1, 2, 3 … turns.
    pub turns: Vec<u32>,
    /// Evenly spaced quantiles of the time from one turn to the next, in ms; at least two, from
    /// the smallest to the largest.
    pub gaps_ms: Vec<u64>,
}

#[cfg(test)]
mod tests;
