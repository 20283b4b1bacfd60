//! Retry loops around the gateway and behind it, held against what can be worked out by hand.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, agrees, in_worlds, policy, scenario, share, single, target, tries};
use windtunnel::record::ClassTotals;
use windtunnel::scenario::Scenario;
use windtunnel::world::{Stickiness, WorldOptions};
use windtunnel_policy::event::Outcome;
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::{Duration, Instant};

/// A class with these layers around the gateway, on one target with `more` said of it.
fn layered(layers: &str, target: &str, more: &str) -> Scenario {
    scenario(&format!(
        "
name: layered
shows: layers
expect: what can be worked out by hand
horizon: 200s
classes:
  chat:
    deadline: {{total: 10m}}
    groups: {{primary: [only]}}
    {layers}
    traffic:
      arrivals: {{poisson: 5/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:{target}{more}
"
    ))
}

const BOTH: &str = "application: {attempts: 3}
    sdk: {attempts: 3}";
const TWICE: &str = "    upstream_proxy: {attempts: 2}";
const DEAF_PROXY: &str = "    upstream_proxy: {attempts: 2, heeds_owner: false}";

fn failing(share: &str) -> String {
    target("only", "constant: 100ms", "constant: 10ms", share)
}

fn owner() -> windtunnel_policy::config::Policy {
    let mut owner = tries(2, "");
    owner.attempts.owns_retries = true;
    owner
}

/// Requests, tries of the application, requests to the gateway, attempts, calls.
fn chain(all: &ClassTotals) -> [u64; 5] {
    [all.requests, all.application_tries(), all.received, all.attempts, all.calls()]
}

#[test]
fn three_times_three_times_two_is_eighteen() {
    let scenario = layered(BOTH, &failing("100%"), TWICE);
    for run in in_worlds(&scenario, &single(), 2, WorldOptions::default(), |run| {
        chain(&run.totals.overall())
    }) {
        let n = run[0];
        assert!(n > 500, "{n} requests are few");
        assert_eq!(run, [n, 3 * n, 9 * n, 9 * n, 18 * n]);
    }
}

#[test]
fn one_owner_takes_the_loops_of_all_who_heed_it_away() {
    let of = |layers: &str, proxy: &str| {
        let scenario = layered(layers, &failing("100%"), proxy);
        let all =
            in_worlds(&scenario, &owner(), 1, WorldOptions::default(), |run| run.totals.overall());
        let [n, .., calls] = chain(&all[0]);
        share(calls, n)
    };
    assert_eq!(of(BOTH, TWICE), 2.0, "the owner's two attempts are left");
    assert_eq!(of(BOTH, DEAF_PROXY), 4.0);
    let deaf = "application: {attempts: 3, heeds_retryable: false}
    sdk: {attempts: 3}";
    assert_eq!(of(deaf, TWICE), 6.0);
}

#[test]
fn eighteen_calls_are_left_to_any_one_owner() {
    // Three of the application, three of the SDK, two of the gateway and two of the proxy: 36.
    let around = |retries: &str| format!("{BOTH}\n    {retries}");
    let of = |retries: &str| {
        let scenario = layered(&around(retries), &failing("100%"), DEAF_PROXY);
        let runs = in_worlds(&scenario, &tries(2, ""), 1, WorldOptions::default(), |run| {
            chain(&run.totals.overall())
        });
        let n = runs[0][0];
        assert!(n > 500, "{n} requests are few");
        runs[0].map(|count| share(count, n))
    };
    assert_eq!(of(""), [1.0, 3.0, 9.0, 18.0, 36.0]);
    assert_eq!(of("retries: {owner: application}"), [1.0, 3.0, 3.0, 3.0, 3.0]);
    assert_eq!(of("retries: {owner: sdk}"), [1.0, 1.0, 3.0, 3.0, 3.0]);
    assert_eq!(of("retries: {owner: gateway}"), [1.0, 1.0, 1.0, 2.0, 2.0]);
    assert_eq!(of("retries: {owner: upstream_proxy}"), [1.0, 1.0, 1.0, 1.0, 2.0]);
    // Two, two and one attempts: five for one action, whoever repeats.
    assert_eq!(of("retries: {attempts: 5}"), [1.0, 1.0, 3.0, 5.0, 10.0]);
}

#[test]
fn the_gateway_knows_how_much_of_the_action_s_time_is_left() {
    let layers = "deadline: {total: 20s}
    retries: {owner: sdk}
    sdk: {attempts: 3, backoff: {base: 4s, max: 4s, jitter: fixed}}";
    let text = layered("", &failing("100%"), "").source.text;
    let scenario =
        lab::scenario(&text.replace("    deadline: {total: 10m}", &format!("    {layers}")));
    in_worlds(&scenario, &single(), 1, WorldOptions::default(), |run| {
        // Each fails after 10 ms; the next comes 4 s later.
        let mut left: Vec<u64> =
            run.rows.attempts.iter().map(|row| row.remaining.as_micros() / 1_000).collect();
        left.sort_unstable();
        left.dedup();
        assert_eq!(left, [11_980, 15_990, 20_000]);
    });
}

/// Success, and calls per action.
fn outcome(run: &Run) -> (f64, f64) {
    let all = run.totals.overall();
    (share(all.answered.total(), all.requests), share(all.calls(), all.requests))
}

#[test]
fn independent_failures_are_overcome_by_every_layer_s_tries_together() {
    // p = 60 %, 2 · 2 · 2 · 2 = 16 tries at most: success 1 − p¹⁶, calls (1 − p¹⁶) / (1 − p).
    let layers = "application: {attempts: 2}
    sdk: {attempts: 2}";
    let scenario = layered(layers, &failing("60%"), TWICE);
    let found = in_worlds(&scenario, &tries(2, ""), 12, WorldOptions::default(), outcome);
    let (success, calls): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    let all_fail = 0.6_f64.powi(16);
    agrees("success", &success, 1.0 - all_fail, 0.01);
    agrees("calls", &calls, (1.0 - all_fail) / 0.4, 0.15);
}

#[test]
fn what_sticks_to_the_request_sticks_to_the_action() {
    // Whoever fails fails 18 times: success 1 − p, calls 1 − p + 18 p.
    let scenario = layered(BOTH, &failing("20%"), TWICE);
    let options = WorldOptions { stickiness: Stickiness::AllToRequest, ..WorldOptions::default() };
    let found = in_worlds(&scenario, &single(), 12, options, outcome);
    let (success, calls): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    agrees("success", &success, 0.8, 0.03);
    agrees("calls", &calls, 0.8 + 18.0 * 0.2, 0.5);
}

#[test]
fn success_has_its_parts_and_the_layers_their_share() {
    let scenario = layered(BOTH, &failing("60%"), TWICE);
    for all in
        in_worlds(&scenario, &tries(2, ""), 2, WorldOptions::default(), |run| run.totals.overall())
    {
        let answered = all.answered;
        assert_eq!(
            answered.total(),
            answered.raw + answered.retry + answered.resend,
            "no other target is there"
        );
        assert!(answered.raw > 0 && answered.retry > 0 && answered.resend > 0, "{answered:?}");
    }
}

#[test]
fn the_first_request_of_each_action_meets_the_luck_it_has_without_layers() {
    let plain = layered("", &failing("40%"), "");
    let around = layered(BOTH, &failing("40%"), "");
    let firsts = |scenario: &Scenario| {
        in_worlds(scenario, &tries(2, ""), 2, WorldOptions::default(), |run| {
            let made = run.world.requests.len() as u64;
            let mut rows = run.rows.attempts.clone();
            // Later requests keep arrivals going for longer.
            rows.retain(|row| row.request < made && row.arrived < run.world.measured_to);
            rows.sort_by_key(|row| (row.request, row.number));
            rows
        })
    };
    assert!(firsts(&plain) == firsts(&around));
}

#[test]
fn a_layer_gives_up_after_its_timeout_and_sends_again() {
    let slow = target("only", "constant: 10s", "constant: 10ms", "0%");
    let layers =
        "sdk: {attempts: 3, timeout: 2s, backoff: {base: 500ms, max: 8s, jitter: exponential}}";
    let scenario = layered(layers, &slow, "");
    in_worlds(&scenario, &single(), 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        let timeout = all.ended_as[FailureClass::Timeout as usize];
        assert_eq!(
            (timeout, all.exhausted, all.received),
            (all.requests, all.requests, 3 * all.requests)
        );
        assert!(run.rows.requests.iter().all(|row| row.result.outcome == Outcome::Cancelled));
        // 2 s + 0.5 s + 2 s + 1 s + 2 s.
        let took = all.time_to_failure.quantile(0.5).expect("all failed");
        assert!(took.abs_diff(7_500_000) <= 7_500, "{took}");
    });
}

#[test]
fn an_outer_timeout_ends_the_inner_loop_also_while_it_waits() {
    let layers =
        "application: {attempts: 2, timeout: 3s, backoff: {base: 1s, max: 1s, jitter: fixed}}
    sdk: {attempts: 9, backoff: {base: 2s, max: 2s, jitter: fixed}}";
    let scenario = layered(layers, &failing("100%"), "");
    in_worlds(&scenario, &single(), 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        // At 0 s and 2.01 s, given up at 3 s, and again from 4 s to 7 s.
        assert_eq!(chain(&all)[1..3], [2 * all.requests, 4 * all.requests]);
        assert_eq!(all.ended_as[FailureClass::Timeout as usize], all.requests);
        let took = all.time_to_failure.quantile(0.5).expect("all failed");
        assert!(took.abs_diff(7_000_000) <= 7_000, "{took}");
    });
}

