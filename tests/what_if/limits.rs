//! A rate limit is recovered from the refusals in a log, and refusals that are weather are no limit.

use windtunnel::report::RowFormat;
use windtunnel::scenario::{
    Charge, LimitScope, LimitSpec, LimitUnit, Refill, RetryAfterForm, Scenario, Settlement,
    WeatherSpec,
};
use windtunnel_policy::{Duration, Share};

use crate::worlds::{CARD, fitted, known, ledger, policy, written};

/// Forty minutes; from 10:00 to 25:00 twice as many requests come, and weather.
pub(crate) const SCENARIO: &str = r"
name: hidden
shows: x
expect: x
horizon: 40m
classes:
  chat:
    deadline: {total: 30s}
    groups: {primary: [first], fallbacks: [[second]]}
    traffic:
      arrivals: {steps: {steps: [{from: 0s, rate: 3/s}, {from: 10m, rate: 6/s}, {from: 25m, rate: 3/s}]}}
      tokens:
        input: {lognormal: {median: 900, sigma: 0.8}}
        output: {lognormal: {median: 120, sigma: 0.6}}
        max_output: 1024
targets:
  first: {card: card.yaml, limits: LIMITS}
  second: {card: card.yaml}
weather: WEATHER
";

/// The fit to the log of a run under `rules`: its text and the world.
fn fit_of(limits: &str, weather: &str, rules: &str) -> (String, Scenario) {
    fit_with(CARD, limits, weather, rules)
}

fn fit_with(card: &str, limits: &str, weather: &str, rules: &str) -> (String, Scenario) {
    let scenario = SCENARIO.replace("LIMITS", limits).replace("WEATHER", weather);
    let hidden = known(&[("hidden.yaml", &scenario), ("card.yaml", card)]);
    let log = ledger(&hidden.scenario, &policy(rules), 7, 1, RowFormat::Csv);
    let (read, evidence, fit) = fitted(&log, false);
    (fit.text(&read), written(&fit, &evidence, hidden.folder.path()))
}

fn limits(scenario: &Scenario) -> Vec<LimitSpec> {
    let first = scenario.targets.iter().find(|t| t.name == "first").expect("the log names it");
    first.limits.iter().map(|at| scenario.limits[usize::from(*at)].spec.clone()).collect()
}

/// The limit that is found where there is this one, its size as it was if that is within its bounds.
fn recovered(spec: &str, rules: &str) -> LimitSpec {
    let (text, world) = fit_of(&format!("[{{scope: deployment, {spec}}}]"), "[]", rules);
    let [found] = &limits(&world)[..] else { panic!("{spec} under {rules}: {text}") };
    let truth: u64 = spec
        .split("limit: ")
        .nth(1)
        .and_then(|s| s.split(',').next()?.parse().ok())
        .expect("the limit is named");
    let line =
        text.lines().find(|line| line.trim_start().starts_with("limit ")).expect("it is told");
    let edge = |word: usize| -> u64 {
        let bounds = line.split("; ").nth(1).expect("it has bounds");
        bounds.split(' ').nth(word).and_then(|n| n.parse().ok()).expect("a number")
    };
    let (low, high) = (edge(0), edge(2));
    assert!(low <= truth && truth <= high, "{spec} under {rules}: {line}");
    // One more or less of the limit changes what it does to some attempt: only rounding to steps of
    // 1/3200 either way, and refusals by chance of what else fails, are left.
    let most = f64::max(2.0, truth as f64 / 100.0);
    assert!((high - low) as f64 <= most, "{spec} under {rules}: {line}");
    // It leaves nothing to weather.
    let failing = world.file.weather.iter().filter(|entry| entry.effects.failures.is_some());
    assert_eq!(failing.count(), 0, "{spec} under {rules}: {text}");
    LimitSpec { limit: truth, ..found.clone() }
}

/// A limit by the minute that comes back continuously.
fn spec(unit: LimitUnit, limit: u64, retry_after: RetryAfterForm) -> LimitSpec {
    LimitSpec {
        scope: LimitScope::Deployment,
        unit,
        limit,
        window: Duration::from_secs(60),
        refill: Refill::Continuous,
        charge: Charge::Prompt,
        settlement: Settlement::None,
        retry_after,
        charge_refused: false,
        background: Share::ZERO,
    }
}

