//! Groups: which is tried first, which is full, and which targets of one come first.

use core::slice;

use super::room::estimated_cost;
use super::{Chooser, Found, Terms};
use crate::config::{GroupOrder, Priority};
use crate::plan::Segment;
use crate::rolling::Counts;
use crate::target_set::TargetSet;
use crate::{Duration, Instant, Money};

/// What segments are ordered by, the best first; the last is the place in their list.
pub(super) type Rank = (u64, u64, Duration, Money, usize);

impl Chooser<'_> {
    /// The search among targets of the class's own model, in the policy's order of groups.
    #[inline(always)]
    pub(super) fn search_groups(&mut self, terms: &Terms) -> Option<Found> {
        let class = self.class;
        let segments = &class.equivalent;
        if self.rules.policy.selection.groups == GroupOrder::Listed || segments.len() < 2 {
            return self.search(segments, terms);
        }
        self.search_ranked(segments, terms, Chooser::group_rank)
    }

    /// The search segment by segment, the best rank first.
    pub(super) fn search_ranked(
        &mut self,
        segments: &[Segment],
        terms: &Terms,
        rank: fn(&mut Self, &Segment, usize) -> Rank,
    ) -> Option<Found> {
        let before = self.known.refusal;
        let mut last = None;
        while let Some(next) = self.next_ranked(segments, last, rank) {
            last = Some(next);
            let (.., place) = next;
            if let Some(found) = self.search(slice::from_ref(&segments[place]), terms) {
                // What was refused on the way counts only where nothing is found.
                self.known.refusal = before;
                return Some(found);
            }
        }
        None
    }

    /// The best segment after this one. Lists are short.
    fn next_ranked(
        &mut self,
        segments: &[Segment],
        last: Option<Rank>,
        rank: fn(&mut Self, &Segment, usize) -> Rank,
    ) -> Option<Rank> {
        let mut best = None;
        for (place, segment) in segments.iter().enumerate() {
            let rank = rank(self, segment, place);
            let follows = last.is_none_or(|last| rank > last);
            if follows && best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        best
    }

    fn group_rank(&mut self, segment: &Segment, place: usize) -> Rank {
        let (health, now) = (&self.known.health, self.known.now);
        let targets = segment.targets.iter().copied();
        // No latency seen lately counts as none at all, which is the least.
        let latency = || targets.clone().map(|t| health.load.latency(t, now)).min().flatten();
        let latency = || latency().unwrap_or(Duration::ZERO);
        match self.rules.policy.selection.groups {
            GroupOrder::Listed => (0, 0, Duration::ZERO, Money::ZERO, place),
            GroupOrder::HealthScore => {
                let counts =
                    targets.clone().map(|t| health.outcomes[usize::from(t.0)].counts_at(now));
                let all = counts.fold(Counts::default(), Counts::and);
                (all.marked * 100 / all.all.max(1), 0, latency(), Money::ZERO, place)
            }
            GroupOrder::LowestLatency => (0, 0, latency(), Money::ZERO, place),
            GroupOrder::Cheapest => {
                let request = &self.slot.request;
                let costs =
                    targets.map(|target| estimated_cost(request, &self.rules.topology, target));
                (0, 0, Duration::ZERO, costs.min().unwrap_or(Money::MAX), place)
            }
            GroupOrder::LeastInFlight => {
                let in_flight: u64 = targets.map(|t| u64::from(health.load.in_flight(t))).sum();
                // Thousandths of an attempt for each target.
                (
                    in_flight * 1_000 / segment.targets.len() as u64,
                    0,
                    Duration::ZERO,
                    Money::ZERO,
                    place,
                )
            }
        }
    }

    /// Until when a group lets this request's next attempt not in; `None` where it does.
    #[inline(always)]
    pub(super) fn full_until(&self, group: u8) -> Option<Instant> {
        if self.class.has_doors { self.door_closed_until(group) } else { None }
    }

    fn door_closed_until(&self, group: u8) -> Option<Instant> {
        let door = self.class.groups[usize::from(group)].door?;
        if !door.counts_attempts && self.tally.in_group(group) > 0 {
            return None;
        }
        let room = self.known.health.doors.room_at(door.number, self.known.now);
        (room > self.known.now).then_some(room)
    }

    /// The eligible targets whose priority is their turn.
    #[inline(always)]
    pub(super) fn of_priority(&self, segment: &Segment, eligible: TargetSet) -> TargetSet {
        if segment.levels.is_empty() { eligible } else { self.of_level(segment, eligible) }
    }

    fn of_level(&self, segment: &Segment, eligible: TargetSet) -> TargetSet {
        let levels = &segment.levels;
        let turn = match self.rules.policy.selection.priority {
            Priority::ByAttempt => usize::from(self.slot.attempts).min(levels.len() - 1),
            Priority::Highest | Priority::Ignored => 0,
        };
        let from_turn = levels[turn..].iter().chain(levels[..turn].iter().rev());
        let mut some = from_turn.map(|level| level.both(eligible)).filter(|set| !set.is_empty());
        some.next().expect("an eligible target has a priority")
    }
}
