//! What an on-call engineer checks before believing a simulator.

#[path = "common/lab.rs"]
mod lab;
#[path = "common/theory.rs"]
mod theory;

use lab::{
    Run, agrees, in_worlds, mean_and_error, policy, scenario, seconds, share, single, tries,
};
use statrs::distribution::{DiscreteCDF, Poisson};
use windtunnel::library::{Kind, find};
use windtunnel::record::AttemptRow;
use windtunnel::scenario::Scenario;
use windtunnel::world::{Stickiness, WorldOptions};
use windtunnel_policy::Instant;
use windtunnel_policy::config::Policy;

/// The rate of the Azure conversation trace.
const RATE: f64 = 5.53;

/// One class at `rate` on these primary targets and fallback, in this weather.
fn service(rate: f64, horizon: &str, groups: &str, targets: &str, weather: &str) -> Scenario {
    scenario(&format!(
        "
name: service
shows: a service
expect: what can be worked out by hand
horizon: {horizon}
classes:
  chat:
    deadline: {{total: 10m}}
    groups: {groups}
    traffic:
      arrivals: {{poisson: {rate}/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
{targets}
weather:
{weather}
"
    ))
}

/// A target that answers after `takes`, and fails a share of attempts after `fails_after`.
fn target(name: &str, takes: &str, fails_after: &str, fails: &str) -> String {
    format!(
        "
  {name}:
    card: plain-server
    capacity: {{source: textbook, slots: 1000000}}
    latency:
      source: textbook
      headers: {{constant: 0us}}
      first_token: {{{takes}}}
      prompt_tokens: 1
      per_prompt_token: 0us
      per_output_token: {{constant: 0us}}
      failure: {{{fails_after}}}
    failures:
      source: textbook
      mix: [{{class: server_error, status: 500, share: {fails}}}]
      stick: {{request: 0%, window: 0%, free: 100%}}
"
    )
}

const FAST: &str = "constant: 100ms";

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
        let healthy = || run.rows.attempts.iter().filter(|row| row.class == 1);
        let first = healthy().filter(|row| !row.was_sent).map(|row| row.sent).min();
        let first = first.expect("the pool runs dry");
        // From then on none gets through, as every connection is in the hole for ten minutes.
        assert!(healthy().all(|row| row.was_sent == (row.sent < first)));
        seconds(first - Instant::ZERO)
    });
    // 1,024 calls into the hole, 185 s, and half a second to the next of the healthy route.
    agrees("healthy routes fail after", &starved, 1_024.0 / RATE + 0.5, 6.0);
}

/// Share of arrivals that meet the broken target as the one with the fewest in flight, by the
/// stationary distribution of the Markov chain: the broken target holds an attempt for `fails_after`
/// seconds on average, each of `healthy` for `takes`. Ties go to the first of `order`, in which 0 is
/// the broken one.
fn drawn_to_the_broken(rate: f64, fails_after: f64, takes: f64, order: &[usize]) -> f64 {
    /// More than this many are never in flight at one target but for once in a million.
    const MOST: usize = 6;
    let of = |state: usize, target: usize| state / (MOST + 1).pow(target as u32) % (MOST + 1);
    let step = |target: usize| (MOST + 1).pow(target as u32);
    let states = (MOST + 1).pow(order.len() as u32);
    let chosen = |state: usize| *order.iter().min_by_key(|t| of(state, **t)).expect("a target");
    let ends = |target: usize| 1.0 / if target == 0 { fails_after } else { takes };
    // Uniformised at a rate no state exceeds.
    let most: f64 = rate + order.iter().map(|t| MOST as f64 * ends(*t)).sum::<f64>();
    let mut now = vec![0.0; states];
    now[0] = 1.0;
    // Many relaxation times of the slowest: `takes` seconds.
    for _ in 0..(20.0 * takes * most) as usize {
        let mut next = vec![0.0; states];
        for (state, p) in now.iter().enumerate() {
            let mut stays = *p;
            let mut goes = |to: usize, rate: f64| {
                next[to] += p * rate / most;
                stays -= p * rate / most;
            };
            if of(state, chosen(state)) < MOST {
                goes(state + step(chosen(state)), rate);
            }
            for target in order {
                let busy = of(state, *target);
                if busy > 0 {
                    goes(state - step(*target), busy as f64 * ends(*target));
                }
            }
            next[state] += stays;
        }
        now = next;
    }
    now.iter().enumerate().filter(|(state, _)| chosen(*state) == 0).map(|(_, p)| p).sum()
}

#[test]
fn least_in_flight_is_drawn_to_who_fails_fastest() {
    let least = policy(
        "
name: least
attempts: {max: 1, max_same_target: 1}
envelope: {estimate: {enabled: false}}
selection: {strategy: least_in_flight}
",
    );
    let slow = |name| target(name, "exponential: {mean: 5s}", FAST, "0%");
    let broken = target("broken", FAST, "exponential: {mean: 50ms}", "100%");
    for (order, indices) in [("[broken, a, b]", &[0, 1, 2][..]), ("[a, broken]", &[1, 0][..])] {
        let mut targets = broken.clone() + &slow("a");
        if indices.len() == 3 {
            targets += &slow("b");
        }
        let scenario = service(RATE, "30m", &format!("{{primary: {order}}}"), &targets, "  []");
        let position = scenario.targets.iter().position(|target| target.name == "broken");
        let position = position.expect("it is there");
        let drawn = in_worlds(&scenario, &least, 10, WorldOptions::default(), |run| {
            share(run.totals.targets[position].attempts, run.totals.overall().requests)
        });
        let want = drawn_to_the_broken(RATE, 0.05, 5.0, indices);
        assert!((want - 0.94).abs() < 0.015, "about 94 %, not {want}");
        agrees(order, &drawn, want, 0.01);
    }
}

