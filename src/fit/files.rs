//! The fitted world as files: a scenario, a card for each target, a trace for each class. Each figure
//! stands with what it rests on.

use std::fmt::Write;

use windtunnel_policy::{Duration, Share};

use super::beyond::NamedCard;
use super::card::plain_model;
use super::evidence::{Evidence, MINUTE_US};
use super::fitted_file::FittedFile;
use super::flow::{flow, scalar};
use super::limits::Limits;
use super::{ClassFit, Fit, TargetFit};
use crate::scenario::{DistSpec, WeatherSpec};

impl Fit {
    /// Path of the scenario among the files.
    pub fn scenario_path(&self) -> String {
        format!("{}.yaml", self.name)
    }

    /// All files of the fit.
    pub fn files<'a>(&self, evidence: &'a Evidence) -> Vec<FittedFile<'a>> {
        let scenario = FittedFile::new(self.scenario_path(), self.scenario(evidence));
        let card = |target: &TargetFit| {
            FittedFile::new(card_path(&target.name), self.card(target, evidence))
        };
        let trace = |class: &ClassFit| {
            let asks = &evidence.classes[class.position].asks;
            FittedFile::traffic(trace_path(&class.name), asks, self.clock.origin_us)
        };
        let cards = self.targets.iter().map(card);
        let beyond = self.beyond.iter().filter_map(NamedCard::file);
        [scenario]
            .into_iter()
            .chain(cards)
            .chain(beyond)
            .chain(self.classes.iter().map(trace))
            .collect()
    }

    fn scenario(&self, evidence: &Evidence) -> String {
        let mut out = String::new();
        let mut line = |text: String| writeln!(out, "{text}").expect("a string takes all");
        line(format!(
            "# Fitted by windtunnel to {}: {} requests, {} attempts.",
            comment(&self.log),
            self.requests,
            self.attempts
        ));
        if self.dated {
            line(format!("# t = 0 is {} on the log's clock.", stamp(self.clock.origin_us)));
        }
        line("#".into());
        for said in self.said() {
            line(format!("# {}", comment(&said)));
        }
        line(format!("name: {}", scalar(&self.name)));
        line(format!(
            "shows: {}",
            quoted(&format!("The world in which {} could have been written.", self.log))
        ));
        line(format!(
            "expect: {}",
            quoted(
                "The policy that was in force, simulated here, answers as the log says; `windtunnel what-if` checks it."
            )
        ));
        line(format!(
            "sources: [{}]",
            quoted(&format!(
                "{}: {} requests, {} attempts",
                self.log, self.requests, self.attempts
            ))
        ));
        line(String::new());
        line(format!("warm_up: {}", us(self.warm_up_us)));
        line(format!("horizon: {}", us(self.clock.horizon_us)));
        line(format!("interval: {}", us(self.interval_us)));
        line("classes:".into());
        for class in &self.classes {
            self.class(class, evidence, &mut line);
        }
        line("targets:".into());
        for target in &self.targets {
            line(format!(
                "  {}: {{card: {}}}",
                scalar(&target.name),
                quoted(&card_path(&target.name))
            ));
        }
        for beyond in &self.beyond {
            line(format!(
                "  {}: {{card: {}}} # the log does not show it",
                scalar(&beyond.card.name),
                quoted(&beyond.reference())
            ));
        }
        let mut weather = self
            .targets
            .iter()
            .flat_map(|target| target.parameters.weather.iter().map(move |entry| (target, entry)))
            .peekable();
        if weather.peek().is_some() {
            line("weather:".into());
        }
        for (target, entry) in weather {
            entry_lines(target, entry, &mut line);
        }
        out
    }

    fn class(&self, class: &ClassFit, evidence: &Evidence, line: &mut impl FnMut(String)) {
        let roles = &class.roles;
        line(format!("  {}:", scalar(&class.name)));
        roles.deadlines.lines().into_iter().for_each(&mut *line);
        let model = |target: &String| {
            self.targets.iter().find(|fit| fit.name == *target).map(|fit| fit.names.model.clone())
        };
        let primary = roles.groups.first().and_then(|group| group.first()).and_then(model);
        let mut others: Vec<String> = roles.groups.iter().flatten().filter_map(model).collect();
        others.extend(self.beyond.iter().map(|beyond| beyond.card.model.clone()));
        others.sort_unstable();
        others.dedup();
        others.retain(|other| Some(other) != primary.as_ref());
        if !others.is_empty() {
            line(format!(
                "    substitutes: {} # {}",
                flow(&others.iter().map(|m| plain_model(m)).collect::<Vec<_>>()),
                if self.beyond.is_empty() { "the log used them" } else { "of all targets" }
            ));
        }
        line("    groups:".into());
        let mut groups = roles.groups.iter();
        line(format!("      primary: {}", flow(&groups.next().cloned().unwrap_or_default())));
        let beyond = self.beyond.iter().map(|beyond| vec![beyond.card.name.clone()]);
        let rest: Vec<Vec<String>> = groups.cloned().chain(beyond).collect();
        if !rest.is_empty() {
            line(format!("      fallbacks: {}", flow(&rest)));
        }
        line("    traffic:".into());
        line(format!(
            "      # {} requests; {} without tokens have those of the one before",
            class.roles.requests, class.borrowed
        ));
        line("      arrivals:".into());
        line("        trace:".into());
        line(format!("          file: {}", quoted(&trace_path(&class.name))));
        line("          absolute: true".into());
        line("          layout: {columns: {time: at_us, time_unit: us, input_tokens: input_tokens, output_tokens: output_tokens}}".into());
        line(match self.max_output() {
            Some((most, name)) => {
                format!("      tokens: {{max_output: {most}}} # as the limit of {name} charges")
            }
            None => {
                let asks = evidence.classes[class.position].asks.with_tokens();
                let most = allowed(asks.map(|(ask, _)| ask.output).max().unwrap_or(1));
                format!("      tokens: {{max_output: {most}}} # assumed: above the longest answer")
            }
        });
        line(format!("      streamed: {}", self.streamed(class)));
        if roles.refused > 0 {
            let share = roles.refused as f64 / roles.requests.max(1) as f64;
            line(format!(
                "      refusals: {} # {} of {}",
                super::parameters::share(share),
                roles.refused,
                roles.requests
            ));
        }
        if let Some(patience) = &roles.patience {
            line(format!(
                "      patience: {} # {} went away",
                flow(&patience_spec(patience)),
                patience.events
            ));
        }
    }

    /// What callers allow to be answered, where the limit of a target says it; of several the most.
    fn max_output(&self) -> Option<(u32, &str)> {
        let of = |target: &'_ TargetFit| match &target.limits {
            Limits::Found(found) => found.max_output(),
            _ => None,
        };
        let told = self.targets.iter().filter_map(|target| Some((of(target)?, &*target.name)));
        // Of equals the first by name.
        told.rev().max_by_key(|(most, _)| *most)
    }

    /// Share of answers that came as a stream, at the targets the class tries first.
    fn streamed(&self, class: &ClassFit) -> Share {
        let first = class.roles.groups.first();
        let of = self.targets.iter().filter(|t| first.is_some_and(|group| group.contains(&t.name)));
        let (streamed, all) = of.fold((0, 0), |(s, n), t| (s + t.streamed, n + t.complete));
        if all == 0 { Share::ONE } else { super::parameters::share(streamed as f64 / all as f64) }
    }
}

