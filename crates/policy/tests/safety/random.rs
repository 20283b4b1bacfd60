//! Random policies, targets and events, with the router under watch.

use proptest::prelude::*;
use windtunnel_policy::config::{
    Admission, AdmissionWindow, Admitted, AllUnavailable, Breaker, BudgetKind, BudgetScope,
    ChargedTo, ClassRule, FirstToken, GroupOrder, GroupRule, Groups, Hedge, Jitter, KeyPart,
    LoopOrder, Outlier, Policy, Priority, RecoveryAction, RetryBudget, Sharing, Sticky,
    Strategy as Choice, Streaming, SubstituteOrder, TotalCovers, Trip, WaitTooLong,
};
use windtunnel_policy::contract::{Contract, Needs};
use windtunnel_policy::event::{AttemptRef, Event, Left, Request, RequestRef, Tries};
use windtunnel_policy::facts::{Fact, OutcomeFact};
use windtunnel_policy::outcome::{Answer, Execution, Failure, FailureClass, Phase, Usage};
use windtunnel_policy::promises::{Broken, Moment, Watched};
use windtunnel_policy::target::{
    Capabilities, ClassId, Group, Role, RouteClass, SideEffects, Target, TargetId, Tenant,
    TenantId, Topology,
};
use windtunnel_policy::{Duration, Instant, Money, Price, Router, Share};

/// One thing that happens, `after` the one before, to the `nth` request that is open.
#[derive(Clone, Copy, Debug)]
struct Step {
    after: u64,
    nth: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Arrives {
        streamed: bool,
        tokens: u32,
        salt: u64,
    },
    Headers,
    FirstChunk,
    FirstOutput,
    Progress,
    Ends(Answer),
    Fails(FailureClass, Option<u64>),
    NotSent,
    UsedBelow(u16),
    /// What the tool's record says of the latest attempt.
    Record(Execution),
    Cancels,
    Switches {
        target: Option<u16>,
        off: bool,
    },
    /// The application judges an answer of a target.
    Judges {
        target: u16,
        done: bool,
    },
    /// Another replica tells something of a target, where they tell each other.
    Told {
        kind: u8,
        target: u16,
        bit: bool,
    },
    /// An event of an attempt that may never have been, or is over.
    Stale {
        slot: u32,
        generation: u32,
        number: u16,
    },
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..Default::default() })]

    #[test]
    fn promises_hold_and_the_same_events_give_the_same_actions(
        policy in policy(),
        topology in topology(),
        steps in prop::collection::vec(step(), 1..80),
    ) {
        let router = Router::new(policy.clone(), topology.clone())
            .expect("the generated policies are valid");
        let mut watched = Watched::new(router).keeping_trail();
        prop_assert_eq!(play(&mut watched, &steps), Ok(()));
        let trail = watched.trail();

        let mut again = Router::new(policy, topology).expect("valid as before");
        prop_assert_eq!(&replay(&mut again, trail), trail);

        again.reset();
        prop_assert_eq!(&replay(&mut again, trail), trail, "a reset router is as new");
    }

    #[test]
    fn a_copy_over_another_goes_on_as_what_was_copied(
        policy in policy(),
        topology in topology(),
        steps in prop::collection::vec(step(), 2..60),
    ) {
        let (before, after) = steps.split_at(steps.len() / 2);
        let fresh = Watched::new(Router::new(policy, topology).expect("a valid policy"));
        let (mut one, mut other) = (fresh.clone(), fresh.clone());
        prop_assert_eq!(go(&mut one, before), Ok(()));
        prop_assert_eq!(go(&mut other, after), Ok(()));
        other.clone_from(&one);
        prop_assert_eq!(other.key(), one.key());
        for watched in [&mut one, &mut other] {
            prop_assert_eq!(go(watched, after), Ok(()));
        }
        prop_assert_eq!(other.key(), one.key());
        prop_assert_eq!(other.drain(), Ok(()));
    }
}

/// Plays the steps, timers in between, to the end of every request.
fn play(watched: &mut Watched<Router>, steps: &[Step]) -> Result<(), Broken> {
    go(watched, steps)?;
    watched.drain()
}

