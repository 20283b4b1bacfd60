//! What a request has tried: attempts on each target and in each group.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::slots::Slot;
use crate::target::TargetId;

/// What every open request tried. The counts of a free slot are zero.
#[derive(Clone, Debug)]
pub(crate) struct Tallies {
    /// Slot by slot: a count for each target, then one for each group.
    counts: Vec<u16>,
    targets: usize,
    groups: usize,
}

impl Tallies {
    /// No slots, for a topology of so many targets and groups a class at most.
    pub(crate) fn new(targets: usize, groups: usize) -> Tallies {
        Tallies { counts: Vec::new(), targets, groups }
    }

    /// Room for one more slot.
    pub(crate) fn grow(&mut self) {
        self.counts.resize(self.counts.len() + self.stride(), 0);
    }

    /// What the request of a slot tried.
    #[inline]
    pub(crate) fn of(&mut self, slot: &Slot) -> Tally<'_> {
        let start = slot.handle.slot as usize * self.stride();
        let counts = &mut self.counts[start..];
        let (targets, rest) = counts.split_at_mut(self.targets);
        Tally { targets, groups: &mut rest[..self.groups] }
    }

    /// The request of a slot is closed: nothing of what it tried matters any longer.
    #[inline(always)]
    pub(crate) fn clear(&mut self, slot: &Slot) {
        let Tally { targets, groups } = self.of(slot);
        // Nearly always one attempt has made two counts.
        if slot.attempts == 1 {
            targets[usize::from(slot.flight.target.0)] = 0;
            groups[usize::from(slot.flight.group)] = 0;
        } else if slot.attempts > 1 {
            targets.fill(0);
            groups.fill(0);
        }
    }

    /// As new, the memory kept.
    pub(crate) fn reset(&mut self) {
        self.counts.fill(0);
    }

    /// Hashes what the request of a slot tried.
    pub(crate) fn hash_slot<H: Hasher>(&self, slot: &Slot, state: &mut H) {
        let start = slot.handle.slot as usize * self.stride();
        self.counts[start..start + self.stride()].hash(state);
    }

    fn stride(&self) -> usize {
        self.targets + self.groups
    }
}

/// What a request tried so far.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    targets: &'a mut [u16],
    groups: &'a mut [u16],
}

impl Tally<'_> {
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
