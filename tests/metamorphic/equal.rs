//! Policies that come to the same thing.

use serde_json::{Value, json};
use windtunnel::experiment::{self, Extremes, Findings, NoObserver, NoRecorder, Options};
use windtunnel::measures::Catalogue;
use windtunnel::record::{AttemptRow, NoSink, RequestRow, Rows};
use windtunnel::simulation::Simulation;
use windtunnel::stats::Verdict;
use windtunnel::world::{Stickiness, World, WorldOptions};
use windtunnel_policy::Money;
use windtunnel_policy::event::{Advice, Outcome, Terminal};

use super::{random, run};

const UNEXPLAINED: Terminal = Terminal {
    id: 0,
    outcome: Outcome::Exhausted,
    status: 0,
    class: None,
    stop: None,
    retryable: false,
    retry_after: None,
    attempts: 0,
    cost: Money::ZERO,
    disclosed: false,
    advice: Advice::Nothing,
};

/// The ledger without the reasons why nothing more was tried.
fn without_reasons(rows: Rows) -> (Vec<AttemptRow>, Vec<RequestRow>) {
    let attempts = rows.attempts.iter().map(|row| AttemptRow { decision: None, ..*row });
    let requests = rows.requests.iter().map(|row| {
        let mut row = *row;
        let Terminal { id, attempts, cost, .. } = row.result;
        row.result = Terminal { id, attempts, cost, ..UNEXPLAINED };
        row
    });
    (attempts.collect(), requests.collect())
}

/// A policy that keeps no memory of failures, with one budget for the whole request, and no second
/// attempt beside a first.
fn forgetful(policy: &mut Value) {
    for field in ["hedge", "outlier", "classes"] {
        policy.as_object_mut().expect("a policy has fields").remove(field);
    }
    (policy["breakers"], policy["retry_budgets"]) = (json!([]), json!([]));
    policy["cooldown"] = json!({"rule": "none"});
    policy["matrix"] = json!({
        "upstream_auth": {"blame": "no"}, "quota_exhausted": {"blame": "no"},
        "target_missing": {"blame": "no"},
    });
    policy["attempts"]["scope"] = json!("request");
    policy["backoff"]["after_last"] = json!(false);
}

#[test]
fn one_attempt_is_no_recovery_however_it_is_said() {
    for seed in 7_000..7_060 {
        let mut case = random::case(seed);
        forgetful(&mut case.policy);
        // A first attempt is a substitution where nothing of the class's own model can take it.
        case.policy["attempts"]["allow_substitution"] = json!(false);
        let more = case.policy["attempts"].clone();
        case.policy["attempts"]["max"] = json!(1);
        let (scenario, once) = case.load();
        let want = without_reasons(run(&scenario, &once, seed).1);
        assert!(want.0.iter().all(|row| row.number == 1));

        case.policy["attempts"] = more;
        for kind in ["allow_retry", "allow_failover"] {
            case.policy["attempts"][kind] = json!(false);
        }
        let (scenario, none) = case.load();
        assert!(want == without_reasons(run(&scenario, &none, seed).1), "seed {seed}");
    }
}

#[test]
fn what_never_bites_is_not_there() {
    let never: [fn(&mut Value); 3] = [
        |policy| {
            policy["breakers"] = json!([{
                "key": ["deployment"], "trip": [{"consecutive": 4_294_967_295_u32}],
            }]);
        },
        |policy| {
            let bucket = json!({"capacity": 1_000_000, "per_request": "100%", "per_second": 9});
            policy["retry_budgets"] = json!([{
                "governs": ["retry", "failover", "substitution"], "charged_to": "overall",
                "kind": {"token_bucket": bucket},
            }]);
        },
        |policy| policy["timeouts"]["attempt"] = json!("1h"),
    ];
    for seed in 8_000..8_030 {
        let mut case = random::case(seed);
        for part in ["breakers", "retry_budgets"] {
            case.policy[part] = json!([]);
        }
        case.policy["timeouts"].as_object_mut().expect("a mapping").remove("attempt");
        let (scenario, plain) = case.load();
        let want = run(&scenario, &plain, seed).1;
        let bare = case.policy.clone();
        for add in never {
            case.policy = bare.clone();
            add(&mut case.policy);
            let (scenario, policy) = case.load();
            assert!(want == run(&scenario, &policy, seed).1, "seed {seed}: {:#}", case.policy);
        }
    }
}

