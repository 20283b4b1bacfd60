//! The search for the next attempt's target: what is eligible, then what the strategy prefers.
//! Changes nothing but whose turn it is.

mod groups;
mod kinds;
mod room;
mod search;
mod substitutes;

pub(crate) use self::room::{estimated_cost, remaining};
use crate::config::{LoopOrder, Policy, RecoveryAction, Row};
use crate::event::StopReason;
use crate::gates;
use crate::health::{Health, Standstill};
use crate::plan::ClassPlan;
use crate::slots::{Slot, Slots};
use crate::target::{Target, TargetId, Topology};
use crate::target_set::TargetSet;
use crate::{Duration, Instant};

/// An attempt that passed every gate a search can ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) target: TargetId,
    pub(crate) group: u8,
    /// `None` for the first attempt.
    pub(crate) action: Option<RecoveryAction>,
    pub(crate) wait: Duration,
    /// The wait hint within the wait.
    pub(crate) honoured: Option<Duration>,
    /// The round of a repeated walk it belongs to.
    pub(crate) round: u16,
    /// Its target is used although it is out of service.
    pub(crate) fail_open: bool,
}

/// Why a search found nothing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    /// The refusal that came furthest through the gates.
    pub(crate) reason: StopReason,
    /// Targets refused only because they are out of service.
    pub(crate) out_of_service: u16,
    /// Of those, the ones that a cooldown keeps out and nothing else.
    pub(crate) cooling: u16,
    /// Of those, the first to return at a known time after now.
    pub(crate) earliest: Option<Return>,
}

/// A target out of service, and when it returns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Return {
    pub(crate) target: TargetId,
    pub(crate) group: u8,
    pub(crate) action: Option<RecoveryAction>,
    pub(crate) at: Instant,
}

impl Refusal {
    pub(crate) const NOTHING: Refusal =
        Refusal { reason: StopReason::FailureClass, out_of_service: 0, cooling: 0, earliest: None };

    /// Whether every target that could serve is in its cooldown.
    pub(crate) fn all_cooling(&self) -> bool {
        self.out_of_service > 0 && self.cooling == self.out_of_service
    }

    /// One refusal for both searches.
    pub(crate) fn and(self, other: Refusal) -> Refusal {
        let earliest = match (self.earliest, other.earliest) {
            (Some(a), Some(b)) => Some(if b.at < a.at { b } else { a }),
            (a, b) => a.or(b),
        };
        Refusal {
            reason: gates::further(self.reason, other.reason),
            out_of_service: self.out_of_service.saturating_add(other.out_of_service),
            cooling: self.cooling.saturating_add(other.cooling),
            earliest,
        }
    }

    pub(crate) fn note(&mut self, reason: StopReason) {
        self.reason = gates::further(self.reason, reason);
    }

    /// Notes when a target may be had again, where that is known.
    pub(crate) fn note_return(&mut self, back: Return, now: Instant) {
        let known = back.at > now && back.at != Instant::FAR_FUTURE;
        if known && self.earliest.is_none_or(|first| back.at < first.at) {
            self.earliest = Some(back);
        }
    }
}

impl From<StopReason> for Refusal {
    fn from(reason: StopReason) -> Refusal {
        Refusal { reason, ..Refusal::NOTHING }
    }
}

/// All a search may look at.
pub(crate) struct Chooser<'a> {
    pub(crate) policy: &'a Policy,
    pub(crate) topology: &'a Topology,
    pub(crate) class: &'a ClassPlan,
    pub(crate) health: &'a mut Health,
    pub(crate) slots: &'a Slots,
    /// The request's slot.
    pub(crate) i: usize,
    pub(crate) now: Instant,
    /// Targets a shared budget denied in this decision.
    pub(crate) denied: TargetSet,
    /// Use targets that are out of service, unless only an operator may put them back.
    pub(crate) fail_open: bool,
    /// Why nothing was found so far.
    pub(crate) refusal: Refusal,
}

