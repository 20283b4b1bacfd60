//! A fitted target as a model card.

use std::fmt::Write;

use super::evidence::Evidence;
use super::files::{quoted, stamp, us};
use super::flow::{flow, scalar};
use super::limits::Limits;
use super::parameters::SOURCE;
use super::{Fit, TargetFit};
use crate::scenario::{Charge, Source, SpeedByLoad};

/// Slots where the log shows no bound: as the shipped cards, so many that they bind nothing.
pub(super) const SLOTS: u32 = 1024;
/// The window and longest answer of a model of which the log shows shorter ones only.
const CONTEXT: u32 = 128_000;
const LONGEST_ANSWER: u32 = 16_384;

impl Fit {
    /// The text of its card.
    pub(super) fn card(&self, target: &TargetFit, evidence: &Evidence) -> String {
        let totals = &evidence.targets[target.position].totals;
        let parameters = &target.parameters;
        let samples = parameters.samples;
        let mut out = String::new();
        let mut line = |text: String| writeln!(out, "{text}").expect("a string takes all");
        let names = &target.names;
        line(format!("name: {}", scalar(&target.name)));
        line(format!(
            "description: {}",
            quoted(&format!(
                "{}, fitted to {} attempts of {}.",
                names.name, totals.attempts, self.log
            ))
        ));
        line(format!("provider: {}", scalar(&plain_model(&names.provider))));
        line(format!("model: {}", scalar(&plain_model(&names.model))));
        if !names.region.is_empty() {
            line(format!("region: {}", scalar(&plain_model(&names.region))));
        }
        line("sources:".into());
        let date = if self.dated {
            stamp(self.clock.origin_us)[..10].to_owned()
        } else {
            "1970-01-01".into()
        };
        let log = Source {
            what: format!("{}: {} attempts", self.log, totals.attempts),
            date: date.clone(),
            licence: None,
            assumed: false,
        };
        let assumed = Source {
            what: "what the log does not show: chosen to bind nothing by itself".into(),
            date,
            licence: None,
            assumed: true,
        };
        line(format!("  {SOURCE}: {}", flow(&log)));
        line(format!("  assumed: {}", flow(&assumed)));
        line(format!(
            "context_tokens: {} # assumed, or what the log holds where that is more",
            CONTEXT.max(
                totals.largest_input.saturating_add(LONGEST_ANSWER.max(totals.largest_output))
            )
        ));
        line(format!(
            "max_output_tokens: {} # the same",
            LONGEST_ANSWER.max(totals.largest_output)
        ));
        line(
            "capabilities: [streaming, tools, parallel_tools, structured_output, vision] # assumed"
                .into(),
        );
        match &target.price {
            Some(price) => {
                let cached = price.cached.map_or(String::new(), |cached| format!(", cached_per_million: {cached}"));
                line(format!("price: # {} bills{}", price.bills, price.told.words()));
                line(format!("  {{source: {SOURCE}, input_per_million: {}{cached}, output_per_million: {}, failed: {}, cancelled: {}}}", price.input, price.output, flow(&price.failed), flow(&price.broken)));
            }
            None => line("price: {source: assumed, input_per_million: $0.00, output_per_million: $0.00} # the log has no bills that tell: where it answers anything, costs are not told while both are zero".into()),
        }
        let latency = &parameters.latency;
        line("latency:".into());
        line(format!("  source: {SOURCE}"));
        line(format!("  headers: {} # {} seen", flow(&latency.headers), samples.headers));
        let beyond = match parameters.first.last() {
            Some(last) if samples.given_up > 0 => format!(
                "; {} were given up before it; beyond {} nothing is identified{}",
                samples.given_up,
                us(last),
                match samples.cut_short {
                    0 => "",
                    _ => ": as the times that were seen go on, so do those that a deadline cut",
                }
            ),
            _ => String::new(),
        };
        line(format!(
            "  first_token: {} # {} seen{beyond}",
            flow(&latency.first_token),
            samples.first
        ));
        line(format!("  prompt_tokens: {}", latency.prompt_tokens.get()));
        line(format!("  per_prompt_token: {}", latency.per_prompt_token));
        line(format!(
            "  per_output_token: {} # {} seen",
            flow(&latency.per_output_token),
            samples.pace
        ));
        line(format!(
            "  failure: {} # {} seen{}",
            flow(&latency.failure),
            samples.failing,
            if samples.failing == 0 { ": assumed" } else { "" }
        ));
        let most = target.most_in_flight;
        let half_at = target.load.and_then(|load| Some((load, half_at(load.half_at?))));
        let slowing = half_at.map(|(load, _)| format!("  # {}", load.words()));
        let by_load = half_at.map_or(String::new(), |(_, half_at)| {
            format!(", speed_by_load: {}", flow(&SpeedByLoad::HalfAt(half_at)))
        });
        match &target.places {
            Limits::Found(found) => {
                line(format!("capacity: # {} in flight at most; {}", most, found.evidence()));
                slowing.into_iter().for_each(&mut line);
                line(format!(
                    "  {{source: {SOURCE}, slots: {}{by_load}}} # those that wait for a slot are among them",
                    found.limit
                ));
            }
            Limits::NoneRefused | Limits::NotExplained => {
                line(format!(
                    "capacity: # at least {most}, which were in flight at one time; what it can hold is not identified"
                ));
                slowing.into_iter().for_each(&mut line);
                let source = if by_load.is_empty() { "assumed" } else { SOURCE };
                line(format!("  {{source: {source}, slots: {SLOTS}{by_load}}}"));
            }
        }
        if let Limits::Found(found) = &target.limits {
            let spec = found.spec();
            line(format!("limits: # {}", found.evidence()));
            line(format!("  # {}", found.hints.words()));
            line(format!(
                "  - {{scope: {}, unit: {}, limit: {}, window: {}, refill: {}, retry_after: {}{}{}}}",
                flow(&spec.scope),
                flow(&spec.unit),
                spec.limit,
                spec.window,
                flow(&spec.refill),
                flow(&spec.retry_after),
                if spec.charge_refused { ", charge_refused: true" } else { "" },
                if spec.charge == Charge::PromptAndMax { ", charge: prompt_and_max" } else { "" }
            ));
            line(format!("limits_source: {SOURCE}"));
        }
        let failures = &parameters.failures;
        line(format!("failures: # {} attempts in ordinary times", samples.ordinary));
        line(format!("  source: {SOURCE}"));
        line(if failures.mix.is_empty() { "  mix: []".into() } else { "  mix:".to_owned() });
        for kind in &failures.mix {
            line(format!("    - {}", flow(kind)));
        }
        line(format!(
            "  broken_streams: {} # {} of {}",
            failures.broken_streams,
            totals.broken,
            totals.complete + totals.broken + totals.silent
        ));
        line(format!("  stalled_streams: {} # {}", failures.stalled_streams, totals.silent));
        if let Some(stick) = &failures.stick {
            let fit = &parameters.stick;
            let rests = match fit.share {
                Some(_) => format!("{} of {} second tries failed again", fit.failed, fit.tried),
                None => format!("assumed: {} second tries tell too little", fit.tried),
            };
            line(format!("  stick: {} # {rests}", flow(stick)));
        }
        let contract = &parameters.contract;
        if totals.invalid > 0 {
            line(format!(
                "quality: {{source: {SOURCE}, contract_failures: {}}} # {} of {} answers in ordinary times broke their contract",
                contract.share, contract.counted[1], contract.counted[0]
            ));
        }
        out
    }
}

/// As cards hold it: a whole number.
pub(super) fn half_at(in_flight: f64) -> u32 {
    libm::round(in_flight).max(1.0) as u32
}

/// A name that cards can carry: models and providers of logs may hold anything.
pub(super) fn plain_model(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "-_./:".contains(c) { c } else { '-' };
    let plain: String = name.chars().take(64).map(allowed).collect();
    if plain.is_empty() { "unknown".into() } else { plain }
}