#[test]
fn nobody_sends_again_what_nobody_waits_for() {
    let layers = "sdk: {attempts: 16, backoff: {base: 7s, max: 7s, jitter: fixed}}
    # Four requests, at 0, 7, 14 and 21 s.
    ";
    let text = failing("100%");
    let mut scenario = layered(layers, &text, "");
    let chat = &mut scenario.classes[0];
    chat.deadline = Duration::from_secs(25);
    scenario.topology.classes[0].deadline_total = chat.deadline;
    in_worlds(&scenario, &single(), 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        assert_eq!((all.received, all.deadline_exhausted), (4 * all.requests, all.requests));
        assert!(run.rows.requests.iter().all(|row| row.closed > Instant::ZERO));
    });
}

#[test]
fn a_hidden_call_costs_and_loads_but_is_one_attempt() {
    let priced = format!(
        "{}    price: {{source: textbook, input_per_million: $1000, output_per_million: $0, failed: full}}\n",
        failing("100%")
    );
    let scenario = layered("", &priced, TWICE);
    in_worlds(&scenario, &single(), 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        let cost = |row: &windtunnel::record::AttemptRow| (row.cost.as_pico(), row.usage.input);
        assert!(!run.rows.attempts.is_empty());
        for row in &run.rows.attempts {
            assert_eq!((row.number, row.hidden_calls), (1, 1));
            assert_eq!(cost(row), (2_000_000_000, 2), "one token at $0.001, twice");
            assert_eq!(row.ended - row.sent, Duration::from_millis(20), "10 ms each");
        }
        assert_eq!((all.attempts, all.calls()), (all.requests, 2 * all.requests));
    });
}

