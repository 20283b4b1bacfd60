//! Targets that no request reaches, and wait hints that are cut short.

use windtunnel_policy::config::{BudgetScope, RetryAfterMode, Strategy};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Money};

use super::Warnings;
use crate::input::{InputError, Place, did_you_mean};
use crate::scenario::{RetryAfterForm, Scenario};

/// Targets in no group of any class, and members of groups that can serve nobody there.
pub(super) fn idle_targets(scenario: &Scenario) -> Vec<InputError> {
    let at = Place::root(&scenario.source);
    let topology = &scenario.topology;
    let mut found = Vec::new();
    for (i, target) in topology.targets.iter().enumerate() {
        let id = TargetId(i as u16);
        let mut groups = topology.classes.iter().flat_map(|class| &class.groups);
        if !groups.any(|group| group.targets.contains(&id)) {
            let message = "stands in no group of any class: nothing is ever sent there";
            let at = at.key("targets").key(&target.name);
            found.push(at.error(message).fix("name it in `groups`, or remove it"));
        }
    }
    for class in &topology.classes {
        let at = at.key("classes").key(&class.name).key("groups");
        let own = &topology.targets[usize::from(class.groups[0].targets[0].0)].model;
        for id in class.groups.iter().flat_map(|group| &group.targets) {
            let target = &topology.targets[usize::from(id.0)];
            let approved = target.model == *own || class.substitutes.contains(&target.model);
            let able = target.capabilities.covers(class.required);
            let why = match (approved, able) {
                (true, true) if class.needs.met_by(target) => continue,
                (true, true) => "promises less than `needs` asks for".to_owned(),
                (false, _) => {
                    format!("runs {}, which `substitutes` does not approve", target.model)
                }
                (true, false) => "lacks a capability that `required` asks for".to_owned(),
            };
            let message = format!("{} {why}: nothing of the class is ever sent there", target.name);
            found.push(at.error(message).fix("approve it, or take it out of the group"));
        }
    }
    found
}

/// Route classes that a policy speaks of, and that are not there.
pub(super) fn classes(warnings: &mut Warnings<'_>, scenario: &Scenario) {
    let known = || scenario.topology.classes.iter().map(|class| class.name.as_str());
    let unknown = |name: &&String| known().all(|class| class != name.as_str());
    for name in warnings.policy.classes.keys().filter(unknown) {
        let message = format!("no route class of {} is called that", scenario.file.name);
        let at = warnings.file.key("classes").key(name);
        warnings.found.push(at.error(message).fix(did_you_mean(name, "class", known())));
    }
}

/// Targets behind more targets than there are attempts, where nothing makes a request pass one by.
pub(super) fn check(warnings: &mut Warnings<'_>, scenario: &Scenario, class: usize) {
    let policy = warnings.policy;
    let (attempts, facts) = (&policy.attempts, &scenario.topology.classes[class]);
    let doors = policy.groups.rules().any(|(_, rule)| rule.admission.is_some());
    let passes_by = doors || !policy.breakers.is_empty() || facts.max_cost < Money::MAX;
    let ordered = policy.selection.strategy == Strategy::Ordered;
    if passes_by || !ordered || !warnings.leaves_target() || attempts.scope != BudgetScope::Request
    {
        return;
    }
    let serves = |id: &TargetId| facts.accepts(&scenario.topology.targets[usize::from(id.0)]);
    let members = facts.groups.iter().flat_map(|group| group.targets.iter().copied());
    let targets: Vec<TargetId> = members.filter(serves).collect();
    let beyond = targets.iter().skip(attempts.max.into());
    let names: Vec<&str> =
        beyond.map(|id| scenario.topology.targets[usize::from(id.0)].name.as_str()).collect();
    if !names.is_empty() {
        let message = format!(
            "{} attempts do not reach {} of class {} in {}: so many targets come before, and no \
             breaker takes one out",
            attempts.max,
            names.join(", "),
            facts.name,
            scenario.file.name
        );
        warnings.add("attempts.max", message, "raise it, or add breakers");
    }
}

/// Targets whose expected latency refuses every recovery there, until it was seen to be less.
pub(super) fn priors(warnings: &mut Warnings<'_>, scenario: &Scenario, class: usize) {
    let envelope = &warnings.policy.envelope;
    let recovers = warnings.retries() > 0 || warnings.leaves_target();
    if !envelope.estimate.enabled || envelope.estimate.prior.is_some() || !recovers {
        return;
    }
    let facts = &scenario.topology.classes[class];
    let cut = warnings.policy.timeouts.attempt.unwrap_or(Duration::MAX);
    let targets = facts.groups.iter().flat_map(|group| &group.targets);
    let too_slow: Vec<&str> = targets
        .map(|id| &scenario.topology.targets[usize::from(id.0)])
        .filter(|target| {
            target.prior_latency.min(cut) + envelope.safety_margin >= facts.deadline_total
        })
        .map(|target| target.name.as_str())
        .collect();
    if !too_slow.is_empty() {
        let message = format!(
            "expects attempts at {} to take longer than the deadline of class {} in {}: until {} \
             outcomes were seen there, no recovery goes there",
            too_slow.join(", "),
            facts.name,
            scenario.file.name,
            envelope.estimate.min_samples
        );
        warnings.add("envelope.estimate", message, "state a prior, or switch the estimate off");
    }
}

/// Hints that a cap cuts to less than what a provider asks for.
pub(super) fn hints(warnings: &mut Warnings<'_>, scenario: &Scenario) {
    let RetryAfterMode::CapAt(cap) = warnings.policy.retry_after.mode else { return };
    if warnings.retries() == 0 {
        return;
    }
    for target in &scenario.targets {
        let hints = target.failures.mix.iter().filter_map(|kind| kind.retry_after);
        let limits = target.limits.iter().map(|limit| &scenario.limits[usize::from(*limit)].spec);
        let stated = limits.filter_map(|limit| match limit.retry_after {
            RetryAfterForm::Fixed(hint) => Some(hint),
            _ => None,
        });
        if let Some(most) = hints.chain(stated).max().filter(|hint| *hint > cap) {
            let message = format!(
                "cuts to {cap} what {} asks for in {}, {most}: a retry comes before it is welcome",
                target.name, scenario.file.name
            );
            warnings.add("retry_after.mode", message, "raise the cap, or fail over instead");
        }
    }
}
