//! The list of all measures.

use windtunnel_policy::outcome::FailureClass;

use super::read::Read::{self, Asks, Incidents, NotModelled, Ratio, Share, Unrecovered, Whole};
use super::read::dollars;
use super::{Better, Block, Measure};
use crate::hist::Hist;
use crate::record::{ClassTotals, SignedHist, TargetTotals};
use crate::scenario::{Layer, Scenario};
use crate::stats::{Dimension, Known};

/// The measures of one scenario, in the order of tables.
#[derive(Clone, Debug)]
pub struct Catalogue {
    measures: Vec<Measure>,
}

impl Catalogue {
    /// All measures of a scenario.
    pub fn of(scenario: &Scenario) -> Catalogue {
        let mut catalogue = Catalogue::new(scenario.targets.iter().map(|t| t.name.as_str()));
        if scenario.has_tools() {
            catalogue.replace("duplicate_side_effects", Share(|c| c.duplicate_side_effects));
            catalogue.insert_after("duplicate_side_effects", side_effects());
        }
        if !scenario.tenants.is_empty() {
            catalogue.insert_after("success", vec![worst_tenant()]);
        }
        if scenario.file.gateway.in_flight.is_some() {
            catalogue.insert_after("ttft_p999", vec![door_wait()]);
        }
        if scenario.discloses() {
            catalogue.insert_after("refused", disclosure());
        }
        if scenario.has_caches() {
            catalogue.insert_after("wasted_cost_share", vec![cached()]);
        }
        if scenario.has_layers() {
            catalogue.insert_after("recovered_by_hedge", vec![resend()]);
            catalogue.insert_after("amplification", layers());
        }
        catalogue
    }

    /// All measures of a scenario with these targets, in the scenario's order, where only the
    /// gateway repeats.
    pub fn new<'a>(targets: impl IntoIterator<Item = &'a str>) -> Catalogue {
        let lists = [answer(), outcomes(), endings(), times(), money(), parts()];
        let shares = targets.into_iter().enumerate().map(target_share);
        Catalogue { measures: lists.into_iter().flatten().chain(shares).collect() }
    }

    /// Gives a measure something to be read from.
    fn replace(&mut self, name: &str, read: Read) {
        let measure = self.measures.iter_mut().find(|measure| measure.name == name);
        measure.expect("a measure of the catalogue").read = read;
    }

    fn insert_after(&mut self, name: &str, more: Vec<Measure>) {
        let after = self.measures.iter().position(|measure| measure.name == name);
        let at = after.expect("a measure of the catalogue") + 1;
        self.measures.splice(at..at, more);
    }

    /// All of them, in the order of tables.
    pub fn measures(&self) -> &[Measure] {
        &self.measures
    }

    /// The measure of this name.
    pub fn find(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|measure| measure.name == name)
    }

    /// What gates may name.
    pub fn known(&self) -> Vec<Known<'_>> {
        let known = |m| {
            let Measure { name, dimension, read, .. }: &Measure = m;
            Known { name, dimension: *dimension, signed: read.is_signed() }
        };
        self.measures.iter().map(known).collect()
    }
}

