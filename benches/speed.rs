//! The speed goals G1 and G2: whole runs through the real core, each beside its reference.
//!
//! Absolute times drift with the machine: read the ratios. Runs and references are timed in
//! turn, several times over, and medians are printed. Arguments choose runs by name: `r1`,
//! `standard`.

#[path = "reference/plain_heap.rs"]
mod plain_heap;

use std::time::Instant as Clock;

use windtunnel::record::{NoSink, RunTotals};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};

const ROUNDS: usize = 7;
/// Requests of R1.
const REQUESTS: u64 = 200_000;

fn main() {
    println!("{:<10} {:>12} {:>12} {:>8}", "run", "ns/request", "ref ns/req", "ratio");
    let names: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let wanted = |name: &str| names.is_empty() || names.iter().any(|n| n == name);
    if wanted("r1") {
        r1();
    }
    if wanted("standard") {
        standard();
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
    println!("{name:<10} {ours:>12.0} {theirs:>12.0} {:>8.2}", ours / theirs);
}
