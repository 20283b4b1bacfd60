//! Weather entries: they hit something, at a possible time, with an effect.

use windtunnel_policy::target::RouteClass;
use windtunnel_policy::{Duration, Share};

use super::blocks::{self, ascending, dist};
use super::card::capabilities;
use super::frame;
use crate::input::{InputError, Place, check_name, did_you_mean, nearest};
use crate::scenario::{
    Domain, Effects, FailureEffect, Range, ScenarioFile, Shape, TargetModel, WeatherSpec, When,
};

/// No scenario has more incidents, counted at their mean.
const MOST_INCIDENTS: f64 = 100_000.0;

pub(super) fn check(
    file: &ScenarioFile,
    targets: &[&TargetModel],
    at: &Place<'_>,
) -> Result<(), InputError> {
    for (i, spec) in file.weather.iter().enumerate() {
        let at = at.key("weather").index(i);
        check_name(&spec.name, &at.key("name"))?;
        if file.weather[..i].iter().any(|earlier| earlier.name == spec.name) {
            let message = format!("another entry is called `{}`", spec.name);
            return Err(at.key("name").error(message).fix("names key the luck: use another"));
        }
        hits(&spec.hits, targets, &at.key("hits"))?;
        when(&spec.when, file.horizon, &at.key("when"))?;
        shape(spec, &at.key("shape"))?;
        effects(&spec.effects, &at.key("effects"))?;
    }
    Ok(())
}

/// Refuses failures of capabilities together that no class requires.
pub(super) fn check_required(
    file: &ScenarioFile,
    classes: &[RouteClass],
    at: &Place<'_>,
) -> Result<(), InputError> {
    for (i, spec) in file.weather.iter().enumerate() {
        let Some(failures) = &spec.effects.failures else { continue };
        let names = &failures.where_required;
        let at = at.key("weather").index(i).key("effects").key("failures").key("where_required");
        let wanted = capabilities(names, &at)?;
        if !classes.iter().any(|class| class.required.covers(wanted)) {
            let message = format!("no class requires {}: nothing would fail", names.join(" and "));
            return Err(at.error(message).fix(what_classes_require(file, names)));
        }
    }
    Ok(())
}

/// What to tell who named capabilities that no class requires together.
fn what_classes_require(file: &ScenarioFile, names: &[String]) -> String {
    let required: Vec<(&String, &[String])> = (file.classes.iter())
        .map(|(name, class)| (name, class.required.as_slice()))
        .filter(|(_, required)| !required.is_empty())
        .collect();
    if required.is_empty() {
        return "no class here requires anything: say so by `required` of a class".into();
    }
    let known = || required.iter().flat_map(|(_, required)| *required).map(String::as_str);
    let missing = names.iter().find(|name| !known().any(|one| one == name.as_str()));
    let meant = missing.and_then(|name| nearest(name, known()));
    let meant = meant.map_or(String::new(), |name| format!("did you mean `{name}`? "));
    let of_class =
        |(name, required): &(&String, &[String])| format!("`{name}` {}", required.join(", "));
    let all: Vec<String> = required.iter().map(of_class).collect();
    format!("{meant}`required` of the classes says: {}", all.join("; "))
}

/// One part of a failure domain: its field, the wanted value, and a target's.
type Part<'a> = (&'static str, &'a Option<String>, fn(&TargetModel) -> &String);

pub(super) fn hits(
    domain: &Domain,
    targets: &[&TargetModel],
    at: &Place<'_>,
) -> Result<(), InputError> {
    let parts: [Part<'_>; 6] = [
        ("provider", &domain.provider, |t| &t.provider),
        ("model", &domain.model, |t| &t.model),
        ("region", &domain.region, |t| &t.region),
        ("deployment", &domain.deployment, |t| &t.deployment),
        ("account", &domain.account, |t| &t.account),
        ("target", &domain.target, |t| &t.name),
    ];
    if parts.iter().all(|(_, wanted, _)| wanted.is_none()) {
        let fix = "name a provider, model, region, deployment, account or target";
        return Err(at.error("says nothing about where").fix(fix));
    }
    for (kind, wanted, of) in parts {
        let Some(wanted) = wanted else { continue };
        if !targets.iter().any(|target| of(target) == wanted) {
            let mut known: Vec<&str> = targets.iter().map(|target| of(target).as_str()).collect();
            known.sort_unstable();
            known.dedup();
            let message = format!("no target has the {kind} `{wanted}`");
            return Err(at.key(kind).error(message).fix(did_you_mean(wanted, kind, known)));
        }
    }
    let agrees = |target: &&TargetModel| {
        parts.iter().all(|(_, wanted, of)| wanted.as_ref().is_none_or(|w| of(target) == w))
    };
    if targets.iter().any(agrees) {
        return Ok(());
    }
    Err(at.error("no target agrees in all of this").fix("leave a part out"))
}

