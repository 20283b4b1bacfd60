//! The drills themselves: each can be passed, and each of its rules can be broken. What a policy
//! file can break, a file of `tests/drills/bad` breaks; what the core holds whatever a file says is
//! broken here by rows that were tampered with.

mod tampered;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::*;
use crate::input::SourceFile;
use crate::library::{drills, load_policy, read_policy};

/// A policy that breaks rules, as its first lines say.
struct Bad {
    drill: &'static Drill,
    policy: Policy,
    breaks: BTreeSet<String>,
    file: String,
}

/// Each file is called after its drill; what follows a dot tells files of one drill apart.
fn bad() -> Vec<Bad> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/drills/bad");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("a file").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let source = SourceFile::read(&path).expect("a readable file");
        let breaks = source.text.lines().filter_map(|line| line.strip_prefix("# Breaks: "));
        let breaks = breaks.map(str::to_owned).collect();
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let drill = Drill::find(file.split('.').next().expect("a name")).expect("a drill");
        Bad { drill, policy: read_policy(&source).expect("a policy"), breaks, file }
    };
    paths.into_iter().map(read).collect()
}

fn broken(findings: &[Finding]) -> BTreeSet<String> {
    let failed = findings.iter().filter(|finding| finding.verdict.is_failed());
    failed.map(|finding| finding.rule.text.to_owned()).collect()
}

fn conservative() -> Policy {
    load_policy("conservative").expect("a shipped policy")
}

#[test]
fn each_drill_has_a_file_and_each_file_a_drill() {
    let mut names: Vec<&str> = DRILLS.iter().map(|drill| drill.name).collect();
    names.sort_unstable();
    assert!(names.iter().eq(drills().iter().map(|file| &file.name)));
    let numbers: Vec<u8> = DRILLS.iter().map(|drill| drill.number).collect();
    assert!(numbers.iter().copied().eq(1..=13));
}

#[test]
fn the_shipped_defaults_pass_every_drill_whatever_the_luck() {
    for name in ["conservative", "fast-failover", "hedged"] {
        let policy = load_policy(name).expect("a shipped policy");
        for (drill, seed) in DRILLS.iter().flat_map(|drill| [1, 2, 3, 4].map(|seed| (drill, seed)))
        {
            let drilled = drill.run(&policy, seed).expect("the drill can be run");
            let passed = matches!(drilled.verdict, Verdict::Passed { .. });
            assert!(passed, "{name}, {}, seed {seed}: {:?}", drill.name, drilled.findings);
        }
    }
}

#[test]
fn each_bad_policy_breaks_what_it_says_and_nothing_else() {
    for Bad { drill, policy, breaks, file } in bad() {
        for seed in [1, 2] {
            let drilled = drill.run(&policy, seed).expect("the drill can be run");
            assert_eq!(broken(&drilled.findings), breaks, "{file}, seed {seed}");
        }
    }
}

#[test]
fn every_rule_is_seen_to_fail() {
    let files = bad();
    for drill in &DRILLS {
        for rule in drill.rules {
            let by_file =
                files.iter().any(|bad| bad.drill == drill && bad.breaks.contains(rule.text));
            let mut faults = tampered::ALL.iter().filter(|case| case.drill == drill.name);
            let by_rows = faults.any(|case| case.breaks == rule.text);
            let who = (by_file, by_rows);
            let wanted = (rule.held_by == HeldBy::Policy, rule.held_by == HeldBy::Core);
            assert_eq!(who, wanted, "{}: {}: who breaks it?", drill.name, rule.text);
        }
    }
}

#[test]
fn a_drill_finds_what_it_lists() {
    let buffered = Policy {
        streaming: windtunnel_policy::config::Streaming::BufferThenRelease,
        ..conservative()
    };
    for drill in &DRILLS {
        let mut found = BTreeSet::new();
        for policy in [&conservative(), &buffered] {
            let drilled = drill.run(policy, 1).expect("the drill can be run");
            found.extend(drilled.findings.iter().map(|finding| finding.rule.text));
        }
        let listed: BTreeSet<&str> = drill.rules.iter().map(|rule| rule.text).collect();
        assert_eq!(found, listed, "{}", drill.name);
    }
}

#[test]
fn what_does_not_apply_says_why() {
    let single = load_policy("single").expect("a shipped policy");
    for (name, reason) in [
        ("primary-down", "allow_failover"),
        ("rate-limit", "sent nothing again"),
        ("breaker", "allow_failover"),
        ("layered-loops", "recovers nothing"),
    ] {
        let drill = Drill::find(name).expect("a drill");
        match drill.run(&single, 1).expect("the drill can be run").verdict {
            Verdict::NotApplicable(given) => assert!(given.contains(reason), "{name}: {given}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn no_failover_by_accident_is_a_failure() {
    // Failover is allowed, and one attempt leaves nothing for it: that is no design.
    let mut policy = conservative();
    policy.attempts.max = 1;
    policy.attempts.max_same_target = 1;
    let drill = Drill::find("primary-down").expect("a drill");
    assert!(drill.run(&policy, 1).expect("it can be run").verdict.is_failed());
}

#[test]
fn drills_are_found_by_number_and_name() {
    assert_eq!(Drill::find("9").map(|d| d.name), Ok("late-primary"));
    assert_eq!(Drill::find("late-primary").map(|d| d.number), Ok(9));
    let text = |wanted| Drill::find(wanted).unwrap_err().to_string();
    assert!(text("late-primry").contains("did you mean `late-primary`?"));
    assert!(text("14").contains("numbered from 1 to 13"));
    assert!(text("0").contains("numbered from 1 to 13"));
}
