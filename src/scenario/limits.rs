//! Rate limits as shared objects.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::{Duration, Share};

/// One limit of a provider. Targets whose scope is the same share one object.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LimitSpec {
    /// Who shares it.
    pub scope: LimitScope,
    /// What is counted.
    pub unit: LimitUnit,
    /// How much per window (or at one time, for concurrency).
    pub limit: u64,
    /// The window; ignored for concurrency.
    #[serde(default = "minute")]
    pub window: Duration,
    /// How it refills.
    #[serde(default)]
    pub refill: Refill,
    /// What is charged when the attempt comes in.
    #[serde(default)]
    pub charge: Charge,
    /// What is corrected when it ends.
    #[serde(default)]
    pub settlement: Settlement,
    /// What the refusal says about waiting.
    #[serde(default)]
    pub retry_after: RetryAfterForm,
    /// Whether refused attempts are charged too.
    #[serde(default)]
    pub charge_refused: bool,
    /// Share of it that other users of the same object take, in ordinary times.
    #[serde(default)]
    pub background: Share,
}

fn minute() -> Duration {
    Duration::from_secs(60)
}

/// Who shares a limit: targets of one provider that also agree in these.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LimitScope {
    /// The account, whatever the model.
    Account,
    /// The account and the model.
    Model,
    /// The account, the model and the region.
    Region,
    /// The deployment alone.
    Deployment,
}

/// What a limit counts.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum LimitUnit {
    /// Attempts.
    Requests,
    /// Input tokens.
    InputTokens,
    /// Output tokens.
    OutputTokens,
    /// Input and output tokens together.
    TotalTokens,
    /// Attempts at one time.
    Concurrency,
    /// Attempts per day; refused as an exhausted quota.
    DayQuota,
}

/// How a limit refills.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Refill {
    /// Continuously: wait = (used + asked − limit) · window / limit.
    #[default]
    Continuous,
    /// All at once at each window's start.
    Window,
}

/// What is charged when an attempt comes in (token units only; requests always count one).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Charge {
    /// The prompt, and the output once it is known.
    #[default]
    Prompt,
    /// The prompt and `max_tokens`.
    PromptAndMax,
}

/// What is corrected when an attempt ends.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Settlement {
    /// Nothing: what was charged stays.
    #[default]
    None,
    /// To the tokens really used.
    Actual,
    /// To input + output × this factor.
    OutputTimes(super::Factor),
}

/// What a refusal says about waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RetryAfterForm {
    /// The true wait.
    #[default]
    Exact,
    /// The true wait, rounded up to whole seconds.
    WholeSeconds,
    /// Nothing.
    None,
    /// Always this.
    Fixed(Duration),
}
