//! The requests most worth a look, told under the policy in force and the candidate.

use serde::Serialize;

use super::Question;
use super::requests::worth_a_look;
use super::runs::Runs;
use crate::explain::{Pick, explain};
use crate::page::Course;
use crate::report::courses;

/// One request under two policies.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Story {
    /// Its position in the first world.
    pub request: u64,
    /// Why it is worth a look.
    pub why: String,
    /// What happened, under one policy and the other.
    pub told: String,
    /// Its attempts over time, under the same.
    #[serde(skip)]
    pub(super) courses: Vec<Course>,
}

/// Three requests of the first world, where there are as many, under the first policy and the one at `other`.
pub(super) fn stories(question: &Question<'_>, runs: &Runs, other: usize) -> Vec<Story> {
    let (policies, worlds) = (question.policies, &runs.first_world);
    let (Some(first), Some(candidate)) = (worlds.first(), worlds.get(other)) else {
        return Vec::new();
    };
    let pair = [policies[0].clone(), policies[other].clone()];
    let told = |(request, why): (u64, &str)| {
        let pick = Pick::Request(request);
        // A layer above may make another request of the same number: then nothing is told.
        let found = explain(question.scenario, &pair, pick, question.options.seed, 0).ok()?;
        let (text, priced) = (found.text(), runs.priced());
        let told = if priced { text } else { without_costs(&text) };
        Some(Story { request, why: why.into(), told, courses: courses(&found, priced) })
    };
    worth_a_look(first, candidate).into_iter().filter_map(told).collect()
}

/// A story without the costs that are zero only because no price is known; columns stay where they are.
fn without_costs(told: &str) -> String {
    let lines =
        told.lines().map(|line| line.replace("$0.00", "–    ").trim_end().to_owned() + "\n");
    lines.collect()
}
