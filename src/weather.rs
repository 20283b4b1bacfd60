//! The weather of one world: for each target, what holds from when on.

use std::sync::Arc;

use windtunnel_policy::outcome::{FailureClass, Phase};
use windtunnel_policy::{Duration, Instant, Share};

use crate::dist::Dist;
use crate::draw::NameHash;
use crate::scenario::Stick;

/// All changes of conditions, and the conditions they change to.
#[derive(Clone, Debug, Default)]
pub struct Weather {
    /// Sorted by time, then target. Before its first edge a target has conditions 0: clear.
    pub edges: Vec<Edge>,
    /// Index 0 is clear weather.
    pub conditions: Vec<Conditions>,
    /// Onset and end of every incident, for detection and recovery times and for charts.
    pub incidents: Vec<Incident>,
}

/// A change of conditions at one target.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Edge {
    /// When.
    pub at: Instant,
    /// Which target.
    pub target: u16,
    /// Position in [`Weather::conditions`].
    pub conditions: u32,
    /// Share of attempts in flight that are cut at this moment.
    pub cut: Share,
}

/// One incident as it happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Incident {
    /// Name of its weather entry.
    pub name: String,
    /// Onset.
    pub from: Instant,
    /// End.
    pub to: Instant,
    /// Targets it hits.
    pub targets: Vec<u16>,
}

/// What holds at a target.
#[derive(Clone, PartialEq, Debug)]
pub struct Conditions {
    /// Speed of the work clock, in parts per million of the unloaded speed.
    pub speed_ppm: u64,
    /// Share of attempts that need more work, and how much, in parts per million.
    pub slow: (Share, u64),
    /// Slots left.
    pub capacity: Share,
    /// What limits are multiplied by.
    pub limits: Share,
    /// Background load, in parts per million of the ordinary.
    pub background_ppm: u64,
    /// Failures on top of the card's, each with its own luck.
    pub failures: Vec<ActiveFailure>,
    /// Contract failures on top of the card's.
    pub contract_failures: Share,
    /// Task failures on top of the card's.
    pub task_failures: Share,
    /// Broken streams on top of the card's.
    pub broken_streams: Share,
}

/// A failure effect at its present severity.
#[derive(Clone, PartialEq, Debug)]
pub struct ActiveFailure {
    /// Hash of the weather entry's name: keys its luck.
    pub effect: NameHash,
    /// Share of attempts that fail.
    pub share: Share,
    /// To what failures stick.
    pub stick: Stick,
    /// What they fail with.
    pub mix: Arc<Vec<Mix>>,
}

/// One kind of failure in a mix.
#[derive(Clone, Debug)]
pub struct Mix {
    /// Weights up to and with this kind, of the total `u32::MAX`-scaled draw.
    pub up_to: Share,
    /// Its class.
    pub class: FailureClass,
    /// Its status.
    pub status: u16,
    /// How far the response had come.
    pub phase: Phase,
    /// The wait hint it carries.
    pub retry_after: Option<Duration>,
    /// How long it takes; the target's own where absent.
    pub takes: Option<Dist>,
    /// Never answered.
    pub hang: bool,
}

impl PartialEq for Mix {
    fn eq(&self, other: &Mix) -> bool {
        self.up_to == other.up_to
            && self.class == other.class
            && self.status == other.status
            && self.phase == other.phase
            && self.retry_after == other.retry_after
            && self.hang == other.hang
    }
}

impl Conditions {
    /// Nothing out of the ordinary.
    pub fn clear() -> Conditions {
        Conditions {
            speed_ppm: 1_000_000,
            slow: (Share::ZERO, 1_000_000),
            capacity: Share::ONE,
            limits: Share::ONE,
            background_ppm: 1_000_000,
            failures: Vec::new(),
            contract_failures: Share::ZERO,
            task_failures: Share::ZERO,
            broken_streams: Share::ZERO,
        }
    }
}
