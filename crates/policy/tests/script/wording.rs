//! Actions in words.

use std::collections::BTreeMap;

use windtunnel_policy::event::{
    Action, Advice, AttemptRef, Decision, Outcome, RequestRef, Send, Terminal,
};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Money, Router};

/// What targets, breakers and requests are called.
pub(crate) struct Names {
    targets: Vec<String>,
    breakers: Vec<String>,
    ids: BTreeMap<RequestRef, u64>,
    requests: BTreeMap<u64, String>,
}

impl Names {
    pub(crate) fn new(router: &Router) -> Names {
        let targets: Vec<String> =
            router.topology().targets.iter().map(|t| t.name.clone()).collect();
        let name = |id: TargetId| targets[usize::from(id.0)].as_str();
        let breakers = router.breakers().map(|scope| scope.told(name)).collect();
        Names { breakers, targets, ids: BTreeMap::new(), requests: BTreeMap::new() }
    }

    pub(crate) fn call(&mut self, id: u64, name: &str) {
        self.requests.insert(id, name.into());
    }

    pub(crate) fn meet(&mut self, request: RequestRef, id: u64) {
        self.ids.insert(request, id);
    }

    pub(crate) fn describe(&self, action: &Action) -> String {
        match action {
            Action::Send(send) => self.send(send),
            Action::SetTimer { request, at, .. } => {
                format!("wake {} at {}", self.request(*request), time(*at))
            }
            Action::Cancel { attempt, class } => {
                let why = class.map_or("lost", |class| class.name());
                format!("cancel {}: {why}", self.attempt(*attempt))
            }
            Action::Release(attempt) => format!("release {}", self.attempt(*attempt)),
            Action::Decided { attempt, decision } => match decision {
                Decision::Recover { action, wait, .. } => {
                    let wait = waiting(", after", *wait);
                    format!("{} is over: {}{wait}", self.attempt(*attempt), action.name())
                }
                Decision::Await => format!("{} is over: await", self.attempt(*attempt)),
                Decision::Stop(reason) => {
                    format!("{} is over: stop, {}", self.attempt(*attempt), reason.name())
                }
            },
            Action::Reconcile(attempt) => {
                format!("ask what the tool of {} did", self.attempt(*attempt))
            }
            Action::LookUp { request, action } => {
                format!("look up what action {action} did before {}", self.request(*request))
            }
            Action::Finish { request, result } => self.finish(*request, result),
            Action::Breaker { breaker, state, until } => {
                let until = match state {
                    windtunnel_policy::event::BreakerState::Open => {
                        format!(" until {}", time(*until))
                    }
                    _ => String::new(),
                };
                format!("breaker of {} {}{until}", self.breakers[*breaker as usize], state.name())
            }
        }
    }

    fn send(&self, send: &Send) -> String {
        let mut line = format!(
            "send {} to {}",
            self.attempt(send.attempt),
            self.targets[usize::from(send.target.0)]
        );
        if let Some(action) = send.recovery {
            line += &format!(", {}", action.name());
        }
        line += &waiting(", waited", send.waited);
        if let Some(hint) = send.retry_after {
            line += &format!(", retry-after {hint}");
        }
        if send.disclose {
            line += ", to be disclosed";
        }
        if send.breaker != Default::default() {
            line += &format!(", breaker {}", send.breaker.name());
        }
        line + &limit(", limit", send.timeout) + &limit(", left", send.remaining)
    }

    fn finish(&self, request: RequestRef, result: &Terminal) -> String {
        let by = match result.outcome {
            Outcome::Answered(n) | Outcome::Refused(n) => format!(" by attempt {n}"),
            _ => String::new(),
        };
        let mut line = format!(
            "finish {}: {}{by}, status {}",
            self.request(request),
            result.outcome.name(),
            result.status
        );
        if let Some(class) = result.class {
            line += &format!(", {}", class.name());
        }
        if let Some(stop) = result.stop {
            line += &format!(", stopped by {}", stop.name());
        }
        if result.retryable {
            line += ", retryable";
        }
        if let Some(after) = result.retry_after {
            line += &format!(" after {after}");
        }
        if matches!(result.advice, Advice::Restart | Advice::Escalate) {
            line += &format!(", {}", result.advice.name());
        }
        line += &match result.attempts {
            1 => ", 1 attempt".into(),
            n => format!(", {n} attempts"),
        };
        if result.disclosed {
            line += ", disclosed";
        }
        if result.cost > Money::ZERO {
            line += &format!(", cost {}", result.cost);
        }
        line
    }

    fn attempt(&self, attempt: AttemptRef) -> String {
        format!("{}.{}", self.request(attempt.request), attempt.number)
    }

    fn request(&self, request: RequestRef) -> &str {
        self.ids.get(&request).and_then(|id| self.requests.get(id)).map_or("?", String::as_str)
    }
}

fn time(at: Instant) -> Duration {
    at - Instant::ZERO
}

fn waiting(words: &str, wait: Duration) -> String {
    if wait.is_zero() { String::new() } else { format!("{words} {wait}") }
}

fn limit(words: &str, limit: Duration) -> String {
    if limit == Duration::MAX { String::new() } else { format!("{words} {limit}") }
}
