//! Whatever a policy file says, no drill panics and no rule that the core holds is broken.

use windtunnel::drill::{DRILLS, HeldBy};

use super::random;

/// Policies at random; more of them with `DRILL_POLICIES=1000`.
const POLICIES: u64 = 25;

#[test]
fn no_policy_breaks_what_the_core_holds() {
    let more = std::env::var("DRILL_POLICIES").ok().and_then(|n| n.parse().ok());
    for seed in 0..more.unwrap_or(POLICIES) {
        let case = random::case(seed);
        let policy = case.load().1;
        for drill in &DRILLS {
            let drilled = drill.run(&policy, seed).expect("any valid policy can be drilled");
            for finding in &drilled.findings {
                let held = finding.rule.held_by == HeldBy::Policy || !finding.verdict.is_failed();
                assert!(held, "policy {seed}, {}: {finding:#?}\n{:#}", drill.name, case.policy);
            }
        }
    }
}
