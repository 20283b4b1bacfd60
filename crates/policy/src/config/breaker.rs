use alloc::vec::Vec;

use crate::{Duration, Share};

/// One circuit breaker per distinct value of its key.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Breaker {
    /// What shares one breaker: parts of a target, and what the request's class requires; not empty.
    pub key: Vec<KeyPart>,
    /// What opens it; any of these.
    pub trip: Vec<Trip>,
    /// How long it stays open.
    pub open_for: Duration,
    /// How that grows with repeated openings.
    pub growth: Growth,
    /// Jitter on the open time: uniform in 0..share × open time on top.
    pub open_jitter: Share,
    /// What follows the open time.
    pub after_open: AfterOpen,
    /// Probes while half-open.
    pub probes: Probes,
    /// How traffic returns after the probes.
    pub ramp: Option<Ramp>,
    /// Over how long traffic leaves once it has opened: the share that is admitted falls in a straight line
    /// from all to none, for fallbacks that must warm up. All at once where absent.
    // Not written where it is absent: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub leaves_over: Option<Duration>,
    /// What a trip does while already open.
    pub recooling: Recooling,
    /// Whether outcomes of failovers and substitutions count.
    pub count_recovery: bool,
    /// Whether a target alone in its group is exempt.
    pub exempt_single: bool,
}

/// A part of a target's identity, or what a request needs of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum KeyPart {
    /// Who runs it.
    Provider,
    /// The model.
    Model,
    /// Where it runs.
    Region,
    /// The deployment.
    Deployment,
    /// The account.
    Account,
    /// What the request's route class requires (`required`): classes that require the same share one.
    Capability,
}

/// What opens a breaker. Outcomes count when they are known: a success at its first output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Trip {
    /// This many failures in a row.
    Consecutive(u32),
    /// A share of the last outcomes.
    RateOverCount {
        /// Failures among them that open it, at least.
        failures: Share,
        /// How many outcomes are kept; at most 1024.
        last: u32,
        /// Outcomes needed before the rate counts.
        min_calls: u32,
    },
    /// A share of the outcomes of a rolling time window, kept in ten buckets.
    RateOverTime {
        /// Failures among them that open it, at least.
        failures: Share,
        /// Length of the window.
        window: Duration,
        /// Outcomes needed before the rate counts.
        min_calls: u32,
    },
    /// A share of outcomes of a window that starts at its first outcome and is then thrown away.
    RateOverTumbling {
        /// Failures among them that open it, at least.
        failures: Share,
        /// Length of the window.
        window: Duration,
        /// Outcomes needed before the rate counts.
        min_calls: u32,
    },
    /// So many failures in a window that starts at its first failure and is then thrown away.
    CountOverTumbling {
        /// Failures that open it.
        failures: u32,
        /// Length of the window.
        window: Duration,
    },
    /// A share of calls slower than a limit.
    SlowCalls {
        /// Slow calls that open it, at least.
        share: Share,
        /// What is slow.
        slower_than: Duration,
        /// Length of the window.
        window: Duration,
        /// Outcomes needed before the rate counts.
        min_calls: u32,
    },
}

/// How the open time grows with repeated openings.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Growth {
    /// Factor per opening in a row, in percent; 100 for none.
    pub percent: u32,
    /// The longest open time.
    pub max: Duration,
}

/// What follows the open time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AfterOpen {
    /// Probes decide.
    HalfOpen,
    /// It closes at once: a timed cooldown.
    Close,
}

/// Probes of a half-open breaker. A probe permit belongs to its attempt and returns at every ending.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Probes {
    /// Probes in flight at one time; at least 1.
    pub concurrent: u32,
    /// Successful probes in a row that close it; at least 1.
    pub successes: u32,
}

/// How traffic returns after the probes: a share that grows in a straight line.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ramp {
    /// Time from the first share to all.
    pub over: Duration,
    /// The share admitted at once.
    pub from: Share,
}

/// What a trip does while already open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Recooling {
    /// The first end stays.
    KeepFirst,
    /// The end moves to now + open time.
    Extend,
    /// The later of both ends.
    Maximum,
}

/// Taking a target out for a stated time, without probes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cooldown {
    /// When it starts, and how long it lasts.
    pub rule: CooldownRule,
    /// The longest cooldown; a longer hint is cut.
    pub max: Duration,
    /// What a second cause does while it runs.
    pub recooling: Recooling,
    /// Whether a target alone in its group is exempt.
    // Not written where it is not set: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "core::ops::Not::not"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub exempt_single: bool,
}

/// When a cooldown starts, and how long it lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CooldownRule {
    /// Never.
    None,
    /// For the provider's wait hint; without a hint, never.
    RetryAfter,
    /// For the provider's wait hint; without a hint, this long.
    RetryAfterOr(Duration),
    /// Always this long.
    Fixed(Duration),
}

/// Taking a target out after its credential or account failed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Isolation {
    /// How long an isolated target stays out; `null`: until an operator puts it back.
    pub target_for: Option<Duration>,
    /// How long the targets of an account without quota stay out, where the provider gives no hint of
    /// when that comes back.
    pub account_for: Option<Duration>,
}

/// What to do when no target admits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AllUnavailable {
    /// Fail at once.
    Fail,
    /// Wait for the target that returns first, where that fits.
    WaitForEarliest,
    /// Use the targets all the same.
    FailOpen,
}
