//! Budgets shared by all requests, which recovery must draw on.

use alloc::vec;
use alloc::vec::Vec;

use crate::config::{BudgetKind, ChargedTo, RecoveryAction, RetryBudget};
use crate::rolling::Rolling;
use crate::target::{TargetId, Topology};
use crate::{Duration, Instant, Share};

/// Millionths of a recovery, so that rates and shares fill buckets in whole numbers.
const RECOVERY: u64 = 1_000_000;

/// All retry budgets of a router, and the targets' own limits on failovers in flight.
#[derive(Clone, Debug)]
pub(crate) struct Budgets {
    budgets: Vec<Budget>,
    asks: u64,
    denials: u64,
}

/// One budget: an account for each target, or one for all.
#[derive(Clone, Debug)]
struct Budget {
    governs: [bool; RecoveryAction::ALL.len()],
    charged_to: ChargedTo,
    accounts: Vec<Account>,
}

#[derive(Clone, Debug)]
enum Account {
    Tokens { capacity: u64, per_request: u64, per_second: u64, level: u64, filled_at: Instant },
    Ratio { share: Share, window: Duration, min_per_second: u64, counts: Rolling },
    InFlight { max: u32, now: u32 },
}

impl Budgets {
    /// Full buckets, empty windows, nothing in flight.
    pub(crate) fn new(configs: &[RetryBudget], topology: &Topology) -> Budgets {
        let mut budgets: Vec<Budget> =
            configs.iter().map(|config| Budget::new(config, topology.targets.len())).collect();
        if topology.targets.iter().any(|target| target.failover_in_flight.is_some()) {
            budgets.push(Budget::declared_headroom(topology));
        }
        Budgets { budgets, asks: 0, denials: 0 }
    }

    /// A first attempt goes to this target.
    pub(crate) fn on_first_attempt(&mut self, target: TargetId, now: Instant) {
        for budget in &mut self.budgets {
            budget.account(target, target).on_first_attempt(now);
        }
    }

    /// Takes one recovery from every budget that governs the action, or from none of them:
    /// false where one has none left. `failing` is the target of the attempt that failed,
    /// `destination` that of the next.
    pub(crate) fn ask(
        &mut self,
        action: RecoveryAction,
        failing: TargetId,
        destination: TargetId,
        now: Instant,
    ) -> bool {
        self.asks += 1;
        let granted =
            self.governing(action).all(|budget| budget.account(failing, destination).has_one(now));
        if granted {
            self.governing(action)
                .for_each(|budget| budget.account(failing, destination).take(now));
        } else {
            self.denials += 1;
        }
        granted
    }

    /// An attempt that was granted by [`ask`](Budgets::ask) with the same targets is over.
    pub(crate) fn on_recovery_ended(
        &mut self,
        action: RecoveryAction,
        failing: TargetId,
        destination: TargetId,
    ) {
        self.governing(action).for_each(|budget| budget.account(failing, destination).give_back());
    }

    /// How often recovery asked.
    pub(crate) const fn asks(&self) -> u64 {
        self.asks
    }

    /// How often it was denied.
    pub(crate) const fn denials(&self) -> u64 {
        self.denials
    }

    /// As new.
    pub(crate) fn reset(&mut self) {
        (self.asks, self.denials) = (0, 0);
        self.budgets.iter_mut().flat_map(|budget| &mut budget.accounts).for_each(Account::reset);
    }

    fn governing(&mut self, action: RecoveryAction) -> impl Iterator<Item = &mut Budget> {
        self.budgets.iter_mut().filter(move |budget| budget.governs[action as usize])
    }
}

impl Budget {
    fn new(config: &RetryBudget, targets: usize) -> Budget {
        let accounts = match config.charged_to {
            ChargedTo::FailingTarget | ChargedTo::Destination => targets,
            ChargedTo::Overall => 1,
        };
        Budget {
            governs: RecoveryAction::ALL.map(|action| config.governs.contains(&action)),
            charged_to: config.charged_to,
            accounts: vec![Account::new(config.kind); accounts],
        }
    }

    /// What each target declares it can take from elsewhere.
    fn declared_headroom(topology: &Topology) -> Budget {
        let account = |max: Option<u32>| Account::InFlight { max: max.unwrap_or(u32::MAX), now: 0 };
        Budget {
            governs: RecoveryAction::ALL.map(|action| {
                matches!(action, RecoveryAction::Failover | RecoveryAction::Substitution)
            }),
            charged_to: ChargedTo::Destination,
            accounts: topology.targets.iter().map(|t| account(t.failover_in_flight)).collect(),
        }
    }

    fn account(&mut self, failing: TargetId, destination: TargetId) -> &mut Account {
        let i = match self.charged_to {
            ChargedTo::FailingTarget => usize::from(failing.0),
            ChargedTo::Destination => usize::from(destination.0),
            ChargedTo::Overall => 0,
        };
        &mut self.accounts[i]
    }
}

impl Account {
    fn new(kind: BudgetKind) -> Account {
        let tokens = |capacity: u32, per_request: Share, per_second: u32| {
            let capacity = u64::from(capacity) * RECOVERY;
            Account::Tokens {
                capacity,
                per_request: nearest(per_request, RECOVERY),
                per_second: per_second.into(),
                level: capacity,
                filled_at: Instant::ZERO,
            }
        };
        match kind {
            BudgetKind::TokenBucket { capacity, per_request, per_second } => {
                tokens(capacity, per_request, per_second)
            }
            BudgetKind::Rate { per_second } => tokens(per_second, Share::ZERO, per_second),
            BudgetKind::Ratio { share, window, min_per_second } => Account::Ratio {
                share,
                window,
                min_per_second: min_per_second.into(),
                counts: Rolling::new(window),
            },
            BudgetKind::InFlight { max } => Account::InFlight { max, now: 0 },
        }
    }

