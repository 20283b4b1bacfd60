//! What all requests share, counted a second time: the doors of groups, and budgets that fill. All is
//! counted anew from what happened when, so that it shares no arithmetic with the router's own.

use alloc::collections::VecDeque;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

use super::{Broken, Promise};
use crate::config::{
    Admission, AdmissionWindow, Admitted, BudgetKind, ChargedTo, Policy, RecoveryAction,
    RetryBudget,
};
use crate::event::{Request, Send, StopReason, Terminal};
use crate::target::{ClassId, TargetId, TenantId, Topology};
use crate::{Duration, Instant, Share};

/// The accounts of one router.
#[derive(Clone, Hash, Debug)]
pub(super) struct Accounts {
    /// By class and group, when somebody came in; nothing of groups without a door.
    doors: Vec<Vec<VecDeque<Instant>>>,
    /// By budget: by place, then part; nothing of budgets of what is in flight, which the requests
    /// themselves tell.
    budgets: Vec<Vec<Account>>,
}

/// Who a recovery is for, and between which targets.
#[derive(Clone, Copy, Hash, Debug)]
pub(super) struct Paid {
    pub(super) action: RecoveryAction,
    pub(super) failing: TargetId,
    pub(super) destination: TargetId,
    pub(super) tenant: TenantId,
}

/// One account of a budget.
#[derive(Clone, Hash, Debug, Default)]
struct Account {
    /// What a bucket or a throttle lacks, in millionths of a recovery, and since when.
    lacks: u64,
    since: Instant,
    /// First attempts and recoveries of a window, by its tenths.
    tenths: VecDeque<(u64, u64, u64)>,
}

const RECOVERY: u64 = 1_000_000;
const MINUTE_US: u64 = 60_000_000;

impl Accounts {
    pub(super) fn new(policy: &Policy, topology: &Topology) -> Accounts {
        let places = |charged_to| match charged_to {
            ChargedTo::FailingTarget | ChargedTo::Destination => topology.targets.len(),
            ChargedTo::Overall => 1,
        };
        let accounts = |budget: &RetryBudget| match budget.kind {
            BudgetKind::InFlight { .. } => Vec::new(),
            _ => vec![Account::default(); places(budget.charged_to) * parts(budget, topology)],
        };
        Accounts {
            doors: topology.classes.iter().map(|c| vec![VecDeque::new(); c.groups.len()]).collect(),
            budgets: policy.retry_budgets.iter().map(accounts).collect(),
        }
    }

    /// An attempt goes to a group; `first` where the request's first there.
    pub(super) fn enters(
        &mut self,
        request: &Request,
        send: &Send,
        first: bool,
        now: Instant,
        (policy, topology): (&Policy, &Topology),
    ) -> Result<(), Broken> {
        let (class, group) = (usize::from(request.class.0), usize::from(send.group));
        let Some(rule) = rule(policy, topology, class, group) else { return Ok(()) };
        if rule.counts == Admitted::Requests && !first {
            return Ok(());
        }
        let came = &mut self.doors[class][group];
        came.push_back(now);
        let kept = has_room_for_last(rule, came);
        // Two minutes back nothing counts any more in any kind of minute.
        let recent = |at: &Instant| (now - *at).as_micros() <= 2 * MINUTE_US;
        while came.front().is_some_and(|at| !recent(at)) {
            came.pop_front();
        }
        Promise::Admission
            .holds(kept, || format!("attempt {} was let into a full group", send.attempt.number))
    }

    /// Somebody came into a group at another replica.
    pub(super) fn entered_elsewhere(&mut self, class: ClassId, group: u8, now: Instant) {
        self.doors[usize::from(class.0)][usize::from(group)].push_back(now);
    }

    /// A request ends; where it was turned away, some group of its class is full.
    pub(super) fn turns_away(
        &self,
        request: &Request,
        result: &Terminal,
        now: Instant,
        (policy, topology): (&Policy, &Topology),
    ) -> Result<(), Broken> {
        if result.stop != Some(StopReason::GroupFull) {
            return Ok(());
        }
        let class = usize::from(request.class.0);
        let full = self.doors[class].iter().enumerate().any(|(group, came)| {
            rule(policy, topology, class, group).is_some_and(|rule| {
                let mut with_one_more = came.clone();
                with_one_more.push_back(now);
                !has_room_for_last(rule, &with_one_more)
            })
        });
        Promise::Admission.holds(full, || "a request was turned away, and no group is full".into())
    }

