//! The strategy's choice, and the common case of it: a first attempt where all are well.

use super::room::{estimated_cost, remaining, tokens};
use crate::breaker::Lane;
use crate::config::Sticky;
use crate::gates;
use crate::health::Health;
use crate::mix::{self, Draw};
use crate::plan::{ClassPlan, Segment};
use crate::rules::Rules;
use crate::select;
use crate::slots::Slot;
use crate::target::TargetId;
use crate::target_set::TargetSet;
use crate::{Instant, Money, Share};

/// What the choice among the targets of a segment may rest on, beside their health.
pub(super) struct Ground<'a> {
    pub(super) rules: &'a Rules,
    pub(super) segment: &'a Segment,
    pub(super) lane: Lane,
    pub(super) slot: &'a Slot,
    pub(super) now: Instant,
}

impl Ground<'_> {
    /// One of the eligible targets, of which there must be one.
    #[inline(always)]
    pub(super) fn pick(
        &self,
        health: &mut Health,
        eligible: impl Fn(TargetId) -> bool,
    ) -> TargetId {
        let Ground { rules: Rules { policy, topology, .. }, segment, slot, now, .. } = *self;
        let request = &slot.request;
        if policy.selection.sticky == Sticky::Session {
            return of_session(request.session, segment, eligible);
        }
        let choice = select::Choice {
            order: &segment.targets,
            eligible,
            targets: &topology.targets,
            outcomes: &health.outcomes,
            load: &health.load,
            cost: |target| estimated_cost(request, topology, target),
            turn: &mut health.turns[segment.turn],
            draw: || mix::draw(request.salt, Draw::Choice, slot.attempts.into()),
            now,
        };
        select::pick(segment.strategy, choice).expect("one of the targets is eligible")
    }

    /// One of the targets that are in service, if any is, and if the policy believes that.
    #[inline(never)]
    fn pick_of_those_in_service(&self, health: &mut Health) -> Option<TargetId> {
        if !self.segment.takes_first && health.all_well(&self.segment.set) {
            return Some(self.pick(health, |_| true));
        }
        if self.rules.policy.selection.panic_threshold != Share::ONE {
            return None;
        }
        let draw = || self.slot.ramp_draw();
        let (lane, now) = (self.lane, self.now);
        let in_service = |target: &TargetId| health.standstill(*target, lane, now, draw).is_none();
        let in_service: TargetSet =
            self.segment.targets.iter().copied().filter(in_service).collect();
        let some = !in_service.is_empty();
        some.then(|| self.pick(health, |target| in_service.contains(target)))
    }
}

/// The highest of the session's draws: other targets coming or going move nothing.
fn of_session(session: u64, segment: &Segment, eligible: impl Fn(TargetId) -> bool) -> TargetId {
    let targets = segment.targets.iter().zip(&segment.anchors);
    let (target, _) = targets
        .filter(|(target, _)| eligible(**target))
        .max_by_key(|(_, anchor)| mix::draw(session, Draw::Sticky, **anchor))
        .expect("one of the targets is eligible");
    *target
}

/// What the search finds for a first attempt where nothing but their health tells the targets of the
/// first group apart: the prompt fits each, and so does its price. The common case, answered without
/// asking the gates about each; `None` says nothing.
#[inline(always)]
pub(crate) fn first_of_equals(
    rules: &Rules,
    class: &ClassPlan,
    health: &mut Health,
    slot: &Slot,
    now: Instant,
) -> Option<TargetId> {
    let segment = class.equivalent.first()?;
    let request = &slot.request;
    let most = || segment.dearest.bill(request.input_tokens, 0, request.max_output_tokens);
    let added = now.since(slot.arrived);
    let alike = segment.plain
        && tokens(slot) < u64::from(segment.smallest_window)
        && (class.ceiling == Money::MAX || most() <= class.ceiling)
        && !remaining(slot, now).is_zero()
        && gates::added_latency(added, class.max_added_latency).is_ok();
    if !alike {
        return None;
    }
    if segment.takes_first && health.is_well(segment.targets[0]) {
        return Some(segment.targets[0]);
    }
    if segment.by_load && health.all_well(&segment.set) {
        return health.load.least_in_flight(&segment.targets);
    }
    let ground = Ground { rules, segment, lane: class.lane, slot, now };
    ground.pick_of_those_in_service(health)
}
