//! Where attempts can go, and what the product says about each route class.
//!
//! The embedder (or the scenario) owns these facts; the policy only chooses among them.

use alloc::string::String;
use alloc::vec::Vec;

use crate::contract::{Contract, Needs};
use crate::{Duration, Money, Price, Share};

/// The most targets one router serves: eligibility is a bit set of this size.
pub const MAX_TARGETS: usize = 256;

/// A target, by its position in [`Topology::targets`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TargetId(pub u16);

/// A route class, by its position in [`Topology::classes`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClassId(pub u16);

/// A tenant, by its position in [`Topology::tenants`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct TenantId(pub u16);

impl TenantId {
    /// The first, or the only one where none is named.
    pub const FIRST: TenantId = TenantId(0);
}

/// Everything the router may choose from.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Topology {
    /// At most [`MAX_TARGETS`]; names are unique.
    pub targets: Vec<Target>,
    /// At least one; names are unique.
    pub classes: Vec<RouteClass>,
    /// Whose requests are told apart; empty where all are one tenant's.
    pub tenants: Vec<Tenant>,
}

/// One of those who share a gateway.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tenant {
    /// Unique name.
    pub name: String,
    /// Its part of every retry budget that is divided by tenant; together at most one.
    pub budget_share: Share,
}

/// One place an attempt can be sent to: provider + model + region + deployment + account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Target {
    /// Unique name.
    pub name: String,
    /// Who runs it.
    pub provider: String,
    /// The model; targets of one model keep one contract.
    pub model: String,
    /// Where it runs.
    pub region: String,
    /// The deployment in that region.
    pub deployment: String,
    /// The account whose limits and credential it uses.
    pub account: String,
    /// What it charges.
    pub price: Price,
    /// Input and output tokens together that fit; `u32::MAX` where unknown.
    pub context_tokens: u32,
    /// What it can do.
    pub capabilities: Capabilities,
    /// What it promises.
    pub contract: Contract,
    /// Relative weight for weighted selection; at least 1.
    pub weight: u32,
    /// Within a group, targets of the highest priority come first.
    pub priority: u16,
    /// Attempts that may be in flight here as failovers, substitutions or hedges, where declared.
    pub failover_in_flight: Option<u32>,
    /// Attempt latency to expect before anything was seen: a stated prior for the p95.
    pub prior_latency: Duration,
}

/// What a target can do beyond text in, text out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Capabilities(u32);

impl Capabilities {
    /// Plain text in, text out.
    pub const NONE: Capabilities = Capabilities(0);
    /// The names a file may use, in bit order.
    pub const NAMES: [&'static str; 8] = [
        "streaming",
        "tools",
        "parallel_tools",
        "structured_output",
        "vision",
        "audio",
        "long_output",
        "safety_profile",
    ];

    /// The set with the capability of this name; `None` where no capability has it.
    pub fn named(name: &str) -> Option<Capabilities> {
        Capabilities::NAMES.iter().position(|n| *n == name).map(|i| Capabilities(1 << i))
    }

    /// Both sets together.
    pub const fn with(self, other: Capabilities) -> Capabilities {
        Capabilities(self.0 | other.0)
    }

    /// True where `self` has all that `required` asks.
    pub const fn covers(self, required: Capabilities) -> bool {
        required.0 & !self.0 == 0
    }

    /// Their names joined: `tools+vision`; `plain` for none.
    pub fn told(self) -> String {
        let has = |i: &usize| self.0 >> i & 1 == 1;
        let names = (0..Self::NAMES.len()).filter(has).map(|i| Self::NAMES[i]);
        match self {
            Capabilities::NONE => "plain".into(),
            _ => names.collect::<Vec<_>>().join("+"),
        }
    }
}

/// The part a group of targets plays for a route class.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Role {
    /// Tried first.
    Primary,
    /// Tried when earlier groups cannot serve; numbered from 1.
    Fallback(u8),
    /// A cheaper model.
    Cheaper,
    /// A model with a larger context window.
    LargerWindow,
}

/// Targets that stand side by side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// The part it plays.
    pub role: Role,
    /// In the order the product prefers; not empty.
    pub targets: Vec<TargetId>,
}

/// What a request of this class may do outside the model.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SideEffects {
    /// Nothing.
    #[default]
    None,
    /// Tools that only read.
    ReadOnly,
    /// Tools that may write: an ambiguous failure may have done it already.
    WritePossible,
}

/// Product facts of one route class: what the application needs and allows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RouteClass {
    /// Unique name.
    pub name: String,
    /// From arrival to the end of the answer; `Duration::MAX` for none.
    pub deadline_total: Duration,
    /// From arrival to the first output; `Duration::MAX` for none.
    pub deadline_first_output: Duration,
    /// What the request may do outside the model.
    pub side_effects: SideEffects,
    /// What every target that serves it must be able to do.
    pub required: Capabilities,
    /// What it must promise besides.
    pub needs: Needs,
    /// Models approved as substitutes, in order of preference.
    pub substitutes: Vec<String>,
    /// The most all attempts of one request may cost; `Money::MAX` for no ceiling.
    pub max_cost: Money,
    /// In the order they are tried; the first is the primary group.
    pub groups: Vec<Group>,
}

impl Topology {
    /// Whether a target is in some group, and alone in each.
    pub(crate) fn stands_alone(&self, target: TargetId) -> bool {
        let groups = self.classes.iter().flat_map(|class| &class.groups);
        let mut own = groups.filter(|group| group.targets.contains(&target)).peekable();
        own.peek().is_some() && own.all(|group| group.targets.len() == 1)
    }
}

impl RouteClass {
    /// Whether a target can do, and promises, all that the class asks for.
    pub fn accepts(&self, target: &Target) -> bool {
        target.capabilities.covers(self.required) && self.needs.met_by(target)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Small topologies for the tests of the parts.

    use alloc::vec;

    use super::*;

    /// A target with this identity; deployment and account are empty, prices and limits free.
    pub(crate) fn target(name: &str, provider: &str, model: &str, region: &str) -> Target {
        Target {
            name: name.into(),
            provider: provider.into(),
            model: model.into(),
            region: region.into(),
            deployment: String::new(),
            account: String::new(),
            price: Price::default(),
            context_tokens: u32::MAX,
            capabilities: Capabilities::NONE,
            contract: Contract::default(),
            weight: 1,
            priority: 0,
            failover_in_flight: None,
            prior_latency: Duration::from_secs(1),
        }
    }

    /// These targets, and one route class with these groups of positions.
    pub(crate) fn topology(targets: Vec<Target>, groups: &[&[u16]]) -> Topology {
        let groups = groups
            .iter()
            .enumerate()
            .map(|(i, ids)| Group {
                role: if i == 0 { Role::Primary } else { Role::Fallback(i as u8) },
                targets: ids.iter().copied().map(TargetId).collect(),
            })
            .collect();
        let class = RouteClass {
            name: "chat".into(),
            deadline_total: Duration::MAX,
            deadline_first_output: Duration::MAX,
            side_effects: SideEffects::None,
            required: Capabilities::NONE,
            needs: Needs::default(),
            substitutes: Vec::new(),
            max_cost: Money::MAX,
            groups,
        };
        Topology { targets, classes: vec![class], tenants: Vec::new() }
    }
}
