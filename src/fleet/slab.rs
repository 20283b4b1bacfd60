//! The places of attempts in a fleet.

use super::attempt::{Attempt, Stage};

/// One attempt, by its place in the fleet and the generation that makes a stale handle harmless.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FleetRef {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// Attempts by slot; freed slots are used again, last freed first.
#[derive(Clone, Debug, Default)]
pub(super) struct Slab {
    places: Vec<Attempt>,
    free: Vec<u32>,
}

impl Slab {
    /// A free place for an attempt, of which the caller writes everything that will be looked at but the
    /// generation: an attempt is large, and one made elsewhere would be copied here.
    #[inline]
    pub(super) fn claim(&mut self) -> (FleetRef, &mut Attempt) {
        let slot = match self.free.pop() {
            Some(slot) => {
                let place = &mut self.places[slot as usize];
                place.generation = place.generation.wrapping_add(1);
                slot
            }
            None => {
                let slot = u32::try_from(self.places.len()).expect("fewer than 2^32 in flight");
                self.places.push(Attempt::VACANT);
                slot
            }
        };
        let place = &mut self.places[slot as usize];
        (FleetRef { slot, generation: place.generation }, place)
    }

    /// The attempt, unless it has ended.
    #[inline]
    pub(super) fn get(&self, handle: FleetRef) -> Option<&Attempt> {
        let place = &self.places[handle.slot as usize];
        (place.generation == handle.generation && place.stage != Stage::Vacant).then_some(place)
    }

    /// The attempt, which has not ended.
    ///
    /// # Panics
    /// It has ended.
    #[inline]
    pub(super) fn live(&mut self, handle: FleetRef) -> &mut Attempt {
        let place = &mut self.places[handle.slot as usize];
        assert!(
            place.generation == handle.generation && place.stage != Stage::Vacant,
            "an attempt that is spoken of is still in the fleet"
        );
        place
    }

    /// Frees the place of an attempt that is live.
    #[inline]
    pub(super) fn remove(&mut self, handle: FleetRef) {
        self.places[handle.slot as usize].stage = Stage::Vacant;
        self.free.push(handle.slot);
    }

    /// Attempts that have not ended, in order of their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (FleetRef, &Attempt)> {
        self.places
            .iter()
            .enumerate()
            .filter(|(_, a)| a.stage != Stage::Vacant)
            .map(|(slot, a)| (FleetRef { slot: slot as u32, generation: a.generation }, a))
    }

    /// How many have not ended.
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Forgets all and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.free.clear();
    }
}
