//! The metastable failure of "Metastable Failures in Distributed Systems" (HotOS 2021) emerges and
//! goes as it should: loads, goodput, what is sent and how long it lasts.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, agrees, agrees_with_measured, in_worlds, policy, scenario, share, shipped, within};
use windtunnel::record::{NoSink, RunTotals};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::{Simulation, Split};
use windtunnel::world::{World, WorldOptions};
use windtunnel_policy::Instant;
use windtunnel_policy::config::Policy;

/// Worlds here are a fifth of the published size, so five of them vary as one of its runs; it has
/// three runs.
const SMALLER: f64 = 5.0;
const PUBLISHED_RUNS: f64 = 3.0;

/// A fifth of the published 30 servers of 100 ms each, `load`/5 calls a second; nothing is served
/// from 60 s to 70 s.
fn outage(load: u32, drops_late: bool) -> Scenario {
    let rate = f64::from(load) / SMALLER;
    scenario(&format!(
        "
name: outage
shows: ten seconds of outage
expect: what the loads say
horizon: 400s
classes:
  query:
    deadline: {{total: 10s}}
    groups: {{primary: [server]}}
    traffic:
      arrivals: {{poisson: {rate}/s}}
      streamed: 0%
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
  server:
    card: plain-server
    capacity: {{source: textbook, slots: 6, queue: 10000000, drops_late: {drops_late}}}
weather:
  - name: ten-seconds
    hits: {{target: server}}
    when: {{window: {{from: 60s, lasts: 10s}}}}
    effects: {{capacity: 0%}}
"
    ))
}

/// A call is given up after a second, and not sent again.
fn no_retry() -> Policy {
    policy(
        "
name: no-retry
attempts: {max: 1, max_same_target: 1}
envelope: {estimate: {enabled: false}}
timeouts: {attempt: 1s}
",
    )
}

/// At full size: goodput and calls sent per second from 350 s to 400 s, and how many seconds after
/// the outage the first call was answered.
struct Seen {
    goodput: Vec<f64>,
    sent: Vec<f64>,
    back: Vec<f64>,
}

fn seen(load: u32, policy: &Policy, drops_late: bool, worlds: u32) -> Seen {
    let scenario = outage(load, drops_late);
    let all = in_worlds(&scenario, policy, worlds, WorldOptions::default(), |run| {
        (SMALLER * run.goodput(350, 400), SMALLER * run.sent_per_second(350, 400), back(run))
    });
    Seen {
        goodput: all.iter().map(|seen| seen.0).collect(),
        sent: all.iter().map(|seen| seen.1).collect(),
        back: all.iter().map(|seen| seen.2).collect(),
    }
}

/// Seconds from the end of the outage to the next answer; infinite where there is none.
fn back(run: &Run) -> f64 {
    let answers = run.rows.requests.iter().filter(|row| row.answered);
    let after = answers.map(|row| row.closed).filter(|at| within(*at, 70, 400)).min();
    after.map_or(f64::INFINITY, |at| lab::seconds(at - Instant::ZERO) - 70.0)
}

impl Seen {
    /// Both rates by the loads, and as published.
    fn assert_rates(&self, name: &str, loads: [f64; 2], published: [f64; 2]) {
        let parts = [("goodput", &self.goodput), ("sent", &self.sent)];
        for (((part, seen), load), published) in parts.into_iter().zip(loads).zip(published) {
            let what = format!("{name}: {part}");
            agrees(&what, seen, load, 25.0);
            let runs = PUBLISHED_RUNS * SMALLER;
            agrees_with_measured(&what, seen, published, runs, 40.0);
        }
    }

    fn assert_never_back(&self) {
        assert!(self.back.iter().all(|back| back.is_infinite()), "{:?}", self.back);
        assert!(self.goodput.iter().all(|goodput| *goodput == 0.0), "{:?}", self.goodput);
    }
}

/// Where the calls of the outage wait in a queue of `backlog` and `drain` more are served than come
/// in a second, an answer comes in time once less than a second's work (300 calls) is left.
fn drained(backlog: f64, drain: f64) -> f64 {
    (backlog - 300.0) / drain
}

#[test]
fn a_third_of_the_capacity_recovers_at_once() {
    let seen = seen(100, &shipped("storm-retry"), false, 20);
    seen.assert_rates("100/s, one retry", [100.0, 100.0], [100.0, 100.0]);
    // A thousand first calls, and those of the first eight seconds again; 14 to 16 s published.
    agrees("100/s: back after", &seen.back, drained(1_800.0, 100.0), 5.0);
}

#[test]
fn just_below_half_of_the_capacity_recovers_slowly() {
    let seen = seen(140, &shipped("storm-retry"), false, 20);
    seen.assert_rates("140/s, one retry", [140.0, 140.0], [139.0, 139.0]);
    // 1,400 + 1,120 calls against 300 − 2 · 140 a second; 111 to 122 s published.
    agrees("140/s: back after", &seen.back, drained(2_520.0, 20.0), 50.0);
}