/// Plays the steps, timers in between.
fn go(watched: &mut Watched<Router>, steps: &[Step]) -> Result<(), Broken> {
    for (id, step) in steps.iter().enumerate() {
        let now = watched.now + Duration::from_micros(step.after);
        while watched.next_timer().is_some_and(|at| at < now) {
            watched.fire_next_timer()?;
        }
        if let Some(event) = event(watched, step, id as u64, now) {
            watched.feed(now, event)?;
        }
    }
    Ok(())
}

fn replay(router: &mut Router, trail: &[Moment]) -> Vec<Moment> {
    let again = |moment: &Moment| {
        let mut actions = Vec::new();
        router.handle(moment.now, moment.event, &mut actions);
        Moment { actions, ..*moment }
    };
    trail.iter().map(again).collect()
}

fn event(watched: &Watched<Router>, step: &Step, id: u64, now: Instant) -> Option<Event> {
    let open: Vec<RequestRef> = watched.lives.keys().copied().collect();
    let nth = open.get(step.nth % open.len().max(1));
    let life = nth.map(|request| &watched.lives[request]);
    let hedge = life.and_then(|life| life.hedge).filter(|_| id % 2 == 1);
    let tenants = watched.subject.topology().tenants.len().max(1) as u64;
    let flying = hedge.or(life.and_then(|life| life.flying));
    Some(match step.what {
        What::Arrives { streamed, tokens, salt } => Event::Arrived(Request {
            id,
            salt,
            class: ClassId((salt / 7 % 2) as u16),
            input_tokens: tokens,
            max_output_tokens: 100,
            streamed,
            session: salt % 3,
            tenant: TenantId((salt / 60 % tenants) as u16),
            action: salt % 5,
            tries: Tries { sdk: 1 + u8::from(salt % 4 == 0), ..Tries::FIRST },
            left: match salt % 3 {
                0 => Left { attempts: 1 + (salt / 3 % 6) as u16, ..Left::ALL },
                _ => Left::ALL,
            },
        }),
        What::Headers => Event::Headers(flying?),
        What::FirstChunk => Event::FirstChunk(flying?),
        What::FirstOutput => Event::FirstOutput(flying?),
        What::Progress => Event::Progress { attempt: flying?, at: now },
        What::Ends(answer) => {
            let usage = Usage { input: 10, cached: 2, output: 30 };
            Event::Ended { attempt: flying?, usage, answer }
        }
        What::Fails(class, hint) => {
            let failure = Failure {
                class,
                status: 0,
                phase: Phase::BeforeHeaders,
                retry_after: hint.map(Duration::from_millis),
                usage: Usage::default(),
            };
            Event::Failed { attempt: flying?, failure }
        }
        What::NotSent => Event::NotSent(flying?),
        What::UsedBelow(calls) => Event::UsedBelow { attempt: flying?, calls },
        What::Record(record) => {
            let request = *nth?;
            let life = &watched.lives[&request];
            let attempt = AttemptRef { request, number: life.attempts };
            match life.looks_up || life.attempts == 0 {
                true => Event::LookedUp { request, record },
                false => Event::Reconciled { attempt, record },
            }
        }
        What::Cancels => Event::Cancelled(*nth?),
        What::Switches { target, off } => {
            let targets = watched.subject.topology().targets.len() as u16;
            Event::KillSwitch { target: target.map(|t| TargetId(t % targets)), off }
        }
        What::Judges { target, done } => {
            let targets = watched.subject.topology().targets.len() as u16;
            Event::TaskJudged { target: TargetId(target % targets), done }
        }
        What::Told { kind, target, bit } => {
            let targets = watched.subject.topology().targets.len() as u16;
            let shares = watched.subject.policy().replicas.shares();
            return shares.then(|| Event::Learnt(told(kind, TargetId(target % targets), bit, now)));
        }
        What::Stale { slot, generation, number } => {
            let attempt = AttemptRef { request: RequestRef { slot, generation }, number };
            let current = watched.lives.values().any(|life| life.in_flight(attempt));
            if current {
                return None;
            }
            Event::FirstOutput(attempt)
        }
    })
}

