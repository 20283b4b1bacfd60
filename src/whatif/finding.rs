//! What was found, as plain data that any report can be made of.

use serde::Serialize;

use super::believe;
use super::figures::{MEASURES, Measure, Spread, mean, spread};
use super::left_out::LeftOut;
use super::policy_diff;
use super::requests::moved;
use super::runs::Runs;
use super::{Question, story};
use crate::experiment::policy_hash;
use crate::record::{ClassTotals, IntervalTotals, RunTotals};
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

/// Two ends at 95 %.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A measure with its interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Figure {
    /// As other reports call it.
    pub name: String,
    /// Mean over the worlds.
    pub value: Option<f64>,
    /// Why there is no value.
    pub missing: Option<Missing>,
    /// At 95 %: luck, and what the log leaves open.
    pub ci95: Option<Interval>,
}

/// Why a figure is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// Too few requests to tell it.
    TooFew,
    /// It falls among the unanswered.
    Unanswered,
    /// The log does not tell it.
    NotTold,
}

/// The change of a measure from the policy in force.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// As other reports call it.
    pub name: String,
    /// Mean over the worlds.
    pub difference: Option<f64>,
    /// Why there is none.
    pub missing: Option<Missing>,
    /// At 95 %: luck, and what the log leaves open.
    pub ci95: Option<Interval>,
    /// Whether the interval leaves out zero.
    pub clear: bool,
}

/// Whether the policy in force, simulated, does what the log says.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Believed {
    /// All of `checks` are within sampling error.
    pub reproduces: bool,
    /// Figure by figure.
    pub checks: Vec<Check>,
    /// Success by interval.
    pub intervals: Vec<Check>,
    /// Attempts and failures by target.
    pub targets: Vec<Check>,
}

/// One figure of the log against the simulation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Check {
    /// Which.
    pub name: String,
    /// What the log says.
    pub logged: Option<f64>,
    /// Mean over the worlds.
    pub simulated: Option<f64>,
    /// Where one course of it lies, at 95 %.
    pub range95: Option<Interval>,
    /// What comes of it.
    pub verdict: Verdict,
}

/// What comes of a check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The log is within the range.
    WithinSamplingError,
    /// It is not, like no more of its kind than chance would have outside.
    OutsideByChance,
    /// It is not.
    Off,
    /// The log does not tell it.
    NotTold,
    /// It falls among the unanswered, in the log or simulated.
    Unanswered,
    /// There are too few requests to tell it.
    TooFew,
}

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

/// One interval.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct InTime {
    /// Its begin, seconds from the world's start.
    pub from_s: f64,
    /// Requests per world.
    pub requests: f64,
    /// Success in the log.
    pub logged: Option<f64>,
    /// Success by policy.
    pub success: Vec<Option<f64>>,
    /// Attempts sent by policy, per world.
    pub sent: Vec<f64>,
}

/// A world that agrees with the log as well.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Sensitivity {
    /// What is taken otherwise.
    pub what: String,
    /// Success by policy.
    pub success: Vec<Option<f64>>,
    /// Who answers most by itself; null where that is level.
    pub leader: Option<String>,
    /// Whether it is level, or led by who answers most in the world as fitted, alone or with others.
    pub same_order: bool,
}

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

/// What to change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Recommended {
    /// The policy, where one is clearly better.
    pub policy: Option<String>,
    /// In words.
    pub because: Vec<String>,
    /// What is different in it.
    pub changes: Vec<Change>,
}

/// One field of a policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// Its path.
    pub field: String,
    /// In the policy in force; null where it has none.
    pub from: Option<String>,
    /// In the other.
    pub to: Option<String>,
}

impl Check {
    /// The log is outside the range, by chance or not.
    pub(super) fn outside(&self) -> bool {
        matches!(self.verdict, Verdict::Off | Verdict::OutsideByChance)
    }
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

/// Success below this is what users notice.
pub(super) const IMPACT: f64 = 0.99;

/// Makes the findings of what was run.
pub(super) fn of(question: &Question<'_>, runs: &Runs) -> WhatIf {
    let scenario = question.scenario;
    let policies: Vec<PolicyFinding> =
        (0..question.policies.len()).map(|policy| policy_finding(question, runs, policy)).collect();
    let sensitivity = sensitivity(question, runs);
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
        in_time: in_time(question, runs),
        sensitivity,
        stories: story::stories(question, runs),
        recommended,
        not_identified: match (question.log, question.timeline) {
            (Some((fit, _)), _) => fit.said(),
            (None, timeline) => timeline.map_or(Vec::new(), Hypothesis::said),
        },
    }
}

