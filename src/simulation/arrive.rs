//! How requests arrive: on their own, from users of closed loops, and within actions.

use windtunnel_policy::event::{Action, Event, Left, Request, RequestRef, Tries};
use windtunnel_policy::target::{ClassId, TenantId};
use windtunnel_policy::{Duration, Instant};

use super::Simulation;
use super::gateways::Dealt;
use super::occurrence::Occurrence;
use super::open::{Asker, Open};
use crate::queue::{EventKey, Rank};
use crate::record::Sink;
use crate::scenario::Layer;
use crate::world::{Marks, World, WorldRequest};

/// What is asked of the gateway, and who asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    /// What the world knows of it.
    pub(super) request: WorldRequest,
    /// Its number in the run.
    pub(super) index: u64,
    /// The interval of its arrival.
    pub(super) interval: usize,
    /// Whether it counts in the measures.
    pub(super) measured: bool,
    /// The position of its totals: by arm of a split, then by class.
    pub(super) account: u16,
    /// The gateway it comes to, however often.
    pub(super) gateway: u16,
    /// The closed loop's user that waits for it.
    pub(super) asker: Option<Asker>,
}

/// Whose account a closed request goes to: what is still needed of [`Asked`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Whose {
    /// The position of its totals.
    pub(super) account: u16,
    /// The interval of its arrival.
    pub(super) interval: usize,
    /// What was special about it.
    pub(super) marks: Marks,
    /// The closed loop's user that waits for it.
    pub(super) asker: Option<Asker>,
}

impl Asked {
    /// Whose account it goes to.
    pub(super) fn whose(&self) -> Whose {
        let Asked { account, interval, asker, .. } = *self;
        Whose { account, interval, marks: self.request.marks, asker }
    }
}

/// The handle of a place that no request has had yet.
const NOBODY: RequestRef = RequestRef { slot: u32::MAX, generation: u32::MAX };

