//! Traffic: rates and shares that make sense, and recorded arrivals loaded.

use std::sync::Arc;

use windtunnel_policy::{Duration, Share};

use super::blocks::{ascending, between, dist};
use super::frame::LONGEST;
use crate::dist::Dist;
use crate::input::{InputError, Place, SourceFile};
use crate::library::{Kind, find_beside};
use crate::profile::Profile;
use crate::scenario::{
    Arrivals, DistSpec, Factor, ProfileUse, Rate, RateStep, Recorded, ScenarioFile, TokenSpec,
    TraceUse, Traffic,
};
use crate::trace::{Trace, read_trace};

/// Requests a scenario may be expected to make: more would not fit in memory.
const MOST_REQUESTS: f64 = 50e6;
/// The most a profile is scaled by.
const MOST_LAYERS: f64 = 1_000.0;
/// A closed loop's users think at least this long on average, so that it cannot spin.
const SHORTEST_THINK: Duration = Duration::from_millis(1);

/// One class's traffic, as far as it is known before a world is made.
pub(super) struct Load {
    /// Arrivals from a file.
    pub(super) recorded: Option<Recorded>,
    /// Prompt lengths, where the scenario states them.
    pub(super) input: Option<Dist>,
    /// Answer lengths, where the scenario states them.
    pub(super) output: Option<Dist>,
    /// Hash material of what was read from a file.
    pub(super) digest: Option<Vec<u8>>,
    /// What whoever runs it should know.
    pub(super) notes: Vec<String>,
    /// Requests to expect within the horizon.
    pub(super) expected: f64,
}

/// Checks and loads the traffic of all classes, in the order of their names.
pub(super) fn load(
    file: &ScenarioFile,
    source: &SourceFile,
    at: &Place<'_>,
) -> Result<Vec<Load>, InputError> {
    let mut loads = Vec::new();
    let mut expected = 0.0;
    for (name, class) in &file.classes {
        let at = at.key("classes").key(name).key("traffic");
        let load = one(&class.traffic, file.horizon, source, &at)?;
        expected += load.expected;
        if expected > MOST_REQUESTS {
            let message = format!("makes the scenario {expected:.0} requests long");
            let fix = "at most 50000000 fit: lower the rate or the horizon";
            return Err(at.key("arrivals").error(message).fix(fix));
        }
        loads.push(load);
    }
    Ok(loads)
}

fn one(
    traffic: &Traffic,
    horizon: Duration,
    source: &SourceFile,
    at: &Place<'_>,
) -> Result<Load, InputError> {
    let special = [traffic.invalid, traffic.refusals, traffic.content_policy];
    let sum: u128 = special.iter().map(|share| u128::from(share.as_bits())).sum();
    if sum > u128::from(Share::ONE.as_bits()) {
        let message = "invalid, refusals and content_policy add up to more than 100%";
        return Err(at.key("invalid").error(message));
    }
    if let Some(patience) = &traffic.patience {
        dist(patience, &at.key("patience"))?;
    }
    match &traffic.cancels_after {
        Some(after) => drop(dist(after, &at.key("cancels_after"))?),
        None if traffic.caller_cancels == Share::ZERO => {}
        None => {
            let message = "callers cancel, but `cancels_after` does not say when";
            return Err(at.key("caller_cancels").error(message).fix("add `cancels_after: …`"));
        }
    }
    let has_sessions = matches!(
        traffic.arrivals,
        Arrivals::Profile(_) | Arrivals::Trace(_) | Arrivals::ClosedLoop { .. }
    );
    if traffic.shared_prefix > Share::ZERO && !has_sessions {
        let fix = "use a closed_loop, a profile or a trace";
        let message = "these arrivals belong to no sessions: nobody had the prefix before";
        return Err(at.key("shared_prefix").error(message).fix(fix));
    }
    let mut load = arrivals(&traffic.arrivals, horizon, source, &at.key("arrivals"))?;
    let none = TokenSpec { input: None, output: None, max_output: None };
    let tokens = traffic.tokens.as_ref().unwrap_or(&none);
    let at = at.key("tokens");
    for (key, spec, table) in
        [("input", &tokens.input, &mut load.input), ("output", &tokens.output, &mut load.output)]
    {
        match spec {
            Some(spec) => *table = Some(dist(spec, &at.key(key))?),
            None if load.recorded.is_some() => {}
            None => {
                let message = "these arrivals bring no token counts with them";
                return Err(at
                    .key(key)
                    .error(message)
                    .fix(format!("add `{key}: {{constant: 500}}`")));
            }
        }
    }
    if tokens.max_output.is_some_and(|most| most.get() == 0) {
        return Err(at.key("max_output").error("must be at least 1"));
    }
    Ok(load)
}

