//! A target's time cut into phases, and what was counted in each.

use super::at_target::{AtTarget, Minute};
use super::cells::Cells;
use super::evidence::MINUTE_US;
use super::hidden::Spell;
use super::segments::{Counted, cuts};
use super::stick;
use crate::scenario::Stick;

/// A stretch of time in which a target behaved alike.
#[derive(Clone, PartialEq, Debug)]
pub struct Phase {
    /// First minute, on the log's clock.
    pub from: u64,
    /// The minute after its last.
    pub to: u64,
    /// Twice the gain in log likelihood of beginning it here; none for the first.
    pub evidence: Option<f64>,
}

/// A target's phases, and what evidence each had to beat.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Phases {
    pub(super) phases: Vec<Phase>,
    pub(super) penalty: f64,
    /// Minutes in which everybody failed, where that is no chance of their phase: they stand beside
    /// the phases and count in none.
    pub(super) blackouts: Vec<u64>,
}

/// Minutes of that kind that chance may show in one log.
const BY_CHANCE: f64 = 0.01;

/// What was counted in one phase.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct InPhase {
    /// Good attempts, then those of each kind of failure.
    pub(super) outcomes: Vec<f64>,
    /// Times to the first output: how many, and the sums of their logarithms and squares.
    pub(super) times: [f64; 3],
    /// Attempts right after a failure here, and how many failed again.
    pub(super) again: [f64; 2],
}

/// All that the parameters of a target are estimated from.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Counts {
    pub(super) phases: Vec<InPhase>,
    /// What was counted in the minutes in which everybody failed.
    pub(super) blackout: InPhase,
    /// Times by block, each with its weight.
    pub(super) blocks: Vec<(u64, u64)>,
}

impl Phases {
    /// Cuts the time of a target that was hardly asked in these spells.
    pub(super) fn of(target: &AtTarget, spells: &[Spell]) -> Phases {
        let kinds = target.kinds.len() + 1;
        let series: Vec<Counted> = target
            .minutes
            .values()
            .map(|minute| {
                let mut outcomes = minute.outcomes.clone();
                outcomes.resize(kinds, 0);
                Counted { outcomes, times: minute.times }
            })
            .collect();
        let minutes: Vec<u64> = target.minutes.keys().copied().collect();
        let (cuts, penalty) = cuts(&series);
        let starts =
            [(0, None)].into_iter().chain(cuts.iter().map(|cut| (cut.at, Some(cut.evidence))));
        let starts: Vec<(usize, Option<f64>)> = starts.collect();
        let end = minutes.last().map_or(0, |last| last + 1);
        let phases = starts.iter().enumerate().filter(|_| !minutes.is_empty()).map(
            |(i, &(at, evidence))| {
                let to = starts.get(i + 1).map_or(end, |&(next, _)| minutes[next]);
                Phase { from: minutes[at], to, evidence }
            },
        );
        let mut all = Phases { phases: phases.collect(), penalty, blackouts: Vec::new() };
        all.blackouts = all.blackouts_of(target, spells);
        all
    }

    /// Minutes whose attempts all failed, so many that their phase would hardly ever show one. Those of
    /// which little was seen are no such minutes.
    fn blackouts_of(&self, target: &AtTarget, spells: &[Spell]) -> Vec<u64> {
        let counts = self.as_counted(target);
        let most = libm::log(target.minutes.len().max(1) as f64 / BY_CHANCE);
        let stands_out = |(&at, minute): (&u64, &Minute)| {
            let all: u64 = minute.outcomes.iter().sum();
            let failed: u64 = minute.outcomes.iter().skip(1).sum();
            let phase = &counts.phases[self.at(at)];
            // Its phase without it.
            let others = f64::max(phase.attempts() - all as f64, 0.0);
            let rate = (phase.failed() - failed as f64 + 1.0) / (others + 2.0);
            let chance = all as f64 * -libm::log(rate.min(1.0));
            let (from, to) = (at * MINUTE_US, (at + 1) * MINUTE_US);
            let hidden = || spells.iter().any(|spell| spell.covers(from, to));
            (all > 0 && failed == all && chance > most && !hidden()).then_some(at)
        };
        target.minutes.iter().filter_map(stands_out).collect()
    }

