//! Incidents: when, where, how bad, and what they do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::outcome::{FailureClass, Phase};
use windtunnel_policy::{Duration, Share};

use super::{DistSpec, Factor, Range, Stick};

/// One incident, or a process that makes incidents.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeatherSpec {
    /// Unique within the scenario; keys its luck.
    pub name: String,
    /// Which targets it hits: those that agree in all that is given.
    pub hits: Domain,
    /// When.
    pub when: When,
    /// How it comes and goes.
    #[serde(default)]
    pub shape: Shape,
    /// What it does.
    pub effects: Effects,
}

/// A failure domain. At least one part is given; all that are given must agree.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Domain {
    /// Targets of this provider.
    pub provider: Option<String>,
    /// Targets of this model.
    pub model: Option<String>,
    /// Targets in this region.
    pub region: Option<String>,
    /// Targets of this deployment.
    pub deployment: Option<String>,
    /// Targets of this account.
    pub account: Option<String>,
    /// One target by name.
    pub target: Option<String>,
}

/// When an incident happens. Times count from the scenario's start.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum When {
    /// The whole time.
    Always,
    /// Once.
    Window {
        /// Onset.
        from: Range<Duration>,
        /// Duration.
        lasts: Range<Duration>,
    },
    /// Again and again; gaps from onset to next onset, an onset during an incident is merged.
    Renewal {
        /// From onset to next onset.
        gap: DistSpec<Duration>,
        /// Duration of each.
        lasts: DistSpec<Duration>,
    },
    /// On and off in turn within a window.
    Flapping {
        /// Onset of the first.
        from: Range<Duration>,
        /// From the first onset to the end of it all.
        lasts: Range<Duration>,
        /// How long each bad spell lasts.
        bad: Duration,
        /// How long each good spell between lasts.
        good: Duration,
    },
}

/// How an incident comes and goes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape {
    /// All at once.
    #[default]
    Step,
    /// In a straight line up at the onset, and down before the end, in steps of at most 10 s.
    Ramp {
        /// From nothing to full severity.
        up: Duration,
        /// From full severity to nothing.
        down: Duration,
    },
    /// Severities from these times after the onset on, as shares of the full one; a straight
    /// line between them where `smooth`.
    Course {
        /// `[[0s, 20%], [15m, 100%]]`, sorted.
        points: Vec<(Duration, Share)>,
        /// Straight lines between the points rather than steps.
        #[serde(default)]
        smooth: bool,
    },
}

/// What an incident does. At least one effect is given.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Effects {
    /// A share of attempts fails.
    pub failures: Option<FailureEffect>,
    /// Everything runs at this speed (1 is normal): what is in flight slows down too.
    pub speed: Option<Range<Factor>>,
    /// A share of attempts needs more work.
    pub slow_share: Option<SlowShare>,
    /// Slots left, as a share.
    pub capacity: Option<Range<Share>>,
    /// Limits are multiplied by this share.
    pub limits: Option<Range<Share>>,
    /// Share of complete answers that break their contract, on top of the card's.
    pub contract_failures: Option<Share>,
    /// Share of valid answers that do not do the job, on top of the card's.
    pub task_failures: Option<Share>,
    /// Share of streams that break off, on top of the card's.
    pub broken_streams: Option<Share>,
    /// Background load is multiplied by this.
    pub background: Option<Factor>,
    /// A share of the attempts in flight is cut when the incident begins.
    pub cut: Option<Cut>,
}

/// A share of attempts fails.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureEffect {
    /// Share of attempts at full severity; renewal incidents draw it uniformly from a range.
    pub share: Range<Share>,
    /// Only attempts for route classes that require all of these capabilities; for all where empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub where_required: Vec<String>,
    /// What they fail with; weights need not add up to anything.
    pub mix: Vec<MixEntry>,
    /// To what they stick; the scenario's default where absent.
    #[serde(default)]
    pub stick: Option<Stick>,
}

/// One kind of failure in a mix.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixEntry {
    /// Its class.
    pub class: FailureClass,
    /// Its HTTP status; 0 for a connection that broke, 200 for an error inside a stream.
    pub status: u16,
    /// How far the response had come.
    #[serde(default = "before_headers")]
    pub phase: Phase,
    /// Relative weight.
    pub weight: u32,
    /// The wait hint it carries.
    #[serde(default)]
    pub retry_after: Option<Duration>,
    /// How long it takes to fail; the card's `failure` latency where absent.
    #[serde(default)]
    pub takes: Option<DistSpec<Duration>>,
    /// True for attempts that are never answered at all: a black hole.
    #[serde(default)]
    pub hang: bool,
}

fn before_headers() -> Phase {
    Phase::BeforeHeaders
}

/// A share of attempts needs more work.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowShare {
    /// Which share.
    pub share: Share,
    /// How many times the work.
    pub factor: Factor,
}

/// A share of the attempts in flight is cut when the incident begins.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cut {
    /// Which share.
    pub share: Share,
}