fn entry_lines(target: &TargetFit, entry: &WeatherSpec, line: &mut impl FnMut(String)) {
    line(format!("  - name: {}", scalar(&entry.name)));
    line(format!("    hits: {}", flow(&entry.hits)));
    line(format!("    when: {}", flow(&entry.when)));
    if let crate::scenario::Shape::Course { points, .. } = &entry.shape {
        line("    shape:".into());
        line("      course:".into());
        line("        points:".into());
        for point in points {
            line(format!("          - {}", flow(point)));
        }
    }
    let effects = &entry.effects;
    line("    effects:".into());
    if let Some(failures) = &effects.failures {
        line("      failures:".into());
        line(format!(
            "        share: {} # beyond the {} of ordinary times",
            flow(&failures.share),
            rate_words(target)
        ));
        line("        mix:".into());
        for kind in &failures.mix {
            line(format!("          - {}", flow(kind)));
        }
        if let Some(stick) = &failures.stick {
            line(format!("        stick: {}", flow(stick)));
        }
    }
    if let Some(broken) = &effects.contract_failures {
        line(format!(
            "      contract_failures: {broken} # beyond the {} of ordinary times",
            target.parameters.contract.share
        ));
    }
    if let Some(speed) = &effects.speed {
        line(format!(
            "      speed: {} # of the usual, by the times to the first output",
            flow(speed)
        ));
    }
}

fn rate_words(target: &TargetFit) -> String {
    let mix = &target.parameters.failures.mix;
    let all: f64 = mix.iter().map(|kind| kind.share.as_f64()).sum();
    format!("{:.2} %", all * 100.0)
}

/// How long callers wait: beyond what was seen, for ever.
fn patience_spec(patience: &super::survival::Survival) -> DistSpec<Duration> {
    let gone = patience.identified();
    let quantile = |p: f64| {
        let micros = patience.quantile(p / gone.max(1e-9))?;
        Some(Duration::from_micros(micros.max(u64::from(p > 0.0))))
    };
    let steps = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| part * gone);
    let name = |p: f64| format!("p{:.4}", p * 100.0);
    let mut table: std::collections::BTreeMap<String, Duration> =
        steps.into_iter().filter_map(|p| Some((name(p), quantile(p)?))).collect();
    let ever = Duration::from_secs(86_400);
    if gone < 0.999 {
        table.insert(name(gone + 0.0005), ever);
    }
    table.insert("p100".into(), ever);
    DistSpec::Quantiles(table)
}

fn card_path(target: &str) -> String {
    format!("models/{target}.yaml")
}

fn trace_path(class: &str) -> String {
    format!("traffic/{class}.csv")
}

/// What callers are taken to allow to be answered, where nobody says: a power of two above the longest answer.
pub(crate) fn allowed(longest: u32) -> u32 {
    longest.clamp(256, 1 << 20).next_power_of_two()
}

/// A time with its unit.
pub(crate) fn us(us: u64) -> String {
    Duration::from_micros(us).to_string()
}

/// A date and time in UTC to the minute.
pub(crate) fn stamp(us: u64) -> String {
    let minutes = us / MINUTE_US;
    let (days, minute) = (minutes / 1_440, minutes % 1_440);
    let (year, month, day) = civil(days);
    format!("{year:04}-{month:02}-{day:02} {:02}:{:02}", minute / 60, minute % 60)
}

/// The date so many days after 1970-01-01 (Hinnant's `civil_from_days`).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let mp = (5 * of_year + 2) / 153;
    let day = of_year - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (year + era * 400 + u64::from(month <= 2), month, day)
}

pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Text that stays within its comment.
pub(crate) fn comment(text: &str) -> String {
    windtunnel_policy::text::escaped(&text.replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, wanted) in [
            (0, "1970-01-01 00:00"),
            (951_782_399, "2000-02-28 23:59"),
            (951_782_400, "2000-02-29 00:00"),
            (1_749_536_760, "2025-06-10 06:26"),
        ] {
            assert_eq!(stamp(seconds * 1_000_000), wanted);
        }
    }
}
