//! The whole simulator on scenarios written in a test: worlds in, rows and totals out.
//!
//! The unit of replication is a world. A mean over worlds agrees with a figure where it lies
//! within five of its standard errors: with ten worlds or more that happens by chance less than
//! once in a thousand times. A test also says how far off it would notice, so that no test passes
//! by noise.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::path::{Path, PathBuf};

use windtunnel::input::SourceFile;
use windtunnel::library::{load_policy, read_policy};
use windtunnel::record::{RequestRow, Rows, RunTotals};
use windtunnel::scenario::Scenario;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};
use windtunnel_policy::config::Policy;
use windtunnel_policy::{Duration, Instant};

/// Standard errors that chance may take.
const ERRORS: f64 = 5.0;
/// Fewer worlds say too little about how worlds differ.
const FEWEST_WORLDS: usize = 10;

/// Requests per second of the Azure conversation trace.
pub(crate) const RATE: f64 = 5.53;
/// A constant time that hardly matters.
pub(crate) const FAST: &str = "constant: 100ms";

/// One run, in one world.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) rows: Rows,
    pub(crate) totals: RunTotals,
    pub(crate) world: World,
}

/// A scenario from its text.
pub(crate) fn scenario(text: &str) -> Scenario {
    read_scenario(text, None)
}

/// A scenario from its text, which names files of this folder.
pub(crate) fn scenario_in(folder: &Path, text: &str) -> Scenario {
    read_scenario(text, Some(folder.to_owned()))
}

