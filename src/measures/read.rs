//! How a measure is read from totals.

use std::ptr;

use windtunnel_policy::Duration;

use super::Runs;
use crate::hist::{Hist, grain};
use crate::record::{ClassTotals, RunTotals, SignedHist, TargetTotals};
use crate::stats::{Hits, Ratio, Sample};

/// Microseconds in a second.
const MICROS: f64 = 1e6;
/// Picodollars in a dollar.
const PICO: f64 = 1e12;

/// Where a measure comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Read {
    /// A share of the requests.
    Share(fn(&ClassTotals) -> u64),
    /// Numerator and denominator of a ratio of sums.
    Ratio(fn(&ClassTotals) -> (f64, f64)),
    /// The mean of times whose sum, restricted at the deadline, is given in µs.
    Mean(fn(&ClassTotals) -> f64),
    /// The same of times that may be negative.
    SignedMean(fn(&ClassTotals) -> f64),
    /// A quantile of times, the unanswered at +∞, in µs.
    Quantile(fn(&ClassTotals) -> &Hist, f64),
    /// The same of times that may be negative.
    SignedQuantile(fn(&ClassTotals) -> &SignedHist, f64),
    /// Answered requests of the tenant that has the lowest share of them.
    WorstTenant,
    /// Unanswered requests that ended in the failure class at this position of its list.
    EndedAs(usize),
    /// Answered by the `single` policy on the same worlds.
    Unrecovered,
    /// Hits among asks that are no requests, of whole runs.
    Asks(fn(&RunTotals) -> (u64, u64)),
    /// Numerator and denominator, of whole runs.
    Whole(fn(&RunTotals) -> (f64, f64)),
    /// Mean time over the incidents that got so far, of whole runs.
    Incidents(fn(&RunTotals) -> &[Option<Duration>]),
    /// Share of attempts that went to the target at this position.
    Target(usize),
    /// Nothing yet makes it happen.
    NotModelled,
}

impl Read {
    pub(super) fn by_class(&self) -> bool {
        match self {
            Read::Share(_)
            | Read::Ratio(_)
            | Read::Mean(_)
            | Read::SignedMean(_)
            | Read::EndedAs(_)
            | Read::Quantile(..)
            | Read::SignedQuantile(..)
            | Read::Unrecovered
            | Read::NotModelled => true,
            Read::Asks(_)
            | Read::Whole(_)
            | Read::Incidents(_)
            | Read::Target(_)
            | Read::WorstTenant => false,
        }
    }

    /// True where values may be negative.
    pub(super) fn is_signed(&self) -> bool {
        matches!(self, Read::SignedMean(_) | Read::SignedQuantile(..))
    }

