//! Retries through the whole simulator: closed forms of independent tries, failures that stick,
//! Brooker's adaptive retries, and the worked examples of Google's SRE book (chapters 21 and 22).

#[path = "common/lab.rs"]
mod lab;
#[path = "common/theory.rs"]
mod theory;

use lab::{
    Run, Server, agrees, agrees_with_measured, failing_so, in_worlds, mean_and_error, policy,
    scenario, scenario_in, share, single, tries, within,
};
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;

const INDEPENDENT: &str = "{request: 0%, window: 0%, free: 100%}";

/// Calls at `rate` for `seconds` to a server that fails a share of them whatever the load.
fn lossy(fail: f64, stick: &str, rate: &str, seconds: u32) -> Scenario {
    let ten = "exponential: {mean: 10ms}";
    let more = failing_so("", &fail.to_string(), stick);
    let server = Server { first_token: ten, failure: ten, more: &more, ..Server::default() };
    scenario(&format!(
        "
name: lossy
shows: a lossy server
expect: what probability says
horizon: {seconds}s
classes:
  call:
    deadline: {{total: 60s}}
    groups: {{primary: [server]}}
    traffic:
      arrivals: {{poisson: {rate}}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:{}",
        server.named("server")
    ))
}

#[test]
fn independent_tries() {
    for (fail, retries) in [(0.1, 3), (0.25, 1), (0.5, 3), (0.75, 3)] {
        let scenario = lossy(fail, INDEPENDENT, "100/s", 50);
        let runs =
            in_worlds(&scenario, &tries(retries + 1, ""), 20, WorldOptions::default(), |run| {
                (run.success(), run.load())
            });
        let (success, load): (Vec<f64>, Vec<f64>) = runs.into_iter().unzip();
        let name = format!("{retries} retries at {fail}");
        let want = theory::success_of_tries(fail, retries + 1);
        agrees(&format!("{name}: success"), &success, want, 0.01);
        agrees(&format!("{name}: load"), &load, theory::mean_tries(fail, retries + 1), 0.03);
    }
}

#[test]
fn where_everything_fails_every_try_is_made() {
    let look = |run: &Run| (run.success(), run.load());
    let runs = in_worlds(
        &lossy(1.0, INDEPENDENT, "100/s", 10),
        &tries(4, ""),
        3,
        WorldOptions::default(),
        look,
    );
    assert_eq!(runs, [(0.0, 4.0); 3]);
}

#[test]
fn failures_that_stick_defeat_retries() {
    // Two tries at 25 %. Where half of it sticks: s·p + (1 − s·p)·[(1 − s)·p / (1 − s·p)]² = 1/7.
    for (stick, fails) in [
        (INDEPENDENT, 0.0625),
        ("{request: 50%, window: 0%, free: 50%}", 1.0 / 7.0),
        ("{request: 100%, window: 0%, free: 0%}", 0.25),
    ] {
        let runs = in_worlds(
            &lossy(0.25, stick, "100/s", 50),
            &tries(2, ""),
            20,
            WorldOptions::default(),
            |run| 1.0 - run.success(),
        );
        agrees(stick, &runs, fails, 0.01);
    }
}

/// A client's calls, what it sends and what succeeds, summed over `clients` at a time: each run of
/// the published simulation is one sum. A client is a world here, with a bucket of its own.
fn client_sums(
    fail: f64,
    policy: &windtunnel_policy::config::Policy,
    clients: usize,
    calls: &str,
    sums: usize,
) -> [Vec<f64>; 2] {
    let scenario = lossy(fail, INDEPENDENT, calls, 10);
    let worlds = (clients * sums) as u32;
    let counts = in_worlds(&scenario, policy, worlds, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        [all.requests, all.answered.total(), all.attempts]
    });
    let sum = |of: &[[u64; 3]], which: usize| of.iter().map(|count| count[which]).sum::<u64>();
    let per_call = |which: usize| {
        counts.chunks(clients).map(|some| share(sum(some, which), sum(some, 0))).collect()
    };
    [per_call(1), per_call(2)]
}

/// A bucket of 5, a tenth of a token per call, a token per retry, no other limit on retries.
fn adaptive() -> windtunnel_policy::config::Policy {
    tries(
        1_000,
        "
retry_budgets:
  - governs: [retry]
    charged_to: overall
    kind: {token_bucket: {capacity: 5, per_request: 10%, per_second: 0}}
",
    )
}

#[test]
fn brookers_retries_and_token_bucket() {
    // Success and load as his simulator printed them for 100 clients.
    for (name, policy, fail, success, load) in [
        ("none", tries(1, ""), 0.1, 0.899, 1.0),
        ("three", tries(4, ""), 0.1, 0.9999, 1.106),
        ("adaptive", adaptive(), 0.1, 0.992, 1.096),
        ("none", tries(1, ""), 0.5, 0.500, 1.0),
        ("three", tries(4, ""), 0.5, 0.935, 1.881),
        ("adaptive", adaptive(), 0.5, 0.570, 1.143),
    ] {
        let [answered, sent] = client_sums(fail, &policy, 100, "10/s", 10);
        let name = format!("{name} at {fail}");
        agrees_with_measured(&format!("{name}: success"), &answered, success, 1.0, 0.05);
        agrees_with_measured(&format!("{name}: load"), &sent, load, 1.0, 0.08);
    }
}

