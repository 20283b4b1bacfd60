//! What each policy does, all requests together, by class and by target.

use serde::Serialize;

use super::Question;
use super::course::impact_minutes;
use super::figures::{MEASURES, Measure, mean, spread};
use super::requests::{Moved, moved};
use super::runs::Runs;
use super::value::{Difference, Figure};
use crate::experiment::policy_hash;
use crate::record::{ClassTotals, RunTotals};
use crate::scenario::ClassModel;

/// One policy.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PolicyFinding {
    /// Its name.
    pub name: String,
    /// SHA-256 of its data.
    pub hash: String,
    /// Its measures.
    pub figures: Vec<Figure>,
    /// Their changes from the policy in force; empty for that one.
    pub differences: Vec<Difference>,
    /// Success and its change by route class.
    pub by_class: Vec<OfClass>,
    /// What goes where.
    pub targets: Vec<OfTarget>,
    /// Requests it answers and the policy in force does not; 0 for that one.
    pub saved: f64,
    /// Requests the policy in force answers and it does not.
    pub lost: f64,
    /// Everything billed, dollars; null where a price is not known.
    pub bill: Option<f64>,
    /// Time in intervals in which fewer than 99 % were answered, minutes.
    pub impact_minutes: Figure,
}

/// One route class under one policy.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OfClass {
    /// Its name.
    pub class: String,
    /// Success.
    pub success: Figure,
    /// Its change; null for the policy in force.
    pub change: Option<Difference>,
}

/// One target under one policy, per world.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct OfTarget {
    /// Its name.
    pub target: String,
    /// Attempts.
    pub attempts: f64,
    /// Failed attempts.
    pub failed: f64,
    /// Bill, dollars; null where its price is not known.
    pub bill: Option<f64>,
}

/// What the policy at this position does.
pub(super) fn finding(question: &Question<'_>, runs: &Runs, policy: usize) -> PolicyFinding {
    let data = &question.policies[policy];
    let overall =
        |measure: Measure| move |of: &[&RunTotals]| runs.read(measure, &whole(of[policy]));
    let against = |measure: Measure| {
        move |of: &[&RunTotals]| {
            Ok(runs.read(measure, &whole(of[policy]))? - runs.read(measure, &whole(of[0]))?)
        }
    };
    let others = policy > 0;
    let figures = MEASURES.iter().map(|m| Figure::of(m.name, spread(runs, overall(*m))));
    let differences = MEASURES.iter().filter(|_| others);
    let differences = differences.map(|m| Difference::of(m.name, spread(runs, against(*m))));
    let moved = match (runs.outcomes.first(), runs.outcomes.get(policy)) {
        (Some(first), Some(own)) if others => moved(first, own),
        _ => Moved::default(),
    };
    let per_world = |of: &dyn Fn(&RunTotals) -> f64| {
        mean(&runs.declared[policy].iter().map(of).collect::<Vec<_>>())
    };
    let targets = question.scenario.targets.iter().enumerate().map(|(i, target)| OfTarget {
        target: target.name.clone(),
        attempts: per_world(&|run| run.targets[i].attempts as f64),
        failed: per_world(&|run| run.targets[i].failures as f64),
        bill: (!runs.unpriced[i]).then(|| per_world(&|run| run.targets[i].cost as f64 / 1e12)),
    });
    let impact = |of: &[&RunTotals]| Ok(impact_minutes(question, of[policy]));
    PolicyFinding {
        name: data.name.clone(),
        hash: policy_hash(data),
        figures: figures.collect(),
        differences: differences.collect(),
        by_class: by_class(question, runs, policy),
        targets: targets.collect(),
        saved: moved.saved,
        lost: moved.lost,
        bill: runs.priced().then(|| {
            per_world(&|run| run.classes.iter().map(|class| class.cost as f64 / 1e12).sum())
        }),
        impact_minutes: Figure::of("impact_minutes", spread(runs, impact)),
    }
}

fn by_class(question: &Question<'_>, runs: &Runs, policy: usize) -> Vec<OfClass> {
    let success = MEASURES[0];
    let of = |(i, class): (usize, &ClassModel)| {
        let own = move |of: &[&RunTotals]| (success.read)(&of[policy].classes[i]);
        let change = move |of: &[&RunTotals]| {
            Ok((success.read)(&of[policy].classes[i])? - (success.read)(&of[0].classes[i])?)
        };
        OfClass {
            class: class.name.clone(),
            success: Figure::of(success.name, spread(runs, own)),
            change: (policy > 0).then(|| Difference::of(success.name, spread(runs, change))),
        }
    };
    question.scenario.classes.iter().enumerate().map(of).collect()
}

/// All classes of a run together.
pub(super) fn whole(run: &RunTotals) -> std::borrow::Cow<'_, ClassTotals> {
    match run.classes.as_slice() {
        [only] => std::borrow::Cow::Borrowed(only),
        _ => std::borrow::Cow::Owned(run.overall()),
    }
}