#[test]
fn a_breaker_that_wants_twenty_calls_in_ten_seconds() {
    // One replica sees 55 calls in ten seconds; one of ten replicas sees 5.5.
    let reaches_twenty = |rate: f64| Poisson::new(10.0 * rate).expect("a rate").sf(19);
    assert!(reaches_twenty(RATE) > 0.999_999);
    assert!(reaches_twenty(RATE / 10.0) < 1e-5);
    let breaker = policy(
        "
name: breaker
attempts: {max: 1, max_same_target: 1}
envelope: {estimate: {enabled: false}}
breakers: [{trip: [{rate_over_time: {failures: 50%, window: 10s, min_calls: 20}}]}]
",
    );
    let opens = |rate: f64| {
        let targets = target("primary", FAST, FAST, "100%");
        let scenario = service(rate, "10m", "{primary: [primary]}", &targets, "  []");
        in_worlds(&scenario, &breaker, 3, WorldOptions::default(), |run| {
            !run.totals.targets[0].open.is_zero()
        })
    };
    assert_eq!(opens(RATE), [true; 3]);
    assert_eq!(opens(RATE / 10.0), [false; 3]);
}

#[test]
fn the_azure_conversation_uses_453_thousand_tokens_a_minute() {
    let length = 3_502;
    let scenario = scenario(&format!(
        "
name: azure
shows: the shipped profile
expect: its tokens
horizon: {length}s
classes:
  chat:
    deadline: {{total: 1m}}
    groups: {{primary: [primary]}}
    traffic: {{arrivals: {{profile: {{file: azure-2023-conversation}}}}}}
targets:
{}
",
        target("primary", FAST, FAST, "0%")
    ));
    let tokens = in_worlds(&scenario, &single(), 2, WorldOptions::default(), |run| {
        let used = |row: &AttemptRow| u64::from(row.usage.input) + u64::from(row.usage.output);
        run.rows.attempts.iter().map(used).sum::<u64>()
    });
    // Lengths are dealt within minutes: the total is the trace's to the token, in every world.
    assert_eq!(tokens, [26_450_535; 2]);
    let a_minute = tokens[0] as f64 / f64::from(length) * 60.0;
    assert!((a_minute - 453e3).abs() < 500.0, "{a_minute}");
}

/// A shipped scenario with a part of its text replaced.
fn changed(name: &str, from: &str, to: &str) -> Scenario {
    let mut source = find(Kind::Scenario, name).expect("a shipped scenario");
    assert!(source.text.contains(from), "{name} has no `{from}`");
    source.text = source.text.replace(from, to);
    Scenario::read(source).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn an_ordinary_month_without_retry_answers_998_of_a_thousand() {
    // At a thirtieth of its rate, to see more months.
    let month = changed("ordinary-month", "120/h", "4/h");
    let options = WorldOptions { resample: true, ..WorldOptions::default() };
    let success = in_worlds(&month, &single(), 60, options, Run::success);
    // Γ(1 + 1/0.653) = 1.3598 for the mean gap; exp(1.17²/2) for the mean of the repair times.
    let gap = 3.94 * 24.0 * libm::tgamma(1.0 + 1.0 / 0.653);
    let lasts = 1.242 * libm::exp(1.17 * 1.17 / 2.0);
    let want = 1.0 - 0.095 * lasts / gap;
    assert!((want - 0.9982).abs() < 0.0001, "{want}");
    // Incidents that overlap are merged: they fail a little less, far below what shows.
    agrees("success", &success, want, 0.002);
}

#[test]
fn renewal_outages_take_their_share() {
    for (gap, lasts, want) in [
        // Gaps longer than any outage: up and down in turn.
        ("uniform: {from: 100s, to: 300s}", "constant: 50s", theory::availability(150.0, 50.0)),
        // Outages that overlap are one: down while any is open, as customers of M/G/∞.
        ("exponential: {mean: 200s}", "exponential: {mean: 50s}", libm::exp(-50.0 / 200.0)),
    ] {
        let weather = format!(
            "
  - name: outages
    hits: {{target: primary}}
    when: {{renewal: {{gap: {{{gap}}}, lasts: {{{lasts}}}}}}}
    effects: {{failures: {{share: 100%, mix: [{{class: server_error, status: 500, weight: 1}}]}}}}
"
        );
        let targets = target("primary", FAST, FAST, "0%");
        let scenario = service(0.5, "20000s", "{primary: [primary]}", &targets, &weather);
        let up = in_worlds(&scenario, &single(), 20, WorldOptions::default(), Run::success);
        agrees(gap, &up, want, 0.04);
    }
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
