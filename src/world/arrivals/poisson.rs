//! Arrivals by independent gaps, at one rate or at a rate that changes.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use windtunnel_policy::Instant;

use super::phases::Phase;
use crate::dist::{Dist, Shape, Tables};
use crate::scenario::{Factor, Rate};

/// Fractions of a µs that the clock keeps: gaps of a few µs must not be rounded each.
const FRACTION_BITS: u32 = 20;

/// A distribution of gaps finer than a µs.
#[derive(Clone, Debug)]
pub(super) struct Gaps {
    dist: Dist,
    /// The distribution is over units of 2^-`bits` µs.
    bits: u32,
}

impl Gaps {
    /// Exponential gaps; none at rate zero.
    pub(super) fn poisson(rate: Rate, tables: &Tables) -> Result<Option<Gaps>, String> {
        Gaps::new(rate, tables, 1.0, |mean| Shape::Exponential { mean })
    }

    /// Gamma gaps with this coefficient of variation; none at rate zero.
    pub(super) fn gamma(rate: Rate, cv: Factor, tables: &Tables) -> Result<Option<Gaps>, String> {
        let shape = 1.0 / (cv.get() * cv.get());
        // Below shape 1 a gamma is shorter, quantile by quantile, than an exponential of 1/shape
        // times its mean.
        Gaps::new(rate, tables, (1.0 / shape).max(1.0), |mean| Shape::Gamma { shape, mean })
    }

    /// `spread`: no quantile is above that of an exponential of `spread` times the mean.
    fn new(
        rate: Rate,
        tables: &Tables,
        spread: f64,
        shape: impl Fn(f64) -> Shape,
    ) -> Result<Option<Gaps>, String> {
        if rate == Rate::default() {
            return Ok(None);
        }
        let mean_us = 1e6 / rate.per_second();
        let unit = |bits: u32| (1_u64 << bits) as f64;
        // The table reaches the quantile 1 − 2⁻²⁹, 20.1 means out, and holds values below 2⁴⁶.
        let fits = |bits: &u32| mean_us * spread * 21.0 * unit(*bits) < unit(46);
        let bits = (0..=FRACTION_BITS).rev().find(fits).unwrap_or(0);
        match tables.dist(&shape(mean_us * unit(bits))) {
            Ok(dist) => Ok(Some(Gaps { dist, bits })),
            Err(error) => Err(format!("the gaps between requests: {error}")),
        }
    }

    /// The next gap, in units of the clock.
    fn next(&self, draws: &mut ChaCha8Rng) -> u128 {
        u128::from(self.dist.sample(draws.next_u64())) << (FRACTION_BITS - self.bits)
    }
}

/// Arrivals with independent gaps; the first one gap after the start.
pub(super) struct Renewal {
    gaps: Gaps,
    draws: ChaCha8Rng,
    clock: u128,
}

impl Renewal {
    pub(super) fn new(gaps: Gaps, draws: ChaCha8Rng) -> Renewal {
        Renewal { gaps, draws, clock: 0 }
    }
}

impl Iterator for Renewal {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        self.clock += self.gaps.next(&mut self.draws);
        Some(to_instant(self.clock))
    }
}

/// Poisson arrivals at the rate of the phase. Being memoryless, each phase starts anew.
pub(super) struct Phased<P> {
    gaps: Vec<Option<Gaps>>,
    phases: P,
    phase: Phase,
    draws: ChaCha8Rng,
    clock: u128,
}

impl<P: Iterator<Item = Phase>> Phased<P> {
    /// `gaps` by the phases' rates.
    pub(super) fn new(gaps: Vec<Option<Gaps>>, phases: P, draws: ChaCha8Rng) -> Phased<P> {
        let phase = Phase { rate: 0, until_us: 0 };
        Phased { gaps, phases, phase, draws, clock: 0 }
    }
}

impl<P: Iterator<Item = Phase>> Iterator for Phased<P> {
    type Item = Instant;

    fn next(&mut self) -> Option<Instant> {
        loop {
            let end = u128::from(self.phase.until_us) << FRACTION_BITS;
            if let Some(gaps) = &self.gaps[self.phase.rate] {
                self.clock += gaps.next(&mut self.draws);
                if self.clock < end {
                    return Some(to_instant(self.clock));
                }
            }
            self.clock = end;
            self.phase = self.phases.next()?;
        }
    }
}

fn to_instant(clock: u128) -> Instant {
    Instant::from_micros(u64::try_from(clock >> FRACTION_BITS).unwrap_or(u64::MAX))
}
