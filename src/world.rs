//! The world of one seed: everything that happens whatever the policy does.
//!
//! Immutable and shared by all policies, so that they meet the same requests, the same weather
//! and, as far as they make the same choices, the same luck.

use windtunnel_policy::{Duration, Instant};

use crate::draw::Key;
use crate::weather::Weather;

/// One realisation of a scenario.
#[derive(Clone, Debug)]
pub struct World {
    /// The seed it was made from.
    pub seed: u64,
    /// Keys the luck that belongs to no request.
    pub key: Key,
    /// Sorted by time, then class, then order of making. Reaches beyond the horizon by the longest
    /// deadline, so that nothing is measured against a silence.
    pub requests: Vec<WorldRequest>,
    /// Closed loops, whose requests depend on the run.
    pub closed_loops: Vec<ClosedLoop>,
    /// The weather.
    pub weather: Weather,
    /// Requests from here are measured …
    pub measured_from: Instant,
    /// … to here.
    pub measured_to: Instant,
}

/// One request, with all that only the world knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WorldRequest {
    /// Arrival.
    pub at: Instant,
    /// Keys all its luck.
    pub key: Key,
    /// Conversation; unique to the request where it has none.
    pub session: u64,
    /// How long the caller waits; `Duration::MAX` for ever.
    pub patience: Duration,
    /// Prompt tokens.
    pub input: u32,
    /// True output tokens.
    pub output: u32,
    /// The caller's output limit.
    pub max_output: u32,
    /// Route class.
    pub class: u16,
    /// What is special about it.
    pub marks: Marks,
}

/// What is special about a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Marks(u8);

impl Marks {
    /// Nothing.
    pub const NONE: Marks = Marks(0);
    /// Takes the answer as a stream.
    pub const STREAMED: Marks = Marks(1);
    /// Malformed: outside all measures.
    pub const INVALID: Marks = Marks(2);
    /// Answered by a valid refusal.
    pub const REFUSED: Marks = Marks(4);
    /// Blocked by a content filter.
    pub const BLOCKED: Marks = Marks(8);
    /// Its caller cancels for reasons of its own (`patience` says when): outside all measures.
    pub const CANCELS: Marks = Marks(16);

    /// Both together.
    pub const fn with(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// True where all of `other` is in it.
    pub const fn has(self, other: Marks) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Users that wait for their answer, think, and ask again.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    /// Route class.
    pub class: u16,
    /// How many users.
    pub users: u32,
}
