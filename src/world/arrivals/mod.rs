//! When requests come: one sequence of arrivals for each route class.

mod phases;
mod poisson;
mod replay;
mod sessions;

use windtunnel_policy::{Duration, Instant};

use super::{MAX_REQUESTS, WorldError};
use crate::draw::{NameHash, Purpose, stream};
use crate::scenario::{Arrivals, Factor, ProfileUse, Recorded, Scenario, TraceUse};

use poisson::{Gaps, Phased, Renewal};

/// One request comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Arrival {
    /// When.
    pub(super) at: Instant,
    /// Its number within the class: keys all else about it.
    pub(super) number: u64,
    /// Recorded lengths.
    pub(super) tokens: Option<RecordedTokens>,
    /// Conversation, by a number unique within the class.
    pub(super) session: Option<u64>,
}

/// Lengths as a trace or profile recorded them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RecordedTokens {
    pub(super) input: u32,
    pub(super) output: u32,
    pub(super) max_output: Option<u32>,
}

/// The arrivals of class number `id`, in order of time, at least to `until`.
///
/// # Errors
/// Says what is wrong with the class's arrivals, or that they would be too many.
pub(super) fn of_class<'a>(
    scenario: &'a Scenario,
    id: usize,
    seed: u64,
    resample: bool,
    until: Instant,
) -> Result<Box<dyn Iterator<Item = Arrival> + 'a>, WorldError> {
    let (class, tables) = (&scenario.classes[id], &scenario.tables);
    let owner = NameHash::of(&class.name);
    let arrivals = &scenario.file.classes[&class.name].traffic.arrivals;
    not_too_many(expected(arrivals, until) / until.as_micros().max(1) as f64, until)?;
    let wrong = |problem: String| WorldError::traffic(&class.name, problem);
    let draws = stream(seed, Purpose::ArrivalGap, owner);
    let blocks = resample.then(|| stream(seed, Purpose::TraceBlock, owner));
    Ok(match arrivals {
        Arrivals::Poisson(rate) => match Gaps::poisson(*rate, tables).map_err(wrong)? {
            Some(gaps) => unrecorded(Renewal::new(gaps, draws)),
            None => Box::new(std::iter::empty()),
        },
        Arrivals::Gamma { rate, cv } => match Gaps::gamma(*rate, *cv, tables).map_err(wrong)? {
            Some(gaps) => unrecorded(Renewal::new(gaps, draws)),
            None => Box::new(std::iter::empty()),
        },
        Arrivals::OnOff { rate, on, off } => {
            let phase_draws = stream(seed, Purpose::BurstPhase, owner);
            let phases = phases::on_off(*on, *off, phase_draws, tables).map_err(wrong)?;
            let gaps = vec![None, Gaps::poisson(*rate, tables).map_err(wrong)?];
            unrecorded(Phased::new(gaps, phases, draws))
        }
        Arrivals::Steps { steps, every } => {
            let gaps =
                steps.iter().map(|s| Gaps::poisson(s.rate, tables)).collect::<Result<_, _>>();
            unrecorded(Phased::new(gaps.map_err(wrong)?, phases::steps(steps, *every), draws))
        }
        Arrivals::Trace(TraceUse { tile, scale, absolute, .. }) => {
            let Some(Recorded::Trace(rows)) = &class.recorded else {
                unreachable!("a resolved class has the trace it names")
            };
            if *absolute {
                return Ok(Box::new(replay::once(rows)));
            }
            let Some(period) = replay::trace_period(rows) else {
                return Err(wrong("the trace has no two rows at different times".into()));
            };
            let scale = scale.unwrap_or(Factor::ONE);
            let covers = Duration::from_micros((period as f64 / scale.get()) as u64);
            covered(scenario, *tile, covers).map_err(wrong)?;
            not_too_many(rows.len() as f64 / covers.as_micros() as f64, until)?;
            Box::new(replay::of_trace(rows, period, scale, blocks))
        }
        Arrivals::Profile(ProfileUse { tile, scale, .. }) => {
            let Some(Recorded::Profile(profile)) = &class.recorded else {
                unreachable!("a resolved class has the profile it names")
            };
            let scale = scale.unwrap_or(Factor::ONE);
            if scale.get() > replay::MAX_LAYERS {
                return Err(wrong(format!("`scale` is above {}", replay::MAX_LAYERS)));
            }
            let covers = Duration::from_secs(profile.seconds());
            covered(scenario, *tile, covers).map_err(wrong)?;
            let requests = profile.requests() as f64 * scale.get();
            not_too_many(requests / covers.as_micros() as f64, until)?;
            Box::new(replay::of_profile(profile, scale, blocks, seed, owner))
        }
        Arrivals::ClosedLoop { .. } => Box::new(std::iter::empty()),
    })
}

/// Refuses arrivals at this rate (per µs) to `until`, before they are made.
fn not_too_many(per_us: f64, until: Instant) -> Result<(), WorldError> {
    match per_us * until.as_micros() as f64 > MAX_REQUESTS as f64 {
        true => Err(WorldError::TooManyRequests),
        false => Ok(()),
    }
}

/// Refuses a recording shorter than the horizon, unless it may be tiled.
fn covered(scenario: &Scenario, tile: bool, covers: Duration) -> Result<(), String> {
    let horizon = scenario.file.horizon;
    if tile || covers >= horizon {
        return Ok(());
    }
    let seconds = |d: Duration| d.as_micros() / 1_000_000;
    Err(format!(
        "the recording covers {} s of the horizon of {} s: set `tile: true`, or shorten the horizon",
        seconds(covers),
        seconds(horizon)
    ))
}

/// About how many draws the arrivals to `until` take: what would not end is refused beforehand.
fn expected(arrivals: &Arrivals, until: Instant) -> f64 {
    let span_us = until.as_micros() as f64;
    let per = |length: Duration| span_us / length.as_micros().max(1) as f64;
    match arrivals {
        Arrivals::Poisson(rate) | Arrivals::Gamma { rate, .. } => rate.per_second() * span_us / 1e6,
        Arrivals::OnOff { rate, on, off } => {
            let share = on.as_micros() as f64 / (*on + *off).as_micros().max(1) as f64;
            rate.per_second() * share * span_us / 1e6 + 2.0 * per(*on + *off)
        }
        Arrivals::Steps { steps, every } => {
            let cycle_us = every.map_or(span_us, |every| every.as_micros().max(1) as f64);
            let ends = steps.iter().skip(1).map(|step| step.from.as_micros() as f64);
            let in_cycle: f64 = (steps.iter().zip(ends.chain([cycle_us])))
                .map(|(step, end)| {
                    let length = end.min(cycle_us) - step.from.as_micros() as f64;
                    step.rate.per_second() * length.max(0.0) / 1e6
                })
                .sum();
            (in_cycle + steps.len() as f64) * (span_us / cycle_us)
        }
        Arrivals::Profile(_) | Arrivals::Trace(_) | Arrivals::ClosedLoop { .. } => 0.0,
    }
}

/// Numbers arrivals that no file recorded.
fn unrecorded<'a>(
    times: impl Iterator<Item = Instant> + 'a,
) -> Box<dyn Iterator<Item = Arrival> + 'a> {
    let numbered = (0..).zip(times);
    Box::new(numbered.map(|(number, at)| Arrival { at, number, tokens: None, session: None }))
}
