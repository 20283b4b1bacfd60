//! From phases to weather: what goes beyond ordinary times, when.

use windtunnel_policy::outcome::{FailureClass, Phase as Progress};
use windtunnel_policy::{Duration, Share};

use super::at_target::{AtTarget, Kind};
use super::evidence::MINUTE_US;
use super::hidden::Stretch;
use super::parameters::share;
use super::phases::{Counts, InPhase, Phases};
use crate::scenario::{
    Domain, Effects, Factor, FailureEffect, MixEntry, Range, Shape, Stick, WeatherSpec, When,
};

/// Where the scenario's time begins and ends on the log's clock, µs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Clock {
    pub(super) origin_us: u64,
    pub(super) horizon_us: u64,
}

/// Share of the attempts that ordinary times must hold to be taken for them.
const LEAST_ORDINARY: f64 = 0.05;
/// Standard errors by which a phase must fail more than ordinary times.
const CLEAR: f64 = 3.0;
/// Parts that weights of a mix are told in.
const PARTS: f64 = 10_000.0;
/// How long the last phase is taken to go on after the log.
const GOES_ON: Duration = Duration::from_secs(3_600);

/// Which phases are ordinary times: those that do not clearly fail more than the best that hold
/// enough attempts.
pub(super) fn ordinary(phases: &[InPhase]) -> Vec<bool> {
    let all: f64 = phases.iter().map(InPhase::attempts).sum();
    let enough = |phase: &&InPhase| phase.attempts() >= LEAST_ORDINARY * all;
    let rate = |phase: &InPhase| phase.rate().unwrap_or(0.0);
    let best = phases.iter().filter(enough).map(rate).min_by(f64::total_cmp);
    let best = best.or_else(|| phases.iter().map(rate).min_by(f64::total_cmp)).unwrap_or(0.0);
    let within = |phase: &InPhase| {
        let n = phase.attempts().max(1.0);
        // One failure more or less is never clear.
        let error = libm::sqrt(f64::max(best * (1.0 - best) / n, 1.0 / (n * n)));
        rate(phase) <= best + CLEAR * error
    };
    phases.iter().map(within).collect()
}

/// The weather entries of one target, named after it.
#[allow(clippy::too_many_arguments)]
pub(super) fn of(
    name: &str,
    target: &AtTarget,
    phases: &Phases,
    counts: &Counts,
    hidden: &[Stretch],
    ordinary: &[bool],
    base: &InPhase,
    slower: &[f64],
    stick: Stick,
    clock: &Clock,
) -> Vec<WeatherSpec> {
    let spans: Vec<(Duration, Duration)> = spans(phases, clock);
    let pieces = pieces(&spans, counts, hidden, ordinary, base, clock);
    let mut entries = Vec::new();
    for run in runs(&pieces) {
        let pieces = &pieces[run];
        let (from, to) = (pieces[0].from, pieces[pieces.len() - 1].to);
        let parts: Vec<&Excess> = pieces.iter().filter_map(|piece| piece.excess.as_ref()).collect();
        let peak = parts.iter().map(|part| part.share).fold(0.0, f64::max);
        let points = pieces
            .iter()
            .zip(&parts)
            .map(|(piece, part)| (piece.from.saturating_sub(from), share(part.share / peak)));
        let shape = if parts.len() == 1 {
            Shape::Step
        } else {
            Shape::Course { points: points.collect(), smooth: false }
        };
        let failures = FailureEffect {
            share: Range::only(share(peak)),
            where_required: Vec::new(),
            mix: mix(target, &parts),
            stick: Some(stick),
        };
        let effects = Effects { failures: Some(failures), ..Effects::default() };
        entries.extend(entry(
            format!("{name}-failing-{}", entries.len() + 1),
            name,
            (from, to),
            clock,
            shape,
            effects,
        ));
    }
    entries.extend(blackouts(name, target, phases, counts, stick, clock));
    let mut number = 0;
    for (ratio, span) in slower.iter().zip(&spans).filter(|(ratio, _)| **ratio != 1.0) {
        number += 1;
        let speed = Factor::new(libm::round(1e4 / ratio) / 1e4).map(Range::only);
        let effects = Effects { speed, ..Effects::default() };
        entries.extend(entry(
            format!("{name}-pace-{number}"),
            name,
            *span,
            clock,
            Shape::Step,
            effects,
        ));
    }
    entries
}

