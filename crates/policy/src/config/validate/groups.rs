//! What the rules of single groups must hold.

use alloc::format;

use super::Problems;
use crate::config::{AdmissionWindow, GroupRule, Groups};

/// More a minute than any group of targets serves.
const MOST_RPM: u32 = 1_000_000;
/// A class has no more fallback groups.
const MOST_FALLBACKS: usize = 32;

pub(super) fn check(groups: &Groups, found: &mut Problems) {
    for (field, rule) in groups.rules() {
        rule_of(rule, &field, found);
    }
    found.check(
        groups.fallbacks.len() <= MOST_FALLBACKS,
        "groups.fallbacks",
        "has more than 32 rules",
        "the last one holds for all groups after it",
    );
}

fn rule_of(rule: &GroupRule, field: &str, found: &mut Problems) {
    for (limit, name) in [(rule.max, "max"), (rule.max_same_target, "max_same_target")] {
        let fix = "use 1 or more, or leave it out for no limit of its own";
        found.check(limit != Some(0), &format!("{field}.{name}"), "is 0", fix);
    }
    let Some(admission) = &rule.admission else { return };
    found.check(
        (1..=MOST_RPM).contains(&admission.rpm),
        &format!("{field}.admission.rpm"),
        "is 0 or above 1000000",
        "use 1 to 1000000, or leave admission out to let all in",
    );
    if let AdmissionWindow::Paced(burst) = admission.window {
        found.check(
            (1..=admission.rpm.max(1)).contains(&burst),
            &format!("{field}.admission.window"),
            "lets in at once none, or more than a minute's worth",
            "use 1 to rpm",
        );
    }
}
