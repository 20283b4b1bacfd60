//! The parameters of one target from what was counted at it: times, failures and weather, as a card
//! and a scenario hold them.

use std::collections::BTreeMap;

use windtunnel_policy::{Duration, Share};

use super::at_target::AtTarget;
use super::blocks::Block;
use super::cells::Cells;
use super::contract::Contract;
use super::evidence::MINUTE_US;
use super::hidden::Stretch;
use super::phases::{Counts, InPhase, Phases, pooled};
use super::regression::Moments;
use super::slower::{self, GivenUp, Slowed};
use super::stick::{self, StickFit};
use super::survival::{self, Survival};
use super::weather::{self, Clock};
use crate::scenario::{DistSpec, FailureShare, Failures, Latency, Stick, Tokens, WeatherSpec};

/// What a card and the weather hold of one target.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Parameters {
    pub(super) latency: Latency,
    pub(super) failures: Failures,
    pub(super) weather: Vec<WeatherSpec>,
    pub(super) contract: Contract,
    pub(super) stick: StickFit,
    pub(super) first: Survival,
    /// Positions of the phases that are ordinary times.
    pub(super) ordinary: Vec<bool>,
    /// By phase: how many times as long it took to the first output; 1 where that is not clear.
    pub(super) slower: Vec<f64>,
    pub(super) unanswered: GivenUp,
    pub(super) samples: Samples,
}

/// What the figures rest on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Samples {
    /// Times to headers.
    pub headers: u64,
    /// Times to the first output that were seen.
    pub first: u64,
    /// Attempts given up before it.
    pub given_up: u64,
    /// Those of them that the product's deadline cut.
    pub cut_short: u64,
    /// Answers whose pace was seen.
    pub pace: u64,
    /// Failures before headers.
    pub failing: u64,
    /// Attempts in ordinary times.
    pub ordinary: u64,
}

/// Name of the source in the cards.
pub(super) const SOURCE: &str = "log";
/// A card states no slower prompts; times in a wrong unit would have them.
const SLOWEST_PROMPT: Duration = Duration::from_secs(1);
/// Where the log says nothing: what the shipped cards assume.
const FAILING: (u64, f64) = (300_000, 0.6);

/// What is not estimated here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    /// Part of the speed of an attempt alone that times were seen at.
    pub(super) speed: f64,
    /// How far failures stick to their request, where second tries do not tell.
    pub(super) sticks: f64,
    /// How much of what was given up was merely slow, where nothing tells.
    pub(super) slow: f64,
}

impl Given {
    /// As it was seen; where nothing tells, the simulator's default sticks, and half of what was given up was slow.
    pub(super) fn assumed(speed: f64) -> Given {
        Given { speed, sticks: Stick::default().request.as_f64(), slow: 0.5 }
    }
}