/// The minutes in which everybody failed, as one entry.
fn blackouts(
    name: &str,
    target: &AtTarget,
    phases: &Phases,
    counts: &Counts,
    stick: Stick,
    clock: &Clock,
) -> Option<WeatherSpec> {
    let since =
        |minute: u64| Duration::from_micros((minute * MINUTE_US).saturating_sub(clock.origin_us));
    let (first, last) = (*phases.blackouts.first()?, *phases.blackouts.last()?);
    let mut points = Vec::new();
    for spell in phases.blackouts.chunk_by(|a, b| a + 1 == *b) {
        points.push((since(spell[0]).saturating_sub(since(first)), Share::ONE));
        let end = spell[spell.len() - 1];
        if end != last {
            points.push((since(end + 1).saturating_sub(since(first)), Share::ZERO));
        }
    }
    let attempts = counts.blackout.attempts();
    let kinds = counts.blackout.outcomes.iter().skip(1).map(|count| count / attempts).collect();
    let failures = FailureEffect {
        share: Range::only(Share::ONE),
        where_required: Vec::new(),
        mix: mix(target, &[&Excess { share: 1.0, kinds, attempts }]),
        stick: Some(stick),
    };
    let shape = match points.len() {
        1 => Shape::Step,
        _ => Shape::Course { points, smooth: false },
    };
    let effects = Effects { failures: Some(failures), ..Effects::default() };
    entry(
        format!("{name}-blackout-1"),
        name,
        (since(first), since(last + 1)),
        clock,
        shape,
        effects,
    )
}

/// What fails beyond ordinary times in one phase.
struct Excess {
    /// Share of attempts.
    share: f64,
    /// Of each kind of failure, as shares of attempts.
    kinds: Vec<f64>,
    attempts: f64,
}

impl Excess {
    /// Weather strikes before a card's ordinary failures: 1 − p = (1 − weather) · (1 − ordinary).
    fn of(phase: &InPhase, base: &InPhase) -> Option<Excess> {
        let (p, b) = (phase.rate()?, base.rate().unwrap_or(0.0));
        let beyond = 1.0 - (1.0 - p) / (1.0 - b).max(1e-9);
        if share(beyond) == Share::ZERO {
            return None;
        }
        let attempts = phase.attempts();
        let kinds = (1..phase.outcomes.len()).map(|k| {
            let ordinary =
                base.outcomes.get(k).map_or(0.0, |count| count / base.attempts().max(1.0));
            f64::max(phase.outcomes[k] / attempts - (1.0 - beyond) * ordinary, 0.0)
        });
        Some(Excess { share: beyond, kinds: kinds.collect(), attempts })
    }
}

/// A time in which a target behaves alike.
struct Piece {
    from: Duration,
    to: Duration,
    /// None in ordinary times.
    excess: Option<Excess>,
}

/// Phases, with what is taken for hidden times in place of those parts of them.
fn pieces(
    spans: &[(Duration, Duration)],
    counts: &Counts,
    hidden: &[Stretch],
    ordinary: &[bool],
    base: &InPhase,
    clock: &Clock,
) -> Vec<Piece> {
    let since = |us: u64| Duration::from_micros(us.saturating_sub(clock.origin_us));
    let mut pieces: Vec<Piece> = hidden
        .iter()
        .map(|stretch| Piece {
            from: since(stretch.from_us),
            to: since(stretch.to_us),
            excess: Excess::of(&stretch.taken, base),
        })
        .collect();
    let hidden: Vec<(Duration, Duration)> = pieces.iter().map(|p| (p.from, p.to)).collect();
    for ((&(mut from, to), phase), ordinary) in spans.iter().zip(&counts.phases).zip(ordinary) {
        let mut seen = |from: Duration, to: Duration| {
            let excess = if *ordinary { None } else { Excess::of(phase, base) };
            pieces.push(Piece { from, to, excess });
        };
        let start = from;
        for &(begin, end) in hidden.iter().filter(|(begin, end)| *begin < to && *end > start) {
            seen(from, begin);
            from = end;
        }
        seen(from, to);
    }
    pieces.retain(|piece| piece.from < piece.to);
    pieces.sort_by_key(|piece| piece.from);
    pieces
}

