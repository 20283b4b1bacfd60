//! A router under watch: every action is held against the promises on `Router`, by means of
//! state kept here and computed apart from the router's own.

use std::collections::BTreeMap;

use windtunnel_policy::config::{AllUnavailable, BudgetScope, Policy, Problem, RecoveryAction};
use windtunnel_policy::event::{
    Action, AttemptRef, BreakerState, Decision, Event, Outcome, Request, RequestRef, Send,
};
use windtunnel_policy::outcome::{Answer, FailureClass};
use windtunnel_policy::target::{SideEffects, TargetId, Topology};
use windtunnel_policy::{Duration, Instant, Router, Share};

/// One request as its caller and its targets see it.
#[derive(Clone, Debug)]
pub(crate) struct Life {
    pub(crate) request: Request,
    pub(crate) arrived: Instant,
    pub(crate) sends: Vec<Send>,
    /// The attempt in flight.
    pub(crate) flying: Option<AttemptRef>,
    pub(crate) timer: Option<(Instant, u32)>,
    released: bool,
    cancelled: bool,
    /// Something may have been written: no attempt may follow.
    ambiguous: bool,
}

/// A router, and what it did so far.
#[derive(Clone)]
pub(crate) struct Watched {
    pub(crate) router: Router,
    pub(crate) lives: BTreeMap<RequestRef, Life>,
    pub(crate) now: Instant,
    /// Every event so far.
    pub(crate) events: Vec<(Instant, Event)>,
    /// Every action so far.
    pub(crate) log: Vec<Action>,
    pub(crate) finished: usize,
    arrived: usize,
    killed: Vec<bool>,
    recovery_off: bool,
    open_until: Vec<Option<Instant>>,
    covers: Vec<Vec<TargetId>>,
}

impl Watched {
    pub(crate) fn new(policy: Policy, topology: Topology) -> Result<Watched, Vec<Problem>> {
        let router = Router::new(policy, topology)?;
        let covers: Vec<Vec<TargetId>> = router.breakers().map(|(_, targets)| targets).collect();
        Ok(Watched {
            killed: vec![false; router.topology().targets.len()],
            open_until: vec![None; covers.len()],
            covers,
            lives: BTreeMap::new(),
            now: Instant::ZERO,
            events: Vec::new(),
            log: Vec::new(),
            finished: 0,
            arrived: 0,
            recovery_off: false,
            router,
        })
    }

    /// Feeds one event, and holds what follows against the promises.
    pub(crate) fn feed(&mut self, now: Instant, event: Event) {
        self.now = self.now.max(now);
        self.events.push((now, event));
        self.before(event);
        let mut actions = Vec::new();
        self.router.handle(now, event, &mut actions);
        assert!(actions.len() <= self.router.max_actions_per_event(), "too many: {actions:?}");
        if let Event::Arrived(request) = event {
            self.meet(request, &actions);
        }
        for action in actions {
            self.check(action);
            self.log.push(action);
        }
    }

    /// When the earliest timer fires.
    pub(crate) fn next_timer(&self) -> Option<Instant> {
        self.lives.values().filter_map(|life| life.timer).map(|(at, _)| at).min()
    }

    /// Fires the earliest timer, if any is set; answers whether one was.
    pub(crate) fn fire_next_timer(&mut self) -> bool {
        let timers = self.lives.iter().filter_map(|(r, life)| Some((life.timer?, *r)));
        let Some(((at, epoch), request)) = timers.min() else { return false };
        self.lives.get_mut(&request).expect("a timer belongs to a request").timer = None;
        self.feed(at, Event::Timer { request, epoch });
        true
    }

    /// Lets every request end: timers fire, and what no timer ends is answered.
    pub(crate) fn drain(&mut self) {
        while !self.lives.is_empty() {
            if self.fire_next_timer() {
                continue;
            }
            let attempt = self.lives.values().find_map(|life| life.flying);
            let attempt = attempt.expect("a request without a timer has an attempt in flight");
            let (usage, answer) = (Default::default(), Answer::Valid);
            self.feed(self.now, Event::Ended { attempt, usage, answer });
        }
        assert_eq!(self.finished, self.arrived, "each request ends once");
        assert_eq!(self.router.open_requests(), 0);
        assert_eq!(self.router.in_flight(), 0);
        assert_eq!(self.router.permits_out(), 0, "every probe permit returned");
    }

