use alloc::string::ToString;
use alloc::vec;

use super::*;
use crate::config::*;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// The fields at fault in the default policy after a change.
fn faults(change: impl FnOnce(&mut Policy)) -> Vec<String> {
    let mut policy = Policy::default();
    change(&mut policy);
    let found = policy.validate().err().unwrap_or_default();
    found.into_iter().map(|problem| problem.field).collect()
}

fn with_breaker(change: impl FnOnce(&mut Breaker)) -> Vec<String> {
    let mut breaker = Breaker::default();
    change(&mut breaker);
    faults(|p| p.breakers = vec![breaker])
}

fn with_budget(kind: BudgetKind) -> Vec<String> {
    faults(|p| {
        p.retry_budgets = vec![RetryBudget {
            governs: vec![RecoveryAction::Retry],
            charged_to: ChargedTo::Overall,
            kind,
            by_tenant: false,
        }];
    })
}

#[test]
fn defaults_are_valid() {
    assert_eq!(faults(|_| {}), Vec::<String>::new());
    assert_eq!(with_breaker(|_| {}), Vec::<String>::new());
    assert_eq!(with_breaker(|b| b.ramp = Some(Ramp::default())), Vec::<String>::new());
}

#[test]
fn what_holds_for_one_class() {
    let own = |rule: ClassRule| {
        faults(|p| {
            p.envelope.deadline_first_output = Some(ms(2_000));
            p.classes = [("batch".into(), rule)].into();
        })
    };
    let none = ClassRule::default;
    assert_eq!(own(none()), Vec::<String>::new());
    assert_eq!(own(ClassRule { max: Some(0), ..none() }), ["classes.batch.max"]);
    assert_eq!(
        own(ClassRule { max_cost: Some(Money::ZERO), ..none() }),
        ["classes.batch.max_cost"]
    );
    // What it leaves as it is must go with what it replaces.
    let earlier = ClassRule { deadline_total: Some(ms(1_000)), ..none() };
    assert_eq!(own(earlier), ["classes.batch.deadline_first_output"]);
    // What is wrong for all is said once.
    let twice = faults(|p| {
        p.attempts.max = 0;
        p.classes = [("batch".into(), none())].into();
    });
    assert_eq!(twice, ["attempts.max"]);
}

#[test]
fn limits_on_attempts_and_time() {
    assert_eq!(faults(|p| p.attempts.max = 0), ["attempts.max"]);
    assert_eq!(faults(|p| p.attempts.max = 1_001), ["attempts.max"]);
    assert_eq!(faults(|p| p.attempts.max = 1_000), Vec::<String>::new());
    assert_eq!(faults(|p| p.attempts.max_same_target = 0), ["attempts.max_same_target"]);
    let none_before = |p: &mut Policy| p.attempts.max_before_fallback = Some(0);
    assert_eq!(faults(none_before), ["attempts.max_before_fallback"]);
    assert_eq!(faults(|p| p.attempts.max_after_fallback = Some(0)), Vec::<String>::new());

    let total = |p: &mut Policy| p.envelope.deadline_total = Some(ms(1_000));
    let faulty = |change: fn(&mut Envelope)| {
        faults(|p| {
            total(p);
            change(&mut p.envelope);
        })
    };
    assert_eq!(
        faulty(|e| e.deadline_first_output = Some(ms(1_001))),
        ["envelope.deadline_first_output"]
    );
    assert_eq!(faulty(|e| e.reserve_for_failover = ms(1_000)), ["envelope.reserve_for_failover"]);
    let no_room = |e: &mut Envelope| (e.min_useful, e.safety_margin) = (ms(600), ms(400));
    assert_eq!(faulty(no_room), ["envelope.min_useful"]);
    assert_eq!(faulty(|e| e.deadline_total = Some(ms(0))), ["envelope.deadline_total"]);
    assert_eq!(faulty(|e| e.estimate.quantile = Share::ZERO), ["envelope.estimate.quantile"]);
    assert_eq!(faulty(|e| e.estimate.min_samples = 0), ["envelope.estimate.min_samples"]);
    assert_eq!(faulty(|e| e.estimate.expires = ms(0)), ["envelope.estimate.expires"]);

    let first_token = |p: &mut Policy| {
        (p.timeouts.attempt, p.timeouts.first_token) = (Some(ms(10)), Some(ms(11)));
    };
    assert_eq!(faults(first_token), ["timeouts.first_token"]);
    assert_eq!(faults(|p| p.timeouts.idle_stream = Some(ms(0))), ["timeouts.idle_stream"]);
}

#[test]
fn waits() {
    assert_eq!(faults(|p| p.backoff.max = ms(1)), ["backoff.base"]);
    let no_share = |p: &mut Policy| p.backoff.jitter = Jitter::Proportional(Share::ZERO);
    assert_eq!(faults(no_share), ["backoff.jitter"]);
    let cut = |p: &mut Policy| p.retry_after.mode = RetryAfterMode::CapAt(ms(0));
    assert_eq!(faults(cut), ["retry_after.mode"]);
    assert_eq!(faults(|p| p.cooldown.rule = CooldownRule::Fixed(ms(0))), ["cooldown.rule"]);
    assert_eq!(faults(|p| p.cooldown.max = ms(0)), ["cooldown.max"]);
}

