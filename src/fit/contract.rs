//! Answers that break their contract, over time: a share in ordinary times, and weather where it drifts.

use windtunnel_policy::{Duration, Share};

use super::at_target::AtTarget;
use super::evidence::MINUTE_US;
use super::parameters::share;
use super::phases::{InPhase, Phase};
use super::segments::{Counted, cuts};
use super::weather::{self, Clock};
use crate::scenario::{Effects, Shape, WeatherSpec};

/// How often answers of a target break their contract.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Contract {
    /// In ordinary times.
    pub(super) share: Share,
    /// Answers in ordinary times, and those of them that broke it.
    pub(super) counted: [u64; 2],
    /// Times in which it is broken more often: from when to when, answers, and those that broke it.
    pub(super) drifts: Vec<(Phase, [u64; 2])>,
}

impl Contract {
    /// Minutes are cut where the share changes, as for failures.
    pub(super) fn of(target: &AtTarget) -> Contract {
        let minutes: Vec<(u64, [u64; 2])> =
            target.minutes.iter().map(|(&at, minute)| (at, minute.answers)).collect();
        if minutes.iter().all(|(_, [_, broken])| *broken == 0) {
            let good = minutes.iter().map(|(_, [good, _])| good).sum();
            return Contract { counted: [good, 0], ..Contract::default() };
        }
        let counted = |(_, answers): &(u64, [u64; 2])| Counted {
            outcomes: answers.to_vec(),
            ..Counted::default()
        };
        let (cuts, _) = cuts(&minutes.iter().map(counted).collect::<Vec<_>>());
        let starts = [(0, None)].into_iter().chain(cuts.iter().map(|c| (c.at, Some(c.evidence))));
        let starts: Vec<(usize, Option<f64>)> = starts.collect();
        let phases: Vec<(Phase, InPhase)> = starts
            .iter()
            .enumerate()
            .map(|(i, &(at, evidence))| {
                let next = starts.get(i + 1).map_or(minutes.len(), |next| next.0);
                let to = minutes.get(next).map_or(minutes[next - 1].0 + 1, |minute| minute.0);
                let mut outcomes = vec![0.0; 2];
                for (_, answers) in &minutes[at..next] {
                    outcomes.iter_mut().zip(answers).for_each(|(sum, &n)| *sum += n as f64);
                }
                let phase = Phase { from: minutes[at].0, to, evidence };
                (phase, InPhase { outcomes, ..InPhase::default() })
            })
            .collect();
        let counts: Vec<InPhase> = phases.iter().map(|(_, counts)| counts.clone()).collect();
        let ordinary = weather::ordinary(&counts);
        let mut base = InPhase::default();
        let mut drifts = Vec::new();
        for ((phase, counts), ordinary) in phases.into_iter().zip(ordinary) {
            match ordinary {
                true => base.add(&counts),
                false => drifts.push((phase, whole(&counts))),
            }
        }
        Contract { share: share(base.rate().unwrap_or(0.0)), counted: whole(&base), drifts }
    }

    /// What goes beyond ordinary times, as weather of the target of this name.
    pub(super) fn weather(&self, name: &str, clock: &Clock) -> Vec<WeatherSpec> {
        let since = |minute: u64| {
            Duration::from_micros((minute * MINUTE_US).saturating_sub(clock.origin_us))
        };
        let entry = |(i, (phase, [all, broken])): (usize, &(Phase, [u64; 2]))| {
            let rate = *broken as f64 / (*all).max(1) as f64;
            let beyond = 1.0 - (1.0 - rate) / f64::max(1.0 - self.share.as_f64(), 1e-9);
            let contract_failures = Some(share(beyond));
            let effects = Effects { contract_failures, ..Effects::default() };
            let name_of = format!("{name}-contract-{}", i + 1);
            let span = (since(phase.from), since(phase.to));
            weather::entry(name_of, name, span, clock, Shape::Step, effects)
        };
        self.drifts.iter().enumerate().filter_map(entry).collect()
    }
}

/// Answers, and those of them that broke the contract.
fn whole(counts: &InPhase) -> [u64; 2] {
    [counts.attempts() as u64, counts.failed() as u64]
}
