//! What a topology must hold beyond its types.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::config::Problem;
use crate::target::{MAX_TARGETS, RouteClass, Topology};

/// Everything wrong with a topology.
pub(crate) fn topology(topology: &Topology) -> Vec<Problem> {
    let mut problems = Vec::new();
    let targets = &topology.targets;
    if targets.is_empty() || targets.len() > MAX_TARGETS {
        problems.push(problem(
            "targets".to_string(),
            format!("{} targets", targets.len()),
            format!("name 1 to {MAX_TARGETS} targets"),
        ));
    }
    unique("targets", targets.iter().map(|t| t.name.as_str()), &mut problems);
    for (i, target) in targets.iter().enumerate() {
        if target.weight == 0 {
            problems.push(problem(
                format!("targets[{i}].weight"),
                "a weight of 0".to_string(),
                "give it at least 1, or leave the target out of the groups".to_string(),
            ));
        }
    }
    if topology.classes.is_empty() || topology.classes.len() > usize::from(u16::MAX) {
        problems.push(problem(
            "classes".to_string(),
            format!("{} route classes", topology.classes.len()),
            "name at least one".to_string(),
        ));
    }
    unique("classes", topology.classes.iter().map(|c| c.name.as_str()), &mut problems);
    for (i, class) in topology.classes.iter().enumerate() {
        groups(i, class, targets.len(), &mut problems);
    }
    problems
}

fn groups(i: usize, class: &RouteClass, targets: usize, problems: &mut Vec<Problem>) {
    if class.groups.is_empty() || class.groups.len() > usize::from(u8::MAX) {
        problems.push(problem(
            format!("classes[{i}].groups"),
            format!("{} groups", class.groups.len()),
            "name 1 to 255 groups".to_string(),
        ));
    }
    for (g, group) in class.groups.iter().enumerate() {
        let field = format!("classes[{i}].groups[{g}]");
        if group.targets.is_empty() {
            let fix = "name a target, or leave the group out".to_string();
            problems.push(problem(field.clone(), "a group without targets".to_string(), fix));
        }
        let unknown = group.targets.iter().filter(|id| usize::from(id.0) >= targets);
        problems.extend(unknown.map(|id| {
            problem(
                field.clone(),
                format!("target {} does not exist", id.0),
                format!("use a position below {targets}"),
            )
        }));
    }
}

fn unique<'a>(list: &str, names: impl Iterator<Item = &'a str>, problems: &mut Vec<Problem>) {
    let mut seen = BTreeSet::new();
    for (i, name) in names.enumerate() {
        if !seen.insert(name) {
            problems.push(problem(
                format!("{list}[{i}].name"),
                format!("the name `{name}` is taken"),
                "give each its own name".to_string(),
            ));
        }
    }
}

fn problem(field: String, message: String, fix: String) -> Problem {
    Problem { field, message, fix }
}
