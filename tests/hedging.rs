//! Hedging through the whole simulator: who wins, what the loser costs, and when it changes nothing.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, in_worlds, policy, scenario};
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::config::{Policy, RecoveryAction};
use windtunnel_policy::{Duration, Money};

/// One request a second to a target that answers `first` later, beside one that takes 1 s; an
/// output token costs a dollar, and what is cancelled is billed as far as it was worked on.
fn pair(first: &str) -> Scenario {
    scenario(&format!(
        "
name: pair
shows: a slow target and a fast one
expect: what can be worked out by hand
horizon: 1000s
classes:
  chat:
    deadline: {{total: 60s}}
    groups: {{primary: [slow, fast]}}
    traffic:
      arrivals: {{poisson: 1/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 10}}, max_output: 10}}
      streamed: 0%
targets:
  slow: {}
  fast: {}
",
        server(first),
        server("{constant: 1s}"),
    ))
}

fn server(takes: &str) -> String {
    format!(
        "
    card: plain-server
    capacity: {{source: textbook, slots: 1000000}}
    price: {{source: textbook, input_per_million: $0, output_per_million: $1000000}}
    latency:
      source: textbook
      headers: {{constant: 0us}}
      first_token: {takes}
      prompt_tokens: 1
      per_prompt_token: 0us
      per_output_token: {{constant: 0us}}
      failure: {{constant: 0us}}
    abort: {{source: textbook, streamed: stops, whole: stops}}
"
    )
}

fn hedging(after: &str, more: &str) -> Policy {
    policy(&format!(
        "
name: hedging
envelope: {{estimate: {{min_samples: 1000000}}}}
hedge: {{after_quantile: 95%, at_least: {after}, prior: 1us}}
{more}
"
    ))
}

fn run(scenario: &Scenario, policy: &Policy) -> Run {
    let own = |run: &Run| Run {
        rows: run.rows.clone(),
        totals: run.totals.clone(),
        world: run.world.clone(),
    };
    in_worlds(scenario, policy, 1, WorldOptions::default(), own).remove(0)
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn the_hedge_answers_where_the_first_attempt_is_slower() {
    let run = run(&pair("{constant: 10s}"), &hedging("2s", ""));
    let requests: Vec<_> = run.measured().collect();
    assert!(requests.len() > 900);
    for row in requests {
        // Sent after 2 s, answered 1 s later.
        assert_eq!(row.by, Some(RecoveryAction::Hedge));
        assert_eq!(row.closed - row.arrived, secs(3));
        assert_eq!(row.added_latency, Some(secs(2)));
        // Ten tokens of the answer; of the first attempt no output had been made.
        assert_eq!((row.cost, row.wasted), (Money::from_pico(10_000_000_000_000), Money::ZERO));
    }
    let all = run.totals.overall();
    assert_eq!((all.answered.hedge, all.attempts), (all.requests, 2 * all.requests));
    let lost = run.rows.attempts.iter().filter(|row| row.cancelled && row.failure.is_none());
    assert_eq!(lost.count() as u64, run.totals.requests);
}

#[test]
fn the_first_attempt_wins_where_it_is_faster_all_the_same() {
    // The hedge, sent after 500 ms, would answer at 1,500 ms.
    let run = run(&pair("{constant: 1200ms}"), &hedging("500ms", ""));
    for row in run.measured() {
        assert_eq!((row.by, row.result.attempts), (None, 2));
        assert_eq!(row.closed - row.arrived, Duration::from_millis(1_200));
    }
}

#[test]
fn a_hedge_that_never_starts_is_none() {
    let scenario = pair("{lognormal: {median: 2s, sigma: 1}}");
    let never = run(&scenario, &hedging("1000h", ""));
    let none = run(&scenario, &Policy { hedge: None, ..hedging("1000h", "") });
    assert_eq!(never.rows, none.rows);
    assert_eq!(never.totals, none.totals);
    let hedged = run(&scenario, &hedging("2s", ""));
    assert!(hedged.rows != none.rows, "or the test would say nothing");
}

#[test]
fn a_budget_of_one_in_ten_holds() {
    let budget = "retry_budgets: [{governs: [hedge], charged_to: overall, kind: {ratio: {share: \
                  10%, window: 100s, min_per_second: 0}}}]";
    let run = run(&pair("{constant: 10s}"), &hedging("2s", budget));
    let all = run.totals.overall();
    let share = all.answered.hedge as f64 / all.requests as f64;
    // At most a tenth in any window, and nearly all of it is used.
    assert!((0.07..=0.11).contains(&share), "{share}");
    assert!(run.totals.budget_denials > 0);
}
