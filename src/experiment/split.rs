//! A split: policies side by side in front of one fleet, and each alone in the same worlds.
//!
//! What a policy does on a part of the sessions does not show what it does on all: the load it makes
//! is then a part of the load, and the rest behaves like another policy. So each is measured on its
//! arm of the split, on the same requests where it serves all sessions, and on all requests there.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use windtunnel_policy::config::Policy;

use super::Experiment;
use super::error::ExperimentError;
use super::findings::differences;
use super::options::Options;
use super::recorder::Observer;
use crate::measures::{Catalogue, Measure, Reading, Runs};
use crate::record::{NoSink, RunTotals};
use crate::scenario::Scenario;
use crate::simulation::{Simulation, Split};
use crate::stats::{Estimate, Paired};
use crate::world::{Stickiness, World, WorldOptions};

/// Policies on parts of the sessions, and alone.
#[derive(Clone, Debug)]
pub struct SplitFindings {
    /// How the sessions were divided, in the order of the policies.
    pub split: Split,
    /// By policy.
    pub arms: Vec<ArmFindings>,
}

/// One policy of a split. All lists are in the order of the catalogue; measures of whole runs, but for
/// the shares of targets, have no figures here.
#[derive(Clone, Debug)]
pub struct ArmFindings {
    /// The policy's name.
    pub name: String,
    /// Its share of the sessions.
    pub share: f64,
    /// Measured requests of its arm, in all worlds.
    pub requests: u64,
    /// Its arm, side by side with the others.
    pub beside: Vec<Option<Estimate>>,
    /// The requests of its arm, where it serves all sessions.
    pub same_requests: Vec<Option<Estimate>>,
    /// All requests, where it serves all sessions.
    pub alone: Vec<Option<Estimate>>,
    /// What the split does not show: the requests of its arm where it serves all sessions, less the
    /// same requests side by side.
    pub unseen: Vec<Paired>,
    /// What the split says of it: its arm less the first policy's, which are other requests of the
    /// same worlds; empty for the first.
    pub said: Vec<Paired>,
    /// What is so: all requests alone, less the first policy's alone; empty for the first.
    pub so: Vec<Paired>,
    /// By route class, in the scenario's order: as `beside`, and as `same_requests`.
    pub by_class: Vec<[Vec<Option<Estimate>>; 2]>,
}

/// Runs the policies side by side in the worlds of an experiment in which each ran alone, counted by
/// the arms of this split ([`run_divided`](super::run_divided)).
///
/// # Errors
/// A policy does not fit the scenario, or the scenario has no world.
///
/// # Panics
/// Where the split has not one arm for each policy, or the experiment was not counted by them.
pub fn split(
    scenario: &Scenario,
    policies: &[Policy],
    split: &Split,
    experiment: &Experiment,
    options: &Options,
    observer: &dyn Observer,
    catalogue: &Catalogue,
) -> Result<SplitFindings, ExperimentError> {
    let pool = options.pool()?;
    let worlds = &experiment.worlds;
    let (done, all) = (AtomicUsize::new(0), worlds.len());
    let beside: Result<Vec<RunTotals>, ExperimentError> = pool.install(|| {
        let one = |&world: &u32| {
            let totals = side_by_side(scenario, policies, split, world, options);
            observer.done(done.fetch_add(1, Ordering::Relaxed) + 1, all);
            totals
        };
        worlds.par_iter().map(one).collect()
    });
    let beside = beside?;
    let alone = |arm: usize| experiment.policies[arm].worlds.as_slice();
    let read: Vec<Arm> =
        (0..policies.len()).map(|arm| Arm::read(catalogue, &beside, alone(arm), arm)).collect();
    let arms = policies.iter().zip(&read).enumerate();
    let arms = arms.map(|(position, (policy, arm))| ArmFindings {
        name: policy.name.clone(),
        share: split.share(position),
        requests: arm.requests,
        beside: estimates(&arm.beside),
        same_requests: estimates(&arm.same_requests),
        alone: estimates(&arm.alone),
        unseen: differences(&arm.beside, &arm.same_requests),
        said: against(position, &read[0].beside, &arm.beside),
        so: against(position, &read[0].alone, &arm.alone),
        by_class: of_classes(catalogue, scenario, &beside, alone(position), position),
    });
    Ok(SplitFindings { split: split.clone(), arms: arms.collect() })
}

fn side_by_side(
    scenario: &Scenario,
    policies: &[Policy],
    split: &Split,
    world: u32,
    options: &Options,
) -> Result<RunTotals, ExperimentError> {
    let Options { seed, resample, .. } = *options;
    let options = WorldOptions { seed, world, resample, stickiness: Stickiness::Declared };
    let world = World::build(scenario, options).map_err(ExperimentError::World)?;
    let all: Vec<&Policy> = policies.iter().collect();
    let mut simulation = Simulation::side_by_side(scenario, &all, split).map_err(|problems| {
        let names: Vec<&str> = policies.iter().map(|p| p.name.as_str()).collect();
        ExperimentError::Policy { name: names.join(", "), problems }
    })?;
    Ok(simulation.run(&world, &mut NoSink))
}

/// What the measures say of one arm.
struct Arm {
    requests: u64,
    beside: Vec<Reading>,
    same_requests: Vec<Reading>,
    alone: Vec<Reading>,
}

impl Arm {
    fn read(catalogue: &Catalogue, beside: &[RunTotals], alone: &[RunTotals], arm: usize) -> Arm {
        let read = |runs: &Runs<'_>| {
            catalogue.measures().iter().map(|measure| measure.read(runs)).collect()
        };
        let of_arm = Runs::arm(beside, arm);
        // Of whole runs there are no figures of an arm to hold these against.
        let all = Runs::all_requests(alone);
        Arm {
            requests: of_arm.requests(),
            beside: read(&of_arm),
            same_requests: read(&Runs::arm(alone, arm)),
            alone: read(&all),
        }
    }
}

fn of_classes(
    catalogue: &Catalogue,
    scenario: &Scenario,
    beside: &[RunTotals],
    alone: &[RunTotals],
    arm: usize,
) -> Vec<[Vec<Option<Estimate>>; 2]> {
    let read = |runs: &[RunTotals], class: usize| {
        let part = |run: &RunTotals| run.arms[arm][class].clone();
        let runs = Runs::of_parts(runs.iter().map(part).collect());
        let one = |measure: &Measure| measure.by_class().then(|| measure.read(&runs).estimate);
        catalogue.measures().iter().map(one).collect()
    };
    let classes = 0..scenario.classes.len();
    classes.map(|class| [read(beside, class), read(alone, class)]).collect()
}

fn estimates(readings: &[Reading]) -> Vec<Option<Estimate>> {
    readings.iter().map(|reading| reading.sample.as_ref().map(|_| reading.estimate)).collect()
}

fn against(position: usize, base: &[Reading], readings: &[Reading]) -> Vec<Paired> {
    if position == 0 { Vec::new() } else { differences(base, readings) }
}
