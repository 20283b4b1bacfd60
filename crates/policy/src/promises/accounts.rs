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
use crate::target::{TargetId, Topology};
use crate::{Duration, Instant, Share};

/// The accounts of one router.
#[derive(Clone, Hash, Debug)]
pub(super) struct Accounts {
    /// By class and group, when somebody came in; nothing of groups without a door.
    doors: Vec<Vec<VecDeque<Instant>>>,
    /// By budget and account, nothing of budgets that are not counted here.
    budgets: Vec<Vec<Account>>,
}

/// One account of a budget.
#[derive(Clone, Hash, Debug, Default)]
struct Account {
    /// What a bucket lacks, in millionths of a recovery, and since when.
    lacks: u64,
    since: Instant,
    /// First attempts and recoveries of a window, by its tenths.
    tenths: VecDeque<(u64, u64, u64)>,
}

const RECOVERY: u64 = 1_000_000;
const MINUTE_US: u64 = 60_000_000;

impl Accounts {
    pub(super) fn new(policy: &Policy, topology: &Topology) -> Accounts {
        let accounts = |charged_to| match charged_to {
            ChargedTo::FailingTarget | ChargedTo::Destination => topology.targets.len(),
            ChargedTo::Overall => 1,
        };
        let budgets = policy.retry_budgets.iter();
        Accounts {
            doors: topology.classes.iter().map(|c| vec![VecDeque::new(); c.groups.len()]).collect(),
            budgets: budgets
                .map(|budget| match is_counted(budget, topology) {
                    true => vec![Account::default(); accounts(budget.charged_to)],
                    false => Vec::new(),
                })
                .collect(),
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
    pub(super) fn first_attempt(&mut self, target: TargetId, now: Instant, policy: &Policy) {
        for (budget, accounts) in policy.retry_budgets.iter().zip(&mut self.budgets) {
            let Some(account) = account_of(accounts, budget.charged_to, target, Some(target))
            else {
                continue;
            };
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

    /// A recovery is decided. Where it waits, its destination is not known: what that would pay for it
    /// is let pass.
    pub(super) fn recovers(
        &mut self,
        action: RecoveryAction,
        (failing, destination): (TargetId, Option<TargetId>),
        now: Instant,
        policy: &Policy,
    ) -> Result<(), Broken> {
        for (i, (budget, accounts)) in
            policy.retry_budgets.iter().zip(&mut self.budgets).enumerate()
        {
            let governs = budget.governs.contains(&action);
            let account = account_of(accounts, budget.charged_to, failing, destination);
            let Some(account) = account.filter(|_| governs) else { continue };
            let kept = account.has_one(budget.kind, now);
            account.pay(budget.kind, now);
            Promise::SharedBudgets.holds(kept, || {
                format!("a {} was decided that retry_budgets[{i}] has nothing for", action.name())
            })?;
        }
        Ok(())
    }
}

/// Whether a budget fills by time and traffic; those in flight are counted elsewhere, and what
/// outcomes fill, or what tenants divide, is not.
fn is_counted(budget: &RetryBudget, topology: &Topology) -> bool {
    let divided = budget.by_tenant && !topology.tenants.is_empty();
    !divided && !matches!(budget.kind, BudgetKind::InFlight { .. } | BudgetKind::Throttle { .. })
}

fn account_of(
    accounts: &mut [Account],
    charged_to: ChargedTo,
    failing: TargetId,
    destination: Option<TargetId>,
) -> Option<&mut Account> {
    let place = match charged_to {
        ChargedTo::FailingTarget => usize::from(failing.0),
        ChargedTo::Destination => usize::from(destination?.0),
        ChargedTo::Overall => 0,
    };
    accounts.get_mut(place)
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
    fn has_one(&mut self, kind: BudgetKind, now: Instant) -> bool {
        match kind {
            BudgetKind::TokenBucket { capacity, per_second, .. } => {
                self.fill(per_second, now);
                self.lacks + RECOVERY <= u64::from(capacity) * RECOVERY
            }
            BudgetKind::Rate { per_second } => {
                self.fill(per_second, now);
                self.lacks + RECOVERY <= u64::from(per_second) * RECOVERY
            }
            BudgetKind::Ratio { share, window, min_per_second } => {
                let (firsts, recoveries) = self.within(window, now);
                recoveries * RECOVERY < u64::from(min_per_second) * window.as_micros()
                    || below(recoveries, share, firsts, 0)
            }
            BudgetKind::RatioAndReserve { share, window, reserve_per_second } => {
                let (firsts, recoveries) = self.within(window, now);
                below(recoveries, share, firsts, u64::from(reserve_per_second) * window.as_micros())
            }
            BudgetKind::InFlight { .. } | BudgetKind::Throttle { .. } => true,
        }
    }

    fn pay(&mut self, kind: BudgetKind, now: Instant) {
        match kind {
            BudgetKind::TokenBucket { .. } | BudgetKind::Rate { .. } => self.lacks += RECOVERY,
            BudgetKind::Ratio { window, .. } | BudgetKind::RatioAndReserve { window, .. } => {
                self.count(window, now, (0, 1));
            }
            BudgetKind::InFlight { .. } | BudgetKind::Throttle { .. } => {}
        }
    }

    fn fill(&mut self, per_second: u32, now: Instant) {
        let added = (now - self.since).as_micros().saturating_mul(per_second.into());
        self.lacks = self.lacks.saturating_sub(added);
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
