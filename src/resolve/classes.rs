//! Route classes: product facts, and groups of targets by role.

use std::collections::{BTreeMap, BTreeSet};

use windtunnel_policy::target::{Group, Role, RouteClass, TargetId};
use windtunnel_policy::{Duration, Money};

use super::card::capabilities;
use super::targets::Resolved;
use super::traffic::Load;
use super::{contracts, id, layers, tools};
use crate::input::{InputError, Place, did_you_mean};
use crate::scenario::{ClassModel, ClassSpec, Deadline, ScenarioFile, TargetModel};

/// The whole answer is due after this where a class names no deadline: as long as the official
/// clients wait by default.
const DEADLINE: Duration = Duration::from_secs(600);
/// No deadline is longer: every measured request is closed by then.
const LONGEST_DEADLINE: Duration = Duration::from_secs(7 * 86_400);
/// Roles number the fallback groups in eight bits; nobody has so many.
const MOST_FALLBACKS: usize = 32;

/// The classes as the simulator and as the policy core see them, both sorted by name.
pub(super) struct Classes {
    pub(super) models: Vec<ClassModel>,
    pub(super) facts: Vec<RouteClass>,
}

pub(super) fn resolve(
    file: &ScenarioFile,
    targets: &[&TargetModel],
    loads: &[Load],
    at: &Place<'_>,
) -> Result<Classes, InputError> {
    debug_assert_eq!(loads.len(), file.classes.len(), "one load per class");
    let positions: BTreeMap<&str, TargetId> =
        targets.iter().enumerate().map(|(i, target)| (target.name.as_str(), id(i))).collect();
    let mut classes = Classes { models: Vec::new(), facts: Vec::new() };
    for (name, spec) in &file.classes {
        let at = at.key("classes").key(name);
        let facts = facts(name, spec, &positions, targets, &at)?;
        let reference = match &file.reference_target {
            Some(target) => positions[target.as_str()],
            None => facts.groups[0].targets[0],
        };
        classes.models.push(ClassModel {
            name: name.clone(),
            deadline: facts.deadline_total,
            reference,
            outer: layers::outer(spec, targets, &at)?,
            retries: spec.retries.clone(),
            tenant: spec.tenant.as_ref().map(|tenant| {
                file.tenants.keys().position(|name| name == tenant).expect("a known tenant") as u16
            }),
            expected: 0.0,
            tool: tools::resolve(spec, &at)?,
            judged: contracts::judged(spec, &at)?,
            shared_prefix: spec.traffic.shared_prefix,
            recorded: None,
        });
        classes.facts.push(facts);
    }
    Ok(classes)
}

