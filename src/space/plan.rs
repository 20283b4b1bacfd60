//! The variants a sweep runs, all of them checked beforehand.

use std::collections::BTreeSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::around::{Applied, PolicySpace};
use super::level::Levels;
use super::sample::{Method, Sampling};
use crate::input::InputError;

/// More variants are refused.
pub const MOST_VARIANTS: u64 = 1_000_000;
/// Variants checked side by side before the next are begun.
const BATCH: u64 = 8_192;

/// Variants, in the order of their numbers. The base is none of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The levels of each.
    pub variants: Vec<Levels>,
    /// What was drawn, and what became of it.
    pub tally: Tally,
}

/// What was drawn, and what became of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Points of the space that were looked at.
    pub drawn: u64,
    /// Points left out because a condition of the space does not hold.
    pub excluded: u64,
    /// Points left out because an earlier one is the same policy.
    pub repeated: u64,
}

impl Plan {
    /// Draws variants and checks each as a policy file would be.
    ///
    /// # Errors
    /// The space is too large or too fine for the method, a variant is no policy, or none is left.
    pub fn new(space: &PolicySpace, sampling: &Sampling) -> Result<Plan, InputError> {
        let called = space.space.called();
        let points = sampling.points(space)?;
        let mut plan = Plan { variants: Vec::new(), tally: Tally::default() };
        let mut seen: BTreeSet<Levels> = BTreeSet::new();
        let mut begun = 0;
        while begun < points.count() {
            let end = (begun + BATCH).min(points.count());
            let batch: Vec<Result<Option<Levels>, InputError>> = (begun..end)
                .into_par_iter()
                .map(|index| match space.apply(&points.levels(index))? {
                    Applied::Variant(variant) => Ok(Some(variant.levels)),
                    Applied::Excluded(_) => Ok(None),
                })
                .collect();
            for levels in batch {
                plan.tally.drawn += 1;
                match levels? {
                    None => plan.tally.excluded += 1,
                    Some(levels) if seen.insert(levels.clone()) => plan.variants.push(levels),
                    Some(_) => plan.tally.repeated += 1,
                }
            }
            begun = end;
        }
        if sampling.method == Method::Grid {
            // A grid's points that differ only in what a condition leaves out are one.
            plan.tally.drawn -= plan.tally.repeated;
            plan.tally.repeated = 0;
        }
        match plan.variants.is_empty() {
            true => Err(InputError::new(called, "no variant meets every condition under `where`")
                .fix("widen the ranges, or relax a condition")),
            false => Ok(plan),
        }
    }
}
