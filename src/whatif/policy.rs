//! What each policy does, all requests together, and what changes from the policy in force.

use serde::Serialize;

use super::Question;
use super::course::impact_minutes;
use super::figures::{MEASURES, Measure, Spread, mean, spread};
use super::parts::{OfClass, OfTarget, by_class, by_target};
use super::requests::Moved;
use super::runs::Runs;
use super::unseen::{goes_elsewhere, nowhere_else};
use super::value::{Compared, Difference, Figure, Missing};
use crate::experiment::policy_hash;
use crate::record::{ClassTotals, RunTotals};

/// One policy.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PolicyFinding {
    /// Its name.
    pub name: String,
    /// SHA-256 of its data.
    pub hash: String,
    /// It fails over, and no request of the log has more than one target to go to.
    pub nowhere_to_go: bool,
    /// Its measures.
    pub figures: Vec<Figure>,
    /// Their changes from the policy in force; empty for that one.
    pub differences: Vec<Difference>,
    /// Its measures by route class.
    pub by_class: Vec<OfClass>,
    /// What goes where.
    pub targets: Vec<OfTarget>,
    /// Requests it answers and the policy in force does not, and the other way round; null for that one.
    pub moved: Option<MovedRequests>,
    /// Everything billed in one world, dollars.
    pub bill: Compared,
    /// Time in intervals in which fewer than 99 % were answered, minutes.
    pub impact_minutes: Compared,
}

/// Requests in one world that end otherwise than under the policy in force.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct MovedRequests {
    /// Answered, and not under the policy in force.
    pub saved: Figure,
    /// Not answered, and answered under the policy in force.
    pub lost: Figure,
}

/// What the policy at this position does.
pub(super) fn finding(question: &Question<'_>, runs: &Runs, policy: usize) -> PolicyFinding {
    let data = &question.policies[policy];
    let read = |measure: Measure| move |run: &RunTotals| runs.read(measure, &whole(run));
    let (figures, differences) = measured(runs, policy, read);
    let cost = |run: &RunTotals| match runs.priced() {
        true => Ok(run.classes.iter().map(|class| class.cost as f64 / 1e12).sum()),
        false => Err(Missing::NotTold),
    };
    let impact = |run: &RunTotals| Ok(impact_minutes(question, run));
    PolicyFinding {
        name: data.name.clone(),
        hash: policy_hash(data),
        nowhere_to_go: question.log.is_some()
            && nowhere_else(question.scenario)
            && goes_elsewhere(data, question.scenario),
        figures,
        differences,
        by_class: by_class(question, runs, policy),
        targets: by_target(question, runs, policy),
        moved: (policy > 0).then(|| moved(runs, policy)),
        bill: compared("bill", runs, policy, cost),
        impact_minutes: compared("impact_minutes", runs, policy, impact),
    }
}

/// All measures of a policy and their changes, read by what `read` makes of a measure.
pub(super) fn measured<R: Fn(&RunTotals) -> Result<f64, Missing>>(
    runs: &Runs,
    policy: usize,
    read: impl Fn(Measure) -> R,
) -> (Vec<Figure>, Vec<Difference>) {
    let of = |measure: &Measure| compared(measure.name, runs, policy, read(*measure));
    let all = MEASURES.iter().map(of).map(|of| (of.figure, of.change));
    let (figures, changes): (Vec<Figure>, Vec<Option<Difference>>) = all.unzip();
    (figures, changes.into_iter().flatten().collect())
}

/// A figure of a policy, and its change in the same luck; none for the policy in force.
pub(super) fn compared(
    name: &str,
    runs: &Runs,
    policy: usize,
    read: impl Fn(&RunTotals) -> Result<f64, Missing>,
) -> Compared {
    let change = |of: &[&RunTotals]| Ok(read(of[policy])? - read(of[0])?);
    Compared {
        figure: Figure::of(name, spread(runs, |of| read(of[policy]))),
        change: (policy > 0).then(|| Difference::of(name, spread(runs, change))),
    }
}

fn moved(runs: &Runs, policy: usize) -> MovedRequests {
    let figure = |name: &str, of: fn(&Moved) -> u64| {
        let count = |worlds: &Vec<Moved>| worlds.iter().map(|m| of(m) as f64).collect::<Vec<f64>>();
        let refits = runs.moved_in_refits.iter().map(|refit| mean(&count(&refit[policy])));
        let spread = Spread::of(&count(&runs.moved[policy]), &refits.collect::<Vec<f64>>());
        Figure::of(name, Ok(spread))
    };
    MovedRequests { saved: figure("saved", |m| m.saved), lost: figure("lost", |m| m.lost) }
}

/// All classes of a run together.
pub(super) fn whole(run: &RunTotals) -> std::borrow::Cow<'_, ClassTotals> {
    match run.classes.as_slice() {
        [only] => std::borrow::Cow::Borrowed(only),
        _ => std::borrow::Cow::Owned(run.overall()),
    }
}