/// At least one target of every class can do what the class requires.
pub(super) fn check_capabilities(
    file: &ScenarioFile,
    targets: &[Resolved<'_>],
    classes: &[RouteClass],
    at: &Place<'_>,
) -> Result<(), InputError> {
    for (class, spec) in classes.iter().zip(file.classes.values()) {
        let mut members = class.groups.iter().flat_map(|group| &group.targets);
        let able = |id: &TargetId| targets[usize::from(id.0)].facts.capabilities;
        if !members.any(|id| able(id).covers(class.required)) {
            let at = at.key("classes").key(&class.name).key("required");
            let message = format!("no target of the class can do {}", spec.required.join(", "));
            return Err(at.error(message).fix("see `capabilities` in the model cards"));
        }
    }
    Ok(())
}

fn facts(
    name: &str,
    spec: &ClassSpec,
    positions: &BTreeMap<&str, TargetId>,
    targets: &[&TargetModel],
    at: &Place<'_>,
) -> Result<RouteClass, InputError> {
    let (deadline_total, deadline_first_output) = deadlines(&spec.deadline, &at.key("deadline"))?;
    if spec.max_cost == Some(Money::ZERO) {
        return Err(at.key("max_cost").error("is zero").fix("leave it out for no ceiling"));
    }
    let models: BTreeSet<&str> = targets.iter().map(|target| target.model.as_str()).collect();
    for (i, model) in spec.substitutes.iter().enumerate() {
        if !models.contains(model.as_str()) {
            let message = format!("no target runs the model `{model}`");
            let fix = did_you_mean(model, "model", models.iter().copied());
            return Err(at.key("substitutes").index(i).error(message).fix(fix));
        }
    }
    Ok(RouteClass {
        name: name.to_owned(),
        deadline_total,
        deadline_first_output,
        side_effects: spec.side_effects,
        required: capabilities(&spec.required, &at.key("required"))?,
        needs: contracts::needs(spec.needs.as_ref(), &at.key("needs"))?,
        substitutes: spec.substitutes.clone(),
        max_cost: spec.max_cost.unwrap_or(Money::MAX),
        groups: groups(spec, positions, &at.key("groups"))?,
    })
}

/// Total and first output.
fn deadlines(spec: &Deadline, at: &Place<'_>) -> Result<(Duration, Duration), InputError> {
    for (key, deadline) in [("first_output", spec.first_output), ("total", spec.total)] {
        match deadline {
            Some(Duration::ZERO) => {
                return Err(at.key(key).error("is zero").fix("no answer comes in no time"));
            }
            Some(long) if long > LONGEST_DEADLINE => {
                return Err(at.key(key).error("is longer than 7d"));
            }
            _ => {}
        }
    }
    let total = spec.total.unwrap_or(DEADLINE);
    match spec.first_output {
        Some(first) if first > total => {
            let message = format!("{first} is after the deadline of the whole answer, {total}");
            Err(at.key("first_output").error(message))
        }
        first => Ok((total, first.unwrap_or(Duration::MAX))),
    }
}

fn groups(
    spec: &ClassSpec,
    positions: &BTreeMap<&str, TargetId>,
    at: &Place<'_>,
) -> Result<Vec<Group>, InputError> {
    let groups = &spec.groups;
    let primary = at.key("primary");
    if groups.primary.is_empty() {
        return Err(primary.error("names no target").fix("add at least one"));
    }
    if groups.fallbacks.len() > MOST_FALLBACKS {
        return Err(at.key("fallbacks").error(format!("more than {MOST_FALLBACKS} groups")));
    }
    let mut out = vec![Group {
        role: Role::Primary,
        targets: members(&groups.primary, positions, &primary)?,
    }];
    for (i, names) in groups.fallbacks.iter().enumerate() {
        let at = at.key("fallbacks").index(i);
        if names.is_empty() {
            return Err(at.error("names no target").fix("leave the group out"));
        }
        let number = u8::try_from(i + 1).expect("at most 32 groups");
        let targets = members(names, positions, &at)?;
        let twice = |id: &TargetId| out.iter().any(|group| group.targets.contains(id));
        if let Some(position) = targets.iter().position(twice) {
            let message = format!("`{}` already stands in an earlier group", names[position]);
            return Err(at.index(position).error(message).fix("keep one of them"));
        }
        out.push(Group { role: Role::Fallback(number), targets });
    }
    for (role, key, names) in [
        (Role::Cheaper, "cheaper", &groups.cheaper),
        (Role::LargerWindow, "larger_window", &groups.larger_window),
    ] {
        if !names.is_empty() {
            out.push(Group { role, targets: members(names, positions, &at.key(key))? });
        }
    }
    Ok(out)
}

fn members(
    names: &[String],
    positions: &BTreeMap<&str, TargetId>,
    at: &Place<'_>,
) -> Result<Vec<TargetId>, InputError> {
    let mut out = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let at = at.index(i);
        let id = *positions.get(name.as_str()).ok_or_else(|| {
            let fix = did_you_mean(name, "target", positions.keys().copied());
            at.error(format!("no target is called `{name}`")).fix(fix)
        })?;
        if out.contains(&id) {
            return Err(at.error(format!("`{name}` stands in the group twice")));
        }
        out.push(id);
    }
    Ok(out)
}