/// Which targets one search considers, beyond the eligibility every attempt needs.
#[derive(Clone, Copy)]
struct Terms {
    action: Option<RecoveryAction>,
    /// Only targets with fewer attempts than this.
    rounds: u16,
    /// Whether the latest target is considered.
    latest: bool,
    validated: bool,
    /// Only targets with a larger context window than this.
    larger_than: u32,
    wait: Duration,
}

/// What a search found.
#[derive(Clone, Copy)]
struct Found {
    target: TargetId,
    group: u8,
    /// In a group whose health is not believed: out of service or not, the target is used.
    panic: bool,
}

impl<'a> Chooser<'a> {
    /// The first attempt: of the class's own model, else of an approved substitute.
    ///
    /// No estimate can refuse it: a cold prior would refuse every request, and nothing would ever
    /// be learned that could correct it.
    pub(crate) fn first(&mut self) -> Result<Choice, Refusal> {
        let terms = Terms {
            action: None,
            rounds: 1,
            latest: true,
            validated: false,
            larger_than: 0,
            wait: Duration::ZERO,
        };
        if let Some(found) = self.first_of_equals() {
            return Ok(self.choice(found, terms));
        }
        let mut found = self.search_groups(terms);
        if found.is_none() && self.policy.attempts.allow_substitution {
            found = self.search_substitutes(terms);
        }
        found.map(|found| self.choice(found, terms)).ok_or(self.refusal)
    }

    /// A recovery of this kind after the latest attempt failed with a class of this row.
    pub(crate) fn recovery(&mut self, action: RecoveryAction, row: Row) -> Result<Choice, Refusal> {
        gates::kind(row, &self.policy.attempts, action)?;
        let choice = match (action, self.policy.attempts.order) {
            (RecoveryAction::Retry, LoopOrder::WalkThenRetry) => self.walk(row),
            (RecoveryAction::Retry, LoopOrder::FreePick) => self.free_pick(row),
            (RecoveryAction::Retry, _) => {
                self.retry(row, u32::from(self.slot().flight.run.saturating_sub(1)))
            }
            (RecoveryAction::Failover, _) => self.failover(row),
            (RecoveryAction::Substitution, _) => self.substitution(row),
            (RecoveryAction::Hedge, _) => None,
        };
        choice.ok_or(self.refusal)
    }

    /// An attempt that starts when the first target returns, if that still fits.
    pub(crate) fn wait_for(&mut self, back: Return) -> Result<Choice, StopReason> {
        let wait = back.at.since(self.now);
        let needed = match back.action {
            None => Duration::ZERO,
            Some(_) => self.needed(back.target),
        };
        self.affordable(back.target, needed, &self.room(wait))?;
        Ok(Choice {
            target: back.target,
            group: back.group,
            action: back.action,
            wait,
            honoured: None,
            round: self.slot().round,
            fail_open: false,
        })
    }

    /// Whether an attempt planned for now may still be sent.
    pub(crate) fn usable(&self, target: TargetId, group: u8) -> bool {
        let in_service = match self.standstill(target) {
            None => true,
            Some(Standstill::Operator) => false,
            Some(Standstill::Until(_)) => self.fail_open,
        };
        in_service
            && self.full_until(group).is_none()
            && !remaining(self.slot(), self.now).is_zero()
    }

    fn choice(&self, found: Found, terms: Terms) -> Choice {
        Choice {
            target: found.target,
            group: found.group,
            action: terms.action,
            wait: terms.wait,
            honoured: None,
            round: self.slot().round,
            fail_open: self.fail_open || found.panic,
        }
    }

    /// What a gate answers, its refusal noted.
    fn ask<T>(&mut self, answer: Result<T, StopReason>) -> Option<T> {
        answer.map_err(|reason| self.refusal.note(reason)).ok()
    }

    fn refuse(&mut self, reason: StopReason) -> Option<Choice> {
        self.refusal.note(reason);
        None
    }

    fn slot(&self) -> &'a Slot {
        &self.slots[self.i]
    }

    fn target(&self, id: TargetId) -> &'a Target {
        &self.topology.targets[usize::from(id.0)]
    }
}