/// Any of the facts that replicas tell, of this target.
fn told(kind: u8, target: TargetId, bit: bool, now: Instant) -> Fact {
    let (tenant, until) = (TenantId::FIRST, now + Duration::from_millis(700));
    match kind % 7 {
        0 => Fact::Outcome(OutcomeFact {
            target,
            class: ClassId(u16::from(bit)),
            tenant,
            failed: bit,
            for_breakers: true,
            probe: false,
            recovery: kind > 7,
            sent: now,
            elapsed: Duration::from_millis(100),
            draw: u64::from(kind),
        }),
        1 => Fact::Answered { target, tenant },
        2 => Fact::Cooling { target, until },
        3 => Fact::Isolated { target, account: bit, until },
        4 => Fact::FirstAttempt { target, tenant },
        5 => Fact::Admitted { class: ClassId(0), group: 0 },
        _ => {
            let actions = RecoveryAction::ALL;
            let action = actions[usize::from(kind) % actions.len()];
            Fact::Recovery { action, failing: target, destination: target, tenant, over: bit }
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let class = prop::sample::select(FailureClass::ALL.to_vec());
    let transient = prop::sample::select(vec![
        FailureClass::ServerError,
        FailureClass::Overloaded,
        FailureClass::RateLimited,
        FailureClass::Transport,
    ]);
    let hint = prop::option::of(0_u64..4_000);
    let arrival = (any::<bool>(), 1_u32..2_000, any::<u64>());
    let answer = prop::sample::select(vec![Answer::Valid, Answer::Refusal, Answer::Invalid]);
    let what = prop_oneof![
        8 => arrival
            .prop_map(|(streamed, tokens, salt)| What::Arrives { streamed, tokens, salt }),
        2 => Just(What::Headers),
        2 => Just(What::FirstChunk),
        4 => Just(What::FirstOutput),
        2 => Just(What::Progress),
        4 => answer.prop_map(What::Ends),
        2 => (class, hint.clone()).prop_map(|(class, hint)| What::Fails(class, hint)),
        10 => (transient, hint).prop_map(|(class, hint)| What::Fails(class, hint)),
        2 => Just(What::NotSent),
        2 => (0_u16..4).prop_map(What::UsedBelow),
        2 => (any::<u16>(), any::<bool>())
            .prop_map(|(target, done)| What::Judges { target, done }),
        5 => prop::sample::select(vec![
            Execution::NotCalled,
            Execution::Planned,
            Execution::Started,
            Execution::Succeeded,
            Execution::Failed,
            Execution::Unknown,
        ])
        .prop_map(What::Record),
        2 => Just(What::Cancels),
        3 => (0_u8..28, any::<u16>(), any::<bool>())
            .prop_map(|(kind, target, bit)| What::Told { kind, target, bit }),
        1 => (prop::option::of(0_u16..4), any::<bool>())
            .prop_map(|(target, off)| What::Switches { target, off }),
        1 => (0_u32..4, 0_u32..3, 0_u16..5)
            .prop_map(|(slot, generation, number)| What::Stale { slot, generation, number }),
    ];
    (0_u64..800_000, 0_usize..8, what).prop_map(|(after, nth, what)| Step { after, nth, what })
}

fn topology() -> impl Strategy<Value = Topology> {
    let target = (0_u8..3, 500_u32..4_000, 1_u32..4, prop::option::of(1_u32..3), any::<bool>());
    (
        prop::collection::vec(target, 1..5),
        1_usize..4,
        prop::option::of(1_000_u64..20_000),
        prop::option::of(500_u64..5_000),
        any::<bool>(),
        prop::option::of(1_u64..400),
        0_u8..3,
        any::<bool>(),
    )
        .prop_map(|(targets, groups, total, first, writes, cost, needs, divided)| {
            let targets: Vec<Target> = targets.into_iter().enumerate().map(target_of).collect();
            let groups = (0..groups.min(targets.len()))
                .map(|g| Group {
                    role: if g == 0 { Role::Primary } else { Role::Fallback(g as u8) },
                    // Spread over the groups; the first target stands in the last one as well.
                    targets: (0..targets.len())
                        .filter(|t| t % groups == g || (*t == 0 && g + 1 == groups))
                        .map(|t| TargetId(t as u16))
                        .collect(),
                })
                .filter(|group: &Group| !group.targets.is_empty())
                .collect();
            let ms = |limit: Option<u64>| limit.map_or(Duration::MAX, Duration::from_millis);
            let class = RouteClass {
                name: "chat".into(),
                deadline_total: ms(total),
                deadline_first_output: ms(first),
                side_effects: if writes { SideEffects::WritePossible } else { SideEffects::None },
                required: Capabilities::NONE,
                needs: Needs {
                    schema: (needs == 1).then_some(0),
                    disclose_substitutes: needs > 0,
                    ..Needs::default()
                },
                substitutes: vec!["m1".into()],
                max_cost: cost.map_or(Money::MAX, Money::from_pico),
                groups,
            };
            let tenant = |name: &str, (part, all)| Tenant {
                name: name.into(),
                budget_share: Share::ratio(part, all),
            };
            let tenants = match divided {
                true => vec![tenant("large", (2, 3)), tenant("small", (1, 3))],
                false => Vec::new(),
            };
            let validated =
                RouteClass { name: "extract".into(), required: validating(), ..class.clone() };
            Topology { targets, classes: vec![class, validated], tenants }
        })
}

fn validating() -> Capabilities {
    Capabilities::named("structured_output").expect("a known capability")
}

fn target_of((i, facts): (usize, (u8, u32, u32, Option<u32>, bool))) -> Target {
    let (model, context_tokens, weight, failover_in_flight, validated) = facts;
    Target {
        name: format!("t{i}"),
        provider: format!("p{}", i % 2),
        model: format!("m{model}"),
        region: "here".into(),
        deployment: format!("d{i}"),
        account: format!("a{}", i % 2),
        price: Price { input: 0, cached: 0, output: 1 },
        context_tokens,
        capabilities: if validated { validating() } else { Capabilities::NONE },
        contract: Contract { schema: (i % 2) as u32, ..Contract::default() },
        weight,
        priority: (i % 3) as u16,
        failover_in_flight,
        prior_latency: Duration::from_millis(300),
    }
}

prop_compose! {
    fn attempts()(
        max in 1_u16..6,
        max_same_target in 1_u16..4,
        before in prop::option::of(1_u16..3),
        after in prop::option::of(0_u16..3),
        scope in prop::sample::select(
            vec![BudgetScope::Request, BudgetScope::Group, BudgetScope::Target]),
        order in prop::sample::select(vec![
            LoopOrder::RetryThenFailover,
            LoopOrder::FailoverThenRetry,
            LoopOrder::WalkThenRetry,
            LoopOrder::FreePick,
        ]),
        repick_failed in any::<bool>(),
    ) -> windtunnel_policy::config::Attempts {
        windtunnel_policy::config::Attempts {
            max,
            max_same_target,
            max_before_fallback: before,
            max_after_fallback: after,
            scope,
            order,
            repick_failed,
            ..Default::default()
        }
    }
}

prop_compose! {
    fn breaker()(
        trip in prop::sample::select(vec![
            Trip::Consecutive(1),
            Trip::Consecutive(3),
            Trip::RateOverCount { failures: Share::ratio(1, 2), last: 8, min_calls: 2 },
            Trip::RateOverTime {
                failures: Share::ratio(1, 2),
                window: Duration::from_secs(2),
                min_calls: 2,
            },
        ]),
        open_ms in 100_u64..4_000,
        concurrent in 1_u32..3,
        ramp in any::<bool>(),
        by_capability in any::<bool>(),
    ) -> Breaker {
        let mut key = Breaker::default().key;
        key.extend(by_capability.then_some(KeyPart::Capability));
        Breaker {
            key,
            trip: vec![trip],
            open_for: Duration::from_millis(open_ms),
            probes: windtunnel_policy::config::Probes { concurrent, successes: 2 },
            ramp: ramp.then(Default::default),
            leaves_over: (open_ms % 3 == 0).then(|| Duration::from_millis(open_ms / 2)),
            ..Breaker::default()
        }
    }
}

fn budget() -> impl Strategy<Value = RetryBudget> {
    let kinds = vec![
        BudgetKind::InFlight { max: 1 },
        BudgetKind::InFlight { max: 4 },
        BudgetKind::Rate { per_second: 1 },
        BudgetKind::Rate { per_second: 3 },
        BudgetKind::Throttle { tokens: 4, per_success: Share::ratio(1, 2) },
        BudgetKind::RatioAndReserve {
            share: Share::ratio(1, 5),
            window: Duration::from_secs(10),
            reserve_per_second: 1,
        },
        BudgetKind::TokenBucket { capacity: 2, per_request: Share::ratio(1, 10), per_second: 0 },
        BudgetKind::Ratio {
            share: Share::ratio(1, 5),
            window: Duration::from_secs(10),
            min_per_second: 0,
        },
    ];
    let accounts = vec![ChargedTo::FailingTarget, ChargedTo::Destination, ChargedTo::Overall];
    let governed = vec![
        vec![RecoveryAction::Retry],
        vec![RecoveryAction::Failover, RecoveryAction::Substitution],
        vec![RecoveryAction::Retry, RecoveryAction::Failover],
        vec![RecoveryAction::Hedge],
        vec![RecoveryAction::Failover, RecoveryAction::Hedge],
    ];
    (
        prop::sample::select(governed),
        prop::sample::select(accounts),
        prop::sample::select(kinds),
        any::<bool>(),
    )
        .prop_map(|(governs, charged_to, kind, by_tenant)| RetryBudget {
            governs,
            charged_to,
            kind,
            by_tenant,
        })
}

fn group_rule() -> impl Strategy<Value = GroupRule> {
    let window = prop::sample::select(vec![
        AdmissionWindow::Sliding,
        AdmissionWindow::Minute,
        AdmissionWindow::Paced(1),
    ]);
    let counts = prop::sample::select(vec![Admitted::Requests, Admitted::Attempts]);
    let admission = (1_u32..8, window, counts).prop_map(|(rpm, window, counts)| Admission {
        rpm,
        window,
        counts,
    });
    let strategy = prop::sample::select(vec![Choice::Weighted, Choice::HealthScore]);
    (
        prop::option::weighted(0.3, admission),
        prop::option::weighted(0.3, 1_u16..4),
        prop::option::weighted(0.3, 1_u16..4),
        prop::option::weighted(0.3, strategy),
    )
        .prop_map(|(admission, max, max_same_target, strategy)| GroupRule {
            admission,
            max,
            max_same_target,
            strategy,
        })
}

fn class_rule() -> impl Strategy<Value = Option<ClassRule>> {
    let some = (
        prop::option::of(1_u16..5),
        prop::option::of(1_u16..4),
        prop::option::of(any::<bool>()),
        prop::option::of(200_u64..1_500),
        prop::option::of(2_000_u64..5_000),
    );
    let rule = some.prop_map(|(max, max_same_target, allow_failover, added, total)| ClassRule {
        max,
        max_same_target,
        allow_failover,
        max_added_latency: added.map(Duration::from_millis),
        deadline_total: total.map(Duration::from_millis),
        ..ClassRule::default()
    });
    prop::option::weighted(0.3, rule)
}

fn groups() -> impl Strategy<Value = (Groups, GroupOrder, Priority)> {
    let orders = vec![
        GroupOrder::Listed,
        GroupOrder::HealthScore,
        GroupOrder::LowestLatency,
        GroupOrder::Cheapest,
        GroupOrder::LeastInFlight,
    ];
    let priorities = vec![Priority::Highest, Priority::ByAttempt, Priority::Ignored];
    let fallbacks = prop::collection::vec(group_rule(), 0..2);
    ((group_rule(), fallbacks), prop::sample::select(orders), prop::sample::select(priorities))
        .prop_map(|((primary, fallbacks), order, priority)| {
            (Groups { primary, fallbacks, ..Groups::default() }, order, priority)
        })
}

fn policy() -> impl Strategy<Value = Policy> {
    let limit = || prop::option::of(200_u64..3_000);
    let first =
        prop::sample::select(vec![FirstToken::Output, FirstToken::Headers, FirstToken::Chunk]);
    let timing = (limit(), limit(), limit(), first, any::<bool>());
    let waits = (0_u64..800, any::<bool>(), any::<bool>(), limit(), 0_u64..500);
    let health = (
        prop::collection::vec(breaker(), 0..3),
        prop::collection::vec(budget(), 0..3),
        prop::sample::select(vec![
            AllUnavailable::Fail,
            AllUnavailable::WaitForEarliest,
            AllUnavailable::FailOpen,
        ]),
    );
    let choice = (
        prop::sample::select(vec![
            Choice::Ordered,
            Choice::Weighted,
            Choice::RoundRobin,
            Choice::LeastInFlight,
            Choice::LowestLatency,
            Choice::Cheapest,
            Choice::TwoChoices,
            Choice::HealthScore,
        ]),
        any::<bool>(),
        prop::sample::select(vec![Share::ONE, Share::ratio(1, 2)]),
    );
    let rest = (
        prop::sample::select(vec![
            Jitter::Fixed,
            Jitter::Full,
            Jitter::Decorrelated,
            Jitter::Linear,
        ]),
        prop::sample::select(vec![WaitTooLong::FailOver, WaitTooLong::Stop, WaitTooLong::Backoff]),
        prop::sample::select(vec![
            SubstituteOrder::Listed,
            SubstituteOrder::Proven,
            SubstituteOrder::Ranked,
        ]),
        prop::sample::select(vec![
            Streaming::PassThrough,
            Streaming::AtHeaders,
            Streaming::AtFirstChunk,
            Streaming::BufferThenRelease,
        ]),
        prop::option::of((0_u64..300, 1_u64..600)),
        any::<bool>(),
        any::<bool>(),
    );
    (attempts(), timing, waits, health, choice, rest, groups(), (class_rule(), any::<bool>()))
        .prop_map(|(attempts, timing, waits, health, choice, rest, groups, (of_class, tells))| {
            let ms = |limit: Option<u64>| limit.map(Duration::from_millis);
            let mut p = Policy { attempts, ..Policy::default() };
            p.classes = of_class.map(|rule| ("chat".into(), rule)).into_iter().collect();
            p.timeouts.attempt = ms(timing.0);
            let shorter = |limit: &Duration| p.timeouts.attempt.is_none_or(|most| *limit < most);
            p.timeouts.first_token = ms(timing.1).filter(shorter);
            p.timeouts.idle_stream = ms(timing.2).filter(shorter);
            p.timeouts.first_token_means = timing.3;
            if timing.4 {
                p.timeouts.total_covers = TotalCovers::AttemptsOnly;
                p.envelope.deadline_total = Some(Duration::from_secs(6));
            }
            p.backoff.base = Duration::from_millis(waits.0);
            p.backoff.before_failover = waits.1;
            p.backoff.after_last = waits.2;
            p.envelope.max_added_latency = ms(waits.3);
            p.envelope.safety_margin = Duration::from_millis(waits.4);
            (p.breakers, p.retry_budgets, p.all_unavailable) = health;
            p.selection.strategy = choice.0;
            p.selection.sticky = if choice.1 { Sticky::Session } else { Sticky::No };
            p.selection.panic_threshold = choice.2;
            p.side_effects.reconcile = rest.6;
            p.side_effects.look_up = rest.4.is_none_or(|(at_least, _)| at_least % 2 != 1);
            p.backoff.jitter = rest.0;
            p.retry_after.too_long = rest.1;
            p.outlier = rest.5.then(|| Outlier {
                interval: Duration::from_secs(1),
                min_calls: 2,
                ..Outlier::default()
            });
            p.hedge = rest.4.filter(|_| p.attempts.max > 1).map(|(at_least, prior)| Hedge {
                after_quantile: Share::ratio(1, 2),
                at_least: Duration::from_millis(at_least),
                prior: Some(Duration::from_millis(prior)),
            });
            p.selection.substitutes = rest.2;
            (p.groups, p.selection.groups, p.selection.priority) = groups;
            p.streaming = rest.3;
            if tells {
                p.replicas.count = 2;
                p.replicas.sharing = Sharing::After(Duration::from_secs(1));
            }
            p
        })
}
