//! A brownout under a policy that gives up early: what it gave up was slow, and a policy that waits is answered.

use windtunnel::experiment::{Extremes, NoObserver, NoRecorder, Options as RunOptions, run};
use windtunnel::report::RowFormat;
use windtunnel::whatif::WhatIf;
use windtunnel_policy::config::Policy;

use crate::coverage::{rules, trace};
use crate::worlds::{self, CARD, Known, fitted, known, ledger, written};

/// Ten of twenty minutes at a quarter of the speed: first outputs take 2.6 s in place of 0.65 s.
const SCENARIO: &str = r"
name: hidden
shows: x
expect: x
horizon: 20m
classes:
  chat:
    deadline: {total: 60s}
    groups: {primary: [first], fallbacks: [[second]]}
    traffic:
      arrivals: {trace: {file: trace.csv, absolute: true, layout: {columns: {time: at, time_unit: ms, input_tokens: in, output_tokens: out}}}}
      tokens: {max_output: 1024}
targets:
  first: {card: card.yaml}
  second: {card: card.yaml}
weather:
  - name: slow
    hits: {target: first}
    when: {window: {from: 5m, lasts: 10m}}
    effects: EFFECTS
";

/// Gives up after 2.5 s, and is answered elsewhere.
const HASTY: &str = "
name: hasty
attempts: {max: 2, max_same_target: 1}
timeouts: {first_token: 2500ms}
breakers: BREAKERS
retry_budgets: []
";

/// Waits at the first.
const PATIENT: &str = "
name: patient
attempts: {max: 1}
timeouts: {first_token: 20s}
breakers: []
retry_budgets: []
";

const SLOW: &str = "{speed: 0.25}";
const SILENT: &str = "{failures: {share: 50%, mix: [{class: timeout, status: 0, weight: 1, hang: true}], stick: {request: 0%, window: 0%, free: 100%}}}";
const BREAKER: &str =
    "[{trip: [{rate_over_time: {failures: 30%, window: 10s, min_calls: 20}}], open_for: 20s}]";

/// By how much the second policy answers more than the first: what is said, the interval of it, and the truth.
fn asked(effects: &str, breakers: &str) -> (f64, [f64; 2], f64) {
    let (found, truth) = found(effects, breakers);
    let success = &found.policies[1].differences[0];
    let ci95 = success.ci95.expect("four worlds");
    (success.difference.expect("told"), [ci95.low, ci95.high], truth)
}

fn found(effects: &str, breakers: &str) -> (WhatIf, f64) {
    let scenario = SCENARIO.replace("EFFECTS", effects);
    let hidden: Known =
        known(&[("hidden.yaml", &scenario), ("card.yaml", CARD), ("trace.csv", &trace(6_000))]);
    let policies = [rules(&HASTY.replace("BREAKERS", breakers)), rules(PATIENT)];
    let truth = truth(&hidden, &policies);
    let log = ledger(&hidden.scenario, &policies[0], 1, 1, RowFormat::Csv);
    let (_, evidence, fit) = fitted(&log, false);
    let found = worlds::found((&fit, &evidence), &policies, 4, false);
    (found, truth)
}

fn truth(hidden: &Known, policies: &[Policy; 2]) -> f64 {
    let options =
        RunOptions { seed: 9, worlds: 40, resample: false, extremes: Extremes::Off, threads: None };
    let lived = run(&hidden.scenario, policies, None, &options, &NoRecorder, &NoObserver)
        .unwrap_or_else(|e| panic!("{e}"));
    let answered = |p: usize| -> u64 {
        lived.policies[p].worlds.iter().map(|run| run.classes[0].answered.total()).sum()
    };
    (answered(1) as f64 - answered(0) as f64) / (40.0 * 6_000.0)
}

/// Half of the calls are given up, and all of them would have been answered: `patient` loses the one in a hundred
/// that fails at any time, and nothing by its patience.
#[test]
fn what_was_given_up_was_slow() {
    let (told, [low, high], truth) = asked(SLOW, "[]");
    assert!(low <= truth && truth <= high, "{truth} is not in {low} to {high}");
    assert!(truth > -0.02 && (told - truth).abs() < 0.01, "{told}, truly {truth}");
}

/// The same behind a breaker, which hides most of it. Of the few tries that are seen some fail by chance, as if more did.
#[test]
fn what_a_breaker_hid_was_slow() {
    let (told, _, truth) = asked(SLOW, BREAKER);
    assert!(truth > -0.02 && (told - truth).abs() < 0.015, "{told}, truly {truth}");
}

/// The product waits 2.6 s for the first output: in half of the time half of the requests miss it. That is no failure of
/// the target, and yet the log is reproduced.
#[test]
fn what_a_deadline_cut_was_slow() {
    let [lived, simulated] = answered_by("{first_output: 2600ms, total: 60s}");
    assert!((0.7..0.8).contains(&lived), "{lived}");
    assert!((lived - simulated).abs() < 0.02, "{lived} lived, {simulated} simulated");
}

/// It waits six seconds for the whole: then the long answers are cut.
#[test]
fn answers_that_were_cut_were_long_and_slow() {
    let [lived, simulated] = answered_by("{total: 6s}");
    assert!((0.6..0.8).contains(&lived), "{lived}");
    assert!((lived - simulated).abs() < 0.02, "{lived} lived, {simulated} simulated");
}

/// Which share `patient` answers during the brownout by this deadline, in the world and in the one that is fitted to a log
/// of it.
fn answered_by(deadline: &str) -> [f64; 2] {
    let scenario = SCENARIO.replace("EFFECTS", SLOW).replace("{total: 60s}", deadline);
    let hidden =
        known(&[("hidden.yaml", &scenario), ("card.yaml", CARD), ("trace.csv", &trace(6_000))]);
    let policy = rules(PATIENT);
    let log = ledger(&hidden.scenario, &policy, 1, 1, RowFormat::Csv);
    let (_, evidence, fit) = fitted(&log, false);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let world = written(&fit, &evidence, folder.path());
    let options =
        RunOptions { seed: 9, worlds: 10, resample: false, extremes: Extremes::Off, threads: None };
    [&hidden.scenario, &world].map(|world| {
        let lived =
            run(world, std::slice::from_ref(&policy), None, &options, &NoRecorder, &NoObserver)
                .unwrap_or_else(|e| panic!("{e}"));
        let answered: u64 =
            lived.policies[0].worlds.iter().map(|run| run.classes[0].answered.total()).sum();
        answered as f64 / 60_000.0
    })
}

/// As many are given up, but those that are answered are as fast as ever: the others never are.
#[test]
fn what_was_given_up_was_silent() {
    let (told, [low, high], truth) = asked(SILENT, "[]");
    assert!(low <= truth && truth <= high, "{truth} is not in {low} to {high}");
    assert!(truth < -0.2 && (told - truth).abs() < 0.02, "{told}, truly {truth}");
}

/// Nothing comes in time, from a target that is too slow or from one that never answers: no log tells which, and
/// the interval holds both.
#[test]
fn where_nothing_came_in_time_the_interval_holds_both() {
    let silent = SILENT.replace("share: 50%", "share: 100%");
    for effects in ["{speed: 0.1}", &silent] {
        let (found, truth) = found(effects, "[]");
        let success = &found.policies[1].differences[0];
        let ci95 = success.ci95.expect("four worlds");
        assert!(ci95.low <= truth && truth <= ci95.high, "{effects}: {truth} is not in {ci95:?}");
        let doubt =
            |doubt: &String| doubt.contains("were given up while hardly anything came in time");
        assert!(found.doubts.iter().any(doubt), "{:?}", found.doubts);
    }
}
