//! The same for more breakers, and over logs of forty minutes, which have phases of thousands of tries: there
//! breakers open by chance, too. It takes minutes: `cargo test --release --test what_if -- --ignored`.

use crate::coverage::{CARD, LEAST_COVERED, P, Q, SCENARIO, attempts, coverage, rules, trace};
use crate::worlds::known;

/// The scenario of five minutes, in which failures rise for one minute, to this share, hold for one and fall for
/// one; under a breaker.
fn five_minutes(worst: &str, breaker: &str) {
    holds(SCENARIO, 1_500, worst, breaker);
}

/// Forty minutes of five requests a second; failures rise for ten minutes, hold for ten, and fall for ten.
fn forty_minutes(worst: &str, breaker: &str) {
    let scenario = SCENARIO
        .replace("horizon: 5m", "horizon: 40m")
        .replace("{from: 1m, lasts: 3m}", "{from: 5m, lasts: 30m}")
        .replace("{up: 1m, down: 1m}", "{up: 10m, down: 10m}");
    holds(&scenario, 12_000, worst, breaker);
}

fn holds(scenario: &str, requests: u64, worst: &str, breaker: &str) {
    let scenario = scenario.replace("share: 40%", &format!("share: {worst}"));
    let trace = trace(requests);
    let hidden = known(&[("hidden.yaml", &scenario), ("card.yaml", CARD), ("trace.csv", &trace)]);
    let breakers = format!("breakers: [{{trip: [{{rate_over_time: {breaker}}}], open_for: 30s}}]");
    let p = P.replace("breakers: []", &breakers);
    let found = coverage(&hidden, &[rules(&p), rules(Q)], attempts);
    assert!(found.covered >= LEAST_COVERED, "{found}");
}

#[test]
#[ignore = "takes minutes"]
fn five_minutes_of_a_breaker_that_opens_early() {
    five_minutes("40%", "{failures: 30%, window: 10s, min_calls: 20}");
}

/// Of the worst, nearly nothing is seen.
#[test]
#[ignore = "takes minutes"]
fn five_minutes_of_a_breaker_that_opens_late() {
    five_minutes("80%", "{failures: 50%, window: 10s, min_calls: 20}");
}

#[test]
#[ignore = "takes minutes"]
fn forty_minutes_of_a_breaker_that_chance_opens() {
    forty_minutes("40%", "{failures: 30%, window: 10s, min_calls: 20}");
}

#[test]
#[ignore = "takes minutes"]
fn forty_minutes_of_a_breaker_that_opens_at_the_worst() {
    forty_minutes("60%", "{failures: 50%, window: 10s, min_calls: 20}");
}

#[test]
#[ignore = "takes minutes"]
fn forty_minutes_of_a_breaker_that_is_hardly_ever_open() {
    forty_minutes("30%", "{failures: 50%, window: 10s, min_calls: 10}");
}
