//! Stretches of time with one rate each.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use windtunnel_policy::{Duration, Share};

use crate::dist::{Shape, Tables};
use crate::scenario::RateStep;

/// From the end of the phase before to `until_us` one rate holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Phase {
    /// Which rate.
    pub(super) rate: usize,
    /// End, in µs from the start.
    pub(super) until_us: u64,
}

/// Silences (rate 0) and bursts (rate 1) in turn, of exponential length with these means.
///
/// The start is an ordinary moment: within a burst with the share of time that bursts take.
pub(super) fn on_off(
    on: Duration,
    off: Duration,
    mut draws: ChaCha8Rng,
    tables: &Tables,
) -> Result<impl Iterator<Item = Phase>, String> {
    let lengths = |what: &str, mean: Duration| {
        let shape = Shape::Exponential { mean: mean.as_micros() as f64 };
        tables.dist(&shape).map_err(|error| format!("the length of `{what}`: {error}"))
    };
    let lengths = [lengths("off", off)?, lengths("on", on)?];
    let bursts = Share::ratio(on.as_micros(), (on + off).as_micros());
    let mut rate = usize::from(!bursts.hits(draws.next_u64()));
    let mut until_us = 0_u64;
    Ok(std::iter::from_fn(move || {
        rate = 1 - rate;
        until_us = until_us.saturating_add(lengths[rate].sample(draws.next_u64()));
        Some(Phase { rate, until_us })
    }))
}

/// The steps one after the other, over and over with period `every` where given.
pub(super) fn steps(
    steps: &[RateStep],
    every: Option<Duration>,
) -> impl Iterator<Item = Phase> + use<> {
    let period = every.unwrap_or(Duration::MAX).as_micros();
    let starts = steps.iter().map(|step| step.from.as_micros()).filter(|&from| from < period);
    let ends = starts.skip(1).chain([period]);
    let once: Vec<Phase> =
        ends.enumerate().map(|(rate, until_us)| Phase { rate, until_us }).collect();
    let cycles = if every.is_some() { u64::MAX } else { 1 };
    (0..cycles).flat_map(move |cycle| {
        let begins = cycle.saturating_mul(period);
        once.clone()
            .into_iter()
            .map(move |p| Phase { until_us: begins.saturating_add(p.until_us), ..p })
    })
}
