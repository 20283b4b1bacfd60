//! Values that make no policy, found before anything is drawn.
//!
//! A sample may never draw the end of a range, or draw it late. So every listed value and both ends
//! of every range are tried: around the base by themselves, and, where that is no policy, beside
//! values of what else varies. Refused is what is a policy beside none of them. What goes with some
//! and not with others is for conditions, and is found where it is drawn.

use super::around::{Applied, PolicySpace};
use super::level::Levels;
use crate::input::InputError;

/// Combinations tried for one value. Where so many do not tell, it passes.
const MOST_TRIED: usize = 1_000;

impl PolicySpace {
    /// Refuses a value that is a policy beside nothing it can be drawn with.
    pub(super) fn check_values(&self) -> Result<(), InputError> {
        for (position, dimension) in self.dimensions.iter().enumerate() {
            for level in dimension.telling() {
                self.check_value(position, level)?;
            }
        }
        Ok(())
    }

    fn check_value(&self, position: usize, level: u64) -> Result<(), InputError> {
        let mut by_itself = None;
        let mut refusal = None;
        for (number, (others, levels)) in self.beside(position).enumerate() {
            if number == MOST_TRIED {
                return Ok(());
            }
            let mut levels = levels;
            levels[position] = Some(level);
            match self.apply(&levels) {
                Ok(Applied::Variant(variant)) if variant.levels[position].is_some() => {
                    return Ok(());
                }
                // A condition leaves it out here.
                Ok(_) => {}
                Err(error) => {
                    if others == Others::AsInBase {
                        by_itself = Some(error.clone());
                    }
                    // The base's own values need not be among those that are drawn.
                    if others == Others::Drawn || self.dimensions.len() == 1 {
                        refusal = refusal.or(Some(error));
                    }
                }
            }
        }
        // By itself it takes the fewest words.
        refusal.map_or(Ok(()), |error| Err(by_itself.unwrap_or(error)))
    }

    /// What a value of this dimension may stand beside, the likeliest to be a policy first: the base,
    /// one other change to it, and points of the space that differ in one value from the first or
    /// the last of all.
    fn beside(&self, position: usize) -> impl Iterator<Item = (Others, Levels)> + '_ {
        let telling: Vec<Vec<u64>> = self.dimensions.iter().map(|d| d.telling()).collect();
        let others = (0..telling.len()).filter(|&other| other != position);
        let changes: Vec<(usize, u64)> =
            others.flat_map(|other| telling[other].iter().map(move |&l| (other, l))).collect();
        let changed = |levels: &Levels| {
            let levels = levels.clone();
            changes.clone().into_iter().map(move |(other, level)| {
                let mut levels = levels.clone();
                levels[other] = Some(level);
                levels
            })
        };
        let base: Levels = vec![None; telling.len()];
        let first: Levels = telling.iter().map(|levels| levels.first().copied()).collect();
        let last: Levels = telling.iter().map(|levels| levels.last().copied()).collect();
        let one = changed(&base).map(|levels| (Others::OneChanged, levels));
        let drawn = changed(&first).chain(changed(&last));
        let drawn = [first, last].into_iter().chain(drawn).map(|levels| (Others::Drawn, levels));
        std::iter::once((Others::AsInBase, base)).chain(one).chain(drawn)
    }
}

/// How everything but the value in question is set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Others {
    AsInBase,
    OneChanged,
    Drawn,
}
