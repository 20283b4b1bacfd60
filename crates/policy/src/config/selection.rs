use crate::{Duration, Share};

/// Which of the eligible targets is chosen.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Selection {
    /// The rule within a group.
    pub strategy: Strategy,
    /// Whether requests of a conversation stay with one target.
    pub sticky: Sticky,
    /// Above this share of a group's targets out of service, health is ignored (panic); one for never.
    pub panic_threshold: Share,
    /// In which order approved models are tried as substitutes.
    pub substitutes: SubstituteOrder,
    /// How far back `health_score` and the order of substitutes look.
    pub health_window: Duration,
    /// In which order the groups with targets of the class's own model are tried.
    // Not written where it is the default: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "GroupOrder::is_default"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = GroupOrder::Listed)))]
    pub groups: GroupOrder,
    /// What the priorities of targets within a group do.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Priority::is_default"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = Priority::Highest)))]
    pub priority: Priority,
}

/// The rule that picks one of the eligible targets of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Strategy {
    /// The first in the group's order.
    Ordered,
    /// At random, by the targets' weights.
    Weighted,
    /// In turn.
    RoundRobin,
    /// Fewest attempts in flight from this gateway.
    LeastInFlight,
    /// Lowest recent latency; targets without data first.
    LowestLatency,
    /// Lowest estimated cost of this request.
    Cheapest,
    /// The less loaded of two random ones.
    TwoChoices,
    /// Fewest recent failures, in whole percents of the attempts within `health_window`; among equals
    /// the lowest recent latency, targets without data first.
    HealthScore,
}

/// In which order groups are tried: the first with an eligible target is taken. Among equals as the
/// product lists them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GroupOrder {
    /// As the product lists them.
    #[default]
    Listed,
    /// Fewest recent failures of its targets together, in whole percents of their attempts within
    /// `health_window`; among equals the lowest recent latency, groups without data first.
    HealthScore,
    /// Lowest recent latency of a target in it; groups without data first.
    LowestLatency,
    /// Lowest estimated cost of this request at a target in it.
    Cheapest,
    /// Fewest attempts in flight from this gateway for each of its targets.
    LeastInFlight,
}

impl GroupOrder {
    #[cfg(feature = "serde")]
    fn is_default(&self) -> bool {
        *self == GroupOrder::default()
    }
}

/// What the priorities that the product gives the targets of a group do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Priority {
    /// The strategy chooses among the eligible targets of the highest priority that has any.
    #[default]
    Highest,
    /// The first attempt is for the highest priority, the second for the next one down, and so on to
    /// the lowest, which has all further ones. Where nothing there is eligible, the highest priority
    /// below that has something, else the lowest above it.
    ByAttempt,
    /// Nothing: the strategy chooses among all.
    Ignored,
}

impl Priority {
    #[cfg(feature = "serde")]
    fn is_default(&self) -> bool {
        *self == Priority::default()
    }
}

/// In which order approved models are tried as substitutes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SubstituteOrder {
    /// As the product lists them.
    Listed,
    /// Fewest recent contract failures first, in whole percents of the complete answers within
    /// `health_window`; among equals as the product lists them.
    Proven,
    /// Fewest recent contract failures first; among equals the fewest tasks not done, in whole
    /// percents of the answers that were judged within `health_window`; then the lowest latency to
    /// expect, then the lowest estimated cost, then as the product lists them.
    Ranked,
}

/// Whether requests of a conversation stay with one target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sticky {
    /// No.
    No,
    /// By session, while the target is eligible.
    Session,
}

/// A second attempt, on another target of the same model, while the first of a request is slow.
///
/// The first answer wins: the first output where output is passed on as it comes, the first
/// complete answer elsewhere. The other attempt is cancelled, and billed as its provider bills.
/// Where one of the two fails, the other is waited for before anything else is decided. A hedge
/// counts as an attempt, draws on the budgets that govern `hedge`, and is asked the same gates of
/// time, money and added latency as any other; it never starts for requests that may write.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hedge {
    /// Started once the first attempt has been slower than this quantile of what its target took
    /// for the route class lately: to the first output, or to the end.
    pub after_quantile: Share,
    /// Never earlier than this.
    pub at_least: Duration,
    /// Stands for the quantile until `envelope.estimate.min_samples` attempts were seen within
    /// `envelope.estimate.expires`; the target's own prior where absent.
    #[cfg_attr(feature = "serde", serde(default))]
    pub prior: Option<Duration>,
}

/// Ejection of targets much worse than their peers: at the first event after each interval, the
/// targets of each group are compared.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outlier {
    /// How often targets are compared.
    pub interval: Duration,
    /// The most of a group that may be out by ejection, rounded down to whole targets.
    pub max_ejected: Share,
    /// Success rate below the mean of the group's targets by this much is an outlier.
    pub below_mean: Share,
    /// How long it is out the first time; twice as long the second time, and so on. Each interval
    /// in which it is no outlier takes one time back.
    pub eject_for: Duration,
    /// Attempts within the interval that a target needs to be compared.
    pub min_calls: u32,
}

/// How many gateway replicas run this policy, and what they share.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Replicas {
    /// How many; 1 to 1000. Each decides by what it has seen itself, and been told.
    pub count: u32,
    /// What breakers and budgets of different replicas know of each other.
    pub sharing: Sharing,
}

impl Replicas {
    /// Whether there are others, and they are told anything.
    pub fn shares(&self) -> bool {
        self.count > 1 && self.sharing != Sharing::Private
    }
}

/// What replicas know of each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sharing {
    /// Nothing.
    Private,
    /// What breakers, cooldowns, isolation, scores, budgets and groups' admission go by, this much later.
    /// Latencies, turns and places for probes stay each replica's own.
    After(Duration),
}
