//! What a router knows beside its requests: everything that happens changes it, and no request owns it.

use alloc::vec::Vec;

use crate::Instant;
use crate::budget::Budgets;
use crate::choose::Refusal;
use crate::facts::Fact;
use crate::health::Health;
use crate::plan::ClassPlan;
use crate::rules::Rules;

/// What was seen of the targets, what the shared budgets have left, and the time.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) health: Health,
    pub(crate) budgets: Budgets,
    /// Why the decision at hand has found nothing so far: of no meaning between two events.
    pub(crate) refusal: Refusal,
    pub(crate) now: Instant,
    /// What the other replicas have not been told yet, where they are told anything.
    pub(crate) facts: Option<Vec<Fact>>,
}

impl Known {
    /// Nothing yet.
    pub(crate) fn new(rules: &Rules) -> Known {
        let Rules { policy, topology, classes, .. } = rules;
        let segments = classes.iter().map(ClassPlan::segments).sum();
        Known {
            health: Health::new(policy, topology, segments),
            budgets: Budgets::new(&policy.retry_budgets, topology),
            refusal: Refusal::NOTHING,
            now: Instant::ZERO,
            facts: policy.replicas.shares().then(Vec::new),
        }
    }

    /// As new, but without allocating.
    pub(crate) fn reset(&mut self) {
        self.health.reset();
        self.budgets.reset();
        self.facts.as_mut().map(Vec::clear);
        (self.refusal, self.now) = (Refusal::NOTHING, Instant::ZERO);
    }

    /// Takes over what another of the same rules knows, without allocating where there is room.
    pub(crate) fn copy(&mut self, other: &Known) {
        let Known { health, budgets, refusal, now, facts } = other;
        self.health.clone_from(health);
        self.budgets.clone_from(budgets);
        self.facts.clone_from(facts);
        (self.refusal, self.now) = (*refusal, *now);
    }
}
