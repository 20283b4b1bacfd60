//! A router under watch, and what it did so far.

mod checks;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::Hash;

use super::accounts::Accounts;
use super::key::Key;
use super::{Broken, Life, Promise, Subject};
use crate::config::Blame;
use crate::event::{Action, AttemptRef, Event, Request, RequestRef};
use crate::facts::Fact;
use crate::outcome::{Answer, Execution, FailureClass, Phase, Usage};
use crate::target::{TargetId, TenantId};
use crate::{BreakerScope, Instant};

/// An event, when it was fed, and what followed from it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moment {
    /// When.
    pub now: Instant,
    /// What happened.
    pub event: Event,
    /// What the router did.
    pub actions: Vec<Action>,
}

/// Feeds events to a subject, and holds every action against the promises, by means of state kept
/// here and computed apart from the subject's own.
#[derive(Debug)]
pub struct Watched<S> {
    /// What is watched.
    pub subject: S,
    /// The open requests.
    pub lives: Lives,
    /// The time of the latest event.
    pub now: Instant,
    /// All that happened, where it is kept.
    trail: Option<Vec<Moment>>,
    arrived: u64,
    finished: u64,
    taken_out: Vec<bool>,
    recovery_off: bool,
    open_until: Vec<Option<(Instant, Instant)>>,
    accounts: Accounts,
    /// What each breaker is about.
    covers: Arc<[BreakerScope]>,
}

type Lives = BTreeMap<RequestRef, Life>;

/// No request needs as many timers to end.
const MOST_TIMERS: u32 = 100_000;

impl<S: Subject> Watched<S> {
    /// A subject as new, to which nothing has happened yet.
    pub fn new(subject: S) -> Watched<S> {
        let covers: Arc<[BreakerScope]> = subject.breakers().into();
        Watched {
            taken_out: vec![false; subject.topology().targets.len()],
            open_until: vec![None; covers.len()],
            accounts: Accounts::new(subject.policy(), subject.topology()),
            covers,
            lives: BTreeMap::new(),
            now: Instant::ZERO,
            trail: None,
            arrived: 0,
            finished: 0,
            recovery_off: false,
            subject,
        }
    }

    /// From now on, what happens is kept.
    #[must_use]
    pub fn keeping_trail(mut self) -> Watched<S> {
        self.trail = Some(Vec::new());
        self
    }

    /// From now on, what happens is not kept, and what was is gone.
    #[must_use]
    pub fn forgetting_trail(mut self) -> Watched<S> {
        self.trail = None;
        self
    }

    /// What happened since it is kept.
    pub fn trail(&self) -> &[Moment] {
        self.trail.as_deref().unwrap_or_default()
    }