#[test]
fn a_limit_is_recovered_with_its_unit_window_and_hints() {
    use LimitUnit::{InputTokens, Requests, TotalTokens};
    let whole = RetryAfterForm::WholeSeconds;
    for rules in ["conservative", "sdk-default"] {
        let found = recovered("unit: requests, limit: 240, retry_after: whole_seconds", rules);
        assert_eq!(found, spec(Requests, 240, whole), "{rules}");
    }
    let found = recovered(
        "unit: requests, limit: 40, window: 10s, refill: window, retry_after: exact",
        "conservative",
    );
    let windowed = spec(Requests, 40, RetryAfterForm::Exact);
    let windowed =
        LimitSpec { window: Duration::from_secs(10), refill: Refill::Window, ..windowed };
    assert_eq!(found, windowed);
    let found = recovered("unit: requests, limit: 240, charge_refused: true", "fast-failover");
    // That policy fails over at once: no hint is ever waited for, and none is in the log.
    let counted = spec(Requests, 240, RetryAfterForm::None);
    assert_eq!(found, LimitSpec { charge_refused: true, ..counted });
    let found = recovered("unit: input_tokens, limit: 300000, retry_after: none", "conservative");
    assert_eq!(found, spec(InputTokens, 300_000, RetryAfterForm::None));
    let found =
        recovered("unit: total_tokens, limit: 350000, retry_after: {fixed: 2s}", "conservative");
    let fixed = RetryAfterForm::Fixed(Duration::from_secs(2));
    assert_eq!(found, spec(TotalTokens, 350_000, fixed));
    // Callers allow 1,024 tokens.
    let found = recovered(
        "unit: total_tokens, limit: 600000, charge: prompt_and_max, retry_after: whole_seconds",
        "conservative",
    );
    let allowed = spec(TotalTokens, 600_000, whole);
    assert_eq!(found, LimitSpec { charge: Charge::PromptAndMax, ..allowed });
}

#[test]
fn refusals_that_are_weather_are_no_limit() {
    // They come at the busiest time, and retries make it busier.
    for (rules, share) in [
        ("conservative", "30%"),
        ("sdk-default", "2%"),
        ("sdk-default", "95%"),
        ("sdk-default", "100%"),
    ] {
        let mix = "{class: rate_limited, status: 429, weight: 1, retry_after: 10s}";
        let weather = format!(
            "[{{name: w, hits: {{target: first}}, when: {{window: {{from: 12m, lasts: 10m}}}}, \
             effects: {{failures: {{share: {share}, mix: [{mix}]}}}}}}]"
        );
        let (text, world) = fit_of("[]", &weather, rules);
        assert_eq!(limits(&world), [], "{share} under {rules}: {text}");
        assert!(
            text.contains("no limit of this target alone on what was sent explains them"),
            "{text}"
        );
        let refused = |entry: &WeatherSpec| {
            let failures = entry.effects.failures.as_ref();
            failures.is_some_and(|f| f.mix.iter().any(|kind| kind.status == 429))
        };
        assert!(world.file.weather.iter().any(refused), "{text}");
    }
}

#[test]
fn where_nothing_is_refused_the_busiest_minute_bounds_any_limit() {
    let (text, world) = fit_of("[]", "[]", "conservative");
    assert_eq!(limits(&world), []);
    assert!(text.contains("first: nothing was refused for its rate; the busiest minute let in"));
}

/// Six requests a second of some two seconds each are twelve in flight; nine places are too few, a hundred
/// are enough.
#[test]
fn places_are_recovered_where_they_ran_out() {
    for rules in ["conservative", "naive-retry"] {
        let slots = |count: &str| CARD.replace("slots: 4000", &format!("slots: {count}"));
        let (text, world) = fit_with(&slots("9"), "[]", "[]", rules);
        let first = world.targets.iter().find(|t| t.name == "first").expect("the log names it");
        assert!(first.capacity.slots.abs_diff(9) <= 1, "{rules}: {text}");
        assert!(text.contains("first: it refuses for overload beyond"), "{text}");

        let (text, world) = fit_with(&slots("100"), "[]", "[]", rules);
        let first = world.targets.iter().find(|t| t.name == "first").expect("the log names it");
        assert_eq!(first.capacity.slots, 1_024, "{text}");
        assert!(text.contains("first: capacity is at least the"), "{text}");
    }
    // Overload that comes whatever the load is weather.
    let weather = "[{name: w, hits: {target: first}, when: {window: {from: 12m, lasts: 10m}}, \
                   effects: {failures: {share: 40%, mix: [{class: overloaded, status: 503, weight: 1}]}}}]";
    let (text, world) = fit_of("[]", weather, "naive-retry");
    let first = world.targets.iter().find(|t| t.name == "first").expect("the log names it");
    assert_eq!(first.capacity.slots, 1_024, "{text}");
    assert!(world.file.weather.iter().any(|entry| entry.effects.failures.is_some()), "{text}");
}
