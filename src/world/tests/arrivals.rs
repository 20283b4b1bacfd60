//! Arrivals against their closed forms; tolerances are five standard errors.

use super::*;

/// Coefficient of variation of the gaps between requests.
fn gap_cv(world: &World) -> f64 {
    let gaps: Vec<f64> = (world.requests.windows(2))
        .map(|pair| pair[1].at.since(pair[0].at).as_micros() as f64)
        .collect();
    (dispersion(&gaps) / mean(&gaps)).sqrt()
}

#[test]
fn poisson_counts_have_the_rate_and_the_variance() {
    let world = world(&with_arrivals("20000s", json!({"poisson": "20/s"})));
    let counts = counts(&world, 20_000);
    // Five standard errors: √(20 / 20,000) of the mean, √(2 / 20,000) of the dispersion.
    assert_near(mean(&counts), 20.0, 5.0 * 0.0316);
    assert_near(dispersion(&counts), 1.0, 5.0 * 0.01);
    assert_near(gap_cv(&world), 1.0, 0.01);
}

/// At a gap of one µs the table's values are fractions of it.
#[test]
fn the_fastest_rate_is_not_rounded_away() {
    let mut fast = with_arrivals("1s", json!({"poisson": "1000000/s"}));
    fast.classes[0].deadline = Duration::ZERO;
    assert_near(world(&fast).requests.len() as f64, 1e6, 5.0 * 1e3);
}

#[test]
fn gamma_gaps_have_the_rate_and_the_variation() {
    let world = world(&with_arrivals("100000s", json!({"gamma": {"rate": "2/s", "cv": 2}})));
    let n = world.requests.len() as f64;
    // The count of a renewal process over time t has variance cv² · rate · t.
    assert_near(n, 2.0 * 100_060.0, 5.0 * (4.0 * n).sqrt());
    // Kurtosis of a gamma of shape 1/4 is 3 + 6 · 4: the variance's relative error is √(26 / n).
    assert_near(gap_cv(&world), 2.0, 5.0 * 2.0 * (26.0 / n).sqrt() / 2.0);
}

#[test]
fn bursts_and_silences_share_the_time() {
    let on_off = json!({"on_off": {"rate": "20/s", "on": "10s", "off": "30s"}});
    let world = world(&with_arrivals("80000s", on_off));
    let counts = counts(&world, 80_000);
    // An on/off process of means a and b: share p = a/(a+b) of the time, correlation time
    // τ = ab/(a+b) = 7.5 s; the mean of 80,000 s has variance 20² · p(1−p) · 2τ / 80,000.
    let p = 0.25;
    let error = (400.0 * p * (1.0 - p) * 15.0 / 80_000.0_f64).sqrt();
    assert_near(mean(&counts), 5.0, 5.0 * error);
    // Within a second the phase hardly changes: variance/mean is about 1 + 20 (1 − p) · (1 − 1/22.5).
    let within = 1.0 - (1.0 / 7.5) / 3.0;
    assert_near(dispersion(&counts), 1.0 + 20.0 * (1.0 - p) * within, 0.6);
}

#[test]
fn steps_keep_their_rates_in_every_period() {
    let steps = json!({"steps": {
        "steps": [{"from": "0s", "rate": "10/s"}, {"from": "20s", "rate": "0/s"},
                  {"from": "30s", "rate": "40/s"}],
        "every": "60s"}});
    let world = world(&with_arrivals("6000s", steps));
    let counts = counts(&world, 6_000);
    let during = |from: usize, to: usize| -> f64 {
        counts.chunks(60).map(|period| period[from..to].iter().sum::<f64>()).sum()
    };
    for (from, to, rate) in [(0, 20, 10.0), (20, 30, 0.0), (30, 60, 40.0)] {
        let expected = rate * (to - from) as f64 * 100.0;
        assert_near(during(from, to), expected, 5.0 * expected.sqrt());
    }
}

#[test]
fn steps_without_a_period_end_with_the_last() {
    let steps = json!({"steps": {"steps": [{"from": "0s", "rate": "0/s"}, {"from": "500s", "rate": "10/s"}]}});
    let counts = counts(&world(&with_arrivals("1000s", steps)), 1_000);
    assert_eq!(counts[..500].iter().sum::<f64>(), 0.0);
    assert_near(counts[500..].iter().sum(), 5_000.0, 5.0 * 71.0);
}

#[test]
fn no_rate_is_no_request() {
    assert!(world(&with_arrivals("100s", json!({"poisson": "0/s"}))).requests.is_empty());
}
