//! How load slows a target comes back from the log of a run, and what is slow for another reason is not taken
//! for load.

use windtunnel::report::RowFormat;
use windtunnel::scenario::{Scenario, SpeedByLoad, TargetModel};

use crate::worlds::{CARD, fitted, known, ledger, policy, written};

/// Forty minutes of ten requests a second.
const SCENARIO: &str = r"
name: hidden
shows: x
expect: x
horizon: 40m
classes:
  chat:
    deadline: {total: 60s}
    groups: {primary: [first], fallbacks: [[second]]}
    traffic:
      arrivals: {poisson: 10/s}
      tokens:
        input: {lognormal: {median: 900, sigma: 0.8}}
        output: {lognormal: {median: 120, sigma: 0.6}}
        max_output: 1024
targets:
  first: {card: card.yaml}
  second: {card: card.yaml}
";

/// Half as fast every other two minutes, so that at those times about twice as much is in flight.
const SLOW: &str = r"
weather:
  - name: slow
    hits: {target: first}
    when: {window: {from: 0s, lasts: 40m}}
    shape: {course: {points: [[0s, 0%], [2m, 100%], [4m, 0%], [6m, 100%], [8m, 0%], [10m, 100%], [12m, 0%], [14m, 100%], [16m, 0%], [18m, 100%], [20m, 0%]]}}
    effects: {speed: 0.5}
";

/// The text of the fit, and its scenario.
fn fit(scenario: &str, card: &str) -> (String, Scenario) {
    let hidden = known(&[("hidden.yaml", scenario), ("card.yaml", card)]);
    let log = ledger(&hidden.scenario, &policy("conservative"), 7, 1, RowFormat::Csv);
    let (read, evidence, fit) = fitted(&log, false);
    let scenario = written(&fit, &evidence, hidden.folder.path());
    (fit.text(&read), scenario)
}

fn first(scenario: &Scenario) -> &TargetModel {
    scenario.targets.iter().find(|target| target.name == "first").expect("the log names it")
}

#[test]
fn a_slowing_by_load_is_recovered() {
    let slots = "capacity: {source: made, slots: 4000}";
    let card = CARD.replace(slots, &slots.replace("4000", "4000, speed_by_load: {half_at: 40}"));
    let (text, scenario) = fit(SCENARIO, &card);
    let target = first(&scenario);
    let SpeedByLoad::HalfAt(half_at) = target.capacity.speed_by_load else { panic!("{text}") };
    // Seventeen would be in flight at full speed, about thirty are. With n of them the logarithm of a time
    // grows by 1 / (40 + n) for each more, 0.0143. Its error: times vary by 0.35, and numbers within twenty
    // seconds by a variance of fifteen at least, half of a Poisson number's; 24,000 times tell 0.00058, which is
    // 4 % of it and of 40 + n, or 2.9.
    assert!((f64::from(half_at) - 40.0).abs() < 4.0 * 2.9, "{half_at}\n{text}");
    assert!(text.contains("half as fast with"), "{text}");
    // Times are those of an attempt alone: 1 + n / 40 times shorter than they were seen, which is known to 3 %.
    let mean_prompt = 900.0 * (0.8_f64 * 0.8 / 2.0).exp();
    let alone = 0.6 + 50e-6 * (mean_prompt - 900.0);
    let median = target.latency.first_token.sample(u64::MAX / 2) as f64 / 1e6;
    assert!((median / alone - 1.0).abs() < 4.0 * 0.03 + 0.032, "{median} is not {alone}");
    let pace = target.latency.per_output_token.sample(u64::MAX / 2) as f64 / 1e3;
    assert!((pace / 8.0 - 1.0).abs() < 4.0 * 0.03 + 0.016, "{pace}");
}

#[test]
fn what_is_slow_for_another_reason_is_weather() {
    let (text, scenario) = fit(&format!("{SCENARIO}{SLOW}"), CARD);
    assert_eq!(first(&scenario).capacity.speed_by_load, SpeedByLoad::Flat, "{text}");
    assert!(text.contains("none is clear in"), "{text}");
    let slow = scenario.file.weather.iter().filter(|entry| entry.effects.speed.is_some()).count();
    assert!(slow > 0, "{text}");
}
