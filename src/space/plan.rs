//! The variants a sweep runs, all of them checked beforehand.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use windtunnel_policy::config::Policy;

use super::around::{Applied, PolicySpace, Variant};
use super::level::Levels;
use super::sample::{Method, Sampling, grouped};
use crate::input::InputError;

/// More variants are refused.
pub const MOST_VARIANTS: u64 = 1_000_000;
/// Of a policy as JSON, in bytes; longer ones take a little more time.
const USUAL_LENGTH: usize = 8_192;
/// Variants checked side by side before the next are begun.
const BATCH: u64 = 8_192;

/// Variants, in the order of their numbers. The base is none of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    /// The levels of each.
    pub variants: Vec<Levels>,
    /// What was drawn, and what became of it.
    pub tally: Tally,
    /// Variants that other values make the same policy, where there are any.
    pub alike: Option<Alike>,
}

/// Variants that are the same policy as an earlier one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alike {
    /// How many.
    pub count: u64,
    /// The number of the first.
    pub first: u64,
    /// The number of the one before it that it is the same as.
    pub same_as: u64,
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
        Plan::checked(space, sampling, |_| Ok(()))
    }

    /// The same, each variant held against more than a policy file would be.
    ///
    /// # Errors
    /// As [`Plan::new`], and what `check` refuses.
    pub fn checked(
        space: &PolicySpace,
        sampling: &Sampling,
        check: impl Fn(&Variant) -> Result<(), InputError> + Sync,
    ) -> Result<Plan, InputError> {
        let called = space.space.called();
        let points = sampling.points(space)?;
        let mut plan = Plan { variants: Vec::new(), tally: Tally::default(), alike: None };
        let mut seen: BTreeSet<Levels> = BTreeSet::new();
        let mut policies: BTreeMap<u128, u64> = BTreeMap::new();
        let mut begun = 0;
        while begun < points.count() {
            let end = (begun + BATCH).min(points.count());
            let batch: Vec<Result<Option<(Levels, u128)>, InputError>> = (begun..end)
                .into_par_iter()
                .map(|index| match space.apply(&points.levels(index))? {
                    Applied::Variant(variant) => {
                        check(&variant)?;
                        Ok(Some((variant.levels, digest(variant.policy))))
                    }
                    Applied::Excluded(_) => Ok(None),
                })
                .collect();
            for drawn in batch {
                plan.tally.drawn += 1;
                let Some((levels, policy)) = drawn? else {
                    plan.tally.excluded += 1;
                    continue;
                };
                if !seen.insert(levels.clone()) {
                    plan.tally.repeated += 1;
                    continue;
                }
                plan.variants.push(levels);
                let number = plan.variants.len() as u64;
                match *policies.entry(policy).or_insert(number) {
                    own if own == number => {}
                    same_as => plan.count_alike(number, same_as),
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

    fn count_alike(&mut self, number: u64, same_as: u64) {
        self.alike.get_or_insert(Alike { count: 0, first: number, same_as }).count += 1;
    }

    /// What to tell where variants are alike, and how to avoid it.
    pub fn note(&self, space: &PolicySpace) -> Option<String> {
        let Alike { count, first, same_as } = self.alike?;
        let [one, other] = [first, same_as].map(|number| &self.variants[number as usize - 1]);
        let differ = space.dimensions.iter().zip(one.iter().zip(other));
        let differ = differ.filter(|(_, (one, other))| one != other);
        let names: Vec<String> = differ.map(|(d, _)| format!("`{}`", d.name)).collect();
        Some(format!(
            "{} of {} variants: the policy is that of an earlier one, such as {first}, which is {same_as} \
             whatever it says of {}. They are run all the same; leave out values that mean the same, \
             and fields that a later entry sets again",
            grouped(count.into()),
            grouped(self.variants.len() as u128),
            names.join(", "),
        ))
    }
}

/// Of a policy, alike for those that do the same, whatever they are called.
fn digest(mut policy: Policy) -> u128 {
    policy.name.clear();
    policy.description.clear();
    let mut text = Vec::with_capacity(USUAL_LENGTH);
    serde_json::to_writer(&mut text, &policy).expect("a policy is plain data");
    let hash = Sha256::digest(&text);
    u128::from_le_bytes(hash[..16].try_into().expect("half of 32 bytes"))
}
