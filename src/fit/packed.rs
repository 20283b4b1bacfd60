//! Rows of whole numbers, a few bytes each: what the millions of attempts and requests of a log are kept in.
//!
//! Rows are taken in any order. Every few thousand of them are sorted and packed as one run: times as
//! the steps between them, all numbers in as many bytes as they need. Reading merges the runs; of a log
//! that stands in order but for a little, two or three are open at one time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Rows of a run.
const IN_RUN: usize = 8_192;

/// Rows of `N` numbers, which are read in the order of their first `KEY`; of equals the first that was added
/// comes first.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Packed<const N: usize, const KEY: usize> {
    runs: Vec<Run<N>>,
    /// Not in a run yet.
    fresh: Vec<[u64; N]>,
    rows: u64,
}

/// Rows in order.
#[derive(Clone, PartialEq, Debug)]
struct Run<const N: usize> {
    /// Position among all runs, by when they were packed.
    number: usize,
    first: [u64; N],
    rows: usize,
    bytes: Vec<u8>,
}

impl<const N: usize, const KEY: usize> Packed<N, KEY> {
    pub(super) fn add(&mut self, row: [u64; N]) {
        self.rows += 1;
        self.fresh.push(row);
        if self.fresh.len() == IN_RUN {
            self.pack();
        }
    }

    /// Ends the adding: what is added later is not read.
    pub(super) fn finish(&mut self) {
        self.pack();
        self.fresh = Vec::new();
        self.runs.sort_by_key(|run| run.key::<KEY>());
    }

    /// Rows that were added.
    pub(super) fn len(&self) -> u64 {
        self.rows
    }

    /// All rows, in order, once [`Packed::finish`] was called.
    pub(super) fn iter(&self) -> impl Iterator<Item = [u64; N]> + '_ {
        let mut waiting = self.runs.iter().peekable();
        let mut open: BinaryHeap<Reverse<Head<'_, N, KEY>>> = BinaryHeap::new();
        std::iter::from_fn(move || {
            // What begins no later than the least row that is open.
            while let Some(run) = waiting.next_if(|run| {
                open.peek().is_none_or(|least| run.key::<KEY>()[..] <= least.0.row[..KEY])
            }) {
                open.extend(Head::of(run).map(Reverse));
            }
            let mut least = open.peek_mut()?;
            let row = least.0.row;
            if !least.0.advance() {
                PeekMut::pop(least);
            }
            Some(row)
        })
    }

    fn pack(&mut self) {
        self.fresh
            .sort_by_key(|row| <[u64; KEY]>::try_from(&row[..KEY]).expect("a key is of a row"));
        let Some(&first) = self.fresh.first() else { return };
        let mut bytes = Vec::with_capacity(self.fresh.len() * N * 3);
        let mut at = first[0];
        for row in &self.fresh {
            write(row[0] - at, &mut bytes);
            row[1..].iter().for_each(|&number| write(number, &mut bytes));
            at = row[0];
        }
        bytes.shrink_to_fit();
        let number = self.runs.len();
        self.runs.push(Run { number, first, rows: self.fresh.len(), bytes });
        self.fresh.clear();
    }
}

impl<const N: usize> Run<N> {
    fn key<const KEY: usize>(&self) -> [u64; KEY] {
        std::array::from_fn(|column| self.first[column])
    }
}

/// A run that is being read.
struct Head<'a, const N: usize, const KEY: usize> {
    row: [u64; N],
    number: usize,
    /// Rows behind this one.
    left: usize,
    bytes: &'a [u8],
}

impl<'a, const N: usize, const KEY: usize> Head<'a, N, KEY> {
    /// At the first row of a run.
    fn of(run: &'a Run<N>) -> Option<Head<'a, N, KEY>> {
        // The first step is from the first row to itself.
        let row = [run.first[0]; N];
        let mut head = Head { row, number: run.number, left: run.rows, bytes: &run.bytes };
        head.advance().then_some(head)
    }

    /// Goes on to the next row; false where there is none.
    fn advance(&mut self) -> bool {
        let Some(left) = self.left.checked_sub(1) else { return false };
        self.left = left;
        self.row[0] += read(&mut self.bytes);
        for number in &mut self.row[1..] {
            *number = read(&mut self.bytes);
        }
        true
    }
}

impl<const N: usize, const KEY: usize> Ord for Head<'_, N, KEY> {
    fn cmp(&self, other: &Self) -> Ordering {
        let of = |head: &Self| (head.row, head.number);
        let ((a, first), (b, second)) = (of(self), of(other));
        a[..KEY].cmp(&b[..KEY]).then(first.cmp(&second))
    }
}

impl<const N: usize, const KEY: usize> PartialOrd for Head<'_, N, KEY> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<const N: usize, const KEY: usize> PartialEq for Head<'_, N, KEY> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<const N: usize, const KEY: usize> Eq for Head<'_, N, KEY> {}

/// Seven bits a byte, the least first; the eighth says that more follow.
fn write(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a run holds all of its rows");
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed<const N: usize, const KEY: usize>(rows: &[[u64; N]]) -> Packed<N, KEY> {
        let mut packed = Packed::default();
        rows.iter().for_each(|&row| packed.add(row));
        packed.finish();
        packed
    }

    #[test]
    fn rows_of_any_order_are_read_in_theirs_and_equals_as_they_came() {
        // A multiplicative generator modulo a prime, so that all runs overlap and times meet.
        let mut state = 1_u64;
        let mut rows: Vec<[u64; 3]> = (0..3 * IN_RUN as u64 + 77)
            .map(|number| {
                state = state * 48_271 % 2_147_483_647;
                [state % 5_000, number, state]
            })
            .collect();
        let found: Vec<[u64; 3]> = packed::<3, 1>(&rows).iter().collect();
        rows.sort_by_key(|row| row[0]);
        assert_eq!(found, rows);
    }

    #[test]
    fn whole_rows_may_be_the_key_and_numbers_of_any_size() {
        let rows = [[7, u64::MAX], [u64::MAX, 0], [7, 127], [0, 128], [7, 1 << 63]];
        let found: Vec<[u64; 2]> = packed::<2, 2>(&rows).iter().collect();
        assert_eq!(found, [rows[3], rows[2], rows[4], rows[0], rows[1]]);
        assert_eq!(packed::<2, 2>(&[]).iter().count(), 0);
    }

    #[test]
    fn runs_that_follow_one_another_are_open_one_at_a_time_and_take_few_bytes() {
        let rows: Vec<[u64; 2]> =
            (0..20_000).map(|i| [1_749_513_600_000_000 + i * 100, 3]).collect();
        let packed = packed::<2, 1>(&rows);
        assert!(packed.iter().eq(rows.iter().copied()));
        // One byte for each step of 100 and one for each 3.
        let bytes: usize = packed.runs.iter().map(|run| run.bytes.len()).sum();
        assert_eq!((bytes, packed.len()), (2 * 20_000, 20_000));
    }
}
