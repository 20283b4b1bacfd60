//! Rules of groups that nothing ever comes under.

use windtunnel_policy::config::{BudgetScope, GroupOrder, Priority};
use windtunnel_policy::target::{Group, Role, RouteClass, Topology};

use super::Warnings;
use crate::scenario::Scenario;

/// Limits of one group above those of the whole.
pub(super) fn check(warnings: &mut Warnings<'_>) {
    let (policy, limits) = (warnings.policy, &warnings.policy.attempts);
    if limits.scope != BudgetScope::Request {
        return;
    }
    for (field, rule) in policy.groups.rules() {
        for (limit, name) in [(rule.max, "max"), (rule.max_same_target, "max_same_target")] {
            if let Some(limit) = limit.filter(|limit| *limit > limits.max) {
                let message =
                    format!("{limit} never binds: attempts.max allows {} in all", limits.max);
                let field = format!("{field}.{name}");
                warnings.add(&field, message, "lower it, or raise attempts.max");
            }
        }
    }
}

/// Rules of groups that a scenario does not have, and limits that all its requests do not reach.
pub(super) fn check_scenario(warnings: &mut Warnings<'_>, scenario: &Scenario) {
    let topology = &scenario.topology;
    parts(warnings, scenario, topology);
    rates(warnings, scenario);
    let one_group = |class: &RouteClass| class.groups.len() == 1;
    if warnings.policy.selection.groups != GroupOrder::Listed
        && topology.classes.iter().all(one_group)
    {
        let message = format!("orders nothing: no class of {} has two groups", scenario.file.name);
        warnings.add("selection.groups", message, "leave it out");
    }
    let same_priorities = |group: &Group| {
        let priority =
            |id: &windtunnel_policy::target::TargetId| topology.targets[usize::from(id.0)].priority;
        group.targets.windows(2).all(|pair| priority(&pair[0]) == priority(&pair[1]))
    };
    let mut groups = topology.classes.iter().flat_map(|class| &class.groups);
    if warnings.policy.selection.priority != Priority::Highest && groups.all(same_priorities) {
        let message = format!(
            "changes nothing: the targets of a group in {} have one priority",
            scenario.file.name
        );
        warnings.add("selection.priority", message, "leave it out, or give targets priorities");
    }
}

fn parts(warnings: &mut Warnings<'_>, scenario: &Scenario, topology: &Topology) {
    let groups = &warnings.policy.groups;
    let has = |role: Role| {
        topology.classes.iter().flat_map(|class| &class.groups).any(|group| group.role == role)
    };
    let nothing = Default::default();
    let mut unused = Vec::new();
    for i in 0..groups.fallbacks.len() {
        if !has(Role::Fallback(i as u8 + 1)) {
            unused.push(format!("groups.fallbacks[{i}]"));
        }
    }
    if groups.cheaper != nothing && !has(Role::Cheaper) {
        unused.push("groups.cheaper".into());
    }
    if groups.larger_window != nothing && !has(Role::LargerWindow) {
        unused.push("groups.larger_window".into());
    }
    for field in unused {
        let message = format!("no class of {} has such a group", scenario.file.name);
        warnings.add(&field, message, "leave it out, or add the group");
    }
}

/// A limit a minute that all requests of a run together do not reach.
fn rates(warnings: &mut Warnings<'_>, scenario: &Scenario) {
    let attempts = f64::from(warnings.policy.attempts.max);
    let most = scenario.classes.iter().map(|class| class.expected).fold(0.0, f64::max);
    for (field, rule) in warnings.policy.groups.rules() {
        let Some(admission) = &rule.admission else { continue };
        if f64::from(admission.rpm) > most * attempts {
            let message = format!(
                "{} a minute never binds: no class of {} asks so often in all of it",
                admission.rpm, scenario.file.name
            );
            warnings.add(&format!("{field}.admission.rpm"), message, "lower it, or remove it");
        }
    }
}
