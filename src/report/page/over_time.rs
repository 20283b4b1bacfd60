//! The policies over time: success, load, latency, cost, breakers, interval by interval.

use super::shades::{in_words, shades};
use crate::page::{Axis, Block, Line, LineChart, Section, Shade, Unit, X};
use crate::record::IntervalTotals;
use crate::report::latencies::Cells;
use crate::report::{Latencies, Report};
use crate::stats::{Hits, Sample, estimate};

/// Points of all lines together: what keeps a document small.
const MOST_POINTS: usize = 24_000;
/// Points of a line, at least and at most.
const POINTS: (usize, usize) = (60, 1_000);
/// Charts, for the sum of points.
const CHARTS: usize = 6;
/// Quantiles of latency, the most wanted first, and how they are called.
const QUANTILES: [(f64, &str); 3] =
    [(0.99, "99th percentile"), (0.9, "90th percentile"), (0.5, "median")];
/// Points a chart of a quantile has at least; else a lower quantile takes its place.
const LEAST_POINTS: usize = 12;

pub(super) fn section(report: &Report<'_>, latencies: Option<&Latencies>) -> Section {
    let steps = Steps::of(report);
    let seconds = report.scenario.file.horizon.as_micros() as f64 / 1e6;
    let clock = |at: f64| crate::page::clock(at, seconds);
    let mut text = format!(
        "Each point is {} of all worlds together, by when requests arrived.",
        spoken(steps.seconds())
    );
    let incidents = in_words(report, clock);
    if !incidents.is_empty() {
        text += &format!(" {incidents}");
    }
    let latency = latencies.and_then(|of| quantiles(report, &steps, of));
    let more = [
        Some(raw(report, &steps)),
        Some(attempts(report, &steps)),
        Some(latency.unwrap_or_else(|| mean_latency(report, &steps))),
        Some(cost(report, &steps)),
        breakers(report, &steps),
    ];
    let more = more.into_iter().flatten().map(Block::Lines).collect();
    let first = Block::Lines(success(report, &steps));
    Section::new("Over time", vec![Block::Text(text), first, Block::Beside(more)])
}

/// Intervals of the timeline, several to a point.
#[derive(Clone, Copy)]
struct Steps {
    /// Length of an interval in seconds.
    interval: f64,
    /// Intervals to a point.
    each: usize,
    /// Points.
    count: usize,
}

impl Steps {
    fn of(report: &Report<'_>) -> Steps {
        let file = &report.scenario.file;
        let whole = file.horizon.as_micros() / file.interval.as_micros().max(1);
        let lines = CHARTS * report.findings.policies.len();
        let most = (MOST_POINTS / lines).clamp(POINTS.0, POINTS.1);
        let intervals = (whole as usize).max(1);
        let interval = file.interval.as_micros() as f64 / 1e6;
        Steps { interval, each: intervals.div_ceil(most), count: 0 }.over(intervals)
    }

    fn over(self, intervals: usize) -> Steps {
        Steps { count: intervals.div_ceil(self.each), ..self }
    }

    fn seconds(&self) -> f64 {
        self.interval * self.each as f64
    }

    fn x(&self) -> X {
        X::Time { from: 0.0, step: self.seconds(), count: self.count }
    }

    /// The intervals of a point.
    fn intervals(&self, point: usize) -> std::ops::Range<usize> {
        point * self.each..(point + 1) * self.each
    }
}

/// The totals of one policy at one point, world by world.
fn at(report: &Report<'_>, policy: usize, steps: &Steps, point: usize) -> Vec<IntervalTotals> {
    let worlds = report.experiment.policies[policy].worlds.iter();
    let sum = |timeline: &[IntervalTotals]| {
        let mut sum = IntervalTotals::default();
        steps.intervals(point).filter_map(|at| timeline.get(at)).for_each(|t| sum.add(t));
        sum
    };
    worlds.map(|run| sum(&run.timeline)).collect()
}

/// A line for each policy, of what all worlds together have at each point.
fn lines(
    report: &Report<'_>,
    steps: &Steps,
    value: impl Fn(&IntervalTotals) -> Option<f64>,
) -> Vec<Line> {
    let of_point = |policy: usize, point: usize| {
        let mut sum = IntervalTotals::default();
        at(report, policy, steps, point).iter().for_each(|world| sum.add(world));
        value(&sum)
    };
    let line = |of: usize| {
        let values = (0..steps.count).map(|point| of_point(of, point)).collect();
        Line { of, values, bands: Vec::new() }
    };
    (0..report.findings.policies.len()).map(line).collect()
}

/// A line with its band for each policy, of a share of the requests.
fn shares(report: &Report<'_>, steps: &Steps, hits: impl Fn(&IntervalTotals) -> u64) -> Vec<Line> {
    let of_point = |policy: usize, point: usize| {
        let worlds = at(report, policy, steps, point);
        let hits = worlds.iter().map(|world| Hits { hits: hits(world), of: world.requests });
        let estimate = estimate(&Sample::proportion(hits.collect()));
        let percent = |value: f64| 100.0 * value;
        let band = estimate.ci95.map(|(lo, hi)| (percent(lo), percent(hi)));
        (estimate.value.map(percent), band)
    };
    let line = |of: usize| {
        let points = (0..steps.count).map(|point| of_point(of, point));
        let (values, bands) = points.unzip();
        Line { of, values, bands }
    };
    (0..report.findings.policies.len()).map(line).collect()
}

