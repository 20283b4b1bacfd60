//! What to change, and why.

use serde::Serialize;

use super::Question;
use super::believe::Believed;
use super::otherwise::Sensitivity;
use super::policy::PolicyFinding;
use super::policy_diff::{self, Change};
use super::unseen::nowhere_else;

/// What to change.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Recommended {
    /// The policy, where one is clearly better.
    pub policy: Option<String>,
    /// In words.
    pub because: Vec<String>,
    /// What is different in it.
    pub changes: Vec<Change>,
}

/// The policy that clearly answers most, unless something speaks against it.
pub(super) fn recommend(
    question: &Question<'_>,
    policies: &[PolicyFinding],
    sensitivity: &[Sensitivity],
    believed: Option<&Believed>,
    cautions: &[String],
) -> Recommended {
    let gain = |policy: &PolicyFinding| {
        let success = policy.differences.first()?;
        success.difference.filter(|gain| success.clear && *gain > 0.0)
    };
    let better = policies.iter().enumerate().filter_map(|(i, p)| Some((i, gain(p)?)));
    let best = better.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    let unlike = believed.is_some_and(|believed| believed.reproduces == Some(false));
    let Some((best, gain)) = best else {
        let mut because = vec!["no policy answers clearly more than the one in force".to_owned()];
        if unlike {
            because.push(
                "but the log is NOT REPRODUCED: nothing is said of what they would have answered"
                    .into(),
            );
        }
        if question.log.is_some() && nowhere_else(question.scenario) {
            because.push(
                "but there is one target here for each request, and none of them fails over: `--target CARD` brings in another"
                    .into(),
            );
        }
        return Recommended { policy: None, because, changes: Vec::new() };
    };
    let policy = &policies[best];
    let mut because = vec![format!(
        "`{}` answers {:.3} pp more than `{}`, {}",
        policy.name,
        gain * 100.0,
        policies[0].name,
        if unlike { "in that world alone" } else { "clear at 95 %" }
    )];
    let changes = policy_diff::changes(&question.policies[0], &question.policies[best]);
    if changes.is_empty() {
        because.push("its rules are those in force: what is new is where it can go".into());
    }
    let worse =
        |case: &&Sensitivity| case.success[best].unwrap_or(0.0) < case.success[0].unwrap_or(0.0);
    let against: Vec<&Sensitivity> = sensitivity.iter().filter(worse).collect();
    for case in &against {
        because.push(format!("but it answers less if {}", case.what));
    }
    if question.timeline.is_some() {
        because
            .push("no log stands behind it: hold it against your own before you rely on it".into());
    }
    if against.is_empty() && !sensitivity.is_empty() {
        because.push(format!(
            "it answers no less in any of the worlds that the {} cannot tell from this one",
            if question.timeline.is_some() { "timeline" } else { "log" }
        ));
    }
    let reproduced = believed.is_none_or(|believed| believed.reproduces == Some(true));
    if believed.is_some_and(|believed| believed.reproduces.is_none()) {
        because.push("but the log tells too little to hold the simulation against it".into());
    } else if !reproduced {
        because.push(
            "but the log is NOT REPRODUCED: what is found in a world that does not do what the log says is no ground for a change"
                .into(),
        );
    }
    because.extend(cautions.iter().map(|caution| format!("but {caution}")));
    // A world that is off in success by as much as a policy gains says nothing of that gain.
    let success = believed.and_then(|believed| believed.checks.first());
    let off = success.filter(|check| check.outside());
    let off = off.and_then(|check| Some((check.simulated? - check.logged?).abs()));
    let buried = reproduced && off.is_some_and(|off| off >= gain);
    if let Some(off) = off.filter(|_| buried) {
        because.push(format!(
            "but the simulated success is off by {:.3} pp from the log's, tolerated and yet no less than that gain",
            off * 100.0
        ));
    }
    Recommended {
        policy: (against.is_empty() && reproduced && !buried && cautions.is_empty())
            .then(|| policy.name.clone()),
        because,
        changes,
    }
}
