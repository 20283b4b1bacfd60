//! Tenants: who shares the gateway.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windtunnel_policy::Share;

/// One of those who share the gateway.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TenantSpec {
    /// Share of the sessions of every class that names no tenant of its own; the shares add up to
    /// 100%, or to nothing where every class names one.
    pub share: Share,
    /// Its part of every retry budget that the policy divides by tenant; an equal part of what the
    /// others leave where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_share: Option<Share>,
    /// Its place among those who wait at the gateway: the highest first.
    #[serde(skip_serializing_if = "is_zero")]
    pub priority: u8,
}

fn is_zero(n: &u8) -> bool {
    *n == 0
}
