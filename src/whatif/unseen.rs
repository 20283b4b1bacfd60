//! Targets that the log does not show: brought in by their cards, or missed by policies that would go there.

use windtunnel_policy::config::Policy;
use windtunnel_policy::target::Topology;

use super::Question;
use crate::scenario::{Scenario, TargetModel};

/// The names of targets that the log does not show.
pub(super) fn unseen<'a>(question: &Question<'a>) -> Vec<&'a str> {
    let Some((fit, _)) = question.log else { return Vec::new() };
    let names = question.scenario.targets.iter().map(|target| target.name.as_str());
    names.filter(|name| fit.position(name).is_none()).collect()
}

/// What speaks against relying on targets that the log does not show: who runs them runs one of the log's too.
pub(super) fn of_the_same_provider(question: &Question<'_>) -> Vec<String> {
    let unseen = unseen(question);
    let (brought, logged): (Vec<&TargetModel>, Vec<&TargetModel>) =
        question.scenario.targets.iter().partition(|target| unseen.contains(&&*target.name));
    let of = |target: &&TargetModel| {
        let beside = logged.iter().find(|of| of.provider.eq_ignore_ascii_case(&target.provider))?;
        Some(format!(
            "`{}` is run by `{}`, as `{}` is: what befell that is not taken to have befallen it, and mostly it would have",
            target.name, target.provider, beside.name
        ))
    };
    brought.iter().filter_map(of).collect()
}

/// What the policy in force chose from: nothing that the log does not show. None where it shows all.
pub(super) fn as_logged(question: &Question<'_>) -> Option<Topology> {
    let unseen = unseen(question);
    if unseen.is_empty() {
        return None;
    }
    let mut topology = question.scenario.topology.clone();
    let targets = &question.scenario.targets;
    for class in &mut topology.classes {
        let mut groups = class.groups.clone();
        for group in &mut groups {
            group.targets.retain(|id| !unseen.contains(&&*targets[usize::from(id.0)].name));
        }
        groups.retain(|group| !group.targets.is_empty());
        // A class that the log does not show is as it was written.
        if !groups.is_empty() {
            class.groups = groups;
        }
    }
    Some(topology)
}

/// Whether no request of this world has more than one target to go to.
pub(super) fn nowhere_else(scenario: &Scenario) -> bool {
    let targets = |class: &windtunnel_policy::target::RouteClass| {
        class.groups.iter().map(|group| group.targets.len()).sum::<usize>()
    };
    scenario.topology.classes.iter().all(|class| targets(class) <= 1)
}

/// Whether a policy sends a request, in some class of this world, to more than one target if there are more.
pub fn goes_elsewhere(policy: &Policy, scenario: &Scenario) -> bool {
    let goes = |class: &str| {
        let (attempts, _) = policy.limits_of(class);
        attempts.max > 1 && (attempts.allow_failover || attempts.allow_substitution)
    };
    policy.hedge.is_some() || scenario.classes.iter().any(|class| goes(&class.name))
}
