//! The speed goals G6 and G8: the program itself, from its start to its report.
//!
//! Both work on the standard scenario cut to 20,000 measured requests. G6 compares four policies
//! in twenty worlds; `compare` also runs them without recovery, and in half of the worlds where no
//! failure sticks and where all do: nine runs a world. G8 writes every attempt to a file. Each is
//! timed beside its reference: the same requests in one thread inside this program, and the same
//! run without a ledger.

mod common;

use std::path::Path;

use windtunnel::record::NoSink;
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};

use common::{cut_standard, head, median, program, row, timed};

const ROUNDS: usize = 5;
/// Seconds: a warm-up of 60, and the 371 of the steps after it in which 20,000 requests come.
const HORIZON: u32 = 431;
const POLICIES: [&str; 4] = ["conservative", "fast-failover", "sdk-default", "naive-retry"];

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the cut scenario");
    let scenario = cut_standard(folder.path(), HORIZON);
    head(&["run", "seconds", "reference, s", "ratio", "goal"]);
    compare(&scenario);
    ledger(&scenario, folder.path());
}

/// G6: four policies, twenty worlds, beside the same 1.6 million runs of a request in one thread.
fn compare(path: &str) {
    let mut words = vec!["compare", path, "--worlds", "20", "--quiet"];
    POLICIES.iter().for_each(|policy| words.extend(["--policy", policy]));
    let scenario = Scenario::load(path).unwrap_or_else(|e| panic!("{e}"));
    let policies = POLICIES.map(|p| windtunnel::library::load_policy(p).expect("a shipped policy"));
    let one_thread = || {
        for world in 0..20 {
            let options = WorldOptions { seed: 1, world, ..WorldOptions::default() };
            let world = World::build(&scenario, options).expect("a world");
            for policy in &policies {
                let mut simulation = Simulation::new(&scenario, policy).expect("it fits");
                simulation.run(&world, &mut NoSink);
            }
        }
    };
    let (mut whole, mut reference) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        whole.push(timed(|| {
            program(&words);
        }));
        reference.push(timed(one_thread));
    }
    print("`compare`, 4 policies × 20 worlds × 20,000 requests", whole, reference, "≤ 1.5 s");
}

/// G8: every attempt written as CSV, beside the same run without.
fn ledger(path: &str, folder: &Path) {
    let file = folder.join("ledger.csv").display().to_string();
    let plain = ["run", path, "--worlds", "10", "--threads", "1", "--quiet"];
    let written = [&plain[..], &["--ledger", &file]].concat();
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        for (words, times) in [(&written[..], &mut with), (&plain[..], &mut without)] {
            times.push(timed(|| {
                program(words);
            }));
        }
    }
    print("`run` with every attempt as CSV, 10 worlds", with, without, "≤ 4");
}

fn print(name: &str, ours: Vec<f64>, reference: Vec<f64>, goal: &str) {
    let (ours, reference) = (median(ours), median(reference));
    row(&[
        name.into(),
        format!("{ours:.2}"),
        format!("{reference:.2}"),
        format!("{:.2}", ours / reference),
        goal.into(),
    ]);
}