    pub(super) fn sample(&self, runs: &Runs<'_>) -> Option<Sample<'static>> {
        let requests = runs.requests();
        Some(match *self {
            Read::NotModelled => return None,
            Read::Share(hits) => {
                let of_world = |c: &ClassTotals| Hits { hits: hits(c), of: c.requests };
                Sample::proportion(runs.classes.iter().map(|c| of_world(c)).collect())
            }
            Read::EndedAs(class) => {
                let of_world = |c: &ClassTotals| Hits { hits: c.ended_as[class], of: c.requests };
                Sample::proportion(runs.classes.iter().map(|c| of_world(c)).collect())
            }
            Read::Ratio(parts) => {
                Sample::ratio(runs.classes.iter().map(|c| ratio(parts(c))).collect(), requests)
            }
            Read::Mean(sum_us) | Read::SignedMean(sum_us) => {
                let of_world = |c: &ClassTotals| ratio((sum_us(c) / MICROS, c.requests as f64));
                Sample::ratio(runs.classes.iter().map(|c| of_world(c)).collect(), requests)
            }
            Read::Quantile(hist, p) => {
                let all = hist(&runs.pooled);
                let counts = |c: &ClassTotals| Hits { hits: hist(c).infinite(), of: hist(c).len() };
                let unanswered = runs.classes.iter().map(|c| counts(c)).collect();
                quantile(p, unanswered, |world| {
                    all.quantile_between(p, world.map(|w| hist(&runs.classes[w])))
                })
            }
            Read::SignedQuantile(hist, p) => {
                let all = hist(&runs.pooled);
                let counts = |c: &ClassTotals| Hits { hits: hist(c).infinite(), of: hist(c).len() };
                let unanswered = runs.classes.iter().map(|c| counts(c)).collect();
                quantile(p, unanswered, |world| {
                    all.quantile_between(p, world.map(|w| hist(&runs.classes[w])))
                })
            }
            Read::Unrecovered => {
                if runs.unrecovered.is_empty() {
                    return None;
                }
                let worlds = runs.classes.iter().zip(&runs.unrecovered);
                // A closed loop asks less often where answers take longer: `single` may then have
                // answered more requests than this policy was asked.
                let worlds =
                    worlds.map(|(c, &hits)| Hits { hits: hits.min(c.requests), of: c.requests });
                Sample::proportion(worlds.collect())
            }
            Read::WorstTenant => {
                let whole = runs.whole?;
                let tenant = worst_tenant(whole)?;
                let answered = |run: &RunTotals| {
                    let totals = &run.tenants[tenant];
                    Hits { hits: totals.answered.total(), of: totals.requests }
                };
                Sample::proportion(whole.iter().map(answered).collect())
            }
            Read::Asks(asks) => {
                let worlds = runs.whole?.iter().map(asks);
                Sample::proportion(worlds.map(|(hits, of)| Hits { hits, of }).collect())
            }
            Read::Whole(parts) => {
                Sample::ratio(runs.whole?.iter().map(|run| ratio(parts(run))).collect(), requests)
            }
            Read::Incidents(times) => {
                let (reached, _) = self.reached(runs)?;
                Sample::ratio(runs.whole?.iter().map(|run| mean_of(times(run))).collect(), reached)
            }
            Read::Target(position) => {
                if runs.targets.is_empty() {
                    return None;
                }
                let share = |targets: &[TargetTotals]| {
                    let all: u64 = targets.iter().map(|t| t.attempts).sum();
                    ratio((targets[position].attempts as f64, all as f64))
                };
                let worlds = runs.targets.iter().map(|targets| share(targets));
                Sample::ratio(worlds.collect(), runs.pooled.attempts)
            }
        })
    }

    /// For a time of incidents: how many got so far, of how many.
    pub(super) fn reached(&self, runs: &Runs<'_>) -> Option<(u64, u64)> {
        let Read::Incidents(times) = self else { return None };
        let all = || runs.whole.unwrap_or(&[]).iter().flat_map(times);
        Some((all().flatten().count() as u64, all().count() as u64))
    }
}

/// The tenant whose requests were answered least often in all worlds together; of equals the first.
fn worst_tenant(runs: &[RunTotals]) -> Option<usize> {
    let answered = |tenant: usize| {
        let sum = |of: fn(&ClassTotals) -> u64| {
            runs.iter().map(|run| u128::from(of(&run.tenants[tenant]))).sum::<u128>()
        };
        (sum(|totals| totals.answered.total()), sum(|totals| totals.requests))
    };
    let tenants = 0..runs.first()?.tenants.len();
    let asked = tenants.map(|tenant| (tenant, answered(tenant))).filter(|(_, (_, of))| *of > 0);
    // a / b against c / d, in whole numbers.
    let least = asked.min_by(|(_, (a, b)), (_, (c, d))| (a * d).cmp(&(c * b)));
    least.map(|(tenant, _)| tenant)
}

/// Empties the histograms that none of these is read from.
pub(super) fn keep(reads: impl Iterator<Item = Read> + Clone, class: &mut ClassTotals) {
    let plain = |kept: &Hist| {
        let is = |read| matches!(read, Read::Quantile(hist, _) if ptr::eq(hist(class), kept));
        reads.clone().any(is)
    };
    let signed = reads.clone().any(|read| matches!(read, Read::SignedQuantile(..)));
    let [added, latency, ttft, failure] =
        [&class.added_latency, &class.latency, &class.ttft, &class.time_to_failure].map(plain);
    let emptied = [
        (added, &mut class.added_latency),
        (latency, &mut class.latency),
        (ttft, &mut class.ttft),
        (failure, &mut class.time_to_failure),
    ];
    emptied.into_iter().filter(|(kept, _)| !kept).for_each(|(_, hist)| *hist = Hist::new());
    if !signed {
        class.excess_latency = SignedHist::default();
    }
}

/// Dollars of picodollars.
pub(super) fn dollars(pico: u128) -> f64 {
    pico as f64 / PICO
}

fn ratio((numerator, denominator): (f64, f64)) -> Ratio {
    Ratio { numerator, denominator }
}

fn mean_of(times: &[Option<Duration>]) -> Ratio {
    let reached = || times.iter().flatten();
    let sum: f64 = reached().map(|t| t.as_micros() as f64).sum();
    ratio((sum / MICROS, reached().count() as f64))
}

/// Reads the quantile of all worlds and without each at once: statistics ask for them again
/// and again, and each is a walk over the histogram.
fn quantile(
    p: f64,
    unanswered: Vec<Hits>,
    pooled: impl Fn(Option<usize>) -> Option<f64>,
) -> Sample<'static> {
    let seconds = |us: f64| us / MICROS;
    let all = pooled(None).map(seconds);
    let without: Vec<Option<f64>> =
        (0..unanswered.len()).map(|world| pooled(Some(world)).map(seconds)).collect();
    let grain = all.map_or(0.0, |all| seconds(grain(all * MICROS)));
    Sample::quantile(p, unanswered, move |world| world.map_or(all, |w| without[w])).read_to(grain)
}
