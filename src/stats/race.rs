//! Racing: many policies over more and more worlds, the clearly worse left behind on the way.
//!
//! Policies are compared at set looks, say after 10, 20 and 40 worlds, each with the leader of that
//! look, in pairs of worlds. One is left behind where the one-sided bound of its difference says so
//! at an error of α ÷ (entrants × looks). Whoever leads, the true best policy meets at most that
//! many comparisons, in each of which it is no worse; so it is lost with a probability of at most α.

use super::{Jackknife, one_sided, upper_tail};

/// How sure a comparison must be for a policy to be left behind.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Race {
    error: f64,
}

impl Race {
    /// A race that loses the true best of so many entrants with a probability of at most `alpha`.
    ///
    /// # Panics
    /// Without entrants or looks, or unless `0 < alpha < 1`.
    pub fn new(alpha: f64, entrants: usize, looks: usize) -> Race {
        assert!(0.0 < alpha && alpha < 1.0, "an error is a probability between 0 and 1");
        assert!(entrants > 0 && looks > 0, "a race has entrants and looks");
        Race { error: alpha / (entrants as f64 * looks as f64) }
    }

    /// The error that one comparison may make.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Whether a policy is clearly worse. `behind` is by how much it is worse than the leader on the
    /// same worlds, or by how much it misses a limit: positive where it does.
    pub fn leaves_behind(&self, behind: &Jackknife) -> bool {
        behind.value - one_sided(behind.degrees(), self.error) * behind.standard_error() > 0.0
    }

    /// Whether a limit is surely kept: `behind`, by how much it is missed, is below zero, or at it, as
    /// clearly.
    pub fn surely_keeps(&self, behind: &Jackknife) -> bool {
        behind.value + one_sided(behind.degrees(), self.error) * behind.standard_error() <= 0.0
    }
}

/// How likely chance alone shows a gain of at least this: the p value of a one-sided test against no
/// gain. Zero where every world shows the same gain.
pub fn p_value(gain: &Jackknife) -> f64 {
    let error = gain.standard_error();
    match (error > 0.0, gain.value > 0.0) {
        (true, _) => upper_tail(gain.degrees(), gain.value / error),
        (false, true) => 0.0,
        (false, false) => 1.0,
    }
}

/// Holm's correction: the p values of several tests, raised so that the chance of even one wrong
/// finding is at most the level they are held against. In the order given.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut highest: f64 = 0.0;
    for (rank, &test) in order.iter().enumerate() {
        let left = (p_values.len() - rank) as f64;
        highest = highest.max((p_values[test] * left).min(1.0));
        adjusted[test] = highest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rand_distr::StandardNormal;

    use super::*;
    use crate::stats::jackknife;

    const LOOKS: [usize; 3] = [10, 20, 40];
    const ENTRANTS: usize = 40;

    /// What each entrant costs in each world: the world's own level, which all share, the entrant's
    /// true cost, and noise between them.
    fn costs(rng: &mut ChaCha8Rng, truth: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
        let worlds: Vec<f64> = (0..LOOKS[2]).map(|_| 5.0 * normal(rng)).collect();
        let entrant = |entrant| worlds.iter().map(|w| w + truth(entrant) + normal(rng)).collect();
        (0..ENTRANTS).map(entrant).collect()
    }

    fn normal(rng: &mut ChaCha8Rng) -> f64 {
        rng.sample(StandardNormal)
    }

    fn mean(costs: &[f64]) -> Jackknife {
        let sum: f64 = costs.iter().sum();
        let n = costs.len() as f64;
        let without = |world: Option<usize>| match world {
            None => sum / n,
            Some(world) => (sum - costs[world]) / (n - 1.0),
        };
        jackknife(costs.len(), |world| Some(without(world))).unwrap()
    }

    /// Who is left after all looks.
    fn run(race: Race, costs: &[Vec<f64>]) -> Vec<usize> {
        let mut left: Vec<usize> = (0..costs.len()).collect();
        for look in LOOKS {
            let so_far = |entrant: usize| mean(&costs[entrant][..look]);
            let cost = |entrant: &usize| so_far(*entrant).value;
            let leader = left.iter().copied().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap();
            let behind = |entrant| so_far(entrant).combine(&so_far(leader), |x, y| x - y);
            left.retain(|&entrant| !race.leaves_behind(&behind(entrant)));
        }
        left
    }

    /// In how many of 500 races the entrant is lost.
    fn lost(entrant: usize, race: Race, truth: impl Fn(usize) -> f64 + Copy) -> usize {
        (0..500)
            .filter(|&trial| {
                let mut rng = ChaCha8Rng::seed_from_u64(trial);
                !run(race, &costs(&mut rng, truth)).contains(&entrant)
            })
            .count()
    }

    #[test]
    fn the_true_best_is_lost_no_more_often_than_stated() {
        let alpha = 0.05;
        let race = Race::new(alpha, ENTRANTS, LOOKS.len());
        // Three standard errors of 500 trials at 5 % are 2.9 %: at most 39 races.
        let allowed = 500.0 * (alpha + 3.0 * (alpha * (1.0 - alpha) / 500.0_f64).sqrt());
        // The hardest case is where all are equally good, and where the rest is just behind.
        for (name, rest) in [("level", 0.0), ("close", 0.1), ("apart", 1.0)] {
            let lost = lost(0, race, |entrant| if entrant == 0 { 0.0 } else { rest });
            assert!(lost as f64 <= allowed, "{name}: {lost} of 500");
        }
        // One that errs by 5 % in every comparison does not keep it.
        let uncorrected = Race::new(alpha, 1, 1);
        let lost = lost(0, uncorrected, |_| 0.0);
        assert!(lost as f64 > 2.0 * allowed, "{lost} of 500 would pass unseen");
    }

    #[test]
    fn the_clearly_worse_are_left_behind() {
        let race = Race::new(0.05, ENTRANTS, LOOKS.len());
        let truth = |entrant: usize| if entrant < 4 { 0.0 } else { 3.0 };
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        assert_eq!(run(race, &costs(&mut rng, truth)), [0, 1, 2, 3]);
    }

    #[test]
    fn holm_by_hand() {
        // Sorted 0.005, 0.01, 0.03, 0.04, times 4, 3, 2, 1, and never falling.
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (got, want) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((got - want).abs() < 1e-12, "{adjusted:?}");
        }
        assert_eq!(holm(&[0.7, 0.6]), [1.0, 1.0]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn p_values_of_a_mean() {
        // Mean 2, standard error 1/√3, two degrees: t = 2√3, tail (1 - t/√(2 + t²))/2.
        let gain = mean(&[1.0, 2.0, 3.0]);
        let t = 2.0 * 3_f64.sqrt();
        let tail = (1.0 - t / (2.0 + t * t).sqrt()) / 2.0;
        assert!((p_value(&gain) - tail).abs() < 1e-9);
        assert_eq!((p_value(&mean(&[1.0; 3])), p_value(&mean(&[0.0; 3]))), (0.0, 1.0));
    }
}
