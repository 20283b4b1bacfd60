//! What an attempt holds of its target's breakers while it is in flight.

use super::lane::Cell;
use super::state::{Circuit, Sent};

/// What an attempt holds from its sending to its end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Permit {
    pub(super) cell: Cell,
    pub(super) recovery: bool,
    /// Which of the target's breakers, in order, it probes.
    pub(super) probes: u32,
    /// Breakers that changed later take what it learns as late.
    pub(super) sent_at_change: u64,
}

impl Permit {
    /// Of an attempt that is over, or was never sent.
    pub(crate) const NONE: Permit =
        Permit { cell: Cell::FIRST, recovery: false, probes: 0, sent_at_change: 0 };

    /// Whether the attempt probes a breaker.
    pub(crate) const fn probes(&self) -> bool {
        self.probes != 0
    }

    /// Whether it is a failover or substitution.
    pub(crate) const fn is_recovery(&self) -> bool {
        self.recovery
    }

    /// What its target's `i`-th breaker must know of it.
    pub(super) fn sent(&self, i: usize, circuit: &Circuit) -> Sent {
        Sent {
            probe: self.probes >> i & 1 == 1,
            recovery: self.recovery,
            late: self.sent_at_change < circuit.changed_at,
        }
    }
}
