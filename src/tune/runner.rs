//! Policies into worlds, with results in the order of policies, scenarios and worlds.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;
use windtunnel_policy::config::Policy;

use super::score::Totals;
use crate::experiment::Observer;
use crate::input::InputError;
use crate::record::{NoSink, RunTotals};
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::world::{Stickiness, World, WorldOptions};

/// Requests of worlds that are held in memory at once.
const AT_ONCE: usize = 4_000_000;

/// Worlds of some scenarios, made from one seed.
#[derive(Clone, Copy)]
pub(super) struct Stream<'a> {
    pub(super) scenarios: &'a [Scenario],
    pub(super) seed: u64,
    pub(super) resample: bool,
    pub(super) stickiness: Stickiness,
}

/// Why runs ended before they were complete.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Halt {
    Interrupted,
    /// A world cannot be made.
    Input(InputError),
}

/// What runs took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// Runs: one policy in one world.
    pub runs: u64,
    /// Requests simulated in them.
    pub requests: u64,
}

pub(super) struct Runner<'a> {
    pool: ThreadPool,
    observer: &'a dyn Observer,
    done: AtomicUsize,
    planned: usize,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        threads: Option<usize>,
        observer: &'a dyn Observer,
    ) -> Result<Runner<'a>, InputError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.unwrap_or(0)).build();
        let failed = |error| InputError::new("--threads", format!("cannot be started: {error}"));
        let pool = pool.map_err(failed)?;
        Ok(Runner { pool, observer, done: AtomicUsize::new(0), planned: 0 })
    }

    /// Runs every policy in these worlds of every scenario. `keep` says what is kept of the totals
    /// of a scenario's run.
    pub(super) fn run(
        &mut self,
        stream: Stream<'_>,
        policies: &[&Policy],
        worlds: Range<u32>,
        keep: impl Fn(usize, &mut RunTotals) + Sync,
    ) -> Result<(Vec<Totals>, Spent), Halt> {
        self.planned += policies.len() * worlds.len() * stream.scenarios.len();
        let mut totals: Vec<Totals> = vec![Vec::new(); policies.len()];
        for scenario in 0..stream.scenarios.len() {
            let keep = |run: &mut RunTotals| keep(scenario, run);
            let by_policy = self
                .pool
                .install(|| self.in_scenario(stream, scenario, policies, worlds.clone(), &keep))?;
            totals.iter_mut().zip(by_policy).for_each(|(totals, runs)| totals.push(runs));
        }
        let runs = || totals.iter().flatten().flatten();
        let requests = runs().map(|run| run.requests).sum();
        let spent = Spent { runs: runs().count() as u64, requests };
        Ok((totals, spent))
    }

    /// By policy and world.
    fn in_scenario(
        &self,
        stream: Stream<'_>,
        position: usize,
        policies: &[&Policy],
        worlds: Range<u32>,
        keep: &(dyn Fn(&mut RunTotals) + Sync),
    ) -> Result<Vec<Vec<RunTotals>>, Halt> {
        let scenario = &stream.scenarios[position];
        let mut by_policy: Vec<Vec<RunTotals>> = vec![Vec::new(); policies.len()];
        let mut next = worlds.start;
        let mut block = 1;
        while next < worlds.end {
            let end = (next + block).min(worlds.end);
            let built = (next..end).into_par_iter().map(|world| build(stream, scenario, world));
            let built: Vec<World> = built.collect::<Result<_, _>>().map_err(Halt::Input)?;
            let runs: Vec<Option<Vec<RunTotals>>> = policies
                .par_iter()
                .map(|policy| self.of_policy(scenario, policy, &built, keep))
                .collect();
            for (all, runs) in by_policy.iter_mut().zip(runs) {
                all.extend(runs.ok_or(Halt::Interrupted)?);
            }
            // The first world says how many fit.
            let requests = built.iter().map(|world| world.requests.len()).max().unwrap_or(0);
            block = (AT_ONCE / requests.max(1)).clamp(1, worlds.len()) as u32;
            next = end;
        }
        Ok(by_policy)
    }

    /// By world; `None` where an end was asked for.
    fn of_policy(
        &self,
        scenario: &Scenario,
        policy: &Policy,
        worlds: &[World],
        keep: &(dyn Fn(&mut RunTotals) + Sync),
    ) -> Option<Vec<RunTotals>> {
        let idle: Mutex<Vec<Simulation<'_>>> = Mutex::new(Vec::new());
        let take = || idle.lock().expect("no run panics while it holds the list").pop();
        let give = |simulation| idle.lock().expect("as above").push(simulation);
        let one = |world: &World| {
            if self.observer.stop() {
                return None;
            }
            let mut simulation = take().unwrap_or_else(|| {
                Simulation::new(scenario, policy).expect("it was held against the scenario before")
            });
            let mut run = simulation.run(world, &mut NoSink);
            give(simulation);
            keep(&mut run);
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            self.observer.done(done, self.planned);
            Some(run)
        };
        worlds.par_iter().map(one).collect()
    }
}

fn build(stream: Stream<'_>, scenario: &Scenario, world: u32) -> Result<World, InputError> {
    let Stream { seed, resample, stickiness, .. } = stream;
    let options = WorldOptions { seed, world, resample, stickiness };
    World::build(scenario, options)
        .map_err(|error| InputError::new(&scenario.source.name, error.to_string()))
}