    /// A first attempt goes to this target.
    pub(super) fn first_attempt(
        &mut self,
        (target, tenant): (TargetId, TenantId),
        now: Instant,
        facts: (&Policy, &Topology),
    ) {
        let at =
            Paid { action: RecoveryAction::Retry, failing: target, destination: target, tenant };
        for (_, budget, account) in self.each(at, facts) {
            match budget.kind {
                BudgetKind::TokenBucket { per_request, .. } => {
                    // Never less than the router adds, whichever way it rounds.
                    let adds = per_request.of(RECOVERY) + 1;
                    account.lacks = account.lacks.saturating_sub(adds);
                }
                BudgetKind::Ratio { window, .. } | BudgetKind::RatioAndReserve { window, .. } => {
                    account.count(window, now, (1, 0));
                }
                _ => {}
            }
        }
    }

    /// An attempt on this target was answered, or failed in a way that says something about it.
    pub(super) fn outcome(
        &mut self,
        (target, tenant): (TargetId, TenantId),
        failed: bool,
        facts: (&Policy, &Topology),
    ) {
        let at =
            Paid { action: RecoveryAction::Retry, failing: target, destination: target, tenant };
        for (_, budget, account) in self.each(at, facts) {
            if let BudgetKind::Throttle { tokens, per_success } = budget.kind {
                account.lacks = match failed {
                    true => {
                        (account.lacks + RECOVERY).min(capacity(tokens, budget, tenant, facts.1))
                    }
                    false => account.lacks.saturating_sub(per_success.of(RECOVERY) + 1),
                };
            }
        }
    }

    /// A recovery is decided.
    pub(super) fn recovers(
        &mut self,
        paid: Paid,
        now: Instant,
        facts: (&Policy, &Topology),
    ) -> Result<(), Broken> {
        let mut kept = Ok(());
        let governs = |budget: &RetryBudget| budget.governs.contains(&paid.action);
        for (i, budget, account) in self.each(paid, facts) {
            if !governs(budget) {
                continue;
            }
            let share = part(budget, paid.tenant, facts.1);
            let has_one = account.has_one(budget.kind, share, now);
            account.pay(budget.kind, now);
            kept = kept.and(Promise::SharedBudgets.holds(has_one, || {
                let name = paid.action.name();
                format!("a {name} was decided that retry_budgets[{i}] has nothing for")
            }));
        }
        kept
    }

    /// The account of each budget that is counted here which one like this draws on.
    fn each<'a>(
        &'a mut self,
        paid: Paid,
        (policy, topology): (&'a Policy, &'a Topology),
    ) -> impl Iterator<Item = (usize, &'a RetryBudget, &'a mut Account)> {
        let budgets = policy.retry_budgets.iter().zip(&mut self.budgets).enumerate();
        budgets.filter_map(move |(i, (budget, accounts))| {
            let place = match budget.charged_to {
                ChargedTo::FailingTarget => usize::from(paid.failing.0),
                ChargedTo::Destination => usize::from(paid.destination.0),
                ChargedTo::Overall => 0,
            };
            let parts = parts(budget, topology);
            let part = if parts > 1 { usize::from(paid.tenant.0) } else { 0 };
            accounts.get_mut(place * parts + part).map(|account| (i, budget, account))
        })
    }
}

/// Into how many parts each account of a budget is divided.
fn parts(budget: &RetryBudget, topology: &Topology) -> usize {
    if budget.by_tenant { topology.tenants.len().max(1) } else { 1 }
}

/// The share of a budget that a tenant has to itself.
pub(super) fn part(budget: &RetryBudget, tenant: TenantId, topology: &Topology) -> Share {
    let of = topology.tenants.get(usize::from(tenant.0)).filter(|_| budget.by_tenant);
    of.map_or(Share::ONE, |tenant| tenant.budget_share)
}

/// So much of `n` recoveries, in millionths; never less than the router counts, whichever way it rounds.
fn of(share: Share, n: u32) -> u64 {
    (share.of(u64::from(n) * RECOVERY) + 1).min(u64::from(n) * RECOVERY)
}

/// The same of a capacity: whoever has anything has one.
pub(super) fn at_least_one(share: Share, n: u32) -> u64 {
    of(share, n).max(u64::from(n.min(1)) * RECOVERY)
}

fn capacity(tokens: u32, budget: &RetryBudget, tenant: TenantId, topology: &Topology) -> u64 {
    at_least_one(part(budget, tenant, topology), tokens)
}

fn rule<'a>(
    policy: &'a Policy,
    topology: &Topology,
    class: usize,
    group: usize,
) -> Option<&'a Admission> {
    let role = topology.classes[class].groups[group].role;
    policy.groups.rule(role)?.admission.as_ref()
}

