//! Breakers that never open.

use windtunnel_policy::Duration;
use windtunnel_policy::config::{Blame, Trip};
use windtunnel_policy::outcome::FailureClass;

use super::Warnings;
use crate::scenario::Scenario;

/// Whatever the traffic.
pub(super) fn check(warnings: &mut Warnings<'_>) {
    let policy = warnings.policy;
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
    let requests: f64 = scenario.classes.iter().map(|class| class.expected).sum();
    // No target can get more than every attempt of every request.
    let per_second = requests * f64::from(policy.attempts.max) / seconds(horizon);
    // What is too rare for one of several rules, another may see.
    let rarest = |trip: &Trip| match trip {
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
        let rare: Option<Vec<_>> = breaker.trip.iter().map(rarest).collect();
        for (j, (min_calls, window, most)) in rare.into_iter().flatten().enumerate() {
            let message = format!(
                "needs {min_calls} outcomes in {window}, and in {} even all attempts together are \
                 {most:.1} on average: it hardly ever opens",
                scenario.file.name
            );
            let fix = "lower what it needs, or lengthen the window";
            warnings.add(&format!("breakers[{i}].trip[{j}]"), message, fix);
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
