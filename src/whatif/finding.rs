//! What was found, as plain data that any report can be made of.

use serde::Serialize;
use windtunnel_policy::config::Policy;

use super::Question;
use super::bad_times::{self, BadTime};
use super::believe::{self, Believed};
use super::course::{self, InTime, Stretch};
use super::doubts::doubts;
use super::left_out::LeftOut;
use super::otherwise::{Sensitivity, otherwise};
use super::policy::{self, PolicyFinding};
use super::recommend::{Recommended, recommend};
use super::runs::Runs;
use super::story::{self, Story};
use super::unseen::of_the_same_provider;
use crate::timeline::Hypothesis;

/// The version of the JSON; `docs/what-if.md` describes it.
pub const FORMAT: u32 = 2;

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
    /// Policies with rules that act on what the log does not show, in words.
    pub blind_rules: Vec<String>,
    /// What speaks against believing it, whatever is reproduced.
    pub cautions: Vec<String>,
    /// What to know before the answer, though it stands against no recommendation.
    pub doubts: Vec<String>,
    /// The policy in force, then the others.
    pub policies: Vec<PolicyFinding>,
    /// Success over time.
    pub in_time: Vec<InTime>,
    /// Success over longer stretches of time, with intervals.
    pub stretches: Vec<Stretch>,
    /// When targets were bad.
    pub bad_times: Vec<BadTime>,
    /// Where the log cannot tell.
    pub sensitivity: Vec<Sensitivity>,
    /// Requests worth a look.
    pub stories: Vec<Story>,
    /// Position of the other policy that answers most: the one that a short answer is about.
    #[serde(skip)]
    pub(super) candidate: usize,
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

    /// Whether the world does not do what the log says.
    pub(super) fn is_another_world(&self) -> bool {
        self.believed.as_ref().is_some_and(|believed| believed.reproduces == Some(false))
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
    let in_time = course::in_time(question, runs);
    let candidate = candidate(&policies);
    let sensitivity = otherwise(question, runs);
    let believed = question.log.map(|(fit, _)| believe::of(question, fit, runs));
    let blind_rules = blind_rules(question);
    let mut cautions = question.log.map_or(Vec::new(), |(fit, _)| fit.cautions());
    cautions.extend(of_the_same_provider(question));
    cautions.extend(blind_rules.iter().cloned());
    let recommended = recommend(question, &policies, &sensitivity, believed.as_ref(), &cautions);
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
        cautions,
        doubts: doubts(question),
        blind_rules,
        policies,
        stretches: course::stretches(question, runs, &in_time),
        bad_times: bad_times::of(question),
        in_time,
        sensitivity,
        stories: story::stories(question, runs, candidate),
        candidate,
        recommended,
        not_identified: match (question.log, question.timeline) {
            (Some((fit, _)), _) => fit.said(),
            (None, timeline) => timeline.map_or(Vec::new(), Hypothesis::said),
        },
    }
}

/// Which policies act on when first outputs come, where the log shows none.
fn blind_rules(question: &Question<'_>) -> Vec<String> {
    let shown = question.log.is_none_or(|(fit, _)| fit.tells("ttft_p50"));
    let acts = |policy: &&Policy| {
        let timeouts = &policy.timeouts;
        timeouts.first_token.is_some() || timeouts.idle_stream.is_some() || policy.hedge.is_some()
    };
    let blind = question.policies.iter().filter(acts).filter(|_| !shown);
    let words = blind.map(|policy| {
        format!(
            "`{}` acts on when output comes, and the log shows of an answer only its end: here all of it comes then, and what those rules do for answers that are streamed is not told",
            policy.name
        )
    });
    words.collect()
}

/// The other policy that answers most; of equals the first.
fn candidate(policies: &[PolicyFinding]) -> usize {
    let success = |at: usize| policies[at].figures[0].value.unwrap_or(0.0);
    let others = 1..policies.len();
    others.max_by(|&a, &b| success(a).total_cmp(&success(b)).then(b.cmp(&a))).unwrap_or(0)
}

/// Nothing found: what tests begin with.
#[cfg(test)]
pub(super) fn empty() -> WhatIf {
    WhatIf {
        format: FORMAT,
        windtunnel: String::new(),
        scenario: String::new(),
        scenario_hash: String::new(),
        log: None,
        timeline: None,
        seed: 1,
        worlds: 0,
        refits: 0,
        interval_s: 300.0,
        believed: None,
        cautions: Vec::new(),
        doubts: Vec::new(),
        blind_rules: Vec::new(),
        policies: Vec::new(),
        in_time: Vec::new(),
        stretches: Vec::new(),
        bad_times: Vec::new(),
        sensitivity: Vec::new(),
        stories: Vec::new(),
        candidate: 1,
        recommended: Recommended { policy: None, because: Vec::new(), changes: Vec::new() },
        not_identified: Vec::new(),
    }
}
