//! Success and attempts over time, and for how long users noticed.

use serde::Serialize;

use super::Question;
use super::policy::compared;
use super::runs::Runs;
use super::value::{Compared, Missing};
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

/// A piece of the time, long enough for intervals to be of use.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Stretch {
    /// Its begin, seconds from the world's start.
    pub from_s: f64,
    /// Its end, seconds.
    pub to_s: f64,
    /// Requests per world.
    pub requests: f64,
    /// Success in the log.
    pub logged: Option<f64>,
    /// Success by policy, and its change.
    pub success: Vec<Compared>,
}

/// Stretches of the whole time, at least and at most.
const STRETCHES: (usize, usize) = (10, 24);

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

/// The whole time in stretches of the same length.
pub(super) fn stretches(question: &Question<'_>, runs: &Runs, in_time: &[InTime]) -> Vec<Stretch> {
    let length = question.scenario.file.interval.as_micros() as f64 / 1e6;
    let each = intervals_each(in_time.len());
    let of = |intervals: &[InTime]| {
        let from_s = intervals[0].from_s;
        let first = libm::round(from_s / length) as usize;
        let numbers = first..first + intervals.len();
        let read = |run: &RunTotals| share(run, numbers.clone()).ok_or(Missing::TooFew);
        let success = (0..question.policies.len()).map(|p| compared("success", runs, p, read));
        Stretch {
            from_s,
            to_s: from_s + length * intervals.len() as f64,
            requests: intervals.iter().map(|interval| interval.requests).sum(),
            logged: question.log.and_then(|(fit, _)| share(&fit.lived, numbers.clone())),
            success: success.collect(),
        }
    };
    in_time.chunks(each).map(of).collect()
}

/// How many intervals make a stretch: of the lengths that give not too few and not too many, the one that
/// leaves least of the last stretch empty.
fn intervals_each(intervals: usize) -> usize {
    let (least, most) = (intervals.div_ceil(STRETCHES.1), intervals.div_ceil(STRETCHES.0));
    let empty = |each: &usize| intervals.next_multiple_of(*each) - intervals;
    (least.max(1)..=most.max(1)).min_by_key(empty).expect("one is not less than the other")
}

/// What is answered of the requests of these intervals together.
fn share(run: &RunTotals, numbers: std::ops::Range<usize>) -> Option<f64> {
    let mut all = IntervalTotals::default();
    numbers.filter_map(|number| run.timeline.get(number)).for_each(|interval| all.add(interval));
    (all.requests > 0).then(|| all.answered as f64 / all.requests as f64)
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

#[cfg(test)]
mod tests {
    use super::intervals_each;

    #[test]
    fn stretches_end_with_the_time_where_they_can() {
        // 60 = 20 × 3; 187 = 17 × 11; 186 = 2 × 3 × 31 has no such part: 24 × 8 leaves less than the others.
        assert_eq!([0, 1, 24, 60, 187].map(intervals_each), [1, 1, 1, 3, 11]);
        assert!(186_usize.next_multiple_of(intervals_each(186)) - 186 < 4);
        let each = intervals_each(8_640);
        assert_eq!(8_640 % each, 0);
        assert!((10..=24).contains(&(8_640 / each)));
    }
}
