//! What an on-call engineer checks before believing a simulator: plateaus and black holes.

#[path = "common/lab.rs"]
mod lab;

use lab::{
    FAST, RATE, Run, agrees, in_worlds, mean_and_error, policy, scenario, seconds, service, share,
    single, target, tries,
};
use windtunnel::record::AttemptRow;
use windtunnel::scenario::Scenario;
use windtunnel::world::{Stickiness, WorldOptions};
use windtunnel_policy::Instant;
use windtunnel_policy::config::Policy;

/// A quarter of the attempts at the primary fail.
const PLATEAU: &str = "
  - name: plateau
    hits: {target: primary}
    when: always
    effects: {failures: {share: 25%, mix: [{class: server_error, status: 500, weight: 1}]}}
";

#[test]
fn one_failover_from_a_plateau_of_a_quarter() {
    let targets = target("primary", FAST, FAST, "0%") + &target("other", FAST, FAST, "0.5%");
    let groups = "{primary: [primary], fallbacks: [[other]]}";
    let scenario = service(10.0, "20m", groups, &targets, PLATEAU);
    let failover = policy(
        "
name: one-failover
attempts: {max: 2, max_same_target: 1}
envelope: {estimate: {enabled: false}}
",
    );
    let success = in_worlds(&scenario, &failover, 20, WorldOptions::default(), Run::success);
    agrees("success", &success, 1.0 - 0.25 * 0.005, 0.0006);
}

#[test]
fn one_retry_on_a_plateau_of_a_quarter() {
    let targets = target("primary", FAST, FAST, "0%");
    let scenario = service(10.0, "5m", "{primary: [primary]}", &targets, PLATEAU);
    for (stickiness, want) in [(Stickiness::Independent, 0.9375), (Stickiness::AllToRequest, 0.75)]
    {
        let options = WorldOptions { stickiness, ..WorldOptions::default() };
        let success = in_worlds(&scenario, &tries(2, ""), 20, options, Run::success);
        agrees(&format!("{stickiness:?}"), &success, want, 0.01);
    }
}

/// Chat goes to a target that answers nothing from the first moment on; extraction goes to a
/// healthy one.
fn black_hole(horizon: &str, gateway: &str) -> Scenario {
    let targets =
        target("hole", FAST, FAST, "0%") + &target("healthy", "constant: 10ms", FAST, "0%");
    scenario(&format!(
        "
name: hole
shows: a black hole
expect: Little's law
horizon: {horizon}
gateway: {gateway}
classes:
  chat:
    deadline: {{total: 10m}}
    groups: {{primary: [hole]}}
    traffic:
      arrivals: {{poisson: {RATE}/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
  extraction:
    deadline: {{total: 10m}}
    groups: {{primary: [healthy]}}
    traffic:
      arrivals: {{poisson: 2/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
{targets}
weather:
  - name: hole
    hits: {{target: hole}}
    when: always
    effects:
      failures:
        share: 100%
        mix: [{{class: timeout, status: 0, weight: 1, hang: true}}]
"
    ))
}

#[test]
fn a_black_hole_holds_what_came_in_ten_minutes() {
    let at = Instant::ZERO + windtunnel_policy::Duration::from_secs(650);
    let held = |row: &&AttemptRow| row.class == 0 && row.sent <= at && at < row.ended;
    let scenario = black_hole("11m", "{}");
    let in_flight = in_worlds(&scenario, &single(), 20, WorldOptions::default(), |run| {
        run.rows.attempts.iter().filter(held).count() as f64
    });
    agrees("in flight", &in_flight, RATE * 600.0, 100.0);
}

#[test]
fn a_shared_pool_that_a_black_hole_fills_fails_healthy_routes() {
    let scenario = black_hole("5m", "{connections: 1024}");
    let starved = in_worlds(&scenario, &single(), 50, WorldOptions::default(), |run| {
        let asked_in_time =
            |row: &&AttemptRow| row.class == 1 && row.arrived < run.world.measured_to;
        let healthy = || run.rows.attempts.iter().filter(asked_in_time);
        let first = healthy().filter(|row| !row.was_sent).map(|row| row.sent).min();
        let first = first.expect("the pool runs dry");
        // When the last healthy calls of that moment are over, every connection is in the hole, and
        // none gets through for ten minutes.
        let full = first + windtunnel_policy::Duration::from_secs(1);
        assert!(healthy().all(|row| !row.was_sent || row.sent < full));
        seconds(first - Instant::ZERO)
    });
    // 1,024 calls into the hole, 185 s, and half a second to the next of the healthy route.
    agrees("healthy routes fail after", &starved, 1_024.0 / RATE + 0.5, 6.0);
}

#[test]
fn a_healthy_route_starves_in_the_shipped_black_hole() {
    // 1,024 connections less the few in use fill at 5.53 a second; extraction then fails until the
    // ten minutes are over, of the fifteen that are measured.
    let scenario = Scenario::load("black-hole-pool").expect("a shipped scenario");
    let single: Policy = single();
    let class = scenario.classes.iter().position(|class| class.name == "extraction");
    let class = class.expect("it is there");
    let success = in_worlds(&scenario, &single, 10, WorldOptions::default(), |run| {
        let totals = &run.totals.classes[class];
        share(totals.answered.total(), totals.requests)
    });
    let (mean, error) = mean_and_error(&success);
    let starved = 600.0 - 1_024.0 / RATE;
    let want = 1.0 - starved / 900.0;
    // Healthy calls hold some twenty connections, 4 s of 900; the card fails some of its own.
    assert!((mean - want).abs() < 5.0 * error + 0.02, "{mean} ± {error} against {want}");
}
