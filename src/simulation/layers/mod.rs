//! Retry loops around the gateway: an SDK and an application that send an action again, as a new
//! request with the luck of the same action.
//!
//! The innermost layer hears the gateway's result first. One that repeats waits and sends a new
//! request; one that does not passes the result on. An action ends with an answer, when no layer
//! repeats, or when nobody waits for it any more: its caller's patience, or its class's deadline
//! counted from the first request.

mod actions;
mod verdict;

use windtunnel_policy::event::{Event, Outcome};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::{Duration, Instant};

use self::actions::{Loop, Stage, UserAction};
use self::verdict::Heard;
use super::Simulation;
use super::arrive::Asked;
use super::occurrence::Occurrence;
use crate::draw::{NameHash, Purpose};
use crate::queue::{EventKey, Rank};
use crate::record::{RequestRow, Resent, Sink};
use crate::scenario::{ClassModel, Layer};
use crate::world::{World, WorldRequest};

pub(super) use self::actions::Actions;

/// The layer at each place.
const LAYERS: [Layer; verdict::PLACES] = [Layer::Application, Layer::Sdk];

/// Why an action is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    /// No layer repeats its last request's result.
    Result,
    /// A layer gave up, and none repeats.
    TimedOut,
    /// Nobody waits for it any more.
    Gone,
}

impl<'s> Simulation<'s> {
    /// An action begins whose class has layers around the gateway.
    pub(super) fn undertake(
        &mut self,
        now: Instant,
        asked: Asked,
        world: &World,
        sink: &mut impl Sink,
    ) {
        self.ledger.undertake();
        let deadline = self.scenario.classes[usize::from(asked.request.class)].deadline;
        let end = now + asked.request.patience.min(deadline);
        let action = self.layers.open(asked, end);
        self.begin_tries(now, action, 0);
        self.receive(now, &asked, Some(action), world, sink);
    }

    /// Something of an action's layers is due: a try is given up, or a wait is over.
    pub(super) fn on_layer(
        &mut self,
        now: Instant,
        action: u32,
        epoch: u32,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let it = self.layers.get(action);
        if it.epoch != epoch {
            return;
        }
        let given_up = it.loops.iter().position(|one| one.until <= now);
        match it.stage {
            Stage::AtGateway(Some(request)) => {
                it.timed_out = given_up;
                self.tell(now, Event::Cancelled(request), world, sink);
            }
            Stage::AtDoor(ticket) => {
                it.timed_out = given_up;
                self.give_up_waiting(now, ticket, world, sink);
            }
            Stage::Waiting(..) if it.end <= now => self.conclude(now, action, Ending::Gone, world),
            Stage::Waiting(place, _) => match given_up.filter(|&outer| outer < place) {
                Some(outer) => self.on_heard(now, action, Heard::TimedOut(outer), world),
                None => self.send_again(now, action, place, world, sink),
            },
            Stage::AtGateway(None) | Stage::Vacant => {
                unreachable!("what is queued for an action that is not waiting is stale")
            }
        }
    }

    /// A request of an action was closed.
    pub(super) fn on_result(&mut self, now: Instant, action: u32, row: &RequestRow, world: &World) {
        let it = self.layers.get(action);
        it.epoch += 1;
        it.attempts = it.attempts.saturating_add(row.result.attempts);
        it.cost += row.cost;
        it.wasted += row.wasted;
        it.transport_success |= row.transport_success;
        it.last = Some(*row);
        let heard = match it.timed_out.take() {
            Some(place) if row.result.outcome == Outcome::Cancelled => Heard::TimedOut(place),
            _ => Heard::of(&row.result),
        };
        let answered = matches!(row.result.outcome, Outcome::Answered(_) | Outcome::Refused(_));
        match now >= it.end && !answered {
            true => self.conclude(now, action, Ending::Gone, world),
            false => self.on_heard(now, action, heard, world),
        }
    }

    /// The layers have their say, from the inside out.
    fn on_heard(&mut self, now: Instant, action: u32, heard: Heard, world: &World) {
        let path = self.layers.path(action);
        let it = self.layers.get(action);
        let class: &'s ClassModel = &self.scenario.classes[usize::from(it.asked.request.class)];
        let layers = &class.outer;
        let mut tries = it.loops.map(|one| one.tries);
        let allowed = class.retries.as_ref().and_then(|retries| retries.attempts);
        if allowed.is_some_and(|allowed| it.attempts >= allowed) {
            // Nothing is left for another request.
            tries = [u8::MAX; verdict::PLACES];
        }
        while let Some(place) = verdict::repeats(layers, tries, heard) {
            let layer = layers[place].as_ref().expect("who repeats is there");
            let subject = NameHash::of(LAYERS[place].name());
            let draws = it.asked.request.key.draw2(Purpose::LayerBackoff, subject, path);
            let one = &mut it.loops[place];
            if let Some(wait) = layer.wait(u32::from(one.tries) - 1, one.previous, draws, heard) {
                *one = Loop { tries: one.tries + 1, previous: wait, ..*one };
                it.loops[place + 1..].fill(Loop::FIRST);
                return self.wait(now, action, place, wait);
            }
            // Its wait is too long for it: the failure goes on to who is around it.
            tries[place] = u8::MAX;
        }
        let ending = match heard {
            Heard::TimedOut(_) => Ending::TimedOut,
            _ => Ending::Result,
        };
        self.conclude(now, action, ending, world);
    }