    /// Feeds one event, and holds what follows against the promises.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn feed(&mut self, now: Instant, event: Event) -> Result<(), Broken> {
        self.now = self.now.max(now);
        self.before(event);
        let mut actions = Vec::new();
        self.subject.handle(now, event, &mut actions);
        let kept = self.after(event, &actions);
        if let Some(trail) = &mut self.trail {
            trail.push(Moment { now, event, actions });
        }
        kept
    }

    fn after(&mut self, event: Event, actions: &[Action]) -> Result<(), Broken> {
        if let Event::Arrived(request) = event {
            self.meet(request, actions)?;
        }
        for action in actions {
            self.check(*action)?;
        }
        let most = self.subject.max_actions_per_event();
        Promise::OneResult
            .holds(actions.len() <= most, || format!("{} actions for one event", actions.len()))
    }

    /// When the earliest timer fires.
    pub fn next_timer(&self) -> Option<Instant> {
        self.lives.values().filter_map(|life| life.timer).map(|(at, _)| at).min()
    }

    /// Fires the earliest timer; answers whether one was set. Of several due at one instant that of the
    /// request with the least [`content`](Watched::content): their handles decide nothing.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn fire_next_timer(&mut self) -> Result<bool, Broken> {
        let Some(at) = self.next_timer() else { return Ok(false) };
        let due = |life: &Life| life.timer.is_some_and(|(when, _)| when == at);
        match self.least(due) {
            Some(request) => self.fire_timer(request),
            None => Ok(false),
        }
    }

    /// Fires the timer of a request; answers whether one was set.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn fire_timer(&mut self, request: RequestRef) -> Result<bool, Broken> {
        let timer = self.lives.get_mut(&request).and_then(|life| life.timer.take());
        let Some((at, epoch)) = timer else { return Ok(false) };
        self.feed(at, Event::Timer { request, epoch })?;
        Ok(true)
    }

    /// Of the requests of which this holds, that with the least content.
    fn least(&self, holds: impl Fn(&Life) -> bool) -> Option<RequestRef> {
        let mut some = self.lives.iter().filter(|(_, life)| holds(life)).map(|(r, _)| *r);
        let first = some.next()?;
        match some.next() {
            None => Some(first),
            Some(second) => {
                [first, second].into_iter().chain(some).min_by_key(|r| self.content(*r))
            }
        }
    }

    /// Lets every request end: timers fire, and what no timer ends is answered.
    ///
    /// # Errors
    /// The first promise that was broken.
    pub fn drain(&mut self) -> Result<(), Broken> {
        for _ in 0..MOST_TIMERS {
            if self.lives.is_empty() {
                return self.nothing_left();
            }
            if self.fire_next_timer()? {
                continue;
            }
            let flying = self.least(|life| life.flying.is_some());
            let Some(attempt) = flying.and_then(|request| self.lives[&request].flying) else {
                let how = format!("{} requests wait, and no timer is set", self.lives.len());
                return Err(Broken { promise: Promise::TimersEnd, how });
            };
            let (usage, answer) = (Usage::default(), Answer::Valid);
            self.feed(self.now, Event::Ended { attempt, usage, answer })?;
        }
        let how = format!("{MOST_TIMERS} timers have fired, and a request is open");
        Err(Broken { promise: Promise::TimersEnd, how })
    }

    /// All requests have ended: nothing is held for them.
    fn nothing_left(&self) -> Result<(), Broken> {
        Promise::OneResult.holds(self.arrived == self.finished, || {
            format!("{} requests came, {} ended", self.arrived, self.finished)
        })?;
        let [in_flight, open, permits] = self.subject.held();
        Promise::PermitsReturn.holds(in_flight + open + permits == 0, || {
            format!(
                "no request is left, but {in_flight} attempts in flight, {open} open requests, \
                 {permits} probe permits"
            )
        })
    }

    /// What comes late for a request that has ended leads to nothing.
    ///
    /// # Errors
    /// Something led to an action.
    pub fn silent(&mut self, ended: RequestRef) -> Result<(), Broken> {
        let now = self.now;
        let attempts = (1..=3).map(|number| AttemptRef { request: ended, number });
        let late = attempts
            .flat_map(|attempt| [Event::FirstOutput(attempt), Event::NotSent(attempt)])
            .chain((0..8).map(|epoch| Event::Timer { request: ended, epoch }))
            .chain([Event::Cancelled(ended)]);
        for event in late {
            let mut actions = Vec::new();
            self.subject.handle(now, event, &mut actions);
            Promise::OneResult.holds(actions.is_empty(), || {
                format!("{event:?} of a request that has ended led to {:?}", actions[0])
            })?;
        }
        Ok(())
    }

    /// What an event means for the promises, before the subject sees it.
    fn before(&mut self, event: Event) {
        match event {
            Event::Arrived(_) => self.arrived += 1,
            Event::Cancelled(request) => {
                if let Some(life) = self.lives.get_mut(&request) {
                    life.cancelled = true;
                }
            }
            // Of what others know nothing is promised here but what breakers say, and what fills budgets.
            Event::Learnt(fact) => {
                let facts = (self.subject.policy(), self.subject.topology());
                match fact {
                    Fact::Answered { target, tenant } => {
                        self.accounts.outcome((target, tenant), false, facts);
                    }
                    Fact::FirstAttempt { target, tenant } => {
                        self.accounts.first_attempt((target, tenant), self.now, facts);
                    }
                    Fact::Admitted { class, group } => {
                        self.accounts.entered_elsewhere(class, group, self.now);
                    }
                    _ => {}
                }
            }
            Event::KillSwitch { target: Some(t), off } => self.taken_out[usize::from(t.0)] = off,
            Event::KillSwitch { target: None, off } => self.recovery_off = off,
            Event::Failed { attempt, failure } => {
                let topology = self.subject.topology();
                if let Some(life) = flying(&mut self.lives, attempt) {
                    life.charge(attempt, failure.usage, topology);
                    let at = life.account(attempt);
                    let class = life.class_of(attempt, failure.class);
                    life.failed(attempt, failure.class, topology);
                    self.failed(at, class);
                }
            }
            Event::Ended { attempt, usage, answer } => {
                let topology = self.subject.topology();
                if let Some(life) = flying(&mut self.lives, attempt) {
                    life.charge(attempt, usage, topology);
                    let at = life.account(attempt);
                    life.over(attempt);
                    life.unexplained = answer == Answer::Invalid;
                    life.has_result |= answer != Answer::Invalid;
                    match answer {
                        Answer::Invalid => self.failed(at, FailureClass::ContractFailure),
                        Answer::Valid | Answer::Refusal => {
                            let facts = (self.subject.policy(), topology);
                            self.accounts.outcome(at, false, facts);
                        }
                    }
                }
            }
            Event::Headers(attempt) | Event::FirstChunk(attempt) => {
                self.came_to(attempt, Phase::BeforeOutput);
            }
            Event::FirstOutput(attempt) => self.came_to(attempt, Phase::AfterOutput),
            Event::Reconciled { attempt, record } => {
                let known = matches!(record, Execution::NotCalled | Execution::Succeeded);
                if let Some(life) = self.lives.get_mut(&attempt.request) {
                    let answers = life.asked && attempt.number == life.attempts;
                    life.ambiguous &= !(known && answers);
                }
            }
            Event::LookedUp { request, record } => {
                let known = matches!(record, Execution::NotCalled | Execution::Succeeded);
                if let Some(life) = self.lives.get_mut(&request) {
                    life.ambiguous &= !(known && life.looks_up && life.attempts == 0);
                    life.looks_up &= matches!(record, Execution::Planned | Execution::Started);
                }
            }
            Event::UsedBelow { attempt, calls } => {
                if let Some(life) = flying(&mut self.lives, attempt) {
                    life.used_below += u32::from(calls);
                }
            }
            Event::NotSent(attempt) => {
                if let Some(life) = flying(&mut self.lives, attempt) {
                    life.over(attempt);
                }
            }
            _ => {}
        }
    }

    /// An attempt failed with this class: budgets count it where the matrix blames the target.
    fn failed(&mut self, at: (TargetId, TenantId), class: FailureClass) {
        let facts = (self.subject.policy(), self.subject.topology());
        if !matches!(facts.0.matrix.row(class).blame, Blame::No | Blame::Contract) {
            self.accounts.outcome(at, true, facts);
        }
    }

    fn came_to(&mut self, attempt: AttemptRef, phase: Phase) {
        if let Some(life) = flying(&mut self.lives, attempt) {
            let seen = match life.hedge == Some(attempt) {
                true => &mut life.hedge_phase,
                false => &mut life.phase,
            };
            *seen = phase.max(*seen);
        }
    }

    fn meet(&mut self, request: Request, actions: &[Action]) -> Result<(), Broken> {
        let Some(handle) = actions.iter().find_map(Action::request) else {
            return Err(Broken {
                promise: Promise::OneResult,
                how: "an arrival led to nothing".into(),
            });
        };
        let facts = (self.subject.policy(), self.subject.topology());
        let life = Life::new(request, self.now, facts);
        let new = self.lives.insert(handle, life).is_none();
        Promise::OneResult.holds(new, || format!("{handle:?} names two requests"))
    }

    /// The key of all that decides what follows, and whether it is allowed: 128 bits, so that states with
    /// one key are one state, or differ in the handles of their requests alone. By those nothing is
    /// decided, so that what follows differs in them alone as well. No two other of a million states
    /// share a key but by a chance of 10⁻²⁶.
    pub fn key(&self) -> u128 {
        let mut requests: Vec<u128> = self.lives.keys().map(|r| self.content(*r)).collect();
        requests.sort_unstable();
        let mut key = Key::default();
        self.subject.hash_shared(&mut key);
        (self.now, self.recovery_off).hash(&mut key);
        (&self.taken_out, &self.open_until, &self.accounts).hash(&mut key);
        requests.hash(&mut key);
        key.wide()
    }

    /// The same of one open request, but for its handle.
    pub fn content(&self, request: RequestRef) -> u128 {
        let mut key = Key::default();
        self.subject.hash_request(request, &mut key);
        self.lives[&request].hash_content(&mut key);
        key.wide()
    }
}

