//! Who asks for what, when.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::{Duration, Share};

use super::{DistSpec, Factor, Rate, Tokens};

/// The traffic of one route class.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// When requests come.
    pub arrivals: Arrivals,
    /// How long prompts and answers are; from the trace or profile where absent.
    #[serde(default)]
    pub tokens: Option<TokenSpec>,
    /// Share of requests that take the answer as a stream.
    #[serde(default = "all")]
    pub streamed: Share,
    /// Share of each prompt that its session's request before had at its start, too: what a
    /// provider's cache may remember. Needs traffic with sessions: a closed loop, whose users are
    /// sessions, a profile or a trace.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub shared_prefix: Share,
    /// How long callers wait before they go away, from arrival; for ever where absent.
    #[serde(default)]
    pub patience: Option<DistSpec<Duration>>,
    /// Share of requests that are malformed: every target answers 400. Outside all measures.
    #[serde(default)]
    pub invalid: Share,
    /// Share of requests answered by a valid refusal.
    #[serde(default)]
    pub refusals: Share,
    /// Share of requests blocked by a provider's content filter.
    #[serde(default)]
    pub content_policy: Share,
    /// Share of requests whose caller cancels for reasons of its own. Outside all measures.
    #[serde(default)]
    pub caller_cancels: Share,
    /// When such a caller cancels, from arrival.
    #[serde(default)]
    pub cancels_after: Option<DistSpec<Duration>>,
}

fn is_nothing(share: &Share) -> bool {
    *share == Share::ZERO
}

fn all() -> Share {
    Share::ONE
}

/// When requests come.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// Independently of each other.
    Poisson(Rate),
    /// With gaps from a Gamma distribution.
    Gamma {
        /// Mean rate.
        rate: Rate,
        /// Coefficient of variation of the gaps; 1 is Poisson.
        cv: Factor,
    },
    /// Poisson bursts and silences in turn, both of exponential length.
    OnOff {
        /// Rate during a burst.
        rate: Rate,
        /// Mean length of a burst.
        on: Duration,
        /// Mean length of a silence.
        off: Duration,
    },
    /// Poisson at a rate that changes at stated times, repeated with `every` where given.
    Steps {
        /// Sorted, the first from 0s.
        steps: Vec<RateStep>,
        /// Period, such as 24h.
        #[serde(default)]
        every: Option<Duration>,
    },
    /// A traffic profile made by `windtunnel profile`.
    Profile(ProfileUse),
    /// Exact replay of a trace.
    Trace(TraceUse),
    /// A fixed number of users, each waiting for its answer and then thinking.
    ClosedLoop {
        /// How many.
        users: u32,
        /// Time from an answer (or failure) to the next request.
        think: DistSpec<Duration>,
    },
}

/// A rate from a time on.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// From when.
    pub from: Duration,
    /// How many.
    pub rate: Rate,
}

/// How a traffic profile is used.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileUse {
    /// A shipped profile's name, or a path relative to the scenario.
    pub file: String,
    /// Repeat it to cover the horizon. A profile shorter than the horizon is refused otherwise.
    #[serde(default)]
    pub tile: bool,
    /// Rate factor: requests are thinned (below 1) or laid over each other (above 1).
    #[serde(default)]
    pub scale: Option<Factor>,
}

/// How a trace is replayed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceUse {
    /// Path relative to the scenario; `.csv` or `.jsonl`. Rows without output, failures of the
    /// recorded system, are left out and counted in a note.
    pub file: String,
    /// What the columns mean.
    pub layout: TraceLayout,
    /// Repeat it to cover the horizon. A trace shorter than the horizon is refused otherwise.
    #[serde(default)]
    pub tile: bool,
    /// Rate factor: times are divided by it.
    #[serde(default)]
    pub scale: Option<Factor>,
    /// Times are those of the scenario: the first row comes when it says, not at once, and after the
    /// last nobody comes. For several classes recorded together; excludes `tile` and `scale`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub absolute: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Known trace layouts, or the user's own columns.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum TraceLayout {
    /// Azure LLM inference traces 2023: `TIMESTAMP,ContextTokens,GeneratedTokens`.
    Azure2023,
    /// BurstGPT: `Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type`.
    BurstGpt,
    /// Mooncake JSON Lines: `timestamp` (ms), `input_length`, `output_length`.
    Mooncake,
    /// The user's own.
    Columns(TraceColumns),
}

/// Names of the columns (or JSON fields) of the user's own trace.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceColumns {
    /// Arrival time.
    pub time: String,
    /// `s`, `ms`, `us` since any origin, or `datetime`.
    pub time_unit: String,
    /// Prompt length in tokens.
    pub input_tokens: String,
    /// Output length in tokens.
    pub output_tokens: String,
    /// The caller's output limit; absent: the card's maximum.
    #[serde(default)]
    pub max_output_tokens: Option<String>,
    /// Conversation.
    #[serde(default)]
    pub session: Option<String>,
}

/// How long prompts and answers are.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenSpec {
    /// Prompt tokens; from the trace or profile where absent.
    #[serde(default)]
    pub input: Option<DistSpec<Tokens>>,
    /// True output tokens; from the trace or profile where absent.
    #[serde(default)]
    pub output: Option<DistSpec<Tokens>>,
    /// The caller's `max_tokens`; the true output never exceeds it. Where absent, the trace's, else
    /// the most the reference target makes: a limit that charges it at admission then charges that.
    #[serde(default)]
    pub max_output: Option<Tokens>,
}
