//! The order in which approved models are tried.

use core::slice;

use super::room::estimated_cost;
use super::{Chooser, Found, Terms};
use crate::config::SubstituteOrder;
use crate::plan::Segment;
use crate::{Duration, Money};

/// What a segment is ordered by, the best first: broken contracts, latency, cost, its place.
type Rank = (u64, Duration, Money, usize);

impl Chooser<'_> {
    /// The search among approved models, in the policy's order.
    pub(super) fn search_substitutes(&mut self, terms: Terms) -> Option<Found> {
        let segments = &self.class.substitutes;
        if self.policy.selection.substitutes == SubstituteOrder::Listed || segments.len() < 2 {
            return self.search(segments, terms);
        }
        let before = self.refusal;
        let mut last = None;
        while let Some(next) = self.next_ranked(segments, last) {
            last = Some(next);
            let (.., place) = next;
            if let Some(found) = self.search(slice::from_ref(&segments[place]), terms) {
                // What was refused on the way counts only where nothing is found.
                self.refusal = before;
                return Some(found);
            }
        }
        None
    }

    /// The best segment after this one. Searches among substitutes are rare, and lists short.
    fn next_ranked(&mut self, segments: &[Segment], last: Option<Rank>) -> Option<Rank> {
        let mut best = None;
        for (place, segment) in segments.iter().enumerate() {
            let rank = self.rank(segment, place);
            let follows = last.is_none_or(|last| rank > last);
            if follows && best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        best
    }

    fn rank(&mut self, segment: &Segment, place: usize) -> Rank {
        let broken = self.health.broken_contracts(&segment.targets, self.now);
        if self.policy.selection.substitutes != SubstituteOrder::Ranked {
            return (broken, Duration::ZERO, Money::ZERO, place);
        }
        let request = &self.slot().request;
        let (mut latency, mut cost) = (Duration::MAX, Money::MAX);
        for target in segment.targets.iter().copied() {
            latency = latency.min(self.expected(target));
            cost = cost.min(estimated_cost(request, self.topology, target));
        }
        (broken, latency, cost, place)
    }
}
