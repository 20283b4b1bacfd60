//! What each policy does in each route class and at each target.

use serde::Serialize;

use super::Question;
use super::figures::Measure;
use super::policy::{compared, measured};
use super::runs::Runs;
use super::value::{Compared, Difference, Figure, Missing};
use crate::record::{RunTotals, TargetTotals};
use crate::scenario::{ClassModel, TargetModel};

/// One route class under one policy.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OfClass {
    /// Its name.
    pub class: String,
    /// Its measures.
    pub figures: Vec<Figure>,
    /// Their changes; empty for the policy in force.
    pub differences: Vec<Difference>,
}

/// One target under one policy, in one world.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OfTarget {
    /// Its name.
    pub target: String,
    /// Attempts.
    pub attempts: Compared,
    /// Failed attempts.
    pub failed: Compared,
    /// Bill, dollars; missing where its price is not known.
    pub bill: Compared,
}

pub(super) fn by_class(question: &Question<'_>, runs: &Runs, policy: usize) -> Vec<OfClass> {
    let of = |(at, class): (usize, &ClassModel)| {
        let read = |measure: Measure| move |run: &RunTotals| runs.read(measure, &run.classes[at]);
        let (figures, differences) = measured(runs, policy, read);
        OfClass { class: class.name.clone(), figures, differences }
    };
    question.scenario.classes.iter().enumerate().map(of).collect()
}

pub(super) fn by_target(question: &Question<'_>, runs: &Runs, policy: usize) -> Vec<OfTarget> {
    let of = |(at, target): (usize, &TargetModel)| {
        let count = |name: &str, of: fn(&TargetTotals) -> u64| {
            compared(name, runs, policy, |run| Ok(of(&run.targets[at]) as f64))
        };
        let cost = |run: &RunTotals| match runs.unpriced[at] {
            true => Err(Missing::NotTold),
            false => Ok(run.targets[at].cost as f64 / 1e12),
        };
        OfTarget {
            target: target.name.clone(),
            attempts: count("attempts", |t| t.attempts),
            failed: count("failed", |t| t.failures),
            bill: compared("bill", runs, policy, cost),
        }
    };
    question.scenario.targets.iter().enumerate().map(of).collect()
}
