//! Bills of answers by what each token comes to. A bill that is far above what the others say of its tokens is a
//! mistake in the log: one of a million dollars would be all that the prices explain. Such bills are left out of
//! prices and of costs, as long as they are few.

use std::collections::BTreeMap;

use super::price;
use super::regression::Moments;

/// What was billed for one answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bill {
    pub(super) cost_pico: u64,
    /// Fresh input, cached input, output.
    pub(super) tokens: [u32; 3],
    /// When its attempt was sent, and its request came, µs.
    pub(super) sent_us: u64,
    pub(super) arrived_us: u64,
    /// Positions in the log's names.
    pub(super) target: u16,
    pub(super) class: u16,
    /// Its request counts.
    pub(super) counts: bool,
    /// It is of the attempt that answered.
    pub(super) useful: bool,
}

/// All bills of one target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Bills(BTreeMap<i32, Cell>);

/// Bills that come to about the same for each token.
#[derive(Clone, PartialEq, Debug, Default)]
struct Cell {
    sums: Moments<3>,
    /// Each of them, as long as they are few.
    bills: Vec<Bill>,
}

/// Bills that are alike by as many others are no mistake.
const FEW: usize = 100;
/// Cells of one doubling.
const CELLS: f64 = 2.0;
/// Fewer bills tell no mistake from a price.
const LEAST: u64 = 10;
/// Part of the bills, those that are most alike, whose prices the others are held against.
const ALIKE: f64 = 0.75;
/// Times what the others say of its tokens from which a bill is a mistake: no surcharge is that high.
const ABSURD: f64 = 10.0;
/// Mistakes are no more than this part of the bills, and few; but one may be.
const MOST: f64 = 0.01;

impl Bills {
    /// Takes a bill.
    pub(super) fn add(&mut self, bill: Bill) {
        let tokens: f64 = bill.tokens().iter().sum();
        let each = libm::log2(bill.dollars() / tokens.max(1.0));
        // What costs nothing lies below all others.
        let cell = if each.is_finite() { libm::floor(each * CELLS) as i32 } else { i32::MIN };
        let cell = self.0.entry(cell).or_default();
        cell.sums.add(bill.tokens(), bill.dollars());
        if cell.bills.len() <= FEW {
            cell.bills.push(bill);
        }
    }

    /// The sums of all but those that are mistakes, and those.
    pub(super) fn settled(&self) -> (Moments<3>, Vec<Bill>) {
        let absurd = self.absurd();
        let mut sums = Moments::default();
        for cell in self.0.values() {
            match cell.bills.iter().any(|bill| absurd.contains(bill)) {
                false => sums.merge(&cell.sums, 1),
                true => {
                    let good = cell.bills.iter().filter(|bill| !absurd.contains(bill));
                    good.for_each(|bill| sums.add(bill.tokens(), bill.dollars()));
                }
            }
        }
        (sums, absurd)
    }

    fn absurd(&self) -> Vec<Bill> {
        let count: u64 = self.0.values().map(|cell| cell.sums.count).sum();
        let Some(prices) = price::per_token(&self.most_alike(count)) else { return Vec::new() };
        let is_absurd = |bill: &&Bill| {
            let of_others: f64 = bill.tokens().iter().zip(prices).map(|(n, each)| n * each).sum();
            bill.dollars() > ABSURD * of_others
        };
        let few = self.0.values().filter(|cell| cell.bills.len() <= FEW);
        let absurd: Vec<Bill> =
            few.flat_map(|cell| cell.bills.iter().filter(is_absurd)).copied().collect();
        let most = (MOST * count as f64).clamp(1.0, FEW as f64);
        if count >= LEAST && absurd.len() as f64 <= most { absurd } else { Vec::new() }
    }

    /// The sums of the cells around the median that hold most of the bills.
    fn most_alike(&self, count: u64) -> Moments<3> {
        let mut below = 0;
        let median = self.0.iter().find(|(_, cell)| {
            below += cell.sums.count;
            below * 2 >= count
        });
        let median = median.map_or(0, |(&cell, _)| i64::from(cell));
        let mut cells: Vec<(&i32, &Cell)> = self.0.iter().collect();
        cells.sort_by_key(|(cell, _)| (i64::from(**cell) - median).abs());
        let mut sums = Moments::default();
        for (_, cell) in cells {
            if sums.count as f64 >= ALIKE * count as f64 {
                break;
            }
            sums.merge(&cell.sums, 1);
        }
        sums
    }
}

impl Bill {
    fn tokens(&self) -> [f64; 3] {
        self.tokens.map(f64::from)
    }

    pub(super) fn dollars(&self) -> f64 {
        self.cost_pico as f64 / 1e12
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of answers of different lengths, at $2.50 and $10 per million; this one billed so many times as much.
    fn bill(i: u32, times: u64) -> Bill {
        let tokens = [i * 37 % 900 + 100, 0, i * 91 % 400 + 20];
        let cost_pico =
            times * (2_500_000 * u64::from(tokens[0]) + 10_000_000 * u64::from(tokens[2]));
        let at_us = u64::from(i);
        Bill {
            cost_pico,
            tokens,
            sent_us: at_us,
            arrived_us: at_us,
            target: 0,
            class: 0,
            counts: true,
            useful: true,
        }
    }

    fn settled(bills: impl Iterator<Item = Bill>) -> (Moments<3>, Vec<Bill>) {
        let mut all = Bills::default();
        bills.for_each(|bill| all.add(bill));
        all.settled()
    }

    #[test]
    fn one_bill_of_a_million_dollars_is_left_out() {
        let absurd = Bill { cost_pico: 1_000_000_000_000_000_000, ..bill(77, 1) };
        let (sums, left_out) = settled((0..500).map(|i| if i == 77 { absurd } else { bill(i, 1) }));
        assert_eq!(left_out, [absurd]);
        assert_eq!(sums.count, 499);
        let [input, _, output] = price::per_token(&sums).expect("they tell prices");
        assert!((input / 2.5e-6 - 1.0).abs() < 1e-6 && (output / 1e-5 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_mistake_among_few_bills_is_found_and_a_surcharge_is_none() {
        let of = |times: u64, count: u32| {
            settled((0..count).map(|i| bill(i, if i == 3 { times } else { 1 }))).1.len()
        };
        assert_eq!([of(100, 10), of(100, 9), of(4, 500), of(20, 500)], [1, 0, 0, 1]);
    }

    #[test]
    fn what_is_billed_otherwise_again_and_again_is_no_mistake() {
        // One of twenty, and then a hundred and more that are alike.
        assert_eq!(settled((0..500).map(|i| bill(i, if i % 20 == 0 { 50 } else { 1 }))).1, []);
        assert_eq!(settled((0..20_000).map(|i| bill(i, if i % 150 == 0 { 50 } else { 1 }))).1, []);
        assert_eq!(settled((0..500).map(|i| bill(i, 0))).1, []);
    }
}