#[test]
fn the_proxy_and_the_layers_are_given_up_with_the_caller() {
    // The proxy would wait for a minute between its calls; the attempt may take a second.
    let waits = "    upstream_proxy: {attempts: 2, backoff: {base: 60s, max: 60s, jitter: fixed}}";
    let scenario = layered("", &failing("100%"), waits);
    let hasty = policy(
        "
name: hasty
attempts: {max: 1}
timeouts: {attempt: 1s}
",
    );
    in_worlds(&scenario, &hasty, 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        assert_eq!(all.calls(), all.requests, "the second call is never made");
        assert!(run.rows.attempts.iter().all(|row| row.provider_calls() == 1), "nor written down");
        assert_eq!(all.ended_as[FailureClass::Timeout as usize], all.requests);
    });
}

#[test]
fn a_budget_counts_the_calls_that_a_proxy_tells_of() {
    let telling = "    upstream_proxy: {attempts: 2, tells_calls: true}";
    let found = |layers: &str, proxy: &str, policy| {
        let scenario = layered(layers, &failing("100%"), proxy);
        in_worlds(&scenario, &policy, 1, WorldOptions::default(), |run| {
            let all = run.totals.overall();
            assert_eq!(all.received % all.requests, 0);
            [all.received, all.attempts, all.calls()].map(|n| n / all.requests)
        })[0]
    };
    // Four attempts are allowed, each of one request: eight calls of a proxy that keeps them to itself,
    // or four, where each request uses two of the budget.
    let four = format!("{BOTH}\n    retries: {{attempts: 4}}");
    assert_eq!(found(&four, TWICE, single()), [4, 4, 8]);
    assert_eq!(found(&four, telling, single()), [2, 2, 4]);
    // Within one request: after two attempts and two more calls nothing is left of three.
    let three = "retries: {attempts: 3}";
    assert_eq!(found(three, TWICE, tries(5, "")), [1, 3, 6]);
    assert_eq!(found(three, telling, tries(5, "")), [1, 2, 4]);
}

