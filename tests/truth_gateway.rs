//! The gateway's own places, held against the queueing theory of servers that are one gateway's.

#[path = "common/lab.rs"]
mod lab;
#[path = "common/theory.rs"]
mod theory;

use lab::{Run, agrees, in_worlds, scenario, share, single, target};
use theory::{erlang_b, erlang_c, mmc_wait, mmck};
use windtunnel::record::ClassTotals;
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::Duration;
use windtunnel_policy::event::{Outcome, StopReason};
use windtunnel_policy::outcome::FailureClass;

const PLACES: u32 = 10;
/// Requests a second, each of a second's service on average.
const LOAD: f64 = 8.0;
const EXPONENTIAL: &str = "exponential: {mean: 1s}";

/// A gateway of ten places in front of a target with room for all, `more` said of it.
fn gateway(queue: u32, takes: &str, more: &str) -> Scenario {
    let target = target("roomy", takes, "constant: 10ms", "0%");
    scenario(&format!(
        "
name: gateway
shows: places
expect: what queueing theory says
warm_up: 100s
horizon: 2100s
gateway:
  in_flight: {{max: {PLACES}, queue: {queue}, status: 503}}
{more}
classes:
  chat:
    groups: {{primary: [roomy]}}
    traffic:
      arrivals: {{poisson: {LOAD}/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:{target}"
    ))
}

fn turned_away(run: &Run) -> f64 {
    let all = run.totals.overall();
    share(all.turned_away, all.requests)
}

/// Mean wait at the door in seconds, of those who came in.
fn wait(of: &ClassTotals) -> f64 {
    of.door_wait_sum as f64 / 1e6 / (of.received - of.turned_away) as f64
}

#[test]
fn a_gateway_that_refuses_loses_what_erlang_b_says_whatever_the_service() {
    let want = erlang_b(PLACES, LOAD);
    for takes in ["constant: 1s", EXPONENTIAL, "gamma: {mean: 1s, shape: 0.3}"] {
        let found =
            in_worlds(&gateway(0, takes, ""), &single(), 12, WorldOptions::default(), turned_away);
        agrees(takes, &found, want, 0.02);
    }
}

#[test]
fn a_gateway_that_lets_all_wait_is_m_m_c() {
    let scenario = gateway(1_000_000, EXPONENTIAL, "");
    let found = in_worlds(&scenario, &single(), 12, WorldOptions::default(), |run| {
        assert_eq!(run.totals.overall().turned_away, 0);
        wait(&run.totals.overall())
    });
    agrees("wait", &found, mmc_wait(PLACES, LOAD), 0.08);
}

#[test]
fn a_bounded_queue_is_m_m_c_k() {
    let queue = 5;
    let want = mmck(PLACES, PLACES + queue, LOAD);
    let found = in_worlds(
        &gateway(queue, EXPONENTIAL, ""),
        &single(),
        12,
        WorldOptions::default(),
        |run| (turned_away(run), wait(&run.totals.overall())),
    );
    let (lost, waits): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    agrees("lost", &lost, want.blocked, 0.01);
    agrees("wait", &waits, want.wait, 0.02);
}

#[test]
fn the_higher_priority_waits_as_theory_says_and_so_does_the_lower() {
    // Without interruption of what is inside: W = W₀ / ((1 − σ before) (1 − σ with)).
    let tenants =
        "tenants:\n  first: {share: 50%, priority: 9}\n  second: {share: 50%, priority: 1}";
    let scenario = gateway(1_000_000, EXPONENTIAL, tenants);
    let found = in_worlds(&scenario, &single(), 16, WorldOptions::default(), |run| {
        let tenants = &run.totals.tenants;
        (wait(&tenants[0]), wait(&tenants[1]))
    });
    let (high, low): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    let any = erlang_c(PLACES, LOAD) / f64::from(PLACES);
    let (first, all) = (LOAD / 2.0 / f64::from(PLACES), LOAD / f64::from(PLACES));
    agrees("first", &high, any / (1.0 - first), 0.01);
    agrees("second", &low, any / (1.0 - first) / (1.0 - all), 0.15);
}

#[test]
fn in_a_full_queue_the_higher_priority_takes_the_place_of_the_lower() {
    // Both together lose what a queue of three loses; who is first loses only among its own.
    let tenants = "tenants:\n  first: {share: 20%, priority: 1}\n  second: {share: 80%}";
    let scenario = gateway(3, EXPONENTIAL, tenants);
    let found = in_worlds(&scenario, &single(), 12, WorldOptions::default(), |run| {
        let tenants = &run.totals.tenants;
        let lost = |of: &ClassTotals| share(of.turned_away, of.requests);
        assert!(lost(&tenants[0]) * 10.0 < lost(&tenants[1]));
        turned_away(run)
    });
    agrees("lost", &found, mmck(PLACES, PLACES + 3, LOAD).blocked, 0.01);
}

#[test]
fn who_is_turned_away_hears_why_and_nothing_was_sent() {
    in_worlds(&gateway(0, EXPONENTIAL, ""), &single(), 1, WorldOptions::default(), |run| {
        let away = || run.measured().filter(|row| row.result.stop == Some(StopReason::GatewayFull));
        assert!(away().count() > 100);
        for row in away() {
            let result = &row.result;
            assert_eq!((result.outcome, result.status), (Outcome::TurnedAway, 503));
            assert_eq!(result.class, Some(FailureClass::GatewayDenied));
            assert!(result.attempts == 0 && result.retryable && row.closed == row.arrived);
        }
        let sent: u64 = run.totals.overall().attempts;
        assert_eq!(sent, run.measured().count() as u64 - away().count() as u64);
    });
}

#[test]
fn waiting_takes_from_the_deadline() {
    in_worlds(&gateway(1_000_000, EXPONENTIAL, ""), &single(), 1, WorldOptions::default(), |run| {
        let waited = |row: &&windtunnel::record::AttemptRow| row.sent > row.arrived;
        assert!(run.rows.attempts.iter().filter(waited).count() > 1_000);
        for row in &run.rows.attempts {
            assert_eq!(row.remaining + (row.sent - row.arrived), Duration::from_secs(600));
        }
    });
}

#[test]
fn nobody_waits_beyond_deadline_or_patience_and_a_layer_gives_up_who_waits() {
    // Every place is taken for a minute.
    let full = |more: &str| {
        let text = target("roomy", "constant: 60s", "constant: 10ms", "0%");
        scenario(
            &format!(
                "
name: gateway
shows: places
expect: who waits gives up
horizon: 300s
gateway:
  in_flight: {{max: 1, queue: 1000000}}
classes:
  chat:
    deadline: {{total: 90s}}
    groups: {{primary: [roomy]}}
    {more}
    traffic:
      arrivals: {{poisson: 1/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
      PATIENCE
targets:{text}"
            )
            .replace("PATIENCE", if more.is_empty() { "patience: {constant: 45s}" } else { "" }),
        )
    };
    in_worlds(&full(""), &single(), 1, WorldOptions::default(), |run| {
        for row in run.measured().filter(|row| row.result.attempts == 0) {
            assert_eq!(row.result.outcome, Outcome::Cancelled);
            assert_eq!(row.closed - row.arrived, Duration::from_secs(45));
        }
    });
    let sdk = "sdk: {attempts: 2, timeout: 30s, backoff: {base: 1s, max: 1s, jitter: fixed}}";
    in_worlds(&full(sdk), &single(), 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        // Nobody gets an answer that takes a minute in half of one: two tries each.
        assert_eq!((all.answered.total(), all.received), (0, 2 * all.requests));
        assert_eq!(all.ended_as[FailureClass::Timeout as usize], all.requests);
        let gave_up = |row: &&windtunnel::record::RequestRow| row.result.attempts == 0;
        for row in run.measured().filter(gave_up) {
            assert_eq!(row.result.outcome, Outcome::Cancelled);
            assert_eq!(row.closed - row.arrived, Duration::from_secs(30));
        }
    });
}
