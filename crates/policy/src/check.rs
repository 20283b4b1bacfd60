//! What a topology must hold beyond its types.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::breaker::Lanes;
use crate::config::{Policy, Problem};
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

/// What is wrong with the breakers of a policy over this topology.
pub(crate) fn breakers(policy: &Policy, topology: &Topology) -> Option<Problem> {
    let lanes = Lanes::new(&policy.breakers, topology).len();
    let most = policy.breakers.len() * topology.targets.len() * lanes;
    (most > usize::from(u16::MAX)).then(|| {
        problem(
            "breakers".to_string(),
            format!("{most} breakers at most, by their rules, for {lanes} sets of capabilities"),
            "key fewer rules by capability".to_string(),
        )
    })
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

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::config::{Breaker, KeyPart};
    use crate::target::testing::{self, target};
    use crate::target::{Capabilities, Role, TargetId};

    #[test]
    fn a_sound_topology_has_no_problem() {
        let targets = vec![target("a", "p", "m", "r"), target("b", "p", "m", "r")];
        assert_eq!(topology(&testing::topology(targets, &[&[0], &[1]])), []);
    }

    #[test]
    fn every_fault_is_named_by_its_place() {
        let mut twice = testing::topology(
            vec![target("a", "p", "m", "r"), target("a", "p", "m", "r")],
            &[&[0, 7], &[1]],
        );
        twice.targets[1].weight = 0;
        twice.classes.push(twice.classes[0].clone());
        twice.classes[1].groups =
            vec![crate::target::Group { role: Role::Primary, targets: vec![] }];
        let mut unnamed = twice.classes[0].clone();
        unnamed.name = "other".into();
        unnamed.groups = vec![];
        twice.classes.push(unnamed);
        let fields: Vec<String> = topology(&twice).into_iter().map(|p| p.field).collect();
        assert_eq!(
            fields,
            [
                "targets[1].name",
                "targets[1].weight",
                "classes[1].name",
                "classes[0].groups[0]",
                "classes[1].groups[0]",
                "classes[2].groups",
            ]
        );
    }

    #[test]
    fn sizes_are_bounded() {
        let named = |i: u16| target(&format!("t{i}"), "p", "m", "r");
        let most = testing::topology((0..256).map(named).collect(), &[&[255]]);
        assert_eq!(topology(&most), []);
        let over = testing::topology((0..257).map(named).collect(), &[&[0]]);
        assert_eq!(topology(&over)[0].field, "targets");
        let empty = Topology::default();
        let fields: Vec<String> = topology(&empty).into_iter().map(|p| p.field).collect();
        assert_eq!(fields, ["targets", "classes"]);
    }

    #[test]
    fn breakers_keep_to_their_numbers() {
        let named = |i: u16| target(&format!("t{i}"), "p", "m", "r");
        let mut wide = testing::topology((0..256).map(named).collect(), &[&[0]]);
        let tools = Capabilities::named("tools").expect("a capability");
        for i in 0..8 {
            let name = Capabilities::NAMES[i];
            let required = tools.with(Capabilities::named(name).expect("a capability"));
            let class = RouteClass { name: name.into(), required, ..wide.classes[0].clone() };
            wide.classes.push(class);
        }
        // 32 rules × 256 targets × (none, tools, and tools with each of seven others).
        let mut policy = Policy { breakers: vec![Breaker::default(); 32], ..Policy::default() };
        assert_eq!(breakers(&policy, &wide), None);
        policy.breakers[0].key.push(KeyPart::Capability);
        let problem = breakers(&policy, &wide).expect("more than 65,535");
        assert!(problem.message.starts_with("73728 breakers"), "{problem}");
        policy.breakers.truncate(28);
        assert_eq!(breakers(&policy, &wide), None);
    }

    #[test]
    fn unknown_ids_are_named() {
        let lost = testing::topology(vec![target("a", "p", "m", "r")], &[&[3]]);
        assert_eq!(lost.classes[0].groups[0].targets, [TargetId(3)]);
        assert_eq!(topology(&lost)[0].message, "target 3 does not exist");
    }
}
