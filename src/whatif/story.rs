//! The requests most worth a look, told under the policy in force and the candidate.

use serde::Serialize;

use super::Question;
use super::requests::worth_a_look;
use super::runs::Runs;
use crate::explain::{Pick, explain};

/// One request under two policies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Story {
    /// Its position in the first world.
    pub request: u64,
    /// Why it is worth a look.
    pub why: String,
    /// What happened, under one policy and the other.
    pub told: String,
}

/// Up to three requests of the first world, under the first policy and the last.
pub(super) fn stories(question: &Question<'_>, runs: &Runs) -> Vec<Story> {
    let [first, .., last] = question.policies else { return Vec::new() };
    let (Some(of_first), Some(of_last)) = (runs.outcomes.first(), runs.outcomes.last()) else {
        return Vec::new();
    };
    let pair = [first.clone(), last.clone()];
    let told = |(request, why): (u64, &str)| {
        let pick = Pick::Request(request);
        // A layer above may make another request of the same number: then nothing is told.
        let told = explain(question.scenario, &pair, pick, question.options.seed, 0).ok()?;
        let told = if runs.priced() { told.text() } else { without_costs(&told.text()) };
        Some(Story { request, why: why.into(), told })
    };
    worth_a_look(of_first, of_last).into_iter().filter_map(told).collect()
}

/// A story without the costs that are zero only because no price is known; columns stay where they are.
fn without_costs(told: &str) -> String {
    let lines =
        told.lines().map(|line| line.replace("$0.00", "–    ").trim_end().to_owned() + "\n");
    lines.collect()
}
