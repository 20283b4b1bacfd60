use super::*;
use crate::target::Tenant;
use crate::target::testing::{target, topology};

const A: TargetId = TargetId(0);
const B: TargetId = TargetId(1);
const TENTH: Share = Share::ratio(1, 10);

fn at(ms: u64) -> Instant {
    Instant::from_micros(ms * 1_000)
}

fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn config(governs: &[RecoveryAction], charged_to: ChargedTo, kind: BudgetKind) -> RetryBudget {
    RetryBudget { governs: governs.to_vec(), charged_to, kind, by_tenant: false }
}

fn from(failing: TargetId, destination: TargetId) -> Payer {
    Payer { failing, destination, tenant: TenantId::FIRST }
}

fn budgets(configs: &[RetryBudget]) -> Budgets {
    let targets = vec![target("a", "p", "m", "r"), target("b", "p", "m", "s")];
    Budgets::new(configs, &topology(targets, &[&[0, 1]]))
}

/// One overall budget for same-route retries.
fn retries(kind: BudgetKind) -> Budgets {
    budgets(&[config(&[RecoveryAction::Retry], ChargedTo::Overall, kind)])
}

fn retry(budgets: &mut Budgets, now: Instant) -> bool {
    budgets.ask(RecoveryAction::Retry, from(A, A), now)
}

fn granted(budgets: &mut Budgets, asks: usize, now: Instant) -> usize {
    (0..asks).filter(|_| retry(budgets, now)).count()
}

#[test]
fn without_a_budget_everything_is_granted() {
    let mut b = budgets(&[]);
    assert_eq!(granted(&mut b, 100, at(0)), 100);
    assert_eq!((b.asks(), b.denials()), (100, 0));
}

#[test]
fn a_ratio_of_a_tenth_holds_the_load_at_1_10() {
    let kind = BudgetKind::Ratio { share: TENTH, window: secs(10), min_per_second: 0 };
    let mut b = retries(kind);
    // A first attempt each 10 ms for ten windows; every attempt fails and asks, three times.
    let (firsts, mut recoveries) = (10_000, 0);
    for i in 0..firsts {
        b.on_first_attempt(A, TenantId::FIRST, at(i * 10));
        recoveries += (0..3).take_while(|_| retry(&mut b, at(i * 10))).count();
    }
    // In no window more than a tenth of its first attempts and one are granted: one too many
    // in each of ten windows of 1,000 first attempts.
    let load = 1.0 + recoveries as f64 / firsts as f64;
    assert!((load - 1.10).abs() <= 0.001, "{load}");
    assert_eq!(b.asks() - b.denials(), recoveries as u64);
}

#[test]
fn a_ratio_grants_its_share_and_not_one_more() {
    // A half is exact in binary, so that the very limit is met.
    let share = Share::ratio(1, 2);
    let mut b = retries(BudgetKind::Ratio { share, window: secs(10), min_per_second: 0 });
    assert_eq!(granted(&mut b, 10, at(0)), 0, "of nothing");
    (0..4).for_each(|_| b.on_first_attempt(A, TenantId::FIRST, at(0)));
    assert_eq!(granted(&mut b, 10, at(0)), 2, "of four");
}

#[test]
fn a_ratio_grants_its_minimum_whatever_the_traffic() {
    let kind = BudgetKind::Ratio { share: TENTH, window: secs(10), min_per_second: 2 };
    let mut b = retries(kind);
    assert_eq!(granted(&mut b, 100, at(0)), 20);
    assert_eq!(granted(&mut b, 100, at(9_999)), 0);
    assert_eq!(granted(&mut b, 100, at(10_000)), 20);
    // Once a tenth of the traffic is more, it is what counts.
    (0..1_000).for_each(|_| b.on_first_attempt(A, TenantId::FIRST, at(10_000)));
    assert_eq!(granted(&mut b, 200, at(10_000)), 80);
}

#[test]
fn a_token_bucket_fills_by_requests_and_time() {
    let bucket = |per_request, per_second| {
        retries(BudgetKind::TokenBucket { capacity: 5, per_request, per_second })
    };
    let mut b = bucket(TENTH, 0);
    assert_eq!(granted(&mut b, 9, at(0)), 5);
    (0..9).for_each(|_| b.on_first_attempt(A, TenantId::FIRST, at(0)));
    assert_eq!(granted(&mut b, 9, at(0)), 0);
    b.on_first_attempt(A, TenantId::FIRST, at(0));
    assert_eq!(granted(&mut b, 9, at(0)), 1);

    let mut b = bucket(Share::ZERO, 2);
    assert_eq!(granted(&mut b, 9, at(1_000)), 5);
    assert_eq!(granted(&mut b, 9, at(1_499)), 0);
    assert_eq!(granted(&mut b, 9, at(1_500)), 1);
    assert_eq!(granted(&mut b, 9, at(1_000_000)), 5);
}

