//! The search for the next attempt's target: what is eligible, then what the strategy prefers.
//! Changes nothing but whose turn it is.

use crate::backoff::{self, Wait};
use crate::config::{
    FailoverRule, LoopOrder, Policy, RecoveryAction, RetryAfterSource, RetryRule, Row, Selection,
    Sticky, Strategy, SubstitutionRule, TotalCovers,
};
use crate::event::{Request, StopReason};
use crate::gates::{self, Gate, Used};
use crate::health::{Health, Standstill};
use crate::mix::{self, Draw};
use crate::plan::{ClassPlan, Segment};
use crate::select;
use crate::slots::{Slot, Slots};
use crate::target::{Target, TargetId, Topology};
use crate::target_set::TargetSet;
use crate::{Duration, Instant, Money};

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

    fn note(&mut self, reason: StopReason) {
        self.reason = gates::further(self.reason, reason);
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
        let found = self.search(&self.class.equivalent, terms).or_else(|own| {
            if !self.policy.attempts.allow_substitution {
                return Err(own);
            }
            self.search(&self.class.substitutes, terms).map_err(|other| own.and(other))
        });
        found.map(|(target, group)| self.choice(target, group, terms))
    }

    /// A recovery of this kind after the latest attempt failed with a class of this row.
    pub(crate) fn recovery(&mut self, action: RecoveryAction, row: Row) -> Result<Choice, Refusal> {
        gates::kind(row, &self.policy.attempts, action)?;
        match (action, self.policy.attempts.order) {
            (RecoveryAction::Retry, LoopOrder::WalkThenRetry) => self.walk(row),
            (RecoveryAction::Retry, LoopOrder::FreePick) => self.free_pick(row),
            (RecoveryAction::Retry, _) => {
                self.retry(row, u32::from(self.slot().run.saturating_sub(1)))
            }
            (RecoveryAction::Failover, _) => self.failover(row),
            (RecoveryAction::Substitution, _) => self.substitution(row),
            (RecoveryAction::Hedge, _) => Err(StopReason::FailureClass.into()),
        }
    }

    /// An attempt that starts when the first target returns, if that still fits.
    pub(crate) fn wait_for(&mut self, back: Return) -> Result<Choice, StopReason> {
        let wait = back.at.since(self.now);
        let needed = match back.action {
            None => Duration::ZERO,
            Some(_) => self.needed(back.target),
        };
        self.affordable(back.target, needed, wait)?;
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
    pub(crate) fn usable(&self, target: TargetId) -> bool {
        let in_service = match self.health.standstill(target, self.now, self.ramp_draw()) {
            None => true,
            Some(Standstill::Operator) => false,
            Some(Standstill::Until(_)) => self.fail_open,
        };
        in_service && !self.remaining(Duration::ZERO).is_zero()
    }

    /// Time left at the moment an attempt is sent after this wait; [`Duration::MAX`] for no limit.
    pub(crate) fn remaining(&self, wait: Duration) -> Duration {
        self.total_left(wait).min(self.first_output_left(wait))
    }

    /// The part of the time left that a retry of the latest target may not use: kept from the
    /// first target only, and only where there is somewhere to go.
    pub(crate) fn reserve(&self) -> Duration {
        let slot = self.slot();
        let on_first = slot.attempts > 0 && slot.attempts == slot.run;
        if on_first && self.class.has_alternative {
            self.policy.envelope.reserve_for_failover
        } else {
            Duration::ZERO
        }
    }
}

impl<'a> Chooser<'a> {
    fn retry(&mut self, row: Row, index: u32) -> Result<Choice, Refusal> {
        let (slot, limits) = (self.slot(), &self.policy.attempts);
        let (target, group) = (slot.flight.target, slot.flight.group);
        let (on_target, _) = self.slots.on_target(self.i, target);
        let in_a_row = if limits.repick_failed { slot.run } else { on_target };
        let once = row.retry == RetryRule::OnceIfIdempotent;
        if in_a_row >= limits.max_same_target || (once && in_a_row > 1) {
            return Err(StopReason::Attempts.into());
        }
        gates::attempts(limits, self.used(target, group))?;

        let needed = self.needed(target);
        let reserve = self.reserve();
        self.affordable(target, needed + reserve, Duration::ZERO)?;
        let (wait, honoured) = self.wait_before(index, true, needed + reserve)?;

        let standstill = self.health.standstill(target, self.now, self.ramp_draw());
        let usable = match standstill {
            None => true,
            Some(Standstill::Operator) => false,
            Some(Standstill::Until(at)) => {
                self.fail_open || (!wait.is_zero() && at <= self.now + wait)
            }
        };
        if !usable {
            let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
            self.note_standstill(
                &mut refusal,
                standstill,
                target,
                group,
                Some(RecoveryAction::Retry),
            );
            return Err(refusal);
        }
        Ok(Choice {
            target,
            group,
            action: Some(RecoveryAction::Retry),
            wait,
            honoured,
            round: slot.round,
            fail_open: self.fail_open,
        })
    }

