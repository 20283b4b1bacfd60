//! The gateways' doors: how many requests are inside, and who waits for a place.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use windtunnel_policy::Instant;

use super::arrive::Asked;
use crate::scenario::Gateway;

/// The doors of all gateways; each has places of its own.
#[derive(Clone, Debug)]
pub(super) struct Door {
    places: u32,
    queue: u32,
    gateways: Vec<Gate>,
    /// Everybody who waits, by ticket.
    waiting: BTreeMap<u32, Waiting>,
    next_ticket: u32,
}

/// One gateway's.
#[derive(Clone, Debug, Default)]
struct Gate {
    inside: u32,
    /// The highest priority first, then the earliest ticket.
    order: BTreeSet<(Reverse<u8>, u32)>,
}

/// A request that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) asked: Asked,
    /// The action it belongs to, where layers stand around.
    pub(super) action: Option<u32>,
    pub(super) since: Instant,
    priority: u8,
}

/// What a request finds at the door.
#[derive(Debug)]
pub(super) enum Found {
    /// A place inside.
    Place,
    /// A place in the queue, with this ticket; the other lost it, if anybody did.
    Queue(u32, Option<Waiting>),
    /// Neither.
    Nothing,
}

impl Door {
    pub(super) fn new(gateway: &Gateway, gateways: usize) -> Door {
        let cap = gateway.in_flight.as_ref();
        Door {
            places: cap.map_or(u32::MAX, |cap| cap.max),
            queue: cap.map_or(0, |cap| cap.queue),
            gateways: vec![Gate::default(); gateways],
            waiting: BTreeMap::new(),
            next_ticket: 0,
        }
    }

    /// Whether everybody may come in, so that nobody need be counted.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.places == u32::MAX
    }

    /// A request comes. Where the queue is full, it takes the place of the last of a lower priority.
    pub(super) fn knock(
        &mut self,
        now: Instant,
        asked: Asked,
        action: Option<u32>,
        priority: u8,
    ) -> Found {
        let gate = &mut self.gateways[usize::from(asked.gateway)];
        if gate.inside < self.places && gate.order.is_empty() {
            gate.inside += 1;
            return Found::Place;
        }
        let mut loses = None;
        if gate.order.len() >= self.queue as usize {
            match gate.order.last().copied() {
                Some(last @ (Reverse(lowest), ticket)) if lowest < priority => {
                    gate.order.remove(&last);
                    loses = self.waiting.remove(&ticket);
                }
                _ => return Found::Nothing,
            }
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        gate.order.insert((Reverse(priority), ticket));
        self.waiting.insert(ticket, Waiting { asked, action, since: now, priority });
        Found::Queue(ticket, loses)
    }

    /// A request has left a gateway; true where somebody waits for its place.
    pub(super) fn leave(&mut self, gateway: u16) -> bool {
        let gate = &mut self.gateways[usize::from(gateway)];
        gate.inside -= 1;
        !gate.order.is_empty()
    }

    /// Who comes in next, if there is a place.
    pub(super) fn next(&mut self, gateway: u16) -> Option<Waiting> {
        let gate = &mut self.gateways[usize::from(gateway)];
        if gate.inside >= self.places {
            return None;
        }
        let (_, ticket) = gate.order.pop_first()?;
        gate.inside += 1;
        Some(self.waiting.remove(&ticket).expect("who is in the order waits"))
    }

    /// Takes a request out of the queue; `None` where it no longer waits.
    pub(super) fn give_up(&mut self, ticket: u32) -> Option<Waiting> {
        let waiting = self.waiting.remove(&ticket)?;
        let gate = &mut self.gateways[usize::from(waiting.asked.gateway)];
        gate.order.remove(&(Reverse(waiting.priority), ticket));
        Some(waiting)
    }

    /// Whether nobody is inside and nobody waits.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.is_empty() && self.gateways.iter().all(|gate| gate.inside == 0)
    }

    pub(super) fn reset(&mut self) {
        self.gateways.fill(Gate::default());
        self.waiting.clear();
        self.next_ticket = 0;
    }
}