fn arrivals(
    arrivals: &Arrivals,
    horizon: Duration,
    source: &SourceFile,
    at: &Place<'_>,
) -> Result<Load, InputError> {
    let seconds = in_seconds(horizon);
    match arrivals {
        Arrivals::Poisson(rate) => Ok(Load::drawn(seconds * positive(*rate, &at.key("poisson"))?)),
        Arrivals::Gamma { rate, cv } => {
            let at = at.key("gamma");
            // The gamma table covers shapes from 0.001: a cv of 31.
            if !(0.01..=30.0).contains(&cv.get()) {
                return Err(at.key("cv").error("expected a number from 0.01 to 30"));
            }
            Ok(Load::drawn(seconds * positive(*rate, &at.key("rate"))?))
        }
        Arrivals::OnOff { rate, on, off } => {
            let at = at.key("on_off");
            for (key, spell) in [("on", *on), ("off", *off)] {
                between(spell.as_micros(), 1_000, LONGEST.as_micros(), &at.key(key)).map_err(
                    |_| at.key(key).error(format!("expected from 1ms to 400d, found {spell}")),
                )?;
            }
            let busy = in_seconds(*on) / (in_seconds(*on) + in_seconds(*off));
            Ok(Load::drawn(seconds * busy * positive(*rate, &at.key("rate"))?))
        }
        Arrivals::Steps { steps, every } => {
            let mean = mean_rate(steps, *every, horizon, &at.key("steps"))?;
            Ok(Load::drawn(seconds * mean))
        }
        Arrivals::Profile(used) => profile(used, horizon, source, &at.key("profile")),
        Arrivals::Trace(used) => trace(used, horizon, source, &at.key("trace")),
        Arrivals::ClosedLoop { users, think } => {
            let at = at.key("closed_loop");
            between(u64::from(*users), 1, 1_000_000, &at.key("users"))?;
            Ok(Load::drawn(f64::from(*users) * seconds / mean_think(think, &at.key("think"))?))
        }
    }
}

/// Mean events per second over the horizon.
fn mean_rate(
    steps: &[RateStep],
    every: Option<Duration>,
    horizon: Duration,
    at: &Place<'_>,
) -> Result<f64, InputError> {
    let list = at.key("steps");
    if steps.first().is_none_or(|step| !step.from.is_zero()) {
        return Err(list.error("does not start at 0s").fix("add `{from: 0s, rate: …}` first"));
    }
    ascending(steps, |step| step.from, &list)?;
    if steps.iter().all(|step| step.rate == Rate::default()) {
        return Err(list.error("every rate is zero: no request would ever come"));
    }
    let last = steps[steps.len() - 1].from;
    if every.is_some_and(|every| every <= last) {
        let message = format!("is not after the last step, {last}");
        return Err(at.key("every").error(message));
    }
    let period = every.unwrap_or(horizon.max(last + Duration::from_micros(1)));
    if horizon.as_micros() / period.as_micros() > 1_000_000 {
        return Err(at.key("every").error("repeats more than 1000000 times within the horizon"));
    }
    let ends = steps.iter().skip(1).map(|step| step.from).chain([period]);
    let spans = steps.iter().zip(ends);
    let total: f64 = spans
        .map(|(step, end)| step.rate.per_second() * in_seconds(end.saturating_sub(step.from)))
        .sum();
    Ok(total / in_seconds(period))
}

fn mean_think(think: &DistSpec<Duration>, at: &Place<'_>) -> Result<f64, InputError> {
    let mean = dist(think, at)?.mean();
    if mean < SHORTEST_THINK.as_micros() as f64 {
        let message = format!("the mean is below {SHORTEST_THINK}");
        return Err(at.error(message).fix("users that do not think would ask without end"));
    }
    Ok(mean / 1e6)
}

