//! Policies into worlds: in parallel, with results in the order of worlds and policies.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use windtunnel_policy::config::{Policy, Problem};
use windtunnel_policy::target::Topology;

use super::error::ExperimentError;
use super::options::{Extremes, Options};
use super::recorder::{Observer, Recorder, RunId};
use super::{Experiment, PolicyRuns};
use crate::record::{NoSink, RunTotals, Sink};
use crate::scenario::{Arrivals, Scenario};
use crate::simulation::{Simulation, Split};
use crate::weather::Incident;
use crate::world::{Stickiness, World, WorldError, WorldOptions, WorldRequest};

/// Worlds that are there at one time take about so much memory together, in bytes, where one is not more.
const MOST_ROOM: u64 = 768 << 20;
/// Runs the policies, and `single` for `no_recovery_success`, in the same worlds.
///
/// # Errors
/// A policy does not fit the scenario, the scenario has no world, or nothing was completed.
///
/// # Panics
/// Where two policies count different requests in one world: a fault of the simulator.
pub fn run<R: Recorder>(
    scenario: &Scenario,
    policies: &[Policy],
    single: Option<&Policy>,
    options: &Options,
    recorder: &R,
    observer: &dyn Observer,
) -> Result<Experiment, ExperimentError> {
    run_divided(scenario, policies, None, single, options, recorder, observer)
}

/// The same, but the first of the policies chooses from the targets of `within` alone, where that is given:
/// what was in force before the scenario's others were there.
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_first_within<R: Recorder>(
    scenario: &Scenario,
    policies: &[Policy],
    within: Option<&Topology>,
    options: &Options,
    recorder: &R,
    observer: &dyn Observer,
) -> Result<Experiment, ExperimentError> {
    let kind = |at: usize| match within {
        Some(topology) if at == 0 => Kind::Within(topology),
        _ => Kind::Plain,
    };
    run_each(scenario, policies, kind, None, options, recorder, observer)
}

/// The same, with each policy's requests also counted by the arms of a split, as [`split`] reads them.
///
/// [`split`]: super::split
///
/// # Errors
/// As [`run`].
///
/// # Panics
/// As [`run`].
pub fn run_divided<R: Recorder>(
    scenario: &Scenario,
    policies: &[Policy],
    split: Option<&Split>,
    single: Option<&Policy>,
    options: &Options,
    recorder: &R,
    observer: &dyn Observer,
) -> Result<Experiment, ExperimentError> {
    let kind = split.map_or(Kind::Plain, Kind::Divided);
    run_each(scenario, policies, |_| kind, single, options, recorder, observer)
}

/// Runs each policy in its own way.
fn run_each<'s, R: Recorder>(
    scenario: &'s Scenario,
    policies: &'s [Policy],
    kind: impl Fn(usize) -> Kind<'s>,
    single: Option<&'s Policy>,
    options: &Options,
    recorder: &R,
    observer: &dyn Observer,
) -> Result<Experiment, ExperimentError> {
    let benches = policies.iter().enumerate().map(|(i, p)| Bench::new(scenario, p, kind(i)));
    let benches: Vec<Bench<'_>> = benches.collect::<Result<_, _>>()?;
    // Where it is one of the policies and would choose the same targets, its runs serve twice.
    let twin = single
        .filter(|_| prefers_reference(scenario) && scenario.file.operators.is_empty())
        .and_then(|single| policies.iter().position(|p| same_rules(p, single)));
    let single = single.filter(|_| twin.is_none());
    let single = single.map(|p| Bench::new(scenario, p, Kind::AtReference)).transpose()?;
    let jobs = Jobs { scenario, benches: &benches, single: single.as_ref(), options, recorder };
    let pool = options.pool()?;
    let worlds = pool.install(|| jobs.all(observer));
    let mut experiment = gather(scenario, policies, worlds)?;
    if let Some(twin) = twin {
        let runs = &experiment.policies[twin].worlds;
        experiment.single = Some(runs.iter().map(RunTotals::without_times).collect());
    }
    Ok(experiment)
}

/// Every class would send to its reference target first.
fn prefers_reference(scenario: &Scenario) -> bool {
    let firsts = scenario.topology.classes.iter().map(|class| class.groups[0].targets[0]);
    firsts.eq(scenario.classes.iter().map(|class| class.reference))
}

/// Equal but for what they are called.
fn same_rules(a: &Policy, b: &Policy) -> bool {
    let renamed = Policy { name: b.name.clone(), description: b.description.clone(), ..a.clone() };
    renamed == *b
}

/// Room for running one policy: simulations not in use now.
struct Bench<'s> {
    scenario: &'s Scenario,
    policy: &'s Policy,
    kind: Kind<'s>,
    idle: Mutex<Vec<Simulation<'s>>>,
}

