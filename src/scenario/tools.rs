//! Tools that write outside the model, and what is known of what they did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::{Duration, Share};

use super::DistSpec;

/// The tool that requests of a class may call, which writes outside the model. Its idempotency key
/// is the user's action, the same in every attempt and in every request that a layer sends again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolSpec {
    /// Share of actions that call it, once in each complete attempt.
    #[serde(default = "all")]
    pub calls: Share,
    /// How far into its output an attempt calls it: 0% is with the first token, 100% at the end.
    /// An attempt that ends before does not.
    #[serde(default)]
    pub at: Share,
    /// From the call until it has written or failed; it goes on where the attempt breaks off.
    pub takes: DistSpec<Duration>,
    /// Share of calls that fail without having written. The attempt goes on all the same.
    #[serde(default)]
    pub failures: Share,
    /// Share of actions whose tool knows the key again: a second call gets the stored result, and
    /// writes nothing.
    #[serde(default = "all")]
    pub deduplicates: Share,
    /// Asking what was done.
    pub reconciliation: ReconciliationSpec,
}

/// What the record of a tool's execution says, and when.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReconciliationSpec {
    /// How long one look at it takes; while the tool runs, or may still be called, it is looked at
    /// again.
    pub takes: DistSpec<Duration>,
    /// Share of looks after which it stays unknown for ever what was done.
    #[serde(default)]
    pub unknown: Share,
}

fn all() -> Share {
    Share::ONE
}
