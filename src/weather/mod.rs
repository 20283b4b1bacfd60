//! The weather of one world: for each target, what holds from when on.
//!
//! Every entry of the scenario's list becomes spells (stretches of bad time, each with its own
//! severity), every spell becomes pieces of one level each (ramps are stairs), and one sweep over
//! time composes what overlaps at a target into [`Conditions`].

mod compose;
mod shape;
mod spells;
mod sweep;

use std::fmt;
use std::sync::Arc;

use windtunnel_policy::outcome::{FailureClass, Phase};
use windtunnel_policy::{Duration, Instant, Share};

pub(crate) use spells::{hit_targets, within_range};

use crate::dist::Dist;
use crate::draw::NameHash;
use crate::scenario::{Scenario, Stick};

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

impl Weather {
    /// The weather until `until` in the world of `seed`. With `resample` onset, severity and
    /// duration are drawn within their ranges; the first value of each holds otherwise.
    ///
    /// # Errors
    /// An entry whose distributions or weights make no sense, or that has too many spells.
    pub fn build(
        scenario: &Scenario,
        seed: u64,
        resample: bool,
        until: Instant,
    ) -> Result<Weather, WeatherError> {
        let mut pieces = Vec::new();
        let mut incidents = Vec::new();
        for (entry, spec) in scenario.file.weather.iter().enumerate() {
            let wrong = |problem| WeatherError { entry: spec.name.clone(), problem };
            let targets = hit_targets(scenario, &spec.hits);
            let force = compose::Force::new(scenario, spec).map_err(wrong)?;
            let spells =
                spells::of_entry(spec, &scenario.tables, seed, resample, until).map_err(wrong)?;
            for (from, to) in spells::incidents(&spells) {
                let targets = targets.clone();
                incidents.push(Incident { name: spec.name.clone(), from, to, targets });
            }
            for spell in &spells {
                let force = Arc::new(force.at_severity(spell.severity));
                shape::pieces(&spec.shape, spell, |from, to, level| {
                    let (targets, force) = (targets.clone(), force.clone());
                    let cut = if from == spell.begins { force.cut } else { Share::ZERO };
                    pieces.push(sweep::Piece { entry, from, to, level, cut, targets, force });
                });
            }
        }
        incidents.sort_by_key(|incident| incident.from);
        let (edges, conditions) = sweep::sweep(scenario, &pieces, until);
        Ok(Weather { edges, conditions, incidents })
    }

    /// The share of time in `[from, to)` × attempts spread evenly over it that no failure of the
    /// weather takes at `target`: its mean availability.
    pub fn availability(&self, target: u16, from: Instant, to: Instant) -> f64 {
        let mut since = from;
        let mut failing = 0.0;
        let mut answered_us = 0.0;
        let changes = self.edges.iter().filter(|edge| edge.target == target && edge.at < to);
        for (at, conditions) in changes.map(|edge| (edge.at, edge.conditions)).chain([(to, 0)]) {
            answered_us += (1.0 - failing) * at.since(since).as_micros() as f64;
            since = since.max(at);
            failing = self.conditions[conditions as usize].failing().as_f64();
        }
        answered_us / to.since(from).as_micros() as f64
    }
}

/// A weather entry that cannot be made.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WeatherError {
    /// Name of the entry.
    pub entry: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for WeatherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "weather `{}`: {}", self.entry, self.problem)
    }
}

impl std::error::Error for WeatherError {}

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
    /// Whether it strikes attempts of a route class, by position; of all where absent.
    pub classes: Option<Arc<[bool]>>,
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

    /// Share of attempts that fail by the weather, of classes that every failure strikes: any of the
    /// failures, each by its own luck.
    pub fn failing(&self) -> Share {
        let spared = self
            .failures
            .iter()
            .fold(Share::ONE, |spared, failure| spared.times(failure.share.complement()));
        spared.complement()
    }
}

#[cfg(test)]
mod tests;
