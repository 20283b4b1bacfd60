//! When requests come: one sequence of arrivals for each route class.

mod phases;
mod poisson;

use windtunnel_policy::{Duration, Instant};

use super::{MAX_REQUESTS, WorldError};
use crate::draw::{NameHash, Purpose, stream};
use crate::scenario::{Arrivals, Scenario};

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
    until: Instant,
) -> Result<Box<dyn Iterator<Item = Arrival> + 'a>, WorldError> {
    let class = &scenario.classes[id];
    let owner = NameHash::of(&class.name);
    let arrivals = &scenario.file.classes[&class.name].traffic.arrivals;
    if expected(arrivals, until) > MAX_REQUESTS as f64 {
        return Err(WorldError::TooManyRequests);
    }
    let wrong = |problem: String| WorldError::traffic(&class.name, problem);
    let draws = stream(seed, Purpose::ArrivalGap, owner);
    Ok(match arrivals {
        Arrivals::Poisson(rate) => match Gaps::poisson(*rate).map_err(wrong)? {
            Some(gaps) => unrecorded(Renewal::new(gaps, draws)),
            None => Box::new(std::iter::empty()),
        },
        Arrivals::Gamma { rate, cv } => match Gaps::gamma(*rate, *cv).map_err(wrong)? {
            Some(gaps) => unrecorded(Renewal::new(gaps, draws)),
            None => Box::new(std::iter::empty()),
        },
        Arrivals::OnOff { rate, on, off } => {
            let phase_draws = stream(seed, Purpose::BurstPhase, owner);
            let phases = phases::on_off(*on, *off, phase_draws).map_err(wrong)?;
            let gaps = vec![None, Gaps::poisson(*rate).map_err(wrong)?];
            unrecorded(Phased::new(gaps, phases, draws))
        }
        Arrivals::Steps { steps, every } => {
            let gaps = steps.iter().map(|s| Gaps::poisson(s.rate)).collect::<Result<_, _>>();
            unrecorded(Phased::new(gaps.map_err(wrong)?, phases::steps(steps, *every), draws))
        }
        Arrivals::Profile(_) | Arrivals::Trace(_) => {
            return Err(wrong("recorded traffic".into()));
        }
        Arrivals::ClosedLoop { .. } => Box::new(std::iter::empty()),
    })
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
