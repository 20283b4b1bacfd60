//! The scenario file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::target::SideEffects;
use windtunnel_policy::{Duration, Money, Share};

use super::{
    Abort, Capacity, ContractSpec, Failures, JudgedSpec, Latency, LimitSpec, NeedsSpec,
    OperatorSpec, OuterLayer, Pricing, PromptCache, Quality, RetriesSpec, Stick, TenantSpec,
    Tokens, ToolSpec, Traffic, UpstreamProxy, WeatherSpec,
};

/// One file of `scenarios/`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScenarioFile {
    /// Its name in results: by custom the file's, which is what it is found by.
    pub name: String,
    /// What it shows, for people.
    pub shows: String,
    /// What to expect, for people.
    pub expect: String,
    /// Present where the course is a hypothesis: what is hypothetical about it.
    #[serde(default)]
    pub hypothesis: Option<String>,
    /// Where its figures come from, for people.
    #[serde(default)]
    pub sources: Vec<String>,
    /// Requests before this are not measured; at least the longest window or refill.
    #[serde(default)]
    pub warm_up: Duration,
    /// Requests from `warm_up` to here are measured.
    pub horizon: Duration,
    /// Interval of the timeline.
    #[serde(default = "a_minute")]
    pub interval: Duration,
    /// Route classes by name.
    pub classes: BTreeMap<String, ClassSpec>,
    /// Targets by name.
    pub targets: BTreeMap<String, TargetSpec>,
    /// Tenants by name; all requests are one tenant's where none is named.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tenants: BTreeMap<String, TenantSpec>,
    /// The gateway's own resources.
    #[serde(default)]
    pub gateway: Gateway,
    /// Incidents.
    #[serde(default)]
    pub weather: Vec<WeatherSpec>,
    /// Kill switches that operators throw and put back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operators: Vec<OperatorSpec>,
    /// A file of kill switches, relative to the scenario: what operators do besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switches: Option<String>,
    /// To what failures stick where their effect does not say.
    #[serde(default)]
    pub stick: Stick,
    /// Load of other tenants on the fallbacks while a rival is down.
    #[serde(default)]
    pub background: Background,
    /// The target whose unloaded answer is the yardstick of `excess_latency`, and that the
    /// `single` policy uses; the first of the primary group where absent.
    #[serde(default)]
    pub reference_target: Option<String>,
    /// The policies `compare` uses where none is named.
    #[serde(default)]
    pub policies: Vec<String>,
}

fn a_minute() -> Duration {
    Duration::from_secs(60)
}

/// A route class: product facts and traffic.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClassSpec {
    /// When an answer is too late.
    #[serde(default)]
    pub deadline: Deadline,
    /// What the request may do outside the model.
    #[serde(default)]
    pub side_effects: SideEffects,
    /// The tool that writes, where its effects are to be followed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolSpec>,
    /// What every target that serves it must be able to do.
    #[serde(default)]
    pub required: Vec<String>,
    /// What every target that serves it must promise; see `contract` of targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<NeedsSpec>,
    /// What the application says of answers later; nothing where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedSpec>,
    /// Models approved as substitutes.
    #[serde(default)]
    pub substitutes: Vec<String>,
    /// The most all attempts of one request may cost.
    #[serde(default)]
    pub max_cost: Option<Money>,
    /// Targets by role.
    pub groups: Groups,
    /// The application's own loop around whatever calls the gateway; none where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub application: Option<OuterLayer>,
    /// The client SDK that calls the gateway, inside the application's loop; one that never
    /// repeats where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sdk: Option<OuterLayer>,
    /// Who repeats, and how often in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retries: Option<RetriesSpec>,
    /// The tenant whose requests these are; where absent its sessions are dealt by the tenants' shares.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// Its traffic.
    pub traffic: Traffic,
}

/// When an answer is too late, from arrival.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Deadline {
    /// First output.
    pub first_output: Option<Duration>,
    /// The whole answer; 600s, as long as the official clients wait, where absent.
    pub total: Option<Duration>,
}

/// Targets by role; each list in the product's order of preference.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Groups {
    /// Tried first.
    pub primary: Vec<String>,
    /// Tried next, group by group.
    #[serde(default)]
    pub fallbacks: Vec<Vec<String>>,
    /// Cheaper models.
    #[serde(default)]
    pub cheaper: Vec<String>,
    /// Models with a larger window.
    #[serde(default)]
    pub larger_window: Vec<String>,
}

/// A target: a model card, and what is different here.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetSpec {
    /// A shipped card's name, or a path relative to the scenario.
    pub card: String,
    /// Where it runs.
    #[serde(default)]
    pub region: Option<String>,
    /// The deployment there; the target's name where absent.
    #[serde(default)]
    pub deployment: Option<String>,
    /// Whose account.
    #[serde(default = "main_account")]
    pub account: String,
    /// Weight for weighted selection.
    #[serde(default = "one")]
    pub weight: u32,
    /// What it promises, as the product has verified it; nothing where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contract: Option<ContractSpec>,
    /// Within a group, targets of the highest priority come first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: u16,
    /// Attempts that may be in flight here as failovers or substitutions.
    #[serde(default)]
    pub failover_in_flight: Option<u32>,
    /// Replaces the card's block.
    #[serde(default)]
    pub price: Option<Pricing>,
    /// Replaces the card's block.
    #[serde(default)]
    pub latency: Option<Latency>,
    /// Replaces the card's block.
    #[serde(default)]
    pub capacity: Option<Capacity>,
    /// Replaces the card's block.
    #[serde(default)]
    pub limits: Option<Vec<LimitSpec>>,
    /// Replaces the card's block.
    #[serde(default)]
    pub failures: Option<Failures>,
    /// Replaces the card's block.
    #[serde(default)]
    pub quality: Option<Quality>,
    /// Replaces the card's block.
    #[serde(default)]
    pub abort: Option<Abort>,
    /// Replaces the card's figure.
    #[serde(default)]
    pub context_tokens: Option<Tokens>,
    /// Replaces the card's block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_cache: Option<PromptCache>,
    /// A proxy between the gateway and the provider that repeats on its own; replaces the card's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_proxy: Option<UpstreamProxy>,
}

fn main_account() -> String {
    "main".into()
}

fn is_zero(priority: &u16) -> bool {
    *priority == 0
}

fn one() -> u32 {
    1
}

/// The gateway's own resources.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gateway {
    /// Connections shared by all targets; an attempt that finds none free is not sent.
    pub connections: Option<u32>,
    /// Connections per target.
    pub connections_per_target: Option<u32>,
    /// How many requests may be inside at one time; any number where absent. Each replica's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<InFlight>,
}

/// How many requests may be inside the gateway, and what becomes of the others.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InFlight {
    /// Requests inside at one time: from their arrival to their end, waits between attempts included.
    pub max: u32,
    /// Requests that may wait for a place, the highest `priority` of a tenant first, then the first that
    /// came; where it is full, one of a higher priority takes the place of the last of a lower.
    #[serde(default)]
    pub queue: u32,
    /// The status of the others: 429 or 503 as a rule.
    #[serde(default = "too_many_requests")]
    pub status: u16,
}

fn too_many_requests() -> u16 {
    429
}

/// Load of other tenants on the fallbacks while a rival is down.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Background {
    /// Factor on the background load of every target that an incident does not hit, at an error
    /// share of one; absent: no surge.
    pub surge: Option<super::Factor>,
    /// Share of failing attempts from which the surge begins.
    pub from_share: Share,
}
