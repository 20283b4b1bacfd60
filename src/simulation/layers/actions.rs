//! The actions that layers outside the gateway may send again: kept beside the requests, and only
//! where there are such layers.

use windtunnel_policy::event::{RequestRef, Tries};
use windtunnel_policy::{Duration, Instant, Money};

use super::verdict::PLACES;
use crate::record::RequestRow;
use crate::scenario::Scenario;
use crate::simulation::arrive::Asked;

/// No action.
const NONE: u32 = u32::MAX;
/// Above the number of tries of any layer.
const RADIX: u32 = 16;
/// A draw counts the try at a target, the call of a proxy within it, and the path of tries of the
/// layers outside: each in bits of its own, so that the first of all has the count that it has
/// without layers.
const CALL_SHIFT: u32 = 16;
const PATH_SHIFT: u32 = 20;

/// All open actions of a run.
#[derive(Clone, Debug, Default)]
pub(in crate::simulation) struct Actions {
    /// Whether a class has layers outside the gateway.
    around: Vec<bool>,
    any: bool,
    places: Vec<UserAction>,
    free: Vec<u32>,
    /// The action of each open request, by the router's slot.
    of_slot: Vec<u32>,
}

/// One action, from its first request to the end of all that its layers send.
#[derive(Clone, Debug)]
pub(in crate::simulation) struct UserAction {
    /// What was asked, and when.
    pub(super) asked: Asked,
    /// When nobody waits for it any more.
    pub(super) end: Instant,
    pub(super) loops: [Loop; PLACES],
    pub(super) stage: Stage,
    /// Counts what was decided; outlives the action, so that whatever was queued for it is stale.
    pub(super) epoch: u32,
    /// The layer that has just given its try up.
    pub(super) timed_out: Option<usize>,
    pub(super) requests: u32,
    /// Attempts of the gateway for all requests that are closed, and what layers below told of.
    pub(super) attempts: u16,
    pub(super) cost: Money,
    pub(super) wasted: Money,
    pub(super) transport_success: bool,
    /// The request that was closed last.
    pub(super) last: Option<RequestRow>,
}

/// The loop of one layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Loop {
    /// Tries so far, from 1.
    pub(super) tries: u8,
    /// The wait before the present one.
    pub(super) previous: Duration,
    /// When it gives the present one up.
    pub(super) until: Instant,
}

/// What an action is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stage {
    /// The place is free.
    Vacant,
    /// A request of it is at the gateway.
    AtGateway(Option<RequestRef>),
    /// A request of it waits at the gateway's door, with this ticket.
    AtDoor(u32),
    /// The layer at this place waits until then.
    Waiting(usize, Instant),
}

impl Actions {
    pub(in crate::simulation) fn new(scenario: &Scenario) -> Actions {
        let around: Vec<bool> =
            scenario.classes.iter().map(|c| c.outer.iter().any(Option::is_some)).collect();
        Actions { any: around.contains(&true), around, ..Actions::default() }
    }

    /// Whether layers stand around requests of this class.
    #[inline]
    pub(in crate::simulation) fn around(&self, class: u16) -> bool {
        self.around[usize::from(class)]
    }

    pub(in crate::simulation) fn reset(&mut self) {
        self.places.clear();
        self.free.clear();
        self.of_slot.clear();
    }

    /// Opens an action.
    pub(super) fn open(&mut self, asked: Asked, end: Instant) -> u32 {
        let fresh = |epoch| UserAction {
            asked,
            end,
            loops: [Loop::FIRST; PLACES],
            stage: Stage::AtGateway(None),
            epoch,
            timed_out: None,
            requests: 0,
            attempts: 0,
            cost: Money::ZERO,
            wasted: Money::ZERO,
            transport_success: false,
            last: None,
        };
        match self.free.pop() {
            Some(place) => {
                let action = &mut self.places[place as usize];
                *action = fresh(action.epoch + 1);
                place
            }
            None => {
                self.places.push(fresh(0));
                self.places.len() as u32 - 1
            }
        }
    }

    /// Frees the place of an action that is over.
    pub(super) fn close(&mut self, action: u32) {
        let place = self.get(action);
        place.stage = Stage::Vacant;
        place.epoch += 1;
        self.free.push(action);
    }

    pub(super) fn get(&mut self, action: u32) -> &mut UserAction {
        &mut self.places[action as usize]
    }

    /// Notes whose the request in a slot is.
    #[inline]
    pub(in crate::simulation) fn hold(&mut self, handle: RequestRef, action: Option<u32>) {
        if !self.any {
            return;
        }
        let slot = handle.slot as usize;
        if slot >= self.of_slot.len() {
            self.of_slot.resize(slot + 1, NONE);
        }
        self.of_slot[slot] = action.unwrap_or(NONE);
        if let Some(action) = action {
            self.get(action).stage = Stage::AtGateway(Some(handle));
        }
    }

    /// Notes that the action's request waits at the door.
    pub(in crate::simulation) fn queue(&mut self, action: u32, ticket: u32) {
        self.get(action).stage = Stage::AtDoor(ticket);
    }

    /// The action of the request in a slot.
    #[inline]
    pub(in crate::simulation) fn of(&self, slot: usize) -> Option<u32> {
        self.of_slot.get(slot).copied().filter(|&action| action != NONE)
    }

    /// The number of an action in its run: that of its first request.
    pub(in crate::simulation) fn number(&self, action: u32) -> u64 {
        self.places[action as usize].asked.index
    }

    /// What a draw counts for a call: `nth` of its request at the target, `call` of the proxy.
    #[inline]
    pub(in crate::simulation) fn count(&self, slot: usize, call: u8, nth: u32) -> u32 {
        let path = match self.any {
            true => self.of(slot).map_or(0, |action| self.path(action)),
            false => 0,
        };
        path << PATH_SHIFT | u32::from(call) << CALL_SHIFT | nth
    }

    /// The tries of the layers around the present request.
    pub(in crate::simulation) fn tries(&self, action: u32) -> Tries {
        let [application, sdk] = self.places[action as usize].loops.map(|one| one.tries);
        Tries { application, sdk }
    }

    /// The tries of the layers around the present request, as one number; 0 for the first.
    pub(in crate::simulation) fn path(&self, action: u32) -> u32 {
        let loops = &self.places[action as usize].loops;
        loops.iter().fold(0, |path, one| path * RADIX + u32::from(one.tries) - 1)
    }

    /// When nobody waits for an action any more, and the attempts made for it so far.
    pub(in crate::simulation) fn budget(&self, action: u32) -> (Instant, u16) {
        let action = &self.places[action as usize];
        (action.end, action.attempts)
    }

    /// Counts calls against the budget of an action that a layer below the gateway made for it.
    pub(in crate::simulation) fn count_below(&mut self, action: u32, calls: u16) {
        let action = self.get(action);
        action.attempts = action.attempts.saturating_add(calls);
    }

    /// Whether no action is open.
    pub(in crate::simulation) fn is_idle(&self) -> bool {
        self.places.len() == self.free.len()
    }
}

impl Loop {
    pub(super) const FIRST: Loop =
        Loop { tries: 1, previous: Duration::ZERO, until: Instant::FAR_FUTURE };
}
