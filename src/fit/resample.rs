//! Refits: the same log with its blocks of time drawn anew, for the error of what was estimated.

use std::collections::BTreeMap;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::at_target::{AtTarget, Minute};
use super::blocks::BLOCK;
use super::evidence::Evidence;
use super::limits::{LimitFit, Limits};
use super::parameters::{self, Given, Parameters};
use super::phases::Phases;
use super::{Fit, TargetFit, card};
use crate::draw::{NameHash, Purpose, below, stream};
use crate::scenario::{LatencyModel, LimitSpec, Scenario, SpeedByLoad};

/// Phases with fewer blocks have their attempts drawn one by one.
const LEAST_BLOCKS: usize = 5;

/// The parameters of all targets, estimated once more.
#[derive(Clone, Debug)]
pub struct Refit(Vec<OfTarget>);

/// What was estimated once more of one target.
#[derive(Clone, Debug)]
struct OfTarget {
    name: String,
    parameters: Parameters,
    /// As it was fitted, and its size now.
    limit: Option<(LimitSpec, u64)>,
    slots: Option<(u64, u64)>,
    /// In flight at half the speed: the same.
    half_at: Option<(u32, u32)>,
}

impl Fit {
    /// Estimates again, phases included, from a log drawn anew: within a phase, blocks of five minutes
    /// with replacement; in a phase of fewer than five of them, the attempts of each minute one by one.
    /// How far failures stick where no second try tells may be anything from not at all to always.
    pub fn refit(&self, evidence: &Evidence, seed: u64, number: u64) -> Refit {
        let [sticks, slow] = anywhere(seed, number);
        // A target is slow or silent more often than half of each.
        let half = libm::sin(slow * std::f64::consts::FRAC_PI_2);
        let slow = half * half;
        let one = |fit: &TargetFit| {
            let owner = NameHash::of(&fit.name).under(&number.to_string());
            let mut draws = stream(seed, Purpose::Refit, owner);
            let target = drawn(fit.counted(evidence), &fit.phases, &mut draws);
            let weights = weights(&target, &mut draws);
            let phases = Phases::of(&target, &fit.hidden.spells);
            let weight = |block: u64| weights.get(&block).copied().unwrap_or(0);
            let counts = phases.count(&target, weight);
            let hidden = fit.hidden.drawn(&mut draws);
            let load = fit.load.filter(|load| load.half_at.is_some());
            let half_at = load.and_then(|load| load.drawn(normal(&mut draws)));
            let given = Given {
                speed: load.map_or(1.0, |load| load.speed(half_at)),
                sticks: fit.parameters.stick.share.unwrap_or(sticks),
                slow,
            };
            let name = &fit.name;
            let again =
                parameters::estimate(name, &target, &phases, &counts, &hidden, given, &self.clock);
            let limit = size(&fit.limits, &mut draws).map(|(found, size)| (found.spec(), size));
            let slots = size(&fit.places, &mut draws).map(|(found, size)| (found.limit, size));
            let half_at =
                load.and_then(|load| Some((card::half_at(load.half_at?), card::half_at(half_at?))));
            OfTarget { name: name.clone(), parameters: again, limit, slots, half_at }
        };
        Refit(self.targets.iter().map(one).collect())
    }
}

impl Refit {
    /// The scenario with these parameters in place of those of the fit. Weather that people added
    /// stays.
    ///
    /// # Panics
    /// A table of quantiles that was estimated has no distribution: a fault of the fit.
    pub fn applied(&self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        let ours = |name: &str| {
            let prefixes = self.0.iter().flat_map(|of| {
                ["failing", "blackout", "pace", "contract"].map(|k| format!("{}-{k}-", of.name))
            });
            prefixes.into_iter().any(|prefix| {
                name.strip_prefix(&prefix).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
            })
        };
        scenario.file.weather.retain(|entry| !ours(&entry.name));
        for OfTarget { name, parameters, limit, slots, half_at } in &self.0 {
            scenario.file.weather.extend(parameters.weather.iter().cloned());
            let Some(target) = scenario.targets.iter_mut().find(|target| target.name == *name)
            else {
                continue;
            };
            let limits = target.limits.clone();
            let fitted = slots.filter(|(fitted, _)| *fitted == u64::from(target.capacity.slots));
            target.capacity.slots = fitted
                .and_then(|(_, size)| u32::try_from(size).ok())
                .unwrap_or(target.capacity.slots);
            if let Some((fitted, size)) = half_at
                && target.capacity.speed_by_load == SpeedByLoad::HalfAt(*fitted)
            {
                target.capacity.speed_by_load = SpeedByLoad::HalfAt(*size);
            }
            let latency = &parameters.latency;
            let table = "quantiles that were estimated ascend";
            target.latency = LatencyModel {
                headers: latency.headers.dist().expect(table),
                chunk: None,
                first_token: latency.first_token.dist().expect(table),
                prompt_tokens: latency.prompt_tokens.get(),
                per_prompt_token: latency.per_prompt_token,
                per_output_token: latency.per_output_token.dist().expect(table),
                failure: latency.failure.dist().expect(table),
            };
            target.quality.contract_failures = parameters.contract.share;
            let failures = &parameters.failures;
            target.failures.mix = failures.mix.clone();
            target.failures.broken_streams = failures.broken_streams;
            target.failures.stalled_streams = failures.stalled_streams;
            target.failures.stick = failures.stick.unwrap_or(target.failures.stick);
            // What people have written in place of what was fitted stays.
            for at in limits.into_iter().map(usize::from) {
                let spec = &mut scenario.limits[at].spec;
                spec.limit = limit
                    .as_ref()
                    .filter(|(fitted, _)| fitted == spec)
                    .map_or(spec.limit, |(_, size)| *size);
            }
        }
        scenario
    }
}

