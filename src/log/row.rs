//! One row of a log, in whatever format it is written.

use windtunnel_policy::outcome::{FailureClass, Phase};

use super::End;

/// What one row says; absent is what it does not say.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Row {
    /// Which run of a ledger it belongs to; empty where a log holds one only.
    pub(super) run: String,
    pub(super) request: String,
    pub(super) action: Option<String>,
    pub(super) resent: Option<bool>,
    /// What requests for the same thing share, where the log does not name the action.
    pub(super) likeness: Option<String>,
    /// How many attempts there were, where the row stands for all of them.
    pub(super) tries: Option<u32>,
    pub(super) class: Option<String>,
    /// It stands for a request, of which other rows may be the attempts.
    pub(super) of_request: bool,
    /// None where the request was never sent.
    pub(super) target: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) region: Option<String>,
    pub(super) group: Option<u8>,
    pub(super) substituted: bool,
    pub(super) arrived_us: Option<u64>,
    pub(super) sent_us: Option<u64>,
    pub(super) headers_us: Option<u64>,
    pub(super) first_us: Option<u64>,
    pub(super) ended_us: Option<u64>,
    pub(super) closed_us: Option<u64>,
    pub(super) status: Option<u16>,
    pub(super) failure: Option<FailureClass>,
    /// It failed, though the row does not say how.
    pub(super) failed: bool,
    pub(super) phase: Option<Phase>,
    pub(super) cancelled: bool,
    pub(super) not_sent: bool,
    /// The hint of this attempt's answer.
    pub(super) hint_us: Option<u64>,
    /// The hint that was waited for before this attempt: that of the one before.
    pub(super) hint_before_us: Option<u64>,
    pub(super) remaining_us: Option<u64>,
    pub(super) limits_us: [Option<u64>; 2],
    pub(super) input: Option<u32>,
    pub(super) cached: Option<u32>,
    pub(super) output: Option<u32>,
    pub(super) cost_pico: Option<u64>,
    pub(super) measured: Option<bool>,
    pub(super) end: Option<End>,
}
