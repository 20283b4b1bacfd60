//! From a log to a world: model cards, weather, traffic and a scenario, as ordinary files.
//!
//! [`Evidence`] takes the requests of a log as they are read. [`Fit::of`] makes of it
//!
//! - each target's phases, cut where its failures or times change (`segments`);
//! - its times by Kaplan and Meier: what was given up is censored, and beyond the last end seen
//!   nothing is identified (`survival`);
//! - its failures in ordinary times, and weather for what goes beyond (`weather`);
//! - prices, traffic, deadlines and roles of targets.
//!
//! Every figure keeps what it rests on; what the log cannot tell is taken from a named default and
//! said ([`Fit::said`]).

mod asks;
mod at_target;
mod beyond;
mod bills;
mod blocks;
mod card;
mod cautions;
mod cells;
mod class_fit;

mod contract;
mod counted;
mod deadlines;
mod evidence;
pub(crate) mod files;
mod fitted_file;
pub(crate) mod flow;
mod hidden;
mod left_out;
mod limits;
mod lived;
mod load;
mod packed;
mod parameters;
mod phases;
mod price;
mod regression;
mod resample;
mod roles;
mod said;
mod segments;
mod sends;
mod share_course;
mod singly;
mod slower;
mod stick;
mod survival;
mod target_fit;
mod text;
mod tries;
mod weather;

use std::collections::BTreeSet;

pub use beyond::NamedCard;
pub use evidence::Evidence;
pub use fitted_file::FittedFile;
pub use left_out::LeftOut;
pub use parameters::Samples;
pub use phases::Phase;
pub use resample::Refit;
pub use stick::StickFit;
pub(crate) use text::many;

use crate::log::{AfterAnswer, Format, Read, Shows};
use crate::record::{IntervalTotals, RunTotals};
use class_fit::ClassFit;
use evidence::MINUTE_US;
use hidden::Demand;
use singly::Singly;
use target_fit::TargetFit;
use weather::Clock;

/// A world fitted to a log.
#[derive(Clone, Debug)]
pub struct Fit {
    /// What the scenario is called.
    pub name: String,
    /// What the log is called.
    pub log: String,
    /// Requests of the log.
    pub requests: u64,
    /// Attempts of the log.
    pub attempts: u64,
    /// Requests that a layer above the gateway sent again: no demand of their own.
    pub resent: u64,
    /// What of the log, and of counters beside it, cannot be used.
    pub left_out: Vec<LeftOut>,
    /// The policy's own totals, as the log has them; classes and targets in the scenario's order.
    pub lived: RunTotals,
    /// Failures that came back within a millisecond.
    instant: u64,
    shows_first_outputs: bool,
    clock: Clock,
    warm_up_us: u64,
    interval_us: u64,
    dated: bool,
    blind_to: Vec<String>,
    shows: Shows,
    /// How many attempts there were is said of every request.
    tells_tries: bool,
    unseen: u64,
    after_answer: AfterAnswer,
    counters: Option<(String, counted::FromCounters)>,
    targets: Vec<TargetFit>,
    classes: Vec<ClassFit>,
    /// Targets that the log does not show.
    beyond: Vec<NamedCard>,
}

/// Intervals that a report divides the log into, at most.
pub(crate) const MOST_INTERVALS: u64 = 300;
/// Lengths an interval may have, in minutes.
pub(crate) const INTERVALS: [u64; 9] = [1, 2, 5, 10, 15, 30, 60, 120, 360];

