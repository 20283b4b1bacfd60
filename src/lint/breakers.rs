//! Breakers that never open, or not as their fields say.

use windtunnel_policy::Duration;
use windtunnel_policy::config::{AfterOpen, Blame, Breaker, KeyPart, Probes, Trip};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::{Capabilities, RouteClass};

use super::Warnings;
use crate::scenario::Scenario;

/// Whatever the traffic.
pub(super) fn check(warnings: &mut Warnings<'_>) {
    let policy = warnings.policy;
    for (i, breaker) in policy.breakers.iter().enumerate() {
        if breaker.key.iter().all(|part| *part == KeyPart::Capability) {
            let message = "names no part of a target: one breaker stands for all targets, and where it \
                           opens there is none to fail over to";
            let fix = "add `provider`, `model` or another part";
            warnings.add(&format!("breakers[{i}].key"), message.to_owned(), fix);
        }
        if breaker.after_open == AfterOpen::Close && breaker.probes != Probes::default() {
            let message = "is never used: after_open closes it without a probe".to_owned();
            let fix = "leave it out, or let it be half_open";
            warnings.add(&format!("breakers[{i}].probes"), message, fix);
        }
    }
    let blamed = |blame: Blame| {
        FailureClass::ALL.into_iter().any(|class| policy.matrix.row(class).blame == blame)
    };
    if blamed(Blame::Breaker) {
        return;
    }
    for (i, breaker) in policy.breakers.iter().enumerate() {
        for (j, trip) in breaker.trip.iter().enumerate() {
            if !matches!(trip, Trip::SlowCalls { .. }) {
                let message =
                    "never opens: no failure class of the matrix blames a breaker".to_owned();
                let fix = "set blame: breaker where it should count, or remove it";
                warnings.add(&format!("breakers[{i}].trip[{j}]"), message, fix);
            }
        }
    }
}

/// At the traffic of a scenario.
pub(super) fn check_traffic(warnings: &mut Warnings<'_>, scenario: &Scenario) {
    let policy = warnings.policy;
    let horizon = scenario.file.horizon;
    let seconds = |d: Duration| d.as_micros() as f64 / 1e6;
    // No breaker can get more than every attempt of every request it is about.
    let most_per_second = |breaker: &Breaker| {
        let requests = most_of_one_breaker(breaker, scenario);
        requests * f64::from(policy.attempts.max) / seconds(horizon)
    };
    // What is too rare for one of several rules, another may see.
    let rarest = |trip: &Trip, per_second: f64| match trip {
        Trip::RateOverTime { window, min_calls, .. }
        | Trip::RateOverTumbling { window, min_calls, .. }
        | Trip::SlowCalls { window, min_calls, .. } => {
            let most = per_second * seconds(*window);
            (most < f64::from(*min_calls)).then_some((*min_calls, *window, most))
        }
        Trip::CountOverTumbling { failures, window } => {
            let most = per_second * seconds(*window);
            (most < f64::from(*failures)).then_some((*failures, *window, most))
        }
        Trip::Consecutive(_) | Trip::RateOverCount { .. } => None,
    };
    for (i, breaker) in policy.breakers.iter().enumerate() {
        let per_second = most_per_second(breaker);
        let rare = breaker.trip.iter().map(|trip| rarest(trip, per_second));
        let rare: Option<Vec<_>> = rare.collect();
        let by_capability = breaker.key.contains(&KeyPart::Capability);
        let whose = if by_capability { "of classes that require the same " } else { "" };
        for (j, (min_calls, window, most)) in rare.into_iter().flatten().enumerate() {
            let message = format!(
                "needs {min_calls} outcomes in {window}, and in {} even all attempts {whose}together \
                 are {most:.1} on average: it hardly ever opens",
                scenario.file.name
            );
            let fix = "lower what it needs, or lengthen the window";
            warnings.add(&format!("breakers[{i}].trip[{j}]"), message, fix);
        }
        if by_capability && tells_none_apart(scenario) {
            let message = format!(
                "tells nothing apart by capability: every class of {} requires the same",
                scenario.file.name
            );
            warnings.add(&format!("breakers[{i}].key"), message, "leave `capability` out");
        }
        if breaker.open_for >= horizon {
            let message = format!(
                "{} is all of {}, {horizon}: what opens stays open to the end",
                breaker.open_for, scenario.file.name
            );
            warnings.add(&format!("breakers[{i}].open_for"), message, "shorten it");
        }
    }
}

/// The requests of a scenario that one breaker of this rule can be about, at most.
fn most_of_one_breaker(breaker: &Breaker, scenario: &Scenario) -> f64 {
    let facts = &scenario.topology.classes;
    let together = |required: Option<Capabilities>| -> f64 {
        let classes = scenario.classes.iter().zip(facts);
        let own = classes.filter(|(_, facts)| required.is_none_or(|set| facts.required == set));
        own.map(|(class, _)| class.expected).sum()
    };
    match breaker.key.contains(&KeyPart::Capability) {
        true => facts.iter().map(|class| together(Some(class.required))).fold(0.0, f64::max),
        false => together(None),
    }
}

fn tells_none_apart(scenario: &Scenario) -> bool {
    let required = |class: &RouteClass| class.required;
    scenario.topology.classes.windows(2).all(|two| required(&two[0]) == required(&two[1]))
}
