//! A router under watch, and what it did so far.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::hash::Hash;

use super::accounts::{Accounts, Paid, at_least_one, part};
use super::key::Key;
use super::{Broken, Life, Promise, Subject};
use crate::config::{AllUnavailable, Blame, BudgetKind, ChargedTo, RecoveryAction};
use crate::event::{
    Action, AttemptRef, BreakerState, Decision, Event, Outcome, Request, RequestRef, Send, Terminal,
};
use crate::facts::Fact;
use crate::outcome::{Answer, Execution, FailureClass, Phase, Usage};
use crate::target::{TargetId, TenantId};
use crate::{BreakerScope, Duration, Instant, Share};

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

    fn check(&mut self, action: Action) -> Result<(), Broken> {
        let now = self.now;
        if let Some(request) = action.request() {
            let open = self.lives.contains_key(&request);
            Promise::OneResult.holds(open, || format!("{action:?} is about no open request"))?;
        }
        let topology = self.subject.topology();
        match action {
            Action::Send(send) => self.check_send(send),
            Action::SetTimer { request, at, epoch } => {
                life(&mut self.lives, request).timer = Some((at, epoch));
                Promise::TimersEnd.holds(at >= now, || "a timer in the past".into())
            }
            Action::Cancel { attempt, class } => {
                let life = life(&mut self.lives, attempt.request);
                Promise::OneAtATime.holds(life.in_flight(attempt), || {
                    format!("attempt {} was cut, and was not in flight", attempt.number)
                })?;
                life.presume(attempt, topology);
                let Some(class) = class else {
                    life.gone(attempt);
                    return Promise::Explained.holds(life.released || life.has_result, || {
                        format!("attempt {} was cut for nothing", attempt.number)
                    });
                };
                let ended = (life.ended, life.latest);
                let at = life.account(attempt);
                life.failed(attempt, class, topology);
                if life.has_result {
                    (life.ended, life.latest) = ended;
                }
                // What the caller's going cuts says nothing about a target.
                if class != FailureClass::CallerCancelled {
                    self.failed(at, class);
                }
                Ok(())
            }
            Action::Release(attempt) => {
                let life = life(&mut self.lives, attempt.request);
                let ended = life.has_result && life.ended == attempt.number;
                let kept = (life.in_flight(attempt) || ended) && !life.released;
                life.released = true;
                life.released_by = Some(attempt.number);
                Promise::NoneAfterOutput
                    .holds(kept, || format!("attempt {} was released, too", attempt.number))
            }
            Action::Decided { attempt, decision } => {
                let life = life(&mut self.lives, attempt.request);
                life.unexplained = false;
                life.decided = None;
                let recovers = matches!(decision, Decision::Recover { .. });
                let how = || format!("a recovery was decided after attempt {}", attempt.number);
                Promise::NoneAfterCancel.holds(!(recovers && life.cancelled), how)?;
                Promise::NoneAfterOutput.holds(!(recovers && life.released), how)?;
                let awaited = match decision {
                    Decision::Await => life.flying.is_some(),
                    Decision::Recover { .. } => life.flying.is_none(),
                    Decision::Stop(_) => true,
                };
                Promise::OneAtATime.holds(awaited, || {
                    format!("{decision:?} was decided after attempt {}", attempt.number)
                })?;
                Promise::Explained.holds(!life.in_flight(attempt), || {
                    format!("a decision on attempt {}, which is in flight", attempt.number)
                })?;
                match (decision, life.latest) {
                    (Decision::Recover { action, target, .. }, Some(failing)) => {
                        let tenant = life.request.tenant;
                        self.pays(attempt, Paid { action, failing, destination: target, tenant })
                    }
                    _ => Ok(()),
                }
            }
            Action::Breaker { breaker, state, until } => {
                let open = (state == BreakerState::Open).then_some((now, until));
                self.open_until[usize::from(breaker)] = open;
                Ok(())
            }
            Action::Reconcile(attempt) => {
                let life = life(&mut self.lives, attempt.request);
                life.asked = true;
                Promise::OneAtATime.holds(life.flying.is_none(), || {
                    format!("attempt {} is in flight, and its tool is asked for", attempt.number)
                })
            }
            Action::LookUp { request, action } => {
                let life = life(&mut self.lives, request);
                life.looks_up = true;
                Promise::OneAtATime.holds(life.attempts == 0, || {
                    format!("{} attempts were sent, and then the record was asked", life.attempts)
                })?;
                Promise::NoRepeatedWrite.holds(action == life.request.action, || {
                    format!("action {action} is looked up for {}", life.request.action)
                })
            }
            Action::Finish { request, result } => self.check_finish(request, result),
        }
    }

    fn check_finish(&mut self, request: RequestRef, result: Terminal) -> Result<(), Broken> {
        let Some(life) = self.lives.remove(&request) else { return Ok(()) };
        self.finished += 1;
        let facts = (self.subject.policy(), self.subject.topology());
        self.accounts.turns_away(&life.request, &result, self.now, facts)?;
        let kept = |kept: bool, what: &str| {
            Promise::OneResult.holds(kept, || format!("{what}: {result:?}"))
        };
        let flying = life.flying.map(|attempt| attempt.number);
        Promise::PermitsReturn.holds(flying.is_none(), || {
            format!("the request ended, and attempt {} is in flight", flying.unwrap_or_default())
        })?;
        Promise::Explained
            .holds(!life.unexplained, || "the request ended without a reason".into())?;
        kept(result.id == life.request.id, "the result of another request")?;
        let cancelled = result.outcome == Outcome::Cancelled;
        kept(life.cancelled == cancelled, "a result that forgets a cancellation, or invents one")?;
        kept(result.attempts <= life.attempts, "a result that counts attempts nobody saw")?;
        let disclose = match result.outcome {
            Outcome::Answered(n) | Outcome::Refused(n) => life.to_disclose.contains(&n),
            _ => false,
        };
        Promise::Disclosed.holds(result.disclosed == disclose, || {
            format!("a result with the wrong mark: {result:?}")
        })?;
        match result.outcome {
            Outcome::Answered(n) => kept(life.released_by == Some(n), "an answer nobody got"),
            Outcome::Refused(n) => kept(n == life.ended, "a refusal by another attempt"),
            _ => Ok(()),
        }
    }

    fn check_send(&mut self, send: Send) -> Result<(), Broken> {
        let (policy, topology) = (self.subject.policy(), self.subject.topology());
        let life = &self.lives[&send.attempt.request];
        life.may_send(&send, self.now, policy, topology)?;
        self.in_service(&send)?;
        let first = life.is_first_in(send.group);
        let facts = (policy, topology);
        self.accounts.enters(&life.request, &send, first, self.now, facts)?;
        match (send.recovery, life.paying(&send)) {
            (None, _) => {
                let at = (send.target, life.request.tenant);
                self.accounts.first_attempt(at, self.now, facts);
            }
            // A hedge follows no failure: nothing was decided before.
            (Some(RecoveryAction::Hedge), Some(paid)) => self.pays(send.attempt, paid)?,
            (Some(_), _) => {}
        }
        self::life(&mut self.lives, send.attempt.request).sent(&send);
        Ok(())
    }

    fn in_service(&self, send: &Send) -> Result<(), Broken> {
        let policy = self.subject.policy();
        let kept = |kept: bool, what: &str| {
            let target = &self.subject.topology().targets[usize::from(send.target.0)].name;
            Promise::OutOfService.holds(kept, || {
                format!("attempt {} was sent to {target} {what}", send.attempt.number)
            })
        };
        kept(!self.taken_out[usize::from(send.target.0)], "although it is taken out")?;
        kept(send.recovery.is_none() || !self.recovery_off, "although recovery is switched off")?;
        let health_counts = policy.all_unavailable != AllUnavailable::FailOpen
            && policy.selection.panic_threshold == Share::ONE;
        // Which rule a breaker is of is not known here: the slowest stands for all.
        let leaves_over = policy.breakers.iter().filter_map(|rule| rule.leaves_over).max();
        let leaves_over = leaves_over.unwrap_or(Duration::ZERO);
        let class = self.lives[&send.attempt.request].request.class;
        let class = &self.subject.topology().classes[usize::from(class.0)];
        for (breaker, scope) in self.covers.iter().enumerate() {
            let open = self.open_until[breaker]
                .is_some_and(|(since, until)| since + leaves_over <= self.now && self.now < until);
            let into_open = open && scope.covers(class, send.target);
            kept(!(into_open && health_counts), "although its breaker is open")?;
        }
        Ok(())
    }

    /// A recovery draws on the shared budgets: each has something for it.
    fn pays(&mut self, attempt: AttemptRef, paid: Paid) -> Result<(), Broken> {
        self.within_flight(attempt, paid)?;
        let facts = (self.subject.policy(), self.subject.topology());
        self.accounts.recovers(paid, self.now, facts)?;
        if paid.action != RecoveryAction::Hedge {
            life(&mut self.lives, attempt.request).decided = Some(paid);
        }
        Ok(())
    }

    /// Recoveries in flight, and those that wait, stay within what is declared for them.
    fn within_flight(&self, attempt: AttemptRef, this: Paid) -> Result<(), Broken> {
        let (policy, topology) = (self.subject.policy(), self.subject.topology());
        let beside = |same: &dyn Fn(&Paid) -> bool| {
            self.lives.values().flat_map(Life::recoveries).filter(|p| same(p)).count() as u64
        };
        let kept = |used: u64, max: u64, whose: &str| {
            Promise::AttemptLimits.holds(used < max, || {
                let (name, number) = (this.action.name(), attempt.number);
                format!("a {name} at attempt {number} beside {used}, beyond {whose}")
            })
        };
        for (i, budget) in policy.retry_budgets.iter().enumerate() {
            let BudgetKind::InFlight { max } = budget.kind else { continue };
            if !budget.governs.contains(&this.action) {
                continue;
            }
            let used = beside(&|paid| {
                budget.governs.contains(&paid.action)
                    && (!budget.by_tenant || paid.tenant == this.tenant)
                    && match budget.charged_to {
                        ChargedTo::FailingTarget => paid.failing == this.failing,
                        ChargedTo::Destination => paid.destination == this.destination,
                        ChargedTo::Overall => true,
                    }
            });
            let max = at_least_one(part(budget, this.tenant, topology), max) / 1_000_000;
            kept(used, max, &format!("retry_budgets[{i}]"))?;
        }
        let there = &topology.targets[usize::from(this.destination.0)];
        match there.failover_in_flight {
            Some(max) if this.action != RecoveryAction::Retry => {
                let moved = |paid: &Paid| paid.action != RecoveryAction::Retry;
                let used = beside(&|p| moved(p) && p.destination == this.destination);
                kept(used, max.into(), "the failover_in_flight of its target")
            }
            _ => Ok(()),
        }
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
