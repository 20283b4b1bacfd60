//! The engine against a naive simulator: on random small scenarios their ledgers are the same,
//! row by row.

mod endings;
mod fate;
mod gateway;
mod limits;
mod provider;
#[path = "../common/random/mod.rs"]
mod random;
mod seen;
mod simulator;

use std::fmt;

use random::Case;
use seen::Seen;
use windtunnel::record::Rows;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};

const CASES: u64 = 1_000;

#[test]
fn ledgers_are_the_same_on_random_scenarios() {
    let parts = std::thread::available_parallelism().map_or(1, usize::from);
    let (mut seen, mut differing) = (Seen::default(), Vec::new());
    std::thread::scope(|scope| {
        let part = |part: usize| {
            let mut seen = Seen::default();
            let seeds = (part as u64..CASES).step_by(parts);
            let differing: Vec<_> = seeds.filter_map(|seed| compare(seed, &mut seen)).collect();
            (seen, differing)
        };
        let threads: Vec<_> = (0..parts).map(|i| scope.spawn(move || part(i))).collect();
        for thread in threads {
            let (part, found) = thread.join().expect("both simulators come to an end");
            seen.add(part);
            differing.extend(found);
        }
    });
    if let Some(shortest) = differing.iter().min_by_key(|difference| difference.rows) {
        let seeds: Vec<u64> = differing.iter().map(|difference| difference.seed).collect();
        panic!("ledgers differ with seeds {seeds:?}; the shortest is {shortest}");
    }
    seen.assert_wide();
}

/// Runs one case in both; tells where they part.
fn compare(seed: u64, seen: &mut Seen) -> Option<Difference> {
    let case = random::case(seed);
    let (scenario, policy) = case.load();
    let options = WorldOptions { seed, ..WorldOptions::default() };
    let world = World::build(&scenario, options).expect("a small world");
    let mut engine = Rows::default();
    let mut simulation = Simulation::new(&scenario, &policy).expect("a policy that fits");
    simulation.run(&world, &mut engine);
    let naive = simulator::run(&scenario, &policy, &world);
    seen.count(&engine);
    (engine != naive).then(|| Difference {
        seed,
        case,
        rows: engine.attempts.len(),
        text: first_difference(&engine, &naive),
    })
}

/// A case in which the ledgers differ.
struct Difference {
    seed: u64,
    case: Case,
    rows: usize,
    text: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { seed, case, text, .. } = self;
        writeln!(
            f,
            "seed {seed}\n--- scenario\n{:#}\n--- policy\n{:#}",
            case.scenario, case.policy
        )?;
        f.write_str(text)
    }
}

/// Where two ledgers part: the rows with their forerunners.
fn first_difference(engine: &Rows, naive: &Rows) -> String {
    fn pair<T: PartialEq + std::fmt::Debug>(what: &str, engine: &[T], naive: &[T]) -> String {
        match (0..engine.len().max(naive.len())).find(|&i| engine.get(i) != naive.get(i)) {
            Some(i) => format!(
                "--- {what} {i}\nbefore {:#?}\nengine {:#?}\nnaive {:#?}",
                i.checked_sub(1).map(|i| &engine[i]),
                engine.get(i),
                naive.get(i)
            ),
            None => format!("--- {what}: no difference"),
        }
    }
    let attempts = pair("attempt", &engine.attempts, &naive.attempts);
    format!("{attempts}\n{}", pair("request", &engine.requests, &naive.requests))
}
