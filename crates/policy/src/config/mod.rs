//! A policy as data: every axis on which gateways differ is an explicit field with a default.
//!
//! Fields whose rule a router does not run are refused by [`Policy::validate`] unless they hold
//! their default, so that no policy is simulated as something it is not.

mod attempts;
mod breaker;
mod budget;
mod classes;
mod defaults;
mod groups;
mod matrix;
mod selection;
mod side_effects;
mod timing;
mod validate;

use alloc::string::String;
use alloc::vec::Vec;

pub use attempts::{AfterPartialOutput, Attempts, BudgetScope, Envelope, Estimate, LoopOrder};
pub use breaker::{
    AfterOpen, AllUnavailable, Breaker, Cooldown, CooldownRule, Growth, Isolation, KeyPart, Probes,
    Ramp, Recooling, Trip,
};
pub use budget::{BudgetKind, ChargedTo, RetryBudget};
pub use classes::{ClassRule, Classes};
pub use groups::{Admission, AdmissionWindow, Admitted, GroupRule, Groups};
pub use matrix::{Blame, FailoverRule, Matrix, RetryRule, Row, SubstitutionRule};
pub use selection::{
    GroupOrder, Hedge, Outlier, Priority, Replicas, Selection, Sharing, Sticky, Strategy,
    SubstituteOrder,
};
pub use side_effects::SideEffectRule;
pub(crate) use timing::DOUBLING;
pub use timing::{
    Backoff, FirstToken, Jitter, RetryAfter, RetryAfterMode, RetryAfterSource, Streaming, Timeouts,
    TotalCovers, WaitTooLong,
};
pub use validate::Problem;

/// The kinds of recovery, counted and configured apart everywhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RecoveryAction {
    /// The same target again.
    Retry,
    /// Another target of the same model.
    Failover,
    /// Another model, where the product approved it.
    Substitution,
    /// A second attempt while the first still runs.
    Hedge,
}

impl RecoveryAction {
    /// Every action, in the order they are considered.
    pub const ALL: [RecoveryAction; 4] = [
        RecoveryAction::Retry,
        RecoveryAction::Failover,
        RecoveryAction::Substitution,
        RecoveryAction::Hedge,
    ];

    /// The action's name in files, tables and the ledger.
    pub const fn name(self) -> &'static str {
        match self {
            RecoveryAction::Retry => "retry",
            RecoveryAction::Failover => "failover",
            RecoveryAction::Substitution => "substitution",
            RecoveryAction::Hedge => "hedge",
        }
    }
}

/// One policy: how a gateway recovers, or stops.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// Short name, shown in tables.
    pub name: String,
    /// One sentence for people.
    pub description: String,
    /// How many attempts, where, in which order.
    pub attempts: Attempts,
    /// What holds for single groups of targets, by the part each plays.
    // Not written where nothing is said: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Groups::is_default"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = Groups::default())))]
    pub groups: Groups,
    /// Limits on time and money, beside the product's own.
    pub envelope: Envelope,
    /// What holds for single route classes in place of that, by their names.
    // Not written where nothing is said: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Classes::is_empty"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = Classes::new())))]
    pub classes: Classes,
    /// Time limits of one attempt.
    pub timeouts: Timeouts,
    /// What each failure class allows.
    pub matrix: Matrix,
    /// What follows where a tool that writes may have been called.
    // Not written where it is the default: the data, and so the hash, of a policy without it stays.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "SideEffectRule::is_default"))]
    #[cfg_attr(feature = "schema", schemars(extend("default" = SideEffectRule::default())))]
    pub side_effects: SideEffectRule,
    /// Waits before a same-route retry.
    pub backoff: Backoff,
    /// What a provider's wait hint does.
    pub retry_after: RetryAfter,
    /// Circuit breakers; none by default.
    pub breakers: Vec<Breaker>,
    /// Taking a target out for a stated time, without probes.
    pub cooldown: Cooldown,
    /// Taking a target out after its credential or account failed.
    pub isolation: Isolation,
    /// What to do when no target admits.
    pub all_unavailable: AllUnavailable,
    /// Budgets shared by all requests; none by default.
    pub retry_budgets: Vec<RetryBudget>,
    /// Which of the eligible targets is chosen.
    pub selection: Selection,
    /// When output is passed on.
    pub streaming: Streaming,
    /// A second attempt while the first is slow.
    pub hedge: Option<Hedge>,
    /// Ejection of targets much worse than their peers.
    pub outlier: Option<Outlier>,
    /// How many gateway replicas run this policy, and what they share.
    pub replicas: Replicas,
}