/// The parameters.
pub(super) fn estimate(
    name: &str,
    target: &AtTarget,
    phases: &Phases,
    counts: &Counts,
    hidden: &[Stretch],
    given: Given,
    clock: &Clock,
) -> Parameters {
    let speed = given.speed;
    let slowed = slower::by_phase(target, phases, counts, given.slow);
    let unanswered = GivenUp::of(target, counts, &slowed);
    let (counts, hidden) = &answered_in_the_end(target, phases, counts, hidden, &slowed);
    let slower: Vec<f64> = slowed.iter().map(|slowed| slowed.times).collect();
    let at_speed = |block: u64| slower[phases.of_block(target, block)] == 1.0;
    let used: Vec<(&Block, u64)> = counts
        .blocks
        .iter()
        .filter(|(block, _)| at_speed(*block))
        .map(|(block, weight)| (target.blocks.get(*block), *weight))
        .collect();
    let all =
        |of: fn(&Block) -> &Cells| pooled(used.iter().map(|(block, weight)| (of(block), *weight)));
    let (headers, pace) = (all(|b| &b.headers), all(|b| &b.pace));
    // Failures are as fast in any phase.
    let everywhere =
        counts.blocks.iter().map(|(block, weight)| (&target.blocks.get(*block).failing, *weight));
    let failing = pooled(everywhere);
    let given_up = all(|b| &b.given_up);
    let (seen, per_token, prompt) = first_output(target, &used);
    // What failed never comes; what a deadline cut would have.
    let cut_short: u64 = used.iter().map(|(block, weight)| block.cut_short * weight).sum();
    let late = cut_short as f64 / given_up.total().max(1) as f64;
    let first = survival::estimate(&seen, &given_up).with_late(late);
    let samples = Samples {
        headers: headers.total(),
        first: first.events,
        given_up: first.censored,
        cut_short,
        pace: pace.total(),
        failing: failing.total(),
        ordinary: 0,
    };
    let plain = |cells: &Cells| survival::estimate(cells, &Cells::default());
    let first_token =
        quantiles(&first, 1, speed).unwrap_or(DistSpec::Constant(Duration::from_secs(1)));
    let latency = Latency {
        source: SOURCE.into(),
        headers: quantiles(&plain(&headers), 1, speed).unwrap_or(first_token.clone()),
        // No log says when a chunk came that said nothing.
        chunk_after_headers: None,
        first_token,
        prompt_tokens: Tokens::at_most(prompt),
        per_prompt_token: Duration::from_micros(libm::round(per_token as f64 * speed) as u64)
            .min(SLOWEST_PROMPT),
        per_output_token: quantiles(&plain(&pace), 1_000, speed)
            .unwrap_or(DistSpec::Constant(Duration::ZERO)),
        // Most fail at the door, whatever the load.
        failure: quantiles(&plain(&failing), 1, 1.0).unwrap_or_else(assumed_failing),
    };
    let stick = stick_of(counts);
    let sticks = sticks(stick.share.unwrap_or(given.sticks));
    let ordinary = weather::ordinary(&counts.phases);
    let mut base = InPhase::default();
    for (phase, _) in counts.phases.iter().zip(&ordinary).filter(|(_, ordinary)| **ordinary) {
        base.add(phase);
    }
    let mix = target.kinds.iter().enumerate().filter_map(|(i, kind)| {
        let count = base.outcomes.get(i + 1).copied().unwrap_or(0.0);
        (count > 0.0).then(|| FailureShare {
            class: kind.class,
            status: weather::status(kind),
            phase: kind.phase,
            share: share(count / base.attempts()),
            retry_after: weather::hint(target, kind),
            hang: kind.hang,
        })
    });
    let totals = &target.totals;
    let complete = (totals.complete + totals.broken + totals.silent).max(1) as f64;
    let failures = Failures {
        source: SOURCE.into(),
        mix: mix.collect(),
        broken_streams: share(totals.broken as f64 / complete),
        stalled_streams: share(totals.silent as f64 / complete),
        stick: Some(sticks),
    };
    let mut weather =
        weather::of(name, target, phases, counts, hidden, &ordinary, &base, &slower, sticks, clock);
    let contract = Contract::of(target);
    weather.extend(contract.weather(name, clock));
    let samples = Samples { ordinary: base.attempts() as u64, ..samples };
    Parameters {
        latency,
        failures,
        weather,
        contract,
        stick,
        first,
        ordinary,
        slower,
        unanswered,
        samples,
    }
}

/// What was counted and what is taken for hidden times, with those that were merely slow among the good. Of
/// second tries that may have been no more than slow, too, nothing is learnt.
fn answered_in_the_end(
    target: &AtTarget,
    phases: &Phases,
    counts: &Counts,
    hidden: &[Stretch],
    slowed: &[Slowed],
) -> (Counts, Vec<Stretch>) {
    let (mut counts, mut hidden) = (counts.clone(), hidden.to_vec());
    for (phase, slowed) in counts.phases.iter_mut().zip(slowed) {
        if slowed.merely_slow > 0.0 {
            slowed.without_slow(phase, &target.kinds);
            phase.again = [0.0; 2];
        }
    }
    for stretch in &mut hidden {
        let middle = stretch.from_us.midpoint(stretch.to_us) / MINUTE_US;
        if let Some(slowed) = slowed.get(phases.at(middle)) {
            slowed.without_slow(&mut stretch.taken, &target.kinds);
        }
    }
    (counts, hidden)
}

/// A share to a ten thousandth of a percent.
pub(super) fn share(p: f64) -> Share {
    Share::new(libm::round(p * 1e6) / 1e6).unwrap_or(Share::ZERO)
}

fn assumed_failing() -> DistSpec<Duration> {
    let (median, sigma) = FAILING;
    let sigma = crate::scenario::Factor::new(sigma).expect("it is positive");
    DistSpec::Lognormal { median: Duration::from_micros(median), sigma }
}