fn when(when: &When, horizon: Duration, at: &Place<'_>) -> Result<(), InputError> {
    match when {
        When::Always => Ok(()),
        When::Window { from, lasts } => window(from, lasts, horizon, &at.key("window")),
        When::Renewal { gap, lasts } => {
            let at = at.key("renewal");
            let mean = dist(gap, &at.key("gap"))?.mean();
            dist(lasts, &at.key("lasts"))?;
            if horizon.as_micros() as f64 > MOST_INCIDENTS * mean {
                return Err(at.key("gap").error("makes more than 100000 incidents"));
            }
            Ok(())
        }
        When::Flapping { from, lasts, bad, good } => {
            let at = at.key("flapping");
            window(from, lasts, horizon, &at)?;
            for (key, spell) in [("bad", bad), ("good", good)] {
                if spell.is_zero() {
                    return Err(at.key(key).error("is zero").fix("use a `window` instead"));
                }
            }
            let turn = *bad + *good;
            if lasts.to.as_micros() as f64 > MOST_INCIDENTS * turn.as_micros() as f64 {
                return Err(at.key("bad").error("turns more than 100000 times"));
            }
            Ok(())
        }
    }
}

pub(super) fn window(
    from: &Range<Duration>,
    lasts: &Range<Duration>,
    horizon: Duration,
    at: &Place<'_>,
) -> Result<(), InputError> {
    if from.from >= horizon {
        let message = format!("{} is not before the horizon, {horizon}", from.from);
        return Err(at.key("from").error(message).fix("nothing would happen"));
    }
    if lasts.from.is_zero() {
        return Err(at.key("lasts").error("is zero").fix("nothing would happen"));
    }
    for (key, range) in [("from", from), ("lasts", lasts)] {
        if range.to > frame::LONGEST {
            return Err(at.key(key).error("is longer than 400d"));
        }
    }
    Ok(())
}

fn shape(spec: &WeatherSpec, at: &Place<'_>) -> Result<(), InputError> {
    // Only these say how long an incident lasts before it is drawn.
    let shortest = match &spec.when {
        When::Window { lasts, .. } => Some(lasts.from),
        _ => None,
    };
    match &spec.shape {
        Shape::Step => Ok(()),
        Shape::Ramp { up, down } => {
            let slopes = *up + *down;
            if shortest.is_some_and(|shortest| slopes > shortest) || slopes > frame::LONGEST {
                let message = format!("up and down take {slopes}, longer than the incident");
                return Err(at.key("ramp").error(message));
            }
            Ok(())
        }
        Shape::Course { points, .. } => {
            let at = at.key("course").key("points");
            if points.is_empty() {
                return Err(at.error("is empty").fix("add points such as `[0s, 20%]`"));
            }
            if !points[0].0.is_zero() {
                return Err(at.index(0).error("does not start at 0s").fix("start with `[0s, …]`"));
            }
            ascending(points, |(from, _)| *from, &at)?;
            let last = points[points.len() - 1].0;
            if last > frame::LONGEST || shortest.is_some_and(|shortest| last > shortest) {
                let message = format!("{last} is after the incident's end");
                return Err(at.index(points.len() - 1).error(message));
            }
            if points.iter().all(|(_, severity)| *severity == Share::ZERO) {
                return Err(at.error("every severity is zero").fix("nothing would happen"));
            }
            Ok(())
        }
    }
}

fn effects(effects: &Effects, at: &Place<'_>) -> Result<(), InputError> {
    if *effects == Effects::default() {
        return Err(at.error("has no effect").fix("add `failures`, `speed`, `capacity` …"));
    }
    if let Some(failures) = &effects.failures {
        let at = at.key("failures");
        capabilities(&failures.where_required, &at.key("where_required"))?;
        mix(failures, &at)?;
    }
    Ok(())
}

fn mix(effect: &FailureEffect, at: &Place<'_>) -> Result<(), InputError> {
    if effect.share.to == Share::ZERO {
        return Err(at.key("share").error("is zero").fix("nothing would fail"));
    }
    if let Some(stick) = &effect.stick {
        blocks::stick(stick, &at.key("stick"))?;
    }
    let at = at.key("mix");
    for (i, entry) in effect.mix.iter().enumerate() {
        let at = at.index(i);
        blocks::status(entry.status, entry.phase, &at.key("status"))?;
        blocks::hint(entry.retry_after, entry.hang, &at)?;
        if let Some(takes) = &entry.takes {
            if entry.hang {
                return Err(at.key("takes").error("what is never answered takes no time to fail"));
            }
            dist(takes, &at.key("takes"))?;
        }
    }
    let weights: u64 = effect.mix.iter().map(|entry| u64::from(entry.weight)).sum();
    if weights == 0 {
        return Err(at.error("no entry has a weight").fix("give at least one a weight of 1"));
    }
    Ok(())
}
