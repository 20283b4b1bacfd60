//! The router: events in, actions out. Here is what it promises; the control flow is in the
//! files beside it, and whatever they ask is answered by pure functions elsewhere.

mod attempt;
mod decide;
mod events;
mod learn;
mod look_up;
mod reconcile;
mod results;

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

pub(crate) use self::learn::report;
use crate::Instant;
use crate::breaker::BreakerScope;
use crate::budget::Budgets;
use crate::check;
use crate::choose::Refusal;
use crate::config::{Policy, Problem};
use crate::event::{Action, Event, RequestRef};
use crate::facts::Fact;
use crate::health::Health;
use crate::plan::{self, ClassPlan};
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
    policy: Policy,
    topology: Topology,
    /// Shared, as nothing changes them, and routers are copied.
    classes: Arc<[ClassPlan]>,
    pub(crate) health: Health,
    pub(crate) budgets: Budgets,
    /// Whether anybody must hear when a recovery is over.
    follows_recoveries: bool,
    slots: Slots,
    /// Why the decision at hand has found nothing so far: of no meaning between two events.
    refusal: Refusal,
    in_flight: usize,
    pub(crate) now: Instant,
    /// What the other replicas have not been told yet, where they are told anything.
    pub(crate) facts: Option<Vec<Fact>>,
}

impl Router {
    /// A router for this policy over these targets.
    ///
    /// # Errors
    /// Everything wrong with either of them, as a list with a path and a remedy for each.
    pub fn new(policy: Policy, topology: Topology) -> Result<Router, Vec<Problem>> {
        let mut problems = policy.validate().err().unwrap_or_default();
        problems.extend(check::topology(&topology));
        problems.extend(check::breakers(&policy, &topology));
        if !problems.is_empty() {
            return Err(problems);
        }
        let classes = plan::compile(&policy, &topology);
        let groups = topology.classes.iter().map(|class| class.groups.len()).max().unwrap_or(0);
        let segments = classes.iter().map(ClassPlan::segments).sum();
        let budgets = Budgets::new(&policy.retry_budgets, &topology);
        Ok(Router {
            health: Health::new(&policy, &topology, segments),
            follows_recoveries: budgets.hear_of_ends() || policy.replicas.shares(),
            budgets,
            slots: Slots::new(topology.targets.len(), groups),
            refusal: Refusal::NOTHING,
            in_flight: 0,
            now: Instant::ZERO,
            facts: policy.replicas.shares().then(Vec::new),
            classes: classes.into(),
            policy,
            topology,
        })
    }

    /// Takes an event in at `now`, and appends what must be done about it.
    ///
    /// # Panics
    /// Where a request names a route class or a tenant, or a kill switch a target, that the topology
    /// does not have.
    pub fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        self.now = self.now.max(now);
        self.health.on_time(self.now);
        match event {
            Event::Arrived(ref request) => self.on_arrived(request, actions),
            Event::Headers(attempt) => self.on_headers(attempt, actions),
            Event::FirstChunk(attempt) => self.on_first_chunk(attempt, actions),
            Event::FirstOutput(attempt) => self.on_first_output(attempt, actions),
            Event::Progress { attempt, at } => self.on_progress(attempt, at),
            Event::Ended { attempt, usage, answer } => {
                self.on_ended(attempt, usage, answer, actions);
            }
            Event::Failed { attempt, ref failure } => self.on_failed(attempt, failure, actions),
            Event::Reconciled { attempt, record } => self.on_reconciled(attempt, record, actions),
            Event::LookedUp { request, record } => self.on_looked_up(request, record, actions),
            Event::UsedBelow { attempt, calls } => self.on_used_below(attempt, calls),
            Event::NotSent(attempt) => self.on_not_sent(attempt, actions),
            Event::Timer { request, epoch } => self.on_timer(request, epoch, actions),
            Event::Cancelled(request) => self.on_cancelled(request, actions),
            Event::Learnt(fact) => self.on_learnt(fact, actions),
            Event::TaskJudged { target, done } => {
                self.health.on_task(target, !done, self.now);
            }
            Event::KillSwitch { target, off } => self.on_kill_switch(target, off),
        }
    }

    /// The most actions one event can append: what a buffer must hold never to grow.
    pub fn max_actions_per_event(&self) -> usize {
        // Cancel, decision, a decision revised, send or finish, timer; and a change of each
        // breaker over the failed target and over the next one. With a hedge in flight a second
        // attempt is cut and decided on, over a third target.
        let over_one_target = self.policy.breakers.len();
        match self.policy.hedge {
            None => 5 + 2 * over_one_target,
            Some(_) => 7 + 3 * over_one_target,
        }
    }

    /// What each breaker is about, as [`Action::Breaker`] numbers them.
    pub fn breakers(&self) -> impl Iterator<Item = BreakerScope> {
        let breakers = &self.health.breakers;
        (0..breakers.len()).map(|breaker| breakers.scope(breaker as u16))
    }

    /// The policy it runs.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The targets and route classes it serves.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Attempts in flight.
    pub fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Requests that have not ended.
    pub fn open_requests(&self) -> usize {
        self.slots.open_requests()
    }

    /// Probe permits of half-open breakers that attempts in flight hold.
    pub fn permits_out(&self) -> u64 {
        self.health.breakers.probing()
    }

    /// How often recovery asked a shared budget.
    pub fn budget_asks(&self) -> u64 {
        self.budgets.asks()
    }

    /// How often a shared budget denied it.
    pub fn budget_denials(&self) -> u64 {
        self.budgets.denials()
    }

    /// Hashes all that decides what it does from now on and is no single request's, and nothing that only
    /// counts. Two routers of one policy and one topology that hash alike to a good hasher, with what
    /// [`hash_request`](Router::hash_request) hashes of each request, answer every further event alike,
    /// but for the handles they give to requests.
    pub fn hash_shared<H: Hasher>(&self, state: &mut H) {
        (&self.health, &self.budgets, self.now).hash(state);
    }

    /// Hashes the same of one open request: all but its handle.
    pub fn hash_request<H: Hasher>(&self, request: RequestRef, state: &mut H) {
        if let Some(i) = self.slots.find(request) {
            self.slots.hash_slot(i, state);
        }
    }

    /// As new, but without allocating. Handles given out before must not be used again: they would
    /// name other requests.
    pub fn reset(&mut self) {
        self.health.reset();
        self.budgets.reset();
        self.slots.reset();
        self.facts.as_mut().map(Vec::clear);
        self.in_flight = 0;
        self.now = Instant::ZERO;
    }
}

impl Clone for Router {
    fn clone(&self) -> Router {
        Router {
            policy: self.policy.clone(),
            topology: self.topology.clone(),
            classes: Arc::clone(&self.classes),
            health: self.health.clone(),
            budgets: self.budgets.clone(),
            slots: self.slots.clone(),
            facts: self.facts.clone(),
            ..*self
        }
    }

    /// Of a copy of the same router only what has happened is copied: what nothing changes is the same.
    fn clone_from(&mut self, source: &Router) {
        if !Arc::ptr_eq(&self.classes, &source.classes) {
            *self = source.clone();
            return;
        }
        let Router {
            policy: _,
            topology: _,
            classes: _,
            follows_recoveries: _,
            health,
            budgets,
            slots,
            refusal,
            in_flight,
            now,
            facts,
        } = source;
        self.health.clone_from(health);
        self.budgets.clone_from(budgets);
        self.slots.clone_from(slots);
        self.facts.clone_from(facts);
        (self.refusal, self.in_flight, self.now) = (*refusal, *in_flight, *now);
    }
}
