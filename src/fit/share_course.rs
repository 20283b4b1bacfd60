//! The course of a failing share, as far as a few tries tell it: a Markov chain over levels of the share, seen
//! through the tries of each ten seconds.
//!
//! Which tries are made depends on those before, where a breaker opens after failures and closes after a good
//! probe. A likelihood does not mind, as long as it is of all tries: what chose the moments to look at says
//! nothing of what was seen there. Single tries picked out by their place around a hole would mislead.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::tries::Tries;
use crate::draw::below;

/// Levels, at equal steps of the angle whose squared sine is the share: steps that as many tries tell apart
/// anywhere.
const LEVELS: usize = 24;
/// Length of a step in time, µs.
const STEP_US: u64 = 10_000_000;
/// Of a longer time, steps are longer.
const MOST_STEPS: u64 = 50_000;
/// Chances that a share moves to a level near by in one step, and that it jumps to any: each counts by how
/// likely it makes what was seen.
const MOVES: [f64; 4] = [0.01, 0.05, 0.2, 0.6];
const JUMPS: [f64; 3] = [1e-4, 1e-3, 1e-2];
/// Levels within which most moves stay.
const NEAR: f64 = 2.0;

type ByLevel = [f64; LEVELS];

/// A failing share over some time.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct ShareCourse {
    from_us: u64,
    step_us: u64,
    /// By step: good and failed tries.
    seen: Vec<[f64; 2]>,
    /// Chains, and how likely each is.
    chains: Vec<(Chain, f64)>,
    /// By step: the share, by all that was seen.
    mean: Vec<f64>,
}

/// From one level to the next.
#[derive(Clone, PartialEq, Debug)]
struct Chain(Vec<ByLevel>);

impl ShareCourse {
    /// From these tries, of this time.
    pub(super) fn of(tries: &Tries, from_us: u64, to_us: u64) -> ShareCourse {
        let step_us = STEP_US.max((to_us - from_us) / MOST_STEPS);
        let steps = (to_us - from_us).div_ceil(step_us).max(1) as usize;
        let mut seen = vec![[0.0; 2]; steps];
        for (at_us, failed) in tries.between(from_us, to_us) {
            seen[((at_us - from_us) / step_us) as usize][usize::from(failed)] += 1.0;
        }
        let chains = MOVES.iter().flat_map(|&moves| JUMPS.map(|jumps| Chain::new(moves, jumps)));
        let tried: Vec<(Chain, f64, Vec<f64>)> = chains
            .map(|chain| {
                let (until, likelihood) = forward(&seen, &chain);
                let means = means(&seen, &until, &chain);
                (chain, likelihood, means)
            })
            .collect();
        let most =
            tried.iter().map(|(_, likelihood, _)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
        let all: f64 = tried.iter().map(|(_, likelihood, _)| libm::exp(likelihood - most)).sum();
        let (mut chains, mut mean) = (Vec::new(), vec![0.0; steps]);
        for (chain, likelihood, means) in tried {
            let weight = libm::exp(likelihood - most) / all;
            mean.iter_mut().zip(means).for_each(|(mean, own)| *mean += weight * own);
            chains.push((chain, weight));
        }
        ShareCourse { from_us, step_us, seen, chains, mean }
    }

    /// The most likely share of each step that lies in this time, with its begin and end.
    pub(super) fn mean(&self, from_us: u64, to_us: u64) -> Vec<(u64, u64, f64)> {
        self.clipped(&self.mean, from_us, to_us)
    }

    /// A course that may be as well, drawn from all that what was seen leaves open.
    pub(super) fn drawn(&self, draws: &mut ChaCha8Rng) -> Vec<f64> {
        let weights: Vec<f64> = self.chains.iter().map(|(_, weight)| *weight).collect();
        let chain = &self.chains[one_of(&weights, draws)].0;
        let (until, _) = forward(&self.seen, chain);
        let mut drawn = vec![0.0; until.len()];
        let mut next: Option<usize> = None;
        for (at, until) in until.iter().enumerate().rev() {
            let weight = |level: usize| next.map_or(1.0, |next| chain.0[level][next]);
            let weights: Vec<f64> = (0..LEVELS).map(|level| until[level] * weight(level)).collect();
            let level = one_of(&weights, draws);
            drawn[at] = share(level);
            next = Some(level);
        }
        drawn
    }

    /// Shares by step, those of this time.
    pub(super) fn clipped(&self, shares: &[f64], from_us: u64, to_us: u64) -> Vec<(u64, u64, f64)> {
        let step = |at: u64| (at.saturating_sub(self.from_us) / self.step_us) as usize;
        let last = step(to_us.saturating_sub(1)).min(shares.len() - 1);
        let of = |at: usize| {
            let begin = self.from_us + at as u64 * self.step_us;
            (begin.max(from_us), (begin + self.step_us).min(to_us), shares[at])
        };
        (step(from_us)..=last).map(of).collect()
    }
}

impl Chain {
    fn new(moves: f64, jumps: f64) -> Chain {
        let near = |from: usize, to: usize| match from.abs_diff(to) {
            0 => 0.0,
            off => libm::exp(-(off as f64) / NEAR),
        };
        let row = |from: usize| -> ByLevel {
            let all: f64 = (0..LEVELS).map(|to| near(from, to)).sum();
            std::array::from_fn(|to| {
                let stays = if from == to { 1.0 - moves - jumps } else { 0.0 };
                stays + moves * near(from, to) / all + jumps / LEVELS as f64
            })
        };
        Chain((0..LEVELS).map(row).collect())
    }