    /// What an event means for the promises, before the router sees it.
    fn before(&mut self, event: Event) {
        match event {
            Event::Arrived(_) => self.arrived += 1,
            Event::Cancelled(request) => {
                if let Some(life) = self.lives.get_mut(&request) {
                    life.cancelled = true;
                }
            }
            Event::KillSwitch { target: Some(t), off } => self.killed[usize::from(t.0)] = off,
            Event::KillSwitch { target: None, off } => self.recovery_off = off,
            Event::Failed { attempt, failure } => {
                let unsure = match failure.class {
                    FailureClass::Transport
                    | FailureClass::Timeout
                    | FailureClass::PartialStream => self.writes(),
                    FailureClass::SideEffectUnknown => true,
                    _ => false,
                };
                if let Some(life) = self.flying(attempt) {
                    life.ambiguous |= unsure;
                    life.cancelled |= failure.class == FailureClass::CallerCancelled;
                    life.flying = None;
                }
            }
            Event::Ended { attempt, .. } | Event::NotSent(attempt) => {
                if let Some(life) = self.flying(attempt) {
                    life.flying = None;
                }
            }
            _ => {}
        }
    }

    fn meet(&mut self, request: Request, actions: &[Action]) {
        let handle = actions.iter().find_map(|action| match action {
            Action::Send(send) => Some(send.attempt.request),
            Action::SetTimer { request, .. } | Action::Finish { request, .. } => Some(*request),
            _ => None,
        });
        let life = Life {
            request,
            arrived: self.now,
            sends: Vec::new(),
            flying: None,
            timer: None,
            released: false,
            cancelled: false,
            ambiguous: false,
        };
        let handle = handle.expect("an arrival leads to something");
        assert!(self.lives.insert(handle, life).is_none(), "a handle belongs to one request");
    }

    fn check(&mut self, action: Action) {
        let now = self.now;
        match action {
            Action::Send(send) => self.check_send(send),
            Action::SetTimer { request, at, epoch } => {
                assert!(at >= now, "a timer in the past");
                self.life(request).timer = Some((at, epoch));
            }
            Action::Cancel { attempt, class } => {
                let writes = self.writes();
                let life = self.flying(attempt).expect("what is cut was in flight");
                life.ambiguous |= class == FailureClass::Timeout && writes;
                life.flying = None;
            }
            Action::Release(attempt) => {
                let life = self.life(attempt.request);
                assert!(!life.released, "output is released once");
                assert_eq!(life.sends.last().map(|s| s.attempt), Some(attempt));
                life.released = true;
            }
            Action::Decided { attempt, decision } => {
                let life = self.life(attempt.request);
                assert_eq!(life.flying, None, "a decision follows the end of an attempt");
                assert_eq!(life.sends.last().map(|s| s.attempt), Some(attempt));
                if let Decision::Recover { .. } = decision {
                    assert!(!life.released && !life.cancelled);
                }
            }
            Action::Breaker { breaker, state, until } => {
                let open = (state == BreakerState::Open).then_some(until);
                self.open_until[usize::from(breaker)] = open;
            }
            Action::Finish { request, result } => {
                let life = self.lives.remove(&request).expect("a request ends once");
                self.finished += 1;
                assert_eq!(life.flying, None, "nothing is in flight at the end");
                assert_eq!(result.id, life.request.id);
                assert_eq!(life.cancelled, result.outcome == Outcome::Cancelled, "{result:?}");
                assert!(usize::from(result.attempts) <= life.sends.len());
                if let Outcome::Answered(n) = result.outcome {
                    assert!(life.released);
                    assert_eq!(life.sends.last().map(|s| s.attempt.number), Some(n));
                }
            }
        }
    }