fn profile(
    used: &ProfileUse,
    horizon: Duration,
    source: &SourceFile,
    at: &Place<'_>,
) -> Result<Load, InputError> {
    let file =
        find_beside(Kind::Profile, &used.file, source).map_err(|e| at.key("file").adopt(e))?;
    let profile = Profile::read(&file)?;
    let span = Duration::from_secs(profile.seconds());
    covers(span, used.tile, horizon, &at.key("file"))?;
    let scale = used.scale.unwrap_or(Factor::ONE).get();
    if scale > MOST_LAYERS {
        return Err(at.key("scale").error(format!("is above {MOST_LAYERS}")));
    }
    let requests = profile.requests() as f64 * scale;
    Ok(Load {
        expected: requests * in_seconds(horizon) / in_seconds(span),
        recorded: Some(Recorded::Profile(Arc::new(profile))),
        digest: Some(file.text.into_bytes()),
        ..Load::drawn(0.0)
    })
}

fn trace(
    used: &TraceUse,
    horizon: Duration,
    source: &SourceFile,
    at: &Place<'_>,
) -> Result<Load, InputError> {
    let Some(folder) = &source.folder else {
        let message = "a shipped scenario has no folder to find a trace in";
        return Err(at.key("file").error(message).fix("copy the scenario to a file of your own"));
    };
    let trace =
        read_trace(&folder.join(&used.file), &used.layout).map_err(|e| at.key("file").adopt(e))?;
    if used.absolute {
        return as_recorded(trace, used, horizon, at);
    }
    let scale = used.scale.unwrap_or(Factor::ONE).get();
    // A trace stands for the time to its last row and one mean gap more, so that repeating it
    // keeps the rate.
    let last = trace.rows[trace.rows.len() - 1].at.as_micros();
    let gaps = trace.rows.len() as u64 - 1;
    let period = if gaps == 0 { 0 } else { last + last.div_ceil(gaps) };
    let span = Duration::from_micros((period as f64 / scale) as u64);
    if period > 0 && span.is_zero() {
        let message = format!("times divided by {scale} leave the trace no time");
        return Err(at.key("scale").error(message).fix("lower it; 1 keeps the times as they are"));
    }
    covers(span, used.tile, horizon, &at.key("file"))?;
    let repeats = if used.tile { (in_seconds(horizon) / in_seconds(span)).max(1.0) } else { 1.0 };
    Ok(Load {
        digest: Some(trace.digest().to_vec()),
        notes: trace.notes,
        expected: trace.rows.len() as f64 * repeats,
        recorded: Some(Recorded::Trace(Arc::new(trace.rows))),
        ..Load::drawn(0.0)
    })
}

/// A trace whose times are those of the scenario.
fn as_recorded(
    mut trace: Trace,
    used: &TraceUse,
    horizon: Duration,
    at: &Place<'_>,
) -> Result<Load, InputError> {
    for (key, given) in [("tile", used.tile), ("scale", used.scale.is_some())] {
        if given {
            return Err(at.key(key).error("does not go with `absolute`").fix("leave one out"));
        }
    }
    if trace.begins_us >= horizon.as_micros() {
        let message = format!("its first row is not before the horizon, {horizon}");
        return Err(at.key("file").error(message).fix("times count from the scenario's start"));
    }
    for row in &mut trace.rows {
        row.at = row.at + Duration::from_micros(trace.begins_us);
    }
    Ok(Load {
        digest: Some(trace.digest().to_vec()),
        notes: trace.notes,
        expected: trace.rows.len() as f64,
        recorded: Some(Recorded::Trace(Arc::new(trace.rows))),
        ..Load::drawn(0.0)
    })
}

fn covers(span: Duration, tile: bool, horizon: Duration, at: &Place<'_>) -> Result<(), InputError> {
    if span.is_zero() {
        return Err(at.error("spans no time").fix("it needs requests at two different times"));
    }
    if span < horizon && !tile {
        let message = format!("covers {span} of the horizon, {horizon}");
        return Err(at.error(message).fix("shorten the horizon, or add `tile: true` to repeat it"));
    }
    Ok(())
}

fn positive(rate: Rate, at: &Place<'_>) -> Result<f64, InputError> {
    if rate == Rate::default() {
        return Err(at.error("the rate is zero: no request would ever come"));
    }
    Ok(rate.per_second())
}

fn in_seconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e6
}

impl Load {
    fn drawn(expected: f64) -> Load {
        let notes = Vec::new();
        Load { recorded: None, input: None, output: None, digest: None, notes, expected }
    }
}
