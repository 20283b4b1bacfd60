//! The speed goals G1, G2 and G5: whole runs through the real core, each beside its reference.
//!
//! Absolute times drift with the machine: read the ratios. Runs and references are timed in
//! turn, several times over, and medians are printed. Arguments choose runs by name: `r1`,
//! `standard`, `growth`; and `r1-once`, `standard-once`, which run the first 300 s a single time and
//! are for counting instructions:
//!
//! ```sh
//! valgrind --tool=callgrind --toggle-collect='*counted*' target/release/deps/speed-* standard-once
//! ```

#[path = "reference/plain_heap.rs"]
mod plain_heap;

use std::time::Instant as Clock;

use windtunnel::input::SourceFile;
use windtunnel::record::{NoSink, RunTotals};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};
use windtunnel_policy::Duration;

const ROUNDS: usize = 7;
/// Requests of R1.
const REQUESTS: u64 = 200_000;

fn main() {
    println!("{:<16} {:>12} {:>12} {:>8}", "run", "ns/request", "ref ns/req", "ratio");
    let names: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| n == name);
    if wanted("r1") {
        r1();
    }
    if wanted("standard") {
        standard();
    }
    if wanted("growth") {
        growth();
    }
    for scenario in ["r1", "standard"] {
        if names.iter().any(|name| *name == format!("{scenario}-once")) {
            once(scenario);
        }
    }
}

/// G1: R1 against the plain heap loop.
fn r1() {
    let scenario = load("r1");
    let world = World::build(&scenario, WorldOptions::default()).expect("the world can be made");
    let policies = scenario.load_policies().expect("its policy is in order");
    let mut simulation = Simulation::new(&scenario, &policies[0]).expect("the policy fits");
    let mut totals = RunTotals::default();
    let mut counts = plain_heap::Counts::default();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours.push(timed(|| totals = simulation.run(&world, &mut NoSink)) / totals.requests as f64);
        let seed = round as u64 + 1;
        theirs.push(timed(|| counts = plain_heap::run(REQUESTS, seed)) / counts.requests as f64);
    }
    row("R1", median(ours), median(theirs));
    let all = totals.overall();
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    println!(
        "  ours:      success {:.4}, attempts per request {:.4}, mean latency {:.4} s",
        share(all.answered.total(), all.requests),
        share(all.attempts, all.requests),
        mean_of_answered(&totals),
    );
    println!(
        "  reference: success {:.4}, attempts per request {:.4}, mean latency {:.4} s",
        share(counts.answered, counts.requests),
        share(counts.attempts, counts.requests),
        counts.latency / counts.answered as f64,
    );
}

/// G2: the standard scenario; its reference is the plain loop on R1, for scale.
fn standard() {
    let scenario = load("standard");
    let world = World::build(&scenario, WorldOptions::default()).expect("the world can be made");
    let policies = scenario.load_policies().expect("its policy is in order");
    let mut simulation = Simulation::new(&scenario, &policies[0]).expect("the policy fits");
    let mut totals = RunTotals::default();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours.push(timed(|| totals = simulation.run(&world, &mut NoSink)) / totals.requests as f64);
        theirs.push(
            timed(|| {
                plain_heap::run(REQUESTS, round as u64 + 1);
            }) / REQUESTS as f64,
        );
    }
    row("standard", median(ours), median(theirs));
    let all = totals.overall();
    println!(
        "  success {:.4}, attempts per request {:.3}, occurrences per request {:.3}",
        all.answered.total() as f64 / all.requests as f64,
        all.attempts as f64 / all.requests as f64,
        totals.events as f64 / totals.requests as f64,
    );
}

/// G5: the cost of a request must not grow with their number or with the number of targets. The
/// reference, timed in turn with each run, is the smallest of its series.
fn growth() {
    let cut = |seconds| {
        let mut scenario = load("standard");
        scenario.file.warm_up = Duration::ZERO;
        scenario.file.horizon = Duration::from_secs(seconds);
        scenario
    };
    let small = cut(240);
    for seconds in [24, 2_400, 24_000] {
        series("requests", &small, &cut(seconds));
    }
    let few = many_targets(2);
    for targets in [20, 200] {
        series(&format!("{targets} targets"), &few, &many_targets(targets));
    }
}

