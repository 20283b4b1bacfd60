//! What the attempts at a target tell one by one, which counts by minute are too coarse for.

use super::at_target::AtTarget;
use super::evidence::Evidence;
use super::hidden::{Demand, Hidden};
use super::limits::Limits;
use super::load::LoadFit;
use super::tries::Tries;

/// What they tell of one target.
#[derive(Clone, Debug)]
pub(super) struct Singly {
    /// What refuses for its rate.
    pub(super) limits: Limits,
    /// What refuses for overload.
    pub(super) places: Limits,
    /// How load slows it.
    pub(super) load: Option<LoadFit>,
    /// Where it was hardly asked right after failing.
    pub(super) hidden: Hidden,
}

impl Singly {
    /// Where a log does not show every attempt.
    pub(super) fn untold() -> Singly {
        let [limits, places] = [Limits::NotExplained, Limits::NotExplained];
        Singly { limits, places, load: None, hidden: Hidden::default() }
    }

    /// Of the target at this position of the log's names, and of those requests that try it first; none do of
    /// one that stands in.
    pub(super) fn of(evidence: &Evidence, position: usize, demand: Option<&Demand>) -> Singly {
        let sends = || evidence.sends_of(position);
        let limits = Limits::on_rate(sends, &evidence.targets[position].hints);
        let places = Limits::on_places(sends);
        let load = LoadFit::of(sends());
        // Who stands in is asked when others fail: that it is not asked tells nothing of it.
        let hidden = demand.map_or(Hidden::default(), |demand| {
            let mut explained = limits.explained(sends());
            explained.extend(places.explained(sends()));
            explained.sort_unstable();
            Hidden::of(&Tries::but_for(&explained, sends()), demand)
        });
        Singly { limits, places, load, hidden }
    }

    /// What was counted at it, less what limits and load explain; none where they explain nothing.
    pub(super) fn unexplained(&self, evidence: &Evidence, position: usize) -> Option<AtTarget> {
        let sends = || evidence.sends_of(position);
        let logged = &evidence.targets[position];
        let rest = self.limits.without_explained(logged, sends());
        let both = self.places.without_explained(rest.as_ref().unwrap_or(logged), sends());
        let rest = both.or(rest);
        let half_at = self.load.and_then(|load| load.half_at);
        let slowed = |half| rest.as_ref().unwrap_or(logged).without_load(half);
        half_at.map(slowed).or(rest)
    }
}
