//! Refits: the same log with its blocks of time drawn anew, for the error of what was estimated.

use std::collections::BTreeMap;

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::evidence::{AtTarget, BLOCK, Evidence};
use super::parameters::{self, Parameters};
use super::phases::{Counts, Phases};
use super::{Fit, TargetFit};
use crate::draw::{NameHash, Purpose, below, stream};
use crate::scenario::{LatencyModel, Scenario};

/// Phases with fewer blocks have their attempts drawn one by one.
const LEAST_BLOCKS: usize = 5;

/// The parameters of all targets, estimated once more.
#[derive(Clone, Debug)]
pub struct Refit(Vec<(String, Parameters)>);

impl Fit {
    /// Estimates again from blocks of five minutes drawn with replacement, within each phase; where a
    /// phase has fewer than five, from attempts drawn one by one. Phases stay as they are.
    pub fn refit(&self, evidence: &Evidence, seed: u64, number: u64) -> Refit {
        let one = |fit: &TargetFit| {
            let owner = NameHash::of(&fit.name).under(&number.to_string());
            let mut draws = stream(seed, Purpose::Refit, owner);
            let target = &evidence.targets[fit.position];
            let counts = drawn(target, &fit.phases, &mut draws);
            let again = parameters::estimate(&fit.name, target, &fit.phases, &counts, &self.clock);
            (fit.name.clone(), again)
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
            let prefixes = self
                .0
                .iter()
                .flat_map(|(t, _)| ["failing", "blackout", "pace"].map(|k| format!("{t}-{k}-")));
            prefixes.into_iter().any(|prefix| {
                name.strip_prefix(&prefix).is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
            })
        };
        scenario.file.weather.retain(|entry| !ours(&entry.name));
        for (name, parameters) in &self.0 {
            scenario.file.weather.extend(parameters.weather.iter().cloned());
            let Some(target) = scenario.targets.iter_mut().find(|target| target.name == *name)
            else {
                continue;
            };
            let latency = &parameters.latency;
            let table = "quantiles that were estimated ascend";
            target.latency = LatencyModel {
                headers: latency.headers.dist().expect(table),
                first_token: latency.first_token.dist().expect(table),
                prompt_tokens: latency.prompt_tokens.get(),
                per_prompt_token: latency.per_prompt_token,
                per_output_token: latency.per_output_token.dist().expect(table),
                failure: latency.failure.dist().expect(table),
            };
            let failures = &parameters.failures;
            target.failures.mix = failures.mix.clone();
            target.failures.broken_streams = failures.broken_streams;
            target.failures.stalled_streams = failures.stalled_streams;
            target.failures.stick = failures.stick.unwrap_or(target.failures.stick);
        }
        scenario
    }
}

/// Counts of a log of which blocks were drawn anew.
fn drawn(target: &AtTarget, phases: &Phases, draws: &mut ChaCha8Rng) -> Counts {
    let by_phase = blocks_by_phase(target, phases);
    let mut weights: BTreeMap<u64, u64> = BTreeMap::new();
    let mut whole = vec![true; by_phase.len()];
    for (phase, blocks) in by_phase.iter().enumerate() {
        if blocks.len() < LEAST_BLOCKS {
            whole[phase] = false;
            blocks.iter().flatten().for_each(|minute| {
                weights.insert(*minute, 1);
            });
            continue;
        }
        for _ in blocks {
            let block = &blocks[below(draws.next_u64(), blocks.len() as u64) as usize];
            block.iter().for_each(|minute| *weights.entry(*minute).or_default() += 1);
        }
    }
    let times: Vec<u64> = target.blocks.keys().copied().collect();
    let mut of_times: BTreeMap<u64, u64> = BTreeMap::new();
    for _ in &times {
        let block = times[below(draws.next_u64(), times.len() as u64) as usize];
        *of_times.entry(block).or_default() += 1;
    }
    let weight = |from: &BTreeMap<u64, u64>, key| from.get(&key).copied().unwrap_or(0);
    let mut counts = phases.count(target, |m| weight(&weights, m), |b| weight(&of_times, b));
    for (phase, _) in counts.phases.iter_mut().zip(&whole).filter(|(_, whole)| !**whole) {
        phase.outcomes = one_by_one(&phase.outcomes, draws);
        let [tried, failed] = phase.again;
        if tried > 0.0 {
            phase.again = [tried, one_by_one(&[failed, tried - failed], draws)[0]];
        }
    }
    counts
}

/// The minutes of each phase in blocks.
fn blocks_by_phase(target: &AtTarget, phases: &Phases) -> Vec<Vec<Vec<u64>>> {
    let mut by_phase: Vec<BTreeMap<u64, Vec<u64>>> = vec![BTreeMap::new(); phases.phases.len()];
    for &minute in target.minutes.keys() {
        by_phase[phases.at(minute)].entry(minute / BLOCK).or_default().push(minute);
    }
    by_phase.into_iter().map(|blocks| blocks.into_values().collect()).collect()
}

/// As many outcomes, each drawn by its share.
fn one_by_one(counts: &[f64], draws: &mut ChaCha8Rng) -> Vec<f64> {
    let all: f64 = counts.iter().sum();
    let mut drawn = vec![0.0; counts.len()];
    for _ in 0..all as u64 {
        let mut at = below(draws.next_u64(), all as u64) as f64;
        let which = counts.iter().position(|count| {
            at -= count;
            at < 0.0
        });
        drawn[which.unwrap_or(0)] += 1.0;
    }
    drawn
}
