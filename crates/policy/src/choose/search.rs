//! The search itself: eligibility target by target, then the strategy's choice.

use super::pick::Ground;
use super::room::{Room, tokens};
use super::{Chooser, Found, Refusal, Return, Terms};
use crate::config::RecoveryAction;
use crate::event::StopReason;
use crate::gates::{self, Gate, Spent, Used};
use crate::health::Standstill;
use crate::plan::Segment;
use crate::slots::Slot;
use crate::tally::Tried;
use crate::target::TargetId;
use crate::target_set::TargetSet;
use crate::{Duration, Instant};

impl Chooser<'_> {
    /// The best eligible target of the first segment that has one; else the refusal says why
    /// there is none.
    pub(super) fn search(&mut self, segments: &[Segment], terms: &Terms) -> Option<Found> {
        match self.next_in_order(segments, terms) {
            Some(found) => Some(found),
            None => self.search_each(segments, terms),
        }
    }

    #[inline(never)]
    fn search_each(&mut self, segments: &[Segment], terms: &Terms) -> Option<Found> {
        let room = match terms.action {
            Some(RecoveryAction::Hedge) => self.room_beside(),
            _ => self.room(terms.wait),
        };
        for segment in segments {
            let most = self.most_on_one(segment, terms);
            let mut eligible = TargetSet::EMPTY;
            for target in segment.targets.iter().copied() {
                let tried = self.tally.on_target(target);
                if self.was_tried_enough(target, tried, most, terms)
                    || !self.is_open(segment, target, tried, terms, &room)
                {
                    continue;
                }
                if segment.takes_first {
                    return Some(self.found(segment, target));
                }
                eligible.insert(target);
            }
            if !eligible.is_empty() {
                let eligible = self.of_priority(segment, eligible);
                let target = self.pick(segment, eligible);
                return Some(self.found(segment, target));
            }
        }
        self.note_refusals(segments, terms, &room);
        None
    }

    /// What is found where the gates say the same of all targets and the first that may be tried is
    /// the choice: the first that was not tried enough, if it is well. `None` says nothing.
    #[inline(always)]
    fn next_in_order(&self, segments: &[Segment], terms: &Terms) -> Option<Found> {
        let (class, slot) = (self.class, &*self.slot);
        let in_order = class.in_order
            && tokens(slot) <= u64::from(class.smallest_window)
            && terms.larger_than < class.smallest_window
            && !terms.validated
            && !self.fail_open
            && self.denied.is_none()
            && slot.attempts < self.class.attempts.max.min(slot.request.left.attempts)
            && terms.wait.is_zero()
            && self.has_room();
        if !in_order {
            return None;
        }
        for segment in segments {
            let most = self.most_on_one(segment, terms);
            for target in segment.targets.iter().copied() {
                if !self.was_tried_enough(target, self.tally.on_target(target), most, terms) {
                    let found = Found { target, group: segment.group, panic: false };
                    return self.known.health.is_well(target).then_some(found);
                }
            }
        }
        None
    }

    #[inline(always)]
    fn found(&self, segment: &Segment, target: TargetId) -> Found {
        Found { target, group: segment.group, panic: self.panics(segment) }
    }

    /// Whether a target may have the attempt, as far as it is not what was tried before that speaks
    /// against it. Why not is nobody's concern as long as another may. (Time is asked before its
    /// standing: an estimate is renewed when it is asked for, and so the order is part of what a
    /// policy does.)
    #[inline(never)]
    fn is_open(
        &mut self,
        segment: &Segment,
        target: TargetId,
        tried: Tried,
        terms: &Terms,
        room: &Room,
    ) -> bool {
        !self.is_out_of_question(segment, target, terms, room)
            && !self.spent_attempts(segment.group).for_another_on(tried)
            && self.fits(target, terms, room).is_ok()
            && self.standstill(target).is_none_or(|why| self.ignores(why, segment))
            && self.full_until(segment.group).is_none()
    }

    /// Nothing was found: what speaks against each target.
    #[inline(never)]
    fn note_refusals(&mut self, segments: &[Segment], terms: &Terms, room: &Room) {
        let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
        for segment in segments {
            let group = segment.group;
            let most = self.most_on_one(segment, terms);
            let spent = self.spent_attempts(group);
            for target in segment.targets.iter().copied() {
                let tried = self.tally.on_target(target);
                if self.was_tried_enough(target, tried, most, terms)
                    || self.is_out_of_question(segment, target, terms, room)
                {
                    continue;
                }
                if spent.for_another_on(tried) {
                    refusal.note(StopReason::Attempts);
                } else if let Err(reason) = self.fits(target, terms, room) {
                    refusal.note(reason);
                } else if let Some(why) = self.standstill(target)
                    && !self.ignores(why, segment)
                {
                    self.note_standstill(&mut refusal, why, target, group, terms.action);
                } else if let Some(at) = self.full_until(group) {
                    refusal.note(StopReason::GroupFull);
                    refusal.note_return(self.back(target, group, terms.action, at), self.known.now);
                }
            }
        }
        self.known.refusal.add(refusal);
    }

    /// Whether a target is used in spite of what is known against it.
    fn ignores(&self, why: Standstill, segment: &Segment) -> bool {
        (self.fail_open || self.panics(segment)) && why != Standstill::Operator
    }

    /// Whether what was tried before keeps a target out of a search altogether.
    #[inline(always)]
    fn was_tried_enough(&self, target: TargetId, tried: Tried, most: u16, terms: &Terms) -> bool {
        let slot = &*self.slot;
        tried.attempts >= most
            || tried.excluded
            || (!terms.latest && slot.attempts > 0 && target == slot.flight.target)
    }

    /// Whether anything else does.
    #[inline(always)]
    fn is_out_of_question(
        &self,
        segment: &Segment,
        target: TargetId,
        terms: &Terms,
        room: &Room,
    ) -> bool {
        let smallest = segment.smallest_window;
        let all_fit = room.tokens <= u64::from(smallest) && terms.larger_than < smallest;
        (!all_fit && too_small(self.target(target).context_tokens, terms, room.tokens))
            || (terms.validated && !self.class.validated.contains(target))
            || self.denied.as_ref().is_some_and(|denied| denied.contains(target))
    }

    /// With how many attempts on it a target of a segment is out of a search.
    #[inline]
    fn most_on_one(&self, segment: &Segment, terms: &Terms) -> u16 {
        match terms.rounds {
            // Every group allows one.
            1 => 1,
            u16::MAX => u16::MAX,
            rounds => rounds.min(self.class.groups[usize::from(segment.group)].max_same_target),
        }
    }

    /// Gate 4 for one candidate: time and money.
    #[inline(always)]
    fn fits(&mut self, target: TargetId, terms: &Terms, room: &Room) -> Gate {
        let needed = match terms.action {
            None => Duration::ZERO,
            Some(_) => self.needed(target),
        };
        self.affordable(target, needed, room)
    }

    /// What the request has left of its attempts, for candidates of a group.
    #[inline(always)]
    pub(super) fn spent_attempts(&self, group: u8) -> Spent {
        let limits = &self.class.attempts;
        if self.class.counts_all_alike {
            let Slot { attempts, ref request, .. } = *self.slot;
            return gates::attempts_in_all(attempts, limits.max, request.left.attempts);
        }
        let used = Used {
            total: self.slot.attempts,
            brought: self.slot.request.left.attempts,
            in_group: self.tally.in_group(group),
            most_in_group: self.class.groups[usize::from(group)].max,
            in_first_group: self.tally.in_group(0),
            first_group: group == 0,
        };
        gates::attempts(limits, used)
    }

    /// Too much of the group is out of service for its health to be believed.
    #[inline(always)]
    fn panics(&self, segment: &Segment) -> bool {
        self.rules.policy.selection.panic_threshold != crate::Share::ONE
            && self.is_mostly_out(segment)
    }

    fn is_mostly_out(&self, segment: &Segment) -> bool {
        let threshold = self.rules.policy.selection.panic_threshold;
        let out = |target: &&TargetId| self.standstill(**target).is_some();
        let count = segment.targets.iter().filter(out).count();
        crate::Share::ratio(count as u64, segment.targets.len() as u64) > threshold
    }

    #[inline(never)]
    fn pick(&mut self, segment: &Segment, eligible: TargetSet) -> TargetId {
        let ground = Ground {
            rules: self.rules,
            segment,
            lane: self.class.lane,
            slot: self.slot,
            now: self.known.now,
        };
        ground.pick(&mut self.known.health, |target| eligible.contains(target))
    }

    /// Why a target may not get this attempt now; `None` where it may.
    #[inline(always)]
    pub(super) fn standstill(&self, target: TargetId) -> Option<Standstill> {
        self.known
            .health
            .standstill(target, self.class.lane, self.known.now, || self.slot.ramp_draw())
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
            if self.known.health.standing.only_cooling(target, self.known.now) {
                refusal.cooling = refusal.cooling.saturating_add(1);
            }
            let at = self.full_until(group).map_or(at, |room| at.max(room));
            refusal.note_return(self.back(target, group, action, at), self.known.now);
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
        let again = action.is_some() && target == self.slot.flight.target;
        let action = if again { Some(RecoveryAction::Retry) } else { action };
        Return { target, group, action, at }
    }
}

/// Whether the prompt does not fit this window, or the search asks for a larger one.
fn too_small(window: u32, terms: &Terms, tokens: u64) -> bool {
    (window != u32::MAX && tokens > u64::from(window)) || window <= terms.larger_than
}
