//! Budgets shared by all requests, which recovery must draw on.

use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::config::{BudgetKind, ChargedTo, RecoveryAction, RetryBudget};
use crate::facts::Fact;
use crate::rolling::Rolling;
use crate::target::{TargetId, TenantId, Topology};
use crate::{Duration, Instant, Share};

/// Millionths of a recovery, so that rates and shares fill buckets in whole numbers.
const RECOVERY: u64 = 1_000_000;

/// All retry budgets of a router, and the targets' own limits on failovers in flight.
#[derive(Clone, Debug)]
pub(crate) struct Budgets {
    budgets: Vec<Budget>,
    /// Whether some budget counts outcomes.
    throttles: bool,
    /// Whether some budget counts what is in flight.
    counts_in_flight: bool,
    asks: u64,
    denials: u64,
}

/// One budget: an account for each target, or one for all, and of each a part for every tenant where
/// it is divided by them.
#[derive(Clone, Debug)]
struct Budget {
    governs: [bool; RecoveryAction::ALL.len()],
    charged_to: ChargedTo,
    /// Accounts of each target: one for each tenant, one for all of them, or none where the targets
    /// share theirs.
    by_target: usize,
    /// One where each tenant has an account of its own.
    by_tenant: usize,
    /// By target, then tenant.
    accounts: Vec<Account>,
}

/// Who pays for a recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Payer {
    /// The target of the attempt that failed.
    pub(crate) failing: TargetId,
    /// That of the next.
    pub(crate) destination: TargetId,
    /// Whose request it is.
    pub(crate) tenant: TenantId,
}

#[derive(Clone, Hash, Debug)]
enum Account {
    Tokens {
        capacity: u64,
        per_request: u64,
        /// Millionths of a recovery.
        per_second: u64,
        level: u64,
        /// Of what time has added, the part of a millionth, in millionths.
        rest: u64,
        filled_at: Instant,
    },
    Ratio {
        share: Share,
        window: Duration,
        /// Millionths of a recovery.
        min_per_second: u64,
        on_top: bool,
        counts: Rolling,
    },
    Throttle {
        capacity: u64,
        per_success: u64,
        level: u64,
    },
    InFlight {
        max: u32,
        now: u32,
        /// As far as the other replicas have told.
        elsewhere: u32,
    },
}

impl Budgets {
    /// Full buckets, empty windows, nothing in flight.
    pub(crate) fn new(configs: &[RetryBudget], topology: &Topology) -> Budgets {
        let mut budgets: Vec<Budget> =
            configs.iter().map(|config| Budget::new(config, topology)).collect();
        if topology.targets.iter().any(|target| target.failover_in_flight.is_some()) {
            budgets.push(Budget::declared_headroom(topology));
        }
        let throttles =
            configs.iter().any(|config| matches!(config.kind, BudgetKind::Throttle { .. }));
        let in_flight =
            |budget: &Budget| matches!(budget.accounts.first(), Some(Account::InFlight { .. }));
        let counts_in_flight = budgets.iter().any(in_flight);
        Budgets { budgets, throttles, counts_in_flight, asks: 0, denials: 0 }
    }

    /// A first attempt goes to this target.
    #[inline(always)]
    pub(crate) fn on_first_attempt(&mut self, target: TargetId, tenant: TenantId, now: Instant) {
        for budget in &mut self.budgets {
            budget.account(Payer::at(target, tenant)).on_first_attempt(now);
        }
    }

    /// An attempt on this target was answered, or failed in a way that says something about it.
    #[inline]
    pub(crate) fn on_outcome(&mut self, target: TargetId, tenant: TenantId, failed: bool) {
        if self.throttles {
            for budget in &mut self.budgets {
                budget.account(Payer::at(target, tenant)).on_outcome(failed);
            }
        }
    }

    /// Takes one recovery from every budget that governs the action, or from none of them:
    /// false where one has none left.
    #[inline(always)]
    pub(crate) fn ask(&mut self, action: RecoveryAction, payer: Payer, now: Instant) -> bool {
        self.asks += 1;
        self.budgets.is_empty() || self.ask_each(action, payer, now)
    }

    #[inline(never)]
    fn ask_each(&mut self, action: RecoveryAction, payer: Payer, now: Instant) -> bool {
        let granted = self.governing(action).all(|budget| budget.account(payer).has_one(now));
        if granted {
            self.governing(action).for_each(|budget| budget.account(payer).take(now));
        } else {
            self.denials += 1;
        }
        granted
    }

