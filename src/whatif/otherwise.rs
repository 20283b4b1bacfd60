//! Who answers most in worlds that the log cannot tell from the fitted one.

use serde::Serialize;

use super::Question;
use super::figures::{MEASURES, Spread, mean};
use super::policy::whole;
use super::runs::{ByPolicy, Runs};
use super::sensitivity::Variant;
use super::value::{Difference, Missing};
use crate::record::RunTotals;

/// A world that agrees with the log as well.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sensitivity {
    /// What is taken otherwise.
    pub what: String,
    /// Success by policy.
    pub success: Vec<Option<f64>>,
    /// Its changes from the policy in force, by further policy; luck alone is in their intervals.
    pub changes: Vec<Difference>,
    /// Who answers most by itself; null where that is level.
    pub leader: Option<String>,
    /// Whether it is level, or led by who answers most in the world as fitted, alone or with others.
    pub same_order: bool,
}

/// Success of every policy in each of these worlds.
pub(super) fn otherwise(question: &Question<'_>, runs: &Runs) -> Vec<Sensitivity> {
    let fitted = leaders(&successes(&runs.declared));
    let of = |(variant, variant_runs): &(Variant, ByPolicy)| {
        let success = successes(variant_runs);
        let leaders = leaders(&success);
        let leader = match leaders.as_slice() {
            [only] => Some(question.policies[*only].name.clone()),
            _ => None,
        };
        Sensitivity {
            what: variant.words(),
            same_order: leaders.len() > 1 || leaders.iter().all(|own| fitted.contains(own)),
            leader,
            changes: (1..variant_runs.len()).map(|policy| change(variant_runs, policy)).collect(),
            success,
        }
    };
    runs.variants.iter().map(of).collect()
}

/// Success of every policy in one set of runs.
fn successes(runs: &ByPolicy) -> Vec<Option<f64>> {
    let of = |worlds: &Vec<RunTotals>| {
        let values: Option<Vec<f64>> =
            worlds.iter().map(|run| (MEASURES[0].read)(&whole(run)).ok()).collect();
        values.map(|values| mean(&values))
    };
    runs.iter().map(of).collect()
}

/// What a policy answers more than the first, in the same worlds.
fn change(runs: &ByPolicy, policy: usize) -> Difference {
    let success = |run: &RunTotals| (MEASURES[0].read)(&whole(run));
    let pairs = runs[policy].iter().zip(&runs[0]);
    let changes: Result<Vec<f64>, Missing> =
        pairs.map(|(own, first)| Ok(success(own)? - success(first)?)).collect();
    Difference::of(MEASURES[0].name, changes.map(|changes| Spread::of(&changes, &[])))
}

/// The positions of those that answer most: several where that is level.
pub(super) fn leaders(success: &[Option<f64>]) -> Vec<usize> {
    let share = |success: &Option<f64>| success.unwrap_or(0.0);
    let most = success.iter().map(share).fold(0.0, f64::max);
    // Floats of the same sums may differ by a hair.
    (0..success.len()).filter(|&i| share(&success[i]) >= most - 1e-12).collect()
}

#[cfg(test)]
mod tests {
    use super::leaders;

    #[test]
    fn who_answers_as_much_leads_too() {
        assert_eq!(leaders(&[Some(0.9), Some(0.95), Some(0.95)]), [1, 2]);
        assert_eq!(leaders(&[Some(0.9), Some(0.9 + 1e-15)]), [0, 1]);
        assert_eq!(leaders(&[Some(0.9), None]), [0]);
    }
}
