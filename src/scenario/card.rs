//! Model cards: what one model at one provider costs, limits, takes and gets wrong.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::outcome::{FailureClass, Phase};
use windtunnel_policy::{Duration, Money, Share};

use super::{DistSpec, LimitSpec, Tokens, UpstreamProxy};

/// One file of `models/`. Every block names the source of its figures.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelCard {
    /// Its name in results: by custom the file's, which is what it is found by.
    pub name: String,
    /// One or two sentences for people.
    pub description: String,
    /// Who runs it.
    pub provider: String,
    /// The model; cards of one model keep one contract.
    pub model: String,
    /// Where it runs, unless the scenario says otherwise.
    #[serde(default)]
    pub region: String,
    /// Where the figures come from, by the short names the blocks use.
    pub sources: BTreeMap<String, Source>,
    /// Input and output tokens together that fit.
    pub context_tokens: Tokens,
    /// The most output tokens.
    pub max_output_tokens: Tokens,
    /// What it can do beyond text.
    #[serde(default)]
    pub capabilities: Vec<String>,
    /// What it charges.
    pub price: Pricing,
    /// How long it takes.
    pub latency: Latency,
    /// How much it can do at one time.
    pub capacity: Capacity,
    /// Its limits.
    #[serde(default)]
    pub limits: Vec<LimitSpec>,
    /// Source of the limits.
    #[serde(default)]
    pub limits_source: Option<String>,
    /// What goes wrong in ordinary times.
    pub failures: Failures,
    /// How good complete answers are.
    #[serde(default)]
    pub quality: Quality,
    /// What cancelling does.
    #[serde(default)]
    pub abort: Abort,
    /// Its cache of prompts; none where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache: Option<PromptCache>,
    /// A proxy before the provider that repeats on its own; none where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_proxy: Option<UpstreamProxy>,
}

/// Where figures come from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// What it is, precisely enough to find it again. `assumed` figures say why here.
    pub what: String,
    /// When the figures were read or published (YYYY-MM-DD, YYYY-MM or YYYY).
    pub date: String,
    /// Licence of the data, where figures were computed from a data set.
    #[serde(default)]
    pub licence: Option<String>,
    /// True where nobody measured it.
    #[serde(default)]
    pub assumed: bool,
}

/// Dollars per million tokens, and what is billed when things go wrong.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pricing {
    /// Name of the source.
    pub source: String,
    /// Per million input tokens.
    pub input_per_million: Money,
    /// Per million input tokens read from the provider's cache; the input price where absent.
    #[serde(default)]
    pub cached_per_million: Option<Money>,
    /// Per million output tokens.
    pub output_per_million: Money,
    /// What is billed for attempts that failed before output.
    #[serde(default)]
    pub failed: Billing,
    /// What is billed for attempts cancelled or broken off.
    #[serde(default = "consumed")]
    pub cancelled: Billing,
}

fn consumed() -> Billing {
    Billing::Consumed
}

/// What is billed for an attempt that did not complete.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Billing {
    /// Nothing.
    #[default]
    Nothing,
    /// The prompt (once work on it began) and the output made so far.
    Consumed,
    /// The prompt and all the output it would have made.
    Full,
}

/// How long things take on an unloaded target.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Name of the source.
    pub source: String,
    /// From sending to response headers; never later than the first token.
    pub headers: DistSpec<Duration>,
    /// From the headers of a stream to a first chunk without content, such as the one that names the
    /// role; never later than the first token. Where absent, the first chunk is the first token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_after_headers: Option<DistSpec<Duration>>,
    /// From sending to the first token, for a prompt of `prompt_tokens`.
    pub first_token: DistSpec<Duration>,
    /// The prompt length `first_token` was measured at.
    pub prompt_tokens: Tokens,
    /// Added (or taken off, never below the headers) per prompt token beyond or below that.
    pub per_prompt_token: Duration,
    /// Per output token after the first; drawn once per attempt.
    pub per_output_token: DistSpec<Duration>,
    /// From sending to a failure that came before headers, and to a refusal by a limit.
    pub failure: DistSpec<Duration>,
}