    /// An attempt that was granted by [`ask`](Budgets::ask) with the same payer is over.
    #[inline]
    pub(crate) fn on_recovery_ended(&mut self, action: RecoveryAction, payer: Payer) {
        if self.counts_in_flight {
            self.governing(action).for_each(|budget| budget.account(payer).give_back());
        }
    }

    /// Another replica was granted a recovery: what governs it has as much less, as far as it has any.
    pub(crate) fn spend(&mut self, action: RecoveryAction, payer: Payer, now: Instant) {
        self.governing(action).for_each(|budget| budget.account(payer).spend(now));
    }

    /// A recovery that another replica was granted is over.
    pub(crate) fn on_spent_ended(&mut self, action: RecoveryAction, payer: Payer) {
        if self.counts_in_flight {
            self.governing(action).for_each(|budget| budget.account(payer).give_back_elsewhere());
        }
    }

    /// Whether the end of a recovery gives anything back.
    pub(crate) fn hear_of_ends(&self) -> bool {
        self.counts_in_flight
    }

    /// Whether what is denied one destination may be granted another.
    pub(crate) fn differ_by_destination(&self) -> bool {
        self.budgets.iter().any(|budget| budget.charged_to == ChargedTo::Destination)
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

impl Hash for Budgets {
    /// The counts of asks and denials only tell; they decide nothing.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.budgets.iter().for_each(|budget| budget.accounts.hash(state));
    }
}

impl Payer {
    /// What the other replicas are told of a recovery.
    pub(crate) fn fact(self, action: RecoveryAction, over: bool) -> Fact {
        let Payer { failing, destination, tenant } = self;
        Fact::Recovery { action, failing, destination, tenant, over }
    }

    /// Of what happens at one target.
    fn at(target: TargetId, tenant: TenantId) -> Payer {
        Payer { failing: target, destination: target, tenant }
    }
}

impl Budget {
    fn new(config: &RetryBudget, topology: &Topology) -> Budget {
        let places = match config.charged_to {
            ChargedTo::FailingTarget | ChargedTo::Destination => topology.targets.len(),
            ChargedTo::Overall => 1,
        };
        let shares = match config.by_tenant && !topology.tenants.is_empty() {
            true => topology.tenants.iter().map(|tenant| tenant.budget_share).collect(),
            false => vec![Share::ONE],
        };
        let parts = shares.iter().map(|&share| Account::new(config.kind, share));
        let parts: Vec<Account> = parts.collect();
        Budget {
            governs: RecoveryAction::ALL.map(|action| config.governs.contains(&action)),
            charged_to: config.charged_to,
            by_target: if places > 1 { parts.len() } else { 0 },
            by_tenant: usize::from(parts.len() > 1),
            accounts: parts.iter().cycle().take(places * parts.len()).cloned().collect(),
        }
    }

    /// What each target declares it can take from elsewhere.
    fn declared_headroom(topology: &Topology) -> Budget {
        let account = |max: Option<u32>| Account::InFlight {
            max: max.unwrap_or(u32::MAX),
            now: 0,
            elsewhere: 0,
        };
        Budget {
            governs: RecoveryAction::ALL.map(|action| {
                // A hedge goes to another target, as the other two do.
                action != RecoveryAction::Retry
            }),
            charged_to: ChargedTo::Destination,
            by_target: 1,
            by_tenant: 0,
            accounts: topology.targets.iter().map(|t| account(t.failover_in_flight)).collect(),
        }
    }

    #[inline]
    fn account(&mut self, payer: Payer) -> &mut Account {
        let target = match self.charged_to {
            ChargedTo::FailingTarget => payer.failing,
            ChargedTo::Destination | ChargedTo::Overall => payer.destination,
        };
        let place = usize::from(target.0) * self.by_target;
        &mut self.accounts[place + usize::from(payer.tenant.0) * self.by_tenant]
    }
}

impl Account {
    /// The part `of` an account.
    fn new(kind: BudgetKind, of: Share) -> Account {
        let part = |n: u32| nearest(of, u64::from(n) * RECOVERY);
        // What is there at all is enough for one.
        let at_least_one = |n: u32| part(n).max(RECOVERY.min(u64::from(n) * RECOVERY));
        let tokens = |capacity: u32, per_request: Share, per_second: u32| {
            let capacity = at_least_one(capacity);
            Account::Tokens {
                capacity,
                per_request: nearest(per_request, RECOVERY),
                per_second: part(per_second),
                level: capacity,
                rest: 0,
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
                min_per_second: part(min_per_second),
                on_top: false,
                counts: Rolling::new(window),
            },
            BudgetKind::RatioAndReserve { share, window, reserve_per_second } => Account::Ratio {
                share,
                window,
                min_per_second: part(reserve_per_second),
                on_top: true,
                counts: Rolling::new(window),
            },
            BudgetKind::Throttle { tokens, per_success } => {
                let capacity = at_least_one(tokens);
                let per_success = nearest(per_success, RECOVERY);
                Account::Throttle { capacity, per_success, level: capacity }
            }
            BudgetKind::InFlight { max } => {
                let max = (at_least_one(max) / RECOVERY) as u32;
                Account::InFlight { max, now: 0, elsewhere: 0 }
            }
        }
    }

