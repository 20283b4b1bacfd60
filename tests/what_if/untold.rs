//! What a log cannot tell is in the interval, not beside it.

use windtunnel::experiment::{Extremes, NoObserver, NoRecorder, Options as RunOptions, run};
use windtunnel::fit::{Evidence, Fit, NamedCard};
use windtunnel::report::RowFormat;
use windtunnel::whatif::WhatIf;
use windtunnel_policy::config::Policy;

use crate::coverage::{rules, trace};
use crate::worlds::{self, CARD, Known, fitted, known, ledger, written};

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

/// A retry elsewhere.
const ELSEWHERE: &str = "
name: elsewhere
attempts: {max: 2, max_same_target: 1}
timeouts: {first_token: 5s}
breakers: []
retry_budgets: []
";

/// The world in which so much of the failures sticks to its request.
fn hidden(sticks: u32) -> Known {
    let scenario = SCENARIO
        .replace("STICKS", &format!("{sticks}%"))
        .replace("FREE", &format!("{}%", 100 - sticks));
    known(&[("hidden.yaml", &scenario), ("card.yaml", CARD), ("trace.csv", &trace(3_000))])
}

/// What is found where the log of the first policy in this world is fitted, and `with` is done to the fit.
fn found(hidden: &Known, policies: &[Policy], with: impl Fn(Fit) -> Fit) -> WhatIf {
    let log = ledger(&hidden.scenario, &policies[0], 1, 1, RowFormat::Csv);
    let (_, evidence, fit): (_, Evidence, Fit) = fitted(&log, false);
    let fit = with(fit);
    worlds::found((&fit, &evidence), policies, 4, true)
}

/// By how much more the second policy answers: what is said, and the interval of it.
fn more(found: &WhatIf) -> (f64, [f64; 2]) {
    let success = &found.policies[1].differences[0];
    let ci95 = success.ci95.expect("several worlds");
    (success.difference.expect("told"), [ci95.low, ci95.high])
}

/// Under a policy that tries once, no log tells whether a second try would have met what the first did. In two
/// worlds of the same log nothing sticks and everything does: of one failure in five, a second try
/// recovers four fifths (16 % of requests) or none.
#[test]
fn how_failures_stick_is_not_told_by_who_tries_once() {
    let policies = [rules(ONCE), rules(TWICE)];
    let mut estimates = Vec::new();
    for (sticks, truth) in [(0, 0.16), (100, 0.0)] {
        let (told, [low, high]) = more(&found(&hidden(sticks), &policies, |fit| fit));
        assert!(low <= truth && truth <= high, "{sticks}: {truth} is not in {low} to {high}");
        estimates.push(told);
    }
    // The log is the same to whoever reads it: luck alone is between the estimates.
    assert!((estimates[0] - estimates[1]).abs() < 0.03, "{estimates:?}");
}

/// A world of two targets, of which the log shows one: with the card of the other, what a failover would
/// have done is told, and without it that there is nowhere to go.
#[test]
fn a_target_that_the_log_does_not_show_is_brought_in() {
    let both = SCENARIO
        .replace("STICKS", "50%")
        .replace("FREE", "50%")
        .replace("{primary: [first]}", "{primary: [first], fallbacks: [[spare]]}")
        .replace(
            "  first: {card: card.yaml}",
            "  first: {card: card.yaml}\n  spare: {card: card.yaml}",
        );
    let files = [("hidden.yaml", &*both), ("card.yaml", CARD), ("trace.csv", &trace(3_000))];
    let hidden = known(&files);
    let policies = [rules(ONCE), rules(ELSEWHERE)];
    let options =
        RunOptions { seed: 9, worlds: 40, resample: false, extremes: Extremes::Off, threads: None };
    let lived = run(&hidden.scenario, &policies, None, &options, &NoRecorder, &NoObserver)
        .unwrap_or_else(|e| panic!("{e}"));
    let answered = |p: usize| -> u64 {
        lived.policies[p].worlds.iter().map(|run| run.classes[0].answered.total()).sum()
    };
    let truth = (answered(1) - answered(0)) as f64 / (40.0 * 3_000.0);

    let card = hidden.folder.path().join("spare.yaml");
    std::fs::write(&card, CARD.replace("name: card", "name: spare")).expect("it can be written to");
    let named = [card.display().to_string()];
    let brought = found(&hidden, &policies, |fit| {
        let cards = NamedCard::read(&named).unwrap_or_else(|e| panic!("{e}"));
        fit.with(cards).unwrap_or_else(|e| panic!("{e}"))
    });
    let (told, [low, high]) = more(&brought);
    assert!(low <= truth && truth <= high, "{truth} is not in {low} to {high}");
    assert!(truth > 0.15 && (told - truth).abs() < 0.02, "{told}, truly {truth}");
    assert!(brought.doubts.iter().any(|doubt| doubt.starts_with("`spare` is not in the log")));
    // Both cards are of one provider, and what befell one of its models mostly befalls the others.
    let same = "`spare` is run by `acme`, as `first` is";
    assert!(brought.cautions.iter().any(|caution| caution.starts_with(same)), "{brought:?}");
    assert_eq!(brought.recommended.policy, None);
    assert!(brought.sensitivity.iter().any(|of| of.what == "half the room and limits at spare"));

    let alone = found(&hidden, &policies, |fit| fit);
    assert!(alone.policies[1].nowhere_to_go && !brought.policies[1].nowhere_to_go);
    assert!(more(&alone).0.abs() < 1e-9, "there is nowhere to go");
}