impl<S: Clone> Clone for Watched<S> {
    fn clone(&self) -> Watched<S> {
        Watched {
            subject: self.subject.clone(),
            lives: self.lives.clone(),
            trail: self.trail.clone(),
            taken_out: self.taken_out.clone(),
            open_until: self.open_until.clone(),
            accounts: self.accounts.clone(),
            covers: Arc::clone(&self.covers),
            ..*self
        }
    }

    /// What the subject need not copy is not copied.
    fn clone_from(&mut self, source: &Watched<S>) {
        let Watched {
            subject,
            lives,
            now,
            trail,
            arrived,
            finished,
            taken_out,
            recovery_off,
            open_until,
            accounts,
            covers,
        } = source;
        self.subject.clone_from(subject);
        self.lives.clone_from(lives);
        self.trail.clone_from(trail);
        self.taken_out.clone_from(taken_out);
        self.open_until.clone_from(open_until);
        self.accounts.clone_from(accounts);
        self.covers.clone_from(covers);
        (self.now, self.arrived, self.finished) = (*now, *arrived, *finished);
        self.recovery_off = *recovery_off;
    }
}

fn flying(lives: &mut Lives, attempt: AttemptRef) -> Option<&mut Life> {
    lives.get_mut(&attempt.request).filter(|life| life.in_flight(attempt))
}

/// The life of a request that is known to be open.
fn life(lives: &mut Lives, request: RequestRef) -> &mut Life {
    lives.get_mut(&request).expect("the request is open")
}