/// Runs of neighbouring pieces beyond ordinary times whose mixes are alike.
fn runs(pieces: &[Piece]) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = Vec::new();
    let mut sum: Vec<f64> = Vec::new();
    for (i, piece) in pieces.iter().enumerate() {
        let Some(part) = &piece.excess else { continue };
        let failed: Vec<f64> = part.kinds.iter().map(|kind| kind * part.attempts).collect();
        match runs.last_mut() {
            Some(run) if run.end == i && alike(&sum, &failed) => {
                run.end = i + 1;
                sum.iter_mut().zip(&failed).for_each(|(sum, count)| *sum += count);
            }
            _ => {
                runs.push(i..i + 1);
                sum = failed;
            }
        }
    }
    runs
}

/// Whether two counts of kinds may be of one mix, by the likelihood ratio against Schwarz's
/// penalty.
fn alike(a: &[f64], b: &[f64]) -> bool {
    let (all_a, all_b) = (a.iter().sum::<f64>(), b.iter().sum::<f64>());
    let all = all_a + all_b;
    if all_a == 0.0 || all_b == 0.0 {
        return true;
    }
    let term = |count: f64, of: f64, expected: f64| {
        if count > 0.0 { 2.0 * count * libm::log(count / of / expected) } else { 0.0 }
    };
    let ratio: f64 = a
        .iter()
        .zip(b)
        .map(|(&x, &y)| {
            let expected = (x + y) / all;
            term(x, all_a, expected) + term(y, all_b, expected)
        })
        .sum();
    let kinds = a.iter().zip(b).filter(|(x, y)| **x + **y > 0.0).count();
    ratio <= kinds as f64 * libm::log(all.max(2.0))
}

fn mix(target: &AtTarget, parts: &[&Excess]) -> Vec<MixEntry> {
    let of = |kind: usize| -> f64 {
        parts.iter().map(|part| part.kinds.get(kind).copied().unwrap_or(0.0) * part.attempts).sum()
    };
    let all: f64 = (0..target.kinds.len()).map(of).sum();
    let entries = target.kinds.iter().enumerate().filter_map(|(i, kind)| {
        let weight = libm::round(of(i) / all.max(1e-12) * PARTS) as u32;
        (weight > 0).then(|| MixEntry {
            class: kind.class,
            status: status(kind),
            phase: kind.phase,
            weight,
            retry_after: hint(target, kind),
            takes: None,
            hang: kind.hang,
        })
    });
    entries.collect()
}

/// The status a scenario may name for this kind.
pub(super) fn status(kind: &Kind) -> u16 {
    match (kind.status, kind.phase) {
        (_, _) if kind.hang => 0,
        (200, Progress::BeforeHeaders) => 500,
        (0 | 200 | 400..=599, _) => kind.status,
        _ => 0,
    }
}

/// The median hint of a target, for the kinds that carry one.
pub(super) fn hint(target: &AtTarget, kind: &Kind) -> Option<Duration> {
    if kind.hang || !matches!(kind.class, FailureClass::RateLimited | FailureClass::Overloaded) {
        return None;
    }
    let hints = super::survival::estimate(&target.totals.hints, &super::cells::Cells::default());
    hints.quantile(0.5).map(Duration::from_millis)
}

/// Begin and end of each phase in the scenario's time; the last goes on.
fn spans(phases: &Phases, clock: &Clock) -> Vec<(Duration, Duration)> {
    let since =
        |minute: u64| Duration::from_micros((minute * MINUTE_US).saturating_sub(clock.origin_us));
    let last = phases.phases.len().saturating_sub(1);
    let of = |(i, phase): (usize, &super::phases::Phase)| {
        let from = if i == 0 { Duration::ZERO } else { since(phase.from) };
        let to = if i == last {
            Duration::from_micros(clock.horizon_us) + GOES_ON
        } else {
            since(phase.to)
        };
        (from, to)
    };
    phases.phases.iter().enumerate().map(of).collect()
}

/// An entry from begin to end; none where it would begin after all that is simulated.
pub(super) fn entry(
    name: String,
    target: &str,
    (from, to): (Duration, Duration),
    clock: &Clock,
    shape: Shape,
    effects: Effects,
) -> Option<WeatherSpec> {
    let lasts = to.saturating_sub(from);
    if lasts.is_zero() || from.as_micros() >= clock.horizon_us {
        return None;
    }
    let when = When::Window { from: Range::only(from), lasts: Range::only(lasts) };
    let hits = Domain { target: Some(target.to_owned()), ..Domain::default() };
    Some(WeatherSpec { name, hits, when, shape, effects })
}
