//! Routers with one fault each, in the place of a sound one.

use std::hash::{Hash, Hasher};

use windtunnel_policy::config::{Policy, RecoveryAction};
use windtunnel_policy::event::{Action, AttemptRef, Event, RequestRef};
use windtunnel_policy::outcome::Execution;
use windtunnel_policy::promises::Subject;
use windtunnel_policy::target::{TargetId, Topology};
use windtunnel_policy::{BreakerScope, Instant, Router};

/// What is wrong with a router.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Fault {
    /// Nothing of its own: it runs another policy, or on other targets, than it says.
    RunsAnother,
    /// Ends each request twice.
    EndsTwice,
    /// Sends a second attempt beside the first.
    SendsTwice,
    /// Calls every failover a retry.
    Misnames,
    /// Takes a cancellation for an attempt that was not sent.
    DeafToCancel,
    /// Takes a record that nobody will ever have for one that says the tool was not called.
    Credulous,
    /// Does not hear what a proxy has called.
    DeafToCalls,
    /// Shows output at once, and goes on as if nobody had seen it.
    ShowsEarly,
    /// Sets no timer for a wait.
    ForgetsWaits,
    /// Keeps a permit where an attempt was not sent.
    KeepsPermits,
    /// Gives no reasons.
    Silent,
    /// Forgets to say in a result that another model answered.
    Discreet,
}

/// A sound router inside, a fault around it.
#[derive(Clone, Debug)]
pub(crate) struct Faulty {
    inner: Router,
    policy: Policy,
    topology: Topology,
    fault: Fault,
    flying: Option<AttemptRef>,
    shown: Option<AttemptRef>,
    kept: u64,
}

impl Faulty {
    /// Says that it runs `policy` on `topology`, and runs the inner ones with the fault.
    pub(crate) fn new(
        (policy, topology): (Policy, Topology),
        (inner_policy, inner_topology): (Policy, Topology),
        fault: Fault,
    ) -> Faulty {
        let inner = Router::new(inner_policy, inner_topology).expect("a valid policy");
        Faulty { inner, policy, topology, fault, flying: None, shown: None, kept: 0 }
    }

    fn doctored(&self, event: Event) -> Event {
        match (self.fault, event, self.flying) {
            (Fault::DeafToCancel, Event::Cancelled(_), Some(attempt)) => Event::NotSent(attempt),
            (Fault::DeafToCalls, Event::UsedBelow { attempt, .. }, _) => {
                Event::UsedBelow { attempt, calls: 0 }
            }
            (Fault::Credulous, Event::Reconciled { attempt, record: Execution::Unknown }, _) => {
                Event::Reconciled { attempt, record: Execution::NotCalled }
            }
            (Fault::Credulous, Event::LookedUp { request, record: Execution::Unknown }, _) => {
                Event::LookedUp { request, record: Execution::NotCalled }
            }
            _ => event,
        }
    }

    fn doctor(&mut self, event: Event, actions: &mut Vec<Action>) {
        match self.fault {
            Fault::RunsAnother | Fault::DeafToCancel | Fault::DeafToCalls | Fault::Credulous => {}
            Fault::EndsTwice => {
                let last = actions.last().copied();
                actions.extend(last.filter(|action| matches!(action, Action::Finish { .. })));
            }
            Fault::SendsTwice => {
                let second = actions.iter().find_map(|action| match action {
                    Action::Send(send) if send.recovery.is_none() => {
                        let mut second = *send;
                        second.attempt.number += 1;
                        (second.target, second.recovery) =
                            (TargetId(1), Some(RecoveryAction::Failover));
                        Some(Action::Send(second))
                    }
                    _ => None,
                });
                actions.extend(second);
            }
            Fault::Misnames => {
                for action in actions.iter_mut() {
                    if let Action::Send(send) = action
                        && send.recovery == Some(RecoveryAction::Failover)
                    {
                        send.recovery = Some(RecoveryAction::Retry);
                    }
                }
            }
            Fault::ShowsEarly => {
                let shown = self.shown;
                actions.retain(
                    |action| !matches!(action, Action::Release(attempt) if shown == Some(*attempt)),
                );
                if let Event::FirstOutput(attempt) = event
                    && self.flying == Some(attempt)
                    && self.inner.open_requests() > 0
                {
                    self.shown = Some(attempt);
                    actions.insert(0, Action::Release(attempt));
                }
            }
            Fault::ForgetsWaits => {
                if !actions.iter().any(|action| matches!(action, Action::Send(_))) {
                    actions.retain(|action| !matches!(action, Action::SetTimer { .. }));
                }
            }
            Fault::Discreet => {
                for action in actions.iter_mut() {
                    if let Action::Finish { result, .. } = action {
                        result.disclosed = false;
                    }
                }
            }
            Fault::KeepsPermits => self.kept += u64::from(matches!(event, Event::NotSent(_))),
            Fault::Silent => actions.retain(|action| !matches!(action, Action::Decided { .. })),
        }
    }
}

impl Subject for Faulty {
    fn handle(&mut self, now: Instant, event: Event, actions: &mut Vec<Action>) {
        let mut own = Vec::new();
        self.inner.handle(now, self.doctored(event), &mut own);
        self.doctor(event, &mut own);
        for action in &own {
            if let Action::Send(send) = action {
                self.flying = Some(send.attempt);
            }
        }
        actions.append(&mut own);
    }

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn topology(&self) -> &Topology {
        &self.topology
    }

    fn breakers(&self) -> Vec<BreakerScope> {
        Subject::breakers(&self.inner)
    }

    fn max_actions_per_event(&self) -> usize {
        Router::max_actions_per_event(&self.inner) + 1
    }

    fn held(&self) -> [u64; 3] {
        let [in_flight, open, permits] = self.inner.held();
        [in_flight, open, permits + self.kept]
    }

    fn hash_shared<H: Hasher>(&self, state: &mut H) {
        self.inner.hash_shared(state);
        self.kept.hash(state);
    }

    fn hash_request<H: Hasher>(&self, request: RequestRef, state: &mut H) {
        self.inner.hash_request(request, state);
        let own = |attempt: Option<AttemptRef>| attempt.filter(|a| a.request == request);
        [self.flying, self.shown].map(|attempt| own(attempt).map(|a| a.number)).hash(state);
    }
}
