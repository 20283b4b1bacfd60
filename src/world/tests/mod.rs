mod arrivals;
mod recorded;

use serde_json::{Value, json};
use windtunnel_policy::Instant;

use super::*;
use crate::scenario::fixture::{arriving, class, scenario};

/// A scenario of one class with these arrivals and no weather.
fn with_arrivals(horizon: &str, arrivals: Value) -> Scenario {
    scenario(horizon, json!({"chat": arriving(arrivals)}), json!([]), &["a/m"])
}

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

fn assert_near(value: f64, want: f64, tolerance: f64) {
    assert!((value - want).abs() <= tolerance, "{value} is not within {tolerance} of {want}");
}

#[test]
fn arrivals_go_on_until_the_longest_deadline() {
    let world = world(&with_arrivals("100s", json!({"poisson": "50/s"})));
    assert_eq!(world.measured_to, seconds(100));
    let last = world.requests.last().expect("requests").at;
    assert!(last > seconds(159) && last < seconds(160), "{last:?}");
}

#[test]
fn too_many_requests_are_refused_before_they_are_made() {
    let endless = with_arrivals("365d", json!({"poisson": "100/s"}));
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

/// Whatever sequence it comes from, a request that both worlds have is the same in both.
#[test]
fn a_longer_horizon_only_appends() {
    let arrivals = [
        json!({"poisson": "5/s"}),
        json!({"gamma": {"rate": "5/s", "cv": 3}}),
        json!({"on_off": {"rate": "20/s", "on": "10s", "off": "30s"}}),
        json!({"steps": {"steps": [{"from": "0s", "rate": "2/s"}, {"from": "50s", "rate": "9/s"}],
                         "every": "80s"}}),
    ];
    for arrivals in arrivals {
        let short = world(&with_arrivals("200s", arrivals.clone()));
        let long = world(&with_arrivals("400s", arrivals.clone()));
        assert!(short.requests.len() > 100 && long.requests.len() > short.requests.len());
        assert_eq!(short.requests, long.requests[..short.requests.len()], "{arrivals}");
    }
}

#[test]
fn another_class_or_target_moves_nothing() {
    let one = with_arrivals("100s", json!({"poisson": "5/s"}));
    let classes = json!({
        "batch": arriving(json!({"poisson": "3/s"})),
        "chat": arriving(json!({"poisson": "5/s"})),
    });
    let two = scenario("100s", classes, json!([]), &["z/m", "a/m"]);
    let (one, two) = (world(&one), world(&two));
    let chat: Vec<WorldRequest> = two.requests.iter().filter(|r| r.class == 1).copied().collect();
    let moved: Vec<WorldRequest> =
        one.requests.iter().map(|r| WorldRequest { class: 1, ..*r }).collect();
    assert_eq!(chat, moved);
    assert!(two.requests.is_sorted_by_key(|r| (r.at, r.class)));
    assert!(two.requests.len() > chat.len());
}

#[test]
fn each_seed_and_each_number_is_another_world() {
    let scenario = with_arrivals("10s", json!({"poisson": "5/s"}));
    let first = |seed, world| {
        let options = WorldOptions { seed, world, ..WorldOptions::default() };
        World::build(&scenario, options).expect("a world").requests[0]
    };
    assert_eq!(first(1, 0), first(1, 0));
    let all = [first(1, 0), first(1, 1), first(2, 0), first(0, 1)];
    for (i, a) in all.iter().enumerate() {
        for b in &all[..i] {
            assert!(a.at != b.at && a.key != b.key && a.session != b.session);
        }
    }
}

#[test]
fn marks_lengths_and_patience_follow_their_shares() {
    let traffic = json!({
        "arrivals": {"poisson": "100/s"},
        "tokens": {"input": {"uniform": {"from": 0, "to": 1000}}, "output": {"constant": 900},
                   "max_output": 512},
        "streamed": "50%", "invalid": "1%", "refusals": "2%", "content_policy": "3%",
        "caller_cancels": "10%", "cancels_after": {"constant": "1s"},
        "patience": {"exponential": {"mean": "20s"}},
    });
    let world = world(&scenario("340s", json!({"chat": class(traffic)}), json!([]), &["a/m"]));
    let n = world.requests.len() as f64;
    for (mark, p) in [
        (Marks::STREAMED, 0.5),
        (Marks::INVALID, 0.01),
        (Marks::REFUSED, 0.02),
        (Marks::BLOCKED, 0.03),
        (Marks::CANCELS, 0.1),
        // Independent of each other.
        (Marks::STREAMED.with(Marks::CANCELS), 0.05),
    ] {
        let share = world.requests.iter().filter(|r| r.marks.has(mark)).count() as f64 / n;
        assert_near(share, p, 5.0 * (p * (1.0 - p) / n).sqrt());
    }
    let inputs: Vec<f64> = world.requests.iter().map(|r| f64::from(r.input)).collect();
    assert_near(mean(&inputs), 500.0, 5.0 * 289.0 / n.sqrt());
    assert!(world.requests.iter().all(|r| r.max_output == 512 && r.output == 512));
    let stay =
        |mark: bool| world.requests.iter().filter(move |r| r.marks.has(Marks::CANCELS) == mark);
    assert!(stay(true).all(|r| r.patience <= Duration::from_secs(1)));
    let patience: Vec<f64> = stay(false).map(|r| r.patience.as_micros() as f64 / 1e6).collect();
    assert_near(mean(&patience), 20.0, 5.0 * 20.0 / n.sqrt());
}

#[test]
fn without_patience_or_limit_callers_wait_and_cards_decide() {
    let world = world(&with_arrivals("10s", json!({"poisson": "5/s"})));
    assert!(world.requests.iter().all(|r| r.patience == Duration::MAX && r.max_output == 4096));
    let mut sessions: Vec<u64> = world.requests.iter().map(|r| r.session).collect();
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), world.requests.len());
}

#[test]
fn a_closed_loop_answers_for_each_user_and_count() {
    let users = json!({"closed_loop": {"users": 3, "think": {"exponential": {"mean": "10s"}}}});
    let world = world(&with_arrivals("100s", users));
    assert!(world.requests.is_empty());
    assert_eq!(world.closed_loops[0].users, 3);
    let first = world.ask(0, 1, 0, seconds(4));
    assert_eq!((first.at, first.input, first.class), (seconds(4), 100, 0));
    assert_eq!(first.key, world.ask(0, 1, 0, seconds(9)).key);
    assert_eq!(first.session, world.ask(0, 1, 1, seconds(9)).session);
    assert_ne!(first.key, world.ask(0, 1, 1, seconds(9)).key);
    assert_ne!(first.key, world.ask(0, 2, 0, seconds(4)).key);
    let thinks: Vec<f64> =
        (0..10_000).map(|n| world.think(0, 0, n).as_micros() as f64 / 1e6).collect();
    assert_near(mean(&thinks), 10.0, 5.0 * 10.0 / 100.0);
}