    fn on_first_attempt(&mut self, now: Instant) {
        match self {
            Account::Tokens { capacity, per_request, level, .. } => {
                *level = (*level + *per_request).min(*capacity);
            }
            Account::Ratio { counts, .. } => counts.add(0, 1, now),
            Account::InFlight { .. } => {}
        }
    }

    fn has_one(&mut self, at: Instant) -> bool {
        match self {
            Account::Tokens { capacity, per_second, level, filled_at, .. } => {
                // One recovery per second is one millionth of it per microsecond.
                let added = (at - *filled_at).as_micros().saturating_mul(*per_second);
                *level = level.saturating_add(added).min(*capacity);
                *filled_at = at.max(*filled_at);
                *level >= RECOVERY
            }
            Account::Ratio { share, window, min_per_second, counts } => {
                let counts = counts.counts(at);
                let (recoveries, firsts) = (u128::from(counts.marked), u128::from(counts.all));
                let one = u128::from(Share::ONE.as_bits());
                let least = u128::from(*min_per_second) * u128::from(window.as_micros());
                recoveries * one < firsts * u128::from(share.as_bits())
                    || recoveries * 1_000_000 < least
            }
            Account::InFlight { max, now } => *now < *max,
        }
    }

    fn take(&mut self, at: Instant) {
        match self {
            Account::Tokens { level, .. } => *level -= RECOVERY,
            Account::Ratio { counts, .. } => counts.add(1, 0, at),
            Account::InFlight { now, .. } => *now += 1,
        }
    }

    fn give_back(&mut self) {
        if let Account::InFlight { now, .. } = self {
            *now = now.checked_sub(1).expect("every recovery that ended was granted");
        }
    }

    fn reset(&mut self) {
        match self {
            Account::Tokens { capacity, level, filled_at, .. } => {
                (*level, *filled_at) = (*capacity, Instant::ZERO);
            }
            Account::Ratio { counts, .. } => counts.clear(),
            Account::InFlight { now, .. } => *now = 0,
        }
    }
}

/// `share · n`, rounded to the nearest: shares of round decimals lie a hair below them.
fn nearest(share: Share, n: u64) -> u64 {
    let half = 1_u128 << 62;
    ((u128::from(share.as_bits()) * u128::from(n) + half) >> 63) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
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
        RetryBudget { governs: governs.to_vec(), charged_to, kind }
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
        budgets.ask(RecoveryAction::Retry, A, A, now)
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
            b.on_first_attempt(A, at(i * 10));
            recoveries += (0..3).take_while(|_| retry(&mut b, at(i * 10))).count();
        }
        // In no window more than a tenth of its first attempts and one are granted: one too many
        // in each of ten windows of 1,000 first attempts.
        let load = 1.0 + recoveries as f64 / firsts as f64;
        assert!((load - 1.10).abs() <= 0.001, "{load}");
        assert_eq!(b.asks() - b.denials(), recoveries as u64);
    }

    #[test]
    fn a_ratio_grants_its_minimum_whatever_the_traffic() {
        let kind = BudgetKind::Ratio { share: TENTH, window: secs(10), min_per_second: 2 };
        let mut b = retries(kind);
        assert_eq!(granted(&mut b, 100, at(0)), 20);
        assert_eq!(granted(&mut b, 100, at(9_999)), 0);
        assert_eq!(granted(&mut b, 100, at(10_000)), 20);
        // Once a tenth of the traffic is more, it is what counts.
        (0..1_000).for_each(|_| b.on_first_attempt(A, at(10_000)));
        assert_eq!(granted(&mut b, 200, at(10_000)), 80);
    }

    #[test]
    fn a_token_bucket_fills_by_requests_and_time() {
        let bucket = |per_request, per_second| {
            retries(BudgetKind::TokenBucket { capacity: 5, per_request, per_second })
        };
        let mut b = bucket(TENTH, 0);
        assert_eq!(granted(&mut b, 9, at(0)), 5);
        (0..9).for_each(|_| b.on_first_attempt(A, at(0)));
        assert_eq!(granted(&mut b, 9, at(0)), 0);
        b.on_first_attempt(A, at(0));
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
                b.on_first_attempt(A, at(0));
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
        b.on_recovery_ended(RecoveryAction::Retry, A, A);
        assert_eq!(granted(&mut b, 5, at(0)), 1);
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
            assert!(b.ask(RecoveryAction::Failover, A, B, at(0)));
            let (failing, destination) = second_to;
            let second = b.ask(RecoveryAction::Failover, failing, destination, at(0));
            assert_eq!(second, granted, "{charged_to:?} {second_to:?}");
            // What it does not govern is free.
            assert!(b.ask(RecoveryAction::Retry, A, A, at(0)));
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
        assert!(b.ask(RecoveryAction::Failover, A, B, at(0)));
        assert!(!b.ask(RecoveryAction::Failover, A, B, at(0)));
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
        assert!(b.ask(RecoveryAction::Failover, A, B, at(0)));
        assert!(!b.ask(RecoveryAction::Substitution, A, B, at(0)));
        assert!(b.ask(RecoveryAction::Failover, B, A, at(0)));
        assert!(b.ask(RecoveryAction::Retry, B, B, at(0)));
        b.on_recovery_ended(RecoveryAction::Failover, A, B);
        assert!(b.ask(RecoveryAction::Substitution, A, B, at(0)));
    }
}
