//! Counts of times in cells of about one percent: what a latency is estimated from.

use std::collections::BTreeMap;

/// Significant bits kept: a cell is at most 1/64 wide.
const BITS: u32 = 7;

/// Counts of durations (µs) or lengths, by cell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Cells(pub(super) BTreeMap<u16, u64>);

impl Cells {
    pub(super) fn add(&mut self, value: u64) {
        *self.0.entry(cell_of(value)).or_default() += 1;
    }

    /// Adds `times` times what is in `other`.
    pub(super) fn merge(&mut self, other: &Cells, times: u64) {
        for (&cell, &count) in &other.0 {
            *self.0.entry(cell).or_default() += count * times;
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().sum()
    }
}

/// The cell of a value.
pub(super) fn cell_of(value: u64) -> u16 {
    let shift = (u64::BITS - BITS).saturating_sub(value.leading_zeros());
    (shift << (BITS - 1)) as u16 + (value >> shift) as u16
}

/// The middle of a cell.
pub(super) fn middle_of(cell: u16) -> u64 {
    let half = 1_u16 << (BITS - 1);
    let shift = (cell / half).saturating_sub(1);
    let bits = u64::from(cell - shift * half);
    (bits << shift) + (1_u64 << shift) / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_cell_is_within_a_hundredth() {
        for value in (0..200).chain((0..57).map(|bits| (3_u64 << bits) / 2 + 17)) {
            let middle = middle_of(cell_of(value));
            assert_eq!(cell_of(middle), cell_of(value));
            assert!(middle.abs_diff(value) * 100 <= value, "{value} is shown as {middle}");
        }
    }
}
