//! What an incident does at its severity, and what several do together.

use std::sync::Arc;

use windtunnel_policy::Share;
use windtunnel_policy::target::Capabilities;

use super::spells::Severity;
use super::{ActiveFailure, Conditions, Mix};
use crate::dist::Tables;
use crate::draw::NameHash;
use crate::scenario::{Effects, Factor, MixEntry, Range, Scenario, Stick, WeatherSpec};

const ONE_PPM: u64 = 1_000_000;

/// What a weather entry does, ready for any severity.
pub(super) struct Force<'a> {
    effects: &'a Effects,
    effect: NameHash,
    stick: Stick,
    mix: Arc<Vec<Mix>>,
    /// The classes whose attempts fail, where not those of all.
    classes: Option<Arc<[bool]>>,
}

/// What one spell does at its full level.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct FullForce {
    failures: Option<ActiveFailure>,
    speed_ppm: u64,
    slow: (Share, u64),
    capacity: Share,
    limits: Share,
    background_ppm: u64,
    contract_failures: Share,
    task_failures: Share,
    broken_streams: Share,
    /// Share of attempts in flight that are cut at the onset.
    pub(super) cut: Share,
}

impl<'a> Force<'a> {
    pub(super) fn new(scenario: &Scenario, spec: &'a WeatherSpec) -> Result<Force<'a>, String> {
        let failures = spec.effects.failures.as_ref();
        Ok(Force {
            effects: &spec.effects,
            effect: NameHash::of(&spec.name),
            stick: failures.and_then(|f| f.stick).unwrap_or(scenario.file.stick),
            mix: Arc::new(
                failures.map_or(Ok(Vec::new()), |f| cumulated(&f.mix, &scenario.tables))?,
            ),
            classes: failures.and_then(|failures| struck(&failures.where_required, scenario)),
        })
    }

    pub(super) fn at_severity(&self, severity: Severity) -> FullForce {
        let effects = self.effects;
        let share = |range: &Option<Range<Share>>, at| {
            range.as_ref().map_or(Share::ONE, |range| share_at(range, at))
        };
        FullForce {
            failures: effects.failures.as_ref().map(|failures| ActiveFailure {
                effect: self.effect,
                share: share_at(&failures.share, severity.failures),
                classes: self.classes.clone(),
                stick: self.stick,
                mix: self.mix.clone(),
            }),
            speed_ppm: effects.speed.map_or(ONE_PPM, |range| ppm_at(&range, severity.speed)),
            slow: effects
                .slow_share
                .as_ref()
                .map_or((Share::ZERO, ONE_PPM), |slow| (slow.share, slow.factor.ppm())),
            capacity: share(&effects.capacity, severity.capacity),
            limits: share(&effects.limits, severity.limits),
            background_ppm: effects.background.map_or(ONE_PPM, Factor::ppm),
            contract_failures: effects.contract_failures.unwrap_or(Share::ZERO),
            task_failures: effects.task_failures.unwrap_or(Share::ZERO),
            broken_streams: effects.broken_streams.unwrap_or(Share::ZERO),
            cut: effects.cut.as_ref().map_or(Share::ZERO, |cut| cut.share),
        }
    }
}

impl FullForce {
    /// Adds this force at `level` to the conditions.
    ///
    /// Speeds, capacities, limits and background loads multiply; shares of failures of one kind
    /// unite as independent chances; failures keep their own luck and stand apart. Of two shares
    /// of slow attempts both strike, and the factor is that which keeps the mean work.
    pub(super) fn add_to(&self, all: &mut Conditions, level: Share) {
        if let Some(failure) = &self.failures
            && failure.share > Share::ZERO
        {
            all.failures
                .push(ActiveFailure { share: failure.share.times(level), ..failure.clone() });
        }
        all.speed_ppm = times_ppm(all.speed_ppm, towards_ppm(self.speed_ppm, level));
        all.slow = both_slow(all.slow, (self.slow.0.times(level), self.slow.1));
        all.capacity = all.capacity.times(towards(self.capacity, level));
        all.limits = all.limits.times(towards(self.limits, level));
        all.background_ppm = times_ppm(all.background_ppm, towards_ppm(self.background_ppm, level));
        all.contract_failures = either(all.contract_failures, self.contract_failures.times(level));
        all.task_failures = either(all.task_failures, self.task_failures.times(level));
        all.broken_streams = either(all.broken_streams, self.broken_streams.times(level));
    }
}

/// The chance that at least one of two independent things happens.
pub(super) fn either(a: Share, b: Share) -> Share {
    a.complement().times(b.complement()).complement()
}

/// Product of two numbers in parts per million.
pub(super) fn times_ppm(a: u64, b: u64) -> u64 {
    u64::try_from(u128::from(a) * u128::from(b) / u128::from(ONE_PPM)).unwrap_or(u64::MAX)
}

/// From one (level 0) to `full` (level 1), in parts per million.
pub(super) fn towards_ppm(full: u64, level: Share) -> u64 {
    match full >= ONE_PPM {
        true => ONE_PPM + level.of(full - ONE_PPM),
        false => ONE_PPM - level.of(ONE_PPM - full),
    }
}

/// From one (level 0) to `full` (level 1).
fn towards(full: Share, level: Share) -> Share {
    full.complement().times(level).complement()
}

/// One share and one factor for two: attempts are slow if either strikes, and on average need as
/// much more work as the two together.
fn both_slow(a: (Share, u64), b: (Share, u64)) -> (Share, u64) {
    if a.0 == Share::ZERO || b.0 == Share::ZERO {
        return if a.0 == Share::ZERO { b } else { a };
    }
    let mean = |(share, factor): (Share, u64)| towards_ppm(factor, share);
    let share = either(a.0, b.0);
    let work = u128::from(times_ppm(mean(a), mean(b)));
    // share · factor + (1 − share) = work, solved for the factor.
    let ordinary = u128::from(share.complement().of(ONE_PPM));
    let slow = u128::from(share.of(ONE_PPM).max(1));
    let factor = work.saturating_sub(ordinary) * u128::from(ONE_PPM) / slow;
    (share, u64::try_from(factor).unwrap_or(u64::MAX))
}

fn share_at(range: &Range<Share>, at: u64) -> Share {
    let (from, to) = (range.from.as_bits(), range.to.as_bits());
    Share::from_bits(from + Share::from_bits(at).of(to - from))
}

fn ppm_at(range: &Range<Factor>, at: u64) -> u64 {
    let (from, to) = (range.from.ppm(), range.to.ppm());
    from + Share::from_bits(at).of(to - from)
}

/// Which classes require all of these; `None` for all classes where there are none. Names are checked
/// when the scenario is loaded.
fn struck(required: &[String], scenario: &Scenario) -> Option<Arc<[bool]>> {
    let named = required.iter().filter_map(|name| Capabilities::named(name));
    let required = named.fold(Capabilities::NONE, Capabilities::with);
    let classes = scenario.topology.classes.iter();
    (required != Capabilities::NONE)
        .then(|| classes.map(|class| class.required.covers(required)).collect())
}

/// The kinds with their weights added up and divided by the total.
fn cumulated(entries: &[MixEntry], tables: &Tables) -> Result<Vec<Mix>, String> {
    let total: u64 = entries.iter().map(|entry| u64::from(entry.weight)).sum();
    if total == 0 {
        return Err("the weights of `failures.mix` add up to nothing".into());
    }
    let mut sum = 0;
    let mix = entries.iter().map(|entry| {
        sum += u64::from(entry.weight);
        Ok(Mix {
            up_to: Share::ratio(sum, total),
            class: entry.class,
            status: entry.status,
            phase: entry.phase,
            retry_after: entry.retry_after,
            takes: entry.takes.as_ref().map(|takes| takes.dist_in(tables)).transpose()?,
            hang: entry.hang,
        })
    });
    mix.collect()
}
