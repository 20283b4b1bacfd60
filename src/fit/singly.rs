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
    /// The log's clock is too coarse to tell what was in flight when.
    pub(super) in_whole_seconds: bool,
}

/// Of the moments of a coarse clock nearly all are whole seconds, and some are the same.
const WHOLE: f64 = 0.95;
const SAME: f64 = 0.02;

impl Singly {
    /// Where a log does not show every attempt.
    pub(super) fn untold() -> Singly {
        let [limits, places] = [Limits::NotExplained, Limits::NotExplained];
        let hidden = Hidden::default();
        Singly { limits, places, load: None, hidden, in_whole_seconds: false }
    }

    /// Of the target at this position of the log's names, and of those requests that try it first; none do of
    /// one that stands in.
    pub(super) fn of(evidence: &Evidence, position: usize, demand: Option<&Demand>) -> Singly {
        let sends = || evidence.sends_of(position);
        let limits = Limits::on_rate(sends, &evidence.targets[position].hints);
        let places = Limits::on_places(sends);
        let in_whole_seconds = in_whole_seconds(sends().map(|send| send.at_us));
        let load = if in_whole_seconds { None } else { LoadFit::of(sends()) };
        // Who stands in is asked when others fail: that it is not asked tells nothing of it.
        let hidden = demand.map_or(Hidden::default(), |demand| {
            let mut explained = limits.explained(sends());
            explained.extend(places.explained(sends()));
            explained.sort_unstable();
            Hidden::of(&Tries::but_for(&explained, sends()), demand)
        });
        Singly { limits, places, load, hidden, in_whole_seconds }
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

/// Whether moments, ascending, are those of a clock that shows whole seconds.
fn in_whole_seconds(moments: impl Iterator<Item = u64>) -> bool {
    let (mut all, mut whole, mut same, mut before) = (0_u64, 0_u64, 0_u64, None);
    for at in moments {
        all += 1;
        whole += u64::from(at.is_multiple_of(1_000_000));
        same += u64::from(before == Some(at));
        before = Some(at);
    }
    let part = |count: u64, of: f64| count as f64 >= of * all as f64;
    all >= 20 && part(whole, WHOLE) && part(same, SAME)
}

#[cfg(test)]
mod tests {
    use super::in_whole_seconds;

    #[test]
    fn a_coarse_clock_is_told_from_requests_on_the_second() {
        let fine = |i: u64| i * 700_123;
        assert!(!in_whole_seconds((0..100).map(fine)));
        assert!(in_whole_seconds((0..100).map(|i| fine(i) / 1_000_000 * 1_000_000)));
        assert!(!in_whole_seconds((0..100).map(|i| i * 6_000_000)), "one every six seconds");
    }
}
