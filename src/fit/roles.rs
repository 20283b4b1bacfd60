//! Which targets a class uses, in which role, and by when it needs an answer.

use super::deadlines::Deadlines;
use super::evidence::{AtClass, Use};
use super::survival::{self, Survival};

/// The product facts of a class, as far as the log shows them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Roles {
    /// Groups in order; the first is the primary.
    pub(super) groups: Vec<Vec<String>>,
    /// Whether the log names groups.
    pub(super) stated: bool,
    pub(super) deadlines: Deadlines,
    pub(super) longest_us: u64,
    /// Targets that stood in with another model.
    pub(super) substitutes: Vec<u16>,
    /// Share of requests that were refused.
    pub(super) refused: u64,
    pub(super) invalid: u64,
    pub(super) requests: u64,
    /// How long callers stay.
    pub(super) patience: Option<Survival>,
}

/// Share of first attempts from which a target counts as one of those tried first.
const TRIED_FIRST: f64 = 0.2;

impl Roles {
    pub(super) fn of(class: &AtClass, names: &[String]) -> Roles {
        let groups = groups(class);
        let name = |target: &u16| names[usize::from(*target)].clone();
        let named = groups.iter().map(|group| group.iter().map(name).collect());
        let patience = (class.cancelled.total() > 0)
            .then(|| survival::estimate(&class.cancelled, class.times.stayed()));
        Roles {
            groups: named.collect(),
            stated: states_groups(class),
            deadlines: class.times.deadlines(),
            longest_us: class.longest_us,
            substitutes: class.substitutes.clone(),
            refused: class.refused,
            invalid: class.invalid,
            requests: class.asks.len(),
            patience,
        }
    }
}

/// Those that a class tries first.
pub(super) fn first(class: &AtClass) -> Vec<u16> {
    groups(class).into_iter().next().unwrap_or_default()
}

fn groups(class: &AtClass) -> Vec<Vec<u16>> {
    if states_groups(class) { stated_groups(class) } else { by_use(class) }
}

fn states_groups(class: &AtClass) -> bool {
    class.uses.values().any(|used| !used.groups.is_empty())
}

/// Targets by the group they were most often used in; within it the most used goes first.
fn stated_groups(class: &AtClass) -> Vec<Vec<u16>> {
    let group_of =
        |used: &Use| used.groups.iter().max_by_key(|(_, count)| **count).map(|(g, _)| *g);
    let last = u8::MAX;
    let mut placed: Vec<(u8, u64, u16)> = class
        .uses
        .iter()
        .map(|(target, used)| (group_of(used).unwrap_or(last), u64::MAX - used.attempts, *target))
        .collect();
    placed.sort_unstable();
    placed
        .chunk_by(|a, b| a.0 == b.0)
        .map(|group| group.iter().map(|place| place.2).collect())
        .collect()
}

/// Whoever is asked that much later among a request's attempts, on average, is in a group of its own: in
/// the next group it would be a whole attempt.
const LATER: f64 = 0.5;

/// Those tried first, then the others in the order of their use, each with those that are asked as late.
fn by_use(class: &AtClass) -> Vec<Vec<u16>> {
    let all: u64 = class.uses.values().map(|used| used.first).sum();
    let most = class.uses.values().map(|used| used.first).max().unwrap_or(0);
    let is_first = |used: &Use| used.first == most || used.first as f64 > TRIED_FIRST * all as f64;
    let mut first: Vec<(u64, u16)> = Vec::new();
    let mut later: Vec<(f64, u16)> = Vec::new();
    for (target, used) in &class.uses {
        if is_first(used) {
            first.push((u64::MAX - used.first, *target));
        } else {
            later.push((used.positions as f64 / used.attempts.max(1) as f64, *target));
        }
    }
    first.sort_unstable();
    later.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut groups: Vec<Vec<u16>> = vec![first.into_iter().map(|(_, target)| target).collect()];
    let mut begins = f64::NEG_INFINITY;
    for (position, target) in later {
        match groups.last_mut() {
            Some(group) if position - begins < LATER => group.push(target),
            _ => {
                groups.push(vec![target]);
                begins = position;
            }
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn who_is_asked_as_late_is_of_one_group() {
        let used = |attempts, first, positions| Use {
            attempts,
            first,
            positions,
            groups: BTreeMap::new(),
        };
        let uses = BTreeMap::from([
            (0, used(66, 0, 70)),
            (1, used(1_000, 990, 10)),
            (2, used(75, 1, 74)),
            (3, used(20, 0, 41)),
        ]);
        let class = AtClass { uses, ..AtClass::default() };
        assert_eq!(by_use(&class), [vec![1], vec![2, 0], vec![3]]);
    }
}