    #[inline]
    fn on_first_attempt(&mut self, now: Instant) {
        match self {
            Account::Tokens { capacity, per_request, level, .. } => {
                *level = (*level + *per_request).min(*capacity);
            }
            Account::Ratio { counts, .. } => counts.add(0, 1, now),
            Account::Throttle { .. } | Account::InFlight { .. } => {}
        }
    }

    fn on_outcome(&mut self, failed: bool) {
        if let Account::Throttle { capacity, per_success, level } = self {
            *level = match failed {
                true => level.saturating_sub(RECOVERY),
                false => (*level + *per_success).min(*capacity),
            };
        }
    }

    fn has_one(&mut self, at: Instant) -> bool {
        match self {
            Account::Tokens { capacity, per_second, level, rest, filled_at, .. } => {
                // A millionth of a recovery per second is a millionth of that per microsecond.
                let elapsed = u128::from((at - *filled_at).as_micros());
                let added = elapsed * u128::from(*per_second) + u128::from(*rest);
                let whole = u64::try_from(added / 1_000_000).unwrap_or(u64::MAX);
                *level = level.saturating_add(whole).min(*capacity);
                *rest = (added % 1_000_000) as u64;
                *filled_at = at.max(*filled_at);
                *level >= RECOVERY
            }
            Account::Ratio { share, window, min_per_second, on_top, counts } => {
                let counts = counts.counts(at);
                let (recoveries, firsts) = (u128::from(counts.marked), u128::from(counts.all));
                let one = u128::from(Share::ONE.as_bits());
                // Millionths of a recovery.
                let least =
                    u128::from(*min_per_second) * u128::from(window.as_micros()) / 1_000_000;
                let by_share = firsts * u128::from(share.as_bits());
                if *on_top {
                    let reserve = least * one / 1_000_000;
                    return recoveries * one < by_share + reserve;
                }
                recoveries * one < by_share || recoveries * 1_000_000 < least
            }
            Account::Throttle { capacity, level, .. } => *level > *capacity / 2,
            Account::InFlight { max, now, elsewhere } => now.saturating_add(*elsewhere) < *max,
        }
    }

    fn take(&mut self, at: Instant) {
        match self {
            Account::Tokens { level, .. } => *level -= RECOVERY,
            Account::Ratio { counts, .. } => counts.add(1, 0, at),
            // The failure before it has paid.
            Account::Throttle { .. } => {}
            Account::InFlight { now, .. } => *now += 1,
        }
    }

    fn spend(&mut self, at: Instant) {
        self.has_one(at);
        match self {
            Account::Tokens { level, .. } => *level = level.saturating_sub(RECOVERY),
            Account::InFlight { elsewhere, .. } => *elsewhere = elsewhere.saturating_add(1),
            account => account.take(at),
        }
    }

    /// One that was told is over. Of one whose grant was never heard of nothing returns.
    fn give_back_elsewhere(&mut self) {
        if let Account::InFlight { elsewhere, .. } = self {
            *elsewhere = elsewhere.saturating_sub(1);
        }
    }

    fn give_back(&mut self) {
        if let Account::InFlight { now, .. } = self {
            *now = now.checked_sub(1).expect("every recovery that ended was granted");
        }
    }

    fn reset(&mut self) {
        match self {
            Account::Tokens { capacity, level, rest, filled_at, .. } => {
                (*level, *rest, *filled_at) = (*capacity, 0, Instant::ZERO);
            }
            Account::Ratio { counts, .. } => counts.clear(),
            Account::Throttle { capacity, level, .. } => *level = *capacity,
            Account::InFlight { now, elsewhere, .. } => (*now, *elsewhere) = (0, 0),
        }
    }
}

/// `share · n`, rounded to the nearest: shares of round decimals lie a hair below them.
fn nearest(share: Share, n: u64) -> u64 {
    let half = 1_u128 << 62;
    ((u128::from(share.as_bits()) * u128::from(n) + half) >> 63) as u64
}

#[cfg(test)]
mod tests;
