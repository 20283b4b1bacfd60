//! What happened interval by interval.

use windtunnel_policy::Duration;

use super::Report;
use super::lines::{Lines, RowFormat};
use crate::record::IntervalTotals;

/// The columns; `docs/output.md` describes them.
pub const TIMELINE_COLUMNS: [&str; 13] = [
    "policy",
    "from_s",
    "to_s",
    "worlds",
    "requests",
    "answered_raw",
    "answered",
    "raw_success",
    "success",
    "sent",
    "goodput",
    "latency_mean_s",
    "cost_usd",
];

/// One interval of one policy, all worlds together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Interval {
    /// Start, from the scenario's.
    pub(super) from: Duration,
    /// End.
    pub(super) to: Duration,
    pub(super) totals: IntervalTotals,
}

impl Interval {
    /// Answered of those that arrived in it; `None` where none did.
    pub(super) fn success(&self) -> Option<f64> {
        self.share(self.totals.answered as f64)
    }

    /// Of what the requests that arrived in it add up to, what each has; `None` where none did.
    pub(super) fn share(&self, of: f64) -> Option<f64> {
        (self.totals.requests > 0).then(|| of / self.totals.requests as f64)
    }
}

impl Report<'_> {
    /// The timeline: one row per policy and interval of the scenario, all worlds together.
    pub fn timeline(&self, format: RowFormat) -> Vec<u8> {
        let mut lines = Lines::new(format, &TIMELINE_COLUMNS);
        let worlds = self.experiment.worlds.len() as u64;
        for (position, policy) in self.findings.policies.iter().enumerate() {
            for interval in self.intervals(position) {
                let totals = interval.totals;
                lines.text(&policy.name);
                lines.seconds(interval.from.as_micros());
                lines.seconds(interval.to.as_micros());
                lines.integer(worlds);
                lines.integer(totals.requests);
                lines.integer(totals.raw);
                lines.integer(totals.answered);
                lines.number(interval.share(totals.raw as f64));
                lines.number(interval.success());
                lines.integer(totals.sent);
                lines.integer(totals.goodput);
                lines.number(interval.share(totals.latency_sum as f64 / 1e6));
                lines.dollars(totals.cost);
                lines.end();
            }
        }
        let header = format.header(&TIMELINE_COLUMNS);
        [header.as_bytes(), lines.bytes()].concat()
    }

    /// The intervals of the policy at this position.
    pub(super) fn intervals(&self, policy: usize) -> Vec<Interval> {
        let length = self.scenario.file.interval;
        let worlds = &self.experiment.policies[policy].worlds;
        let count = worlds.iter().map(|run| run.timeline.len()).max().unwrap_or(0);
        let sum = |index: usize| {
            let mut sum = IntervalTotals::default();
            worlds.iter().filter_map(|run| run.timeline.get(index)).for_each(|t| sum.add(t));
            sum
        };
        let interval = |index: usize| Interval {
            from: length.saturating_mul(index as u64),
            to: length.saturating_mul(index as u64 + 1),
            totals: sum(index),
        };
        (0..count).map(interval).collect()
    }
}
