//! A router without its requests, and the slots that hold none.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::known::Known;
use crate::rules::Rules;
use crate::slots::{Slot, Slots};
use crate::tally::Tallies;

/// A router without its requests.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) rules: Rules,
    pub(crate) known: Known,
    /// Whether anybody must hear when a recovery is over.
    pub(super) follows_recoveries: bool,
    /// Slots that hold no request; the last is taken first.
    free: Vec<u32>,
    pub(super) tallies: Tallies,
}

impl Core {
    /// Of a router that goes by these rules.
    pub(super) fn new(rules: Rules) -> Core {
        let known = Known::new(&rules);
        let Rules { policy, topology, .. } = &rules;
        let groups = topology.classes.iter().map(|class| class.groups.len()).max().unwrap_or(0);
        Core {
            follows_recoveries: known.budgets.hear_of_ends() || policy.replicas.shares(),
            free: Vec::new(),
            tallies: Tallies::new(topology.targets.len(), groups),
            known,
            rules,
        }
    }

    /// A slot for one more request; allocates only where more are open than ever before.
    #[inline(always)]
    pub(super) fn take_slot(&mut self, slots: &mut Slots) -> u32 {
        self.free.pop().unwrap_or_else(|| self.grow(slots))
    }

    #[cold]
    fn grow(&mut self, slots: &mut Slots) -> u32 {
        let number = slots.grow();
        self.tallies.grow();
        // Room to free every slot, so that closing never allocates.
        self.free.reserve(slots.len());
        number
    }

    /// The request is closed, and its slot free.
    #[inline(always)]
    pub(super) fn close(&mut self, slot: &mut Slot) {
        self.free.push(slot.handle.slot);
        slot.free();
    }

    /// Slots that hold no request.
    pub(super) fn free_slots(&self) -> usize {
        self.free.len()
    }

    /// As new, with so many slots, which are all free.
    pub(super) fn reset(&mut self, slots: usize) {
        self.known.reset();
        // The lowest is taken first, as it is when slots are made.
        self.free.clear();
        self.free.extend((0..slots as u32).rev());
    }
}

impl Clone for Core {
    fn clone(&self) -> Core {
        Core {
            rules: self.rules.clone(),
            known: self.known.clone(),
            follows_recoveries: self.follows_recoveries,
            free: self.free.clone(),
            tallies: self.tallies.clone(),
        }
    }

    /// Of a copy of the same router only what has happened is copied: what nothing changes is the same.
    fn clone_from(&mut self, source: &Core) {
        if !Arc::ptr_eq(&self.rules.classes, &source.rules.classes) {
            *self = source.clone();
            return;
        }
        self.known.copy(&source.known);
        self.free.clone_from(&source.free);
        self.tallies.clone_from(&source.tallies);
    }
}