/// A policy that fails over, but had one target when it was logged: what it did then is held against the
/// log, and what it would do with a second is a policy beside it.
#[test]
fn who_was_in_force_has_the_targets_of_the_log() {
    let policy = rules(ELSEWHERE);
    let with_spare = Policy { name: "with spare".into(), ..policy.clone() };
    let hidden = hidden(50);
    let card = hidden.folder.path().join("spare.yaml");
    std::fs::write(&card, CARD.replace("name: card", "name: spare")).expect("it can be written to");
    let named = [card.display().to_string()];
    let found = found(&hidden, &[policy, with_spare], |fit| {
        let cards = NamedCard::read(&named).unwrap_or_else(|e| panic!("{e}"));
        fit.with(cards).unwrap_or_else(|e| panic!("{e}"))
    });
    let believed = found.believed.as_ref().expect("there is a log");
    assert_eq!(believed.reproduces, Some(true), "{:?}", believed.checks);
    assert!(believed.targets.iter().all(|check| !check.name.contains("spare")));
    assert_eq!(
        found.policies[0].targets[1].attempts.figure.value,
        Some(0.0),
        "it never went there"
    );
    // Of one failure in five, the spare answers all but its own one in a hundred.
    assert!((more(&found).0 - 0.2).abs() < 0.03, "{:?}", more(&found));
}

/// A card of a target that the log shows is refused.
#[test]
fn a_target_of_the_log_is_not_brought_in() {
    let hidden = hidden(50);
    let log = ledger(&hidden.scenario, &rules(ONCE), 1, 1, RowFormat::Csv);
    let (_, _, fit) = fitted(&log, false);
    let card = hidden.folder.path().join("first.yaml");
    std::fs::write(&card, CARD.replace("name: card", "name: First")).expect("it can be written to");
    let cards = NamedCard::read(&[card.display().to_string()]).unwrap_or_else(|e| panic!("{e}"));
    let refused = fit.with(cards).expect_err("the log shows it").to_string();
    assert!(refused.contains("the log shows `first` already"), "{refused}");
}

/// Second tries tell how far failures stick; third and fourth ones come after two failures, which stuck ones are
/// most of.
#[test]
fn failures_stick_no_more_where_more_tries_follow() {
    let hidden = hidden(40);
    let rules = rules(&TWICE.replace("max: 2, max_same_target: 2", "max: 4, max_same_target: 4"));
    let log = ledger(&hidden.scenario, &rules, 1, 1, RowFormat::Csv);
    let (_, evidence, fit) = fitted(&log, false);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scenario = written(&fit, &evidence, folder.path());
    let told = scenario.targets[0].failures.stick.request.as_f64();
    // About 630 of 3,000 first tries fail. Of second tries 48 % fail again, with a standard error of 2 %; of what
    // sticks 1 % more makes 0.75 % more of them fail: 8 % is three of those.
    assert!((told - 0.4).abs() < 0.08, "{told}");
}
