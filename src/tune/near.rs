//! New variants near good ones.

use std::collections::BTreeSet;

use super::Entrant;
use super::rounds::Fate;
use super::search::Search;
use crate::draw::{Key, NameHash, Purpose, below};
use crate::space::{Applied, Dimension, Level, Levels, PolicySpace, Variant};

/// Good ones that new variants are made of.
const CENTRES: usize = 4;
/// Draws for each variant wanted, of which some repeat what there is or are no policy.
const PATIENCE: usize = 8;
/// A value that has no neighbours is exchanged for another in one of so many draws.
const EXCHANGED: u64 = 4;

impl Search<'_> {
    /// Up to `wanted` new variants within `radius` of the best that came through, in turn.
    pub(super) fn near(&mut self, wanted: usize, radius: f64, round: usize) -> Vec<Entrant> {
        let mut centres = self.racing();
        centres.retain(|&at| at != 0);
        self.sort_by_rank(&mut centres);
        centres.truncate(CENTRES);
        let key = Key::of_world(self.task.options.seed).child(round as u64);
        let mut found = Vec::new();
        for draw in 0..if centres.is_empty() { 0 } else { wanted * PATIENCE } {
            if found.len() == wanted {
                break;
            }
            let centre = &self.entrants[centres[draw % centres.len()]].variant.levels;
            let levels = beside(self.task.space, centre, radius, key, draw as u32);
            // What is no policy, or excluded, lies outside the space.
            let Ok(Applied::Variant(variant)) = self.task.space.apply(&levels) else { continue };
            if self.is_new(&variant) && self.fits(&variant.policy).is_ok() {
                self.seen.insert(variant.levels.clone());
                found.push(Entrant::new(*variant, round));
            }
        }
        found
    }

    /// True where it is neither the base nor a variant drawn before.
    pub(super) fn is_new(&self, variant: &Variant) -> bool {
        variant.policy != self.task.space.base && !self.seen.contains(&variant.levels)
    }
}

impl Entrant {
    pub(super) fn new(variant: Variant, round: usize) -> Entrant {
        let fate = Fate::Through;
        Entrant { variant, round, fate, first: None, last: None, totals: Vec::new() }
    }
}

/// Levels of variants that were drawn.
pub(super) type Seen = BTreeSet<Levels>;

/// A level beside each of the centre's. Those that a condition leaves out there are sought around the
/// middle: they count where it comes to hold.
fn beside(space: &PolicySpace, centre: &[Level], radius: f64, key: Key, nth: u32) -> Levels {
    let step = |(dimension, level): (&Dimension, &Level)| {
        let level = level.unwrap_or_else(|| dimension.level_at(0.5));
        let name = NameHash::of(&dimension.name).under("near");
        let (first, second) = key.draw2(Purpose::Variant, name, nth);
        if dimension.is_range() {
            let share = (first >> 11) as f64 / (1_u64 << 53) as f64;
            let moved = dimension.coordinate_of(level) + radius * (2.0 * share - 1.0);
            return Some(dimension.level_at(within(moved)));
        }
        let count = dimension.size().expect("a list has a number of values");
        Some(if below(first, EXCHANGED) == 0 { below(second, count) } else { level })
    };
    space.dimensions.iter().zip(centre).map(step).collect()
}

/// A coordinate beyond an end is reflected there.
fn within(coordinate: f64) -> f64 {
    let reflected = if coordinate < 0.0 { -coordinate } else { coordinate };
    let reflected = if reflected >= 1.0 { 2.0 - reflected } else { reflected };
    reflected.clamp(0.0, 1.0 - f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::load_policy;
    use crate::space::Space;

    #[test]
    fn neighbours_stay_within_the_radius_and_in_the_space() {
        let arguments = ["timeouts.first_token=1s..9s", "attempts.allow_retry=true,false"];
        let space = Space::of_arguments(&arguments.map(str::to_owned)).unwrap();
        let space = space.around(&load_policy("conservative").unwrap()).unwrap();
        let centre = [Some(8_800_000), Some(0)];
        let (mut low, mut high, mut exchanged) = (u64::MAX, 0, 0);
        for nth in 0..400 {
            let levels = beside(&space, &centre, 0.05, Key::of_world(1), nth);
            let [Some(first), Some(second)] = levels[..] else { panic!("{levels:?}") };
            (low, high) = (low.min(first), high.max(first));
            exchanged += second;
        }
        // 0.05 of eight seconds is 400 ms; what lies beyond 9 s is reflected.
        assert!((8_400_000..8_420_000).contains(&low), "{low}");
        assert!((8_980_000..=9_000_000).contains(&high), "{high}");
        // One in four is drawn anew, of which half stay: 50 of 400, with a standard error of 6.6.
        assert!((20..=80).contains(&exchanged), "{exchanged}");
        assert_eq!(within(-0.1), 0.1);
        assert!((within(1.1) - 0.9).abs() < 1e-12 && within(1.0) < 1.0);
    }
}
