//! The order in which approved models are tried.

use super::groups::Rank;
use super::room::estimated_cost;
use super::{Chooser, Found, Terms};
use crate::config::SubstituteOrder;
use crate::plan::Segment;
use crate::{Duration, Money};

impl Chooser<'_> {
    /// The search among approved models, in the policy's order.
    pub(super) fn search_substitutes(&mut self, terms: &Terms) -> Option<Found> {
        let class = self.class;
        let segments = &class.substitutes;
        if self.rules.policy.selection.substitutes == SubstituteOrder::Listed || segments.len() < 2
        {
            return self.search(segments, terms);
        }
        self.search_ranked(segments, terms, Chooser::contract_rank)
    }

    /// Broken contracts, tasks not done, latency, cost, its place.
    fn contract_rank(&mut self, segment: &Segment, place: usize) -> Rank {
        let broken = self.known.health.broken_contracts(&segment.targets, self.known.now);
        if self.rules.policy.selection.substitutes != SubstituteOrder::Ranked {
            return (broken, 0, Duration::ZERO, Money::ZERO, place);
        }
        let request = self.slot.request;
        let (mut latency, mut cost) = (Duration::MAX, Money::MAX);
        for target in segment.targets.iter().copied() {
            latency = latency.min(self.expected(target));
            cost = cost.min(estimated_cost(&request, &self.rules.topology, target));
        }
        let failed = self.known.health.failed_tasks(&segment.targets, self.known.now);
        (broken, failed, latency, cost, place)
    }
}
