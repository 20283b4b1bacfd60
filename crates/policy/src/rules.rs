//! What a router goes by: nothing that happens changes it.

use alloc::sync::Arc;

use crate::Duration;
use crate::config::{Policy, Streaming};
use crate::plan::{self, ClassPlan};
use crate::target::Topology;

/// Policy and topology, and what follows from them.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) policy: Policy,
    pub(crate) topology: Topology,
    /// By route class. Shared, as routers are copied.
    pub(crate) classes: Arc<[ClassPlan]>,
    pub(crate) limits: Limits,
    /// How many tenants a request may name.
    pub(crate) tenants: usize,
    /// Whether what comes of a stream is shown from its first output on, at the latest.
    pub(crate) shows_output: bool,
}

/// The policy's limits on an attempt; [`Duration::MAX`] for none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// From its sending to its end.
    pub(crate) attempt: Duration,
    /// From its sending to its first token.
    pub(crate) first_token: Duration,
    /// Of silence within the output.
    pub(crate) silence: Duration,
}

impl Rules {
    /// The rules of a valid policy over a valid topology.
    pub(crate) fn new(policy: Policy, topology: Topology) -> Rules {
        Rules {
            classes: plan::compile(&policy, &topology).into(),
            limits: Limits {
                attempt: policy.timeouts.attempt.unwrap_or(Duration::MAX),
                first_token: policy.timeouts.first_token.unwrap_or(Duration::MAX),
                silence: policy.timeouts.idle_stream.unwrap_or(Duration::MAX),
            },
            tenants: topology.tenants.len().max(1),
            shows_output: policy.streaming != Streaming::BufferThenRelease,
            policy,
            topology,
        }
    }
}
