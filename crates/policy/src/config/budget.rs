use alloc::vec::Vec;

use super::RecoveryAction;
use crate::{Duration, Share};

/// A budget shared by all requests, which recovery must draw on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetryBudget {
    /// The recovery actions it governs; not empty.
    pub governs: Vec<RecoveryAction>,
    /// Whose account pays.
    pub charged_to: ChargedTo,
    /// How it fills.
    pub kind: BudgetKind,
    /// Whether each tenant has a part of its own, of which no other takes: its share of the rate, the
    /// capacity and the most in flight, at least one. What follows the traffic follows its own.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "is_false"))]
    pub by_tenant: bool,
}

#[cfg(feature = "serde")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Whose account a recovery draws on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChargedTo {
    /// The target that failed.
    FailingTarget,
    /// The target the next attempt goes to.
    Destination,
    /// One account for the whole gateway.
    Overall,
}

/// How a shared budget fills.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case", deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BudgetKind {
    /// A bucket of whole recoveries; each recovery takes one.
    TokenBucket {
        /// Its size, full at the start.
        capacity: u32,
        /// What each first attempt on the account's target adds.
        per_request: Share,
        /// What time adds, recoveries per second.
        per_second: u32,
    },
    /// Recoveries as a share of first attempts, both in a rolling window of ten buckets.
    Ratio {
        /// Recoveries ÷ first attempts, at most.
        share: Share,
        /// Length of the window.
        window: Duration,
        /// Recoveries a second allowed whatever the traffic.
        min_per_second: u32,
    },
    /// Recoveries as a share of first attempts, and a reserve on top of that.
    RatioAndReserve {
        /// Recoveries beyond the reserve ÷ first attempts, at most.
        share: Share,
        /// Length of the window, kept in ten buckets.
        window: Duration,
        /// Recoveries a second allowed on top.
        reserve_per_second: u32,
    },
    /// A count that failures lower and successes raise: no recovery while it is at half or below.
    Throttle {
        /// The count at the start and at most; each failed attempt takes one.
        tokens: u32,
        /// What each success gives back.
        per_success: Share,
    },
    /// Recoveries in flight at one time.
    InFlight {
        /// At most this many.
        max: u32,
    },
    /// A declared rate, with a burst of one second's worth.
    Rate {
        /// Recoveries per second.
        per_second: u32,
    },
}
