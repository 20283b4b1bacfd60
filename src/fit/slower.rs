//! How much slower a target was in each phase, where the slowest of its answers were given up.
//!
//! A gateway that gives up after eight seconds sees of a brownout the fastest answers alone: their mean says too
//! little, and what was given up looks like failures. Here the logarithms of times in a phase are taken to lie as
//! in most of the time, but for a shift. The mean of those below the limit tells the shift, and the shift
//! tells how many must lie beyond the limit. Only what was given up beyond that is never answered.
//!
//! Where nothing came in time, nobody saw whether anything would have come later: how much of it would is
//! for the caller to say.

use super::at_target::{AtTarget, Kind};
use super::cells::Cells;
use super::phases::{Counts, InPhase, Phases, pooled};
use super::survival;

/// Smaller changes of the times are not told apart from load.
const LEAST_CHANGE: f64 = 0.05;
/// Standard errors from which a change of the times is clear.
const CLEAR: f64 = 4.0;
/// Where fewer were seen, and as many given up, nothing tells slow from silent.
const LEAST_SEEN: f64 = 5.0;

/// How slow a target was in one phase.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Slowed {
    /// How many times as long the first output took as in most of the time.
    pub(super) times: f64,
    /// Which share of what was given up was slow, and no more than that.
    pub(super) merely_slow: f64,
}

impl Slowed {
    const NOT: Slowed = Slowed { times: 1.0, merely_slow: 0.0 };

    /// What was counted, with those that were merely slow among the good.
    pub(super) fn without_slow(&self, phase: &mut InPhase, kinds: &[Kind]) {
        let Some((good, failed)) = phase.outcomes.split_first_mut() else { return };
        for (count, _) in failed.iter_mut().zip(kinds).filter(|(_, kind)| kind.hang) {
            let slow = *count * self.merely_slow;
            *count -= slow;
            *good += slow;
        }
    }
}

/// By phase; `untold` is the share that was merely slow of what was given up where nothing tells.
pub(super) fn by_phase(
    target: &AtTarget,
    phases: &Phases,
    counts: &Counts,
    untold: f64,
) -> Vec<Slowed> {
    let mut known: Vec<(f64, &InPhase)> =
        counts.phases.iter().filter_map(|phase| Some((phase.mean_log()?, phase))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = known.iter().map(|(_, phase)| phase.times[0]).sum::<f64>() / 2.0;
    let mut sum = 0.0;
    let usual = known.iter().find(|(_, phase)| {
        sum += phase.times[0];
        sum >= half
    });
    let Some(&(usual, most)) = usual else { return vec![Slowed::NOT; counts.phases.len()] };
    let spread = libm::sqrt(variance(most));
    let limits = limits(target, phases, counts);
    let of = |(phase, (limit, cut)): (&InPhase, (Option<f64>, f64))| {
        // What the product's deadline cut is no failure, and as slow.
        let (seen, given_up) = (phase.times[0], given_up(phase, &target.kinds) + cut);
        if seen < LEAST_SEEN && given_up >= LEAST_SEEN {
            // As slow as it must have been for hardly one to be seen.
            let least = |limit| {
                furthest(usual, limit + 8.0 * spread, |center| {
                    normal((limit - center) / spread) * (given_up + seen) > seen.max(1.0)
                })
            };
            let times = limit.map_or(1.0, |limit| libm::exp(least(limit) - usual));
            return Slowed { times, merely_slow: untold };
        }
        let Some(mean) = phase.mean_log() else { return Slowed::NOT };
        let error = libm::sqrt(variance(phase) / seen);
        let clear = seen > 1.0 && (mean - usual).abs() > CLEAR * error;
        let slowed = match limit {
            Some(limit) if given_up > 0.0 && spread > 0.0 && mean > usual => {
                cut_off(mean, spread, limit, seen, given_up)
            }
            _ => (mean, 0.0),
        };
        let times = libm::exp(slowed.0 - usual);
        match clear && (times - 1.0).abs() > LEAST_CHANGE {
            true => Slowed { times, merely_slow: slowed.1 },
            false => Slowed::NOT,
        }
    };
    counts.phases.iter().zip(limits).map(of).collect()
}

/// First tries that were given up.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct GivenUp {
    pub(super) all: f64,
    /// Those of them that are taken for merely slow.
    pub(super) slow: f64,
    /// Those of phases in which hardly anything came in time.
    pub(super) untold: f64,
}

