use serde_json::json;
use windtunnel_policy::Instant;

use super::*;
use crate::scenario::fixture::{arriving, class, scenario};

fn world(scenario: &Scenario) -> World {
    World::build(scenario, WorldOptions::default()).expect("a world")
}

fn seconds(s: u64) -> Instant {
    Instant::from_micros(s * 1_000_000)
}

/// Requests of each second.
fn counts(world: &World, seconds: usize) -> Vec<f64> {
    let mut counts = vec![0.0; seconds];
    for request in &world.requests {
        if let Some(count) = counts.get_mut((request.at.as_micros() / 1_000_000) as usize) {
            *count += 1.0;
        }
    }
    counts
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Variance over mean: one for Poisson counts.
fn dispersion(values: &[f64]) -> f64 {
    let m = mean(values);
    values.iter().map(|v| (v - m) * (v - m)).sum::<f64>() / (values.len() - 1) as f64 / m
}

/// Coefficient of variation of the gaps between requests.
fn gap_cv(world: &World) -> f64 {
    let gaps: Vec<f64> = (world.requests.windows(2))
        .map(|pair| pair[1].at.since(pair[0].at).as_micros() as f64)
        .collect();
    (dispersion(&gaps) / mean(&gaps)).sqrt()
}

fn assert_near(value: f64, want: f64, tolerance: f64) {
    assert!((value - want).abs() <= tolerance, "{value} is not within {tolerance} of {want}");
}

#[test]
fn poisson_counts_have_the_rate_and_the_variance() {
    let world = world(&scenario(
        "20000s",
        json!({"chat": arriving(json!({"poisson": "20/s"}))}),
        json!([]),
        &["a/m"],
    ));
    let counts = counts(&world, 20_000);
    // Five standard errors: √(20 / 20,000) of the mean, √(2 / 20,000) of the dispersion.
    assert_near(mean(&counts), 20.0, 5.0 * 0.0316);
    assert_near(dispersion(&counts), 1.0, 5.0 * 0.01);
    assert_near(gap_cv(&world), 1.0, 0.01);
}

/// At a gap of one µs the table's values are fractions of it.
#[test]
fn the_fastest_rate_is_not_rounded_away() {
    let mut fast = scenario(
        "1s",
        json!({"chat": arriving(json!({"poisson": "1000000/s"}))}),
        json!([]),
        &["a/m"],
    );
    fast.classes[0].deadline = Duration::ZERO;
    assert_near(world(&fast).requests.len() as f64, 1e6, 5.0 * 1e3);
}

#[test]
fn arrivals_go_on_until_the_longest_deadline() {
    let world = world(&scenario(
        "100s",
        json!({"chat": arriving(json!({"poisson": "50/s"}))}),
        json!([]),
        &["a/m"],
    ));
    assert_eq!(world.measured_to, seconds(100));
    let last = world.requests.last().expect("requests").at;
    assert!(last > seconds(159) && last < seconds(160), "{last:?}");
}

#[test]
fn too_many_requests_are_refused_before_they_are_made() {
    let endless = scenario(
        "365d",
        json!({"chat": arriving(json!({"poisson": "100/s"}))}),
        json!([]),
        &["a/m"],
    );
    let error = World::build(&endless, WorldOptions::default()).expect_err("3 billion");
    assert_eq!(error, WorldError::TooManyRequests);
}

#[test]
fn traffic_without_lengths_is_refused() {
    let bare = class(json!({"arrivals": {"poisson": "1/s"}}));
    let error = World::build(
        &scenario("10s", json!({"chat": bare}), json!([]), &["a/m"]),
        WorldOptions::default(),
    );
    assert!(error.expect_err("no tokens").to_string().contains("chat"));
}

#[test]
fn stickiness_at_its_extremes() {
    let declared = Stick::default();
    assert_eq!(Stickiness::Declared.apply(declared), declared);
    let independent = Stickiness::Independent.apply(declared);
    assert_eq!([independent.request, independent.free], [Share::ZERO, Share::ONE]);
    let stuck = Stickiness::AllToRequest.apply(declared);
    assert_eq!([stuck.request, stuck.free], [Share::ONE, Share::ZERO]);
    assert_eq!(Stickiness::AllToRequest.apply(stuck), stuck);
}