impl Fit {
    /// The world in which this log could have been written.
    ///
    /// # Panics
    /// Without a request: a log that can be read has one.
    pub fn of(name: &str, log: &str, read: &Read, evidence: &Evidence) -> Fit {
        let first = evidence.first_us.expect("a log that was read has a request");
        // Our ledger counts from the scenario's start; any other clock is cut to its first minute.
        let ours = matches!(read.format, Format::Ledger { .. });
        let origin_us = if ours { 0 } else { first / MINUTE_US * MINUTE_US };
        let clock = Clock { origin_us, horizon_us: evidence.last_us + 1 - origin_us };
        let warm_up_us =
            evidence.first_measured_us.filter(|&at| at > first).map_or(0, |at| at - origin_us);
        let minutes = clock.horizon_us.div_ceil(MINUTE_US);
        let fits = |length: &&u64| minutes.div_ceil(**length) <= MOST_INTERVALS;
        let length = INTERVALS.iter().find(fits).or(INTERVALS.last()).expect("there are some");

        let mut used = BTreeSet::new();
        let names: Vec<String> =
            read.names.targets.iter().map(|t| plain_name(&t.name, &mut used)).collect();
        let mut used = BTreeSet::new();
        let class_names: Vec<String> =
            read.names.classes.iter().map(|c| plain_name(c, &mut used)).collect();
        let mut classes: Vec<ClassFit> = (class_names.iter().enumerate())
            .filter(|(position, _)| {
                evidence
                    .classes
                    .get(*position)
                    .is_some_and(|c| c.asks.len() > 0 && !c.uses.is_empty())
            })
            .map(|(position, name)| ClassFit::of(name, position, evidence, &names))
            .collect();
        classes.sort_by(|a, b| a.name.cmp(&b.name));
        let demand = Demand::of(evidence.arrivals());
        let tells_tries = evidence.told_tries > 0 && evidence.told_tries == evidence.requests;
        let tells_nobody = evidence.counted.is_some_and(|counted| counted.anywhere);
        let lender = |name: &String, classes: &[ClassFit]| {
            let mut of = classes
                .iter()
                .filter(|class| class.roles.groups.iter().flatten().any(|t| t == name));
            let lends = of.next()?.roles.groups.first()?.first()?;
            names.iter().position(|name| name == lends)
        };
        let mut targets: Vec<TargetFit> = (names.iter().zip(&read.names.targets).enumerate())
            .filter(|(position, _)| {
                evidence.targets.get(*position).is_some_and(|t| t.totals.attempts > 0)
            })
            .map(|(position, (name, names))| {
                let first = |class: &ClassFit| {
                    class.roles.groups.first().is_some_and(|group| group.contains(name))
                };
                let tried_first = classes.iter().any(first);
                let singly = match read.shows {
                    Shows::EveryAttempt => {
                        Singly::of(evidence, position, tried_first.then_some(&demand))
                    }
                    Shows::LastAttempt => Singly::untold(),
                };
                // In a row of a whole request, times at who stands in hold those of the failures before.
                let lends = read.shows == Shows::LastAttempt && !tells_tries && !tells_nobody;
                let lender = if lends && !tried_first { lender(name, &classes) } else { None };
                TargetFit::of(name, position, names, evidence, singly, lender, &clock)
            })
            .collect();
        targets.sort_by(|a, b| a.name.cmp(&b.name));
        let interval_us = length * MINUTE_US;
        let lived = lived(evidence, &classes, &targets, &clock, interval_us);
        Fit {
            name: name.to_owned(),
            log: log.to_owned(),
            requests: evidence.requests,
            attempts: evidence.attempts,
            resent: evidence.resent,
            left_out: left_out::of(log, read),
            lived,
            shows_first_outputs: ours
                || evidence.targets.iter().any(|target| target.totals.seen_coming > 0),
            instant: evidence.targets.iter().map(|target| target.totals.instant).sum(),
            clock,
            warm_up_us,
            interval_us,
            dated: origin_us > 0,
            blind_to: read.format.blind_to(),
            shows: read.shows,
            tells_tries,
            unseen: evidence.unseen,
            after_answer: read.after_answer,
            counters: read
                .counters
                .as_ref()
                .and_then(|counters| Some((counters.name.clone(), evidence.counted?))),
            targets,
            classes,
            beyond: Vec::new(),
        }
    }

    /// Requests before this, in µs from the scenario's start, do not count.
    pub fn warm_up_us(&self) -> u64 {
        self.warm_up_us
    }

    /// Whether the log shows this measure of the policy that was in force.
    pub fn tells(&self, measure: &str) -> bool {
        let every = self.shows == Shows::EveryAttempt;
        match measure {
            "raw_success" => every || self.tells_tries,
            "attempts_per_request" => every || self.tells_tries || self.counters.is_some(),
            "added_latency_p99" => every,
            "ttft_p50" => self.shows_first_outputs,
            "cost_per_1k" => self.targets.iter().all(|target| target.billed == target.complete),
            _ => true,
        }
    }

    /// Whether the log, or counters beside it, show every attempt at every target.
    pub fn tells_targets(&self) -> bool {
        self.shows == Shows::EveryAttempt || self.counters.is_some()
    }

    /// Whether the log does not tell what this target of it charges.
    pub fn leaves_unpriced(&self, target: &str) -> bool {
        let of = self.targets.iter().find(|fit| fit.name == target);
        of.is_some_and(|target| target.price.is_none())
    }

    /// Requests that count: those in the warm-up, malformed ones and those sent again do not.
    pub fn measured(&self) -> u64 {
        self.lived.classes.iter().map(|class| class.requests).sum()
    }

    /// Length of an interval of the timeline, µs.
    pub fn interval_us(&self) -> u64 {
        self.interval_us
    }
}

/// A name that scenarios and files can carry, unlike those used before.
pub(crate) fn plain_name(name: &str, used: &mut BTreeSet<String>) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let mut plain: String = name.chars().take(48).map(allowed).collect();
    if plain.is_empty() || plain.starts_with('.') {
        plain = format!("unnamed{plain}");
    }
    let mut unique = plain.clone();
    let mut number = 2;
    // File systems may not tell capitals apart.
    while !used.insert(unique.to_lowercase()) {
        unique = format!("{plain}-{number}");
        number += 1;
    }
    unique
}

/// The log's own totals in the scenario's order of classes, targets and intervals.
fn lived(
    evidence: &Evidence,
    classes: &[ClassFit],
    targets: &[TargetFit],
    clock: &Clock,
    interval_us: u64,
) -> RunTotals {
    let own = &evidence.lived;
    let mut totals = RunTotals {
        classes: classes
            .iter()
            .map(|c| own.classes.get(c.position).cloned().unwrap_or_default())
            .collect(),
        targets: targets
            .iter()
            .map(|t| own.targets.get(t.position).cloned().unwrap_or_default())
            .collect(),
        requests: evidence.requests,
        ..RunTotals::default()
    };
    for (minute, counted) in &own.minutes {
        let since = (minute * MINUTE_US).saturating_sub(clock.origin_us);
        let interval: &mut IntervalTotals = totals.interval((since / interval_us) as usize);
        interval.add(counted);
    }
    totals
}

impl Fit {
    /// Attempts in flight at a target at one time, at most; none where it is not of the fit.
    pub fn most_in_flight(&self, target: &str) -> Option<u64> {
        self.targets.iter().find(|fit| fit.name == target).map(|fit| fit.most_in_flight)
    }
}
