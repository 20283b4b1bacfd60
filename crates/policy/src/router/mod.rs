//! The router: events in, actions out. Here is what it promises; the control flow is in the
//! files beside it, and whatever they ask is answered by pure functions elsewhere.

mod attempt;
mod decide;
mod events;
mod inner;
mod learn;
mod look_up;
mod reconcile;
mod results;
mod send;

use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

pub(crate) use self::inner::Core;
pub(crate) use self::learn::report;
use crate::Instant;
use crate::breaker::BreakerScope;
use crate::check;
use crate::config::{Policy, Problem};
use crate::event::{Action, AttemptRef, Event, RequestRef};
use crate::rules::Rules;
use crate::slots::Slots;
use crate::target::Topology;

/// Decides where requests go, and what follows when an attempt fails.
///
/// It performs no I/O, reads no clock and draws no random numbers. The embedder's side of the
/// contract:
///
/// - Call [`handle`](Router::handle) with every event and the time it was seen. Time never runs
///   backwards here: an earlier `now` counts as the latest one seen.
/// - Perform the appended actions in their order, and empty the buffer.
/// - Keep one timer per request: each [`Action::SetTimer`] replaces the one before. Deliver it as
///   [`Event::Timer`] with its epoch; late, or after the request has ended, is harmless.
/// - Before delivering a timer, deliver [`Event::Progress`] where a stream has moved since: an
///   idle timeout knows only what it was told.
/// - On [`Action::Reconcile`], ask the record of the tool the attempt may have called, and deliver
///   what it says as [`Event::Reconciled`]: once, or again when it says more. The same on
///   [`Action::LookUp`] and with [`Event::LookedUp`], for the tool that the action may have called
///   before it came again.
/// - Report every attempt's end once: `Ended`, `Failed` or `NotSent`. Of an attempt that the
///   router cancelled nothing more is needed; what still comes is ignored.
///
/// The router's side:
///
/// - Exactly one [`Action::Finish`] for each request, and it is the last action for it.
/// - At most one attempt of a request is in flight, or two of which one is a hedge. None starts
///   after the caller has cancelled, none after output was released.
/// - What an event of one request leads to is about that request, or a breaker: an embedder may
///   serve each request on a thread of its own around one locked router.
/// - Handles that are no longer current (of an earlier attempt, of a request that has ended) are
///   ignored.
/// - Each attempt that fails is followed by [`Action::Decided`] with the reason; one that has lost
///   against a hedge, or against which a hedge has lost, is cancelled without a class.
///   A wait after which the chosen target is out of service leads to a further decision.
/// - The same events at the same times give the same actions.
/// - At most [`max_actions_per_event`](Router::max_actions_per_event) actions per event; no
///   allocation once as many requests have been open as ever will be, beyond the caller's buffer.
#[derive(Debug)]
pub struct Router {
    pub(crate) core: Core,
    /// The requests it holds. Whatever is about one of them takes its slot beside the core.
    slots: Slots,
}

impl Router {
    /// A router for this policy over these targets.
    ///
    /// # Errors
    /// Everything wrong with either of them, as a list with a path and a remedy for each.
    pub fn new(policy: Policy, topology: Topology) -> Result<Router, Vec<Problem>> {
        Router::check(&policy, &topology)?;
        let core = Core::new(Rules::new(policy, topology));
        Ok(Router { core, slots: Slots::default() })
    }

    /// Whether [`new`](Router::new) makes a router of them, at far less cost.
    ///
    /// # Errors
    /// As there.
    pub fn check(policy: &Policy, topology: &Topology) -> Result<(), Vec<Problem>> {
        let mut problems = policy.validate().err().unwrap_or_default();
        problems.extend(check::topology(topology));
        problems.extend(check::breakers(policy, topology));
        if problems.is_empty() { Ok(()) } else { Err(problems) }
    }