/// How much a target can do at one time.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capacity {
    /// Name of the source.
    pub source: String,
    /// Attempts worked on at one time.
    pub slots: u32,
    /// Attempts that may wait for a slot; more are shed.
    #[serde(default)]
    pub queue: u32,
    /// Status of a shed attempt.
    #[serde(default = "overloaded_status")]
    pub shed_status: u16,
    /// How load slows everything down.
    #[serde(default)]
    pub speed_by_load: SpeedByLoad,
    /// Slots that other tenants hold in ordinary times, on average.
    #[serde(default)]
    pub background_slots: u32,
    /// Whether an attempt that cannot finish before the gateway gives it up is dropped when its turn comes.
    #[serde(default)]
    pub drops_late: bool,
}

fn overloaded_status() -> u16 {
    503
}

/// Speed as a function of attempts in work, in parts of full speed.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpeedByLoad {
    /// Load does not slow it.
    #[default]
    Flat,
    /// `1 / (1 + in_work / k)`.
    HalfAt(u32),
    /// Speed from this many attempts in work on: `[[0, 100%], [50, 60%]]`, sorted, from 0.
    Table(Vec<(u32, Share)>),
}

/// What goes wrong in ordinary times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// Name of the source.
    pub source: String,
    /// Each kind with its own share of attempts; together at most 1.
    pub mix: Vec<FailureShare>,
    /// Share of streams that break off after output began.
    #[serde(default)]
    pub broken_streams: Share,
    /// Share of streams that fall silent after output began.
    #[serde(default)]
    pub stalled_streams: Share,
    /// To what failures stick; the scenario's default where absent.
    #[serde(default)]
    pub stick: Option<Stick>,
}

/// One kind of failure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureShare {
    /// Its class.
    pub class: FailureClass,
    /// Its HTTP status; 0 for a connection that broke, 200 for an error inside a stream.
    pub status: u16,
    /// How far the response had come.
    #[serde(default = "before_headers")]
    pub phase: Phase,
    /// Share of attempts.
    pub share: Share,
    /// The wait hint it carries.
    #[serde(default)]
    pub retry_after: Option<Duration>,
    /// True for attempts that are never answered at all.
    #[serde(default)]
    pub hang: bool,
}

fn before_headers() -> Phase {
    Phase::BeforeHeaders
}

/// Shares of a failure's probability that stick to the request × target, to the target × time
/// window, and to nothing. They add up to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stick {
    /// To the request on this target: every further try there fails too.
    pub request: Share,
    /// To the target for one window of time: everybody there fails together.
    pub window: Share,
    /// To nothing: an independent draw.
    pub free: Share,
    /// Length of the window.
    #[serde(default = "sixty_seconds")]
    pub window_length: Duration,
}

fn sixty_seconds() -> Duration {
    Duration::from_secs(60)
}

impl Default for Stick {
    /// The shares assumed where no evidence says otherwise.
    fn default() -> Stick {
        let quarter = Share::ratio(1, 4);
        Stick {
            request: Share::ratio(1, 2),
            window: quarter,
            free: quarter,
            window_length: sixty_seconds(),
        }
    }
}

/// How good complete answers are.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Quality {
    /// Name of the source.
    pub source: Option<String>,
    /// Share of complete answers that break their schema or call a tool wrongly.
    pub contract_failures: Share,
    /// Of those, the share no validator notices.
    pub silent: Share,
    /// Share of valid answers that do not do the job.
    pub task_failures: Share,
    /// Share of streams that end early but look complete.
    pub truncated: Share,
}

/// A provider's cache of prompts: shared by the targets of one provider, account and model. What it
/// remembers of a prompt costs the cached price and no time per token. Limits do not know of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromptCache {
    /// Name of the source.
    pub source: String,
    /// How long a prefix is remembered after the latest answer that began with it.
    pub time_to_live: Duration,
    /// Shorter prefixes are not remembered.
    pub min_tokens: Tokens,
}

/// What cancelling an attempt does at the provider.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Abort {
    /// Name of the source.
    pub source: Option<String>,
    /// For streamed attempts.
    pub streamed: AbortRule,
    /// For attempts that are not streamed.
    pub whole: AbortRule,
}

/// What cancelling an attempt does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AbortRule {
    /// Work stops; slot and concurrency come back at once.
    #[default]
    Stops,
    /// Work runs on to its end, unseen.
    RunsOn,
}