    /// The layer at `place` waits, unless somebody around it gives up before.
    fn wait(&mut self, now: Instant, action: u32, place: usize, wait: Duration) {
        let it = self.layers.get(action);
        it.epoch += 1;
        it.stage = Stage::Waiting(place, now + wait);
        let outer = it.loops[..place].iter().map(|one| one.until);
        let given_up = outer.min().unwrap_or(Instant::FAR_FUTURE).min(it.end);
        let (at, rank) = match given_up <= now + wait {
            true => (given_up, Rank::Cancel),
            false => (now + wait, Rank::Arrival),
        };
        let key = EventKey::new(at, rank, it.asked.index, it.requests as u16);
        self.queue.push(key, Occurrence::Layer { action, epoch: it.epoch });
    }

    /// A new request of the action, with what is left of its caller's patience.
    fn send_again(
        &mut self,
        now: Instant,
        action: u32,
        place: usize,
        world: &World,
        sink: &mut impl Sink,
    ) {
        self.begin_tries(now, action, place);
        let it = self.layers.get(action);
        let tries = it.loops.map(|one| one.tries);
        let first = it.asked;
        let left = it.end.since(now);
        let index = self.next_index;
        self.next_index += 1;
        sink.resent(index, Resent { action: first.index, layer: LAYERS[place], tries });
        self.ledger.arrive();
        if first.measured && LAYERS[place] == Layer::Application {
            let accounts = self.totals.accounts(first.account, first.request.tenant);
            accounts.for_each(|totals| totals.application_repeats += 1);
        }
        let request = WorldRequest { at: now, patience: left, ..first.request };
        self.receive(
            now,
            &Asked { request, index, asker: None, ..first },
            Some(action),
            world,
            sink,
        );
    }

    /// The layers from `place` inwards begin a try.
    fn begin_tries(&mut self, now: Instant, action: u32, place: usize) {
        let it = self.layers.get(action);
        let class = usize::from(it.asked.request.class);
        let layers = &self.scenario.classes[class].outer;
        for (one, layer) in it.loops.iter_mut().zip(layers).skip(place) {
            let timeout = layer.as_ref().and_then(|layer| layer.timeout);
            one.until = timeout.map_or(Instant::FAR_FUTURE, |timeout| now + timeout);
        }
        it.epoch += 1;
        it.requests += 1;
        it.stage = Stage::AtGateway(None);
        let until = it.loops.iter().map(|one| one.until).min().unwrap_or(Instant::FAR_FUTURE);
        if until < it.end {
            let key = EventKey::new(until, Rank::Cancel, it.asked.index, it.requests as u16);
            self.timers.push(now, key, Occurrence::Layer { action, epoch: it.epoch });
        }
    }

    /// An action is over.
    fn conclude(&mut self, now: Instant, action: u32, ending: Ending, world: &World) {
        self.ledger.conclude();
        let it = self.layers.get(action);
        let (row, asked) = (it.row(now, ending), it.asked);
        self.layers.close(action);
        self.settle(now, &row, &asked.whose(), world);
    }
}

impl UserAction {
    /// The row of the whole action: as its last request ended, counted from its first.
    fn row(&self, now: Instant, ending: Ending) -> RequestRow {
        let last = self.last.expect("an action ends after a request of it");
        let before = last.arrived - self.asked.request.at;
        let mut result = last.result;
        let closed = match ending {
            Ending::Result => None,
            Ending::TimedOut => Some((Outcome::Exhausted, FailureClass::Timeout, 504)),
            // Its first request may have been closed by the same limit: that says how.
            Ending::Gone if self.requests == 1 && last.closed == now => None,
            Ending::Gone if self.end < self.asked.request.at + last.deadline => {
                Some((Outcome::Cancelled, FailureClass::CallerCancelled, 499))
            }
            Ending::Gone => Some((Outcome::Deadline, FailureClass::DeadlineExhausted, 504)),
        };
        if let Some((outcome, class, status)) = closed {
            (result.outcome, result.class, result.status) = (outcome, Some(class), status);
        }
        RequestRow {
            request: self.asked.index,
            arrived: self.asked.request.at,
            closed: now,
            result,
            resent: self.requests > 1,
            transport_success: self.transport_success,
            added_latency: last.added_latency.map(|added| added + before),
            excess_latency_us: last.excess_latency_us.map(|us| us + before.as_micros() as i64),
            ttft: last.ttft.map(|ttft| ttft + before),
            cost: self.cost,
            wasted: self.wasted,
            ..last
        }
    }
}
