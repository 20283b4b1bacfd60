//! Times: exact sends, all times doubled, the horizon doubled.

use serde_json::Value;
use windtunnel::record::{AttemptRow, RequestRow, Rows};
use windtunnel_policy::Instant;

use super::{file, policy, random, run, scenario};
use windtunnel::scenario::Scenario;

/// One target that fails every attempt after 100 ms; a client every two seconds.
const ALWAYS_FAILS: &str = "
name: always-fails
shows: when retries are sent
expect: to the microsecond
horizon: 60s
classes:
  chat:
    deadline: {total: 60s}
    groups: {primary: [only]}
    traffic:
      arrivals: {poisson: 1/s}
      streamed: 0%
      tokens: {input: {constant: 1}, output: {constant: 1}, max_output: 1}
targets:
  only:
    card: plain-server
    latency:
      source: by hand
      headers: {constant: 1s}
      first_token: {constant: 1s}
      prompt_tokens: 1
      per_prompt_token: 0us
      per_output_token: {constant: 0us}
      failure: {constant: 100ms}
    failures:
      source: by hand
      mix: [{class: server_error, status: 500, share: 100%}]
";

#[test]
fn retries_are_sent_at_the_microsecond() {
    let scenario = scenario(ALWAYS_FAILS);
    // Waits of 300 ms; and of 200, 400, 500, 500 ms, each after a failure of 100 ms.
    for (backoff, want_ms) in [
        ("{base: 300ms, max: 1s, jitter: fixed}", [0, 400, 800, 1_200, 1_600]),
        ("{base: 200ms, max: 500ms, jitter: exponential}", [0, 300, 800, 1_400, 2_000]),
        ("{base: 0s, max: 0s, jitter: full}", [0, 100, 200, 300, 400]),
    ] {
        let policy = policy(&format!(
            "{{attempts: {{max: 5, max_same_target: 5}}, envelope: {{estimate: {{enabled: false}}}}, \
             backoff: {backoff}}}"
        ));
        let (_, rows) = run(&scenario, &policy, 1);
        assert!(rows.requests.len() > 30);
        for request in &rows.requests {
            let own = rows.attempts.iter().filter(|row| row.request == request.request);
            let sent: Vec<u64> = own.map(|row| (row.sent - row.arrived).as_micros()).collect();
            assert_eq!(sent, want_ms.map(|ms| ms * 1_000), "{backoff}");
            let closed = (request.closed - request.arrived).as_micros();
            assert_eq!(closed, (want_ms[4] + 100) * 1_000, "{backoff}");
        }
    }
}

/// A little of everything that takes time.
const BUSY: &str = "
name: busy
shows: everything that takes time
expect: twice as long when all times are doubled
warm_up: 10s
horizon: 60s
interval: 10s
stick: {request: 50%, window: 25%, free: 25%, window_length: 5s}
classes:
  chat:
    deadline: {total: 8s, first_output: 3s}
    groups: {primary: [north], fallbacks: [[south]]}
    traffic:
      arrivals: {poisson: 10/s}
      streamed: 50%
      patience: {exponential: {mean: 20s}}
      tokens: {input: {constant: 100}, output: {uniform: {from: 1, to: 30}}, max_output: 30}
targets:
  north:
    card: plain-server
    latency:
      source: by hand
      headers: {lognormal: {median: 100ms, sigma: 0.5}}
      first_token: {lognormal: {median: 300ms, sigma: 0.5}}
      prompt_tokens: 100
      per_prompt_token: 10us
      per_output_token: {lognormal: {median: 10ms, sigma: 0.3}}
      failure: {lognormal: {median: 50ms, sigma: 0.5}}
    capacity: {source: by hand, slots: 8, queue: 4, speed_by_load: {half_at: 20}}
    limits:
      - {scope: deployment, unit: requests, limit: 50, window: 5s}
    failures:
      source: by hand
      mix:
        - {class: server_error, status: 500, share: 5%}
        - {class: overloaded, status: 529, share: 3%, retry_after: 700ms}
      broken_streams: 3%
      stalled_streams: 3%
  south:
    card: plain-server
    latency:
      source: by hand
      headers: {lognormal: {median: 150ms, sigma: 0.5}}
      first_token: {lognormal: {median: 400ms, sigma: 0.5}}
      prompt_tokens: 100
      per_prompt_token: 10us
      per_output_token: {lognormal: {median: 15ms, sigma: 0.3}}
      failure: {lognormal: {median: 50ms, sigma: 0.5}}
weather:
  - name: brownout
    hits: {target: north}
    when: {window: {from: 20s, lasts: 15s}}
    effects: {speed: 0.4, capacity: 50%, cut: {share: 100%}}
";

