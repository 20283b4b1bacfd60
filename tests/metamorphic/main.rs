//! Whole runs held against what must follow when one thing is changed.

mod accounts;
mod changes;
mod endings;
mod equal;
mod gateways;
mod layers;
mod operators;
#[path = "../common/random/mod.rs"]
mod random;
mod replay;
mod times;
mod tools;

use windtunnel::input::SourceFile;
use windtunnel::library::read_policy;
use windtunnel::record::{Rows, RunTotals};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};
use windtunnel_policy::config::Policy;

fn file(text: &str) -> SourceFile {
    SourceFile { name: "test.yaml".into(), text: text.into(), folder: None }
}

fn scenario(text: &str) -> Scenario {
    Scenario::read(file(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn policy(text: &str) -> Policy {
    read_policy(&file(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn world(scenario: &Scenario, seed: u64) -> World {
    let options = WorldOptions { seed, ..WorldOptions::default() };
    World::build(scenario, options).expect("a small world")
}

/// One run: its totals and its ledger. Every run's own accounts are asserted within.
fn run(scenario: &Scenario, policy: &Policy, seed: u64) -> (RunTotals, Rows) {
    let mut rows = Rows::default();
    let mut simulation = Simulation::new(scenario, policy).expect("a policy that fits");
    let totals = simulation.run(&world(scenario, seed), &mut rows);
    (totals, rows)
}
