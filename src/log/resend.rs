//! Requests that ask the same thing again after a failure, in logs that do not say so.

use std::collections::{BTreeMap, VecDeque};

use super::group::MEMORY;
use super::{End, Request};
use crate::draw::NameHash;

/// A request for the same thing that comes later after a failure is one of its own. Official clients wait
/// no longer before they send again.
const WITHIN_US: u64 = 60_000_000;

/// What failed lately, by what requests for the same thing share.
#[derive(Default)]
pub(super) struct FailedLately {
    known: BTreeMap<u64, Failed>,
    order: VecDeque<u64>,
}

#[derive(Clone, Copy)]
struct Failed {
    ended_us: u64,
    action: u64,
}

impl FailedLately {
    /// Sees a complete request whose action its log does not name, and names it: that of the failure it
    /// follows, or its own.
    pub(super) fn see(&mut self, request: &mut Request, likeness: u64) {
        let since = |failed: &Failed| request.arrived_us.checked_sub(failed.ended_us);
        let before = self.known.get(&likeness).copied();
        let before = before.filter(|failed| since(failed).is_some_and(|us| us <= WITHIN_US));
        let own = || NameHash::of(&format!("{likeness} {}", request.id)).as_u64();
        let action = before.map_or_else(own, |failed| failed.action);
        request.action = Some(action);
        request.resent |= before.is_some();
        match request.end {
            End::Failed | End::Cancelled => {
                self.known.insert(likeness, Failed { ended_us: request.closed_us, action });
                self.order.push_back(likeness);
                if self.order.len() as u64 > MEMORY
                    && let Some(oldest) = self.order.pop_front()
                {
                    self.known.remove(&oldest);
                }
            }
            End::Answered | End::Refused | End::Invalid => drop(self.known.remove(&likeness)),
        }
    }
}
