//! Several routers in front of one fleet.

use windtunnel::record::{ClassTotals, NoSink, RunTotals};
use windtunnel::simulation::{Simulation, Split};
use windtunnel_policy::Duration;
use windtunnel_policy::config::{Policy, Replicas, Sharing};

use super::{policy, random, run, scenario, world};

fn replicas(policy: &Policy, count: u32) -> Policy {
    Policy { replicas: Replicas { count, sharing: Sharing::Private }, ..policy.clone() }
}

fn halves() -> Split {
    "1:1".parse().expect("two parts")
}

/// A policy that decides by nothing it has seen: how many routers share the work cannot matter.
const FORGETFUL: &str = "
name: forgetful
attempts: {max: 4}
envelope: {estimate: {enabled: false}}
cooldown: {rule: none}
";

/// Two targets that fail, and one class that may go to both.
const SERVICE: &str = "
name: service
shows: failures
expect: recovery
warm_up: 10s
horizon: 120s
classes:
  chat:
    deadline: {total: 60s}
    groups: {primary: [north], fallbacks: [[south]]}
    traffic:
      arrivals: {poisson: 10/s}
      patience: {exponential: {mean: 60s}}
      tokens: {input: {constant: 10}, output: {constant: 10}, max_output: 10}
targets:
  north: {card: plain-server}
  south: {card: plain-server}
weather:
  - name: half
    hits: {target: north}
    when: {window: {from: 30s, lasts: 60s}}
    effects: {failures: {share: 50%, mix: [{class: server_error, status: 500, weight: 1}]}}
";

#[test]
fn the_accounts_of_many_gateways_balance() {
    let mut moved = 0;
    for seed in 6_000..6_100 {
        let (scenario, policy) = random::case(seed).load();
        let (one, rows) = run(&scenario, &policy, seed);
        // Each run asserts that what came in to all routers went out of them, once.
        let sharing = match seed % 3 {
            0 => Sharing::Private,
            after => Sharing::After(Duration::from_millis(after * 100 - 100)),
        };
        let told = Policy { replicas: Replicas { count: 3, sharing }, ..policy.clone() };
        let (many, many_rows) = run(&scenario, &told, seed);
        let asked = |totals: &RunTotals| totals.classes.iter().map(|c| c.requests).sum::<u64>();
        let waits = !world(&scenario, seed).closed_loops.is_empty();
        assert!(
            waits || asked(&one) == asked(&many),
            "seed {seed}: nobody waits, all ask the same"
        );
        moved += u64::from(rows != many_rows);
    }
    assert!(moved > 10, "state apart changed {moved} runs only");
}

#[test]
fn without_memory_the_number_of_gateways_is_nothing() {
    let (scenario, policy) = (scenario(SERVICE), policy(FORGETFUL));
    let (one, rows) = run(&scenario, &policy, 1);
    let (many, many_rows) = run(&scenario, &replicas(&policy, 7), 1);
    assert!(one.classes[0].answered.failover > 100, "{:?}", one.classes[0].answered);
    assert!(rows == many_rows, "the rows differ");
    assert!(one == many, "the totals differ");
}

#[test]
fn a_split_only_counts_where_the_policy_is_one() {
    for seed in 6_100..6_200 {
        let (scenario, policy) = random::case(seed).load();
        let world = world(&scenario, seed);
        let mut plain = Simulation::new(&scenario, &policy).expect("it fits");
        let mut counted = Simulation::alone(&scenario, &policy, &halves()).expect("it fits");
        let (plain, counted) = (plain.run(&world, &mut NoSink), counted.run(&world, &mut NoSink));
        assert_eq!(counted.arms.len(), 2);
        for (class, all) in plain.classes.iter().enumerate() {
            let requests: u64 = counted.arms.iter().map(|arm| arm[class].requests).sum();
            assert_eq!(requests, all.requests, "seed {seed}");
        }
        for (target, all) in plain.targets.iter().enumerate() {
            let attempts: u64 = counted.arm_targets.iter().map(|arm| arm[target].attempts).sum();
            assert_eq!(attempts, all.attempts, "seed {seed}");
        }
        let whole = RunTotals { arms: Vec::new(), arm_targets: Vec::new(), ..counted };
        assert!(whole == plain, "seed {seed}");
    }
}

#[test]
fn arms_of_one_policy_are_the_policy_alone() {
    let (scenario, policy) = (scenario(SERVICE), policy(FORGETFUL));
    let world = world(&scenario, 1);
    let mut alone = Simulation::alone(&scenario, &policy, &halves()).expect("it fits");
    let both = [&policy, &policy];
    let mut beside = Simulation::side_by_side(&scenario, &both, &halves()).expect("it fits");
    let (alone, beside) = (alone.run(&world, &mut NoSink), beside.run(&world, &mut NoSink));
    assert!(alone == beside);
    let requests = |arm: &Vec<ClassTotals>| arm[0].requests;
    let all = alone.classes[0].requests;
    assert!(
        alone.arms.iter().all(|arm| requests(arm).abs_diff(all / 2) < 100),
        "about a half each"
    );
}
