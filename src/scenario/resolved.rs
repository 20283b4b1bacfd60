//! A scenario with its cards, profiles and traces in place: what a run is made from.

use windtunnel_policy::target::{TargetId, Topology};
use windtunnel_policy::{Duration, Instant, Price, Share};

use super::{
    Abort, Billing, Capacity, FailureShare, LimitSpec, OuterLayer, PromptCache, Quality,
    RetriesSpec, ScenarioFile, Stick, UpstreamProxy,
};
use crate::dist::{Dist, Tables};
use crate::draw::NameHash;
use crate::input::SourceFile;

/// A resolved scenario. Targets and classes are sorted by name; `topology` lists them in the
/// same order, so a [`TargetId`] or class id indexes both.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// The file as written.
    pub file: ScenarioFile,
    /// Its text, for the place of later mistakes.
    pub source: SourceFile,
    /// What whoever runs it should know: one sentence each.
    pub notes: Vec<String>,
    /// SHA-256 over the scenario, its cards, profiles and traces, in hexadecimal.
    pub hash: String,
    /// Sorted by name.
    pub targets: Vec<TargetModel>,
    /// Limits, each shared by the targets that name it.
    pub limits: Vec<LimitModel>,
    /// Sorted by name.
    pub classes: Vec<ClassModel>,
    /// Sorted by name; empty where nobody is told apart.
    pub tenants: Vec<TenantModel>,
    /// The same targets and classes as the policy core sees them.
    pub topology: Topology,
    /// The distributions its worlds draw from, made by the first that does.
    pub tables: Tables,
}

impl Scenario {
    /// Whether prompts are remembered by providers.
    pub fn has_caches(&self) -> bool {
        self.classes.iter().any(|class| class.shared_prefix > Share::ZERO)
            && self.targets.iter().any(|target| target.prompt_cache.is_some())
    }

    /// Whether effects outside the model are followed.
    pub fn has_tools(&self) -> bool {
        self.classes.iter().any(|class| class.tool.is_some())
    }

    /// Whether streams of some target begin with a chunk without content.
    pub fn has_chunks(&self) -> bool {
        self.targets.iter().any(|target| target.latency.chunk.is_some())
    }

    /// Whether an application is told where another model answers than the one asked for.
    pub fn discloses(&self) -> bool {
        self.topology.classes.iter().any(|class| class.needs.disclose_substitutes)
    }

    /// Whether anybody but the gateway repeats.
    pub fn has_layers(&self) -> bool {
        let outer = self.classes.iter().flat_map(|class| &class.outer);
        outer.flatten().next().is_some() || self.targets.iter().any(|t| t.upstream_proxy.is_some())
    }
}

/// One target, ready to be run.
#[derive(Clone, Debug)]
pub struct TargetModel {
    /// Unique name.
    pub name: String,
    /// Hash of the name: keys the target's luck.
    pub hash: NameHash,
    /// Who runs it.
    pub provider: String,
    /// The model.
    pub model: String,
    /// Where it runs.
    pub region: String,
    /// The deployment there.
    pub deployment: String,
    /// Whose account.
    pub account: String,
    /// What it charges.
    pub price: Price,
    /// What is billed for attempts that failed before output.
    pub bill_failed: Billing,
    /// What is billed for attempts cancelled or broken off.
    pub bill_cancelled: Billing,
    /// How long it takes.
    pub latency: LatencyModel,
    /// How much it can do at one time.
    pub capacity: Capacity,
    /// Positions in [`Scenario::limits`].
    pub limits: Vec<u16>,
    /// What goes wrong in ordinary times.
    pub failures: FailureModel,
    /// How good complete answers are.
    pub quality: Quality,
    /// What cancelling does.
    pub abort: Abort,
    /// Its cache of prompts.
    pub prompt_cache: Option<PromptCache>,
    /// A proxy before the provider that repeats on its own.
    pub upstream_proxy: Option<UpstreamProxy>,
    /// The most output tokens.
    pub max_output_tokens: u32,
}

