//! Recorded traffic: exact replay of traces, and traffic dealt from profiles.

use std::ops::Range;

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use windtunnel_policy::{Instant, Share};

use super::sessions::SessionLinks;
use super::{Arrival, RecordedTokens};
use crate::draw::{NameHash, Purpose, below, stream};
use crate::profile::Profile;
use crate::scenario::{Factor, TraceRow};

/// Resampled worlds are made of stretches of this length: long enough to keep bursts and lulls,
/// short enough that an hour gives a dozen.
const BLOCK_S: u64 = 300;
const SECOND_US: u64 = 1_000_000;
/// The most a profile may be scaled by.
pub(super) const MAX_LAYERS: f64 = 1_000.0;

/// A stretch of a recording, in the recording's own time; it runs on from the end to the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stretch {
    from: u64,
    length: u64,
    /// Position among the stretches of this world.
    number: u64,
    /// Sum of the lengths before.
    begins: u64,
}

/// The whole recording over and over; or, given draws, a circular block bootstrap: blocks that
/// begin anywhere with equal chance. Every moment of the recording is then met equally often, so
/// rates keep their mean.
fn stretches(
    period: u64,
    block: u64,
    mut resample: Option<ChaCha8Rng>,
) -> impl Iterator<Item = Stretch> {
    let mut begins = 0_u64;
    (0..).map(move |number| {
        let (from, length) = match &mut resample {
            None => (0, period),
            Some(draws) => (below(draws.next_u64(), period), block.min(period)),
        };
        let stretch = Stretch { from, length, number, begins };
        begins = begins.saturating_add(length);
        stretch
    })
}

/// The time a trace stands for, in µs: to its last row and one mean gap more, so that tiling keeps
/// the rate. None where it has too few rows to say.
pub(super) fn trace_period(rows: &[TraceRow]) -> Option<u64> {
    let span = rows.last()?.at.as_micros();
    let gaps = rows.len() as u64 - 1;
    (span > 0).then(|| span.saturating_add(span.div_ceil(gaps)))
}

/// The rows at their times divided by `scale`.
pub(super) fn of_trace(
    rows: &[TraceRow],
    period: u64,
    scale: Factor,
    resample: Option<ChaCha8Rng>,
) -> impl Iterator<Item = Arrival> {
    let stretches = stretches(period, BLOCK_S * SECOND_US, resample);
    let recorded = stretches.flat_map(move |stretch| {
        let first = rows.partition_point(|row| row.at.as_micros() < stretch.from);
        (first..first + rows.len())
            .map(move |i| {
                let row = &rows[i % rows.len()];
                let lap = (i / rows.len()) as u64 * period;
                (stretch, row, row.at.as_micros() + lap - stretch.from)
            })
            .take_while(|&(stretch, _, offset)| offset < stretch.length)
    });
    let scaled = move |us: u64| {
        let wide = u128::from(us) * 1_000_000 / u128::from(scale.ppm().max(1));
        Instant::from_micros(u64::try_from(wide).unwrap_or(u64::MAX))
    };
    (0..).zip(recorded).map(move |(number, (stretch, row, offset))| Arrival {
        at: scaled(stretch.begins.saturating_add(offset)),
        number,
        tokens: Some(RecordedTokens {
            input: row.input,
            output: row.output,
            max_output: row.max_output,
        }),
        // A conversation that is met again, or cut in two, is another one.
        session: (row.session != 0).then(|| mixed(row.session, stretch.number)),
    })
}

/// The rows at their own times, and nobody after the last.
pub(super) fn once(rows: &[TraceRow]) -> impl Iterator<Item = Arrival> {
    let period = rows.last().map_or(0, |row| row.at.as_micros()).saturating_add(1);
    of_trace(rows, period, Factor::ONE, None).take(rows.len())
}

/// The traffic of a profile, laid `scale` times over itself.
///
/// Every whole part of the scale is a layer with the profile's exact count in every second and
/// the same lengths in every minute, dealt out by its own luck; the fraction that is left is a
/// layer of which each request is kept with that chance. So bursts grow with the scale.
pub(super) fn of_profile(
    profile: &Profile,
    scale: Factor,
    resample: Option<ChaCha8Rng>,
    seed: u64,
    owner: NameHash,
) -> impl Iterator<Item = Arrival> {
    let whole = libm::floor(scale.get()) as usize;
    let fraction = Share::new(scale.get() - whole as f64).unwrap_or(Share::ZERO);
    let kept = std::iter::repeat_n(Share::ONE, whole);
    let kept = kept.chain((fraction > Share::ZERO).then_some(fraction));
    let mut layers: Vec<Layer> = kept
        .enumerate()
        .map(|(i, kept)| {
            let owner = if i == 0 { owner } else { owner.under(&format!("layer {i}")) };
            let draws = stream(seed, Purpose::TraceShuffle, owner);
            Layer { kept, draws, next_number: (i as u64) << 40 }
        })
        .collect();
    let mut links = (profile.sessions.as_ref())
        .map(|sessions| SessionLinks::new(sessions, stream(seed, Purpose::Session, owner)));

    let stretches = stretches(profile.seconds(), BLOCK_S, resample);
    let minutes = stretches.flat_map(|stretch| minutes(profile, stretch));
    minutes.flat_map(move |(begins_s, minute, seconds)| {
        let begins_us = begins_s.saturating_mul(SECOND_US);
        let mut arrivals = Vec::new();
        for layer in &mut layers {
            for dealt in profile.minutes[minute].deal(seconds.clone(), &mut layer.draws) {
                let number = layer.next_number;
                layer.next_number += 1;
                if layer.kept == Share::ONE || layer.kept.hits(layer.draws.next_u64()) {
                    arrivals.push(Arrival {
                        at: Instant::from_micros(begins_us.saturating_add(dealt.at_us)),
                        number,
                        tokens: Some(RecordedTokens {
                            input: dealt.input,
                            output: dealt.output,
                            max_output: None,
                        }),
                        session: None,
                    });
                }
            }
        }
        arrivals.sort_by_key(|arrival| (arrival.at, arrival.number));
        if let Some(links) = &mut links {
            for arrival in &mut arrivals {
                arrival.session = Some(links.session_at(arrival.at));
            }
        }
        arrivals
    })
}

/// One complete rendering of a profile.
struct Layer {
    kept: Share,
    draws: ChaCha8Rng,
    next_number: u64,
}

/// The minutes of a stretch of a profile: begin (in s from the world's start), position, and which
/// of their seconds belong to it.
fn minutes(
    profile: &Profile,
    stretch: Stretch,
) -> impl Iterator<Item = (u64, usize, Range<usize>)> {
    let (mut minute, mut second) = ((stretch.from / 60) as usize, (stretch.from % 60) as usize);
    let mut done = 0;
    std::iter::from_fn(move || {
        let left = (stretch.length - done) as usize;
        let end = profile.minutes[minute].counts.len().min(second.saturating_add(left));
        let this = (stretch.begins.saturating_add(done), minute, second..end);
        done += (end - second) as u64;
        (minute, second) = ((minute + 1) % profile.minutes.len(), 0);
        (left > 0).then_some(this)
    })
}

/// A number for the pair; distinct pairs meet with the chance of a 64-bit hash.
fn mixed(session: u64, stretch: u64) -> u64 {
    NameHash::of("session").under(&format!("{session} {stretch}")).as_u64()
}