    /// Takes an event in at `now`, and appends what must be done about it.
    ///
    /// # Panics
    /// Where a request names a route class or a tenant, or a kill switch a target, that the topology
    /// does not have.
    pub fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        self.core.known.now = self.core.known.now.max(now);
        match self.core.known.health.ejection {
            None => self.dispatch(&event, actions),
            Some(_) => self.handle_in_time(&event, actions),
        }
    }

    /// The same where time alone may bring something about.
    #[inline(never)]
    fn handle_in_time(&mut self, event: &Event, actions: &mut Vec<Action>) {
        self.core.known.health.on_time(self.core.known.now);
        self.dispatch(event, actions);
    }

    /// Finds the request that an event is about, and hands it on. Every handler is called last, and each by
    /// itself: so nothing is saved here for what comes after it.
    #[inline(always)]
    fn dispatch(&mut self, event: &Event, out: &mut Vec<Action>) {
        let Router { core, slots } = self;
        match *event {
            Event::Arrived(ref request) => core.on_arrived(slots, request, out),
            Event::Headers(AttemptRef { request, number }) => {
                if let Some(slot) = slots.find_in_flight(request) {
                    core.on_headers(slot, number, out);
                }
            }
            Event::FirstChunk(AttemptRef { request, number }) => {
                if let Some(slot) = slots.find_in_flight(request) {
                    core.on_first_chunk(slot, number, out);
                }
            }
            Event::FirstOutput(AttemptRef { request, number }) => {
                if let Some(slot) = slots.find_in_flight(request) {
                    core.on_first_output(slot, number, out);
                }
            }
            Event::Progress { attempt, at } => {
                if let Some(slot) = slots.find_in_flight(attempt.request) {
                    core.on_progress(slot, attempt.number, at);
                }
            }
            Event::Ended { attempt, ref usage, answer } => {
                if let Some(slot) = slots.find_in_flight(attempt.request) {
                    core.on_ended(slot, attempt.number, usage, answer, out);
                }
            }
            Event::Failed { attempt, ref failure } => {
                if let Some(slot) = slots.find_in_flight(attempt.request) {
                    core.on_failed(slot, attempt.number, failure, out);
                }
            }
            Event::NotSent(AttemptRef { request, number }) => {
                if let Some(slot) = slots.find_in_flight(request) {
                    core.on_not_sent(slot, number, out);
                }
            }
            Event::UsedBelow { attempt, calls } => {
                if let Some(slot) = slots.find_in_flight(attempt.request) {
                    slot.note_used_below(attempt.number, calls);
                }
            }
            Event::Reconciled { attempt, record } => {
                if let Some(slot) = slots.find(attempt.request) {
                    core.on_reconciled(slot, attempt.number, record, out);
                }
            }
            Event::LookedUp { request, record } => {
                if let Some(slot) = slots.find(request) {
                    core.on_looked_up(slot, record, out);
                }
            }
            Event::Timer { request, epoch } => {
                if let Some(slot) = slots.find(request) {
                    core.on_timer(slot, epoch, out);
                }
            }
            Event::Cancelled(request) => {
                if let Some(slot) = slots.find(request) {
                    core.on_cancelled(slot, out);
                }
            }
            Event::Learnt(ref fact) => core.on_learnt(fact, out),
            Event::TaskJudged { target, done } => {
                core.known.health.on_task(target, !done, core.known.now)
            }
            Event::KillSwitch { target, off } => core.on_kill_switch(target, off),
        }
    }

    /// The most actions one event can append: what a buffer must hold never to grow.
    pub fn max_actions_per_event(&self) -> usize {
        // Cancel, decision, a decision revised, send or finish, timer; and a change of each
        // breaker over the failed target and over the next one. With a hedge in flight a second
        // attempt is cut and decided on, over a third target.
        let over_one_target = self.core.rules.policy.breakers.len();
        match self.core.rules.policy.hedge {
            None => 5 + 2 * over_one_target,
            Some(_) => 7 + 3 * over_one_target,
        }
    }

    /// What each breaker is about, as [`Action::Breaker`] numbers them.
    pub fn breakers(&self) -> impl Iterator<Item = BreakerScope> {
        let breakers = &self.core.known.health.breakers;
        (0..breakers.len()).map(|breaker| breakers.scope(breaker as u16))
    }

    /// The policy it runs.
    pub fn policy(&self) -> &Policy {
        &self.core.rules.policy
    }

    /// The targets and route classes it serves.
    pub fn topology(&self) -> &Topology {
        &self.core.rules.topology
    }

    /// Attempts in flight.
    pub fn in_flight(&self) -> usize {
        self.core.known.health.load.all_in_flight()
    }

    /// Requests that have not ended.
    pub fn open_requests(&self) -> usize {
        self.slots.len() - self.core.free_slots()
    }

    /// Probe permits of half-open breakers that attempts in flight hold.
    pub fn permits_out(&self) -> u64 {
        self.core.known.health.breakers.probing()
    }

    /// How often recovery asked a shared budget.
    pub fn budget_asks(&self) -> u64 {
        self.core.known.budgets.asks()
    }

    /// How often a shared budget denied it.
    pub fn budget_denials(&self) -> u64 {
        self.core.known.budgets.denials()
    }

    /// Hashes all that decides what it does from now on and is no single request's, and nothing that only
    /// counts. Two routers of one policy and one topology that hash alike to a good hasher, with what
    /// [`hash_request`](Router::hash_request) hashes of each request, answer every further event alike,
    /// but for the handles they give to requests.
    pub fn hash_shared<H: Hasher>(&self, state: &mut H) {
        (&self.core.known.health, &self.core.known.budgets, self.core.known.now).hash(state);
    }

    /// Hashes the same of one open request: all but its handle.
    pub fn hash_request<H: Hasher>(&self, request: RequestRef, state: &mut H) {
        if let Some(slot) = self.slots.look_at(request) {
            slot.hash_request(state);
            self.core.tallies.hash_slot(slot, state);
        }
    }

    /// As new, but without allocating. Handles given out before must not be used again: they would
    /// name other requests.
    pub fn reset(&mut self) {
        self.slots.reset();
        self.core.reset(self.slots.len());
    }
}

impl Clone for Router {
    fn clone(&self) -> Router {
        Router { core: self.core.clone(), slots: self.slots.clone() }
    }

    fn clone_from(&mut self, source: &Router) {
        self.core.clone_from(&source.core);
        self.slots.clone_from(&source.slots);
    }
}
