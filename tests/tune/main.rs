//! Searches from end to end: known optima, nothing to find, bad input, the same bytes.

#[path = "../common/lab.rs"]
mod lab;
#[path = "../common/outputs.rs"]
mod outputs;

mod documents;
mod extremes;
mod noise;
mod optimum;
mod program;

use lab::{policy, scenario, target};
use windtunnel::experiment::NoObserver;
use windtunnel::measures::Catalogue;
use windtunnel::scenario::Scenario;
use windtunnel::space::{PolicySpace, Space};
use windtunnel::tune::{Direction, Goal, Options, Task, TuneReport, Tuning, tune};

/// One class at 20 requests a second for a minute, at these targets.
fn service(deadline: &str, primary: &str, targets: &str) -> Scenario {
    service_for("1m", deadline, primary, targets)
}

/// The same for so long.
fn service_for(horizon: &str, deadline: &str, primary: &str, targets: &str) -> Scenario {
    scenario(&format!(
        "
name: service
shows: a service
expect: what can be worked out by hand
horizon: {horizon}
classes:
  chat:
    deadline: {{total: {deadline}}}
    groups: {{primary: {primary}}}
    traffic:
      arrivals: {{poisson: 20/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
{targets}
"
    ))
}

/// Up to ten tries at one target, at once after each failure, whatever time is left.
fn base(more: &str) -> PolicySpaceOf {
    PolicySpaceOf(format!(
        "
name: base
attempts: {{max: 10, max_same_target: 10, allow_failover: false, allow_substitution: false}}
envelope:
  estimate: {{enabled: false}}
  reserve_for_failover: 0s
  min_useful: 0s
  safety_margin: 0s
backoff: {{base: 0s, max: 0s, jitter: fixed}}
cooldown: {{rule: none}}
{more}
"
    ))
}

/// A base policy's text, to be varied.
struct PolicySpaceOf(String);

impl PolicySpaceOf {
    fn varying(&self, arguments: &[&str]) -> PolicySpace {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let space = Space::of_arguments(&arguments).unwrap_or_else(|error| panic!("{error}"));
        space.around(&policy(&self.0)).unwrap_or_else(|error| panic!("{error}"))
    }
}

fn options(seed: u64, variants: u64) -> Options {
    Options {
        seed,
        variants: Some(variants),
        budget: None,
        held_out_worlds: 40,
        as_published: false,
        threads: None,
    }
}

/// A search, with the report's text.
fn found(
    scenario: Scenario,
    space: &PolicySpace,
    (direction, measure): (Direction, &str),
    subject_to: &[&str],
    options: Options,
) -> (Tuning, String) {
    let scenarios = [scenario];
    let catalogues = [Catalogue::of(&scenarios[0])];
    let subject_to: Vec<String> = subject_to.iter().map(ToString::to_string).collect();
    let goal = Goal::parse(direction, measure, &subject_to, &catalogues)
        .unwrap_or_else(|error| panic!("{error}"));
    let task = Task { scenarios: &scenarios, hold_out: &[], space, goal: &goal, options };
    let tuning = tune(&task, &NoObserver).unwrap_or_else(|error| panic!("{error:?}"));
    let text = TuneReport { task: &task, tuning: &tuning, command: "windtunnel tune …" }.text();
    (tuning, text)
}

/// A target that fails half of all attempts, each by its own luck.
fn coin() -> String {
    target("coin", "constant: 100ms", "constant: 10ms", "50%")
}