fn read_scenario(text: &str, folder: Option<PathBuf>) -> Scenario {
    let source = SourceFile { name: "test.yaml".into(), text: text.into(), folder };
    Scenario::read(source).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A policy from its text.
pub(crate) fn policy(text: &str) -> Policy {
    let source = SourceFile { name: "test.yaml".into(), text: text.into(), folder: None };
    read_policy(&source).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A shipped policy.
pub(crate) fn shipped(name: &str) -> Policy {
    load_policy(name).unwrap_or_else(|error| panic!("{error}"))
}

/// The shipped policy of one attempt.
pub(crate) fn single() -> Policy {
    shipped("single")
}

/// Up to `max` tries at one target, at once after each failure, with `more` in the policy's text.
pub(crate) fn tries(max: u32, more: &str) -> Policy {
    policy(&format!(
        "
name: tries
attempts: {{max: {max}, max_same_target: {max}, allow_failover: false, allow_substitution: false}}
envelope: {{estimate: {{enabled: false}}}}
backoff: {{base: 0s, max: 0s, jitter: fixed}}
cooldown: {{rule: none}}
{more}
"
    ))
}

/// One class at `rate` on these primary targets and fallback, in this weather.
pub(crate) fn service(
    rate: f64,
    horizon: &str,
    groups: &str,
    targets: &str,
    weather: &str,
) -> Scenario {
    scenario(&format!(
        "
name: service
shows: a service
expect: what can be worked out by hand
horizon: {horizon}
classes:
  chat:
    deadline: {{total: 10m}}
    groups: {groups}
    traffic:
      arrivals: {{poisson: {rate}/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
{targets}
weather:
{weather}
"
    ))
}

/// A textbook server that serves any number at once: the block of a target, in the words of a scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server<'a> {
    /// From the send to response headers.
    pub(crate) headers: &'a str,
    /// From there to the first token.
    pub(crate) first_token: &'a str,
    /// Besides, for each token of the prompt but one.
    pub(crate) per_prompt_token: &'a str,
    /// For each further token of the answer.
    pub(crate) per_output_token: &'a str,
    /// From the send to a failure before headers.
    pub(crate) failure: &'a str,
    /// What else the target says, as lines of its block.
    pub(crate) more: &'a str,
}

impl Default for Server<'_> {
    fn default() -> Self {
        let at_once = "constant: 0us";
        Server {
            headers: at_once,
            first_token: FAST,
            per_prompt_token: "0us",
            per_output_token: at_once,
            failure: at_once,
            more: "",
        }
    }
}

impl Server<'_> {
    /// As a target of this name.
    pub(crate) fn named(&self, name: &str) -> String {
        let Server { headers, first_token, per_prompt_token, per_output_token, failure, more } =
            self;
        format!(
            "
  {name}:
    card: plain-server
    capacity: {{source: textbook, slots: 1000000}}
    latency:
      source: textbook
      headers: {{{headers}}}
      first_token: {{{first_token}}}
      prompt_tokens: 1
      per_prompt_token: {per_prompt_token}
      per_output_token: {{{per_output_token}}}
      failure: {{{failure}}}
{more}
"
        )
    }
}

/// Failures of this kind, for this share of attempts, each of them fresh luck.
pub(crate) fn failing(kind: &str, share: &str) -> String {
    failing_so(kind, share, "{request: 0%, window: 0%, free: 100%}")
}

/// The same, sticking as `stick` says.
pub(crate) fn failing_so(kind: &str, share: &str, stick: &str) -> String {
    format!(
        "    failures:
      source: textbook
      mix: [{{class: server_error, status: 500, {kind}share: {share}}}]
      stick: {stick}
"
    )
}

/// A target that answers after `takes`, and fails a share of attempts after `fails_after`.
pub(crate) fn target(name: &str, takes: &str, fails_after: &str, fails: &str) -> String {
    let more = failing("", fails);
    Server { first_token: takes, failure: fails_after, more: &more, ..Server::default() }
        .named(name)
}

/// What `look` sees of the policy's runs in worlds 0, 1, 2 …
pub(crate) fn in_worlds<T>(
    scenario: &Scenario,
    policy: &Policy,
    worlds: u32,
    options: WorldOptions,
    look: impl Fn(&Run) -> T,
) -> Vec<T> {
    let mut simulation = Simulation::new(scenario, policy)
        .unwrap_or_else(|problems| panic!("{}: {problems:?}", policy.name));
    let one = |world| {
        let options = WorldOptions { world, ..options };
        let world = World::build(scenario, options).unwrap_or_else(|error| panic!("{error}"));
        let mut rows = Rows::default();
        let totals = simulation.run(&world, &mut rows);
        look(&Run { rows, totals, world })
    };
    (0..worlds).map(one).collect()
}

impl Run {
    /// The requests that count.
    pub(crate) fn measured(&self) -> impl Iterator<Item = &RequestRow> {
        self.rows.requests.iter().filter(|row| row.measured)
    }

    /// Share of the requests that count which were answered.
    pub(crate) fn success(&self) -> f64 {
        let all = self.totals.overall();
        share(all.answered.total(), all.requests)
    }

    /// Attempts per request that counts.
    pub(crate) fn load(&self) -> f64 {
        let all = self.totals.overall();
        share(all.attempts, all.requests)
    }

    /// Attempts sent from `from` to before `to`, in seconds, per second.
    pub(crate) fn sent_per_second(&self, from: u64, to: u64) -> f64 {
        let sent = |row: &&windtunnel::record::AttemptRow| within(row.sent, from, to);
        share(self.rows.attempts.iter().filter(sent).count() as u64, to - from)
    }

    /// Answers completed from `from` to before `to`, in seconds, per second.
    pub(crate) fn goodput(&self, from: u64, to: u64) -> f64 {
        let done = |row: &&RequestRow| row.answered && within(row.closed, from, to);
        share(self.rows.requests.iter().filter(done).count() as u64, to - from)
    }
}

/// Whether `at` lies in these seconds.
pub(crate) fn within(at: Instant, from: u64, to: u64) -> bool {
    let [from, to] = [from, to].map(|second| Instant::ZERO + Duration::from_secs(second));
    from <= at && at < to
}

/// A quotient of counts.
pub(crate) fn share(part: u64, of: u64) -> f64 {
    part as f64 / of as f64
}

/// In seconds.
pub(crate) fn seconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e6
}

/// Mean over worlds, and its standard error.
pub(crate) fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0) / n).sqrt())
}

/// Fails unless the mean over worlds agrees with `want`, or where a difference of `notices` could
/// pass for chance.
#[track_caller]
pub(crate) fn agrees(what: &str, values: &[f64], want: f64, notices: f64) {
    agrees_with_measured(what, values, want, f64::INFINITY, notices);
}

/// As [`agrees`], with a figure that was itself measured, in so many worlds of the same kind.
#[track_caller]
pub(crate) fn agrees_with_measured(
    what: &str,
    values: &[f64],
    want: f64,
    measured_in: f64,
    notices: f64,
) {
    assert!(values.len() >= FEWEST_WORLDS, "{what}: {} worlds are too few", values.len());
    let (mean, error) = mean_and_error(values);
    let allowed = ERRORS * error * (1.0 + values.len() as f64 / measured_in).sqrt();
    assert!(allowed < notices, "{what}: ± {allowed} would not show a difference of {notices}");
    // The last term is the rounding of a mean of equal numbers.
    let off = (mean - want).abs();
    assert!(off <= allowed + 1e-12 * want.abs(), "{what}: {mean} ± {error} against {want}");
}
