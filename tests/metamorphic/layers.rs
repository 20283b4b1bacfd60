//! Layers that never repeat are not there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{random, run};

/// Layers of this kind around every class, and a proxy before every target.
fn surround(case: &mut random::Case, outer: &Value, proxy: &Value) {
    for class in case.scenario["classes"].as_object_mut().expect("a mapping").values_mut() {
        class["application"] = outer.clone();
        class["sdk"] = outer.clone();
    }
    for target in case.scenario["targets"].as_object_mut().expect("a mapping").values_mut() {
        target["upstream_proxy"] = proxy.clone();
    }
}

#[test]
fn layers_that_never_repeat_change_nothing() {
    let once = (json!({"attempts": 1}), json!({"attempts": 1}));
    let nothing = json!({"attempts": 9, "repeats": [], "repeats_timeouts": false});
    let nothing = (nothing, json!({"attempts": 9, "repeats": []}));
    for seed in 11_000..11_080 {
        let mut case = random::case(seed);
        let (scenario, policy) = case.load();
        let want = run(&scenario, &policy, seed);
        for (outer, proxy) in [&once, &nothing] {
            surround(&mut case, outer, proxy);
            let (scenario, policy) = case.load();
            assert!(want == run(&scenario, &policy, seed), "seed {seed}: {outer}");
        }
    }
}

#[test]
fn layers_leave_the_actions_as_they_are_and_close_each_once() {
    let outer = json!({"attempts": 3, "timeout": "2s", "repeats_broken_streams": true});
    let (mut resent, mut hidden) = (0, 0);
    for seed in 12_000..12_080 {
        let mut case = random::case(seed);
        // Closed loops ask less often where answers take longer.
        let classes = case.scenario["classes"].as_object().expect("a mapping").values();
        let closed = classes.clone().any(|c| !c["traffic"]["arrivals"]["closed_loop"].is_null());
        let (scenario, policy) = case.load();
        let plain = run(&scenario, &policy, seed).0.overall();
        surround(&mut case, &outer, &json!({"attempts": 3}));
        let (scenario, policy) = case.load();
        // Accounts are asserted within.
        let (totals, rows) = run(&scenario, &policy, seed);
        let all = totals.overall();
        assert!(closed || all.requests == plain.requests, "seed {seed}");
        let unanswered = all.exhausted
            + all.policy_stop
            + all.silent_failure
            + all.deadline_exhausted
            + all.no_eligible_target
            + all.turned_away
            + all.partial_output
            + all.cancelled;
        assert_eq!(all.answered.total() + unanswered, all.requests, "seed {seed}");
        let measured: BTreeSet<u64> =
            rows.requests.iter().filter(|row| row.measured).map(|row| row.request).collect();
        assert_eq!(all.received, measured.len() as u64, "seed {seed}");
        let of_measured = rows.attempts.iter().filter(|row| measured.contains(&row.request));
        let calls: u64 = of_measured.map(|row| u64::from(row.hidden_calls)).sum();
        assert_eq!(all.hidden_calls, calls, "seed {seed}: the calls of attempts given up as well");
        resent += all.received - all.requests;
        hidden += all.hidden_calls;
    }
    assert!(resent > 1_000 && hidden > 100, "too little happened: {resent} {hidden}");
}