/// How a policy is run.
#[derive(Clone, Copy)]
enum Kind<'s> {
    Plain,
    /// Counted by the arms of a split.
    Divided(&'s Split),
    /// With the targets of this topology alone.
    Within(&'s Topology),
    /// Each route class at its reference target alone.
    AtReference,
}

impl<'s> Bench<'s> {
    fn new(
        scenario: &'s Scenario,
        policy: &'s Policy,
        kind: Kind<'s>,
    ) -> Result<Bench<'s>, ExperimentError> {
        let bench = Bench { scenario, policy, kind, idle: Mutex::new(Vec::new()) };
        let simulation = bench
            .simulation()
            .map_err(|problems| ExperimentError::Policy { name: policy.name.clone(), problems })?;
        Ok(Bench { idle: Mutex::new(vec![simulation]), ..bench })
    }

    fn simulation(&self) -> Result<Simulation<'s>, Vec<Problem>> {
        match self.kind {
            Kind::Plain => Simulation::new(self.scenario, self.policy),
            Kind::Divided(split) => Simulation::alone(self.scenario, self.policy, split),
            Kind::Within(topology) => Simulation::within(self.scenario, topology, self.policy),
            Kind::AtReference => Simulation::at_reference(self.scenario, self.policy),
        }
    }

    fn run(&self, world: &World, sink: &mut impl Sink) -> RunTotals {
        self.with_simulation(|simulation| simulation.run(world, sink))
    }

    /// Has one run made by a simulation that is idle, or by a new one.
    fn with_simulation(&self, run: impl FnOnce(&mut Simulation<'s>) -> RunTotals) -> RunTotals {
        let idle = || self.idle.lock().expect("no run panics while it holds the list");
        let reused = idle().pop();
        let mut simulation =
            reused.unwrap_or_else(|| self.simulation().expect("it was made once before"));
        let totals = run(&mut simulation);
        idle().push(simulation);
        totals
    }
}

struct Jobs<'a, R> {
    scenario: &'a Scenario,
    benches: &'a [Bench<'a>],
    single: Option<&'a Bench<'a>>,
    options: &'a Options,
    recorder: &'a R,
}

/// All runs in one world, by policy.
struct InWorld {
    incidents: Vec<Incident>,
    declared: Vec<RunTotals>,
    single: Option<RunTotals>,
    extremes: Option<[Vec<RunTotals>; 2]>,
}

impl<R: Recorder> Jobs<'_, R> {
    /// By world; `None` for worlds not begun.
    fn all(&self, observer: &dyn Observer) -> Vec<Result<Option<InWorld>, WorldError>> {
        let per_world = self.benches.len() + usize::from(self.single.is_some());
        let declared = per_world * self.options.worlds as usize;
        let all = declared + 2 * self.benches.len() * self.options.extreme_worlds() as usize;
        let done = AtomicUsize::new(0);
        let ran = || observer.done(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        // Whoever is free takes the next world, so that they are done nearly in order: rows wait
        // little for their turn, and an early end leaves a run of worlds without gaps.
        let next = AtomicU32::new(0);
        let job = |_| {
            let world = next.fetch_add(1, Ordering::Relaxed);
            let runs =
                if observer.stop() { Ok(None) } else { self.in_world(world, &ran).map(Some) };
            (world, runs)
        };
        let mut worlds = Vec::new();
        while worlds.len() < self.options.worlds as usize {
            let left = self.options.worlds - worlds.len() as u32;
            let some = left.min(at_one_time(self.scenario));
            worlds.par_extend((0..some).into_par_iter().map(job));
        }
        worlds.sort_by_key(|(world, _)| *world);
        worlds.into_iter().map(|(_, runs)| runs).collect()
    }

    fn in_world(&self, number: u32, ran: &(dyn Fn() + Sync)) -> Result<InWorld, WorldError> {
        let Options { seed, resample, .. } = *self.options;
        let stickiness = Stickiness::Declared;
        let options = WorldOptions { seed, world: number, resample, stickiness };
        let world = World::build(self.scenario, options)?;
        let (declared, single) = rayon::join(
            || self.with_rows(&world, number, ran),
            || self.single.map(|bench| counted(bench, &world, ran)),
        );
        let incidents = world.weather.incidents.clone();
        let extremes = (number < self.options.extreme_worlds()).then(|| {
            let (independent, world) = self.stuck(world, Stickiness::Independent, &declared, ran);
            let (to_request, _) = self.stuck(world, Stickiness::AllToRequest, &declared, ran);
            [independent, to_request]
        });
        Ok(InWorld { incidents, declared, single, extremes })
    }

    /// The policies in the same world, but where failures stick otherwise. Where they would not,
    /// the runs as `declared` serve twice.
    fn stuck(
        &self,
        world: World,
        stickiness: Stickiness,
        declared: &[RunTotals],
        ran: &(dyn Fn() + Sync),
    ) -> (Vec<RunTotals>, World) {
        if !world.sticks_otherwise(self.scenario, stickiness) {
            declared.iter().for_each(|_| ran());
            let same = |totals: &RunTotals| match self.options.extremes {
                Extremes::All => totals.clone(),
                Extremes::Counts | Extremes::Off => totals.without_times(),
            };
            return (declared.iter().map(same).collect(), world);
        }
        let world = World { options: WorldOptions { stickiness, ..world.options }, ..world };
        let runs = self.benches.par_iter().map(|bench| match self.options.extremes {
            Extremes::All => {
                let totals = bench.run(&world, &mut NoSink);
                ran();
                totals
            }
            Extremes::Counts | Extremes::Off => counted(bench, &world, ran),
        });
        (runs.collect(), world)
    }

    fn with_rows(&self, world: &World, number: u32, ran: &(dyn Fn() + Sync)) -> Vec<RunTotals> {
        let runs = self.benches.par_iter().enumerate().map(|(policy, bench)| {
            let ordinal = number as usize * self.benches.len() + policy;
            let run = RunId { policy, world: number, ordinal };
            let mut sink = self.recorder.start(run);
            let totals = bench.run(world, &mut sink);
            self.recorder.finish(run, sink);
            ran();
            totals
        });
        runs.collect()
    }
}

