use serde_json::{Value, json};

use super::*;
use crate::scenario::fixture::scenario;

/// Targets 0 and 1 are provider a's, 2 is b's; 0 and 2 are of one model.
const TARGETS: [&str; 3] = ["a/big", "a/small", "b/big"];

fn fleet(entries: Value, hours: u64) -> Scenario {
    scenario(&format!("{hours}h"), json!({}), entries, &TARGETS)
}

fn build(scenario: &Scenario, seed: u64, resample: bool) -> Weather {
    let until = Instant::ZERO + scenario.file.horizon;
    Weather::build(scenario, seed, resample, until).expect("weather")
}

fn weather(entries: Value, hours: u64) -> Weather {
    build(&fleet(entries, hours), 1, false)
}

fn entry(name: &str, provider: &str, when: Value, shape: Value, effects: Value) -> Value {
    json!({"name": name, "hits": {"provider": provider}, "when": when, "shape": shape,
           "effects": effects})
}

/// At provider a.
fn outage(when: Value, shape: Value, share: Value) -> Value {
    entry("outage", "a", when, shape, failures(share))
}

fn failures(share: Value) -> Value {
    json!({"failures": {
        "share": share,
        "mix": [{"class": "server_error", "status": 500, "weight": 3},
                {"class": "overloaded", "status": 503, "weight": 1}],
    }})
}

