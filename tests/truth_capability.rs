//! Calls of tools fail at a target where plain chat is served all along: breakers keyed by capability
//! move the one, and leave the other where it is.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, in_worlds, policy, scenario, target};
use windtunnel::record::AttemptRow;
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::config::{Policy, Replicas, Sharing};
use windtunnel_policy::event::BreakerState;
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant};

const EAST: TargetId = TargetId(0);
const WEST: TargetId = TargetId(1);
/// Classes stand in the order of their names.
const AGENT: u16 = 0;
const CHAT: u16 = 1;

/// Answers take 100 ms; calls of tools fail at once in east from one minute to three.
fn tools_down_in_east() -> Scenario {
    let class = |required: &str| {
        format!(
            "
    required: [{required}]
    groups: {{primary: [east], fallbacks: [[west]]}}
    traffic:
      arrivals: {{poisson: 4/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}"
        )
    };
    let able = |name| {
        let plain = target(name, "constant: 100ms", "constant: 0us", "0%");
        plain.replacen("card: plain-server", "card: drill-server", 1)
    };
    scenario(&format!(
        "
name: tools-down
shows: calls of tools fail, and chat does not
expect: what a recount says
horizon: 5m
classes:
  agent:{}
  chat:{}
targets:{}{}
weather:
  - name: tools
    hits: {{target: east}}
    when: {{window: {{from: 60s, lasts: 120s}}}}
    effects:
      failures:
        share: 100%
        where_required: [tools]
        mix: [{{class: server_error, status: 500, weight: 1, takes: {{constant: 0us}}}}]
",
        class("tools"),
        class(""),
        able("east"),
        able("west"),
    ))
}

/// Three failures in a row open it for ten seconds; one probe that succeeds closes it.
fn keyed_by(key: &str) -> Policy {
    policy(&format!(
        "
name: keyed
attempts: {{max: 2, allow_retry: false}}
cooldown: {{rule: none}}
breakers:
  - key: [{key}]
    trip: [{{consecutive: 3}}]
    open_for: 10s
    probes: {{concurrent: 1, successes: 1}}
"
    ))
}

fn attempts_of(run: &Run, class: u16) -> Vec<AttemptRow> {
    let mut rows: Vec<AttemptRow> =
        run.rows.attempts.iter().filter(|row| row.class == class).cloned().collect();
    rows.sort_by_key(|row| (row.sent, row.request, row.number));
    rows
}

/// Where each agent's first attempt goes, recounted from when they come alone: a breaker of their own.
fn recounted(arrivals: impl Iterator<Item = Instant>) -> Vec<TargetId> {
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Closed { failures: u32 },
        Open { until: Instant },
        HalfOpen { probing: bool },
    }
    let at = |s: u64| Instant::ZERO + Duration::from_secs(s);
    let mut state = State::Closed { failures: 0 };
    // When successes in flight are known, whether they probe, and how often the state had changed.
    let mut flying: Vec<(Instant, bool, u32)> = Vec::new();
    let mut changes = 0;
    arrivals
        .map(|now| {
            flying.retain(|&(known, probe, sent_at)| {
                if known > now {
                    return true;
                }
                match state {
                    State::HalfOpen { probing: true } if probe => {
                        (state, changes) = (State::Closed { failures: 0 }, changes + 1);
                    }
                    State::Closed { .. } if sent_at == changes => {
                        state = State::Closed { failures: 0 };
                    }
                    _ => {}
                }
                false
            });
            if let State::Open { until } = state
                && now >= until
            {
                (state, changes) = (State::HalfOpen { probing: false }, changes + 1);
            }
            if matches!(state, State::Open { .. } | State::HalfOpen { probing: true }) {
                return WEST;
            }
            let probe = state == State::HalfOpen { probing: false };
            if now < at(60) || now >= at(180) {
                if probe {
                    state = State::HalfOpen { probing: true };
                }
                flying.push((now + Duration::from_millis(100), probe, changes));
                return EAST;
            }
            let failures = match state {
                State::Closed { failures } => failures + 1,
                _ => 3,
            };
            state = State::Closed { failures };
            if failures == 3 {
                state = State::Open { until: now + Duration::from_secs(10) };
                changes += 1;
            }
            EAST
        })
        .collect()
}

#[test]
fn a_breaker_keyed_by_capability_moves_tools_and_leaves_chat() {
    let scenario = tools_down_in_east();
    in_worlds(&scenario, &keyed_by("deployment, capability"), 5, WorldOptions::default(), |run| {
        let chat = attempts_of(run, CHAT);
        assert!(chat.len() > 1_000);
        for row in &chat {
            let all_well = row.target == EAST && row.number == 1 && row.failure.is_none();
            assert!(all_well && row.breaker == BreakerState::Closed, "{row:?}");
        }
        let agents = attempts_of(run, AGENT);
        let first: Vec<&AttemptRow> = agents.iter().filter(|row| row.number == 1).collect();
        let expected = recounted(first.iter().map(|row| row.arrived));
        assert!(expected.iter().filter(|target| **target == WEST).count() > 400);
        for (row, expected) in first.iter().zip(&expected) {
            assert_eq!(row.target, *expected, "{row:?}");
        }
        // Three in a row, perhaps after one or two that an answer on its way still follows; then a probe
        // every ten seconds, and a little more.
        let failed = agents.iter().filter(|row| row.failure.is_some()).count();
        assert!((3 + 10..=5 + 12).contains(&failed), "{failed}");
        assert!(run.rows.requests.iter().all(|row| row.answered));
    });
}

#[test]
fn what_replicas_tell_of_tools_moves_no_chat_either() {
    let scenario = tools_down_in_east();
    let mut policy = keyed_by("deployment, capability");
    policy.replicas = Replicas { count: 2, sharing: Sharing::After(Duration::ZERO) };
    in_worlds(&scenario, &policy, 5, WorldOptions::default(), |run| {
        assert!(attempts_of(run, CHAT).iter().all(|row| row.target == EAST));
        let agents = attempts_of(run, AGENT);
        let failed: Vec<u64> = agents
            .iter()
            .filter(|row| row.failure.is_some())
            .map(|row| (row.sent - Instant::ZERO).as_micros() / 10_000_000)
            .collect();
        // What one has seen fail, the other counts: the first ten seconds see three failures, or a few more
        // around an answer on its way, and not three of each and then a probe of each.
        let first = failed.iter().filter(|ten| **ten == 6).count();
        assert!((3..=5).contains(&first), "{failed:?}");
        assert!(agents.iter().filter(|row| row.target == WEST).count() > 400);
    });
}

#[test]
fn one_breaker_for_both_moves_chat_as_well() {
    let scenario = tools_down_in_east();
    in_worlds(&scenario, &keyed_by("deployment"), 5, WorldOptions::default(), |run| {
        let moved = attempts_of(run, CHAT).iter().filter(|row| row.target == WEST).count();
        assert!(moved > 50, "{moved}");
    });
}
