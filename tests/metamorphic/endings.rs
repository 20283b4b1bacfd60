//! Callers who go away free what they held.

use super::{policy, run, scenario};

/// Ten slots, no queue: λ = 10/s, μ = 1/s, and callers leave at θ = 0.5/s, answered or not.
const LOSS: &str = "
name: loss-system
shows: blocking with callers who leave
expect: Erlang B at the load λ / (μ + θ)
warm_up: 20s
horizon: 620s
classes:
  call:
    deadline: {total: 10m}
    groups: {primary: [server]}
    traffic:
      arrivals: {poisson: 10/s}
      streamed: 0%
      patience: {exponential: {mean: 2s}}
      tokens: {input: {constant: 1}, output: {constant: 1}, max_output: 1}
targets:
  server:
    card: plain-server
    latency:
      source: by hand
      headers: {exponential: {mean: 1s}}
      first_token: {exponential: {mean: 1s}}
      prompt_tokens: 1
      per_prompt_token: 0us
      per_output_token: {constant: 0us}
      failure: {constant: 0us}
    capacity: {source: by hand, slots: 10}
    abort: {source: by hand, streamed: stops, whole: stops}
";

/// Erlang B by its recursion B(a, n) = a B(a, n − 1) / (n + a B(a, n − 1)).
fn erlang_b(load: f64, slots: u32) -> f64 {
    (1..=slots).fold(1.0, |b, n| load * b / (f64::from(n) + load * b))
}

#[test]
fn callers_who_leave_give_their_slots_back() {
    // Known values, so that the recursion itself is not taken on trust.
    assert!((erlang_b(8.0, 10) - 0.121_661).abs() < 1e-6);
    assert!((erlang_b(50.0, 64) - 0.008_439).abs() < 1e-6);
    let (scenario, single) = (scenario(LOSS), policy("attempts: {max: 1}"));
    let worlds = 12;
    let blocked: Vec<f64> = (0..worlds)
        .map(|seed| {
            let (_, rows) = run(&scenario, &single, seed);
            let measured = rows.requests.iter().filter(|row| row.measured);
            let blocked = measured.clone().filter(|row| row.result.status == 503).count();
            let left = measured.clone().filter(|row| row.result.outcome.name() == "cancelled");
            // θ / (μ + θ) of those who are let in leave: a third.
            let (all, left) = (measured.clone().count(), left.count());
            let third = (all - blocked) as f64 / 3.0;
            assert!((left as f64 - third).abs() < 5.0 * (third * 2.0 / 3.0).sqrt(), "{left}");
            blocked as f64 / all as f64
        })
        .collect();
    let n = blocked.len() as f64;
    let mean = blocked.iter().sum::<f64>() / n;
    let variance = blocked.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let want = erlang_b(10.0 / 1.5, 10);
    let error = (variance / n).sqrt();
    assert!((mean - want).abs() < 4.0 * error, "{mean} ± {error} against {want}");
    assert!(error < 0.05 * want, "the test must be able to tell: ± {error}");
}
