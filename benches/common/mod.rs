//! What the benches share: scenarios by name, times, and the rows of their tables.

#![allow(dead_code, reason = "each bench takes what it needs")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant as Clock};

use windtunnel::input::SourceFile;
use windtunnel::record::{NoSink, RunTotals};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};
use windtunnel_policy::config::Policy;

/// A scenario of `benches/scenarios`.
pub(crate) fn load(name: &str) -> Scenario {
    let path = folder().join(format!("scenarios/{name}.yaml")).display().to_string();
    Scenario::load(&path).unwrap_or_else(|e| panic!("{e}"))
}

/// A scenario of this text, as if it stood in `benches/scenarios`.
pub(crate) fn read(name: &str, text: String) -> Scenario {
    let folder = Some(folder().join("scenarios"));
    let source = SourceFile { name: name.into(), text, folder };
    Scenario::read(source).unwrap_or_else(|e| panic!("{e}"))
}

/// The standard scenario with a horizon of so many seconds, in a folder with the files it names; the
/// scenario's path. Traffic is 42.4 requests/s on average, after a warm-up of 60 s.
pub(crate) fn cut_standard(into: &Path, seconds: u32) -> String {
    for kind in ["models", "policies", "scenarios"] {
        fs::create_dir(into.join(kind)).expect("an empty folder");
        for file in fs::read_dir(folder().join(kind)).expect("the bench's files") {
            let file = file.expect("a readable folder");
            fs::copy(file.path(), into.join(kind).join(file.file_name())).expect("room for it");
        }
    }
    let path = into.join("scenarios/standard.yaml");
    let text = fs::read_to_string(&path).expect("the standard scenario");
    assert!(text.contains("horizon: 4780s"), "the standard scenario's horizon");
    let cut = text.replace("horizon: 4780s", &format!("horizon: {seconds}s"));
    fs::write(&path, cut).expect("room for it");
    path.display().to_string()
}

/// The path of its policy.
pub(crate) fn standard_policy() -> String {
    folder().join("policies/standard.yaml").display().to_string()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches")
}

/// A scenario's first world, and the simulation of a policy: its first where none is named.
pub(crate) struct Run<'s> {
    world: World,
    simulation: Simulation<'s>,
}

impl<'s> Run<'s> {
    pub(crate) fn of(scenario: &'s Scenario) -> Run<'s> {
        let policies = scenario.load_policies().expect("its policy is in order");
        Run::under(scenario, &policies[0])
    }

    pub(crate) fn under(scenario: &'s Scenario, policy: &Policy) -> Run<'s> {
        let world = World::build(scenario, WorldOptions::default()).expect("the world can be made");
        let simulation = Simulation::new(scenario, policy).expect("the policy fits");
        Run { world, simulation }
    }

    pub(crate) fn once(&mut self) -> RunTotals {
        self.simulation.run(&self.world, &mut NoSink)
    }

    /// Requests of the world.
    pub(crate) fn requests(&self) -> u64 {
        self.world.requests.len() as u64
    }
}

/// Runs windtunnel itself to its end, and tells the most memory it held, in megabytes, where the system says
/// so.
pub(crate) fn program(words: &[&str]) -> Option<u64> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_windtunnel"))
        .args(words)
        .stdout(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut most = None;
    loop {
        most = most.max(memory(&child));
        if let Some(status) = child.try_wait().expect("a child of this process") {
            assert!(status.success(), "{words:?}: {status}");
            return most;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// The most memory a process has held so far, in megabytes.
fn memory(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024 / 1_000_000)
}

/// Whether a run is asked for: by its name, or because no name is given.
pub(crate) fn wanted(name: &str) -> bool {
    names().next().is_none() || named(name)
}

/// Whether a run is asked for by its name.
pub(crate) fn named(name: &str) -> bool {
    names().any(|n| n == name)
}

/// The names among the arguments; Cargo adds options of its own.
fn names() -> impl Iterator<Item = String> {
    std::env::args().skip(1).filter(|argument| !argument.starts_with('-'))
}

/// Seconds.
pub(crate) fn timed(work: impl FnOnce()) -> f64 {
    let start = Clock::now();
    work();
    start.elapsed().as_secs_f64()
}

pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The head of a table in Markdown.
pub(crate) fn head(columns: &[&str]) {
    println!("| {} |", columns.join(" | "));
    println!("|{}", "---|".repeat(columns.len()));
}

/// A row of it.
pub(crate) fn row(cells: &[String]) {
    println!("| {} |", cells.join(" | "));
}