/// A unit for people, and its dimension.
type Unit = (&'static str, Dimension);

const FRACTION: Unit = ("fraction", Dimension::Share);
const SECONDS: Unit = ("seconds", Dimension::Seconds);
const ATTEMPTS: Unit = ("attempts per request", Dimension::Count);
const CALLS: Unit = ("provider calls per action", Dimension::Count);
const PER_REQUEST: Unit = ("dollars per request", Dimension::Dollars);
const PER_ANSWER: Unit = ("dollars per answered request", Dimension::Dollars);
const PER_1K: Unit = ("dollars per 1,000 requests", Dimension::Dollars);

const UP: Better = Better::Higher;
const DOWN: Better = Better::Lower;
const EITHER: Better = Better::Neither;

#[rustfmt::skip]
fn answer() -> Vec<Measure> {
    let row = |name, unit, better, describes, read| {
        measure(Block::Answer, name, unit, better, describes, read)
    };
    vec![
        row("raw_success", FRACTION, UP, "answered by the first attempt", Share(|c| c.answered.raw)),
        row("success", FRACTION, UP, "answered at all", Share(|c| c.answered.total())),
        row("recovered_by_retry", FRACTION, EITHER, "answered by the same target again", Share(|c| c.answered.retry)),
        row("recovered_by_failover", FRACTION, EITHER, "answered by another target, same model", Share(|c| c.answered.failover)),
        row("recovered_by_substitution", FRACTION, EITHER, "answered by another model", Share(|c| c.answered.substitution)),
        row("recovered_by_hedge", FRACTION, EITHER, "answered by a second attempt beside a slow first", Share(|c| c.answered.hedge)),
        row("attempts_per_request", ATTEMPTS, DOWN, "sent by this gateway for one request", Ratio(|c| (c.attempts as f64, c.received as f64))),
        quantile(Block::Answer, &ADDED, 0),
        quantile(Block::Answer, &ADDED, 2),
        row("cost_per_1k", PER_1K, DOWN, "everything billed, per 1,000 requests", Ratio(|c| (1_000.0 * dollars(c.cost), c.requests as f64))),
    ]
}

#[rustfmt::skip]
fn outcomes() -> Vec<Measure> {
    let row = |name, better, describes, read| {
        measure(Block::Outcomes, name, FRACTION, better, describes, read)
    };
    vec![
        row("no_recovery_success", EITHER, "answered where nothing is recovered", Unrecovered),
        row("transport_success", UP, "got a complete response", Share(|c| c.transport_success)),
        row("contract_success", UP, "got one that keeps its contract", Share(|c| c.contract_success)),
        row("task_success", UP, "got one that does the job", Share(|c| c.task_success)),
        row("exhausted", DOWN, "failed after all the policy allows was tried", Share(|c| c.exhausted)),
        row("policy_stop", DOWN, "failed where the policy forbids to recover", Share(|c| c.policy_stop)),
        row("silent_failure", DOWN, "got an answer that breaks its contract", Share(|c| c.silent_failure)),
        row("deadline_exhausted", DOWN, "ended by the deadline", Share(|c| c.deadline_exhausted)),
        row("no_eligible_target", DOWN, "ended because no target would do", Share(|c| c.no_eligible_target)),
        row("turned_away", DOWN, "turned away: the gateway, or every group of the class, was full", Share(|c| c.turned_away)),
        row("partial_output", DOWN, "broke off after output had begun", Share(|c| c.partial_output)),
        row("cancelled", DOWN, "left by a caller out of patience", Share(|c| c.cancelled)),
        row("refused", EITHER, "answered by a valid refusal", Share(|c| c.refused)),
        row("duplicate_side_effects", DOWN, "did an external effect twice", NotModelled),
    ]
}

/// One for each failure class the application may be told of.
fn endings() -> Vec<Measure> {
    let ended_as = |(position, class): (usize, &FailureClass)| {
        let name = format!("ended_as.{}", class.name());
        let describes = "not answered, and told of this failure";
        measure(Block::Outcomes, &name, FRACTION, DOWN, describes, Read::EndedAs(position))
    };
    FailureClass::ALL.iter().enumerate().map(ended_as).collect()
}

fn times() -> Vec<Measure> {
    let mut list = vec![
        average(&ADDED, |c| c.added_latency_sum as f64),
        quantile(Block::Times, &ADDED, 1),
        quantile(Block::Times, &ADDED, 3),
    ];
    let families: [(&Family, Sum); 3] = [
        (&EXCESS, |c| c.excess_latency_sum as f64),
        (&LATENCY, |c| c.latency_sum as f64),
        (&TTFT, |c| c.ttft_sum as f64),
    ];
    for (family, sum_us) in families {
        list.push(average(family, sum_us));
        list.extend((0..QUANTILES.len()).map(|q| quantile(Block::Times, family, q)));
    }
    list.push(quantile(Block::Times, &TO_FAILURE, 0));
    list
}

#[rustfmt::skip]
fn money() -> Vec<Measure> {
    let row = |name, unit, describes, read| {
        measure(Block::Money, name, unit, DOWN, describes, read)
    };
    vec![
        row("cost_per_request", PER_REQUEST, "everything billed, per request", Ratio(|c| (dollars(c.cost), c.requests as f64))),
        row("cost_per_success", PER_ANSWER, "everything billed, per answered request", Ratio(|c| (dollars(c.cost), c.answered.total() as f64))),
        row("wasted_cost_share", FRACTION, "billed for attempts that gave no answer", Ratio(|c| (dollars(c.wasted), dollars(c.cost)))),
    ]
}

#[rustfmt::skip]
fn parts() -> Vec<Measure> {
    let row = |name, unit, better, describes, read| {
        measure(Block::Parts, name, unit, better, describes, read)
    };
    vec![
        row("amplification", CALLS, DOWN, "calls of providers for one thing a user wanted", Ratio(|c| (c.calls() as f64, c.requests as f64))),
        row("detection_time", SECONDS, DOWN, "from an incident's onset to the first open breaker", Incidents(|run| &run.detections)),
        row("recovery_time", SECONDS, DOWN, "from an incident's onset to success as before", Incidents(|run| &run.recoveries)),
        row("not_sent", FRACTION, DOWN, "of attempts, found no connection", Whole(|run| {
            let not_sent: u64 = run.targets.iter().map(|t| t.not_sent).sum();
            let sent: u64 = run.targets.iter().map(|t| t.attempts).sum();
            (not_sent as f64, (sent + not_sent) as f64)
        })),
        row("breaker_open_share", FRACTION, EITHER, "of target-time, out of service by breakers", Whole(|run| {
            let open: u64 = run.targets.iter().map(|t| t.open.as_micros()).sum();
            (open as f64, run.targets.len() as f64 * run.measured.as_micros() as f64)
        })),
        row("probe_share", FRACTION, EITHER, "of attempts, probes of a half-open breaker", Whole(|run| {
            let sum = |of: fn(&TargetTotals) -> u64| run.targets.iter().map(of).sum::<u64>();
            (sum(|t| t.probes) as f64, sum(|t| t.attempts) as f64)
        })),
        row("retry_budget_denied", FRACTION, EITHER, "of what retry budgets were asked, denied", Asks(|run| (run.budget_denials, run.budget_asks))),
    ]
}

fn cached() -> Measure {
    let describes = "of input tokens billed, read from caches";
    let read = Whole(|run| {
        let sum = |tokens: fn(&TargetTotals) -> u64| run.targets.iter().map(tokens).sum::<u64>();
        (sum(|t| t.cached_tokens) as f64, sum(|t| t.input_tokens) as f64)
    });
    measure(Block::Money, "cached_input_share", FRACTION, UP, describes, read)
}

fn side_effects() -> Vec<Measure> {
    let row = |name, better, describes, read| {
        measure(Block::Outcomes, name, FRACTION, better, describes, read)
    };
    let wrote = "did an external effect, answered or not";
    let open = "not answered, and nobody knows what its tool did";
    vec![
        row("side_effects", EITHER, wrote, Share(|c| c.side_effects)),
        row("escalated", DOWN, open, Share(|c| c.escalated)),
    ]
}

fn worst_tenant() -> Measure {
    let describes = "answered, of the tenant whose requests are answered least often";
    let name = "worst_tenant_success";
    measure(Block::Answer, name, FRACTION, UP, describes, Read::WorstTenant)
}

fn door_wait() -> Measure {
    let describes = "mean wait for a place inside the gateway, of all that came to it";
    let read = Ratio(|c| (c.door_wait_sum as f64 / 1e6, c.received as f64));
    measure(Block::Times, "gateway_wait_mean", SECONDS, DOWN, describes, read)
}

fn disclosure() -> Vec<Measure> {
    let row = |name, better, describes, read| {
        measure(Block::Outcomes, name, FRACTION, better, describes, read)
    };
    vec![
        row("substituted", EITHER, "answered by another model", Share(|c| c.substituted)),
        row("disclosed", EITHER, "answered by another model, and told so", Share(|c| c.disclosed)),
        row(
            "silent_substitutions",
            DOWN,
            "answered by another model, and not told",
            Share(|c| c.silent_substitutions),
        ),
    ]
}

fn resend() -> Measure {
    let describes = "answered by a later request, which a layer outside the gateway sent";
    let read = Share(|c| c.answered.resend);
    measure(Block::Answer, "recovered_by_resend", FRACTION, EITHER, describes, read)
}

/// What each layer makes of what comes to it; together they multiply to `amplification`.
fn layers() -> Vec<Measure> {
    let one = |layer: Layer| {
        let read: fn(&ClassTotals) -> (f64, f64) = match layer {
            Layer::Application => |c| (c.application_tries() as f64, c.requests as f64),
            Layer::Sdk => |c| (c.received as f64, c.application_tries() as f64),
            Layer::Gateway => |c| (c.attempts as f64, c.received as f64),
            Layer::UpstreamProxy => |c| (c.calls() as f64, c.attempts as f64),
        };
        let name = format!("amplification.{}", layer.name());
        let describes = "sent on by this layer, for one that came to it";
        measure(Block::Parts, &name, CALLS, DOWN, describes, Ratio(read))
    };
    Layer::ALL.into_iter().map(one).collect()
}

fn target_share((position, name): (usize, &str)) -> Measure {
    let name = format!("target_share.{name}");
    let describes = "of attempts, sent to this target";
    measure(Block::Parts, &name, FRACTION, EITHER, describes, Read::Target(position))
}

/// Measures of one kind of time.
struct Family {
    name: &'static str,
    describes: &'static str,
    times: Times,
}

enum Times {
    Plain(fn(&ClassTotals) -> &Hist),
    Signed(fn(&ClassTotals) -> &SignedHist),
}

const ADDED: Family = Family {
    name: "added_latency",
    describes: "from arrival to the send of the attempt that answered",
    times: Times::Plain(|c| &c.added_latency),
};
const EXCESS: Family = Family {
    name: "excess_latency",
    describes: "from arrival to answer, less the unloaded answer of the reference target",
    times: Times::Signed(|c| &c.excess_latency),
};
const LATENCY: Family = Family {
    name: "latency",
    describes: "from arrival to the end of the answer",
    times: Times::Plain(|c| &c.latency),
};
const TTFT: Family = Family {
    name: "ttft",
    describes: "from arrival to the first output",
    times: Times::Plain(|c| &c.ttft),
};
const TO_FAILURE: Family = Family {
    name: "time_to_failure",
    describes: "from arrival to the end of the unanswered",
    times: Times::Plain(|c| &c.time_to_failure),
};

/// Suffix, share and words.
const QUANTILES: [(&str, f64, &str); 4] = [
    ("p50", 0.5, "median"),
    ("p90", 0.9, "90th percentile"),
    ("p99", 0.99, "99th percentile"),
    ("p999", 0.999, "99.9th percentile"),
];

/// A sum of times in µs.
type Sum = fn(&ClassTotals) -> f64;

fn average(family: &Family, sum_us: Sum) -> Measure {
    let name = format!("{}_mean", family.name);
    let describes = format!("mean {}; the unanswered at their deadline", family.describes);
    let read = match family.times {
        Times::Plain(_) => Read::Mean(sum_us),
        Times::Signed(_) => Read::SignedMean(sum_us),
    };
    measure(Block::Times, &name, SECONDS, DOWN, &describes, read)
}

fn quantile(block: Block, family: &Family, which: usize) -> Measure {
    let (suffix, p, words) = QUANTILES[which];
    let read = match family.times {
        Times::Plain(hist) => Read::Quantile(hist, p),
        Times::Signed(hist) => Read::SignedQuantile(hist, p),
    };
    let name = format!("{}_{suffix}", family.name);
    measure(block, &name, SECONDS, DOWN, &format!("{words} {}", family.describes), read)
}

fn measure(
    block: Block,
    name: &str,
    (unit, dimension): Unit,
    better: Better,
    describes: &str,
    read: Read,
) -> Measure {
    let (name, describes) = (name.into(), describes.into());
    Measure { name, unit, dimension, better, block, describes, read }
}
