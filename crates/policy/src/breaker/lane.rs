//! Which requests meet the same breakers of a target.

use alloc::vec::Vec;

use crate::config::{Breaker, KeyPart};
use crate::target::{Capabilities, MAX_TARGETS, RouteClass, TargetId, Topology};

/// Requests that meet the same breakers: of route classes that require the same capabilities, or of all
/// where no rule is keyed by that. It is where their cells begin, one for each target.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Lane(u16);

/// The breakers of one target in one lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Cell(u16);

const _: () = assert!(
    MAX_TARGETS << Capabilities::NAMES.len() <= 1 << 16,
    "a cell for each target and each set of capabilities has a number"
);

/// What tells the lanes apart.
#[derive(Clone, Debug)]
pub(crate) struct Lanes {
    /// What each lane's classes require; empty where there is one lane for all.
    required: Vec<Capabilities>,
    targets: usize,
}

impl Lanes {
    /// The lanes that these rules tell apart.
    pub(crate) fn new(rules: &[Breaker], topology: &Topology) -> Lanes {
        let mut required = Vec::new();
        if rules.iter().any(|rule| rule.key.contains(&KeyPart::Capability)) {
            required = topology.classes.iter().map(|class| class.required).collect();
            required.sort_unstable();
            required.dedup();
        }
        Lanes { required, targets: topology.targets.len() }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.required.len().max(1)
    }

    /// The lane of a class's requests.
    pub(crate) fn of(&self, class: &RouteClass) -> Lane {
        let number = self.required.iter().position(|set| *set == class.required).unwrap_or(0);
        Lane((number * self.targets) as u16)
    }

    /// What each lane's classes require, in order; `None` once where there is one lane for all.
    pub(super) fn required(&self) -> impl Iterator<Item = Option<Capabilities>> {
        let only = self.required.is_empty().then_some(None);
        only.into_iter().chain(self.required.iter().copied().map(Some))
    }
}

impl Lane {
    /// The only one of most policies.
    #[cfg(test)]
    pub(super) const FIRST: Lane = Lane(0);

    /// The cell of a target.
    #[inline(always)]
    pub(super) const fn cell(self, target: TargetId) -> Cell {
        Cell(self.0 + target.0)
    }
}

impl Cell {
    /// The first of all.
    pub(super) const FIRST: Cell = Cell(0);

    /// Its place among all cells: lane by lane, in each target by target.
    #[inline(always)]
    pub(super) const fn place(self) -> usize {
        self.0 as usize
    }
}