/// How many worlds there is room for, however many threads there are.
fn at_one_time(scenario: &Scenario) -> u32 {
    let requests: f64 = scenario.classes.iter().map(|class| class.expected).sum();
    let each = (requests * size_of::<WorldRequest>() as f64) as u64;
    u32::try_from(MOST_ROOM / each.max(1)).unwrap_or(u32::MAX).max(1)
}

fn counted(bench: &Bench<'_>, world: &World, ran: &(dyn Fn() + Sync)) -> RunTotals {
    let totals = bench.with_simulation(|simulation| simulation.run_counts(world));
    ran();
    totals
}

fn gather(
    scenario: &Scenario,
    policies: &[Policy],
    worlds: Vec<Result<Option<InWorld>, WorldError>>,
) -> Result<Experiment, ExperimentError> {
    let bare = |policy: &Policy| PolicyRuns {
        name: policy.name.clone(),
        hash: policy_hash(policy),
        worlds: Vec::new(),
    };
    let bare: Vec<PolicyRuns> = policies.iter().map(bare).collect();
    let mut experiment = Experiment {
        worlds: Vec::new(),
        incidents: Vec::new(),
        policies: bare.clone(),
        single: None,
        extremes: None,
    };
    for (number, world) in worlds.into_iter().enumerate() {
        let Some(world) = world.map_err(ExperimentError::World)? else { continue };
        assert_same_requests(scenario, &world, number);
        experiment.worlds.push(number as u32);
        experiment.incidents.push(world.incidents);
        add(&mut experiment.policies, world.declared);
        if let Some(single) = world.single {
            experiment.single.get_or_insert_default().push(single);
        }
        if let Some([independent, stuck]) = world.extremes {
            let extremes = experiment.extremes.get_or_insert_with(|| [bare.clone(), bare.clone()]);
            add(&mut extremes[0], independent);
            add(&mut extremes[1], stuck);
        }
    }
    if experiment.worlds.is_empty() { Err(ExperimentError::Interrupted) } else { Ok(experiment) }
}

fn add(policies: &mut [PolicyRuns], runs: Vec<RunTotals>) {
    for (policy, run) in policies.iter_mut().zip(runs) {
        policy.worlds.push(run);
    }
}

/// The denominator is the world's alone, except where users wait for their answers.
fn assert_same_requests(scenario: &Scenario, world: &InWorld, number: usize) {
    let open = |class: usize| {
        let spec = &scenario.file.classes[&scenario.classes[class].name];
        !matches!(spec.traffic.arrivals, Arrivals::ClosedLoop { .. })
    };
    let all = world.declared.iter().chain(&world.single);
    let all: Vec<&RunTotals> = all.chain(world.extremes.iter().flatten().flatten()).collect();
    for class in (0..scenario.classes.len()).filter(|&class| open(class)) {
        let requests = |run: &RunTotals| run.classes[class].requests;
        let expected = all.first().map(|run| requests(run));
        let same = all.iter().all(|run| Some(requests(run)) == expected);
        assert!(same, "policies count different requests of class {class} in world {number}");
    }
}

/// SHA-256 over the policy's data, in hexadecimal.
pub fn policy_hash(policy: &Policy) -> String {
    let text = serde_json::to_vec(policy).expect("a policy is plain data");
    Sha256::digest(&text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_of_millions_of_requests_wait_for_one_another() {
        let mut scenario = Scenario::load("openai-2025-06-10").unwrap_or_else(|e| panic!("{e}"));
        let mut of = |expected: f64| {
            scenario.classes.iter_mut().for_each(|class| class.expected = 0.0);
            scenario.classes[0].expected = expected;
            at_one_time(&scenario)
        };
        let room = MOST_ROOM as f64 / size_of::<WorldRequest>() as f64;
        assert_eq!([0.001, 0.3, 0.6, 9.0].map(|part| of(part * room)), [1_000, 3, 1, 1]);
        assert_eq!(of(0.0), MOST_ROOM as u32);
    }
}
