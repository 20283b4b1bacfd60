//! What a request has tried: attempts on each target and in each group.

use crate::target::TargetId;

/// What a request tried so far.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    targets: &'a mut [u16],
    groups: &'a mut [u16],
}

impl<'a> Tally<'a> {
    /// Counts by target, of so many targets, then by group.
    #[inline]
    pub(crate) fn new(counts: &'a mut [u16], of_targets: usize) -> Tally<'a> {
        let (targets, groups) = counts.split_at_mut(of_targets);
        Tally { targets, groups }
    }

    /// What it tried on a target.
    #[inline]
    pub(crate) fn on_target(&self, target: TargetId) -> Tried {
        let count = self.targets[usize::from(target.0)];
        Tried { attempts: count & !EXCLUDED, excluded: count & EXCLUDED != 0 }
    }

    /// Attempts it made in a group.
    #[inline]
    pub(crate) fn in_group(&self, group: u8) -> u16 {
        self.groups[usize::from(group)]
    }

    /// Forbids a target to the rest of the request.
    pub(crate) fn exclude(&mut self, target: TargetId) {
        self.targets[usize::from(target.0)] |= EXCLUDED;
    }

    /// Counts an attempt; how many it made in the group before.
    #[inline]
    pub(crate) fn count(&mut self, target: TargetId, group: u8) -> u16 {
        let on_target = &mut self.targets[usize::from(target.0)];
        *on_target += u16::from(*on_target & !EXCLUDED < EXCLUDED - 1);
        let in_group = &mut self.groups[usize::from(group)];
        let before = *in_group;
        *in_group = before.saturating_add(1);
        before
    }
}

/// What a request tried on one target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tried {
    /// Attempts there.
    pub(crate) attempts: u16,
    /// The latest failure there forbids another.
    pub(crate) excluded: bool,
}

/// Marks a target whose latest failure forbids another attempt there.
const EXCLUDED: u16 = 1 << 15;
