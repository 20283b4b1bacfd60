//! The interval of a difference covers the truth as often as it says, over many logs of a world that is
//! richer than any fit: failures that rise and fall in a straight line, hanging calls, streams that
//! break, times that load makes longer, failures that stick.
//!
//! Once the policy that is logged has no breaker, and once it has one, which hides what the target would
//! have answered.

use std::collections::BTreeMap;

use windtunnel::experiment::{Extremes, NoObserver, NoRecorder, Options as RunOptions, run};
use windtunnel::fit::{Evidence, Fit};
use windtunnel::input::SourceFile;
use windtunnel::library::read_policy;
use windtunnel::log::{self, Format, read_counters};
use windtunnel::report::RowFormat;
use windtunnel::whatif::{Options, Question, Tolerance, investigate};

use windtunnel_policy::config::Policy;

use crate::formats::map;
use crate::worlds::{Known, fitted, known, ledger, written};

pub(crate) const SCENARIO: &str = r"
name: hidden
shows: x
expect: x
horizon: 5m
classes:
  chat:
    deadline: {total: 30s}
    groups: {primary: [first], fallbacks: [[second]]}
    traffic:
      arrivals: {trace: {file: trace.csv, absolute: true, layout: {columns: {time: at, time_unit: ms, input_tokens: in, output_tokens: out}}}}
      tokens: {max_output: 1024}
targets:
  first: {card: card.yaml}
  second: {card: card.yaml}
weather:
  - name: incident
    hits: {target: first}
    when: {window: {from: 1m, lasts: 3m}}
    shape: {ramp: {up: 1m, down: 1m}}
    effects:
      failures:
        share: 40%
        mix:
          - {class: server_error, status: 500, weight: 6}
          - {class: overloaded, status: 503, weight: 3}
          - {class: timeout, status: 0, weight: 1, hang: true}
        stick: {request: 40%, window: 0%, free: 60%}
";

pub(crate) const CARD: &str = r"
name: card
description: x
provider: acme
model: large
sources: {made: {what: made up, date: 2026-01-01}}
context_tokens: 128000
max_output_tokens: 4096
capabilities: [streaming]
price: {source: made, input_per_million: $2.40, output_per_million: $9.60}
latency:
  source: made
  headers: {lognormal: {median: 200ms, sigma: 0.2}}
  first_token: {shifted_lognormal: {shift: 200ms, median: 300ms, sigma: 0.5}}
  prompt_tokens: 900
  per_prompt_token: 20us
  per_output_token: {lognormal: {median: 6ms, sigma: 0.2}}
  failure: {lognormal: {median: 150ms, sigma: 0.5}}
capacity: {source: made, slots: 200, speed_by_load: {half_at: 40}}
failures:
  source: made
  mix:
    - {class: server_error, status: 500, share: 1%}
    - {class: transport, status: 0, share: 0.5%}
  broken_streams: 0.5%
  stick: {request: 40%, window: 0%, free: 60%}
";

/// A retry on the spot, then another target.
pub(crate) const P: &str = "
name: retry-then-failover
attempts: {max: 3, max_same_target: 2}
timeouts: {first_token: 5s}
breakers: []
retry_budgets: []
";

const BREAKERS: &str = "breakers: [{trip: [{rate_over_time: {failures: 30%, window: 10s, min_calls: 20}}], open_for: 60s}]";

/// A retry on the spot alone.
pub(crate) const Q: &str = "
name: retry-alone
attempts: {max: 2, max_same_target: 2, allow_failover: false, allow_substitution: false}
timeouts: {first_token: 5s}
breakers: []
retry_budgets: []
";

pub(crate) fn rules(text: &str) -> Policy {
    let file = SourceFile { name: "policy.yaml".into(), text: text.into(), folder: None };
    read_policy(&file).unwrap_or_else(|e| panic!("{e}"))
}

/// Logs, each of another run of luck.
const LOGS: u32 = 30;
/// Were each covered with a chance of 95 %, fewer than this would be with one of 0.07 % (the binomial
/// distribution of thirty: P(X ≤ 24) = 0.00066).
pub(crate) const LEAST_COVERED: usize = 25;