impl GivenUp {
    /// In all phases together.
    pub(super) fn of(target: &AtTarget, counts: &Counts, slowed: &[Slowed]) -> GivenUp {
        let mut sums = GivenUp::default();
        for (phase, slowed) in counts.phases.iter().zip(slowed) {
            let given_up = given_up(phase, &target.kinds);
            sums.all += given_up;
            sums.slow += given_up * slowed.merely_slow;
            if phase.times[0] < LEAST_SEEN && given_up >= LEAST_SEEN {
                sums.untold += given_up;
            }
        }
        sums
    }
}

fn variance(phase: &InPhase) -> f64 {
    let [n, x, xx] = phase.times;
    f64::max(xx / n - (x / n) * (x / n), 0.0)
}

/// First tries that were given up before they said anything.
fn given_up(phase: &InPhase, kinds: &[Kind]) -> f64 {
    let counts = kinds.iter().zip(phase.outcomes.iter().skip(1));
    counts.filter(|(kind, _)| kind.hang).map(|(_, count)| count).sum()
}

/// By phase, the logarithm of the time after which attempts were given up, that of the one in the middle; and how
/// many of them the product's deadline cut.
fn limits(target: &AtTarget, phases: &Phases, counts: &Counts) -> Vec<(Option<f64>, f64)> {
    let of = |phase: usize| {
        let blocks = counts.blocks.iter();
        let own = blocks.filter(|(block, _)| phases.of_block(target, *block) == phase);
        let own = own.map(|(block, weight)| (target.blocks.get(*block), *weight));
        let cut: u64 = own.clone().map(|(block, weight)| block.cut_short * weight).sum();
        let cells = pooled(own.map(|(block, weight)| (&block.given_up, weight)));
        let given_up = survival::estimate(&cells, &Cells::default());
        (given_up.quantile(0.5).map(|us| libm::log(us.max(1) as f64)), cut as f64)
    };
    (0..counts.phases.len()).map(of).collect()
}

/// The mean of normal values of which those below `limit` have this mean, and which share of what was given up
/// lies above it. Where that may be all of it, it is; no more is put there than was given up.
fn cut_off(mean: f64, spread: f64, limit: f64, seen: f64, given_up: f64) -> (f64, f64) {
    let below = |center: f64| normal((limit - center) / spread);
    let mean_below = |center: f64| {
        let z = (limit - center) / spread;
        let density = libm::exp(-z * z / 2.0) / libm::sqrt(2.0 * std::f64::consts::PI);
        center - spread * density / normal(z).max(1e-300)
    };
    let share = seen / (seen + given_up);
    let most = limit + 8.0 * spread;
    let all_slow = furthest(mean, most, |center| below(center) > share);
    if mean_below(all_slow) < mean + LEAST_CHANGE {
        return (all_slow, 1.0);
    }
    let center = furthest(mean, most, |center| mean_below(center) < mean);
    let beyond = seen * (1.0 - below(center)) / below(center);
    (center, f64::min(beyond / given_up, 1.0))
}

/// The last value from `low` to `high` of which this holds, as it does below it.
fn furthest(mut low: f64, mut high: f64, holds: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

/// The share of a standard normal distribution below this.
fn normal(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of a standard normal distribution lies below its center, and that half has the mean −√(2/π).
    #[test]
    fn the_seen_half_tells_the_whole() {
        let half = -libm::sqrt(2.0 / std::f64::consts::PI);
        let (center, slow) = cut_off(half, 1.0, 0.0, 500.0, 500.0);
        assert!(center.abs() < 1e-6 && (slow - 1.0).abs() < 1e-6, "{center} {slow}");
        // Twice as many were given up: half of them are never answered.
        let (center, slow) = cut_off(half, 1.0, 0.0, 500.0, 1_000.0);
        assert!(center.abs() < 1e-6 && (slow - 0.5).abs() < 1e-6, "{center} {slow}");
        // Fewer were: no more lie beyond the limit, whatever the mean says.
        let (center, slow) = cut_off(half, 1.0, 0.0, 500.0, 400.0);
        assert!((normal(-center) - 5.0 / 9.0).abs() < 1e-6 && (slow - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_limit_far_off_changes_nothing() {
        let (center, slow) = cut_off(1.0, 0.5, 10.0, 500.0, 50.0);
        assert!((center - 1.0).abs() < 1e-6 && slow < 1e-6, "{center} {slow}");
    }
}
