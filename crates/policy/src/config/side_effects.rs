use crate::Duration;

/// What follows the failure of an attempt that may have called a tool that writes.
#[derive(Clone, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields, default))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SideEffectRule {
    /// Whether the record of the tool's execution is asked before anything follows. A tool that was
    /// not called, or whose result is stored, stands in nobody's way; one that failed ends the
    /// request; and while nobody knows, nothing is sent again. Without it, what the failure class
    /// leaves open is not sent again, and the rest is, whatever a tool did.
    pub reconcile: bool,
    /// Whether the record is asked, too, before anything is sent for an action that a layer around the
    /// gateway sends again. It has seen an earlier request fail, or given it up, and nobody here knows
    /// what became of that one's tool. The same follows from what the record says, and the same limit on
    /// time holds. It is asked under the action's idempotency key, and the first request of an action
    /// waits for nothing.
    pub look_up: bool,
    /// How long to wait for the record to say it; then the request ends, its effect unknown.
    pub longest: Duration,
}

impl SideEffectRule {
    /// Whether it is what holds where nothing is said.
    #[cfg(feature = "serde")]
    pub(super) fn is_default(&self) -> bool {
        *self == SideEffectRule::default()
    }
}

impl Default for SideEffectRule {
    fn default() -> SideEffectRule {
        SideEffectRule { reconcile: false, look_up: false, longest: Duration::from_secs(5) }
    }
}