impl Simulation<'_> {
    /// Schedules the next question of a closed loop's user.
    pub(super) fn think(&mut self, now: Instant, asker: Asker, world: &World) {
        let n = self.asked[usize::from(asker.closed_loop)][asker.user as usize];
        let at = now + world.think(asker.closed_loop.into(), asker.user, n);
        let key = EventKey::new(at, Rank::Arrival, u64::from(asker.user), asker.closed_loop);
        let ask = Occurrence::Ask { closed_loop: asker.closed_loop, user: asker.user };
        self.queue.push(key, ask);
    }

    pub(super) fn arrive(
        &mut self,
        now: Instant,
        request: &WorldRequest,
        index: u64,
        asker: Option<Asker>,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let inside = world.measured_from <= now && now < world.measured_to;
        let own_fault = request.marks.has(Marks::INVALID) || request.marks.has(Marks::CANCELS);
        let measured = inside && !own_fault;
        self.ledger.arrive();
        self.measured_open += u64::from(measured);
        let interval = self.interval.at(now);
        if !own_fault {
            self.totals.interval(interval).requests += 1;
        }
        let Dealt { arm, gateway } = self.gateways.deal(request);
        let account = arm * self.scenario.classes.len() as u16 + request.class;
        let asked = Asked { request: *request, index, interval, measured, account, gateway, asker };
        if self.layers.around(request.class) {
            return self.undertake(now, asked, world, sink);
        }
        match self.door.is_open() {
            true => self.enter(now, &asked, None, now, world, sink),
            false => self.knock(now, asked, None, world, sink),
        }
    }

    /// A request comes to the gateway, alone or as one of an action.
    #[inline]
    pub(super) fn receive(
        &mut self,
        now: Instant,
        asked: &Asked,
        action: Option<u32>,
        world: &World,
        sink: &mut impl Sink,
    ) {
        match self.door.is_open() {
            true => self.enter(now, asked, action, now, world, sink),
            false => self.knock(now, *asked, action, world, sink),
        }
    }

    /// A request comes in that came to the door at `since`.
    pub(super) fn enter(
        &mut self,
        now: Instant,
        asked: &Asked,
        action: Option<u32>,
        since: Instant,
        world: &World,
        sink: &mut impl Sink,
    ) {
        let Asked { ref request, index, gateway, .. } = *asked;
        let path = action.map_or(0, |action| self.layers.path(action));
        let left = self.left(now, request, action, since);
        let (first, tries) = match action {
            Some(action) => (self.layers.number(action), self.layers.tries(action)),
            None => (index, Tries::FIRST),
        };
        let event = Event::Arrived(Request {
            id: index,
            salt: request.salt(path),
            class: ClassId(request.class),
            input_tokens: request.input,
            max_output_tokens: request.max_output,
            streamed: request.marks.has(Marks::STREAMED),
            session: request.session,
            tenant: TenantId(request.tenant),
            action: first,
            tries,
            left,
        });
        self.gateways.hear(now, gateway.into(), event, &mut self.actions);
        self.queue_gossip();
        sink.routed(now, &event, &self.actions);
        let handle = match self.actions.first() {
            // By far the commonest.
            Some(Action::Send(send)) => send.attempt.request,
            _ => self.actions.iter().find_map(Action::request).expect("an arrival is answered"),
        };
        match self.open.get_mut(handle.slot as usize) {
            Some(open) => open.reopen(handle, asked),
            None => self.make_room(handle, asked),
        }
        self.layers.hold(handle, action);
        self.carry_out(now, world, sink);
        let deadline = self.scenario.classes[usize::from(request.class)].deadline;
        if request.patience <= deadline {
            self.note_patience(now, handle, request.at + request.patience);
        }
    }

    /// Makes the place of a request that has come in where none has been before.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self, handle: RequestRef, asked: &Asked) {
        // Slots of several gateways lie between each other's.
        self.open.resize_with(handle.slot as usize, || Open::new(NOBODY, asked));
        self.open.push(Open::new(handle, asked));
    }

    /// The caller of a request that has just come in goes away at `until`, if it is still open then.
    /// Most are not: where a wake-up comes before, that is queued then.
    fn note_patience(&mut self, now: Instant, handle: RequestRef, until: Instant) {
        let open = &mut self.open[handle.slot as usize];
        if open.handle != handle {
            return;
        }
        match open.alarm.wakes_before(until) {
            true => open.patient = true,
            false => self.queue_patience(now, handle, until),
        }
    }

    pub(super) fn queue_patience(&mut self, now: Instant, handle: RequestRef, until: Instant) {
        let index = self.open[handle.slot as usize].index;
        let key = EventKey::new(until, Rank::Cancel, index, 0);
        self.timers.push(now, key, Occurrence::Patience(handle));
    }

    /// What is left of the budget of a request that came to the door at `since`.
    #[inline]
    fn left(
        &mut self,
        now: Instant,
        request: &WorldRequest,
        action: Option<u32>,
        since: Instant,
    ) -> Left {
        let class = usize::from(request.class);
        let retries = self.scenario.classes[class].retries.as_ref();
        if since == now && retries.is_none() {
            return Left::ALL;
        }
        self.left_of(now, request, action, since)
    }

    /// The same where it waited, or where its class says who repeats.
    #[cold]
    fn left_of(
        &mut self,
        now: Instant,
        request: &WorldRequest,
        action: Option<u32>,
        since: Instant,
    ) -> Left {
        let class = usize::from(request.class);
        let retries = self.scenario.classes[class].retries.as_ref();
        let facts = &self.scenario.topology.classes[class];
        let after_waiting = |limit: Duration| match limit {
            Duration::MAX => limit,
            limit => limit.saturating_sub(now - since),
        };
        let mut left = Left {
            first_output: after_waiting(facts.deadline_first_output),
            total: after_waiting(facts.deadline_total),
            ..Left::ALL
        };
        let Some(retries) = retries else { return left };
        let spent = match action {
            Some(action) => {
                let (ends, attempts) = self.layers.budget(action);
                left.total = left.total.min(ends.since(now));
                attempts
            }
            None => 0,
        };
        left.attempts = retries.attempts.map_or(u16::MAX, |all| all.saturating_sub(spent));
        if retries.owner.is_some_and(|owner| owner != Layer::Gateway) {
            left.attempts = 1;
        }
        left
    }
}