#[test]
fn near_the_capacity_one_retry_keeps_it_down() {
    let seen = seen(280, &shipped("storm-retry"), false, 10);
    seen.assert_never_back();
    seen.assert_rates("280/s, one retry", [0.0, 560.0], [0.0, 554.0]);
}

#[test]
fn near_the_capacity_it_recovers_without_retries() {
    let seen = seen(280, &no_retry(), false, 20);
    seen.assert_rates("280/s, no retry", [280.0, 280.0], [277.0, 277.0]);
    // 2,800 calls against 300 − 280 a second; 111 to 123 s published.
    agrees("280/s: back after", &seen.back, drained(2_800.0, 20.0), 60.0);
}

#[test]
fn near_the_capacity_a_budget_is_not_enough() {
    // 280 · 1.1 is more than 300.
    let seen = seen(280, &shipped("storm-budget"), false, 10);
    seen.assert_never_back();
    seen.assert_rates("280/s, budget", [0.0, 308.0], [0.0, 305.0]);
}

#[test]
fn a_server_that_drops_what_is_late_recovers_at_once() {
    let seen = seen(280, &shipped("storm-retry"), true, 10);
    assert!(seen.back.iter().all(|back| *back < 1.5), "{:?}", seen.back);
    let goodput = [280.0, 280.0];
    seen.assert_rates("280/s, drops late", goodput, [277.0, 277.0]);
}

#[test]
fn the_shipped_storm_lasts_for_ever() {
    let storm = Scenario::load("retry-storm").expect("a shipped scenario");
    let worlds = 2;
    let sent = in_worlds(&storm, &shipped("storm-retry"), worlds, WorldOptions::default(), |run| {
        // Whoever calls once the queue is longer than a second fails twice, to the last.
        for row in run.measured().filter(|row| within(row.arrived, 62, 400)) {
            assert_eq!((row.answered, row.result.attempts), (false, 2), "{row:?}");
        }
        run.sent_per_second(100, 400)
    });
    // Two attempts for each of 250 Poisson arrivals a second.
    let error = (4.0 * 250.0 / 300.0 / f64::from(worlds)).sqrt();
    let mean = sent.iter().sum::<f64>() / sent.len() as f64;
    assert!((mean - 500.0).abs() < 5.0 * error, "{mean} ± {error}");
}

#[test]
fn a_budget_cures_the_shipped_storm() {
    let storm = Scenario::load("retry-storm").expect("a shipped scenario");
    let worlds = 3;
    let runs =
        in_worlds(&storm, &shipped("storm-budget"), worlds, WorldOptions::default(), |run| {
            // 2,750 calls wait when the outage ends, 25 a second fewer: (2,750 − 300) / 25 = 98 s, and
            // the square root of 98 · 275 · 1.1 calls, 7 s, for chance.
            assert!((63.0..133.0).contains(&back(run)), "{}", back(run));
            for row in run.measured().filter(|row| within(row.arrived, 230, 400)) {
                assert_eq!((row.answered, row.result.attempts), (true, 1), "{row:?}");
            }
            run.sent_per_second(80, 130)
        });
    // While it is down: 250 Poisson arrivals a second and a tenth of them again.
    let error = 1.1 * (250.0 / 50.0 / f64::from(worlds)).sqrt();
    let mean = runs.iter().sum::<f64>() / runs.len() as f64;
    assert!((mean - 275.0).abs() < 5.0 * error, "{mean} ± {error}");
}

#[test]
fn a_canary_of_five_percent_does_not_show_the_storm() {
    // Beside the budget of 10 %: 237.5 · 1.1 + 12.5 · 2 = 286 a second at the most, against 300: the
    // service comes back. Alone: 250 · 2 = 500, and it never does.
    let scenario = Scenario::load("retry-storm").expect("a shipped scenario");
    let (stable, canary) = (shipped("storm-budget"), shipped("storm-retry"));
    let split: Split = "95:5".parse().expect("two parts");
    let mut beside = Simulation::side_by_side(&scenario, &[&stable, &canary], &split).expect("fit");
    let mut alone = Simulation::alone(&scenario, &canary, &split).expect("it fits");
    for number in 0..3 {
        let options = WorldOptions { world: number, ..WorldOptions::default() };
        let world = World::build(&scenario, options).expect("a world");
        let (beside, alone) = (beside.run(&world, &mut NoSink), alone.run(&world, &mut NoSink));
        let success = |totals: &RunTotals| {
            let arm = &totals.arms[1][0];
            share(arm.answered.total(), arm.requests)
        };
        assert_eq!(beside.arms[1][0].requests, alone.arms[1][0].requests, "the same requests");
        let (shown, so) = (success(&beside), success(&alone));
        assert!(shown > 0.25 && so < 0.1, "{shown} beside the budget, {so} alone");
        let sent = |totals: &RunTotals| share(totals.timeline[39].sent, 10);
        assert!(sent(&beside) < 270.0 && sent(&alone) > 470.0, "sent a second at the end");
    }
}
