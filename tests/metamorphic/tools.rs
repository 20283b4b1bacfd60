//! Who asks the record never writes twice, whatever goes wrong and whoever sends it again.

use serde_json::json;

use super::{random, run};

/// Every class may write, by a tool that knows no keys, and the policy asks what it did.
fn writing(case: &mut random::Case, reconcile: bool) {
    let takes = json!({"exponential": {"mean": "300ms"}});
    for class in case.scenario["classes"].as_object_mut().expect("a mapping").values_mut() {
        class["side_effects"] = json!("write_possible");
        class["tools"] = json!({
            "at": "30%", "takes": takes, "failures": "5%", "deduplicates": "0%",
            "reconciliation": {"takes": {"exponential": {"mean": "100ms"}}, "unknown": "5%"},
        });
    }
    case.policy["side_effects"] = json!({"reconcile": reconcile, "longest": "3s"});
}

#[test]
fn who_asks_what_the_tool_did_never_writes_twice() {
    let (mut writes, mut careless, mut recovered) = (0, 0, 0);
    for seed in 13_000..13_240 {
        let mut case = random::case(seed);
        writing(&mut case, false);
        let (scenario, policy) = case.load();
        careless += run(&scenario, &policy, seed).0.overall().duplicate_side_effects;

        writing(&mut case, true);
        let (scenario, policy) = case.load();
        let (totals, rows) = run(&scenario, &policy, seed);
        let all = totals.overall();
        assert!(rows.effects.iter().all(|effect| effect.writes == 1), "seed {seed}");
        assert!(all.side_effects <= all.requests);
        writes += all.side_effects;
        recovered += all.answered.total() - all.answered.raw;
    }
    let seen = (writes, careless, recovered);
    assert!(writes > 1_000 && careless > 5 && recovered > 100, "too little happened: {seen:?}");
}

#[test]
fn who_also_looks_up_what_came_before_never_writes_twice_under_an_sdk() {
    let (mut writes, mut careless, mut looked) = (0, 0, 0);
    for seed in 13_300..13_460 {
        let mut case = random::case(seed);
        writing(&mut case, true);
        for class in case.scenario["classes"].as_object_mut().expect("a mapping").values_mut() {
            class["sdk"] = json!({"attempts": 3, "timeout": "1500ms"});
        }
        let (scenario, policy) = case.load();
        careless += run(&scenario, &policy, seed).0.overall().duplicate_side_effects;

        case.policy["side_effects"]["look_up"] = json!(true);
        let (scenario, policy) = case.load();
        let (totals, rows) = run(&scenario, &policy, seed);
        assert!(rows.effects.iter().all(|effect| effect.writes == 1), "seed {seed}");
        writes += totals.overall().side_effects;
        let unsent = rows.requests.iter().filter(|row| row.result.attempts == 0);
        looked += unsent.filter(|row| row.record.is_some()).count();
    }
    let seen = (writes, careless, looked);
    assert!(writes > 1_000 && careless > 5 && looked > 5, "too little happened: {seen:?}");
}
