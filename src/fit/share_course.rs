//! The course of a failing share, as far as a few tries tell it: a Markov chain over levels of the share and where
//! it is heading, seen through the tries of each ten seconds. What rose until a breaker opened may rise behind it:
//! without trends, the worst of an incident that a breaker hides would be taken for what it was when it opened.
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
/// A share falls, stays about where it is, or rises.
const TRENDS: usize = 3;
/// Length of a step in time, µs.
const STEP_US: u64 = 10_000_000;
/// Of a longer time, steps are longer.
const MOST_STEPS: u64 = 50_000;
/// Chances that a share without a trend moves to a level near by in one step, and that any jumps to any: each
/// counts by how likely it makes what was seen.
const MOVES: [f64; 3] = [0.02, 0.1, 0.5];
const JUMPS: [f64; 2] = [1e-3, 1e-2];
/// Chances that a trend ends or another begins in one step, and levels that it goes in one: the same. Each goes some
/// ten levels before it ends, and the first are no trends.
const DRIFTS: [(f64, f64); 5] = [(0.0, 0.0), (0.02, 0.25), (0.05, 0.5), (0.1, 1.5), (0.2, 3.0)];
/// Levels within which most moves stay.
const NEAR: f64 = 2.0;

/// Chains that are less likely than this part of the likeliest are left out.
const LEAST_LIKELY: f64 = 0.01;

type ByLevel = [f64; LEVELS];
/// By trend, then by level.
type ByState = [ByLevel; TRENDS];

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

/// From one state to the next.
#[derive(Clone, PartialEq, Debug)]
struct Chain {
    /// Chance that a trend gives way to each of the others.
    turns: f64,
    jumps: f64,
    /// By trend: from one level to the next, where it does not jump.
    levels: [Vec<ByLevel>; TRENDS],
}

const STAYS: usize = 1;