/// So many requests, five a second, at times and of lengths that look drawn.
pub(crate) fn trace(requests: u64) -> String {
    let mut state = 1_u64;
    let mut next = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let row =
        |i: u64| format!("{},{},{}\n", i * 200 + next(190), 200 + next(2_000), 20 + next(300));
    let rows: String = (0..requests).map(row).collect();
    format!("at,in,out\n{rows}")
}

/// What became of many logs of one world.
pub(crate) struct Coverage {
    pub(crate) truth: f64,
    pub(crate) covered: usize,
    /// Mean and standard deviation of the estimates.
    pub(crate) estimates: (f64, f64),
    /// Half an interval, on average.
    pub(crate) half: f64,
}

impl std::fmt::Display for Coverage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Coverage { truth, covered, estimates: (center, spread), half } = self;
        write!(
            f,
            "truth {truth:.4}, estimates {center:.4} ± {spread:.4}, half interval {half:.4}, {covered} of {LOGS} covered"
        )
    }
}

/// Logs policies[0] in the hidden world again and again, and holds what is said of policies[1] in its
/// place against the truth.
pub(crate) fn coverage(
    hidden: &Known,
    policies: &[Policy; 2],
    fit_of: impl Fn(&[u8]) -> (Evidence, Fit),
) -> Coverage {
    // The truth: the mean difference over the luck of the hidden world, whose error is a tenth of that of
    // one course.
    let options = RunOptions {
        seed: 99,
        worlds: 100,
        resample: false,
        extremes: Extremes::Off,
        threads: None,
    };
    let truth = run(&hidden.scenario, policies, None, &options, &NoRecorder, &NoObserver)
        .unwrap_or_else(|e| panic!("{e}"));
    let success = |p: usize, w: usize| {
        let class = &truth.policies[p].worlds[w].classes[0];
        class.answered.total() as f64 / class.requests as f64
    };
    let differences: Vec<f64> = (0..100).map(|w| success(1, w) - success(0, w)).collect();
    let (truth, _) = moments(&differences);

    let (mut covered, mut estimates, mut halves) = (0, Vec::new(), Vec::new());
    for seed in 0..LOGS {
        let log = ledger(&hidden.scenario, &policies[0], seed.into(), 1, RowFormat::Csv);
        let (evidence, fit) = fit_of(&log);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let scenario = written(&fit, &evidence, folder.path());
        let options = Options {
            seed: 1,
            worlds: 5,
            refits: Options::LEAST_REFITS,
            sensitivity: false,
            tolerance: Tolerance::default(),
            threads: None,
        };
        let log = Some((&fit, &evidence));
        let scenario = &scenario;
        let question = Question { scenario, log, timeline: None, policies, options };
        let found = investigate(&question, &NoObserver).unwrap_or_else(|e| panic!("{e}"));
        let success = &found.policies[1].differences[0];
        let (value, ci95) = (success.difference.expect("told"), success.ci95.expect("five worlds"));
        covered += usize::from(ci95.low <= truth && truth <= ci95.high);
        estimates.push(value);
        halves.push((ci95.high - ci95.low) / 2.0);
    }
    let found =
        Coverage { truth, covered, estimates: moments(&estimates), half: moments(&halves).0 };
    println!("{found}");
    found
}

#[test]
fn the_interval_covers_the_truth_at_its_rate() {
    let trace = trace(1_500);
    let hidden = known(&[("hidden.yaml", SCENARIO), ("card.yaml", CARD), ("trace.csv", &trace)]);
    let found = coverage(&hidden, &[rules(P), rules(Q)], attempts);
    assert!(found.truth < -0.02, "the policies differ: {found}");
    assert!(found.covered >= LEAST_COVERED, "{found}");
    // Not by being wide: half an interval is about two standard deviations of the estimate. With thirty
    // logs that deviation is known to a factor of 1.35 either way at 95 %.
    assert!(found.half < 2.0 * 1.96 * 1.35 * found.estimates.1, "{found}");
}

