//! Scenarios with their worlds, made once and shared by all policies.

use std::ops::Range;

use rayon::prelude::*;
use windtunnel_policy::config::Policy;

use crate::experiment::ExperimentError;
use crate::measures::Catalogue;
use crate::record::{NoSink, RunTotals};
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::world::{Stickiness, World, WorldOptions, WorldRequest};

/// Worlds that take more memory are refused, in bytes.
const MOST_ROOM: u64 = 4 << 30;

/// A scenario and how much it counts.
#[derive(Clone, Copy, Debug)]
pub struct Weighted<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// Its part of what is weighted, of the sum of all; positive.
    pub weight: f64,
}

/// Which worlds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArenaOptions {
    /// The seed all worlds are made from.
    pub seed: u64,
    /// Their numbers, the same for every scenario; not empty.
    pub worlds: Range<u32>,
    /// Draw stretches of recorded traffic and incidents within their ranges, too.
    pub resample: bool,
}

/// Scenarios with their worlds. Immutable: any number of policies run in it side by side.
pub struct Arena<'s> {
    stages: Vec<Stage<'s>>,
}

/// One scenario of an arena.
pub struct Stage<'s> {
    /// The scenario.
    pub scenario: &'s Scenario,
    /// Its part of what is weighted.
    pub weight: f64,
    /// Its measures.
    pub catalogue: Catalogue,
    /// Its worlds, by number.
    pub worlds: Vec<World>,
    /// The `single` policy in each of them, for `no_recovery_success`.
    pub single: Vec<RunTotals>,
}

impl<'s> Arena<'s> {
    /// Makes the worlds, and runs `single` in them.
    ///
    /// # Errors
    /// A scenario has no world, or the worlds together take too much memory.
    pub fn build(
        scenarios: &[Weighted<'s>],
        single: &Policy,
        options: &ArenaOptions,
    ) -> Result<Arena<'s>, ExperimentError> {
        let mut room = 0;
        let mut stages = Vec::new();
        for &Weighted { scenario, weight } in scenarios {
            let world = |world| {
                let options = WorldOptions {
                    seed: options.seed,
                    world,
                    resample: options.resample,
                    stickiness: Stickiness::Declared,
                };
                World::build(scenario, options).map_err(ExperimentError::World)
            };
            // The first tells how large the others are.
            let first = world(options.worlds.start)?;
            let requests = first.requests.len() as u64;
            let each = requests * size_of::<WorldRequest>() as u64;
            room += each * options.worlds.len() as u64;
            if room > MOST_ROOM {
                return Err(ExperimentError::TooLarge { bytes: room, most: MOST_ROOM, requests });
            }
            let rest: Result<Vec<World>, ExperimentError> =
                (options.worlds.start + 1..options.worlds.end).into_par_iter().map(world).collect();
            let mut worlds = vec![first];
            worlds.extend(rest?);
            let at_reference = |world| {
                let mut simulation = Simulation::at_reference(scenario, single)
                    .map_err(|problems| misfit(single, problems))?;
                Ok(simulation.run(world, &mut NoSink))
            };
            let single = worlds.par_iter().map(at_reference).collect::<Result<_, _>>()?;
            let catalogue = Catalogue::of(scenario);
            stages.push(Stage { scenario, weight, catalogue, worlds, single });
        }
        Ok(Arena { stages })
    }

    /// The scenarios, in the order given.
    pub fn stages(&self) -> &[Stage<'s>] {
        &self.stages
    }

    /// Runs a policy in the worlds at these positions of every scenario: totals by scenario, then
    /// by world. Uses one thread.
    ///
    /// # Errors
    /// The policy does not fit a scenario.
    pub fn run(
        &self,
        policy: &Policy,
        worlds: Range<usize>,
    ) -> Result<Vec<Vec<RunTotals>>, ExperimentError> {
        let in_stage = |stage: &Stage<'s>| {
            let mut simulation = Simulation::new(stage.scenario, policy)
                .map_err(|problems| misfit(policy, problems))?;
            let runs = stage.worlds[worlds.clone()].iter();
            Ok(runs.map(|world| simulation.run(world, &mut NoSink)).collect())
        };
        self.stages.iter().map(in_stage).collect()
    }
}

fn misfit(policy: &Policy, problems: Vec<windtunnel_policy::config::Problem>) -> ExperimentError {
    ExperimentError::Policy { name: policy.name.clone(), problems }
}