fn chart(
    report: &Report<'_>,
    steps: &Steps,
    title: &str,
    about: &str,
    y: Axis,
    lines: Vec<Line>,
) -> LineChart {
    let shades: Vec<Shade> = shades(report, steps.seconds());
    let (title, about) = (title.into(), about.into());
    LineChart { title, about, x: steps.x(), y, lines, shades, strips: Vec::new() }
}

fn success(report: &Report<'_>, steps: &Steps) -> LineChart {
    let about = match report.experiment.worlds.len() {
        1 => "By the first attempt or after recovery.",
        _ => "By the first attempt or after recovery. Bands are 95 % intervals over worlds.",
    };
    let y = Axis::new("requests answered (%)", Unit::Percent);
    let lines = shares(report, steps, |t| t.answered);
    chart(report, steps, "Requests answered", about, y, lines)
}

fn raw(report: &Report<'_>, steps: &Steps) -> LineChart {
    let about = "What would have been answered had nothing been recovered, at the targets chosen.";
    let y = Axis::new("answered by the first attempt (%)", Unit::Percent);
    let lines = lines(report, steps, |t| per(100.0 * t.raw as f64, t.requests));
    chart(report, steps, "Answered by the first attempt", about, y, lines)
}

fn attempts(report: &Report<'_>, steps: &Steps) -> LineChart {
    let about = "The load on providers: attempts sent, for each request that arrived.";
    let y = Axis::new("attempts per request", Unit::Number);
    let lines = lines(report, steps, |t| per(t.sent as f64, t.requests));
    chart(report, steps, "Attempts per request", about, y, lines)
}

fn mean_latency(report: &Report<'_>, steps: &Steps) -> LineChart {
    let about =
        "From arrival to the end of the answer; unanswered requests count at their deadline.";
    let y = Axis::new("mean latency (s)", Unit::Seconds);
    let lines = lines(report, steps, |t| per(t.latency_sum as f64 / 1e6, t.requests));
    chart(report, steps, "Latency, mean", about, y, lines)
}

/// A high quantile, over stretches long enough to have one.
fn quantiles(report: &Report<'_>, steps: &Steps, latencies: &Latencies) -> Option<LineChart> {
    // Rows are of requests that came to the gateway; what layers repeat is timed as a whole.
    if report.scenario.has_layers() {
        return None;
    }
    let policies = report.findings.policies.len();
    let cells: Vec<Vec<Cells>> = (0..policies).map(|p| latencies.of(p)).collect::<Option<_>>()?;
    let intervals = steps.count * steps.each;
    let seen: u64 = cells.first()?.iter().take(intervals).map(Cells::len).sum();
    let (q, name, steps) = QUANTILES.into_iter().find_map(|(q, name)| {
        let wanted = 120.0 / (1.0 - q) * intervals as f64;
        let each = (libm::ceil(wanted / (seen.max(1)) as f64) as usize).max(steps.each);
        let steps = Steps { each, ..*steps }.over(intervals);
        (steps.count >= LEAST_POINTS).then_some((q, name, steps))
    })?;
    let line = |(of, cells): (usize, &Vec<Cells>)| {
        let value = |point| {
            let mut sum = Cells::default();
            steps.intervals(point).filter_map(|at| cells.get(at)).for_each(|c| sum.add(c));
            sum.quantile(q)
        };
        Line { of, values: (0..steps.count).map(value).collect(), bands: Vec::new() }
    };
    let lines: Vec<Line> = cells.iter().enumerate().map(line).collect();
    if lines.iter().all(|line| line.values.iter().all(Option::is_none)) {
        return None;
    }
    let about = format!(
        "From arrival to the end of the answer, {} to a point. No line where it lies among the \
         unanswered, or too few requests arrived.",
        spoken(steps.seconds()),
    );
    let y = Axis::new(format!("latency, {name} (s)"), Unit::Seconds);
    Some(chart(report, &steps, &format!("Latency, {name}"), &about, y, lines))
}

fn cost(report: &Report<'_>, steps: &Steps) -> LineChart {
    let about = "Everything billed for the requests that arrived, failed attempts included.";
    let y = Axis::new("dollars per 1,000 requests", Unit::Dollars);
    let lines = lines(report, steps, |t| per(t.cost as f64 / 1e12 * 1_000.0, t.requests));
    chart(report, steps, "Cost per 1,000 requests", about, y, lines)
}

/// `None` where no breaker ever opened.
fn breakers(report: &Report<'_>, steps: &Steps) -> Option<LineChart> {
    let worlds = report.experiment.worlds.len() as f64;
    let mean = |t: &IntervalTotals| t.open.as_micros() as f64 / 1e6 / steps.seconds() / worlds;
    let lines = lines(report, steps, |t| Some(mean(t)));
    if lines.iter().flat_map(|line| line.values.iter().flatten()).all(|value| *value == 0.0) {
        return None;
    }
    let targets = report.scenario.targets.len();
    let about = format!("How many of the {targets} targets open breakers kept out, on average.");
    let y = Axis::new("targets out of service", Unit::Number);
    Some(chart(report, steps, "Targets out of service by breakers", &about, y, lines))
}

fn per(value: f64, requests: u64) -> Option<f64> {
    (requests > 0).then(|| value / requests as f64)
}

/// A length of time in words.
fn spoken(seconds: f64) -> String {
    match seconds {
        1.0 => "one second".into(),
        60.0 => "one minute".into(),
        3_600.0 => "one hour".into(),
        s if s % 3_600.0 == 0.0 => format!("{} hours", s / 3_600.0),
        s if s % 60.0 == 0.0 => format!("{} minutes", s / 60.0),
        s => format!("{s} seconds"),
    }
}