/// The shares that failures stick by. Whole minutes in which everybody fails are phases of their own,
/// so nothing more sticks to a window of time.
fn sticks(to_request: f64) -> Stick {
    let request = share(to_request);
    Stick { request, window: Share::ZERO, free: request.complement(), ..Stick::default() }
}

fn stick_of(counts: &Counts) -> StickFit {
    let phases: Vec<([f64; 2], f64)> =
        counts.phases.iter().map(|phase| (phase.again, phase.rate().unwrap_or(0.0))).collect();
    stick::estimate(&phases)
}

/// Times to the first output as for one prompt length, what each prompt token adds (µs), and that
/// length.
fn first_output(target: &AtTarget, used: &[(&Block, u64)]) -> (Cells, u64, u32) {
    let prompts = target.totals.prompts.values();
    let (count, sum) = prompts.fold((0.0, 0.0), |(n, s), [count, sum]| (n + count, s + sum));
    let mean = if count > 0.0 { sum / count } else { 0.0 };
    let mut by_prompt = Moments::default();
    used.iter().for_each(|(block, weight)| by_prompt.merge(&block.first_by_prompt, *weight));
    let slope = match by_prompt.solve() {
        // Only what is clear, and worth a microsecond.
        Some([_, Some((slope, error))]) if slope > 3.0 * error => {
            libm::round(slope).max(0.0) as u64
        }
        _ => 0,
    };
    let mut by_length: BTreeMap<u8, Cells> = BTreeMap::new();
    for (block, weight) in used {
        for (&octave, cells) in &block.first {
            by_length.entry(octave).or_default().merge(cells, *weight);
        }
    }
    let mut all = Cells::default();
    for (octave, cells) in &by_length {
        let own = target.totals.prompts.get(octave).map_or(mean, |[count, sum]| sum / count);
        let shift = slope as f64 * (own - mean);
        for (_, cell) in cells.iter() {
            let moved = libm::round(f64::max(cell.mean() as f64 - shift, 1.0)) as u64;
            all.add_times(moved, cell.count);
        }
    }
    (all, slope, libm::round(mean) as u32)
}

/// Quantiles that a table states.
const STATED: [(&str, f64); 11] = [
    ("p0", 0.0),
    ("p1", 0.01),
    ("p5", 0.05),
    ("p10", 0.1),
    ("p25", 0.25),
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99.9", 0.999),
];
/// Observations that must lie beyond a quantile of a tail.
const BEYOND: f64 = 5.0;

/// The table of a survival curve whose times are in parts of a µs, each times `speed`; none where nothing was
/// seen. Where a log says that nothing passed, its clock was too coarse: of a table, only the lower end can be
/// zero.
fn quantiles(survival: &Survival, parts: u64, speed: f64) -> Option<DistSpec<Duration>> {
    let alone =
        |value: u64| if speed == 1.0 { value } else { libm::round(value as f64 * speed) as u64 };
    let of = |p: f64| {
        let micros = (alone(survival.quantile(p)?) + parts / 2) / parts;
        Some(micros.max(u64::from(p > 0.0)))
    };
    let (low, high) = (of(0.0)?, of(1.0)?);
    if low == high {
        return Some(DistSpec::Constant(Duration::from_micros(low)));
    }
    let seen = survival.events as f64;
    // Quartiles are always told: a table needs something between its ends.
    let told =
        |p: f64| p == 0.0 || (0.25..=0.75).contains(&p) || f64::min(p, 1.0 - p) * seen >= BEYOND;
    let stated = STATED.iter().filter(|(_, p)| told(*p));
    let table =
        stated.filter_map(|(name, p)| Some(((*name).to_owned(), Duration::from_micros(of(*p)?))));
    let last = [("p100".to_owned(), Duration::from_micros(high))];
    Some(DistSpec::Quantiles(table.chain(last).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clocks of whole milliseconds say so of most refusals.
    #[test]
    fn times_of_nothing_make_a_table_that_can_be_drawn_from() {
        let mut ended = Cells::default();
        ended.add_times(0, 90);
        ended.add_times(1_000_000, 10);
        let spec = quantiles(&survival::estimate(&ended, &Cells::default()), 1, 1.0);
        let Some(DistSpec::Quantiles(table)) = spec else { panic!("a table: {spec:?}") };
        let at = |name: &str| table[name].as_micros();
        assert_eq!((at("p0"), at("p50"), at("p100")), (0, 1, 1_000_000));
    }
}