/// One run of the first 300 s, untimed.
fn once(name: &str) {
    let mut scenario = load(name);
    scenario.file.horizon = Duration::from_secs(300);
    let world = World::build(&scenario, WorldOptions::default()).expect("the world can be made");
    let policies = scenario.load_policies().expect("its policy is in order");
    let mut simulation = Simulation::new(&scenario, &policies[0]).expect("the policy fits");
    println!("{} requests", counted(&mut simulation, &world).requests);
}

/// The run that is counted, under a name of its own.
#[inline(never)]
fn counted(simulation: &mut Simulation<'_>, world: &World) -> RunTotals {
    simulation.run(world, &mut NoSink)
}

/// Times the runs of two scenarios in turn, each until it has run as many requests as the larger
/// has.
fn series(name: &str, reference: &Scenario, scenario: &Scenario) {
    let worlds = [reference, scenario]
        .map(|s| World::build(s, WorldOptions::default()).expect("the world can be made"));
    let mut simulations = [reference, scenario].map(|s| {
        let policies = s.load_policies().expect("its policy is in order");
        Simulation::new(s, &policies[0]).expect("the policy fits")
    });
    let largest = worlds.iter().map(|world| world.requests.len()).max().unwrap_or(0);
    let rounds = (500_000 / largest).clamp(1, ROUNDS);
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..rounds {
        for ((world, simulation), times) in worlds.iter().zip(&mut simulations).zip(&mut times) {
            let (mut ns, mut requests) = (0.0, 0);
            while requests < largest as u64 {
                ns += timed(|| requests += simulation.run(world, &mut NoSink).requests);
            }
            times.push(ns / requests as f64);
        }
    }
    let [theirs, ours] = times.map(median);
    let name = match name {
        "requests" => format!("{} requests", worlds[1].requests.len()),
        name => name.to_owned(),
    };
    row(&name, ours, theirs);
}

/// R1's targets, many of them, in groups of two, each with the same share of the traffic.
fn many_targets(targets: usize) -> Scenario {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/scenarios");
    let card = "{card: ../models/r1-server.yaml}";
    let mut text = String::from(
        "name: many\nshows: growth\nexpect: none\nhorizon: 1000s\ninterval: 100s\n\
         policies: [../policies/r1.yaml]\nclasses:\n",
    );
    for pair in 0..targets / 2 {
        let rate = 100.0 / (targets / 2) as f64;
        text += &format!(
            "  c{pair}:\n    deadline: {{total: 30s}}\n    groups: {{primary: [t{}], fallbacks: \
             [[t{}]]}}\n    traffic: {{arrivals: {{poisson: {rate}/s}}, tokens: {{input: \
             {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}}}\n",
            2 * pair,
            2 * pair + 1,
        );
    }
    text += "targets:\n";
    (0..targets).for_each(|target| text += &format!("  t{target}: {card}\n"));
    let source = SourceFile { name: "many".into(), text, folder: Some(folder.into()) };
    Scenario::read(source).unwrap_or_else(|e| panic!("{e}"))
}

fn load(name: &str) -> Scenario {
    let path = format!("{}/benches/scenarios/{name}.yaml", env!("CARGO_MANIFEST_DIR"));
    Scenario::load(&path).unwrap_or_else(|e| panic!("{e}"))
}

fn mean_of_answered(totals: &RunTotals) -> f64 {
    let hist = totals.overall().latency.to_hdr();
    hist.mean() / 1e6
}

/// Nanoseconds.
fn timed(work: impl FnOnce()) -> f64 {
    let start = Clock::now();
    work();
    start.elapsed().as_secs_f64() * 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn row(name: &str, ours: f64, theirs: f64) {
    println!("{name:<16} {ours:>12.0} {theirs:>12.0} {:>8.2}", ours / theirs);
}