fn policy_finding(question: &Question<'_>, runs: &Runs, policy: usize) -> PolicyFinding {
    let data = &question.policies[policy];
    let overall =
        |measure: Measure| move |of: &[&RunTotals]| runs.read(measure, &whole(of[policy]));
    let against = |measure: Measure| {
        move |of: &[&RunTotals]| {
            Ok(runs.read(measure, &whole(of[policy]))? - runs.read(measure, &whole(of[0]))?)
        }
    };
    let others = policy > 0;
    let figures = MEASURES.iter().map(|m| figure(m.name, spread(runs, overall(*m))));
    let differences = MEASURES.iter().filter(|_| others);
    let differences = differences.map(|m| difference(m.name, spread(runs, against(*m))));
    let moved = match (runs.outcomes.first(), runs.outcomes.get(policy)) {
        (Some(first), Some(own)) if others => moved(first, own),
        _ => super::requests::Moved::default(),
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
        impact_minutes: figure("impact_minutes", spread(runs, impact)),
    }
}

fn by_class(question: &Question<'_>, runs: &Runs, policy: usize) -> Vec<OfClass> {
    let success = MEASURES[0];
    let of = |(i, class): (usize, &crate::scenario::ClassModel)| {
        let own = move |of: &[&RunTotals]| (success.read)(&of[policy].classes[i]);
        let change = move |of: &[&RunTotals]| {
            Ok((success.read)(&of[policy].classes[i])? - (success.read)(&of[0].classes[i])?)
        };
        OfClass {
            class: class.name.clone(),
            success: figure(success.name, spread(runs, own)),
            change: (policy > 0).then(|| difference(success.name, spread(runs, change))),
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

fn figure(name: &str, spread: Result<Spread, Missing>) -> Figure {
    Figure {
        name: name.into(),
        value: spread.ok().map(|spread| spread.mean),
        missing: spread.err(),
        ci95: spread.ok().filter(|spread| spread.worlds > 1).map(|spread| spread.interval()),
    }
}

fn difference(name: &str, spread: Result<Spread, Missing>) -> Difference {
    let ci95 = spread.ok().filter(|spread| spread.worlds > 1).map(|spread| spread.interval());
    Difference {
        name: name.into(),
        difference: spread.ok().map(|spread| spread.mean),
        missing: spread.err(),
        ci95,
        clear: ci95.is_some_and(|ci95| ci95.low > 0.0 || ci95.high < 0.0),
    }
}

/// Intervals of a run that count, with their numbers.
pub(super) fn counted<'a>(
    question: &Question<'_>,
    run: &'a RunTotals,
) -> impl Iterator<Item = (usize, &'a IntervalTotals)> {
    let file = &question.scenario.file;
    let length = file.interval.as_micros().max(1);
    let first = file.warm_up.as_micros().div_ceil(length) as usize;
    let end = file.horizon.as_micros().div_ceil(length) as usize;
    run.timeline.iter().enumerate().take(end).skip(first)
}

fn impact_minutes(question: &Question<'_>, run: &RunTotals) -> f64 {
    let low = |interval: &IntervalTotals| {
        interval.requests > 0 && (interval.answered as f64) < IMPACT * interval.requests as f64
    };
    let intervals = counted(question, run).filter(|(_, interval)| low(interval)).count();
    intervals as f64 * question.scenario.file.interval.as_micros() as f64 / 60e6
}

fn in_time(question: &Question<'_>, runs: &Runs) -> Vec<InTime> {
    let length = question.scenario.file.interval.as_micros() as f64 / 1e6;
    let Some(any) = runs.declared.first().and_then(|worlds| worlds.first()) else {
        return Vec::new();
    };
    let sum = |policy: usize, number: usize| {
        let mut all = IntervalTotals::default();
        let worlds = runs.declared[policy].iter();
        worlds.filter_map(|run| run.timeline.get(number)).for_each(|interval| all.add(interval));
        all
    };
    let success =
        |of: &IntervalTotals| (of.requests > 0).then(|| of.answered as f64 / of.requests as f64);
    let worlds = runs.declared[0].len() as f64;
    let numbers: Vec<usize> = counted(question, any).map(|(number, _)| number).collect();
    let of = |number: usize| {
        let sums: Vec<IntervalTotals> =
            (0..question.policies.len()).map(|p| sum(p, number)).collect();
        let logged = question.log.and_then(|(fit, _)| success(fit.lived.timeline.get(number)?));
        InTime {
            from_s: number as f64 * length,
            requests: sums[0].requests as f64 / worlds,
            logged,
            success: sums.iter().map(success).collect(),
            sent: sums.iter().map(|sum| sum.sent as f64 / worlds).collect(),
        }
    };
    numbers.into_iter().map(of).collect()
}

/// Success of every policy in one set of runs.
fn successes(runs: &[Vec<RunTotals>]) -> Vec<Option<f64>> {
    let of = |worlds: &Vec<RunTotals>| {
        let values: Option<Vec<f64>> =
            worlds.iter().map(|run| (MEASURES[0].read)(&whole(run)).ok()).collect();
        values.map(|values| mean(&values))
    };
    runs.iter().map(of).collect()
}

fn sensitivity(question: &Question<'_>, runs: &Runs) -> Vec<Sensitivity> {
    let fitted = leaders(&successes(&runs.declared));
    let of = |(variant, variant_runs): &(super::sensitivity::Variant, Vec<Vec<RunTotals>>)| {
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
            success,
        }
    };
    runs.variants.iter().map(of).collect()
}

/// The positions of those that answer most: several where that is level.
pub(super) fn leaders(success: &[Option<f64>]) -> Vec<usize> {
    let share = |success: &Option<f64>| success.unwrap_or(0.0);
    let most = success.iter().map(share).fold(0.0, f64::max);
    // Floats of the same sums may differ by a hair.
    (0..success.len()).filter(|&i| share(&success[i]) >= most - 1e-12).collect()
}

fn recommend(
    question: &Question<'_>,
    policies: &[PolicyFinding],
    sensitivity: &[Sensitivity],
    believed: Option<&Believed>,
) -> Recommended {
    let gain = |policy: &PolicyFinding| {
        let success = policy.differences.first()?;
        success.difference.filter(|gain| success.clear && *gain > 0.0)
    };
    let better = policies.iter().enumerate().filter_map(|(i, p)| Some((i, gain(p)?)));
    let best = better.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let Some((best, gain)) = best else {
        let because = vec!["no policy answers clearly more than the one in force".to_owned()];
        return Recommended { policy: None, because, changes: Vec::new() };
    };
    let policy = &policies[best];
    let mut because = vec![format!(
        "`{}` answers {:.3} pp more than `{}`, clear at 95 %",
        policy.name,
        gain * 100.0,
        policies[0].name
    )];
    let worse =
        |case: &&Sensitivity| case.success[best].unwrap_or(0.0) < case.success[0].unwrap_or(0.0);
    let against: Vec<&Sensitivity> = sensitivity.iter().filter(worse).collect();
    for case in &against {
        because.push(format!("but it answers less if {}", case.what));
    }
    if question.timeline.is_some() {
        because
            .push("no log stands behind it: hold it against your own before you rely on it".into());
    }
    if against.is_empty() && !sensitivity.is_empty() {
        because.push(format!(
            "it answers no less in any of the worlds that the {} cannot tell from this one",
            if question.timeline.is_some() { "timeline" } else { "log" }
        ));
    }
    let reproduced = believed.is_none_or(|believed| believed.reproduces);
    if !reproduced {
        because.push(
            "but the log is NOT REPRODUCED: what is found in a world that does not do what the log says is no ground for a change"
                .into(),
        );
    }
    Recommended {
        policy: (against.is_empty() && reproduced).then(|| policy.name.clone()),
        because,
        changes: policy_diff::changes(&question.policies[0], &question.policies[best]),
    }
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
