//! Counts of times in cells of about one percent, each with the mean of what is in it: what a latency
//! is estimated from. Times that are all the same are so exactly.

use std::collections::BTreeMap;

/// Significant bits kept: a cell is at most 1/64 wide.
const BITS: u32 = 7;

/// Durations (µs) or lengths, by cell.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Cells(BTreeMap<u16, Cell>);

/// What is in one cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Cell {
    pub(super) count: u64,
    sum: u64,
}

impl Cell {
    /// The mean of its values, to the nearest whole.
    pub(super) fn mean(self) -> u64 {
        self.sum.saturating_add(self.count / 2) / self.count.max(1)
    }
}

impl Cells {
    pub(super) fn add(&mut self, value: u64) {
        self.add_times(value, 1);
    }

    /// Adds a value so many times.
    pub(super) fn add_times(&mut self, value: u64, times: u64) {
        let cell = self.0.entry(cell_of(value)).or_default();
        cell.count += times;
        cell.sum = cell.sum.saturating_add(value.saturating_mul(times));
    }

    /// Adds `times` times what is in `other`.
    pub(super) fn merge(&mut self, other: &Cells, times: u64) {
        for (&cell, theirs) in &other.0 {
            let own = self.0.entry(cell).or_default();
            own.count += theirs.count * times;
            own.sum = own.sum.saturating_add(theirs.sum.saturating_mul(times));
        }
    }

    /// The cells, ascending, by their position.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, Cell)> + '_ {
        self.0.iter().map(|(&position, &cell)| (position, cell))
    }

    pub(super) fn total(&self) -> u64 {
        self.0.values().map(|cell| cell.count).sum()
    }
}

/// The cell of a value.
fn cell_of(value: u64) -> u16 {
    let shift = (u64::BITS - BITS).saturating_sub(value.leading_zeros());
    (shift << (BITS - 1)) as u16 + (value >> shift) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_shares_a_cell_is_within_a_sixtieth() {
        for value in (64..200).chain((0..57).map(|bits| (3_u64 << bits) / 2 + 64)) {
            let beyond = value + value / 60 + 2;
            assert!(cell_of(beyond) > cell_of(value), "{value} and {beyond}");
            assert!(cell_of(value + 1) >= cell_of(value), "{value}");
        }
    }

    #[test]
    fn a_cell_stands_for_the_mean_of_its_values() {
        let mut cells = Cells::default();
        cells.add_times(2_000_000, 7);
        let means = |cells: &Cells| cells.iter().map(|(_, cell)| cell.mean()).collect::<Vec<_>>();
        assert_eq!(means(&cells), [2_000_000]);
        // 1 of 2,000,008 among eight: the mean is a whole.
        cells.add(2_000_008);
        let mut twice = Cells::default();
        twice.merge(&cells, 2);
        assert_eq!((means(&twice), twice.total()), (vec![2_000_001], 16));
    }
}
