//! The speed goals G6 and G8: the program itself, from its start to its report.
//!
//! Both work on the standard scenario cut to 20,000 measured requests. G6 compares four policies
//! in twenty worlds; `compare` also runs them where no failure sticks and where all do, which is
//! twelve runs a world, and one more without recovery. G8 writes every attempt to a file. Each is
//! timed beside its reference: the same requests in one thread inside this program, and the same
//! run without a ledger.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant as Clock;

use windtunnel::record::NoSink;
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};

const ROUNDS: usize = 5;
/// 470 s at 42.4 requests/s, after a warm-up of 60 s.
const HORIZON: &str = "horizon: 530s";
const POLICIES: [&str; 4] = ["conservative", "fast-failover", "sdk-default", "naive-retry"];

fn main() {
    let folder = tempfile::tempdir().expect("a folder for the cut scenario");
    let scenario = cut_standard(folder.path());
    println!("{:<34} {:>9} {:>12} {:>7}", "run", "seconds", "reference", "ratio");
    compare(&scenario);
    ledger(&scenario, folder.path());
}

/// The standard scenario with a shorter horizon, and the files it names beside it.
fn cut_standard(folder: &Path) -> String {
    let benches = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches");
    for kind in ["models", "policies", "scenarios"] {
        fs::create_dir(folder.join(kind)).expect("an empty folder");
        for file in fs::read_dir(benches.join(kind)).expect("the bench's files") {
            let file = file.expect("a readable folder");
            fs::copy(file.path(), folder.join(kind).join(file.file_name())).expect("room for it");
        }
    }
    let path = folder.join("scenarios/standard.yaml");
    let text = fs::read_to_string(&path).expect("the standard scenario");
    assert!(text.contains("horizon: 4780s"), "the standard scenario's horizon");
    fs::write(&path, text.replace("horizon: 4780s", HORIZON)).expect("room for it");
    path.display().to_string()
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
    let (mut program, mut reference) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        program.push(timed(|| run(&words)));
        reference.push(timed(one_thread));
    }
    row("compare, 4 policies x 20 worlds", program, reference);
}

/// G8: every attempt written as CSV, beside the same run without.
fn ledger(path: &str, folder: &Path) {
    let file = folder.join("ledger.csv").display().to_string();
    let plain = ["run", path, "--worlds", "10", "--threads", "1", "--quiet"];
    let written = [&plain[..], &["--ledger", &file]].concat();
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        with.push(timed(|| run(&written)));
        without.push(timed(|| run(&plain)));
    }
    row("run with a ledger, 10 worlds", with, without);
}

fn run(words: &[&str]) {
    let status = Command::new(env!("CARGO_BIN_EXE_windtunnel"))
        .args(words)
        .stdout(Stdio::null())
        .status()
        .expect("the program starts");
    assert!(status.success(), "{words:?}: {status}");
}

/// Seconds.
fn timed(work: impl FnOnce()) -> f64 {
    let start = Clock::now();
    work();
    start.elapsed().as_secs_f64()
}

fn row(name: &str, ours: Vec<f64>, reference: Vec<f64>) {
    let (ours, reference) = (median(ours), median(reference));
    println!("{name:<34} {ours:>9.2} {reference:>12.2} {:>7.2}", ours / reference);
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
