//! What the router was told in a run, told to another router.

use std::collections::BTreeMap;

use windtunnel::record::{AttemptRow, RequestRow, Sink};
use windtunnel::simulation::Simulation;
use windtunnel_policy::event::{Action, AttemptRef, BreakerState, Event};
use windtunnel_policy::{Instant, Router};

use super::{policy, random, run, scenario, world};

/// The events of a run with the actions that followed each.
#[derive(Default)]
struct Log(Vec<(Instant, Event, Vec<Action>)>);

impl Sink for Log {
    fn attempt(&mut self, _: &AttemptRow) {}
    fn request(&mut self, _: &RequestRow) {}
    fn routed(&mut self, now: Instant, event: &Event, actions: &[Action]) {
        self.0.push((now, *event, actions.to_vec()));
    }
}

#[test]
fn a_fresh_router_told_the_same_says_the_same() {
    let mut events = 0;
    for seed in 2_000..2_100 {
        let (scenario, policy) = random::case(seed).load();
        let mut log = Log::default();
        let mut simulation = Simulation::new(&scenario, &policy).expect("a policy that fits");
        simulation.run(&world(&scenario, seed), &mut log);
        let mut router = Router::new(policy, scenario.topology.clone()).expect("a valid policy");
        let mut actions = Vec::new();
        for (now, event, said) in log.0 {
            actions.clear();
            router.handle(now, event, &mut actions);
            assert_eq!(actions, said, "seed {seed} at {now:?}: {event:?}");
            events += 1;
        }
        assert_eq!((router.open_requests(), router.in_flight()), (0, 0), "seed {seed}");
    }
    assert!(events > 20_000, "{events}");
}

/// From 10 s to 20 s the primary never answers. Its breaker opens, and every probe is a black
/// hole, that ends in one way only.
fn black_hole(traffic: &str, deadline: &str) -> String {
    format!(
        "
name: black-hole
shows: probes that end without an outcome
expect: permits come back and the primary regains its traffic
horizon: 60s
classes:
  chat:
    deadline: {{total: {deadline}}}
    groups: {{primary: [north], fallbacks: [[south]]}}
    traffic:
      arrivals: {{poisson: 10/s}}
      streamed: 0%
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
      {traffic}
targets:
  north: {{card: plain-server}}
  south: {{card: plain-server}}
weather:
  - name: hole
    hits: {{target: north}}
    when: {{window: {{from: 10s, lasts: 10s}}}}
    effects:
      failures:
        share: 100%
        mix: [{{class: timeout, status: 0, weight: 1, hang: true}}]
"
    )
}

const BREAKER: &str = "
breakers:
  - key: [deployment]
    trip: [{consecutive: 3}]
    open_for: 1s
    probes: {concurrent: 2, successes: 2}
matrix: {deadline_exhausted: {blame: breaker}}
";

#[test]
fn probe_permits_come_back_however_the_probe_ends() {
    let cases = [
        ("timeout", black_hole("", "10s"), "timeouts: {attempt: 500ms}"),
        ("deadline_exhausted", black_hole("", "500ms"), ""),
        // A caller who leaves blames nobody: timeouts open the breaker.
        (
            "caller_cancelled",
            black_hole("patience: {uniform: {from: 0s, to: 2s}}", "10s"),
            "timeouts: {attempt: 1s}",
        ),
    ];
    for (class, file, timeouts) in cases {
        let scenario = scenario(&file);
        let policy = policy(&format!("{BREAKER}{timeouts}"));
        let (_, rows) = run(&scenario, &policy, 7);
        let probes = |row: &&AttemptRow| row.breaker == BreakerState::HalfOpen;
        let lost = rows.attempts.iter().filter(probes).filter(|row| row.failure.is_some());
        let lost: Vec<&str> = lost.map(|row| row.failure.map_or("", |f| f.name())).collect();
        assert!(lost.contains(&class), "{class}: {lost:?}");
        let late = rows.attempts.iter().filter(|row| row.sent.as_micros() > 30_000_000);
        let late: Vec<u16> = late.map(|row| row.target.0).collect();
        assert!(late.len() > 200 && late.iter().all(|target| *target == 0), "{class}");

        let mut log = Log::default();
        let mut simulation = Simulation::new(&scenario, &policy).expect("a policy that fits");
        simulation.run(&world(&scenario, 7), &mut log);
        recount(&scenario.topology, &policy, &log);
    }
}

/// After every event the permits out are those of the probes in flight.
fn recount(
    topology: &windtunnel_policy::target::Topology,
    policy: &windtunnel_policy::config::Policy,
    log: &Log,
) {
    let mut router = Router::new(policy.clone(), topology.clone()).expect("a valid policy");
    let mut in_flight: BTreeMap<AttemptRef, bool> = BTreeMap::new();
    for (now, event, said) in &log.0 {
        router.handle(*now, *event, &mut Vec::new());
        if let Event::Ended { attempt, .. } | Event::Failed { attempt, .. } = event {
            in_flight.remove(attempt);
        }
        for action in said {
            match action {
                Action::Send(send) => {
                    in_flight.insert(send.attempt, send.breaker == BreakerState::HalfOpen);
                }
                Action::Cancel { attempt, .. } => {
                    in_flight.remove(attempt);
                }
                // Once it has opened again or closed, the probes still out decide nothing.
                Action::Breaker { .. } => {
                    in_flight.values_mut().for_each(|probes| *probes = false);
                }
                _ => {}
            }
        }
        let probes = in_flight.values().filter(|probes| **probes).count() as u64;
        assert_eq!(router.permits_out(), probes, "at {now:?} after {event:?} {said:?}");
    }
}