/// A target as it might have been seen: every minute of a long phase has what some minute of the phase
/// had, block by block; minutes of a short one have attempts drawn by their own shares. Minutes in which
/// everybody failed stay as they are: they are part of what happened.
fn drawn(target: &AtTarget, phases: &Phases, draws: &mut ChaCha8Rng) -> AtTarget {
    let mut drawn = target.clone();
    for blocks in blocks_by_phase(target, phases) {
        if blocks.len() < LEAST_BLOCKS {
            for at in blocks.iter().flatten() {
                if let Some(minute) = drawn.minutes.get_mut(at) {
                    anew(minute, draws);
                }
            }
            continue;
        }
        for block in &blocks {
            let from = &blocks[below(draws.next_u64(), blocks.len() as u64) as usize];
            // Blocks at the edges of a phase are shorter: they go round.
            for (at, from) in block.iter().zip(from.iter().cycle()) {
                drawn.minutes.insert(*at, target.minutes[from].clone());
            }
        }
    }
    drawn
}

/// A limit, and any of the sizes that err hardly more.
fn size<'a>(limits: &'a Limits, draws: &mut ChaCha8Rng) -> Option<(&'a LimitFit, u64)> {
    let Limits::Found(found) = limits else { return None };
    let (low, high) = found.between;
    Some((found, low + below(draws.next_u64(), high - low + 1)))
}

/// Two shares for a refit, such that those of any few in a row lie evenly in the square between nothing and
/// all: steps of the plastic number's inverse and of its square, in 2⁻⁶⁴ (Roberts' R₂ sequence).
fn anywhere(seed: u64, number: u64) -> [f64; 2] {
    let mut start = stream(seed, Purpose::Refit, NameHash::of("what nothing tells"));
    [0xC13F_A9A9_02A6_328F, 0x91E1_0DA5_C79E_7B1D_u64].map(|step| {
        let at = start.next_u64().wrapping_add(number.wrapping_mul(step));
        (at >> 11) as f64 / (1_u64 << 53) as f64
    })
}

/// About a standard normal deviation: twelve even ones.
fn normal(draws: &mut ChaCha8Rng) -> f64 {
    let even = |_| below(draws.next_u64(), 1 << 32) as f64 / (1_u64 << 32) as f64;
    (0..12).map(even).sum::<f64>() - 6.0
}

/// Draws the attempts of a minute one by one.
fn anew(minute: &mut Minute, draws: &mut ChaCha8Rng) {
    minute.outcomes = one_by_one(&minute.outcomes, draws);
    if let [kept, broke] = one_by_one(&minute.answers, draws)[..] {
        minute.answers = [kept, broke];
    }
    let [tried, failed] = minute.again;
    if tried > 0 {
        minute.again = [tried, one_by_one(&[failed, tried - failed], draws)[0]];
    }
}

/// How often each block of times was drawn.
fn weights(target: &AtTarget, draws: &mut ChaCha8Rng) -> BTreeMap<u64, u64> {
    let blocks: Vec<u64> = target.blocks.positions().collect();
    let mut weights = BTreeMap::new();
    for _ in &blocks {
        let block = blocks[below(draws.next_u64(), blocks.len() as u64) as usize];
        *weights.entry(block).or_default() += 1;
    }
    weights
}

/// The minutes of each phase in blocks; those in which everybody failed in blocks of their own.
fn blocks_by_phase(target: &AtTarget, phases: &Phases) -> Vec<Vec<Vec<u64>>> {
    let mut by_phase: Vec<BTreeMap<u64, Vec<u64>>> = vec![BTreeMap::new(); phases.phases.len()];
    for &minute in target.minutes.keys() {
        if phases.blackouts.binary_search(&minute).is_err() {
            by_phase[phases.at(minute)].entry(minute / BLOCK).or_default().push(minute);
        }
    }
    by_phase.into_iter().map(|blocks| blocks.into_values().collect()).collect()
}

/// As many outcomes, each drawn by its share.
fn one_by_one(counts: &[u64], draws: &mut ChaCha8Rng) -> Vec<u64> {
    let all: u64 = counts.iter().sum();
    let mut drawn = vec![0; counts.len()];
    for _ in 0..all {
        let mut at = below(draws.next_u64(), all);
        for (count, drawn) in counts.iter().zip(&mut drawn) {
            if at < *count {
                *drawn += 1;
                break;
            }
            at -= count;
        }
    }
    drawn
}
