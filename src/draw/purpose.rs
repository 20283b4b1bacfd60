//! What a draw is for.

/// Writes the enum and the list of all its members from one list.
macro_rules! purposes {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// What a draw is for. The number is part of every draw: once written it is
        /// never changed and never used again, and a new purpose takes a new number.
        ///
        /// Whether a failure occurs and which failure it is are separate purposes, so
        /// that changing a mix of failure classes never changes which attempts fail.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[repr(u8)]
        pub enum Purpose {
            $($(#[$doc])* $name = $number,)*
        }

        impl Purpose {
            /// Every purpose, in ascending order of its number.
            pub const ALL: &[Purpose] = &[$(Purpose::$name),*];
        }
    };
}

purposes! {
    /// Deriving a key from another; never drawn for anything else.
    ChildKey = 0,

    /// Does the share of a failure that sticks to this request on this target strike?
    FailureSticksToRequest = 1,
    /// Does the share of a failure that sticks to this target for a time window strike?
    FailureSticksToWindow = 2,
    /// Does the share of a failure that sticks to nothing strike this try?
    FailureFree = 3,
    /// Which failure class it is.
    FailureClass = 4,
    /// How long a failing attempt takes to fail.
    FailureLatency = 5,
    /// The wait a provider names in Retry-After, around its stated value.
    RetryAfterJitter = 6,

    /// Time from send to headers.
    HeadersLatency = 10,
    /// Time to first token; with the second half of its block, time per output token.
    FirstToken = 11,
    /// Service time of a target described by one duration only.
    Service = 13,
    /// Whether an attempt meets a slowdown that hits a share of requests.
    Slowdown = 14,
    /// Setting up a connection that is not in the pool.
    Connection = 15,

    /// Whether a stream breaks.
    StreamBreak = 20,
    /// How far into the output a stream breaks.
    BreakPosition = 21,
    /// Whether an edge of the weather cuts an attempt in flight.
    CutInFlight = 22,
    /// Whether the answer keeps the contract (schema, tool call, completeness).
    Contract = 23,
    /// How good the answer is.
    Quality = 24,
    /// Whether the model refuses.
    Refusal = 25,
    /// Whether an upstream proxy of the target's own retries.
    UpstreamRetry = 26,
    /// Whether the provider's content filter blocks the prompt.
    ContentFilter = 27,

    /// The salt handed to the policy, its only randomness.
    Salt = 30,
    /// The 128-bit key of each request.
    RequestKey = 31,
    /// Number of prompt tokens.
    PromptTokens = 32,
    /// Number of output tokens.
    OutputTokens = 33,
    /// Length of the prefix a session shares.
    SharedPrefix = 34,
    /// Which session a request belongs to.
    Session = 35,
    /// How long the caller waits before giving up.
    Patience = 36,
    /// Whose a session is.
    Tenant = 37,
    /// Whether a request uses tools with side effects.
    ToolUse = 38,
    /// Whether a request is invalid or oversized.
    Malformed = 39,
    /// Time between arrivals.
    ArrivalGap = 40,
    /// Lengths of the on and off phases of bursts.
    BurstPhase = 41,
    /// Think time of a closed loop's user.
    ThinkTime = 42,
    /// Exchange of trace rows within their blocks.
    TraceShuffle = 43,
    /// Whether a request takes its answer as a stream.
    Streamed = 44,
    /// Whether the caller cancels for reasons of its own.
    CallerCancels = 45,
    /// When such a caller cancels.
    CancelTime = 46,
    /// Which stretches of a trace or profile a resampled world is made of.
    TraceBlock = 47,
    /// How long a layer other than the gateway waits before it repeats.
    LayerBackoff = 48,

    /// Start of a weather event within its stated range.
    WeatherOnset = 50,
    /// Length of a weather event.
    WeatherDuration = 51,
    /// Severity of a weather event.
    WeatherSeverity = 52,
    /// Time between weather events.
    WeatherGap = 53,
    /// On and off phases of a flapping event.
    WeatherFlap = 54,
    /// Whether an event over a failure domain takes a target with it.
    WeatherSpread = 55,
    /// Background load of other tenants.
    BackgroundLoad = 56,
    /// Delay of a human operator after detection.
    Operator = 57,

    /// How long a tool takes to write or to fail.
    ToolTakes = 60,
    /// Whether a call of a tool fails.
    ToolFails = 61,
    /// Whether a tool knows an idempotency key again.
    ToolDeduplicates = 62,
    /// How long a look at the record of a tool's execution takes.
    RecordTakes = 63,
    /// Whether the record never says what was done.
    RecordUnknown = 64,
    /// Whether the application judges an answer.
    Judged = 65,
    /// How long after the answer it does.
    JudgedAfter = 66,

    /// Which policy of a split serves a session.
    Split = 70,
    /// Which replica of the gateway serves a session.
    Replica = 71,

    /// Where a variant of a sampled space lies in a dimension.
    Variant = 80,
    /// Which blocks of a log a refit is made of.
    Refit = 81,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purposes_are_listed_in_ascending_order() {
        assert!(Purpose::ALL.is_sorted_by_key(|&purpose| purpose as u8));
    }
}