/// Brooker's adaptive retry: capacity 5, a tenth per call; calls fail with 1/2 whatever is
/// sent. For 100 calls a client the load is 1 + 0.1 + 5/100, less what is left in the bucket.
#[test]
fn the_published_adaptive_client_sends_what_its_bucket_allows() {
    let kind = BudgetKind::TokenBucket { capacity: 5, per_request: TENTH, per_second: 0 };
    let (clients, calls) = (200, 100);
    let mut sent = 0;
    for client in 0..clients {
        let mut b = retries(kind);
        let mut draws = (0..).map(|n| crate::mix::draw(client, crate::mix::Draw::Choice, n));
        for _ in 0..calls {
            b.on_first_attempt(A, TenantId::FIRST, at(0));
            let mut fails = || Share::ratio(1, 2).hits(draws.next().unwrap());
            let retries = (0..3).take_while(|_| fails() && retry(&mut b, at(0))).count();
            sent += 1 + retries;
        }
    }
    let load = sent as f64 / f64::from(clients as u32 * calls);
    // Less than one recovery is left, and a little overflowed before the first failure.
    assert!((1.138..=1.15).contains(&load), "{load}");
}

#[test]
fn a_rate_has_a_burst_of_one_second() {
    let mut b = retries(BudgetKind::Rate { per_second: 10 });
    assert_eq!(granted(&mut b, 99, at(5_000)), 10);
    assert_eq!(granted(&mut b, 99, at(5_250)), 2);
}

#[test]
fn in_flight_returns_when_recovery_ends() {
    let mut b = retries(BudgetKind::InFlight { max: 2 });
    assert_eq!(granted(&mut b, 5, at(0)), 2);
    b.on_recovery_ended(RecoveryAction::Retry, from(A, A));
    assert_eq!(granted(&mut b, 5, at(0)), 1);
}

#[test]
fn what_others_were_granted_takes_places_and_ends_never_heard_of_return_none() {
    let mut b = retries(BudgetKind::InFlight { max: 3 });
    let action = RecoveryAction::Retry;
    b.on_spent_ended(action, from(A, A));
    b.spend(action, from(A, A), at(0));
    assert_eq!(granted(&mut b, 5, at(0)), 2);
    for _ in 0..2 {
        b.on_spent_ended(action, from(A, A));
    }
    assert_eq!(granted(&mut b, 5, at(0)), 1);
    for _ in 0..3 {
        b.on_recovery_ended(action, from(A, A));
    }
    assert_eq!(granted(&mut b, 5, at(0)), 3);
}

#[test]
fn whose_account_pays() {
    let one = BudgetKind::InFlight { max: 1 };
    for (charged_to, second_to, granted) in [
        (ChargedTo::FailingTarget, (A, B), false),
        (ChargedTo::FailingTarget, (B, B), true),
        (ChargedTo::Destination, (B, B), false),
        (ChargedTo::Destination, (A, A), true),
        (ChargedTo::Overall, (B, A), false),
    ] {
        let mut b = budgets(&[config(&[RecoveryAction::Failover], charged_to, one)]);
        assert!(b.ask(RecoveryAction::Failover, from(A, B), at(0)));
        let (failing, destination) = second_to;
        let second = b.ask(RecoveryAction::Failover, from(failing, destination), at(0));
        assert_eq!(second, granted, "{charged_to:?} {second_to:?}");
        // What it does not govern is free.
        assert!(b.ask(RecoveryAction::Retry, from(A, A), at(0)));
    }
}

#[test]
fn all_governing_budgets_pay_or_none() {
    let both = [RecoveryAction::Retry, RecoveryAction::Failover];
    let mut b = budgets(&[
        config(&both, ChargedTo::Overall, BudgetKind::InFlight { max: 2 }),
        config(&both[..1], ChargedTo::Overall, BudgetKind::InFlight { max: 1 }),
    ]);
    assert_eq!(granted(&mut b, 5, at(0)), 1);
    // The denied retries took nothing of the first budget.
    assert!(b.ask(RecoveryAction::Failover, from(A, B), at(0)));
    assert!(!b.ask(RecoveryAction::Failover, from(A, B), at(0)));
    assert_eq!((b.asks(), b.denials()), (7, 5));
    b.reset();
    assert_eq!((b.asks(), granted(&mut b, 5, at(0))), (0, 1));
}

#[test]
fn targets_declare_their_headroom() {
    let limited =
        crate::target::Target { failover_in_flight: Some(1), ..target("b", "p", "m", "s") };
    let targets = vec![target("a", "p", "m", "r"), limited];
    let mut b = Budgets::new(&[], &topology(targets, &[&[0, 1]]));
    assert!(b.ask(RecoveryAction::Failover, from(A, B), at(0)));
    assert!(!b.ask(RecoveryAction::Substitution, from(A, B), at(0)));
    assert!(b.ask(RecoveryAction::Failover, from(B, A), at(0)));
    assert!(b.ask(RecoveryAction::Retry, from(B, B), at(0)));
    b.on_recovery_ended(RecoveryAction::Failover, from(A, B));
    assert!(b.ask(RecoveryAction::Substitution, from(A, B), at(0)));
}