impl ShareCourse {
    /// From these tries, of this time.
    pub(super) fn of(tries: &Tries, from_us: u64, to_us: u64) -> ShareCourse {
        let step_us = STEP_US.max((to_us - from_us) / MOST_STEPS);
        let steps = (to_us - from_us).div_ceil(step_us).max(1) as usize;
        let mut seen = vec![[0.0; 2]; steps];
        for (at_us, failed) in tries.between(from_us, to_us) {
            seen[((at_us - from_us) / step_us) as usize][usize::from(failed)] += 1.0;
        }
        let chains = likely(&seen);
        let mut mean = vec![0.0; steps];
        for (chain, weight) in &chains {
            let (until, _) = forward(&seen, chain);
            let own = means(&seen, &until, chain);
            mean.iter_mut().zip(own).for_each(|(mean, own)| *mean += weight * own);
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
        let mut next: Option<(usize, usize)> = None;
        for (at, until) in until.iter().enumerate().rev() {
            let weight = |trend: usize, level: usize| {
                next.map_or(1.0, |next| chain.chance((trend, level), next)) * until[trend][level]
            };
            let states = (0..TRENDS).flat_map(|trend| (0..LEVELS).map(move |level| (trend, level)));
            let weights: Vec<f64> = states.map(|(trend, level)| weight(trend, level)).collect();
            let state = one_of(&weights, draws);
            let (trend, level) = (state / LEVELS, state % LEVELS);
            drawn[at] = share(level);
            next = Some((trend, level));
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

/// Chains that may have made what was seen, and how likely each is.
fn likely(seen: &[[f64; 2]]) -> Vec<(Chain, f64)> {
    let all = MOVES.iter().flat_map(|&moves| {
        JUMPS.iter().flat_map(move |&jumps| DRIFTS.map(|drift| Chain::new(moves, jumps, drift)))
    });
    let likelihood = |chain: Chain| {
        let (_, likelihood) = forward(seen, &chain);
        (chain, likelihood)
    };
    let mut chains: Vec<(Chain, f64)> = all.map(likelihood).collect();
    let most = chains.iter().map(|(_, likelihood)| *likelihood).fold(f64::NEG_INFINITY, f64::max);
    chains.iter_mut().for_each(|(_, weight)| *weight = libm::exp(*weight - most));
    chains.retain(|(_, weight)| *weight >= LEAST_LIKELY);
    let sum: f64 = chains.iter().map(|(_, weight)| weight).sum();
    chains.iter_mut().for_each(|(_, weight)| *weight /= sum);
    chains
}

impl Chain {
    fn new(moves: f64, jumps: f64, (turns, speed): (f64, f64)) -> Chain {
        let near = |from: usize, to: usize| match from.abs_diff(to) {
            0 => 0.0,
            off => libm::exp(-(off as f64) / NEAR),
        };
        let stays = |from: usize| -> ByLevel {
            let all: f64 = (0..LEVELS).map(|to| near(from, to)).sum();
            std::array::from_fn(|to| {
                let stays = if from == to { 1.0 - moves } else { 0.0 };
                stays + moves * near(from, to) / all
            })
        };
        let steps = poisson(speed);
        let rises = |from: usize| -> ByLevel {
            let mut to = [0.0; LEVELS];
            steps.iter().enumerate().for_each(|(n, p)| to[(from + n).min(LEVELS - 1)] += p);
            to
        };
        let falls = |from: usize| -> ByLevel {
            let mut to = rises(LEVELS - 1 - from);
            to.reverse();
            to
        };
        let rows = |row: &dyn Fn(usize) -> ByLevel| (0..LEVELS).map(row).collect();
        let levels = [rows(&falls), rows(&stays), rows(&rises)];
        Chain { turns: turns / (TRENDS - 1) as f64, jumps, levels }
    }

    /// How likely one state follows another.
    fn chance(&self, (trend, from): (usize, usize), (next, to): (usize, usize)) -> f64 {
        let jump = if next == STAYS { self.jumps / LEVELS as f64 } else { 0.0 };
        jump + (1.0 - self.jumps) * self.turn(trend, next) * self.levels[next][from][to]
    }

    fn turn(&self, from: usize, to: usize) -> f64 {
        if from == to { 1.0 - (TRENDS - 1) as f64 * self.turns } else { self.turns }
    }

    /// How likely each state is one step later.
    fn on(&self, before: &ByState) -> ByState {
        let all: f64 = before.iter().flatten().sum();
        let mut after = [[0.0; LEVELS]; TRENDS];
        after[STAYS] = [self.jumps * all / LEVELS as f64; LEVELS];
        for (next, after) in after.iter_mut().enumerate() {
            for (from, row) in self.levels[next].iter().enumerate() {
                let turned = (0..TRENDS).map(|trend| before[trend][from] * self.turn(trend, next));
                let weight = (1.0 - self.jumps) * turned.sum::<f64>();
                after.iter_mut().zip(row).for_each(|(after, chance)| *after += weight * chance);
            }
        }
        after
    }

    /// How likely what comes is from each state, where it is so from the states one step later.
    fn back(&self, after: &ByState) -> ByState {
        let jump = self.jumps * after[STAYS].iter().sum::<f64>() / LEVELS as f64;
        let by_next: ByState = std::array::from_fn(|next| {
            std::array::from_fn(|from| {
                let row = self.levels[next][from].iter();
                row.zip(&after[next]).map(|(a, b)| a * b).sum()
            })
        });
        std::array::from_fn(|trend| {
            std::array::from_fn(|from| {
                let turned = (0..TRENDS).map(|next| self.turn(trend, next) * by_next[next][from]);
                jump + (1.0 - self.jumps) * turned.sum::<f64>()
            })
        })
    }
}

/// Chances of each number of levels, of this mean.
fn poisson(mean: f64) -> ByLevel {
    let mut chance = libm::exp(-mean);
    let mut left = 1.0;
    std::array::from_fn(|n| {
        let this = if n == LEVELS - 1 { f64::max(left, 0.0) } else { chance };
        left -= this;
        chance *= mean / (n + 1) as f64;
        this
    })
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

/// Weighs states by the chances of their levels.
fn weigh(states: &mut ByState, chances: &ByLevel) {
    for levels in states {
        levels.iter_mut().zip(chances).for_each(|(level, chance)| *level *= chance);
    }
}

/// By step how likely each state is by what was seen until then, and the log likelihood of all of it.
fn forward(seen: &[[f64; 2]], chain: &Chain) -> (Vec<ByState>, f64) {
    let logs = logs();
    let (mut until, mut likelihood) = (Vec::with_capacity(seen.len()), 0.0);
    let mut state = [[0.0; LEVELS]; TRENDS];
    state[STAYS] = [1.0 / LEVELS as f64; LEVELS];
    for counts in seen {
        if !until.is_empty() {
            state = chain.on(&state);
        }
        if *counts != [0.0; 2] {
            let (chances, most) = chances(*counts, &logs);
            weigh(&mut state, &chances);
            let all = normalise(&mut state);
            likelihood += libm::log(all) + most;
        }
        until.push(state);
    }
    (until, likelihood)
}

/// By step the mean share by all that was seen.
fn means(seen: &[[f64; 2]], until: &[ByState], chain: &Chain) -> Vec<f64> {
    let logs = logs();
    let mut after = [[1.0; LEVELS]; TRENDS];
    let mut means = vec![0.0; seen.len()];
    for at in (0..seen.len()).rev() {
        let (mut all, mut sum) = (0.0, 0.0);
        for (until, after) in until[at].iter().zip(&after) {
            for (level, (until, after)) in until.iter().zip(after).enumerate() {
                all += until * after;
                sum += until * after * share(level);
            }
        }
        means[at] = sum / all;
        if seen[at] != [0.0; 2] {
            let (chances, _) = chances(seen[at], &logs);
            weigh(&mut after, &chances);
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
fn normalise(states: &mut ByState) -> f64 {
    let all: f64 = states.iter().flatten().sum();
    states.iter_mut().flatten().for_each(|state| *state /= all);
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
    fn what_rose_before_it_was_hidden_goes_on_rising_and_what_stood_does_not() {
        // 2 % for five minutes, then up by 1 % a second, or at once, to 40 %; two minutes hidden, and 2 % again.
        let fails = |at: u64, share: u64| at * 37 % 100 < share;
        // Of a hundred courses, those that were worse behind it than ever before.
        let worse = |share: &dyn Fn(u64) -> u64| {
            let seen = |at: u64| !(340..460).contains(&(at / 20));
            // Twenty tries a second.
            let made = (0..14_000).filter(|&at| seen(at));
            let made = made.map(|at| (at * SECOND / 20, fails(at, share(at / 20))));
            let course = ShareCourse::of(&Tries::at_moments(made), 0, 700 * SECOND);
            let mut draws = stream(1, Purpose::Refit, NameHash::of("x"));
            let drawn = (0..100).map(|_| course.drawn(&mut draws));
            drawn.filter(|drawn| drawn[34..46].iter().any(|share| *share > 0.5)).count()
        };
        let during = |at: u64| (300..460).contains(&at);
        let rising = worse(&|at| if during(at) { at - 300 } else { 2 });
        let standing = worse(&|at| if during(at) { 40 } else { 2 });
        assert!(rising >= 20 && standing < 10, "{rising} and {standing} of 100");
    }

    #[test]
    fn chances_of_what_comes_next_add_up() {
        let chain = Chain::new(0.1, 0.01, (0.1, 1.5));
        for from in [(0, 0), (1, 7), (2, LEVELS - 2)] {
            let to = (0..TRENDS).flat_map(|trend| (0..LEVELS).map(move |level| (trend, level)));
            let all: f64 = to.map(|to| chain.chance(from, to)).sum();
            assert!((all - 1.0).abs() < 1e-12, "{all}");
            // As it goes on from that state alone.
            let mut state = [[0.0; LEVELS]; TRENDS];
            state[from.0][from.1] = 1.0;
            let on = chain.on(&state);
            assert!((on[2][9] - chain.chance(from, (2, 9))).abs() < 1e-15);
            let mut after = [[0.0; LEVELS]; TRENDS];
            after[2][9] = 1.0;
            assert!((chain.back(&after)[from.0][from.1] - on[2][9]).abs() < 1e-15);
        }
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
