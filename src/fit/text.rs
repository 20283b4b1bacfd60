//! A fit for people: what was found, and on how much it rests.

use windtunnel_policy::text::escaped;

use super::files::stamp;
use super::limits::Limits;
use super::phases::Phase;
use super::price::WELL_EXPLAINED;
use super::{Fit, TargetFit};
use crate::log::{Read, UnusableRows};

/// Phases of one target that are told one by one.
const MOST_TOLD: usize = 12;

impl Fit {
    /// The fit for people: what was read, what could not be used, phases with their evidence, figures
    /// with their samples, and what is not known.
    pub fn text(&self, read: &Read) -> String {
        let mut out = format!(
            "{}: {}, {}, {}\n",
            escaped(&self.log),
            many(read.rows, "row"),
            many(self.requests, "request"),
            many(self.attempts, "attempt")
        );
        out += &unusable_text(&read.unusable);
        if let Some(counters) = &read.counters {
            out += &format!("{}: {}\n", escaped(&counters.name), many(counters.rows, "row"));
            out += &unusable_text(&counters.unusable);
        }
        for target in &self.targets {
            out += &self.target_text(target);
        }
        out += "\nNot identified, and what is taken instead\n";
        for said in self.said() {
            out += &format!("  - {}\n", escaped(&said));
        }
        out
    }

    fn target_text(&self, target: &TargetFit) -> String {
        let parameters = &target.parameters;
        let samples = parameters.samples;
        let names = &target.names;
        let of = |p: f64| parameters.first.quantile(p).map_or("–".into(), seconds);
        let mut out = format!(
            "\n{} ({}, {})\n",
            target.name,
            escaped(&names.provider),
            escaped(&names.model)
        );
        out += &format!(
            "  first output  p50 {}, p90 {}, p99 {}; {} seen, {} given up before it\n",
            of(0.5),
            of(0.9),
            of(0.99),
            samples.first,
            samples.given_up
        );
        if let Some(price) = &target.price {
            out += &format!(
                "  price         {} in, {} out per million tokens; {} bills{}\n",
                price.input,
                price.output,
                price.bills,
                match price.unexplained > WELL_EXPLAINED {
                    true => format!(", {:.0} % of them NOT EXPLAINED", price.unexplained * 100.0),
                    false => price.told.words().to_owned(),
                }
            );
        }
        if let Limits::Found(found) = &target.limits {
            out += &format!("  limit         {}; {}\n", found.words(), found.evidence());
        }
        if let Limits::Found(found) = &target.places {
            out += &format!("  capacity      {}; {}\n", found.words(), found.evidence());
        }
        if let Some(load) = target.load.filter(|load| load.half_at.is_some()) {
            out += &format!("  load          {}\n", load.words());
        }
        out += &match (parameters.stick.share, parameters.stick.interval) {
            (Some(share), Some((low, high))) => format!(
                "  stickiness    {:.0} % to the request ({:.0}–{:.0}); {} of {} second tries failed again\n",
                share * 100.0,
                low * 100.0,
                high * 100.0,
                parameters.stick.failed,
                parameters.stick.tried
            ),
            _ => format!(
                "  stickiness    50 % assumed; {} second tries tell too little\n",
                parameters.stick.tried
            ),
        };
        out += &self.phases_text(target);
        out + &self.contract_text(target)
    }

    /// Phases, each with its failures; short ones between equal ones are told as a number.
    fn phases_text(&self, target: &TargetFit) -> String {
        let all = &target.phases.phases;
        let counted = &target.in_phases;
        let mut out = format!(
            "  phases        {}, each cut worth more than {:.0} in twice the log likelihood\n",
            all.len(),
            target.phases.penalty
        );
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by(|&a, &b| counted[b].attempts().total_cmp(&counted[a].attempts()));
        order.truncate(MOST_TOLD);
        order.sort_unstable();
        for i in order {
            let phase = &all[i];
            let slower = target.parameters.slower[i];
            out += &format!(
                "    {}–{}  {:.0} of {:.0} failed ({:.2} %){}{}{}\n",
                self.clock_text(phase.from),
                self.clock_text(phase.to),
                counted[i].failed(),
                counted[i].attempts(),
                counted[i].rate().unwrap_or(0.0) * 100.0,
                if target.parameters.ordinary[i] { ", ordinary" } else { "" },
                if slower == 1.0 {
                    String::new()
                } else {
                    format!(", first output {slower:.2} times as long")
                },
                evidence(phase)
            );
        }
        if !target.phases.blackouts.is_empty() {
            out += &format!(
                "    {} single minutes in which all attempts failed, which their phases would hardly show\n",
                target.phases.blackouts.len()
            );
        }
        if all.len() > MOST_TOLD {
            out += &format!("    … and {} shorter ones\n", all.len() - MOST_TOLD);
        }
        out
    }

    /// How often answers break their contract, where any does.
    fn contract_text(&self, target: &TargetFit) -> String {
        let contract = &target.parameters.contract;
        let [all, broken] = contract.counted;
        if broken == 0 && contract.drifts.is_empty() {
            return String::new();
        }
        let percent = |broken: u64, all: u64| broken as f64 / all.max(1) as f64 * 100.0;
        let mut out = format!(
            "  contract      {broken} of {all} answers broke it ({:.2} %), ordinary\n",
            percent(broken, all)
        );
        for (phase, [all, broken]) in &contract.drifts {
            out += &format!(
                "    {}–{}  {broken} of {all} answers broke it ({:.2} %){}\n",
                self.clock_text(phase.from),
                self.clock_text(phase.to),
                percent(*broken, *all),
                evidence(phase)
            );
        }
        out
    }

    /// A minute of the log's clock in the scenario's time, or as a date where the log has dates.
    pub fn clock_text(&self, minute: u64) -> String {
        minute_text(minute, self.dated)
    }
}

/// A minute as a date, or counted from the start.
pub(super) fn minute_text(minute: u64, dated: bool) -> String {
    if dated {
        return stamp(minute * super::evidence::MINUTE_US);
    }
    format!("{}:{:02}", minute / 60, minute % 60)
}

/// Rows that cannot be used, by reason.
fn unusable_text(unusable: &UnusableRows) -> String {
    if unusable.count() == 0 {
        return String::new();
    }
    let mut out = format!("{} cannot be used:\n", many(unusable.count(), "row"));
    unusable.told().for_each(|told| out += &format!("  {told}\n"));
    out
}

fn evidence(phase: &Phase) -> String {
    phase.evidence.map_or(String::new(), |evidence| format!("; evidence {evidence:.0}"))
}

/// A number of things, in words.
pub(crate) fn many(count: u64, of: &str) -> String {
    format!("{count} {of}{}", if count == 1 { "" } else { "s" })
}

fn seconds(us: u64) -> String {
    format!("{:.2} s", us as f64 / 1e6)
}
