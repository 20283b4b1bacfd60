//! What a log cannot tell is in the interval, not beside it.

use windtunnel::report::RowFormat;
use windtunnel::whatif::{Options, Question, Tolerance, investigate};

use windtunnel::experiment::NoObserver;

use crate::coverage::{rules, trace};
use crate::worlds::{CARD, fitted, known, ledger, written};

const SCENARIO: &str = r"
name: hidden
shows: x
expect: x
horizon: 10m
classes:
  chat:
    deadline: {total: 30s}
    groups: {primary: [first]}
    traffic:
      arrivals: {trace: {file: trace.csv, absolute: true, layout: {columns: {time: at, time_unit: ms, input_tokens: in, output_tokens: out}}}}
      tokens: {max_output: 1024}
targets:
  first: {card: card.yaml}
weather:
  - name: always
    hits: {target: first}
    when: always
    effects:
      failures:
        share: 20%
        mix: [{class: server_error, status: 500, weight: 1}]
        stick: {request: STICKS, window: 0%, free: FREE}
";

const ONCE: &str = "
name: once
attempts: {max: 1}
timeouts: {first_token: 5s}
breakers: []
retry_budgets: []
";

const TWICE: &str = "
name: twice
attempts: {max: 2, max_same_target: 2, allow_failover: false, allow_substitution: false}
timeouts: {first_token: 5s}
breakers: []
retry_budgets: []
";

/// Under a policy that tries once, no log tells whether a second try would have met what the first did. In two
/// worlds of the same log nothing sticks and everything does: of one failure in five, a second try
/// recovers four fifths (16 % of requests) or none.
#[test]
fn how_failures_stick_is_not_told_by_who_tries_once() {
    let trace = trace(3_000);
    let mut estimates = Vec::new();
    for (sticks, free, truth) in [("0%", "100%", 0.16), ("100%", "0%", 0.0)] {
        let scenario = SCENARIO.replace("STICKS", sticks).replace("FREE", free);
        let hidden =
            known(&[("hidden.yaml", &scenario), ("card.yaml", CARD), ("trace.csv", &trace)]);
        let policies = [rules(ONCE), rules(TWICE)];
        let log = ledger(&hidden.scenario, &policies[0], 1, 1, RowFormat::Csv);
        let (_, evidence, fit) = fitted(&log, false);
        let folder = tempfile::tempdir().expect("a temporary folder");
        let scenario = written(&fit, &evidence, folder.path());
        let options = Options {
            seed: 1,
            worlds: 4,
            refits: Options::LEAST_REFITS,
            sensitivity: false,
            tolerance: Tolerance::default(),
            threads: None,
        };
        let question = Question {
            scenario: &scenario,
            log: Some((&fit, &evidence)),
            timeline: None,
            policies: &policies,
            options,
        };
        let found = investigate(&question, &NoObserver).unwrap_or_else(|e| panic!("{e}"));
        let success = &found.policies[1].differences[0];
        let (told, ci95) = (success.difference.expect("told"), success.ci95.expect("four worlds"));
        assert!(ci95.low <= truth && truth <= ci95.high, "{sticks}: {truth} is not in {ci95:?}");
        estimates.push(told);
    }
    // The log is the same to whoever reads it: luck alone is between the estimates.
    assert!((estimates[0] - estimates[1]).abs() < 0.03, "{estimates:?}");
}
