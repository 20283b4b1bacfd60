//! Checks of breakers, cooldowns, isolation and ejection.

use alloc::format;

use super::Problems;
use crate::Duration;
use crate::breaker::MAX_RULES;
use crate::config::{Breaker, Cooldown, CooldownRule, KeyPart, Outlier, Policy, Trip};

/// The most outcomes that a window by count keeps.
const MAX_LAST: u32 = 1024;

pub(super) fn check(policy: &Policy, found: &mut Problems) {
    let few = policy.breakers.len() <= MAX_RULES;
    found.check(few, "breakers", "has more than 32 rules", "drop some");
    for (i, rule) in policy.breakers.iter().enumerate() {
        breaker(rule, &format!("breakers[{i}]"), found);
    }
    cooldown(&policy.cooldown, found);
    found.some_time(policy.selection.health_window, "selection.health_window");
    if let Some(rule) = &policy.outlier {
        outlier(rule, found);
    }
}

fn breaker(rule: &Breaker, field: &str, found: &mut Problems) {
    let name = |part: &str| format!("{field}.{part}");
    let fix = "name at least one part of a target";
    found.check(!rule.key.is_empty(), &name("key"), "is empty", fix);
    let twice = |part: &KeyPart| rule.key.iter().filter(|p| *p == part).count();
    let distinct = rule.key.iter().all(|part| twice(part) == 1);
    found.check(distinct, &name("key"), "names a part twice", "name each once");
    let fix = "say what opens it, or remove the breaker";
    found.check(!rule.trip.is_empty(), &name("trip"), "is empty", fix);
    for (i, rule) in rule.trip.iter().enumerate() {
        trip(rule, &format!("{field}.trip[{i}]"), found);
    }
    found.some_time(rule.open_for, &name("open_for"));
    let fix = "use 100 for no growth, or more";
    found.check(rule.growth.percent >= 100, &name("growth.percent"), "is below 100", fix);
    found.check(
        rule.growth.percent == 100 || rule.growth.max >= rule.open_for,
        &name("growth.max"),
        "is shorter than open_for",
        "make it open_for or longer",
    );
    found.at_least_one(rule.probes.concurrent, &name("probes.concurrent"));
    found.at_least_one(rule.probes.successes, &name("probes.successes"));
    if let Some(ramp) = &rule.ramp {
        found.some_time(ramp.over, &name("ramp.over"));
    }
    if let Some(over) = rule.leaves_over {
        found.some_time(over, &name("leaves_over"));
        found.check(
            over <= rule.open_for,
            &name("leaves_over"),
            "is longer than open_for, so that traffic has not left when it may return",
            "make it open_for or shorter",
        );
    }
}

fn trip(trip: &Trip, field: &str, found: &mut Problems) {
    match *trip {
        Trip::Consecutive(failures) => found.at_least_one(failures, field),
        Trip::RateOverCount { failures, last, min_calls } => {
            found.some_share(failures, field);
            let fix = "use 1 to 1024 outcomes";
            found.check((1..=MAX_LAST).contains(&last), field, "keeps 0 or too many", fix);
            found.at_least_one(min_calls, field);
            let fix = "make it last or less";
            found.check(min_calls <= last, field, "asks for more min_calls than last", fix);
        }
        Trip::CountOverTumbling { failures, window } => {
            found.at_least_one(failures, field);
            found.some_time(window, field);
        }
        Trip::RateOverTime { failures: share, window, min_calls }
        | Trip::RateOverTumbling { failures: share, window, min_calls }
        | Trip::SlowCalls { share, window, min_calls, .. } => {
            found.some_share(share, field);
            found.some_time(window, field);
            found.at_least_one(min_calls, field);
        }
    }
}

fn outlier(outlier: &Outlier, found: &mut Problems) {
    found.some_time(outlier.interval, "outlier.interval");
    found.some_share(outlier.max_ejected, "outlier.max_ejected");
    found.some_share(outlier.below_mean, "outlier.below_mean");
    found.some_time(outlier.eject_for, "outlier.eject_for");
    found.at_least_one(outlier.min_calls, "outlier.min_calls");
}

fn cooldown(cooldown: &Cooldown, found: &mut Problems) {
    if let CooldownRule::RetryAfterOr(length) | CooldownRule::Fixed(length) = cooldown.rule {
        let fix = "use a time above 0s, or the rule none or retry_after";
        found.check(length > Duration::ZERO, "cooldown.rule", "cools for no time", fix);
    }
    if cooldown.rule != CooldownRule::None {
        found.some_time(cooldown.max, "cooldown.max");
    }
}