const CAREFUL: &str = "
attempts: {max: 4, max_same_target: 2}
timeouts: {attempt: 4s, first_token: 1500ms, idle_stream: 600ms}
backoff: {base: 130ms, max: 2s, jitter: full}
breakers:
  - {key: [deployment], trip: [{rate_over_time: {failures: 40%, window: 3s, min_calls: 5}}], open_for: 2s}
retry_budgets:
  - {governs: [retry], charged_to: failing_target, kind: {ratio: {share: 30%, window: 4s, min_per_second: 0}}}
";

#[test]
fn all_times_doubled_double_all_times() {
    // Files as read, so that what they leave out is doubled as well.
    let once = scenario(BUSY);
    let written = |value: &Value| format!("{value:#}");
    let careful = policy(CAREFUL);
    let doubled_file = doubled(serde_json::to_value(&once.file).expect("a scenario is data"));
    let twice = Scenario::read(file(&written(&doubled_file))).unwrap_or_else(|e| panic!("{e}"));
    let doubled_policy = doubled(serde_json::to_value(&careful).expect("a policy is data"));
    let careful_twice = policy(&written(&doubled_policy));
    for seed in 1..=5 {
        let (_, a) = run(&once, &careful, seed);
        let (_, b) = run(&twice, &careful_twice, seed);
        assert!(a.attempts.len() > a.requests.len() && a.requests.len() > 400, "a busy run");
        assert_eq!((a.requests.len(), a.attempts.len()), (b.requests.len(), b.attempts.len()));
        let (a, b) = (by_request(a), by_request(b));
        for (a, b) in a.attempts.iter().zip(&b.attempts) {
            let what =
                |row: &AttemptRow| (row.request, row.number, row.target, row.failure, row.usage);
            assert_eq!(what(a), what(b), "seed {seed}");
            close(a.sent, b.sent);
            close(a.ended, b.ended);
        }
        for (a, b) in a.requests.iter().zip(&b.requests) {
            assert_eq!((a.result.outcome, a.cost), (b.result.outcome, b.cost), "seed {seed}");
            close(a.arrived, b.arrived);
            close(a.closed, b.closed);
        }
    }
}

/// Twice as late, within the roundings of a few hundred gaps and phases.
fn close(once: Instant, twice: Instant) {
    let (once, twice) = (once.as_micros(), twice.as_micros());
    assert!((2 * once).abs_diff(twice) <= 1_000, "{once} and {twice}");
}

fn by_request(mut rows: Rows) -> Rows {
    rows.attempts.sort_by_key(|row| (row.request, row.number));
    rows.requests.sort_by_key(|row| row.request);
    rows
}

/// The file with every duration doubled and every rate halved.
fn doubled(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for field in fields.values_mut() {
                *field = doubled(field.take());
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = doubled(item.take());
            }
        }
        Value::String(text) => {
            if let Some(rate) = text.strip_suffix("/s") {
                let rate: f64 = rate.parse().expect("a rate");
                *text = format!("{}/s", rate / 2.0);
            } else if let Ok(time) = windtunnel_policy::text::parse_duration(text) {
                *text = format!("{}us", 2 * time.as_micros());
            }
        }
        _ => {}
    }
    value
}

#[test]
fn a_longer_horizon_only_appends() {
    for seed in 3_000..3_100 {
        let mut case = random::case(seed);
        let (short, policy) = case.load();
        case.scenario["horizon"] = "16s".into();
        let (long, _) = case.load();
        // Requests of closed loops are numbered after all others.
        let first = super::world(&short, seed).requests.len() as u64;
        let more = super::world(&long, seed).requests.len() as u64 - first;
        let number = |request: u64| if request < first { request } else { request + more };
        let (short, long) = (run(&short, &policy, seed).1, run(&long, &policy, seed).1);

        let horizon = Instant::from_micros(8_000_000);
        let renumbered = |row: &RequestRow| {
            let mut row = *row;
            row.request = number(row.request);
            row.result.id = row.request;
            row
        };
        let measured = |row: &&RequestRow| row.measured;
        let want: Vec<_> = short.requests.iter().filter(measured).map(renumbered).collect();
        let early = |row: &&RequestRow| row.measured && row.arrived < horizon;
        let got: Vec<_> = long.requests.iter().filter(early).copied().collect();
        assert!(want == got, "seed {seed}");

        let ends = want.iter().map(|row| row.closed).max().unwrap_or_default();
        let within = |row: &&AttemptRow| row.ended <= ends && row.arrived < horizon;
        let want = short.attempts.iter().filter(within).map(|row| {
            let request = number(row.request);
            AttemptRow { request, decision: None, ..*row }
        });
        let got = long.attempts.iter().filter(within);
        let got = got.map(|row| AttemptRow { decision: None, ..*row });
        assert!(want.eq(got), "seed {seed}");
    }
}