    /// How likely each level is one step later.
    fn on(&self, before: &ByLevel) -> ByLevel {
        let mut after = [0.0; LEVELS];
        for (row, weight) in self.0.iter().zip(before) {
            after.iter_mut().zip(row).for_each(|(after, chance)| *after += weight * chance);
        }
        after
    }

    /// How likely what comes is from each level, where it is so from the levels one step later.
    fn back(&self, after: &ByLevel) -> ByLevel {
        std::array::from_fn(|from| self.0[from].iter().zip(after).map(|(a, b)| a * b).sum())
    }
}

/// The share at a level.
fn share(level: usize) -> f64 {
    let sine = libm::sin((level as f64 + 0.5) / LEVELS as f64 * std::f64::consts::FRAC_PI_2);
    sine * sine
}

/// How likely it is at each level to see these good and failed ones; times what is the same for all.
fn chances([good, failed]: [f64; 2], logs: &[[f64; 2]]) -> (ByLevel, f64) {
    let log = |level: usize| good * logs[level][0] + failed * logs[level][1];
    let most = (0..LEVELS).map(log).fold(f64::NEG_INFINITY, f64::max);
    (std::array::from_fn(|level| libm::exp(log(level) - most)), most)
}

fn logs() -> Vec<[f64; 2]> {
    (0..LEVELS).map(|level| [1.0 - share(level), share(level)].map(libm::log)).collect()
}

/// By step how likely each level is by what was seen until then, and the log likelihood of all of it.
fn forward(seen: &[[f64; 2]], chain: &Chain) -> (Vec<ByLevel>, f64) {
    let logs = logs();
    let (mut until, mut likelihood) = (Vec::with_capacity(seen.len()), 0.0);
    let mut level = [1.0 / LEVELS as f64; LEVELS];
    for counts in seen {
        if !until.is_empty() {
            level = chain.on(&level);
        }
        if *counts != [0.0; 2] {
            let (chances, most) = chances(*counts, &logs);
            level.iter_mut().zip(chances).for_each(|(level, chance)| *level *= chance);
            let all = normalise(&mut level);
            likelihood += libm::log(all) + most;
        }
        until.push(level);
    }
    (until, likelihood)
}

/// By step the mean share by all that was seen.
fn means(seen: &[[f64; 2]], until: &[ByLevel], chain: &Chain) -> Vec<f64> {
    let logs = logs();
    let mut after = [1.0; LEVELS];
    let mut means = vec![0.0; seen.len()];
    for at in (0..seen.len()).rev() {
        let weights = until[at].iter().zip(after).map(|(until, after)| until * after);
        let (all, sum) = weights.enumerate().fold((0.0, 0.0), |(all, sum), (level, weight)| {
            (all + weight, sum + weight * share(level))
        });
        means[at] = sum / all;
        if seen[at] != [0.0; 2] {
            let (chances, _) = chances(seen[at], &logs);
            after.iter_mut().zip(chances).for_each(|(after, chance)| *after *= chance);
        }
        after = chain.back(&after);
        normalise(&mut after);
    }
    means
}

/// A place, drawn by its weight.
fn one_of(weights: &[f64], draws: &mut ChaCha8Rng) -> usize {
    let all: f64 = weights.iter().sum();
    let mut left = all * below(draws.next_u64(), 1 << 32) as f64 / (1_u64 << 32) as f64;
    let hit = weights.iter().position(|weight| {
        left -= weight;
        left < 0.0
    });
    hit.unwrap_or(weights.len() - 1)
}

/// Makes the sum one; what it was.
fn normalise(levels: &mut ByLevel) -> f64 {
    let all: f64 = levels.iter().sum();
    levels.iter_mut().for_each(|level| *level /= all);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::{NameHash, Purpose, stream};

    const SECOND: u64 = 1_000_000;

    /// A try each second at which `fails` says something, of so many seconds.
    fn course(seconds: u64, fails: impl Fn(u64) -> Option<bool>) -> ShareCourse {
        let made = (0..seconds).filter_map(|at| Some((at * SECOND, fails(at)?)));
        ShareCourse::of(&Tries::at_moments(made), 0, seconds * SECOND)
    }

    #[test]
    fn a_share_that_stays_is_the_mean_of_all() {
        // Every fourth, with nothing seen of the second of three five minutes.
        let course = course(900, |at| (!(300..600).contains(&at)).then_some(at % 4 == 0));
        let hidden = course.mean(300 * SECOND, 600 * SECOND);
        assert_eq!(hidden.len(), 30);
        assert!(hidden.iter().all(|(.., share)| (share - 0.25).abs() < 0.03), "{hidden:?}");
    }

    #[test]
    fn what_is_hidden_lies_between_its_sides_and_draws_vary_where_it_changes() {
        // All fail before a hole of two minutes, none behind it.
        let course = course(720, |at| (!(300..420).contains(&at)).then_some(at < 300));
        let hidden = course.mean(300 * SECOND, 420 * SECOND);
        assert!(hidden[0].2 > 0.8 && hidden[11].2 < 0.2, "{hidden:?}");
        let middle = (hidden[5].2 + hidden[6].2) / 2.0;
        // Both sides alike.
        assert!((middle - 0.5).abs() < 0.02, "{hidden:?}");
        let mut draws = stream(1, Purpose::Refit, NameHash::of("x"));
        let drawn: Vec<f64> = (0..400).map(|_| course.drawn(&mut draws)[36]).collect();
        let bad = drawn.iter().filter(|share| **share > 0.5).count();
        // 400 draws of about one half: four standard errors are 40.
        assert!(bad.abs_diff(200) < 45, "{bad}");
    }

    #[test]
    fn a_probe_that_was_good_speaks_for_its_moment() {
        // Probes alone for ten minutes, one each half minute; one of three is good.
        let seen = |at: u64| match at {
            0..300 | 900.. => Some(false),
            _ if at.is_multiple_of(30) => Some(!at.is_multiple_of(90)),
            _ => None,
        };
        let course = course(1_200, seen);
        let hidden = course.mean(400 * SECOND, 800 * SECOND);
        let mean = hidden.iter().map(|(.., share)| share).sum::<f64>() / hidden.len() as f64;
        // Two thirds of twenty probes; what lies before and behind draws it down a little.
        assert!((0.5..0.7).contains(&mean), "{mean}");
    }
}