fn second(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

fn minute(minutes: u64) -> Instant {
    second(60 * minutes)
}

/// What holds at a target from `at` on.
fn at(weather: &Weather, target: u16, at: Instant) -> &Conditions {
    let mut before = weather.edges.iter().filter(|edge| edge.target == target && edge.at <= at);
    &weather.conditions[before.next_back().map_or(0, |edge| edge.conditions as usize)]
}

fn failing(weather: &Weather, seconds: u64) -> f64 {
    at(weather, 0, second(seconds)).failing().as_f64()
}

fn assert_near(value: f64, want: f64, tolerance: f64) {
    assert!((value - want).abs() <= tolerance, "{value} is not within {tolerance} of {want}");
}

#[test]
fn a_window_begins_and_ends_at_every_target_of_its_domain() {
    let when = json!({"window": {"from": "10m", "lasts": "20m"}});
    let weather = weather(json!([outage(when, json!("step"), json!("25%"))]), 1);
    let edges: Vec<_> = weather.edges.iter().map(|e| (e.at, e.target, e.conditions)).collect();
    assert_eq!(
        edges,
        [(minute(10), 0, 1), (minute(10), 1, 1), (minute(30), 0, 0), (minute(30), 1, 0)]
    );
    let failure = &weather.conditions[1].failures[0];
    assert_eq!(failure.share, Share::ratio(1, 4));
    let up_to: Vec<Share> = failure.mix.iter().map(|mix| mix.up_to).collect();
    assert_eq!(up_to, [Share::ratio(3, 4), Share::ONE]);
    assert_eq!(weather.incidents[0].targets, [0, 1]);
    assert_eq!((weather.incidents[0].from, weather.incidents[0].to), (minute(10), minute(30)));
    assert_eq!(weather.availability(0, minute(0), minute(60)), 1.0 - 0.25 / 3.0);
    assert_eq!(weather.availability(2, minute(0), minute(60)), 1.0);
}

#[test]
fn a_ramp_is_stairs_at_the_slope_s_own_level() {
    let when = json!({"window": {"from": "100s", "lasts": "200s"}});
    let ramp = json!({"ramp": {"up": "60s", "down": "30s"}});
    let weather = weather(json!([outage(when, ramp, json!("60%"))]), 1);
    for (seconds, level) in [
        (99, 0.0),
        (100, 1.0 / 12.0),
        (109, 1.0 / 12.0),
        (110, 3.0 / 12.0),
        (159, 11.0 / 12.0),
        (160, 1.0),
        (269, 1.0),
        (270, 5.0 / 6.0),
        (299, 1.0 / 6.0),
        (300, 0.0),
    ] {
        assert_near(failing(&weather, seconds), 0.6 * level, 1e-12);
    }
    // The mean of the slopes is kept: 30 + 110 + 15 s at full level.
    assert_near(weather.availability(0, second(100), second(300)), 1.0 - 0.6 * 155.0 / 200.0, 1e-9);
}

#[test]
fn slopes_without_time_for_both_meet_below_the_full_level() {
    let when = json!({"window": {"from": "0s", "lasts": "100s"}});
    let ramp = json!({"ramp": {"up": "100s", "down": "300s"}});
    let weather = weather(json!([outage(when, ramp, json!("100%"))]), 1);
    // Up for 25 s to 1/4, down for 75 s: a triangle of mean 1/8.
    assert_near(weather.availability(0, second(0), second(100)), 1.0 - 0.125, 1e-9);
    let highest = weather.conditions.iter().map(Conditions::failing).max();
    assert!(highest < Share::new(0.25), "{highest:?}");
}

#[test]
fn a_long_ramp_has_120_stairs() {
    let when = json!({"window": {"from": "0s", "lasts": "20h"}});
    let ramp = json!({"ramp": {"up": "10h", "down": "0s"}});
    let weather = weather(json!([outage(when, ramp, json!("50%"))]), 24);
    let levels: std::collections::BTreeSet<Share> =
        weather.conditions.iter().map(Conditions::failing).collect();
    // And clear, and full.
    assert_eq!(levels.len(), 122);
    assert_near(weather.availability(0, second(0), minute(600)), 0.75, 1e-9);
}

#[test]
fn a_course_goes_from_point_to_point() {
    let when = json!({"window": {"from": "0s", "lasts": "60s"}});
    let points = json!([["0s", "20%"], ["20s", "100%"], ["40s", "50%"], ["80s", "0%"]]);
    let course = |smooth: bool| {
        let shape = json!({"course": {"points": points, "smooth": smooth}});
        weather(json!([outage(when.clone(), shape, json!("50%"))]), 1)
    };
    let (steps, smooth) = (course(false), course(true));
    for (seconds, step, slope) in [
        (0, 0.2, 0.4),
        (10, 0.2, 0.8),
        (20, 1.0, 0.875),
        (39, 1.0, 0.625),
        (45, 0.5, 0.4375),
        (59, 0.5, 0.3125),
    ] {
        assert_near(failing(&steps, seconds), 0.5 * step, 1e-12);
        assert_near(failing(&smooth, seconds), 0.5 * slope, 1e-12);
    }
    assert_eq!((failing(&steps, 60), failing(&smooth, 60)), (0.0, 0.0));
}

#[test]
fn incidents_at_one_time_compose() {
    let whole = json!("always");
    let slowdown = |name, provider, from: &str| {
        let when = json!({"window": {"from": from, "lasts": "20m"}});
        let effects = json!({
            "failures": failures(json!("50%"))["failures"],
            "speed": 0.5, "capacity": "40%", "limits": "50%", "background": 3,
            "contract_failures": "10%", "task_failures": "20%", "broken_streams": "30%",
            "slow_share": {"share": "50%", "factor": 3},
        });
        entry(name, provider, when, json!("step"), effects)
    };
    let steady = entry("steady", "b", whole, json!("step"), json!({"speed": 2}));
    let weather =
        weather(json!([slowdown("one", "a", "0m"), slowdown("two", "a", "10m"), steady]), 1);
    let alone = at(&weather, 0, minute(5));
    assert_eq!((alone.speed_ppm, alone.background_ppm), (500_000, 3_000_000));
    assert_eq!((alone.slow, alone.failures.len()), ((Share::ratio(1, 2), 3_000_000), 1));
    let both = at(&weather, 0, minute(15));
    assert_eq!((both.speed_ppm, both.background_ppm), (250_000, 9_000_000));
    assert_eq!(both.failures.len(), 2);
    assert_ne!(both.failures[0].effect, both.failures[1].effect);
    for (share, want) in [
        (both.failing(), 0.75),
        (both.capacity, 0.16),
        (both.limits, 0.25),
        (both.contract_failures, 0.19),
        (both.task_failures, 0.36),
        (both.broken_streams, 0.51),
        (both.slow.0, 0.75),
    ] {
        assert_near(share.as_f64(), want, 1e-12);
    }
    // Twice the work on average by each, four times by both: 1/4 + 3/4 · 5 = 4.
    assert_near(both.slow.1 as f64, 5e6, 2.0);
    assert_eq!(at(&weather, 0, minute(30)), &Conditions::clear());
    assert_eq!(at(&weather, 2, minute(30)).speed_ppm, 2_000_000);
    // The second has what the first had, alone: but for the effect's own luck.
    assert_eq!(at(&weather, 1, minute(25)).failing(), alone.failing());
}

#[test]
fn a_flapping_incident_is_one_with_many_spells() {
    let when = json!({"flapping": {"from": "10m", "lasts": "10m", "bad": "2m", "good": "1m"}});
    let mut flapping = outage(when, json!("step"), json!("100%"));
    flapping["effects"]["cut"] = json!({"share": "30%"});
    let weather = weather(json!([flapping]), 1);
    let edges: Vec<_> = (weather.edges.iter())
        .filter(|edge| edge.target == 0)
        .map(|edge| (edge.at.as_micros() / 60_000_000, edge.conditions, edge.cut > Share::ZERO))
        .collect();
    let cuts = |from, to| [(from, 1, true), (to, 0, false)];
    assert_eq!(edges, [cuts(10, 12), cuts(13, 15), cuts(16, 18), cuts(19, 20)].concat());
    assert_eq!(weather.edges[0].cut, Share::ratio(3, 10));
    assert_eq!(weather.incidents.len(), 1);
    assert_eq!((weather.incidents[0].from, weather.incidents[0].to), (minute(10), minute(20)));
}

#[test]
fn those_who_flee_load_the_others() {
    let when = json!({"window": {"from": "10m", "lasts": "10m"}});
    let mut scenario = fleet(json!([outage(when, json!("step"), json!("50%"))]), 1);
    let surged = |weather: &Weather| -> Vec<u64> {
        (0..3).map(|target| at(weather, target, minute(15)).background_ppm).collect()
    };
    assert_eq!(surged(&build(&scenario, 1, false)), [1_000_000; 3]);
    scenario.file.background.surge = crate::scenario::Factor::new(1.5);
    let weather = build(&scenario, 1, false);
    assert_eq!(surged(&weather), [1_000_000, 1_000_000, 1_250_000]);
    assert_eq!(at(&weather, 2, minute(20)), &Conditions::clear());
    scenario.file.background.from_share = Share::ratio(3, 5);
    assert_eq!(surged(&build(&scenario, 1, false)), [1_000_000; 3]);
}

#[test]
fn without_resampling_ranges_give_their_first_value() {
    let when = json!({"window": {"from": ["10m", "20m"], "lasts": ["5m", "15m"]}});
    let scenario = fleet(json!([outage(when, json!("step"), json!(["10%", "30%"]))]), 1);
    for seed in 0..5 {
        let weather = build(&scenario, seed, false);
        assert_eq!((weather.incidents[0].from, weather.incidents[0].to), (minute(10), minute(15)));
        assert_near(failing(&weather, 700), 0.1, 1e-12);
    }
}

#[test]
fn resampling_draws_evenly_within_the_ranges() {
    let when = json!({"window": {"from": ["10m", "20m"], "lasts": ["5m", "15m"]}});
    let scenario = fleet(json!([outage(when, json!("step"), json!(["10%", "30%"]))]), 1);
    let n = 2_000;
    let mut sums = [0.0; 4];
    for seed in 0..n {
        let weather = build(&scenario, seed, true);
        let Incident { from, to, .. } = weather.incidents[0];
        // Each from 0 to 1 over its range.
        let onset = (from.as_micros() as f64 / 60e6 - 10.0) / 10.0;
        let lasts = (to.since(from).as_micros() as f64 / 60e6 - 5.0) / 10.0;
        let share = (weather.conditions[1].failing().as_f64() - 0.1) / 0.2;
        for (sum, x) in sums.iter_mut().zip([onset, lasts, share, lasts * share]) {
            assert!((-1e-6..=1.0 + 1e-6).contains(&x), "{x}");
            *sum += x / n as f64;
        }
    }
    // Five standard errors of uniforms (√(1/12n)), and of a product of two (√(7/144n)).
    for (mean, want, variance) in [
        (sums[0], 0.5, 1.0 / 12.0),
        (sums[1], 0.5, 1.0 / 12.0),
        (sums[2], 0.5, 1.0 / 12.0),
        (sums[3], 0.25, 7.0 / 144.0),
    ] {
        assert_near(mean, want, 5.0 * (variance / n as f64).sqrt());
    }
}

fn renewal(gap: Value, lasts: Value) -> Value {
    json!([outage(json!({"renewal": {"gap": gap, "lasts": lasts}}), json!("step"), json!("100%"))])
}

#[test]
fn renewals_apart_take_their_share_of_the_time() {
    let gap = json!({"uniform": {"from": "2h", "to": "10h"}});
    let hours = 60_000;
    let weather = weather(renewal(gap, json!({"constant": "1h"})), hours);
    let open = 1.0 - weather.availability(0, minute(0), minute(60 * hours));
    // One hour in six, relative error cv/√n with cv = (8/√12)/6 and n = 10,000.
    assert_near(open, 1.0 / 6.0, 5.0 * 0.385 / 6.0 / 100.0);
    assert_near(weather.incidents.len() as f64, 10_000.0, 5.0 * 0.385 * 100.0);
}

/// Poisson onsets: open with the probability that M/G/∞ is busy, 1 − exp(−E lasts / E gap).
#[test]
fn overlapping_renewals_are_merged_and_the_start_is_an_ordinary_moment() {
    let entries =
        renewal(json!({"exponential": {"mean": "4h"}}), json!({"exponential": {"mean": "1h"}}));
    let busy = 1.0 - libm::exp(-0.25);
    let hours = 100_000;
    let long = weather(entries.clone(), hours);
    let open = 1.0 - long.availability(0, minute(0), minute(60 * hours));
    // Busy and idle periods: n = 25,000 · e^−0.25 cycles, relative error below 2/√n.
    assert_near(open, busy, 5.0 * busy * 2.0 / 140.0);
    for pair in long.incidents.windows(2) {
        assert!(pair[0].to <= pair[1].from);
    }
    let scenario = fleet(entries, 1);
    let worlds = 1_000;
    let at_start: usize = (0..worlds)
        .filter(|&seed| !at(&build(&scenario, seed, false), 0, second(0)).failures.is_empty())
        .count();
    let share = at_start as f64 / worlds as f64;
    assert_near(share, busy, 5.0 * (busy * (1.0 - busy) / worlds as f64).sqrt());
}

/// The published fits of OpenAI's gaps and repair times: means of 3.37 d and 2.63 h, so 3.25 % of
/// the time, less what is counted twice where incidents overlap.
#[test]
fn openai_incidents_are_open_3_percent_of_the_time() {
    let gap = json!({"weibull": {"shape": 0.642, "scale": "2.43d"}});
    // exp(0.257) h in ms.
    let lasts = json!({"lognormal": {"median": "4655163ms", "sigma": 1.192}});
    let years = 200;
    let hours = years * 8_766;
    let weather = weather(renewal(gap, lasts), hours);
    let open = 1.0 - weather.availability(0, minute(0), minute(60 * hours));

    // Integrals in hours of P(D > t), P(G > t) and P(D > t) · P(G > t), by the midpoint rule.
    let scale = 2.43 * 24.0;
    let lasts =
        |t: f64| 0.5 * libm::erfc((libm::log(t) - 0.257) / 1.192 / std::f64::consts::SQRT_2);
    let gaps = |t: f64| libm::exp(-libm::pow(t / scale, 0.642));
    let integral = |f: &dyn Fn(f64) -> f64| -> f64 {
        (0..500_000).map(|i| (f64::from(i) + 0.5) * 0.01).map(f).sum::<f64>() * 0.01
    };
    let (mean_lasts, mean_gap) = (integral(&lasts), integral(&gaps));
    assert_near(mean_lasts, 2.63, 0.005);
    assert_near(mean_gap / 24.0, 3.37, 0.005);
    let most = mean_lasts / mean_gap;
    let least = integral(&|t| lasts(t) * gaps(t)) / mean_gap;
    // n incidents; coefficients of variation of 1.77 and 1.62.
    let n = hours as f64 / mean_gap;
    let error = most * ((1.77_f64.powi(2) + 1.62_f64.powi(2)) / n).sqrt();
    assert!(least > 0.027 && most < 0.033, "{least} {most}");
    assert!(open > least - 5.0 * error && open < most + 5.0 * error, "{open}");
}

#[test]
fn renewal_severity_is_drawn_for_each_incident() {
    let when = json!({"renewal": {"gap": {"constant": "2h"}, "lasts": {"constant": "1h"}}});
    let weather = weather(json!([outage(when, json!("step"), json!(["10%", "30%"]))]), 2_000);
    let shares: Vec<f64> =
        weather.conditions[1..].iter().map(|conditions| conditions.failing().as_f64()).collect();
    assert!(shares.len() >= 999 && shares.iter().all(|share| (0.1..=0.3).contains(share)));
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    assert_near(mean, 0.2, 5.0 * 0.2 / (12.0 * 1_000.0_f64).sqrt());
}

#[test]
fn a_longer_horizon_and_other_entries_move_nothing() {
    let gap = json!({"weibull": {"shape": 0.7, "scale": "10h"}});
    let entries = renewal(gap.clone(), json!({"exponential": {"mean": "1h"}}));
    let edges = |entries: &Value, hours: u64| -> Vec<(Instant, u16, Conditions)> {
        let weather = weather(entries.clone(), hours);
        let early = weather.edges.iter().filter(|edge| edge.at < minute(60 * 300));
        early.map(|e| (e.at, e.target, weather.conditions[e.conditions as usize].clone())).collect()
    };
    let short = edges(&entries, 300);
    assert!(short.len() > 20);
    assert_eq!(short, edges(&entries, 600));
    let mut more = entries.clone();
    let when = json!({"renewal": {"gap": gap, "lasts": {"constant": "1h"}}});
    let other = entry("other", "b", when, json!("step"), failures(json!("10%")));
    more.as_array_mut().expect("a list").insert(0, other);
    let both: Vec<_> = edges(&more, 300).into_iter().filter(|edge| edge.1 < 2).collect();
    assert_eq!(short, both);
}

#[test]
fn weather_that_makes_no_sense_is_refused() {
    let bad = |entry: Value| {
        let scenario = fleet(json!([entry]), 10_000);
        let until = Instant::ZERO + scenario.file.horizon;
        Weather::build(&scenario, 1, false, until).expect_err("refused").to_string()
    };
    let often = json!({"renewal": {"gap": {"constant": "1ms"}, "lasts": {"constant": "1s"}}});
    assert!(bad(outage(often, json!("step"), json!("1%"))).contains("lengthen `gap`"));
    let often = json!({"flapping": {"from": "0s", "lasts": "9000h", "bad": "1ms", "good": "1ms"}});
    assert!(bad(outage(often, json!("step"), json!("1%"))).contains("bad spells"));
    let mut weightless = outage(json!("always"), json!("step"), json!("1%"));
    weightless["effects"]["failures"]["mix"] = json!([]);
    assert!(bad(weightless).contains("weights"));
}
