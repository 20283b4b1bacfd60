//! A request followed through a run.

use std::collections::BTreeMap;

use windtunnel_policy::config::Policy;
use windtunnel_policy::event::{Action, BreakerState, Event, Request, RequestRef};
use windtunnel_policy::promises::Moment;
use windtunnel_policy::{Instant, Router};

use super::Unexplained;
use crate::record::{AttemptRow, Call, RequestRow, Resent, Sink};
use crate::scenario::Scenario;
use crate::story::Names;

/// A request's life under one policy.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    /// The policy's name.
    pub policy: String,
    /// All that happened to it, and to breakers while it was open.
    pub course: Vec<Happening>,
    /// Breakers that were not closed when it came.
    pub breakers: Vec<Action>,
    /// Its attempts.
    pub attempts: Vec<AttemptRow>,
    /// Calls of the tool of its action, by whichever request and attempt of it, in order.
    pub calls: Vec<Call>,
    /// The request as a whole.
    pub row: RequestRow,
    /// Targets, classes and breakers by name.
    pub names: Names,
}

impl Told {
    /// What the router was told when it came; `None` where it never came in.
    pub(super) fn asked(&self) -> Option<Request> {
        match self.course.first()?.moment.event {
            Event::Arrived(request) => Some(request),
            _ => None,
        }
    }
}

/// One thing that happened.
#[derive(Clone, PartialEq, Debug)]
pub struct Happening {
    /// What, and what followed.
    pub moment: Moment,
    /// Whether it happened to another request, and only the breakers matter here.
    pub elsewhere: bool,
}

/// Keeps what concerns one request.
pub(super) struct Follow {
    request: u64,
    /// Gateways, whose slots are interleaved; each has breakers of its own.
    gateways: u32,
    handle: Option<RequestRef>,
    course: Vec<Happening>,
    /// Breakers that are not closed now, by gateway and position, with their latest change.
    changed: BTreeMap<(u32, u16), Action>,
    breakers: Vec<Action>,
    attempts: Vec<AttemptRow>,
    /// Of all actions: which one the request belongs to may be known late.
    calls: Vec<Call>,
    /// Its action's first request.
    action: u64,
    row: Option<RequestRow>,
    seen: u64,
}

impl Follow {
    /// Follows the request of this number through the gateways of a policy.
    pub(super) fn new(request: u64, policy: &Policy) -> Follow {
        Follow {
            request,
            gateways: policy.replicas.count,
            handle: None,
            course: Vec::new(),
            changed: BTreeMap::new(),
            breakers: Vec::new(),
            attempts: Vec::new(),
            calls: Vec::new(),
            action: request,
            row: None,
            seen: 0,
        }
    }

    pub(super) fn told(self, policy: &Policy, scenario: &Scenario) -> Result<Told, Unexplained> {
        let Some(row) = self.row else {
            return Err(Unexplained::NoSuchRequest { policy: policy.name.clone(), of: self.seen });
        };
        let router = Router::new(policy.clone(), scenario.topology.clone()).expect("it was run");
        Ok(Told {
            policy: policy.name.clone(),
            course: self.course,
            breakers: self.breakers,
            attempts: self.attempts,
            calls: self.calls.into_iter().filter(|call| call.action == self.action).collect(),
            row,
            names: Names::new(&scenario.topology, router.breakers()),
        })
    }

    fn note_breakers(&mut self, gateway: u32, actions: &[Action]) {
        for action in actions {
            if let Action::Breaker { breaker, state, .. } = action {
                match state {
                    BreakerState::Closed => self.changed.remove(&(gateway, *breaker)),
                    _ => self.changed.insert((gateway, *breaker), *action),
                };
            }
        }
    }
}

impl Sink for Follow {
    fn attempt(&mut self, row: &AttemptRow) {
        if row.request == self.request {
            self.attempts.push(*row);
        }
    }

    fn request(&mut self, row: &RequestRow) {
        self.seen += 1;
        if row.request == self.request {
            self.row = Some(*row);
        }
    }

    fn resent(&mut self, request: u64, of: Resent) {
        if request == self.request {
            self.action = of.action;
        }
    }

    fn called(&mut self, call: &Call) {
        self.calls.push(*call);
    }

    fn learnt(&mut self, now: Instant, gateway: usize, event: &Event, actions: &[Action]) {
        let gateway = gateway as u32;
        self.note_breakers(gateway, actions);
        let here = self.handle.is_some_and(|own| own.slot % self.gateways == gateway);
        if here && !actions.is_empty() {
            let moment = Moment { now, event: *event, actions: actions.to_vec() };
            self.course.push(Happening { moment, elsewhere: true });
        }
    }

    fn routed(&mut self, now: Instant, event: &Event, actions: &[Action]) {
        let comes = matches!(event, Event::Arrived(request) if request.id == self.request);
        let told = about(event).or_else(|| actions.iter().find_map(Action::request));
        let Some(gateway) = told.map(|request| request.slot % self.gateways) else { return };
        if comes {
            let own = self.changed.iter().filter(|((of, _), _)| *of == gateway);
            self.breakers = own.map(|(_, action)| *action).collect();
            self.handle = told;
        }
        self.note_breakers(gateway, actions);
        let Some(handle) = self.handle.filter(|own| own.slot % self.gateways == gateway) else {
            return;
        };
        let own = comes || about(event) == Some(handle);
        let breaks = |action: &&Action| matches!(action, Action::Breaker { .. });
        let kept: Vec<Action> = match own {
            true => actions.to_vec(),
            false => actions.iter().filter(breaks).copied().collect(),
        };
        if own || !kept.is_empty() {
            let moment = Moment { now, event: *event, actions: kept };
            self.course.push(Happening { moment, elsewhere: !own });
        }
        if own && actions.iter().any(|action| matches!(action, Action::Finish { .. })) {
            self.handle = None;
        }
    }
}

/// The request an event is about; `None` where it is about none, or has no handle yet.
fn about(event: &Event) -> Option<RequestRef> {
    match event {
        Event::Arrived(_)
        | Event::KillSwitch { .. }
        | Event::Learnt(_)
        | Event::TaskJudged { .. } => None,
        Event::Timer { request, .. }
        | Event::LookedUp { request, .. }
        | Event::Cancelled(request) => Some(*request),
        Event::Headers(attempt)
        | Event::FirstChunk(attempt)
        | Event::FirstOutput(attempt)
        | Event::NotSent(attempt)
        | Event::Progress { attempt, .. }
        | Event::Reconciled { attempt, .. }
        | Event::UsedBelow { attempt, .. }
        | Event::Ended { attempt, .. }
        | Event::Failed { attempt, .. } => Some(attempt.request),
    }
}