/// Whether the last of these could come in after the others.
fn has_room_for_last(rule: &Admission, came: &VecDeque<Instant>) -> bool {
    let Some(last) = came.back() else { return true };
    let at = |instant: &Instant| instant.as_micros();
    let rpm = u64::from(rule.rpm);
    match rule.window {
        AdmissionWindow::Sliding => {
            let within = came.iter().filter(|other| at(last) - at(other) < MINUTE_US).count();
            within as u64 <= rpm
        }
        AdmissionWindow::Minute => {
            let same = |other: &&Instant| at(other) / MINUTE_US == at(last) / MINUTE_US;
            came.iter().filter(same).count() as u64 <= rpm
        }
        // As many as came since any of them: the burst, and one for each share of a minute.
        AdmissionWindow::Paced(burst) => came.iter().rev().zip(1_u64..).all(|(since, n)| {
            let needs = u128::from(n.saturating_sub(burst.into())) * u128::from(MINUTE_US);
            needs <= u128::from(at(last) - at(since)) * u128::from(rpm)
        }),
    }
}

impl Account {
    fn has_one(&mut self, kind: BudgetKind, part: Share, now: Instant) -> bool {
        match kind {
            BudgetKind::TokenBucket { capacity, per_second, .. } => {
                self.fill(of(part, per_second), now);
                self.lacks + RECOVERY <= at_least_one(part, capacity)
            }
            BudgetKind::Rate { per_second } => {
                self.fill(of(part, per_second), now);
                self.lacks + RECOVERY <= at_least_one(part, per_second)
            }
            BudgetKind::Ratio { share, window, min_per_second } => {
                let (firsts, recoveries) = self.within(window, now);
                let least = in_window(of(part, min_per_second), window);
                recoveries * RECOVERY < least || below(recoveries, share, firsts, 0)
            }
            BudgetKind::RatioAndReserve { share, window, reserve_per_second } => {
                let (firsts, recoveries) = self.within(window, now);
                let reserve = in_window(of(part, reserve_per_second), window);
                below(recoveries, share, firsts, reserve)
            }
            // Above its half: it lacks less than that.
            BudgetKind::Throttle { tokens, .. } => self.lacks * 2 < at_least_one(part, tokens) + 2,
            BudgetKind::InFlight { .. } => true,
        }
    }

    fn pay(&mut self, kind: BudgetKind, now: Instant) {
        match kind {
            BudgetKind::TokenBucket { .. } | BudgetKind::Rate { .. } => self.lacks += RECOVERY,
            BudgetKind::Ratio { window, .. } | BudgetKind::RatioAndReserve { window, .. } => {
                self.count(window, now, (0, 1));
            }
            // The failure before it has paid.
            BudgetKind::InFlight { .. } | BudgetKind::Throttle { .. } => {}
        }
    }

    /// Fills with so many millionths a second.
    fn fill(&mut self, per_second: u64, now: Instant) {
        let elapsed = u128::from((now - self.since).as_micros());
        let added = (elapsed * u128::from(per_second)).div_ceil(1_000_000);
        self.lacks = self.lacks.saturating_sub(u64::try_from(added).unwrap_or(u64::MAX));
        self.since = now;
    }

    fn count(&mut self, window: Duration, now: Instant, (firsts, recoveries): (u64, u64)) {
        let tenth = tenth_of(window, now);
        match self.tenths.back_mut().filter(|latest| latest.0 == tenth) {
            Some(latest) => {
                latest.1 += firsts;
                latest.2 += recoveries;
            }
            None => self.tenths.push_back((tenth, firsts, recoveries)),
        }
    }

    /// First attempts and recoveries of the tenth that runs and of the nine before.
    fn within(&mut self, window: Duration, now: Instant) -> (u64, u64) {
        let oldest = tenth_of(window, now).saturating_sub(9);
        self.tenths.retain(|(tenth, ..)| *tenth >= oldest);
        self.tenths
            .iter()
            .fold((0, 0), |(f, r), (_, firsts, recoveries)| (f + firsts, r + recoveries))
    }
}

/// What so many millionths a second are in a window.
fn in_window(per_second: u64, window: Duration) -> u64 {
    let all = (u128::from(per_second) * u128::from(window.as_micros())).div_ceil(1_000_000);
    u64::try_from(all).unwrap_or(u64::MAX)
}

fn tenth_of(window: Duration, now: Instant) -> u64 {
    now.as_micros() / (window.as_micros() / 10).max(1)
}

/// Whether recoveries are fewer than this share of first attempts, and so many millionths besides.
fn below(recoveries: u64, share: Share, firsts: u64, millionths: u64) -> bool {
    let one = u128::from(Share::ONE.as_bits());
    let most = u128::from(firsts) * u128::from(share.as_bits()) * u128::from(RECOVERY)
        + u128::from(millionths) * one;
    u128::from(recoveries) * u128::from(RECOVERY) * one < most
}