    /// The position of the phase this minute is in.
    pub(super) fn at(&self, minute: u64) -> usize {
        self.phases.partition_point(|phase| phase.from <= minute).saturating_sub(1)
    }

    /// Counts every minute once, and every block as often as it weighs.
    pub(super) fn count(&self, target: &AtTarget, block_weight: impl Fn(u64) -> u64) -> Counts {
        let mut phases = vec![InPhase::default(); self.phases.len()];
        let mut later = vec![0; self.phases.len()];
        let mut blackout = InPhase::default();
        for (&at, minute) in &target.minutes {
            let phase = match self.blackouts.binary_search(&at) {
                Ok(_) => &mut blackout,
                Err(_) => {
                    later[self.at(at)] += minute.later;
                    &mut phases[self.at(at)]
                }
            };
            phase.outcomes.resize(target.kinds.len() + 1, 0.0);
            for (sum, &count) in phase.outcomes.iter_mut().zip(&minute.outcomes) {
                *sum += count as f64;
            }
            for (sum, value) in phase.times.iter_mut().zip(minute.times) {
                *sum += value;
            }
            for (sum, count) in phase.again.iter_mut().zip(minute.again) {
                *sum += count as f64;
            }
        }
        for (phase, later) in phases.iter_mut().zip(later) {
            phase.without_later(later as f64);
        }
        let blocks = target.blocks.positions().map(|block| (block, block_weight(block)));
        Counts { phases, blackout, blocks: blocks.collect() }
    }

    /// As it was counted.
    pub(super) fn as_counted(&self, target: &AtTarget) -> Counts {
        self.count(target, |_| 1)
    }

    /// The phase in which the middle of a block of this target lies.
    pub(super) fn of_block(&self, target: &AtTarget, block: u64) -> usize {
        self.at(target.blocks.middle(block))
    }
}

impl InPhase {
    /// Attempts.
    pub(super) fn attempts(&self) -> f64 {
        // A sum of nothing is a negative zero.
        self.outcomes.iter().sum::<f64>() + 0.0
    }

    /// Those that failed.
    pub(super) fn failed(&self) -> f64 {
        // As above.
        self.outcomes.iter().skip(1).sum::<f64>() + 0.0
    }

    /// The share that failed; none where nothing was sent.
    pub(super) fn rate(&self) -> Option<f64> {
        (self.attempts() > 0.0).then(|| self.failed() / self.attempts())
    }

    /// Takes so many later tries out, which failed again as often as it is assumed that failures stick.
    fn without_later(&mut self, later: f64) {
        let (all, failed) = (self.attempts(), self.failed());
        if later == 0.0 || failed == 0.0 || later >= all {
            return;
        }
        let first = all - later;
        let left = stick::first_failed(first, later, failed, Stick::default().request.as_f64());
        self.outcomes[0] = first - left;
        self.outcomes[1..].iter_mut().for_each(|count| *count *= left / failed);
    }

    /// Mean logarithm of the time to the first output.
    pub(super) fn mean_log(&self) -> Option<f64> {
        (self.times[0] > 0.0).then(|| self.times[1] / self.times[0])
    }

    pub(super) fn add(&mut self, other: &InPhase) {
        let length = self.outcomes.len().max(other.outcomes.len());
        self.outcomes.resize(length, 0.0);
        self.outcomes.iter_mut().zip(&other.outcomes).for_each(|(a, b)| *a += b);
        self.times.iter_mut().zip(other.times).for_each(|(a, b)| *a += b);
        self.again.iter_mut().zip(other.again).for_each(|(a, b)| *a += b);
    }
}

/// Cells of some blocks together.
pub(super) fn pooled<'a>(cells: impl Iterator<Item = (&'a Cells, u64)>) -> Cells {
    let mut all = Cells::default();
    cells.for_each(|(cells, weight)| all.merge(cells, weight));
    all
}
