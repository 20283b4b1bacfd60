//! The speed goals G1 and G2: whole runs through the real core, each beside its reference.
//!
//! Absolute times drift with the machine: read the ratios. Runs and references are timed in
//! turn, several times over, and medians are printed. Arguments choose runs by name: `r1`,
//! `standard`; and `r1-once`, `standard-once`, which run the first 300 s a single time and
//! are for counting instructions:
//!
//! ```sh
//! valgrind --tool=callgrind --toggle-collect='*counted*' target/release/deps/speed-* standard-once
//! ```

mod common;
#[path = "reference/plain_heap.rs"]
mod plain_heap;

use windtunnel::record::RunTotals;
use windtunnel_policy::Duration;

use common::{Run, head, load, median, named, row, timed, wanted};

const ROUNDS: u64 = 7;
/// Requests of R1.
const REQUESTS: u64 = 200_000;

fn main() {
    let once = ["r1", "standard"].map(|name| (name, format!("{name}-once")));
    if let Some((name, _)) = once.iter().find(|(_, argument)| named(argument)) {
        return count(name);
    }
    head(&["run", "ns/request", "plain loop, ns", "ratio", "goal"]);
    if wanted("r1") {
        r1();
    }
    if wanted("standard") {
        standard();
    }
}

/// G1: R1 against the plain heap loop.
fn r1() {
    let (totals, counts) = beside_the_plain_loop("r1", "≤ 1.0");
    let all = totals.overall();
    let share = |part: u64, whole: u64| part as f64 / whole as f64;
    eprintln!(
        "ours:      success {:.4}, attempts per request {:.4}, mean latency {:.4} s",
        share(all.answered.total(), all.requests),
        share(all.attempts, all.requests),
        all.latency.to_hdr().mean() / 1e6,
    );
    eprintln!(
        "reference: success {:.4}, attempts per request {:.4}, mean latency {:.4} s",
        share(counts.latencies.len() as u64, counts.requests),
        share(counts.attempts, counts.requests),
        counts.latencies.iter().sum::<f64>() / counts.latencies.len() as f64,
    );
}

/// G2: the standard scenario; its reference is the plain loop on R1, for scale.
fn standard() {
    let (totals, _) = beside_the_plain_loop("standard", "≤ 300 ns");
    let all = totals.overall();
    eprintln!(
        "success {:.4}, attempts per request {:.3}, occurrences per request {:.3}",
        all.answered.total() as f64 / all.requests as f64,
        all.attempts as f64 / all.requests as f64,
        totals.events as f64 / totals.requests as f64,
    );
}

/// One run of the first 300 s, untimed.
fn count(name: &str) {
    let mut scenario = load(name);
    scenario.file.horizon = Duration::from_secs(300);
    println!("{} requests", counted(&mut Run::of(&scenario)).requests);
}

/// The run that is counted, under a name of its own.
#[inline(never)]
fn counted(run: &mut Run<'_>) -> RunTotals {
    run.once()
}

fn beside_the_plain_loop(name: &str, goal: &str) -> (RunTotals, plain_heap::Counts) {
    let scenario = load(name);
    let mut run = Run::of(&scenario);
    let mut totals = RunTotals::default();
    let mut counts = plain_heap::Counts::default();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        ours.push(timed(|| totals = run.once()) / totals.requests as f64);
        let seed = round + 1;
        theirs.push(timed(|| counts = plain_heap::run(REQUESTS, seed)) / counts.requests as f64);
    }
    let (ours, theirs) = (1e9 * median(ours), 1e9 * median(theirs));
    row(&[
        name.into(),
        format!("{ours:.0}"),
        format!("{theirs:.0}"),
        format!("{:.2}", ours / theirs),
        goal.into(),
    ]);
    (totals, counts)
}
