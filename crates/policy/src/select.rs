//! Which of the eligible targets of a group is chosen.

use crate::config::Strategy;
use crate::load::Load;
use crate::mix::{again, below};
use crate::rolling::{Counts, Rolling};
use crate::target::{Target, TargetId};
use crate::{Instant, Money};

/// What a choice may rest on.
#[derive(Debug)]
pub(crate) struct Choice<'a, E, C, D> {
    /// The group, in the order the product prefers.
    pub(crate) order: &'a [TargetId],
    /// Whether a target passed the gates; others are never chosen.
    pub(crate) eligible: E,
    /// All targets, for their weights.
    pub(crate) targets: &'a [Target],
    /// Recent outcomes by target, where they decide.
    pub(crate) outcomes: &'a [Rolling],
    /// What is in flight, and recent latency.
    pub(crate) load: &'a Load,
    /// Estimated cost of this request at a target.
    pub(crate) cost: C,
    /// Whose turn it is: a position in `order`, kept for the group from choice to choice.
    pub(crate) turn: &'a mut u16,
    /// Random bits of this choice.
    pub(crate) draw: D,
    /// When it is made.
    pub(crate) now: Instant,
}

/// The chosen target; `None` where none of the group is eligible. Ties go to the earlier in the
/// group's order.
#[inline(always)]
pub(crate) fn pick(
    strategy: Strategy,
    mut choice: Choice<'_, impl Fn(TargetId) -> bool, impl Fn(TargetId) -> Money, impl Fn() -> u64>,
) -> Option<TargetId> {
    match strategy {
        Strategy::Ordered => choice.candidates().next(),
        Strategy::Weighted => choice.weighted(),
        Strategy::RoundRobin => choice.next_in_turn(),
        Strategy::LeastInFlight => choice.candidates().min_by_key(|t| choice.load.in_flight(*t)),
        // `None`, no latency seen lately, orders before every latency.
        Strategy::LowestLatency => {
            choice.candidates().min_by_key(|t| choice.load.latency(*t, choice.now))
        }
        Strategy::Cheapest => choice.candidates().min_by_key(|t| (choice.cost)(*t)),
        Strategy::TwoChoices => choice.less_loaded_of_two(),
        Strategy::HealthScore => {
            let key = |t: &TargetId| (choice.failing(*t), choice.load.latency(*t, choice.now));
            choice.candidates().min_by_key(key)
        }
    }
}

