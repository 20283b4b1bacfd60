//! What a request has tried: attempts on each target and in each group.

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::slots::Slot;
use crate::target::TargetId;

/// What every open request tried.
#[derive(Clone, Debug)]
pub(crate) struct Tallies {
    /// Slot by slot: a count for each target, then one for each group. Of no meaning where a slot is not
    /// [tallied](Slot::tallied).
    counts: Vec<u16>,
    targets: usize,
    /// Counts of a slot.
    stride: usize,
}

impl Tallies {
    /// No slots, for a topology of so many targets and groups a class at most.
    pub(crate) fn new(targets: usize, groups: usize) -> Tallies {
        Tallies { counts: Vec::new(), targets, stride: targets + groups }
    }

    /// Room for one more slot.
    pub(crate) fn grow(&mut self) {
        self.counts.resize(self.counts.len() + self.stride, 0);
    }

    /// What the request of a slot tried. Most requests make one attempt, and nobody asks: so it is counted
    /// by the first who does.
    #[inline(always)]
    pub(crate) fn of(&mut self, slot: &mut Slot) -> Tally<'_> {
        let start = slot.handle.slot as usize * self.stride;
        let counts = &mut self.counts[start..start + self.stride];
        if !slot.tallied {
            count_earlier(counts, self.targets, slot);
        }
        Tally { counts, targets: self.targets }
    }

    /// Hashes what the request of a slot tried, beside the attempt spoken of: nothing but whether that
    /// one's target is excluded, where it is the first.
    pub(crate) fn hash_slot<H: Hasher>(&self, slot: &Slot, state: &mut H) {
        let start = slot.handle.slot as usize * self.stride;
        let counts = &self.counts[start..start + self.stride];
        match slot.attempts {
            0 => {}
            1 => {
                let first = counts[usize::from(slot.flight.target.0)];
                (slot.tallied && first & EXCLUDED != 0).hash(state);
            }
            _ => counts.hash(state),
        }
    }
}

/// What a request tried so far.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    /// By target, then by group.
    counts: &'a mut [u16],
    targets: usize,
}

impl Tally<'_> {
    /// What it tried on a target.
    #[inline(always)]
    pub(crate) fn on_target(&self, target: TargetId) -> Tried {
        let count = self.counts[usize::from(target.0)];
        Tried { attempts: count & !EXCLUDED, excluded: count & EXCLUDED != 0 }
    }

    /// Attempts it made in a group.
    #[inline(always)]
    pub(crate) fn in_group(&self, group: u8) -> u16 {
        self.counts[self.targets + usize::from(group)]
    }

    /// Forbids a target to the rest of the request.
    pub(crate) fn exclude(&mut self, target: TargetId) {
        self.counts[usize::from(target.0)] |= EXCLUDED;
    }

    /// Counts an attempt; how many it made in the group before.
    #[inline(always)]
    pub(crate) fn count(&mut self, target: TargetId, group: u8) -> u16 {
        let on_target = &mut self.counts[usize::from(target.0)];
        *on_target += u16::from(*on_target & !EXCLUDED < EXCLUDED - 1);
        let in_group = &mut self.counts[self.targets + usize::from(group)];
        let before = *in_group;
        *in_group = before.saturating_add(1);
        before
    }
}

/// Counts what was tried before anybody asked: one attempt, or none. Each count is written once, as it
/// is: one read back behind the zeros of a whole array would wait for them.
#[inline(never)]
fn count_earlier(counts: &mut [u16], targets: usize, slot: &mut Slot) {
    slot.tallied = true;
    let tried = slot.attempts > 0;
    let (target, group) =
        (usize::from(slot.flight.target.0), targets + usize::from(slot.flight.group));
    for (place, count) in counts.iter_mut().enumerate() {
        *count = u16::from(tried & ((place == target) | (place == group)));
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