    fn check_send(&mut self, send: Send) {
        let now = self.now;
        let life = self.lives[&send.attempt.request].clone();
        assert!(!life.cancelled, "no attempt after the caller has cancelled");
        assert!(!life.released, "no attempt after output was released");
        assert!(!life.ambiguous, "no attempt after a write that may have happened");
        assert_eq!(life.flying, None, "one attempt at a time");
        assert_eq!(usize::from(send.attempt.number), life.sends.len() + 1);
        assert_eq!(send.recovery.is_none(), life.sends.is_empty());
        self.check_place(&send, &life);
        self.check_budgets(&send, &life);

        let class = &self.router.topology().classes[usize::from(life.request.class.0)];
        let deadline = life.arrived + class.deadline_total;
        assert!(now < deadline, "sent after the deadline");
        let unlimited = deadline == Instant::FAR_FUTURE;
        assert!(unlimited || send.remaining <= deadline - now);
        assert!(!self.killed[usize::from(send.target.0)], "sent to a target taken out");
        assert!(send.recovery.is_none() || !self.recovery_off, "recovery is switched off");
        let policy = self.router.policy();
        let health_counts = policy.all_unavailable != AllUnavailable::FailOpen
            && policy.selection.panic_threshold == Share::ONE;
        for (breaker, targets) in self.covers.iter().enumerate() {
            let open = self.open_until[breaker].is_some_and(|until| now < until);
            let sent_into_open = open && targets.contains(&send.target);
            assert!(!(sent_into_open && health_counts), "sent to an open breaker");
        }
        let life = self.life(send.attempt.request);
        life.sends.push(send);
        life.flying = Some(send.attempt);
    }

    /// The kind of recovery is what its target makes it.
    fn check_place(&self, send: &Send, life: &Life) {
        let topology = self.router.topology();
        let class = &topology.classes[usize::from(life.request.class.0)];
        let model = |id: TargetId| &topology.targets[usize::from(id.0)].model;
        let own = model(class.groups[0].targets[0]) == model(send.target);
        let approved = class.substitutes.contains(model(send.target));
        assert!(own || approved, "a model the product did not approve");
        assert!(class.groups[usize::from(send.group)].targets.contains(&send.target));
        let latest = life.sends.last().map(|s| s.target);
        match send.recovery {
            None => {}
            Some(RecoveryAction::Retry) => assert_eq!(latest, Some(send.target)),
            Some(RecoveryAction::Failover) => assert!(own && latest != Some(send.target)),
            Some(RecoveryAction::Substitution) => assert!(!own && latest != Some(send.target)),
            Some(RecoveryAction::Hedge) => panic!("no second attempt while one runs"),
        }
    }

    fn check_budgets(&self, send: &Send, life: &Life) {
        let limits = &self.router.policy().attempts;
        let earlier = |f: &dyn Fn(&Send) -> bool| life.sends.iter().filter(|s| f(s)).count();
        let scoped = match limits.scope {
            BudgetScope::Request => life.sends.len(),
            BudgetScope::Group => earlier(&|s| s.group == send.group),
            BudgetScope::Target => earlier(&|s| s.target == send.target),
        };
        assert!(scoped < usize::from(limits.max), "attempts spent");
        if !limits.repick_failed {
            let same = earlier(&|s| s.target == send.target);
            assert!(same < usize::from(limits.max_same_target), "attempts on the target spent");
        }
        let in_first = earlier(&|s| s.group == 0);
        let side = match send.group {
            0 => limits.max_before_fallback.is_none_or(|most| in_first < most.into()),
            _ => limits
                .max_after_fallback
                .is_none_or(|most| life.sends.len() - in_first < most.into()),
        };
        assert!(side, "attempts before or after the first fallback spent");
        let added = self.now - life.arrived;
        let most = self.router.policy().envelope.max_added_latency.unwrap_or(Duration::MAX);
        assert!(added <= most, "added latency spent");
    }

    fn writes(&self) -> bool {
        let classes = &self.router.topology().classes;
        classes.iter().any(|class| class.side_effects == SideEffects::WritePossible)
    }

    fn life(&mut self, request: RequestRef) -> &mut Life {
        self.lives.get_mut(&request).expect("an action is about an open request")
    }

    fn flying(&mut self, attempt: AttemptRef) -> Option<&mut Life> {
        self.lives.get_mut(&attempt.request).filter(|life| life.flying == Some(attempt))
    }
}