impl<E: Fn(TargetId) -> bool, C, D: Fn() -> u64> Choice<'_, E, C, D> {
    /// Recent failures of a target in whole percents; none of a target without outcomes.
    fn failing(&self, target: TargetId) -> u64 {
        let Counts { marked, all } = self.outcomes[usize::from(target.0)].counts_at(self.now);
        marked * 100 / all.max(1)
    }

    fn candidates(&self) -> impl Iterator<Item = TargetId> {
        self.order.iter().copied().filter(|target| (self.eligible)(*target))
    }

    fn weighted(&self) -> Option<TargetId> {
        let weight = |target: TargetId| u64::from(self.targets[usize::from(target.0)].weight);
        let mut rest = below((self.draw)(), self.candidates().map(weight).sum());
        self.candidates().find(|target| {
            let chosen = rest < weight(*target);
            rest = rest.saturating_sub(weight(*target));
            chosen
        })
    }

    /// The first candidate from the turn on; the turn passes to the one after it.
    fn next_in_turn(&mut self) -> Option<TargetId> {
        let n = self.order.len();
        let start = usize::from(*self.turn);
        let place = (start..start + n)
            .map(|place| place % n)
            .find(|place| (self.eligible)(self.order[*place]))?;
        *self.turn = ((place + 1) % n) as u16;
        Some(self.order[place])
    }

    fn less_loaded_of_two(&self) -> Option<TargetId> {
        let n = self.candidates().count() as u64;
        let draw = (self.draw)();
        let first = below(draw, n);
        let other = below(again(draw), n.saturating_sub(1));
        // The second is drawn from all but the first.
        let other = if other >= first { other + 1 } else { other };
        let first = self.candidates().nth(first as usize)?;
        let Some(other) = self.candidates().nth(other as usize) else { return Some(first) };
        // A tie goes to the one drawn first: by order, early targets would get more than others.
        let less = self.load.in_flight(other) < self.load.in_flight(first);
        Some(if less { other } else { first })
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;
    use alloc::vec::Vec;

    use super::*;
    use crate::Duration;
    use crate::mix::{Draw, draw};
    use crate::target::testing::target;

    /// Four targets with weights 1, 2, 3, 4; the group's order is 2, 0, 3, 1.
    struct Rig {
        targets: Vec<Target>,
        load: Load,
        outcomes: Vec<Rolling>,
        turn: u16,
    }

    const ORDER: [TargetId; 4] = [TargetId(2), TargetId(0), TargetId(3), TargetId(1)];

    impl Rig {
        fn new() -> Rig {
            let weighted = |weight| Target { weight, ..target("t", "p", "m", "r") };
            let targets = (1..=4).map(weighted).collect();
            let outcomes = vec![Rolling::new(Duration::from_secs(60)); 4];
            Rig { targets, load: Load::new(4, Some(Duration::MAX)), outcomes, turn: 0 }
        }

        fn pick(&mut self, strategy: Strategy, eligible: &[u16], draw: u64) -> Option<u16> {
            let choice = Choice {
                order: &ORDER,
                eligible: |t: TargetId| eligible.contains(&t.0),
                targets: &self.targets,
                outcomes: &self.outcomes,
                load: &self.load,
                cost: |t: TargetId| Money::from_pico([7, 5, 5, 9][usize::from(t.0)]),
                turn: &mut self.turn,
                draw: || draw,
                now: Instant::ZERO,
            };
            pick(strategy, choice).map(|t| t.0)
        }

        /// How often each target is chosen in `n` draws.
        fn counts(&mut self, strategy: Strategy, eligible: &[u16], n: u64) -> [u64; 4] {
            let mut counts = [0; 4];
            for salt in 0..n {
                let chosen = self.pick(strategy, eligible, draw(salt, Draw::Choice, 0));
                counts[usize::from(chosen.unwrap())] += 1;
            }
            counts
        }
    }

    /// Whether counts of `n` draws lie within five standard deviations of these shares.
    fn close(counts: [u64; 4], shares: [f64; 4], n: u64) -> bool {
        counts.iter().zip(shares).all(|(count, share)| {
            let sd = (n as f64 * share * (1.0 - share)).sqrt();
            (*count as f64 - n as f64 * share).abs() <= 5.0 * sd
        })
    }

    #[test]
    fn nothing_eligible_nothing_chosen() {
        let mut rig = Rig::new();
        for strategy in [
            Strategy::Ordered,
            Strategy::Weighted,
            Strategy::RoundRobin,
            Strategy::LeastInFlight,
            Strategy::LowestLatency,
            Strategy::Cheapest,
            Strategy::TwoChoices,
            Strategy::HealthScore,
        ] {
            assert_eq!(rig.pick(strategy, &[], u64::MAX), None, "{strategy:?}");
            for draw in [0, 1 << 63, u64::MAX] {
                assert_eq!(rig.pick(strategy, &[3], draw), Some(3), "{strategy:?}");
            }
        }
    }

    #[test]
    fn ordered_takes_the_first() {
        assert_eq!(Rig::new().pick(Strategy::Ordered, &[0, 1, 3], 0), Some(0));
        assert_eq!(Rig::new().pick(Strategy::Ordered, &[1, 3], 0), Some(3));
    }

    #[test]
    fn weighted_follows_the_weights_of_the_eligible() {
        let counts = Rig::new().counts(Strategy::Weighted, &[0, 1, 3], 70_000);
        assert!(close(counts, [1.0 / 7.0, 2.0 / 7.0, 0.0, 4.0 / 7.0], 70_000), "{counts:?}");
    }

    #[test]
    fn round_robin_goes_on_where_it_stopped() {
        let mut rig = Rig::new();
        let mut turns = |n, eligible: &[u16]| -> Vec<_> {
            (0..n).map(|_| rig.pick(Strategy::RoundRobin, eligible, 0).unwrap()).collect()
        };
        assert_eq!(turns(5, &[0, 1, 2, 3]), [2, 0, 3, 1, 2]);
        assert_eq!(turns(3, &[1, 2]), [1, 2, 1]);
        assert_eq!(turns(2, &[0, 1, 2, 3]), [2, 0]);
    }

    #[test]
    fn least_in_flight_and_ties_by_order() {
        let mut rig = Rig::new();
        [2, 0, 3].into_iter().for_each(|t| rig.load.on_sent(TargetId(t)));
        assert_eq!(rig.pick(Strategy::LeastInFlight, &[0, 1, 2, 3], 0), Some(1));
        assert_eq!(rig.pick(Strategy::LeastInFlight, &[0, 3], 0), Some(0));
    }

    #[test]
    fn lowest_latency_and_the_unseen_first() {
        let mut rig = Rig::new();
        for (t, ms) in [(0, 30), (2, 20), (3, 10)] {
            rig.load.on_latency(TargetId(t), Duration::from_millis(ms), Instant::ZERO);
        }
        assert_eq!(rig.pick(Strategy::LowestLatency, &[0, 1, 2, 3], 0), Some(1));
        assert_eq!(rig.pick(Strategy::LowestLatency, &[0, 2, 3], 0), Some(3));
    }

    #[test]
    fn health_first_then_latency() {
        let mut rig = Rig::new();
        let now = Instant::ZERO;
        // 2 and 0 fail once in 200, which is no whole percent; 3 once in 50; 1 never.
        for (t, failures, all) in [(2, 1, 200), (0, 1, 200), (3, 1, 50), (1, 0, 10)] {
            rig.outcomes[t].add(failures, all, now);
            rig.load.on_latency(TargetId(t as u16), Duration::from_millis(30 - t as u64), now);
        }
        assert_eq!(rig.pick(Strategy::HealthScore, &[0, 2, 3], 0), Some(2));
        rig.load.on_latency(TargetId(2), Duration::from_secs(9), now);
        assert_eq!(rig.pick(Strategy::HealthScore, &[0, 2, 3], 0), Some(0));
        assert_eq!(rig.pick(Strategy::HealthScore, &[3], 0), Some(3));
        rig.outcomes.iter_mut().for_each(Rolling::clear);
        assert_eq!(rig.pick(Strategy::HealthScore, &[0, 3], 0), Some(3));
    }

    #[test]
    fn cheapest_and_ties_by_order() {
        assert_eq!(Rig::new().pick(Strategy::Cheapest, &[0, 1, 2, 3], 0), Some(2));
        assert_eq!(Rig::new().pick(Strategy::Cheapest, &[0, 1, 3], 0), Some(1));
    }

    #[test]
    fn two_choices_take_the_less_loaded() {
        let mut rig = Rig::new();
        let even = rig.counts(Strategy::TwoChoices, &[0, 1, 2, 3], 40_000);
        assert!(close(even, [0.25; 4], 40_000), "{even:?}");
        // The busiest of four is chosen never, the idle one whenever drawn: in half of all pairs.
        for (t, n) in [(1, 1), (2, 2), (3, 3)] {
            (0..n).for_each(|_| rig.load.on_sent(TargetId(t)));
        }
        let counts = rig.counts(Strategy::TwoChoices, &[0, 1, 2, 3], 40_000);
        assert!(close(counts, [1.0 / 2.0, 1.0 / 3.0, 1.0 / 6.0, 0.0], 40_000), "{counts:?}");
    }

    #[test]
    fn a_weight_of_nothing_is_never_drawn_among_others() {
        let mut rig = Rig::new();
        rig.targets = vec![0, 1, 0, 1]
            .into_iter()
            .map(|weight| Target { weight, ..target("t", "p", "m", "r") })
            .collect();
        let counts = rig.counts(Strategy::Weighted, &[0, 1, 2, 3], 1_000);
        assert_eq!([counts[0], counts[2]], [0, 0]);
    }
}
