//! What happens to requests, in words: events, and what the router does about them.

mod words;

use windtunnel_policy::target::{TargetId, Topology};
use windtunnel_policy::{BreakerScope, Duration, Instant};

/// What targets, classes and breakers are called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names {
    targets: Vec<String>,
    classes: Vec<String>,
    breakers: Vec<String>,
}

impl Names {
    /// The names of a topology, and of breakers by what they are about.
    pub fn new(topology: &Topology, breakers: impl IntoIterator<Item = BreakerScope>) -> Names {
        let targets: Vec<String> = topology.targets.iter().map(|t| t.name.clone()).collect();
        let told = |scope: BreakerScope| scope.told(|id| &targets[usize::from(id.0)]);
        let breakers = breakers.into_iter().map(told).collect();
        let classes = topology.classes.iter().map(|class| class.name.clone()).collect();
        Names { targets, classes, breakers }
    }

    /// The name of a class.
    pub fn class(&self, position: u16) -> &str {
        &self.classes[usize::from(position)]
    }

    /// What a breaker is called: the targets it covers, and for which requests where not for all.
    pub fn breaker(&self, position: u16) -> &str {
        &self.breakers[usize::from(position)]
    }

    /// The name of a target.
    pub fn target(&self, id: TargetId) -> &str {
        &self.targets[usize::from(id.0)]
    }
}

/// A point in time as it is told: seconds since the origin, to the millisecond or finer where it is.
pub fn clock(at: Instant, origin: Instant) -> String {
    let us = at.since(origin).as_micros();
    let (whole, rest) = (us / 1_000_000, us % 1_000_000);
    if rest % 1_000 == 0 {
        format!("{whole}.{:03} s", rest / 1_000)
    } else {
        format!("{whole}.{rest:06} s")
    }
}

/// A length of time as it is told; nothing where there is no limit.
fn limited(words: &str, length: Duration) -> String {
    if length == Duration::MAX { String::new() } else { format!("{words} {length}") }
}
