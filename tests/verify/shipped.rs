//! What is proven, and what it says.

use windtunnel::library::{Kind, list, load_policy};
use windtunnel::scenario::Scenario;
use windtunnel::verify::{NoObserver, Options, Verdict, verify};
use windtunnel_policy::config::KeyPart;

#[test]
fn every_shipped_policy_holds_on_the_sample() {
    let options = Options { depth: 2, max_states: 50_000 };
    for file in list(Kind::Policy) {
        let policy = load_policy(&file.name).expect("a shipped policy");
        let proof = verify(&policy, None, options, &NoObserver).expect("a valid policy");
        assert_eq!(proof.verdict(), Verdict::Holds, "{}: {}", file.name, proof.text());
        let merged = proof.covered.iter().any(|row| row.states < row.sequences);
        assert!(merged, "{}: some states are reached in more than one way", file.name);
    }
}

/// Two gateways that tell each other, and a budget divided between tenants: what the other tells and whose
/// request it is are part of the walk.
#[test]
fn what_replicas_tell_and_tenants_are_walked() {
    let mut policy = load_policy("tenant-budgets").expect("a shipped policy");
    let options = Options { depth: 2, max_states: 50_000 };
    let walked = |policy: &_| {
        let proof = verify(policy, None, options, &NoObserver).expect("a valid policy");
        assert_eq!(proof.verdict(), Verdict::Holds, "{}", proof.text());
        proof.covered.iter().map(|start| start.sequences).sum::<u64>()
    };
    let alone = walked(&policy);
    policy.replicas.count = 2;
    policy.replicas.sharing =
        windtunnel_policy::config::Sharing::After(windtunnel_policy::Duration::from_secs(1));
    assert!(walked(&policy) > alone);
}

/// Breakers keyed by capability: one class comes while the breaker of the other is open.
#[test]
fn classes_that_breakers_tell_apart_are_walked() {
    let mut policy = load_policy("conservative").expect("a shipped policy");
    let options = Options { depth: 3, max_states: 50_000 };
    let mut starts = |key: Option<KeyPart>| -> Vec<String> {
        policy.breakers[0].key.extend(key);
        let proof = verify(&policy, None, options, &NoObserver).expect("a valid policy");
        assert_eq!(proof.verdict(), Verdict::Holds, "{}", proof.text());
        proof.covered.into_iter().map(|row| row.start).collect()
    };
    let without = starts(None);
    let with = starts(Some(KeyPart::Capability));
    let new: Vec<&String> = with.iter().filter(|start| !without.contains(start)).collect();
    assert_eq!(new, ["ask: its breaker open, write comes", "write: its breaker open, ask comes"]);
}

#[test]
fn a_scenarios_own_targets_are_walked() {
    let scenario = Scenario::load("steady").expect("a shipped scenario");
    let policy = load_policy("conservative").expect("a shipped policy");
    let options = Options { depth: 2, max_states: 50_000 };
    let targets = Some((scenario.file.name.as_str(), &scenario.topology));
    let proof = verify(&policy, targets, options, &NoObserver).expect("a valid policy");
    assert_eq!(proof.verdict(), Verdict::Holds, "{}", proof.text());
    let class = &scenario.topology.classes[0].name;
    assert!(proof.covered[0].start.starts_with(class.as_str()));
}

#[test]
fn a_walk_that_is_cut_short_is_undecided() {
    let policy = load_policy("conservative").expect("a shipped policy");
    let options = Options { depth: 4, max_states: 300 };
    let proof = verify(&policy, None, options, &NoObserver).expect("a valid policy");
    assert_eq!(proof.verdict(), Verdict::Undecided);
    let text = proof.text();
    assert!(text.contains("1 of 4") && text.contains("more than 300 states"), "{text}");
    // What it says to ask for is what can be had: less is a proof, and enough is one.
    let complete = proof.complete_depth().expect("some steps are complete");
    assert!(text.contains(&format!("`--depth {complete}` is a proof")), "{text}");
    assert!(text.contains("For depth 4: `--max-states 3000`"), "{text}");
    let again = |depth, max_states| {
        let options = Options { depth, max_states };
        verify(&policy, None, options, &NoObserver).expect("a valid policy").verdict()
    };
    assert_eq!(again(complete, 300), Verdict::Holds);
    assert_eq!(again(complete + 1, 300), Verdict::Undecided);
    let json: serde_json::Value = serde_json::from_str(&proof.json()).expect("JSON");
    assert_eq!(json["verdict"], "undecided");
    assert!(json["covered"][0]["complete_to"].as_u64() < json["covered"][0]["depth"].as_u64());
}

/// What the drill tools-once fails, no tick of the proof may promise.
#[test]
fn writing_once_is_not_promised_where_server_errors_are_repeated() {
    let mut policy = load_policy("single").expect("a shipped policy");
    let options = Options { depth: 2, max_states: 50_000 };
    let said = |policy: &_| {
        let proof = verify(policy, None, options, &NoObserver).expect("a valid policy");
        assert_eq!(proof.verdict(), Verdict::Holds);
        let json: serde_json::Value = serde_json::from_str(&proof.json()).expect("JSON");
        assert_eq!(json["not_promised"].as_str(), proof.not_promised.as_deref());
        assert_eq!(
            proof.text().contains("Not promised: that a tool writes once"),
            proof.not_promised.is_some()
        );
        proof.not_promised.is_some()
    };
    assert!(!said(&policy));
    policy.attempts = load_policy("naive-retry").expect("a shipped policy").attempts;
    assert!(said(&policy));
    policy.side_effects.reconcile = true;
    assert!(!said(&policy));
}
