//! Prompt caches, held against what can be worked out by hand.

#[path = "common/lab.rs"]
mod lab;

use lab::{Server, in_worlds, policy, scenario, seconds, single, within};
use windtunnel::record::AttemptRow;
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;

/// Ten users with prompts of 10,000 tokens, of which 80 % are known from the time before, who think
/// for `think`; two accounts of one model, each remembering for 30 s. Reading a token takes 100 µs,
/// and costs $1 per million, $0.1 where it is remembered.
fn chats(think: &str, min_tokens: u32, weather: &str) -> Scenario {
    let target = |name: &str| {
        let cached = format!(
            "    account: {name}
    prompt_cache: {{source: textbook, time_to_live: 30s, min_tokens: {min_tokens}}}
    price: {{source: textbook, input_per_million: $1, cached_per_million: $0.1, output_per_million: $0}}"
        );
        Server { per_prompt_token: "100us", more: &cached, ..Server::default() }.named(name)
    };
    scenario(&format!(
        "
name: chats
shows: caches
expect: what can be worked out by hand
warm_up: 60s
horizon: 360s
classes:
  chat:
    deadline: {{total: 60s}}
    groups: {{primary: [first], fallbacks: [[second]]}}
    traffic:
      arrivals: {{closed_loop: {{users: 10, think: {{constant: {think}}}}}}}
      shared_prefix: 80%
      streamed: 0%
      tokens: {{input: {{constant: 10001}}, output: {{constant: 1}}, max_output: 1}}
targets:{}{}
weather: {weather}
",
        target("first"),
        target("second")
    ))
}

const FAILOVER: &str = "
name: failover
attempts: {max: 2, max_same_target: 1}
envelope: {estimate: {enabled: false}}
";

fn rows(scenario: &Scenario, policy: &windtunnel_policy::config::Policy) -> Vec<AttemptRow> {
    let runs =
        in_worlds(scenario, policy, 1, WorldOptions::default(), |run| run.rows.attempts.clone());
    runs.into_iter().next().expect("one world")
}

#[test]
fn what_is_remembered_is_cheap_and_takes_no_time() {
    let rows = rows(&chats("5s", 1_024, "[]"), &single());
    let warm: Vec<&AttemptRow> = rows.iter().filter(|row| row.usage.cached > 0).collect();
    // Each user finds it cold once.
    assert_eq!(rows.len() - warm.len(), 10);
    for row in rows {
        let (took, cost) = (seconds(row.ended - row.sent), row.cost.as_pico());
        match row.usage.cached {
            // 100 ms and 10,000 tokens of 100 µs; $1 per million.
            0 => assert_eq!((took, cost), (1.1, 10_001_000_000)),
            // 8,000 of them remembered: 0.8 s less, and $0.9 per million less for them.
            cached => {
                assert_eq!((cached, cost), (8_000, 10_001_000_000 - 8_000 * 900_000));
                assert!((took - 0.3).abs() < 1e-9, "{took}");
            }
        }
    }
}

#[test]
fn a_prefix_is_forgotten_and_a_short_one_never_kept() {
    for scenario in [chats("31s", 1_024, "[]"), chats("5s", 8_001, "[]")] {
        let rows = rows(&scenario, &single());
        assert!(rows.len() > 50 && rows.iter().all(|row| row.usage.cached == 0));
    }
}

#[test]
fn failing_over_finds_a_cold_cache_and_so_does_coming_back() {
    let outage = "
  - name: outage
    hits: {account: first}
    when: {window: {from: 120s, lasts: 60s}}
    effects: {failures: {share: 100%, mix: [{class: server_error, status: 500, weight: 1}]}}";
    let rows = rows(&chats("5s", 1_024, outage), &policy(FAILOVER));
    let cold = |target: u16, from, to| {
        let here = rows.iter().filter(|row| row.target.0 == target && row.failure.is_none());
        here.filter(|row| within(row.sent, from, to) && row.usage.cached == 0).count()
    };
    assert_eq!([cold(0, 60, 120), cold(1, 60, 120)], [0, 0]);
    // Each of ten users finds the second account cold once, and the first one again afterwards.
    assert_eq!([cold(1, 120, 180), cold(0, 180, 360)], [10, 10]);
}
