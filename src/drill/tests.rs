//! The drills themselves: each can be passed, and each rule can be broken.

use super::*;
use crate::library::{drills, load_policy};

#[test]
fn each_drill_has_a_file_and_each_file_a_drill() {
    let mut names: Vec<&str> = DRILLS.iter().map(|drill| drill.name).collect();
    names.sort_unstable();
    assert!(names.iter().eq(drills().iter().map(|file| &file.name)));
    let numbers: Vec<u8> = DRILLS.iter().map(|drill| drill.number).collect();
    assert!(numbers.is_sorted());
}

#[test]
fn the_shipped_defaults_pass_every_drill() {
    for name in ["conservative", "fast-failover"] {
        let policy = load_policy(name).expect("a shipped policy");
        for drill in &DRILLS {
            let drilled = drill.run(&policy, 1).expect("the drill can be run");
            let passed = matches!(drilled.verdict, Verdict::Passed { .. });
            assert!(passed, "{name}, {}: {:?}", drill.name, drilled.findings);
        }
    }
}