#[test]
fn an_adaptive_client_spends_its_bucket_and_a_tenth_of_its_calls() {
    // 100 calls fill in ten tokens beside the five at the start; between none and one is left.
    let [answered, sent] = client_sums(0.5, &adaptive(), 100, "10/s", 10);
    let (sent, error) = mean_and_error(&sent);
    assert!(error < 0.001, "{error}");
    assert!((1.14 - 5.0 * error..=1.15 + 5.0 * error).contains(&sent), "{sent} ± {error}");
    agrees("success = (1 − f) · load", &answered, 0.5 * sent, 0.02);
    // The same with ten clients: 0.572 and 1.139 as printed.
    let [answered, sent] = client_sums(0.5, &adaptive(), 10, "10/s", 50);
    agrees_with_measured("ten clients: success", &answered, 0.572, 1.0, 0.1);
    agrees_with_measured("ten clients: load", &sent, 1.139, 1.0, 0.05);
}

#[test]
fn the_more_clients_share_the_calls_the_less_their_buckets_hold_back() {
    // 100 calls a second among them all: with ten calls a client, the tokens at the start are most of
    // what it has, and with one call each it never runs out.
    for (clients, calls, success, load) in
        [(100, "1/s", 0.738, 1.450), (1_000, "0.1/s", 0.940, 1.875)]
    {
        let [answered, sent] = client_sums(0.5, &adaptive(), clients, calls, 40);
        agrees_with_measured(&format!("{clients} clients: success"), &answered, success, 1.0, 0.12);
        agrees_with_measured(&format!("{clients} clients: load"), &sent, load, 1.0, 0.25);
    }
}

#[test]
fn a_budget_bounds_the_load_of_retries() {
    let scenario = lossy(0.99, INDEPENDENT, "100/s", 60);
    let load = |policy| in_worlds(&scenario, &policy, 10, WorldOptions::default(), Run::load);
    // Three attempts and nearly everything rejected: just below three times.
    agrees("without a budget", &load(tries(3, "")), 1.0 + 0.99 + 0.99 * 0.99, 0.01);
    let budget = |share: &str| {
        tries(
            3,
            &format!(
                "
retry_budgets:
  - governs: [retry]
    charged_to: overall
    kind: {{ratio: {{share: {share}, window: 10s, min_per_second: 0}}}}
"
            ),
        )
    };
    // Retries ÷ first tries below a tenth, and retries ÷ all calls below a tenth, which is a ninth of
    // the first tries. A window of about a thousand first tries grants whole retries.
    for (share, want) in [("10%", 1.10), ("11.111111%", 10.0 / 9.0)] {
        let (mean, error) = mean_and_error(&load(budget(share)));
        assert!(error < 0.001, "{error}");
        assert!((mean - want).abs() < 5.0 * error + 0.001, "{share}: {mean} ± {error}");
    }
}

#[test]
fn rejected_calls_that_come_again_grow_by_the_excess() {
    // The book has 10,100 a second against 10,000: here a hundredth of both, to the call.
    let folder = tempfile::tempdir().expect("a folder");
    let calls = (0..101_u64 * 40).map(|i| format!("{},1,1\n", i * 1_000_000 / 101));
    let trace = format!("at,in,out\n{}", calls.collect::<String>());
    std::fs::write(folder.path().join("steady.csv"), trace).expect("a written trace");
    let scenario = scenario_in(
        folder.path(),
        "
name: excess
shows: a limit of 100 a second against 101
expect: a call more each second
horizon: 10s
classes:
  call:
    deadline: {total: 30s}
    groups: {primary: [server]}
    traffic:
      arrivals:
        trace:
          file: steady.csv
          layout: {columns: {time: at, time_unit: us, input_tokens: in, output_tokens: out}}
targets:
  server:
    card: plain-server
    capacity: {source: textbook, slots: 100000}
    limits:
      - {scope: deployment, unit: requests, limit: 100, window: 1s, refill: window, retry_after: none}
",
    );
    let patient = policy(
        "
name: patient
attempts: {max: 15, max_same_target: 15}
envelope: {estimate: {enabled: false}}
backoff: {base: 1s, max: 1s, jitter: fixed}
cooldown: {rule: none}
",
    );
    let received = in_worlds(&scenario, &patient, 1, WorldOptions::default(), |run| {
        (0..10)
            .map(|s| run.rows.attempts.iter().filter(|row| within(row.sent, s, s + 1)).count())
            .collect::<Vec<usize>>()
    });
    assert_eq!(received[0], (101..=110).collect::<Vec<usize>>());
}

#[test]
fn hung_calls_starve_a_pool_of_threads() {
    // 10 × 100 threads, 1,000 calls/s, 5 % of them hang for 100 s and the rest take 100 ms: 5,095
    // threads are wanted. A loss system, so Erlang's B says who finds a thread.
    assert!((theory::erlang_b(1_000, 5_095.0) - 0.804).abs() < 0.0005);
    // A hundredth of it: 10 connections, 10 calls/s.
    let scenario = scenario(
        "
name: bimodal
shows: one call in twenty hangs
expect: four in five find no connection
warm_up: 300s
horizon: 1300s
classes:
  call:
    deadline: {total: 100s}
    groups: {primary: [server]}
    traffic:
      arrivals: {poisson: 10/s}
      tokens: {input: {constant: 1}, output: {constant: 1}, max_output: 1}
gateway: {connections: 10}
targets:
  server:
    card: plain-server
    failures:
      source: textbook
      mix: [{class: timeout, status: 0, share: 5%, hang: true}]
      stick: {request: 0%, window: 0%, free: 100%}
",
    );
    let runs = in_worlds(&scenario, &single(), 10, WorldOptions::default(), |run| {
        let all = run.totals.overall().requests;
        let sent = run.totals.targets[0].attempts;
        [share(sent, all), run.success()]
    });
    let of = |which: usize| runs.iter().map(|run| run[which]).collect::<Vec<f64>>();
    let served = 1.0 - theory::erlang_b(10, 50.95);
    agrees("finds a connection", &of(0), served, 0.03);
    agrees("answered", &of(1), 0.95 * served, 0.03);
}