/// A breaker that opens within seconds and lets one request through each minute: most of the incident is
/// seen by its probes alone.
#[test]
fn what_a_breaker_hid_is_in_the_interval() {
    let trace = trace(1_500);
    let scenario = SCENARIO.replace("share: 40%", "share: 60%");
    let hidden = known(&[("hidden.yaml", &scenario), ("card.yaml", CARD), ("trace.csv", &trace)]);
    let p = P.replace("breakers: []", BREAKERS);
    let found = coverage(&hidden, &[rules(&p), rules(Q)], attempts);
    assert!(found.truth < -0.1, "the policies differ: {found}");
    assert!(found.covered >= LEAST_COVERED, "{found}");
    // What is hidden cannot be told exactly: here hardly more than its sign. Wider than that it need not be.
    assert!(found.half < 1.2 * found.truth.abs(), "{found}");
}

/// The same log as a row for each request, with what its gateway's metrics would count by minute and
/// target beside it: second tries are among what is counted, and how failures stick is not known.
#[test]
fn a_log_of_requests_with_counters_covers_the_truth() {
    let trace = trace(1_500);
    let hidden = known(&[("hidden.yaml", SCENARIO), ("card.yaml", CARD), ("trace.csv", &trace)]);
    let found = coverage(&hidden, &[rules(P), rules(Q)], as_requests);
    assert!(found.truth < -0.02, "the policies differ: {found}");
    assert!(found.covered >= LEAST_COVERED, "{found}");
    // How failures stick is anything from not at all to always, and yet the log tells the policies apart.
    assert!(found.half < found.truth.abs(), "{found}");
}

/// The fit to a ledger.
pub(crate) fn attempts(log: &[u8]) -> (Evidence, Fit) {
    let (_, evidence, fit) = fitted(log, false);
    (evidence, fit)
}

const MAP: &str = "time_unit: s
rows: requests
columns: {request: request, target: target, arrived: arrived_s, sent: arrived_s, ended: request_closed_s, first_output: first_output_s, status: request_status, input_tokens: input_tokens, output_tokens: output_tokens, cost: request_cost_usd}
";

/// The fit to the last rows of requests of a ledger, and to counts of its attempts.
fn as_requests(log: &[u8]) -> (Evidence, Fit) {
    let mut reader = csv::Reader::from_reader(log);
    let header = reader.headers().expect("it has one").clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    let place = |name: &str| header.iter().position(|column| column == name).expect("it is there");
    let cell = |row: &csv::StringRecord, name: &str| row[place(name)].to_owned();

    let mut requests = csv::Writer::from_writer(Vec::new());
    requests.write_record(&header).expect("memory takes all");
    for tries in rows.chunk_by(|a, b| a[place("request")] == b[place("request")]) {
        requests.write_record(&tries[tries.len() - 1]).expect("memory takes all");
    }
    // By minute and target: attempts, 500, 503, given up, all failures.
    let mut counted: BTreeMap<(u64, String), [u64; 5]> = BTreeMap::new();
    for row in &rows {
        let sent: f64 = cell(row, "sent_s").parse().expect("a time");
        let minute = (sent / 60.0) as u64 * 60;
        let failed = !cell(row, "failure").is_empty();
        let given_up = cell(row, "failure") == "timeout";
        let of = |status: &str| u64::from(failed && cell(row, "status") == status);
        let counts = [1, of("500"), of("503"), u64::from(given_up), u64::from(failed)];
        let sums = counted.entry((minute, cell(row, "target"))).or_default();
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let mut counters =
        String::from("minute,target,attempts,status_500,status_503,timeouts,errors\n");
    for ((minute, target), [all, internal, overloaded, given_up, errors]) in counted {
        counters +=
            &format!("{minute},{target},{all},{internal},{overloaded},{given_up},{errors}\n");
    }

    let format = Format::Mapped { map: Box::new(map(MAP)), json: false };
    let mut evidence = Evidence::new();
    let requests = requests.into_inner().expect("memory takes all");
    let mut read = log::read("log", &requests[..], format, |request| evidence.take(&request))
        .unwrap_or_else(|e| panic!("{e}"));
    evidence.finish();
    let counters = read_counters("counters", counters.as_bytes(), &mut read.names);
    let mut counters = counters.unwrap_or_else(|e| panic!("{e}"));
    evidence.count(&mut counters, &read.names);
    read.counters = Some(counters);
    let fit = Fit::of("fitted", "log", &read, &evidence);
    (evidence, fit)
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
    (mean, (squares / (n - 1.0)).sqrt())
}
