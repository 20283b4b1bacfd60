//! The decision on the next attempt: the gates, then the search for its target, which asks what is
//! eligible and what the strategy prefers. Changes nothing but whose turn it is, and what the shared
//! budgets have left.

mod decide;
mod groups;
mod kinds;
mod pick;
mod room;
mod search;
mod substitutes;

pub(crate) use self::pick::first_of_equals;
pub(crate) use self::room::{estimated_cost, remaining};
use crate::config::{LoopOrder, RecoveryAction, Row};
use crate::event::StopReason;
use crate::gates;
use crate::health::Standstill;
use crate::known::Known;
use crate::plan::ClassPlan;
use crate::rules::Rules;
use crate::slots::{Next, Slot};
use crate::tally::Tally;
use crate::target::{Target, TargetId};
use crate::target_set::TargetSet;
use crate::{Duration, Instant};

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

    /// Takes what another search was refused in.
    pub(crate) fn add(&mut self, other: Refusal) {
        self.reason = gates::further(self.reason, other.reason);
        self.out_of_service = self.out_of_service.saturating_add(other.out_of_service);
        self.cooling = self.cooling.saturating_add(other.cooling);
        if let Some(back) = other.earliest
            && self.earliest.is_none_or(|first| back.at < first.at)
        {
            self.earliest = Some(back);
        }
    }

    #[inline]
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

/// All a decision may look at. The attempt that it finds it writes to the `next` of the request's slot,
/// and only says that it has; why it found none it adds to `refusal`, to which a find adds nothing.
pub(crate) struct Chooser<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) class: &'a ClassPlan,
    pub(crate) known: &'a mut Known,
    pub(crate) slot: &'a mut Slot,
    pub(crate) tally: Tally<'a>,
    /// Targets a shared budget denied in this decision, if any.
    pub(crate) denied: Option<TargetSet>,
    /// Use targets that are out of service, unless only an operator may put them back.
    pub(crate) fail_open: bool,
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

impl Chooser<'_> {
    /// The first attempt: of the class's own model, else of an approved substitute.
    ///
    /// No estimate can refuse it: a cold prior would refuse every request, and nothing would ever
    /// be learned that could correct it.
    fn first(&mut self) -> bool {
        let terms = Terms {
            action: None,
            rounds: 1,
            latest: true,
            validated: false,
            larger_than: 0,
            wait: Duration::ZERO,
        };
        let before = self.known.refusal;
        let mut found = self.search_groups(&terms);
        if found.is_none() && self.class.attempts.allow_substitution {
            found = self.search_substitutes(&terms);
        }
        let Some(found) = found else { return false };
        self.known.refusal = before;
        self.take(found, None, Duration::ZERO);
        true
    }

    /// A recovery of this kind after the latest attempt failed with a class of this row.
    #[inline(always)]
    fn recovery(&mut self, action: RecoveryAction, row: &Row) -> bool {
        match (action, self.class.attempts.order) {
            (RecoveryAction::Retry, LoopOrder::WalkThenRetry) => self.walk(row),
            (RecoveryAction::Retry, LoopOrder::FreePick) => self.free_pick(row),
            (RecoveryAction::Retry, _) => {
                self.retry(row, u32::from(self.slot.flight.run.saturating_sub(1)))
            }
            (RecoveryAction::Failover, _) => self.failover(row),
            (RecoveryAction::Substitution, _) => self.substitution(row),
            (RecoveryAction::Hedge, _) => self.hedge(),
        }
    }

    /// An attempt that starts when the first target returns, if that still fits.
    fn wait_for(&mut self, back: Return) -> bool {
        let wait = back.at.since(self.known.now);
        let needed = match back.action {
            None => Duration::ZERO,
            Some(_) => self.needed(back.target),
        };
        let affordable = self.affordable(back.target, needed, &self.room(wait));
        if let Err(reason) = affordable {
            return self.refuse(reason);
        }
        self.slot.next = Next {
            target: back.target,
            group: back.group,
            action: back.action,
            round: self.slot.round,
            fail_open: false,
            wait,
            honoured: None,
            since: self.known.now,
        };
        true
    }

    /// Whether an attempt planned for now may still be sent.
    #[inline]
    pub(crate) fn usable(&self, target: TargetId, group: u8, fail_open: bool) -> bool {
        let in_service = match self.standstill(target) {
            None => true,
            Some(Standstill::Operator) => false,
            Some(Standstill::Until(_)) => fail_open,
        };
        in_service
            && self.full_until(group).is_none()
            && !remaining(self.slot, self.known.now).is_zero()
    }

    /// What was found is the next attempt.
    #[inline(always)]
    fn take(&mut self, found: Found, action: Option<RecoveryAction>, wait: Duration) {
        self.slot.next = Next {
            target: found.target,
            group: found.group,
            action,
            round: self.slot.round,
            fail_open: self.fail_open || found.panic,
            wait,
            honoured: None,
            since: self.known.now,
        };
    }

    #[inline]
    fn refuse(&mut self, reason: StopReason) -> bool {
        self.known.refusal.note(reason);
        false
    }

    fn target(&self, id: TargetId) -> &Target {
        &self.rules.topology.targets[usize::from(id.0)]
    }
}