#[test]
fn a_reserve_comes_on_top_of_the_share() {
    let kind =
        BudgetKind::RatioAndReserve { share: TENTH, window: secs(10), reserve_per_second: 2 };
    let mut b = retries(kind);
    // Two a second over ten seconds, and a tenth of a hundred.
    assert_eq!(granted(&mut b, 100, at(0)), 20);
    (0..100).for_each(|_| b.on_first_attempt(A, TenantId::FIRST, at(0)));
    assert_eq!(granted(&mut b, 100, at(0)), 10);
    assert_eq!(granted(&mut b, 100, at(11_000)), 20);
}

#[test]
fn a_throttle_stops_recovery_at_half() {
    let kind = BudgetKind::Throttle { tokens: 10, per_success: Share::ratio(1, 2) };
    let mut b = retries(kind);
    (0..4).for_each(|_| b.on_outcome(A, TenantId::FIRST, true));
    // Six are left, and recoveries cost nothing themselves.
    assert_eq!(granted(&mut b, 100, at(0)), 100);
    b.on_outcome(B, TenantId::FIRST, true);
    assert_eq!(granted(&mut b, 100, at(0)), 0, "five are half");
    b.on_outcome(A, TenantId::FIRST, false);
    assert_eq!(granted(&mut b, 1, at(0)), 1);
    (0..100).for_each(|_| b.on_outcome(A, TenantId::FIRST, true));
    (0..10).for_each(|_| b.on_outcome(A, TenantId::FIRST, false));
    assert_eq!(granted(&mut b, 1, at(0)), 0, "it never falls below nothing");
    b.on_outcome(A, TenantId::FIRST, false);
    assert_eq!(granted(&mut b, 1, at(0)), 1);
    b.reset();
    (0..4).for_each(|_| b.on_outcome(A, TenantId::FIRST, true));
    assert_eq!(granted(&mut b, 1, at(0)), 1);
}

/// Two tenants, of which the first has three quarters.
fn divided(kind: BudgetKind) -> Budgets {
    let mut topology = topology(vec![target("a", "p", "m", "r")], &[&[0]]);
    topology.tenants = [("big", 3), ("small", 1)]
        .map(|(name, quarters)| Tenant {
            name: name.into(),
            budget_share: Share::ratio(quarters, 4),
        })
        .into();
    let governs = vec![RecoveryAction::Retry];
    let config = RetryBudget { governs, charged_to: ChargedTo::Overall, kind, by_tenant: true };
    Budgets::new(&[config], &topology)
}

/// What each tenant is granted of a hundred asks.
fn granted_to_each(b: &mut Budgets, now: Instant) -> [usize; 2] {
    [0, 1].map(|tenant| {
        let payer = Payer { tenant: TenantId(tenant), ..from(A, A) };
        (0..100).filter(|_| b.ask(RecoveryAction::Retry, payer, now)).count()
    })
}

#[test]
fn no_tenant_takes_from_the_part_of_another() {
    let bucket = |capacity, per_second| BudgetKind::TokenBucket {
        capacity,
        per_request: Share::ZERO,
        per_second,
    };
    let ratio = BudgetKind::Ratio { share: TENTH, window: secs(10), min_per_second: 4 };
    for (kind, at_once) in [
        (bucket(40, 0), [30, 10]),
        (BudgetKind::Rate { per_second: 8 }, [6, 2]),
        (BudgetKind::InFlight { max: 20 }, [15, 5]),
        (ratio, [30, 10]),
        // What there is at all is enough for one.
        (BudgetKind::InFlight { max: 1 }, [1, 1]),
        (bucket(0, 0), [0, 0]),
    ] {
        let mut b = divided(kind);
        assert_eq!(granted_to_each(&mut b, at(0)), at_once, "{kind:?}");
    }
}

#[test]
fn a_part_fills_at_its_share_of_the_rate() {
    // One recovery in a second: three quarters of one, and a quarter.
    let mut b =
        divided(BudgetKind::TokenBucket { capacity: 100, per_request: Share::ZERO, per_second: 1 });
    assert_eq!(granted_to_each(&mut b, at(0)), [75, 25]);
    // Asked every 7 ms, so that what a step adds is no whole millionth.
    let mut all = [0, 0];
    for step in 1..=12_000_u64 {
        let now = granted_to_each(&mut b, at(step * 7));
        (0..2).for_each(|tenant| all[tenant] += now[tenant]);
    }
    assert_eq!(all, [63, 21], "of 84 seconds");
}

#[test]
fn successes_and_traffic_fill_the_part_they_belong_to() {
    let throttle = BudgetKind::Throttle { tokens: 8, per_success: Share::ratio(1, 2) };
    let mut b = divided(throttle);
    (0..5).for_each(|_| b.on_outcome(A, TenantId(0), true));
    assert_eq!(granted_to_each(&mut b, at(0)), [0, 100], "six less five, and two of two");
    let share = BudgetKind::Ratio { share: TENTH, window: secs(10), min_per_second: 0 };
    let mut b = divided(share);
    (0..50).for_each(|_| b.on_first_attempt(A, TenantId(1), at(0)));
    assert_eq!(granted_to_each(&mut b, at(0)), [0, 5]);
}
