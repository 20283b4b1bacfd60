//! A complete small gateway around the router: blocking, one thread a client, real time.
//!
//! The router is shared behind a lock; everything an event of one request leads to is about that
//! request (or a breaker), so each thread performs its own actions. The upstreams here are
//! scripted: `cargo run --example gateway`.

use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time;

use windtunnel_policy::config::{Breaker, Policy, Problem, Trip};
use windtunnel_policy::event::{
    Action, AttemptRef, Event, Left, Outcome, Request, RequestRef, Terminal, Tries,
};
use windtunnel_policy::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::target::{
    Capabilities, ClassId, Group, Role, RouteClass, SideEffects, Target, TargetId, TenantId,
    Topology,
};
use windtunnel_policy::{Duration, Instant, Money, Price, Router};

fn main() -> Result<(), Vec<Problem>> {
    let gateway = Gateway {
        router: Mutex::new(Router::new(policy(), topology())?),
        started: time::Instant::now(),
    };
    thread::scope(|scope| {
        for id in 1..=4 {
            let gateway = &gateway;
            scope.spawn(move || {
                let result = gateway.answer(id);
                assert_eq!(result.outcome, Outcome::Answered(result.attempts));
                println!("request {id}: {} after {} attempts", result.status, result.attempts);
            });
        }
    });
    Ok(())
}

/// What all client threads share.
struct Gateway {
    router: Mutex<Router>,
    started: time::Instant,
}

/// What an upstream sends back, as it comes.
enum Reply {
    FirstOutput,
    Done(Usage),
    Error(Failure),
}

/// The attempt in flight, and the timer that is armed.
#[derive(Default)]
struct Pending {
    flight: Option<(AttemptRef, Receiver<Reply>)>,
    timer: Option<(RequestRef, Instant, u32)>,
}

impl Gateway {
    /// Serves one request to its end.
    fn answer(&self, id: u64) -> Terminal {
        let request = Request {
            id,
            // Any random bits will do; a hash of the id keeps this example the same each time.
            salt: id.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            class: ClassId(0),
            input_tokens: 1_000,
            max_output_tokens: 200,
            streamed: true,
            session: id,
            tenant: TenantId::FIRST,
            action: id,
            tries: Tries::FIRST,
            left: Left::ALL,
        };
        let mut pending = Pending::default();
        let mut actions = Vec::new();
        let mut event = Event::Arrived(request);
        loop {
            let router = self.router.lock();
            router.expect("no thread panics with the lock").handle(self.now(), event, &mut actions);
            for action in actions.drain(..) {
                if let Some(result) = pending.perform(action) {
                    return result;
                }
            }
            event = self.next_event(&mut pending);
        }
    }

    /// Waits for the upstream's next word, or for the timer.
    fn next_event(&self, pending: &mut Pending) -> Event {
        let patience = match pending.timer {
            Some((_, at, _)) => time::Duration::from_micros(at.since(self.now()).as_micros()),
            None => time::Duration::MAX,
        };
        let reply = match &pending.flight {
            Some((attempt, replies)) => {
                replies.recv_timeout(patience).map(|reply| (*attempt, reply))
            }
            None => {
                thread::sleep(patience);
                Err(RecvTimeoutError::Timeout)
            }
        };
        match reply {
            Ok((attempt, Reply::FirstOutput)) => Event::FirstOutput(attempt),
            Ok((attempt, Reply::Done(usage))) => {
                Event::Ended { attempt, usage, answer: Answer::Valid }
            }
            Ok((attempt, Reply::Error(failure))) => Event::Failed { attempt, failure },
            Err(RecvTimeoutError::Timeout) => {
                let (request, _, epoch) = pending.timer.take().expect("what timed out was armed");
                Event::Timer { request, epoch }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let (attempt, _) = pending.flight.take().expect("what broke was in flight");
                let failure = Failure {
                    class: FailureClass::Transport,
                    status: 0,
                    phase: Phase::BeforeHeaders,
                    retry_after: None,
                    usage: Usage::default(),
                };
                Event::Failed { attempt, failure }
            }
        }
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.started.elapsed().as_micros() as u64)
    }
}

impl Pending {
    /// Performs one action; answers the result with the last one.
    fn perform(&mut self, action: Action) -> Option<Terminal> {
        match action {
            Action::Send(send) => self.flight = Some((send.attempt, call(send.target))),
            Action::SetTimer { request, at, epoch } => self.timer = Some((request, at, epoch)),
            // Closing the channel stands for closing the connection.
            Action::Cancel { .. } => self.flight = None,
            // From here on the output would be copied to the client as it comes.
            Action::Release(_) => {}
            // No tools here. A gateway that has them asks their record, and tells the router.
            Action::Reconcile(_) | Action::LookUp { .. } => {}
            Action::Decided { attempt, decision } => {
                println!("attempt {} failed: {decision:?}", attempt.number);
            }
            Action::Breaker { breaker, state, .. } => {
                println!("breaker {breaker} is {}", state.name());
            }
            Action::Finish { result, .. } => return Some(result),
        }
        None
    }
}

/// The scripted upstreams: the first fails at once, the second hangs, the third answers.
fn call(target: TargetId) -> Receiver<Reply> {
    let (replies, receiver) = mpsc::channel();
    thread::spawn(move || {
        let pause = |ms| thread::sleep(time::Duration::from_millis(ms));
        // Nobody listens any more once the router has cancelled the attempt.
        let say = |reply| replies.send(reply).is_ok();
        match target.0 {
            0 => {
                pause(5);
                say(Reply::Error(Failure {
                    class: FailureClass::Overloaded,
                    status: 503,
                    phase: Phase::BeforeHeaders,
                    retry_after: None,
                    usage: Usage::default(),
                }));
            }
            1 => pause(400),
            _ => {
                pause(20);
                say(Reply::FirstOutput);
                pause(20);
                say(Reply::Done(Usage { input: 1_000, cached: 0, output: 50 }));
            }
        }
    });
    receiver
}

fn policy() -> Policy {
    let mut policy = Policy { breakers: vec![Breaker::default()], ..Policy::default() };
    policy.breakers[0].trip = vec![Trip::Consecutive(3)];
    policy.attempts.max = 5;
    policy.attempts.max_same_target = 1;
    policy.timeouts.first_token = Some(Duration::from_millis(100));
    policy
}

fn topology() -> Topology {
    let target = |name: &str| Target {
        name: name.into(),
        provider: name.into(),
        model: "some-model".into(),
        region: "eu".into(),
        deployment: "default".into(),
        account: "ours".into(),
        price: Price { input: 2_000_000, cached: 1_000_000, output: 8_000_000 },
        context_tokens: 128_000,
        capabilities: Capabilities::NONE,
        weight: 1,
        priority: 0,
        contract: Default::default(),
        failover_in_flight: None,
        prior_latency: Duration::from_millis(200),
    };
    let group = |role, id| Group { role, targets: vec![TargetId(id)] };
    let chat = RouteClass {
        name: "chat".into(),
        deadline_total: Duration::from_secs(5),
        deadline_first_output: Duration::from_secs(2),
        side_effects: SideEffects::None,
        required: Capabilities::NONE,
        needs: Default::default(),
        substitutes: Vec::new(),
        max_cost: Money::DOLLAR,
        groups: vec![
            group(Role::Primary, 0),
            group(Role::Fallback(1), 1),
            group(Role::Fallback(2), 2),
        ],
    };
    Topology {
        targets: vec![target("overloaded"), target("black-hole"), target("healthy")],
        classes: vec![chat],
        tenants: vec![],
    }
}
