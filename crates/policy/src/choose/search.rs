//! The search itself: eligibility target by target, then the strategy's choice.

use super::room::{Room, estimated_cost, remaining};
use super::{Chooser, Found, Refusal, Return, Terms};
use crate::config::{RecoveryAction, Sticky};
use crate::event::StopReason;
use crate::gates::{self, Gate, Used};
use crate::health::Standstill;
use crate::mix::{self, Draw};
use crate::plan::Segment;
use crate::select;
use crate::slots::Tried;
use crate::target::TargetId;
use crate::target_set::TargetSet;
use crate::{Duration, Instant, Money};

impl Chooser<'_> {
    /// The best eligible target of the first segment that has one; else the refusal says why
    /// there is none.
    pub(super) fn search(&mut self, segments: &[Segment], terms: Terms) -> Option<Found> {
        let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
        let room = match terms.action {
            Some(RecoveryAction::Hedge) => self.room_beside(),
            _ => self.room(terms.wait),
        };
        for segment in segments {
            let group = segment.group;
            let full = self.full_until(group);
            let panic = self.panics(segment);
            let mut eligible = TargetSet::EMPTY;
            for target in segment.targets.iter().copied() {
                let tried = self.slots.on_target(self.i, target);
                if self.barred(target, group, tried, terms, room.tokens) {
                    continue;
                }
                if let Err(reason) = self.passes(target, group, tried, terms, &room) {
                    refusal.note(reason);
                    continue;
                }
                if let Some(why) = self.standstill(target) {
                    let ignored = (self.fail_open || panic) && why != Standstill::Operator;
                    if !ignored {
                        self.note_standstill(&mut refusal, why, target, group, terms.action);
                        continue;
                    }
                }
                if let Some(at) = full {
                    refusal.note(StopReason::GroupFull);
                    refusal.note_return(self.back(target, group, terms.action, at), self.now);
                    continue;
                }
                if segment.takes_first {
                    return Some(Found { target, group, panic });
                }
                eligible.insert(target);
            }
            if !eligible.is_empty() {
                let eligible = self.of_priority(segment, eligible);
                return Some(Found { target: self.pick(segment, eligible), group, panic });
            }
        }
        self.refusal = self.refusal.and(refusal);
        None
    }

    /// What [`search`](Chooser::search) finds for a first attempt where nothing but the strategy
    /// tells the targets of the first group apart: all are well, the prompt fits each, and so does
    /// its price. The common case, answered without a look at each; `None` says nothing.
    pub(super) fn first_of_equals(&mut self) -> Option<Found> {
        let (slot, segment) = (self.slot(), self.class.equivalent.first()?);
        let request = &slot.request;
        let tokens = u64::from(request.input_tokens) + u64::from(request.max_output_tokens);
        let most = || segment.dearest.bill(request.input_tokens, 0, request.max_output_tokens);
        let added = self.now.since(slot.arrived);
        let alike = segment.plain
            && tokens < u64::from(segment.smallest_window)
            && (self.class.ceiling == Money::MAX || most() <= self.class.ceiling)
            && self.health.all_well(segment.set)
            && !remaining(slot, self.now).is_zero()
            && gates::added_latency(added, self.policy.envelope.max_added_latency).is_ok();
        if !alike {
            return None;
        }
        let target = match segment.takes_first {
            true => segment.targets[0],
            false => self.pick(segment, self.of_priority(segment, segment.set)),
        };
        Some(Found { target, group: segment.group, panic: false })
    }

    /// Not considered in this search at all.
    fn barred(&self, target: TargetId, group: u8, tried: Tried, terms: Terms, tokens: u64) -> bool {
        let slot = self.slot();
        let facts = self.target(target);
        let window = facts.context_tokens;
        let own = self.class.groups[usize::from(group)].max_same_target;
        tried.attempts >= terms.rounds
            || (tried.attempts >= own && terms.rounds != u16::MAX)
            || (tried.excluded && !self.policy.attempts.repick_failed)
            || (!terms.latest && slot.attempts > 0 && target == slot.flight.target)
            || (window != u32::MAX && tokens > u64::from(window))
            || window <= terms.larger_than
            || (terms.validated && !self.class.validated.contains(target))
            || self.denied.contains(target)
    }

    /// The budgets of gate 4, for one candidate.
    fn passes(
        &mut self,
        target: TargetId,
        group: u8,
        tried: Tried,
        terms: Terms,
        room: &Room,
    ) -> Gate {
        gates::attempts(&self.policy.attempts, self.used(tried, group))?;
        let needed = match terms.action {
            None => Duration::ZERO,
            Some(_) => self.needed(target),
        };
        self.affordable(target, needed, room)
    }

    pub(super) fn used(&self, tried: Tried, group: u8) -> Used {
        Used {
            total: self.slot().attempts,
            brought: self.slot().request.left.attempts,
            on_target: tried.attempts,
            in_group: self.slots.in_group(self.i, group),
            most_in_group: self.class.groups[usize::from(group)].max,
            in_first_group: self.slots.in_group(self.i, 0),
            first_group: group == 0,
        }
    }

    /// Too much of the group is out of service for its health to be believed.
    fn panics(&self, segment: &Segment) -> bool {
        let threshold = self.policy.selection.panic_threshold;
        if threshold == crate::Share::ONE {
            return false;
        }
        let out = |target: &&TargetId| self.standstill(**target).is_some();
        let count = segment.targets.iter().filter(out).count();
        crate::Share::ratio(count as u64, segment.targets.len() as u64) > threshold
    }

    fn pick(&mut self, segment: &Segment, eligible: TargetSet) -> TargetId {
        let slot = self.slot();
        let (request, topology) = (&slot.request, self.topology);
        if self.policy.selection.sticky == Sticky::Session {
            // The highest of the session's draws: other targets coming or going move nothing.
            let targets = segment.targets.iter().zip(&segment.anchors);
            let (target, _) = targets
                .filter(|(target, _)| eligible.contains(**target))
                .max_by_key(|(_, anchor)| mix::draw(request.session, Draw::Sticky, **anchor))
                .expect("one of the targets is eligible");
            return *target;
        }
        let choice = select::Choice {
            order: &segment.targets,
            eligible,
            targets: &topology.targets,
            outcomes: &self.health.outcomes,
            load: &self.health.load,
            cost: |target| estimated_cost(request, topology, target),
            turn: &mut self.health.turns[segment.turn],
            draw: || mix::draw(request.salt, Draw::Choice, slot.attempts.into()),
            now: self.now,
        };
        select::pick(segment.strategy, choice).expect("one of the targets is eligible")
    }

    /// Why a target may not get this attempt now; `None` where it may.
    #[inline]
    pub(super) fn standstill(&self, target: TargetId) -> Option<Standstill> {
        match self.health.is_well(target) {
            true => None,
            false => self.looked_into(target),
        }
    }

    /// The same of a target against which something is known.
    fn looked_into(&self, target: TargetId) -> Option<Standstill> {
        let slot = self.slot();
        let draw = mix::draw(slot.request.salt, Draw::Ramp, u64::from(slot.attempts));
        self.health.standstill(target, self.now, draw)
    }

    pub(super) fn note_standstill(
        &self,
        refusal: &mut Refusal,
        standstill: Standstill,
        target: TargetId,
        group: u8,
        action: Option<RecoveryAction>,
    ) {
        refusal.note(StopReason::NoEligibleTarget);
        if let Standstill::Until(at) = standstill {
            refusal.out_of_service = refusal.out_of_service.saturating_add(1);
            if self.health.standing.only_cooling(target, self.now) {
                refusal.cooling = refusal.cooling.saturating_add(1);
            }
            let at = self.full_until(group).map_or(at, |room| at.max(room));
            refusal.note_return(self.back(target, group, action, at), self.now);
        }
    }

    /// A target that may be had again at this time.
    fn back(
        &self,
        target: TargetId,
        group: u8,
        action: Option<RecoveryAction>,
        at: Instant,
    ) -> Return {
        let again = action.is_some() && target == self.slot().flight.target;
        let action = if again { Some(RecoveryAction::Retry) } else { action };
        Return { target, group, action, at }
    }
}