#[test]
fn breakers_must_be_able_to_open_and_close() {
    let half = Share::ratio(1, 2);
    assert_eq!(with_breaker(|b| b.key.clear()), ["breakers[0].key"]);
    assert_eq!(with_breaker(|b| b.key.push(KeyPart::Model)), ["breakers[0].key"]);
    assert_eq!(with_breaker(|b| b.trip.clear()), ["breakers[0].trip"]);
    assert_eq!(with_breaker(|b| b.open_for = ms(0)), ["breakers[0].open_for"]);
    assert_eq!(with_breaker(|b| b.growth.percent = 99), ["breakers[0].growth.percent"]);
    let short = |b: &mut Breaker| b.growth = Growth { percent: 200, max: ms(1) };
    assert_eq!(with_breaker(short), ["breakers[0].growth.max"]);
    assert_eq!(with_breaker(|b| b.probes.concurrent = 0), ["breakers[0].probes.concurrent"]);
    assert_eq!(with_breaker(|b| b.probes.successes = 0), ["breakers[0].probes.successes"]);
    for trip in [
        Trip::Consecutive(0),
        Trip::RateOverCount { failures: half, last: 1_025, min_calls: 1 },
        Trip::RateOverCount { failures: half, last: 10, min_calls: 11 },
        Trip::RateOverTime { failures: Share::ZERO, window: ms(1), min_calls: 1 },
        Trip::RateOverTumbling { failures: half, window: ms(0), min_calls: 1 },
        Trip::CountOverTumbling { failures: 0, window: ms(1) },
        Trip::CountOverTumbling { failures: 1, window: ms(0) },
        Trip::SlowCalls { share: half, slower_than: ms(1), window: ms(1), min_calls: 0 },
    ] {
        let faulty = with_breaker(|b| b.trip = vec![Trip::Consecutive(1), trip]);
        assert_eq!(faulty, ["breakers[0].trip[1]"], "{trip:?}");
    }
    assert_eq!(faults(|p| p.breakers = vec![Breaker::default(); 33]), ["breakers"]);
}

#[test]
fn budgets_must_be_able_to_grant() {
    let none = Share::ZERO;
    for kind in [
        BudgetKind::TokenBucket { capacity: 0, per_request: Share::ONE, per_second: 0 },
        BudgetKind::TokenBucket { capacity: 5, per_request: none, per_second: 0 },
        BudgetKind::Ratio { share: none, window: ms(1), min_per_second: 0 },
        BudgetKind::Ratio { share: Share::ONE, window: ms(0), min_per_second: 0 },
        BudgetKind::InFlight { max: 0 },
        BudgetKind::Rate { per_second: 0 },
    ] {
        assert_eq!(with_budget(kind), ["retry_budgets[0].kind"], "{kind:?}");
    }
    assert_eq!(with_budget(BudgetKind::InFlight { max: 1 }), Vec::<String>::new());
}

#[test]
fn unsafe_cells_stay_closed() {
    for class in [FailureClass::PartialStream, FailureClass::CallerCancelled] {
        let open = faults(|p| {
            let row = p.matrix.row(class);
            p.matrix.set(class, Row { failover: FailoverRule::Yes, ..row });
        });
        assert_eq!(open, [format!("matrix.{}", class.name())]);
    }
}

#[test]
fn hedges() {
    let with = |quantile, prior, max| {
        faults(|p| {
            p.attempts.max = max;
            p.hedge = Some(Hedge { after_quantile: quantile, at_least: ms(10), prior });
        })
    };
    assert_eq!(with(Share::ratio(95, 100), None, 2), Vec::<String>::new());
    assert_eq!(with(Share::ZERO, None, 2), ["hedge.after_quantile"]);
    assert_eq!(with(Share::ONE, Some(Duration::ZERO), 2), ["hedge.prior"]);
    assert_eq!(with(Share::ONE, None, 1), ["hedge"]);
}

#[test]
fn outliers() {
    let with = |rule: Outlier| faults(|p| p.outlier = Some(rule));
    assert_eq!(with(Outlier::default()), Vec::<String>::new());
    let nothing = Outlier {
        interval: Duration::ZERO,
        max_ejected: Share::ZERO,
        below_mean: Share::ZERO,
        eject_for: Duration::ZERO,
        min_calls: 0,
    };
    let fields = ["interval", "max_ejected", "below_mean", "eject_for", "min_calls"];
    assert_eq!(with(nothing), fields.map(|field| format!("outlier.{field}")));
    let none = faults(|p| p.selection.health_window = Duration::ZERO);
    assert_eq!(none, ["selection.health_window"]);
}

#[test]
fn problems_read_well() {
    let policy =
        Policy { attempts: Attempts { max: 0, ..Attempts::default() }, ..Policy::default() };
    let problems = policy.validate().unwrap_err();
    assert_eq!(problems[0].to_string(), "attempts.max: is 0; use 1 or more");
}
