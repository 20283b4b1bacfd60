//! Success and attempts over time, and for how long users noticed.

use serde::Serialize;

use super::Question;
use super::runs::Runs;
use crate::record::{IntervalTotals, RunTotals};

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

/// Success below this is what users notice.
pub(super) const IMPACT: f64 = 0.99;

/// Every interval that counts.
pub(super) fn in_time(question: &Question<'_>, runs: &Runs) -> Vec<InTime> {
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

/// How long fewer than [`IMPACT`] were answered, in minutes.
pub(super) fn impact_minutes(question: &Question<'_>, run: &RunTotals) -> f64 {
    let low = |interval: &IntervalTotals| {
        interval.requests > 0 && (interval.answered as f64) < IMPACT * interval.requests as f64
    };
    let intervals = counted(question, run).filter(|(_, interval)| low(interval)).count();
    intervals as f64 * question.scenario.file.interval.as_micros() as f64 / 60e6
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