/// How long a target takes, in µs of work at full speed.
#[derive(Clone, Debug)]
pub struct LatencyModel {
    /// To headers.
    pub headers: Dist,
    /// From there to a first chunk without content, where streams have one.
    pub chunk: Option<Dist>,
    /// To the first token, at `prompt_tokens`.
    pub first_token: Dist,
    /// The prompt length `first_token` was measured at.
    pub prompt_tokens: u32,
    /// Per prompt token beyond (or below) that.
    pub per_prompt_token: Duration,
    /// Per output token after the first.
    pub per_output_token: Dist,
    /// To a failure before headers.
    pub failure: Dist,
}

/// What goes wrong at a target in ordinary times.
#[derive(Clone, Debug)]
pub struct FailureModel {
    /// Kinds, each with its share of attempts.
    pub mix: Vec<FailureShare>,
    /// Share of streams that break off.
    pub broken_streams: Share,
    /// Share of streams that fall silent.
    pub stalled_streams: Share,
    /// To what failures stick.
    pub stick: Stick,
}

/// One shared limit.
#[derive(Clone, Debug)]
pub struct LimitModel {
    /// For people: provider, scope and unit.
    pub name: String,
    /// The limit.
    pub spec: LimitSpec,
    /// The targets that share it.
    pub targets: Vec<TargetId>,
}

/// One tenant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TenantModel {
    /// Unique name.
    pub name: String,
    /// The share of sessions of this tenant and all before it, of classes that name none.
    pub up_to: Share,
    /// Its part of the retry budgets that are divided by tenant.
    pub budget_share: Share,
    /// Its place among those who wait at the gateway: the highest first.
    pub priority: u8,
}

/// One route class, ready to be run.
#[derive(Clone, Debug)]
pub struct ClassModel {
    /// Unique name.
    pub name: String,
    /// From arrival to the end of the answer: every request ends by then.
    pub deadline: Duration,
    /// The yardstick of `excess_latency`, and where the `single` policy sends.
    pub reference: TargetId,
    /// Who repeats outside the gateway, the outermost first: application, SDK.
    pub outer: [Option<OuterLayer>; 2],
    /// Who of all layers repeats, and how often in all.
    pub retries: Option<RetriesSpec>,
    /// The tenant of all its requests; `None` where its sessions are dealt.
    pub tenant: Option<u16>,
    /// Requests to expect from warm-up to horizon.
    pub expected: f64,
    /// Share of each prompt that its session's request before had, too.
    pub shared_prefix: Share,
    /// The tool that writes, where its effects are followed.
    pub tool: Option<ToolModel>,
    /// When the application judges answers, where it does.
    pub judged: Option<JudgedModel>,
    /// Loaded arrivals, where they come from a file.
    pub recorded: Option<Recorded>,
}

/// A tool that writes.
#[derive(Clone, Debug)]
pub struct ToolModel {
    /// How far into its output an attempt calls it.
    pub at: Share,
    /// From the call until it has written or failed.
    pub takes: Dist,
    /// Share of calls that fail.
    pub failures: Share,
    /// Share of actions whose tool knows the key again.
    pub deduplicates: Share,
    /// How long one look at its record takes.
    pub look: Dist,
    /// Share of looks after which it stays unknown what was done.
    pub unknown: Share,
}

/// What the application says of answers later.
#[derive(Clone, Debug)]
pub struct JudgedModel {
    /// Share of answers that are judged.
    pub share: Share,
    /// From the answer until the gateway hears of it.
    pub after: Dist,
}

/// Arrivals loaded from a file.
#[derive(Clone, Debug)]
pub enum Recorded {
    /// The rows of a trace, sorted by time, from zero.
    Trace(std::sync::Arc<Vec<TraceRow>>),
    /// A traffic profile.
    Profile(std::sync::Arc<crate::profile::Profile>),
}

/// One request of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TraceRow {
    /// Arrival, from the trace's first.
    pub at: Instant,
    /// Prompt tokens.
    pub input: u32,
    /// True output tokens.
    pub output: u32,
    /// The caller's output limit, where the trace has it.
    pub max_output: Option<u32>,
    /// Conversation; 0 for none.
    pub session: u64,
}
