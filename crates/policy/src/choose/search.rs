//! The search itself: eligibility target by target, then the strategy's choice.

use super::room::estimated_cost;
use super::{Chooser, Found, Refusal, Return, Terms};
use crate::config::{RecoveryAction, Selection, Sticky, Strategy};
use crate::event::StopReason;
use crate::gates::{self, Gate, Used};
use crate::health::Standstill;
use crate::mix::{self, Draw};
use crate::plan::Segment;
use crate::select;
use crate::target::TargetId;
use crate::target_set::TargetSet;
use crate::{Duration, Instant};

impl Chooser<'_> {
    /// The best eligible target of the first segment that has one.
    pub(super) fn search(
        &mut self,
        segments: &[Segment],
        terms: Terms,
    ) -> Result<Found, Refusal> {
        let mut refusal = Refusal::from(StopReason::NoEligibleTarget);
        let takes_first = takes_first(&self.policy.selection);
        let ramp_draw = self.ramp_draw();
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
                let standstill = self.health.standstill(target, self.now, ramp_draw);
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
                    return Ok(Found { target, group: segment.group, panic });
                }
                eligible.insert(target);
            }
            if !eligible.is_empty() {
                let target = self.pick(segment, eligible);
                return Ok(Found { target, group: segment.group, panic });
            }
        }
        Err(refusal)
    }

    /// Not considered in this search at all.
    pub(super) fn barred(&self, target: TargetId, terms: Terms) -> bool {
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
    pub(super) fn passes(&mut self, target: TargetId, group: u8, terms: Terms) -> Gate {
        gates::attempts(&self.policy.attempts, self.used(target, group))?;
        let needed = match terms.action {
            None => Duration::ZERO,
            Some(_) => self.needed(target),
        };
        self.affordable(target, needed, terms.wait)
    }

    pub(super) fn used(&self, target: TargetId, group: u8) -> Used {
        Used {
            total: self.slot().attempts,
            on_target: self.slots.on_target(self.i, target).0,
            in_group: self.slots.in_group(self.i, group),
            in_first_group: self.slots.in_group(self.i, 0),
            first_group: group == 0,
        }
    }

    pub(super) fn fits_context(&self, target: TargetId) -> bool {
        let request = &self.slot().request;
        let whole = u64::from(request.input_tokens) + u64::from(request.max_output_tokens);
        let window = self.target(target).context_tokens;
        window == u32::MAX || whole <= u64::from(window)
    }

    /// Too much of the group is out of service for its health to be believed.
    pub(super) fn panics(&self, segment: &Segment) -> bool {
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

    pub(super) fn pick(&mut self, segment: &Segment, eligible: TargetSet) -> TargetId {
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
            load: &self.health.load,
            cost: |target| estimated_cost(request, topology, target),
            turn: &mut self.health.turns[segment.turn],
            draw: mix::draw(request.salt, Draw::Choice, slot.attempts.into()),
            now: self.now,
        };
        select::pick(self.policy.selection.strategy, choice)
            .expect("one of the targets is eligible")
    }

    pub(super) fn ramp_draw(&self) -> u64 {
        let slot = self.slot();
        mix::draw(slot.request.salt, Draw::Ramp, u64::from(slot.attempts))
    }

    pub(super) fn note_standstill(
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
}

/// Whether the first eligible target of a group is the choice, so that the rest need no look.
fn takes_first(selection: &Selection) -> bool {
    selection.strategy == Strategy::Ordered && selection.sticky == Sticky::No
}