/// No load, and nothing that a request does to another.
fn load_free(case: &mut random::Case) {
    case.scenario["gateway"] = json!({});
    case.scenario["background"] = json!({});
    let targets = case.scenario["targets"].as_object_mut().expect("a mapping");
    for target in targets.values_mut() {
        target.as_object_mut().expect("a mapping").remove("failover_in_flight");
        target["limits"] = json!([]);
        target["capacity"] = json!({"source": "made up", "slots": 1_000_000});
    }
    for weather in case.scenario["weather"].as_array_mut().expect("a list") {
        let effects = weather["effects"].as_object_mut().expect("a mapping");
        effects.remove("capacity");
        effects.entry("contract_failures").or_insert(json!("30%"));
    }
    // Closed loops ask again when they are answered: other requests, other answers.
    for class in case.scenario["classes"].as_object_mut().expect("a mapping").values_mut() {
        class["traffic"]["arrivals"] = json!({"poisson": "8/s"});
    }
    forgetful(&mut case.policy);
    case.policy["selection"] = json!({"substitutes": "listed"});
    case.policy["envelope"]["estimate"] = json!({"enabled": false});
}

#[test]
fn without_load_more_attempts_lose_nothing() {
    let mut gained = 0;
    for seed in 9_000..9_060 {
        let mut case = random::case(seed);
        load_free(&mut case);
        let mut before: Vec<u64> = Vec::new();
        for max in 1..=5 {
            case.policy["attempts"]["max"] = json!(max);
            let (scenario, policy) = case.load();
            let rows = run(&scenario, &policy, seed).1;
            let answered = rows.requests.iter().filter(|row| row.measured && row.answered);
            let answered: Vec<u64> = answered.map(|row| row.request).collect();
            let lost = before.iter().find(|request| !answered.contains(request));
            assert_eq!(lost, None, "seed {seed}: answered with {} but not {max}", max - 1);
            gained += answered.len() - before.len();
            before = answered;
        }
    }
    assert!(gained > 0);
}

#[test]
fn a_policy_against_itself_differs_by_exactly_nothing() {
    let (scenario, policy) = random::case(10_000).load();
    let mut twin = policy.clone();
    twin.name = "twin".into();
    let options =
        Options { seed: 1, worlds: 12, resample: false, extremes: Extremes::Off, threads: None };
    let policies = [policy, twin];
    let experiment =
        experiment::run(&scenario, &policies, None, &options, &NoRecorder, &NoObserver)
            .expect("it runs");
    assert_eq!(experiment.policies[0].worlds, experiment.policies[1].worlds);
    let catalogue = Catalogue::of(&scenario);
    let findings = Findings::of(&experiment, &catalogue, &[]).expect("no gates");
    let mut identical = 0;
    for difference in &findings.policies[1].differences {
        assert!(difference.difference.is_none_or(|d| d == 0.0), "{difference:?}");
        assert!(difference.ci95.is_none_or(|ci| ci == (0.0, 0.0)), "{difference:?}");
        assert!(
            difference.verdict.is_none_or(|verdict| verdict == Verdict::Identical),
            "{difference:?}"
        );
        identical += u32::from(difference.verdict.is_some());
    }
    assert!(identical > 10, "{:?}", findings.policies[1].differences);
}

/// Where failures would stick as they do, the extremes are not run: they must be what a run gives.
#[test]
fn extremes_are_the_runs_of_their_worlds() {
    let (mut same, mut other) = (0, 0);
    for seed in 7_700..7_900 {
        let (scenario, policy) = random::case(seed).load();
        let (resample, threads) = (false, Some(1));
        let options = Options { seed, worlds: 1, resample, extremes: Extremes::All, threads };
        let policies = std::slice::from_ref(&policy);
        let found = experiment::run(&scenario, policies, None, &options, &NoRecorder, &NoObserver);
        let found = found.unwrap();
        let mut simulation = Simulation::new(&scenario, &policy).unwrap();
        let extremes = [Stickiness::Independent, Stickiness::AllToRequest];
        for (stickiness, runs) in extremes.into_iter().zip(found.extremes.unwrap()) {
            let options = WorldOptions { seed, stickiness, ..WorldOptions::default() };
            let world = World::build(&scenario, options).unwrap();
            let run = simulation.run(&world, &mut NoSink);
            assert!(runs[0].worlds[0] == run, "seed {seed}, {stickiness:?}");
            let sticks_otherwise = world.sticks_otherwise(&scenario, stickiness);
            *(if sticks_otherwise { &mut other } else { &mut same }) += 1;
        }
    }
    assert!(same > 20 && other > 20, "{same} extremes were not run, {other} were");
}
