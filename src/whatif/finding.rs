//! What was found, as plain data that any report can be made of.

use serde::Serialize;

use super::Question;
use super::believe::{self, Believed};
use super::course::{self, InTime};
use super::left_out::LeftOut;
use super::otherwise::{Sensitivity, otherwise};
use super::policy::{self, PolicyFinding};
use super::recommend::{Recommended, recommend};
use super::runs::Runs;
use super::story::{self, Story};
use crate::timeline::Hypothesis;

/// The version of the JSON; `docs/what-if.md` describes it.
pub const FORMAT: u32 = 1;

/// Everything that is reported. Shares are fractions, times seconds, money dollars.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct WhatIf {
    /// Version of this shape.
    pub format: u32,
    /// Version of windtunnel.
    pub windtunnel: String,
    /// Name of the world.
    pub scenario: String,
    /// SHA-256 over the world's files.
    pub scenario_hash: String,
    /// The log; null where the world is made of a timeline.
    pub log: Option<Logged>,
    /// The timeline; null where the world is fitted to a log.
    pub timeline: Option<Told>,
    /// The seed.
    pub seed: u64,
    /// Worlds of luck.
    pub worlds: usize,
    /// Refits.
    pub refits: usize,
    /// Length of an interval of `in_time`, seconds.
    pub interval_s: f64,
    /// The policy in force against the log; null without a log.
    pub believed: Option<Believed>,
    /// The policy in force, then the others.
    pub policies: Vec<PolicyFinding>,
    /// Success over time.
    pub in_time: Vec<InTime>,
    /// Where the log cannot tell.
    pub sensitivity: Vec<Sensitivity>,
    /// Requests worth a look.
    pub stories: Vec<Story>,
    /// What to change.
    pub recommended: Recommended,
    /// What the log cannot tell, and what was taken instead.
    pub not_identified: Vec<String>,
}

/// A log in figures.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Logged {
    /// What it is called.
    pub name: String,
    /// Requests.
    pub requests: u64,
    /// Attempts.
    pub attempts: u64,
    /// Rows that cannot be used: of the log, and of counters beside it.
    pub left_out: Vec<LeftOut>,
    /// Requests that all figures are of: without those of the warm-up, malformed ones, and those sent
    /// again by a layer above the gateway.
    pub measured: u64,
}

/// A timeline in words.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Told {
    /// The incident's name.
    pub name: String,
    /// What its file is called.
    pub file: String,
    /// Where the incident was told.
    pub source: String,
    /// What the traffic is called.
    pub traffic: String,
}

impl WhatIf {
    /// What the world is made of, in a word.
    pub(super) fn made_of(&self) -> &'static str {
        if self.timeline.is_some() { "timeline" } else { "log" }
    }

    /// One JSON object, indented.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data") + "\n"
    }
}

/// Makes the findings of what was run.
pub(super) fn of(question: &Question<'_>, runs: &Runs) -> WhatIf {
    let scenario = question.scenario;
    let policies: Vec<PolicyFinding> = (0..question.policies.len())
        .map(|policy| policy::finding(question, runs, policy))
        .collect();
    let sensitivity = otherwise(question, runs);
    let believed = question.log.map(|(fit, _)| believe::of(question, fit, runs));
    let recommended = recommend(question, &policies, &sensitivity, believed.as_ref());
    WhatIf {
        format: FORMAT,
        windtunnel: env!("CARGO_PKG_VERSION").into(),
        scenario: scenario.file.name.clone(),
        scenario_hash: scenario.hash.clone(),
        log: question.log.map(|(fit, _)| Logged {
            name: fit.log.clone(),
            requests: fit.requests,
            attempts: fit.attempts,
            left_out: fit.left_out.iter().map(LeftOut::of).collect(),
            measured: fit.measured(),
        }),
        timeline: question.timeline.map(|of| Told {
            name: of.incident.id.clone(),
            file: of.file.clone(),
            source: of.incident.source.clone(),
            traffic: of.traffic.clone(),
        }),
        seed: question.options.seed,
        worlds: runs.declared.first().map_or(0, Vec::len),
        refits: runs.refits.len(),
        interval_s: scenario.file.interval.as_micros() as f64 / 1e6,
        believed,
        policies,
        in_time: course::in_time(question, runs),
        sensitivity,
        stories: story::stories(question, runs),
        recommended,
        not_identified: match (question.log, question.timeline) {
            (Some((fit, _)), _) => fit.said(),
            (None, timeline) => timeline.map_or(Vec::new(), Hypothesis::said),
        },
    }
}
