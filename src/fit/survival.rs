//! Kaplan and Meier's estimate of a waiting time of which some are cut short.

use std::collections::BTreeMap;

use super::cells::Cells;

/// How long something takes, where some were given up before it was over.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Survival {
    /// Times (µs) and the share that is over by then, of all; ascending.
    pub(super) curve: Vec<(u64, f64)>,
    /// How many were over.
    pub(super) events: u64,
    /// How many were given up.
    pub(super) censored: u64,
}

/// The estimate from times of ends and times of giving up. One that is given up in the cell of an
/// end still counts as waiting at it.
pub(super) fn estimate(ended: &Cells, given_up: &Cells) -> Survival {
    // By cell: how many were over and at what time, and how many were given up.
    let mut cells: BTreeMap<u16, (u64, u64, u64)> = BTreeMap::new();
    for (position, cell) in ended.iter() {
        cells.insert(position, (cell.count, cell.mean(), 0));
    }
    for (position, cell) in given_up.iter() {
        cells.entry(position).or_default().2 = cell.count;
    }
    let (events, censored) = (ended.total(), given_up.total());
    let mut waiting = events + censored;
    let mut left = 1.0;
    let mut curve = Vec::new();
    for &(over, at, gave_up) in cells.values() {
        if over > 0 {
            left *= 1.0 - over as f64 / waiting as f64;
            curve.push((at, 1.0 - left));
        }
        waiting -= over + gave_up;
    }
    Survival { curve, events, censored }
}

impl Survival {
    /// The share that is over by the last end seen; what lies beyond is not identified.
    pub(super) fn identified(&self) -> f64 {
        self.curve.last().map_or(0.0, |&(_, share)| share)
    }

    /// The last end seen, µs.
    pub(super) fn last(&self) -> Option<u64> {
        self.curve.last().map(|&(at, _)| at)
    }

    /// The quantile `p` of those that ever end, µs.
    pub(super) fn quantile(&self, p: f64) -> Option<u64> {
        let wanted = p * self.identified();
        // A whole share of a float sum may lie a hair below itself.
        let found = self.curve.iter().find(|&&(_, share)| share >= wanted - 1e-12);
        found.or(self.curve.last()).map(|&(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &[u64]) -> Cells {
        let mut cells = Cells::default();
        values.iter().for_each(|&value| cells.add(value));
        cells
    }

    #[test]
    fn a_textbook_example() {
        // Freireich's 21 patients on 6-MP in weeks, from Cox 1972; + is censored:
        // 6 6 6 6+ 7 9+ 10 10+ 11+ 13 16 17+ 19+ 20+ 22 23 25+ 32+ 32+ 34+ 35+
        let ended = cells(&[6, 6, 6, 7, 10, 13, 16, 22, 23]);
        let given_up = cells(&[6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35]);
        let survival = estimate(&ended, &given_up);
        let known = [
            (6, 0.857),
            (7, 0.807),
            (10, 0.753),
            (13, 0.690),
            (16, 0.627),
            (22, 0.538),
            (23, 0.448),
        ];
        for ((at, over), (week, left)) in survival.curve.iter().zip(known) {
            assert_eq!(*at, week);
            assert!((1.0 - over - left).abs() < 5e-4, "week {week}: {}", 1.0 - over);
        }
        assert_eq!((survival.events, survival.censored, survival.last()), (9, 12, Some(23)));
        assert_eq!(survival.quantile(0.0), Some(6));
        assert_eq!(survival.quantile(1.0), Some(23));
    }

    #[test]
    fn without_giving_up_it_is_the_empirical_distribution() {
        let survival = estimate(&cells(&[10, 20, 30, 40]), &Cells::default());
        let shares: Vec<f64> = survival.curve.iter().map(|&(_, share)| share).collect();
        assert!(shares.iter().zip([0.25, 0.5, 0.75, 1.0]).all(|(a, b)| (a - b).abs() < 1e-12));
        assert_eq!(survival.quantile(0.5), Some(20));
    }

    #[test]
    fn nothing_seen_says_nothing() {
        let survival = estimate(&Cells::default(), &cells(&[5]));
        assert_eq!(
            (survival.identified(), survival.last(), survival.quantile(0.5)),
            (0.0, None, None)
        );
    }
}
