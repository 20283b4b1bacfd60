//! What one `handle` costs, beside a hand-written loop that does the least a gateway can.
//!
//! `cargo bench -p windtunnel-policy --bench handle` prints nanoseconds and allocations per event
//! in steady state. Both sides run in turn, and the medians count: on a shared machine absolute
//! times drift, ratios less.

use std::alloc::System;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::time;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use windtunnel_policy::config::{
    Breaker, BudgetKind, ChargedTo, Policy, RecoveryAction, RetryBudget,
};
use windtunnel_policy::event::{Action, AttemptRef, Event, Left, Request, RequestRef, Tries};
use windtunnel_policy::outcome::{Answer, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::target::{
    Capabilities, ClassId, Group, Role, RouteClass, SideEffects, Target, TargetId, TenantId,
    Topology,
};
use windtunnel_policy::{Duration, Instant, Money, Price, Router, Share};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const REQUESTS: u64 = 20_000;
const ROUNDS: u64 = 15;
/// Requests that are open at the same time.
const OPEN: usize = 256;

/// A gateway under test: takes an event, says where the request goes next.
trait Subject {
    fn take(&mut self, now: Instant, event: Event) -> Next;
}

/// What the driver needs to know of the actions.
#[derive(Clone, Copy, Default)]
struct Next {
    sent: Option<AttemptRef>,
    wake: Option<(RequestRef, Instant, u32)>,
    finished: bool,
}

fn main() {
    println!("{:<44} {:>9} {:>11} {:>7} {:>12}", "", "router", "reference", "ratio", "allocations");
    for (name, failing) in [("no failure", 0), ("one attempt in five fails", 5)] {
        let mut router = Embedded::new();
        let mut reference = Reference::default();
        let mut ratios = [Vec::new(), Vec::new()];
        let mut allocations = 0;
        for round in 0..ROUNDS {
            let region = Region::new(ALLOCATOR);
            ratios[0].push(drive(&mut router, round, failing));
            // The first round grows the slots to the requests that are open at once.
            if round > 0 {
                allocations += region.change().allocations;
            }
            ratios[1].push(drive(&mut reference, round, failing));
        }
        let [ours, theirs] = ratios.map(median);
        let ratio = ours / theirs;
        println!("{name:<44} {ours:>6.1} ns {theirs:>8.1} ns {ratio:>7.2} {allocations:>12}");
    }
}

/// Serves all requests, a window of them open at once; answers nanoseconds per event.
fn drive(subject: &mut impl Subject, round: u64, failing: u64) -> f64 {
    let mut window = [None::<Next>; OPEN];
    let mut events = 0_u64;
    let started = time::Instant::now();
    for id in round * REQUESTS..(round + 1) * REQUESTS {
        let now = Instant::from_micros(id * 1_000);
        let place = &mut window[id as usize % OPEN];
        // What stood here ends first: a first output, then its end, as far as it did not fail.
        while let Some(open) = *place {
            let event = match (open.sent, open.wake) {
                (Some(attempt), _) if fails(id, attempt, failing) => {
                    Event::Failed { attempt, failure: FAILURE }
                }
                (Some(attempt), _) => {
                    subject.take(now, Event::FirstOutput(attempt));
                    events += 1;
                    Event::Ended { attempt, usage: Usage::default(), answer: Answer::Valid }
                }
                (None, Some((request, _, epoch))) => Event::Timer { request, epoch },
                (None, None) => unreachable!("an open request waits for something"),
            };
            let armed = open.wake.filter(|_| open.sent.is_some());
            let at = open.wake.filter(|_| open.sent.is_none()).map_or(now, |(_, at, _)| at);
            let mut next = subject.take(at, event);
            events += 1;
            // A timer that was set before and has not fired is still armed.
            next.wake = next.wake.or(armed);
            *place = (!next.finished).then_some(next);
        }
        let next = subject.take(now, Event::Arrived(request(id)));
        events += 1;
        *place = Some(next).filter(|next| !next.finished);
    }
    let elapsed = started.elapsed();
    black_box(&window);
    elapsed.as_nanos() as f64 / events as f64
}

fn fails(id: u64, attempt: AttemptRef, failing: u64) -> bool {
    let mixed = (id + u64::from(attempt.number)).wrapping_mul(0x9e37_79b9);
    failing > 0 && mixed.is_multiple_of(failing)
}

const FAILURE: Failure = Failure {
    class: FailureClass::Overloaded,
    status: 503,
    phase: Phase::BeforeHeaders,
    retry_after: None,
    usage: Usage { input: 0, cached: 0, output: 0 },
};

fn request(id: u64) -> Request {
    Request {
        id,
        salt: id.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        class: ClassId(0),
        input_tokens: 1_000,
        max_output_tokens: 400,
        streamed: true,
        session: id / 4,
        tenant: TenantId::FIRST,
        action: id,
        tries: Tries::FIRST,
        left: Left::ALL,
    }
}

/// The router as a gateway embeds it.
struct Embedded {
    router: Router,
    actions: Vec<Action>,
}

impl Embedded {
    fn new() -> Embedded {
        let router = Router::new(policy(), topology()).expect("a valid policy");
        let actions = Vec::with_capacity(router.max_actions_per_event());
        Embedded { router, actions }
    }
}

impl Subject for Embedded {
    fn take(&mut self, now: Instant, event: Event) -> Next {
        self.router.handle(now, event, &mut self.actions);
        let mut next = Next::default();
        for action in self.actions.drain(..) {
            match action {
                Action::Send(send) => next.sent = Some(send.attempt),
                Action::SetTimer { request, at, epoch } => next.wake = Some((request, at, epoch)),
                Action::Finish { .. } => next.finished = true,
                _ => {}
            }
        }
        next
    }
}

/// The least a gateway can do: a map of open requests, three attempts, targets in turn, a timer.
#[derive(Default)]
struct Reference {
    open: BTreeMap<u32, Box<(Request, u16)>>,
    next: u32,
    actions: Vec<Action>,
}

impl Subject for Reference {
    fn take(&mut self, _: Instant, event: Event) -> Next {
        let sent = |slot, number| {
            let request = RequestRef { slot, generation: 0 };
            Next { sent: Some(AttemptRef { request, number }), ..Next::default() }
        };
        let finished = Next { finished: true, ..Next::default() };
        match event {
            Event::Arrived(request) => {
                self.next = self.next.wrapping_add(1);
                self.open.insert(self.next, Box::new((request, 1)));
                sent(self.next, 1)
            }
            Event::FirstOutput(attempt) => {
                self.actions.push(Action::Release(attempt));
                self.actions.clear();
                Next::default()
            }
            Event::Failed { attempt, .. } => {
                let slot = attempt.request.slot;
                let open = self.open.get_mut(&slot).expect("an open request");
                open.1 += 1;
                if open.1 <= 3 {
                    return sent(slot, open.1);
                }
                self.open.remove(&slot);
                finished
            }
            Event::Ended { attempt, .. } => {
                black_box(self.open.remove(&attempt.request.slot));
                finished
            }
            _ => finished,
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn policy() -> Policy {
    let mut policy = Policy {
        breakers: vec![Breaker::default()],
        retry_budgets: vec![RetryBudget {
            governs: vec![RecoveryAction::Retry],
            charged_to: ChargedTo::FailingTarget,
            kind: BudgetKind::TokenBucket {
                capacity: 100,
                per_request: Share::ratio(1, 5),
                per_second: 10,
            },
            by_tenant: false,
        }],
        ..Policy::default()
    };
    policy.timeouts.attempt = Some(Duration::from_secs(30));
    policy.timeouts.first_token = Some(Duration::from_secs(10));
    policy
}

/// Eight targets of one model in two groups.
fn topology() -> Topology {
    let target = |i: u16| Target {
        name: format!("target-{i}"),
        provider: format!("provider-{}", i / 2),
        model: "m".into(),
        region: "here".into(),
        deployment: format!("{i}"),
        account: "ours".into(),
        price: Price { input: 2_000_000, cached: 1_000_000, output: 8_000_000 },
        context_tokens: 128_000,
        capabilities: Capabilities::NONE,
        weight: 1,
        priority: 0,
        contract: Default::default(),
        failover_in_flight: None,
        prior_latency: Duration::from_secs(1),
    };
    let group =
        |role, ids: core::ops::Range<u16>| Group { role, targets: ids.map(TargetId).collect() };
    let class = RouteClass {
        name: "chat".into(),
        deadline_total: Duration::from_secs(120),
        deadline_first_output: Duration::MAX,
        side_effects: SideEffects::None,
        required: Capabilities::NONE,
        needs: Default::default(),
        substitutes: Vec::new(),
        max_cost: Money::DOLLAR,
        groups: vec![group(Role::Primary, 0..4), group(Role::Fallback(1), 4..8)],
    };
    let targets = (0..8).map(target).collect();
    Topology { targets, classes: vec![class], tenants: Vec::new() }
}