/// Four attempts are left to an action: a proxy of ten calls that heeds it makes four, one that does not ten,
/// and what it tells leaves the gateway none.
#[test]
fn a_proxy_makes_no_more_calls_than_are_left() {
    let calls = |proxy: &str| {
        let proxy = format!("    upstream_proxy: {{attempts: 10, tells_calls: true{proxy}}}");
        let scenario = layered("retries: {attempts: 4}", &failing("100%"), &proxy);
        let runs = in_worlds(&scenario, &tries(9, ""), 1, WorldOptions::default(), |run| {
            let all = run.totals.overall();
            [all.attempts, all.calls()].map(|n| n / all.requests)
        });
        runs[0]
    };
    assert_eq!(calls(", heeds_left: true"), [1, 4]);
    assert_eq!(calls(""), [1, 10]);
}

/// The gateway's own 429 comes with the time until there is room, and the SDK waits for exactly that; told
/// to ignore hints, for its own half a second.
#[test]
fn an_sdk_comes_back_when_the_gateway_s_own_limit_says() {
    let limited = policy("{name: limited, groups: {primary: {admission: {rpm: 6}}}}");
    // Of each action that was turned away at first: the hint, and when its second request came.
    let waits = |layers: &str| {
        let scenario = layered(layers, &failing("0%"), "");
        let runs = in_worlds(&scenario, &limited, 1, WorldOptions::default(), |run| {
            let row = |request: u64| run.rows.requests.iter().find(|row| row.request == request);
            let again = run.rows.resent.iter().map(|(request, of)| (of.action, *request));
            let pair = |(first, again)| {
                let (first, again) = (row(first).expect("a row"), row(again).expect("a row"));
                assert_eq!(first.result.outcome, Outcome::TurnedAway);
                assert_eq!((first.result.status, first.result.retryable), (429, true));
                let hint = first.result.retry_after.expect("it is known when there is room");
                (hint, again.arrived - first.closed)
            };
            again.map(pair).collect::<Vec<_>>()
        });
        runs.into_iter().flatten().collect::<Vec<_>>()
    };
    let obeyed = waits("sdk: {attempts: 2}");
    assert!(obeyed.len() > 500, "{}", obeyed.len());
    assert!(obeyed.iter().all(|(hint, waited)| hint == waited));
    let deaf = "retry_after: {mode: ignore}, backoff: {base: 500ms, jitter: fixed}";
    let ignored = waits(&format!("sdk: {{attempts: 2, {deaf}}}"));
    assert!(ignored.iter().all(|(_, waited)| *waited == Duration::from_millis(500)));
}
