//! Times on their way to the histograms.
//!
//! The histograms of a run do not fit the nearer caches, and a value lands anywhere in them: recorded as
//! requests close, each waits for memory. Some hundred at a time, those waits overlap.

use crate::record::{ClassTotals, Times};

const MOST: usize = 128;

/// Times of closed requests, by the position of their totals.
#[derive(Clone, Debug)]
pub(super) struct Unrecorded {
    times: Vec<(u16, Times)>,
}

impl Unrecorded {
    pub(super) fn new() -> Unrecorded {
        Unrecorded { times: Vec::with_capacity(MOST) }
    }

    /// Keeps what a request took, which goes to the totals at `account`.
    #[inline]
    pub(super) fn keep(&mut self, account: u16, times: Times, totals: &mut [ClassTotals]) {
        self.times.push((account, times));
        if self.times.len() == MOST {
            self.record(totals);
        }
    }

    /// Records all that is kept.
    #[inline(never)]
    pub(super) fn record(&mut self, totals: &mut [ClassTotals]) {
        for (account, times) in self.times.drain(..) {
            totals[usize::from(account)].record(&times);
        }
    }
}
