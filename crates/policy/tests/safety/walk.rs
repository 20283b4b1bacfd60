//! Every sequence of outcomes up to five deep, under several small policies, with the router
//! under watch.

use windtunnel_policy::config::{
    Admission, Admitted, AllUnavailable, Backoff, Breaker, BudgetKind, ChargedTo, GroupOrder,
    GroupRule, Hedge, Jitter, LoopOrder, Policy, RecoveryAction, RetryBudget, SideEffectRule,
    Streaming, Trip,
};
use windtunnel_policy::event::{AttemptRef, Event, Left, Request, RequestRef, Tries};
use windtunnel_policy::outcome::{Answer, Execution, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::promises::{Broken, Watched};
use windtunnel_policy::target::{
    Capabilities, ClassId, Group, Role, RouteClass, SideEffects, Target, TargetId, TenantId,
    Topology,
};
use windtunnel_policy::{Duration, Instant, Money, Price, Router, Share};

const DEPTH: u32 = 5;

/// What may happen next to a request.
#[derive(Clone, Copy, Debug)]
enum Step {
    FirstOutput,
    Ends(Answer),
    Fails(FailureClass),
    NotSent,
    /// The record of the tool says this of the latest attempt.
    Record(Execution),
    Cancel,
    /// Nothing, until the timer.
    Time,
}

const STEPS: [Step; 16] = [
    Step::FirstOutput,
    Step::Ends(Answer::Valid),
    Step::Ends(Answer::Invalid),
    Step::Fails(FailureClass::ServerError),
    Step::Fails(FailureClass::Transport),
    Step::Fails(FailureClass::RateLimited),
    Step::Fails(FailureClass::UpstreamAuth),
    Step::Fails(FailureClass::ContextOverflow),
    Step::Fails(FailureClass::SideEffectUnknown),
    Step::NotSent,
    Step::Record(Execution::NotCalled),
    Step::Record(Execution::Started),
    Step::Record(Execution::Failed),
    Step::Record(Execution::Unknown),
    Step::Cancel,
    Step::Time,
];

#[test]
fn retry_then_failover() {
    assert!(walk_all(policy(LoopOrder::RetryThenFailover), topology(SideEffects::None)) > 2_000);
}

#[test]
fn failover_first_with_writes() {
    let policy = policy(LoopOrder::FailoverThenRetry);
    assert!(walk_all(policy, topology(SideEffects::WritePossible)) > 2_000);
}

#[test]
fn writes_with_a_record_of_tools() {
    let mut policy = policy(LoopOrder::RetryThenFailover);
    let longest = Duration::from_millis(300);
    policy.side_effects = SideEffectRule { reconcile: true, longest, ..SideEffectRule::default() };
    assert!(walk_all(policy, topology(SideEffects::WritePossible)) > 2_000);
}

#[test]
fn an_action_that_comes_again_with_a_record_of_tools() {
    let mut policy = policy(LoopOrder::RetryThenFailover);
    let longest = Duration::from_millis(300);
    policy.side_effects = SideEffectRule { reconcile: true, look_up: true, longest };
    let again = Tries { sdk: 2, ..Tries::FIRST };
    // The record's two steps come first, and leave three for the rest.
    assert!(walk_all_of(again, policy, topology(SideEffects::WritePossible)) > 500);
}

#[test]
fn walk_then_retry_buffered() {
    let walk = policy(LoopOrder::WalkThenRetry);
    let buffered = Policy { streaming: Streaming::BufferThenRelease, ..walk };
    assert!(walk_all(buffered, topology(SideEffects::None)) > 2_000);
}

#[test]
fn free_pick_with_waiting_for_the_earliest() {
    let waits =
        Policy { all_unavailable: AllUnavailable::WaitForEarliest, ..policy(LoopOrder::FreePick) };
    assert!(walk_all(waits, topology(SideEffects::None)) > 2_000);
}

#[test]
fn repicking_with_breakers_failing_open() {
    let mut open = Policy {
        all_unavailable: AllUnavailable::FailOpen,
        ..policy(LoopOrder::RetryThenFailover)
    };
    open.attempts.repick_failed = true;
    assert!(walk_all(open, topology(SideEffects::None)) > 2_000);
}

#[test]
fn shared_budgets_and_a_tight_envelope() {
    let mut tight = policy(LoopOrder::RetryThenFailover);
    tight.envelope.max_added_latency = Some(Duration::from_millis(250));
    tight.envelope.reserve_for_failover = Duration::from_millis(600);
    tight.retry_budgets = vec![
        budget(RecoveryAction::Retry, ChargedTo::FailingTarget, BudgetKind::InFlight { max: 1 }),
        budget(
            RecoveryAction::Failover,
            ChargedTo::Destination,
            BudgetKind::TokenBucket { capacity: 1, per_request: Share::ZERO, per_second: 1 },
        ),
    ];
    assert!(walk_all(tight, topology(SideEffects::None)) > 1_000);
}

#[test]
fn groups_with_doors_and_limits_of_their_own() {
    let mut grouped = policy(LoopOrder::RetryThenFailover);
    let door = |rpm| Admission { rpm, window: Default::default(), counts: Admitted::Attempts };
    grouped.groups.primary = GroupRule { admission: Some(door(2)), ..GroupRule::default() };
    let fallback = GroupRule { max_same_target: Some(1), max: Some(1), ..GroupRule::default() };
    grouped.groups.fallbacks = vec![fallback];
    grouped.selection.groups = GroupOrder::LeastInFlight;
    assert!(walk_all(grouped, topology(SideEffects::None)) > 1_000);
}

#[test]
fn hedges_passed_through() {
    assert!(walk_all(hedging(), topology(SideEffects::None)) > 2_000);
}

#[test]
fn hedges_buffered() {
    let buffered = Policy { streaming: Streaming::BufferThenRelease, ..hedging() };
    assert!(walk_all(buffered, topology(SideEffects::None)) > 2_000);
}

/// Hedges after 20 ms, with a budget of one.
fn hedging() -> Policy {
    let mut hedging = policy(LoopOrder::RetryThenFailover);
    hedging.hedge = Some(Hedge {
        after_quantile: Share::ratio(1, 2),
        at_least: Duration::from_millis(20),
        prior: None,
    });
    hedging.retry_budgets =
        vec![budget(RecoveryAction::Hedge, ChargedTo::Overall, BudgetKind::InFlight { max: 1 })];
    hedging
}

fn budget(action: RecoveryAction, charged_to: ChargedTo, kind: BudgetKind) -> RetryBudget {
    RetryBudget { governs: vec![action], charged_to, kind, by_tenant: false }
}

/// Walks over every sequence; answers how many there were.
fn walk_all(policy: Policy, topology: Topology) -> usize {
    walk_all_of(Tries::FIRST, policy, topology)
}

fn walk_all_of(tries: Tries, policy: Policy, topology: Topology) -> usize {
    let mut watched = Watched::new(Router::new(policy, topology).expect("a valid policy"));
    let request = Request {
        id: 7,
        salt: 42,
        class: ClassId(0),
        input_tokens: 100,
        max_output_tokens: 50,
        streamed: true,
        session: 1,
        tenant: TenantId::FIRST,
        action: 7,
        tries,
        left: Left::ALL,
    };
    let walked =
        watched.feed(Instant::ZERO, Event::Arrived(request)).and_then(|()| walk(&watched, DEPTH));
    walked.unwrap_or_else(|broken| panic!("{broken}"))
}

fn walk(watched: &Watched<Router>, depth: u32) -> Result<usize, Broken> {
    let Some((handle, life)) = watched.lives.first_key_value() else {
        return end(watched.clone());
    };
    if depth == 0 {
        return end(watched.clone());
    }
    let handle = *handle;
    let mut leaves = 0;
    for (n, attempt) in [life.flying, life.hedge].into_iter().enumerate() {
        // Of the hedge there are only the steps of an attempt.
        let steps = if n == 0 { &STEPS[..] } else { &STEPS[..STEPS.len() - 2] };
        for step in steps.iter().filter(|_| n == 0 || attempt.is_some()) {
            let mut next = watched.clone();
            if take(&mut next, *step, handle, attempt)? {
                leaves += walk(&next, depth - 1)?;
            }
        }
    }
    Ok(leaves)
}

/// Takes a step; false where it cannot happen now.
fn take(
    watched: &mut Watched<Router>,
    step: Step,
    request: RequestRef,
    flying: Option<AttemptRef>,
) -> Result<bool, Broken> {
    // A little later than before, so that time limits and steps interleave.
    let now = watched.now + Duration::from_millis(40);
    let event = match (step, flying) {
        (Step::Time, _) => return watched.fire_next_timer(),
        (Step::Cancel, _) => Event::Cancelled(request),
        (Step::Record(record), None) if watched.lives[&request].looks_up => {
            Event::LookedUp { request, record }
        }
        (Step::Record(record), None) if asked(watched) => {
            let number = watched.lives[&request].attempts;
            Event::Reconciled { attempt: AttemptRef { request, number }, record }
        }
        (Step::Record(_), _) | (_, None) => return Ok(false),
        (Step::FirstOutput, Some(attempt)) => Event::FirstOutput(attempt),
        (Step::NotSent, Some(attempt)) => Event::NotSent(attempt),
        (Step::Ends(answer), Some(attempt)) => {
            Event::Ended { attempt, usage: Usage::default(), answer }
        }
        (Step::Fails(class), Some(attempt)) => Event::Failed { attempt, failure: failure(class) },
    };
    watched.feed(now, event)?;
    Ok(true)
}

/// Whether the policy asks records at all.
fn asked(watched: &Watched<Router>) -> bool {
    watched.subject.policy().side_effects.reconcile
}

fn failure(class: FailureClass) -> Failure {
    let hint = Duration::from_millis(100);
    Failure {
        class,
        status: 0,
        phase: Phase::BeforeHeaders,
        retry_after: (class == FailureClass::RateLimited).then_some(hint),
        usage: Usage::default(),
    }
}

/// Ends what is open; then nothing that comes late leads to anything.
fn end(mut watched: Watched<Router>) -> Result<usize, Broken> {
    let handles: Vec<RequestRef> = watched.lives.keys().copied().collect();
    watched.drain()?;
    for request in handles {
        watched.silent(request)?;
    }
    Ok(1)
}

fn policy(order: LoopOrder) -> Policy {
    let ms = Duration::from_millis;
    let mut policy = Policy {
        backoff: Backoff { base: ms(50), jitter: Jitter::Fixed, ..Backoff::default() },
        breakers: vec![Breaker {
            trip: vec![Trip::Consecutive(2)],
            open_for: ms(120),
            ..Breaker::default()
        }],
        ..Policy::default()
    };
    policy.attempts.max = 4;
    policy.attempts.order = order;
    policy.timeouts.attempt = Some(ms(200));
    policy.timeouts.first_token = Some(ms(100));
    policy.timeouts.idle_stream = Some(ms(60));
    policy
}

/// Two targets of one model, and an approved other model with a larger window.
fn topology(side_effects: SideEffects) -> Topology {
    let schema = Capabilities::named("structured_output").expect("a known capability");
    let target = |name: &str, model: &str, context_tokens| Target {
        name: name.into(),
        provider: name.into(),
        model: model.into(),
        region: "here".into(),
        deployment: name.into(),
        account: name.into(),
        price: Price::default(),
        context_tokens,
        capabilities: schema,
        weight: 1,
        priority: 0,
        contract: Default::default(),
        failover_in_flight: None,
        prior_latency: Duration::from_millis(20),
    };
    let groups = [(Role::Primary, 0), (Role::Fallback(1), 1), (Role::LargerWindow, 2)];
    let class = RouteClass {
        name: "chat".into(),
        deadline_total: Duration::from_millis(1_000),
        deadline_first_output: Duration::MAX,
        side_effects,
        required: Capabilities::NONE,
        needs: Default::default(),
        substitutes: vec!["n".into()],
        max_cost: Money::MAX,
        groups: groups
            .map(|(role, id)| Group { role, targets: vec![TargetId(id)] })
            .into_iter()
            .collect(),
    };
    Topology {
        targets: vec![target("a", "m", 1_000), target("b", "m", 1_000), target("c", "n", 9_000)],
        classes: vec![class],
        tenants: Vec::new(),
    }
}
