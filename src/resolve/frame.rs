//! The scenario as a whole: its name, its times, its sizes.

use std::collections::BTreeMap;

use windtunnel_policy::Duration;
use windtunnel_policy::target::MAX_TARGETS;

use crate::input::{InputError, Place, check_name};
use crate::scenario::{InFlight, LimitModel, LimitUnit, ScenarioFile};

/// No scenario is longer: times then stay far from the end of the clock.
pub(super) const LONGEST: Duration = Duration::from_secs(400 * 86_400);

pub(super) fn check(file: &ScenarioFile, at: &Place<'_>) -> Result<(), InputError> {
    check_name(&file.name, &at.key("name"))?;
    times(file, at)?;
    counts(file, at)?;
    super::blocks::stick(&file.stick, &at.key("stick"))?;
    if let Some(0) = file.gateway.connections {
        return Err(at.path("gateway.connections").error("must be at least 1"));
    }
    if let Some(0) = file.gateway.connections_per_target {
        return Err(at.path("gateway.connections_per_target").error("must be at least 1"));
    }
    if let Some(cap) = &file.gateway.in_flight {
        door(cap, &at.path("gateway.in_flight"))?;
    }
    if let Some(wanted) = &file.reference_target {
        known(wanted, "target", file.targets.keys(), &at.key("reference_target"))?;
    }
    Ok(())
}

fn door(cap: &InFlight, at: &Place<'_>) -> Result<(), InputError> {
    if cap.max == 0 {
        return Err(at
            .key("max")
            .error("must be at least 1")
            .fix("leave `in_flight` out for no limit"));
    }
    if !(400..=599).contains(&cap.status) {
        let message = format!("expected a status from 400 to 599, found {}", cap.status);
        return Err(at.key("status").error(message).fix("429 or 503 are usual"));
    }
    Ok(())
}

/// What is allowed but may surprise.
pub(super) fn notes(file: &ScenarioFile, limits: &[LimitModel]) -> Vec<String> {
    let windowed = limits
        .iter()
        .filter(|limit| !matches!(limit.spec.unit, LimitUnit::Concurrency | LimitUnit::DayQuota));
    let longest = windowed.map(|limit| limit.spec.window).max().unwrap_or(Duration::ZERO);
    if file.warm_up >= longest {
        return Vec::new();
    }
    vec![format!(
        "warm_up {} is shorter than the longest limit window, {longest}: the first measured \
         requests meet limits nobody has used yet",
        file.warm_up
    )]
}

/// Refuses a name that is not among the known ones.
pub(super) fn known<'a>(
    wanted: &str,
    kind: &str,
    names: impl Iterator<Item = &'a String> + Clone,
    at: &Place<'_>,
) -> Result<(), InputError> {
    if names.clone().any(|name| name == wanted) {
        return Ok(());
    }
    let fix = crate::input::did_you_mean(wanted, kind, names.map(String::as_str));
    Err(at.error(format!("no {kind} is called `{wanted}`")).fix(fix))
}

fn times(file: &ScenarioFile, at: &Place<'_>) -> Result<(), InputError> {
    let horizon = at.key("horizon");
    if file.horizon.is_zero() {
        return Err(horizon.error("is zero").fix("nothing can be measured in no time"));
    }
    if file.horizon > LONGEST {
        return Err(horizon.error("is longer than 400d").fix("shorten it"));
    }
    if file.warm_up >= file.horizon {
        let message = format!("{} is not before the horizon, {}", file.warm_up, file.horizon);
        return Err(at.key("warm_up").error(message).fix("nothing would be measured"));
    }
    let interval = at.key("interval");
    if file.interval.is_zero() {
        return Err(interval.error("is zero").fix("leave it out for 60s"));
    }
    if file.horizon.as_micros() / file.interval.as_micros() > 1_000_000 {
        return Err(interval.error("divides the horizon in more than 1000000 parts"));
    }
    Ok(())
}

fn counts(file: &ScenarioFile, at: &Place<'_>) -> Result<(), InputError> {
    names(&file.classes, "route class", 1_000, &at.key("classes"))?;
    names(&file.targets, "target", MAX_TARGETS, &at.key("targets"))
}

fn names<T>(
    entries: &BTreeMap<String, T>,
    kind: &str,
    most: usize,
    at: &Place<'_>,
) -> Result<(), InputError> {
    if entries.is_empty() {
        return Err(at.error(format!("there is no {kind}")).fix("add at least one"));
    }
    if entries.len() > most {
        return Err(at.error(format!("{} are more than {most}", entries.len())));
    }
    entries.keys().try_for_each(|key| check_name(key, &at.key(key)))
}
