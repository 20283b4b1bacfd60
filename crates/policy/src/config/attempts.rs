use crate::{Duration, Money, Share};

/// How many attempts a request may make, and in which order they are considered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attempts {
    /// Attempts in all, the first included; 1 to 1000.
    pub max: u16,
    /// Attempts on any one target, the first included; at least 1.
    pub max_same_target: u16,
    /// Attempts in the first group, before any fallback group is entered.
    pub max_before_fallback: Option<u16>,
    /// Attempts in fallback groups together.
    pub max_after_fallback: Option<u16>,
    /// What `max` counts.
    pub scope: BudgetScope,
    /// In which order retries and failovers are considered.
    pub order: LoopOrder,
    /// Whether a target that failed may be picked again once its retries are spent; never after a
    /// failure whose class allows no retry.
    pub repick_failed: bool,
    /// Whether same-route retries are allowed at all.
    pub allow_retry: bool,
    /// Whether equivalent failover is allowed at all.
    pub allow_failover: bool,
    /// Whether model substitution is allowed at all (the product must approve the model as well).
    pub allow_substitution: bool,
    /// Whether this gateway owns the retries of the whole action: what it gives up is answered as
    /// not retryable, and proxies behind it are told not to repeat. Layers that heed this leave
    /// one loop of them all.
    // Not written where it is not set: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub owns_retries: bool,
}

/// What an attempt budget counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BudgetScope {
    /// All attempts of the request.
    Request,
    /// Attempts in each group: every fallback group gets a fresh budget, and waits grow anew in it.
    Group,
    /// Attempts on each target; waits grow anew at each.
    Target,
}

/// How the loops nest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LoopOrder {
    /// Spend a target's retries, then fail over.
    RetryThenFailover,
    /// Fail over first; retry the latest target only when no other of the model is left.
    FailoverThenRetry,
    /// Walk over all targets, then repeat the whole walk.
    WalkThenRetry,
    /// One counter; each attempt is a fresh choice by the strategy, the same target included.
    FreePick,
}

/// Limits on time and money. Where the product limits too, the stricter applies.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Envelope {
    /// From arrival to the end of the answer.
    pub deadline_total: Option<Duration>,
    /// From arrival to the first output.
    pub deadline_first_output: Option<Duration>,
    /// The most that waiting and recovery may add before the answering attempt is sent.
    pub max_added_latency: Option<Duration>,
    /// The most all attempts of one request may cost.
    pub max_cost: Option<Money>,
    /// Part of the deadline that retries on the first target may not use.
    pub reserve_for_failover: Duration,
    /// Least time left for an attempt to be useful.
    pub min_useful: Duration,
    /// Added to the estimate of an attempt's latency before it is held against the time left.
    pub safety_margin: Duration,
    /// How the latency of the next attempt is estimated.
    pub estimate: Estimate,
    /// What may happen after output was released.
    pub after_partial_output: AfterPartialOutput,
}

/// The latency to expect of an attempt: a trailing quantile per target and route class.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Whether attempts are refused by estimate at all.
    pub enabled: bool,
    /// Which quantile is expected.
    pub quantile: Share,
    /// Used until `min_samples` were seen; the target's own prior where absent.
    pub prior: Option<Duration>,
    /// Outcomes needed before the estimate replaces the prior.
    pub min_samples: u32,
    /// How long outcomes are remembered; after that the prior holds again, or one bad spell
    /// would forbid for ever the attempts that could correct it.
    pub expires: Duration,
}

/// What may happen after output was released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AfterPartialOutput {
    /// A terminal partial error. The only rule without a resume protocol of the application.
    FailClean,
}
