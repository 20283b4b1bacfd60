//! Which of the eligible targets of a group is chosen.

use crate::config::Strategy;
use crate::load::Load;
use crate::mix::{again, below};
use crate::target::{Target, TargetId};
use crate::target_set::TargetSet;
use crate::{Instant, Money};

/// What a choice may rest on.
#[derive(Debug)]
pub(crate) struct Choice<'a, C> {
    /// The group, in the order the product prefers.
    pub(crate) order: &'a [TargetId],
    /// The targets that passed the gates; others are never chosen.
    pub(crate) eligible: TargetSet,
    /// All targets, for their weights.
    pub(crate) targets: &'a [Target],
    /// What is in flight, and recent latency.
    pub(crate) load: &'a Load,
    /// Estimated cost of this request at a target.
    pub(crate) cost: C,
    /// Whose turn it is: a position in `order`, kept for the group from choice to choice.
    pub(crate) turn: &'a mut u16,
    /// Random bits of this choice.
    pub(crate) draw: u64,
    /// When it is made.
    pub(crate) now: Instant,
}

/// The chosen target; `None` where none of the group is eligible. Ties go to the earlier in the
/// group's order.
pub(crate) fn pick<C: Fn(TargetId) -> Money>(
    strategy: Strategy,
    mut choice: Choice<'_, C>,
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
        Strategy::HealthScore => panic!("a valid policy does not select by health score"),
    }
}

impl<C> Choice<'_, C> {
    fn candidates(&self) -> impl Iterator<Item = TargetId> {
        self.order.iter().copied().filter(|target| self.eligible.contains(*target))
    }

    fn weighted(&self) -> Option<TargetId> {
        let weight = |target: TargetId| u64::from(self.targets[usize::from(target.0)].weight);
        let mut rest = below(self.draw, self.candidates().map(weight).sum());
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
            .find(|place| self.eligible.contains(self.order[*place]))?;
        *self.turn = ((place + 1) % n) as u16;
        Some(self.order[place])
    }

    fn less_loaded_of_two(&self) -> Option<TargetId> {
        let n = self.candidates().count() as u64;
        let first = below(self.draw, n);
        let other = below(again(self.draw), n.saturating_sub(1));
        // The second is drawn from all but the first.
        let other = if other >= first { other + 1 } else { other };
        let first = self.candidates().nth(first as usize)?;
        let Some(other) = self.candidates().nth(other as usize) else { return Some(first) };
        // A tie goes to the one drawn first: by order, early targets would get more than others.
        let less = self.load.in_flight(other) < self.load.in_flight(first);
        Some(if less { other } else { first })
    }
}