    fn failover(&mut self, row: Row) -> Result<Choice, Refusal> {
        let wait = self.failover_wait()?;
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds: self.rounds(),
            latest: false,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            wait,
        };
        let (target, group) = self.search(&self.class.equivalent, terms)?;
        Ok(self.choice(target, group, terms))
    }

    fn substitution(&mut self, row: Row) -> Result<Choice, Refusal> {
        let wait = self.failover_wait()?;
        let latest = self.target(self.slot().flight.target);
        let terms = Terms {
            action: Some(RecoveryAction::Substitution),
            rounds: self.rounds(),
            latest: false,
            validated: row.substitution == SubstitutionRule::IfApprovedAndValidated,
            larger_than: match row.substitution {
                SubstitutionRule::LargerWindow => latest.context_tokens,
                _ => 0,
            },
            wait,
        };
        let (target, group) = self.search(&self.class.substitutes, terms)?;
        Ok(self.choice(target, group, terms))
    }

    /// The whole walk again: every target whose failures allow it, the latest included.
    fn walk(&mut self, row: Row) -> Result<Choice, Refusal> {
        let round = self.slot().round.saturating_add(1);
        if round > self.policy.attempts.max_same_target {
            return Err(StopReason::Attempts.into());
        }
        let again = self.any_target(row, round, u32::from(round - 2))?;
        Ok(Choice { round, ..again })
    }

    /// A fresh choice among all targets, the latest included.
    fn free_pick(&mut self, row: Row) -> Result<Choice, Refusal> {
        let index = u32::from(self.slot().attempts.saturating_sub(1));
        self.any_target(row, self.policy.attempts.max_same_target, index)
    }

    fn any_target(&mut self, row: Row, rounds: u16, index: u32) -> Result<Choice, Refusal> {
        if gates::kind(row, &self.policy.attempts, RecoveryAction::Failover).is_err() {
            return self.retry(row, index);
        }
        let terms = Terms {
            action: Some(RecoveryAction::Failover),
            rounds,
            latest: true,
            validated: row.failover == FailoverRule::IfValidated,
            larger_than: 0,
            // A wait hint is about the latest target only.
            wait: self.wait_before(index, false, Duration::ZERO)?.0,
        };
        let (target, group) = self.search(&self.class.equivalent, terms)?;
        if target != self.slot().flight.target {
            return Ok(self.choice(target, group, terms));
        }
        self.retry(row, index).or_else(|refusal| {
            let others = Terms { latest: false, ..terms };
            let found = self.search(&self.class.equivalent, others);
            let (target, group) = found.map_err(|other| refusal.and(other))?;
            Ok(self.choice(target, group, others))
        })
    }

    /// Below how many attempts a target may be failed over to.
    fn rounds(&self) -> u16 {
        let limits = &self.policy.attempts;
        match limits.order {
            _ if limits.repick_failed => u16::MAX,
            LoopOrder::RetryThenFailover | LoopOrder::FailoverThenRetry => 1,
            LoopOrder::WalkThenRetry => self.slot().round,
            LoopOrder::FreePick => limits.max_same_target,
        }
    }

    /// The best eligible target of the first segment that has one.
    fn search(&mut self, segments: &[Segment], terms: Terms) -> Result<(TargetId, u8), Refusal> {
        let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
        let takes_first = takes_first(&self.policy.selection);
        for segment in segments {
            let panic = self.panics(segment);
            let mut eligible = TargetSet::EMPTY;
            for target in segment.targets.iter().copied() {
                if self.barred(target, terms) {
                    continue;
                }
                if let Err(reason) = self.passes(target, segment.group, terms) {
                    refusal.note(reason);
                    continue;
                }
                let standstill = self.health.standstill(target, self.now, self.ramp_draw());
                let ignored = (self.fail_open || panic) && standstill != Some(Standstill::Operator);
                if standstill.is_some() && !ignored {
                    self.note_standstill(
                        &mut refusal,
                        standstill,
                        target,
                        segment.group,
                        terms.action,
                    );
                    continue;
                }
                if takes_first {
                    return Ok((target, segment.group));
                }
                eligible.insert(target);
            }
            if !eligible.is_empty() {
                return Ok((self.pick(segment, eligible), segment.group));
            }
        }
        Err(refusal)
    }

    /// Not considered in this search at all.
    fn barred(&self, target: TargetId, terms: Terms) -> bool {
        let (count, excluded) = self.slots.on_target(self.i, target);
        let repick = self.policy.attempts.repick_failed;
        let is_latest = self.slot().attempts > 0 && target == self.slot().flight.target;
        self.denied.contains(target)
            || (is_latest && !terms.latest)
            || (excluded && !repick)
            || count >= terms.rounds
            || (terms.validated && !self.class.validated.contains(target))
            || self.target(target).context_tokens <= terms.larger_than
            || !self.fits_context(target)
    }

    /// The budgets of gate 4, for one candidate.
    fn passes(&mut self, target: TargetId, group: u8, terms: Terms) -> Gate {
        gates::attempts(&self.policy.attempts, self.used(target, group))?;
        let needed = match terms.action {
            None => Duration::ZERO,
            Some(_) => self.needed(target),
        };
        self.affordable(target, needed, terms.wait)
    }

    fn affordable(&self, target: TargetId, needed: Duration, wait: Duration) -> Gate {
        let slot = self.slot();
        let envelope = &self.policy.envelope;
        let min_useful = if slot.attempts == 0 { Duration::ZERO } else { envelope.min_useful };
        gates::time(self.total_left(wait), needed, min_useful)?;
        // What is estimated is the whole attempt; of a first output it is asked that it can be.
        gates::time(self.first_output_left(wait), Duration::ZERO, Duration::ZERO)?;
        let added = (self.now + wait).since(slot.arrived);
        gates::added_latency(added, envelope.max_added_latency)?;
        let cost = estimated_cost(&slot.request, self.topology, target);
        gates::cost(slot.spent + slot.presumed, cost, self.class.ceiling)
    }

    fn total_left(&self, wait: Duration) -> Duration {
        let slot = self.slot();
        let send = self.now + wait;
        let paid = match self.policy.timeouts.total_covers {
            TotalCovers::Everything => send,
            TotalCovers::AttemptsOnly => self.now,
        };
        left(slot.arrived + self.class.product_total, send).min(left(slot.policy_deadline, paid))
    }

    fn first_output_left(&self, wait: Duration) -> Duration {
        left(self.slot().first_output_deadline(self.class), self.now + wait)
    }

    /// Backoff and wait hint together, where they leave `needed`.
    fn wait_before(
        &self,
        index: u32,
        heeds_hint: bool,
        needed: Duration,
    ) -> Result<(Duration, Option<Duration>), StopReason> {
        let slot = self.slot();
        let draw = mix::draw(slot.request.salt, Draw::Jitter, u64::from(slot.attempts));
        let delay = backoff::delay(&self.policy.backoff, index, slot.previous_wait, draw);
        let hint = match self.policy.retry_after.source {
            _ if slot.lapse.waited => None,
            RetryAfterSource::Latest => slot.lapse.hint,
            RetryAfterSource::First => slot.first_hint,
        };
        let (in_time, in_latency) = self.longest_wait(needed);
        let longest = in_time.min(in_latency);
        match backoff::wait(&self.policy.retry_after, delay, hint, heeds_hint, longest) {
            Wait::For { wait, honoured } => Ok((wait, honoured)),
            Wait::TooLong if heeds_hint && hint.is_some() => Err(StopReason::WaitTooLong),
            Wait::TooLong if in_latency < in_time => Err(StopReason::AddedLatency),
            Wait::TooLong => Err(StopReason::Deadline),
        }
    }

    fn failover_wait(&self) -> Result<Duration, StopReason> {
        if !self.policy.backoff.before_failover {
            return Ok(Duration::ZERO);
        }
        let index = u32::from(self.slot().attempts.saturating_sub(1));
        self.wait_before(index, false, Duration::ZERO).map(|(wait, _)| wait)
    }

    /// The longest wait that leaves more than `needed` of the time, and that the added-latency
    /// budget still covers.
    fn longest_wait(&self, needed: Duration) -> (Duration, Duration) {
        let slot = self.slot();
        let envelope = &self.policy.envelope;
        let least = envelope.min_useful.max(needed + Duration::from_micros(1));
        let total = match self.policy.timeouts.total_covers {
            TotalCovers::Everything => self.total_left(Duration::ZERO),
            // Only the product's limit runs while the policy's own stands still.
            TotalCovers::AttemptsOnly => left(slot.arrived + self.class.product_total, self.now),
        };
        let spare = |left: Duration, least| match left {
            Duration::MAX => Duration::MAX,
            left => left.saturating_sub(least),
        };
        let first = self.first_output_left(Duration::ZERO);
        let in_time = spare(total, least).min(spare(first, Duration::from_micros(1)));
        let in_latency = envelope
            .max_added_latency
            .map_or(Duration::MAX, |most| most.saturating_sub(self.now.since(slot.arrived)));
        (in_time, in_latency)
    }

    /// Time an attempt on this target is expected to need, the safety margin included.
    fn needed(&mut self, target: TargetId) -> Duration {
        let envelope = &self.policy.envelope;
        if !envelope.estimate.enabled {
            return Duration::ZERO;
        }
        let prior = envelope.estimate.prior.unwrap_or(self.target(target).prior_latency);
        let class = self.slot().request.class;
        let expected = self.health.estimates.expected(class, target, prior, self.now);
        let cut = self.policy.timeouts.attempt.unwrap_or(Duration::MAX);
        expected.min(cut) + envelope.safety_margin
    }

    fn used(&self, target: TargetId, group: u8) -> Used {
        Used {
            total: self.slot().attempts,
            on_target: self.slots.on_target(self.i, target).0,
            in_group: self.slots.in_group(self.i, group),
            in_first_group: self.slots.in_group(self.i, 0),
            first_group: group == 0,
        }
    }

    fn fits_context(&self, target: TargetId) -> bool {
        let request = &self.slot().request;
        let whole = u64::from(request.input_tokens) + u64::from(request.max_output_tokens);
        let window = self.target(target).context_tokens;
        window == u32::MAX || whole <= u64::from(window)
    }

    /// Too much of the group is out of service for its health to be believed.
    fn panics(&self, segment: &Segment) -> bool {
        let threshold = self.policy.selection.panic_threshold;
        if threshold == crate::Share::ONE {
            return false;
        }
        let out = |target: &&TargetId| {
            self.health.standstill(**target, self.now, self.ramp_draw()).is_some()
        };
        let count = segment.targets.iter().filter(out).count();
        crate::Share::ratio(count as u64, segment.targets.len() as u64) > threshold
    }

    fn pick(&mut self, segment: &Segment, eligible: TargetSet) -> TargetId {
        let slot = self.slot();
        let (request, topology) = (&slot.request, self.topology);
        if self.policy.selection.sticky == Sticky::Session {
            // The highest of the session's draws: other targets coming or going move nothing.
            let draw = |t: &TargetId| mix::draw(request.session, Draw::Choice, t.0.into());
            return eligible.iter().max_by_key(draw).expect("one of the targets is eligible");
        }
        let choice = select::Choice {
            order: &segment.targets,
            eligible,
            targets: &topology.targets,
            load: &self.health.load,
            cost: |target| estimated_cost(request, topology, target),
            turn: &mut self.health.turns[segment.turn],
            draw: mix::draw(request.salt, Draw::Choice, slot.attempts.into()),
            now: self.now,
        };
        select::pick(self.policy.selection.strategy, choice)
            .expect("one of the targets is eligible")
    }

    fn ramp_draw(&self) -> u64 {
        let slot = self.slot();
        mix::draw(slot.request.salt, Draw::Ramp, u64::from(slot.attempts))
    }

    fn note_standstill(
        &self,
        refusal: &mut Refusal,
        standstill: Option<Standstill>,
        target: TargetId,
        group: u8,
        action: Option<RecoveryAction>,
    ) {
        refusal.note(StopReason::NoEligibleTarget);
        if let Some(Standstill::Until(at)) = standstill {
            refusal.out_of_service = refusal.out_of_service.saturating_add(1);
            if self.health.standing.only_cooling(target, self.now) {
                refusal.cooling = refusal.cooling.saturating_add(1);
            }
            let again = action.is_some() && target == self.slot().flight.target;
            let action = if again { Some(RecoveryAction::Retry) } else { action };
            let back = Return { target, group, action, at };
            let known = at > self.now && at != Instant::FAR_FUTURE;
            if known && refusal.earliest.is_none_or(|first| at < first.at) {
                refusal.earliest = Some(back);
            }
        }
    }

    fn choice(&self, target: TargetId, group: u8, terms: Terms) -> Choice {
        Choice {
            target,
            group,
            action: terms.action,
            wait: terms.wait,
            honoured: None,
            round: self.slot().round,
            fail_open: self.fail_open,
        }
    }

    fn slot(&self) -> &'a Slot {
        &self.slots[self.i]
    }

    fn target(&self, id: TargetId) -> &'a Target {
        &self.topology.targets[usize::from(id.0)]
    }
}

/// Whether the first eligible target of a group is the choice, so that the rest need no look.
fn takes_first(selection: &Selection) -> bool {
    selection.strategy == Strategy::Ordered && selection.sticky == Sticky::No
}

/// The most one attempt of a request may cost at a target.
pub(crate) fn estimated_cost(request: &Request, topology: &Topology, target: TargetId) -> Money {
    let price = &topology.targets[usize::from(target.0)].price;
    price.bill(request.input_tokens, 0, request.max_output_tokens)
}

/// Time left until a deadline; [`Duration::MAX`] where there is none.
fn left(deadline: Instant, now: Instant) -> Duration {
    if deadline == Instant::FAR_FUTURE { Duration::MAX } else { deadline.since(now) }
}
