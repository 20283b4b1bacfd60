use super::Policy;
use crate::{Duration, Share};

/// Time limits of one attempt.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeouts {
    /// From sending to the complete answer.
    pub attempt: Option<Duration>,
    /// From sending to the first token of a stream; answers that are not streamed have none.
    pub first_token: Option<Duration>,
    /// The longest silence between outputs of a stream.
    pub idle_stream: Option<Duration>,
    /// What counts as the first token.
    pub first_token_means: FirstToken,
    /// What the envelope's total deadline covers.
    pub total_covers: TotalCovers,
}

/// What ends the wait for the first token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FirstToken {
    /// Response headers.
    Headers,
    /// The first chunk, be there content in it or not, such as the one that names the role.
    Chunk,
    /// The first meaningful output.
    Output,
}

/// What a total time limit covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TotalCovers {
    /// Attempts, waits and retries.
    Everything,
    /// The running attempt only: waits are free.
    AttemptsOnly,
}

/// The wait before a same-route retry: `cap = min(max, base * 2^k)` for the k-th retry from 0, or with
/// another factor than 2.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backoff {
    /// The first cap; zero for no wait.
    pub base: Duration,
    /// The largest cap.
    pub max: Duration,
    /// Factor from one cap to the next, in percent: 200 doubles it, 100 keeps it.
    // Not written where it is the default: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_doubling"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = DOUBLING)))]
    pub factor_percent: u32,
    /// How the wait is drawn from the cap.
    pub jitter: Jitter,
    /// Whether a failover or substitution waits as well.
    pub before_failover: bool,
    /// Whether a useless wait follows the last failure, as some gateways do.
    pub after_last: bool,
}

/// Each cap is twice the one before.
pub(crate) const DOUBLING: u32 = 200;

#[cfg(feature = "serde")]
fn is_none_at_all(share: &Share) -> bool {
    *share == Share::ZERO
}

#[cfg(feature = "serde")]
fn is_doubling(percent: &u32) -> bool {
    *percent == DOUBLING
}

/// How a wait is drawn from its cap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Jitter {
    /// Always `base`, never growing.
    Fixed,
    /// The cap itself.
    Exponential,
    /// `base` times the number of the retry, at most `max`.
    Linear,
    /// Uniform in 0..cap.
    Full,
    /// Half the cap, and uniform in 0..cap/2 on top.
    Equal,
    /// Uniform in base..3 × the wait before, at most `max`.
    Decorrelated,
    /// The cap, and uniform in 0..share × cap on top.
    Proportional(Share),
    /// The cap, and uniform in 0..this on top.
    Added(Duration),
    /// The cap, less uniform in 0..share × cap.
    Subtractive(Share),
}

/// What a provider's wait hint does.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetryAfter {
    /// How the hint and the backoff make the wait.
    pub mode: RetryAfterMode,
    /// A longer hint is never waited for; what happens then is `too_long`.
    pub longest_wait: Option<Duration>,
    /// What happens where the wait does not fit.
    pub too_long: WaitTooLong,
    /// Which failure's hint drives the wait.
    pub source: RetryAfterSource,
    /// Jitter on a hint that is waited for: uniform in 0..share × hint on top.
    // Not written where there is none: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_none_at_all"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = Share::ZERO)))]
    pub jitter: Share,
}

/// How a wait hint and the backoff make one wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RetryAfterMode {
    /// The hint is ignored.
    Ignore,
    /// The hint replaces the backoff.
    Honour,
    /// The longer of the two.
    AtLeast,
    /// The hint, cut to this.
    CapAt(Duration),
}

/// What happens where a wait does not fit the deadline or is longer than allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum WaitTooLong {
    /// Do not wait: another target, else stop.
    FailOver,
    /// Stop.
    Stop,
    /// Use the backoff instead.
    Backoff,
}

/// Which failure's hint drives the wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RetryAfterSource {
    /// The latest failure's.
    Latest,
    /// The first failure's.
    First,
}

/// When output is passed on to the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Streaming {
    /// At the first output: the commit boundary is there.
    PassThrough,
    /// At the response headers of a stream, as proxies do to which a 200 is final: whatever fails
    /// after them is the caller's, an error inside the 200 before any output included.
    AtHeaders,
    /// At the first chunk of a stream, be there content in it or not: the same from there on.
    AtFirstChunk,
    /// When the whole answer is validated; costs time to the first token.
    BufferThenRelease,
}

impl Policy {
    /// Whether anything hangs on a first chunk without content.
    pub fn heeds_first_chunk(&self) -> bool {
        self.streaming == Streaming::AtFirstChunk
            || self.timeouts.first_token.is_some()
                && self.timeouts.first_token_means == FirstToken::Chunk
    }
}
