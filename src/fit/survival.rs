//! Kaplan and Meier's estimate of a waiting time of which some are cut short.

use std::collections::BTreeMap;

use super::cells::Cells;
use crate::dist::normal_score;

/// How long something takes, where some were given up before it was over.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Survival {
    /// Times (µs) and the share that is over by then, of all; ascending.
    pub(super) curve: Vec<(u64, f64)>,
    /// How many were over.
    pub(super) events: u64,
    /// How many were given up.
    pub(super) censored: u64,
    /// Which share of what was not over by the last end seen ends later; the rest never does.
    late: f64,
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
    Survival { curve, events, censored, late: 0.0 }
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

    /// The same, where this share of what is not identified ends later than anything seen.
    pub(super) fn with_late(self, late: f64) -> Survival {
        Survival { late, ..self }
    }

    /// The quantile `p` of those that ever end, µs.
    pub(super) fn quantile(&self, p: f64) -> Option<u64> {
        let identified = self.identified();
        let wanted = p * (identified + self.late * (1.0 - identified));
        if wanted > identified + 1e-9 {
            return self.beyond(wanted);
        }
        // A whole share of a float sum may lie a hair below itself.
        let found = self.curve.iter().find(|&&(_, share)| share >= wanted - 1e-12);
        found.or(self.curve.last()).map(|&(at, _)| at)
    }
}

impl Survival {
    /// The time by which this share is over, more than is identified: by the normal distribution of logarithms
    /// through the last end seen and the one by which half as many were over.
    fn beyond(&self, share: f64) -> Option<u64> {
        let last = self.curve.last()?.0;
        let (identified, late) = (self.identified(), share.min(FARTHEST));
        let half = self.curve.iter().find(|&&(_, over)| over >= identified / 2.0)?.0;
        let log = |us: u64| libm::log(us.max(1) as f64);
        let steps = normal_score(identified.min(FARTHEST)) - normal_score(identified / 2.0);
        let spread = (log(last) - log(half)) / steps;
        let further = normal_score(late) - normal_score(identified.min(FARTHEST));
        Some(libm::round(libm::exp(log(last) + spread * further.max(0.0))) as u64)
    }
}

/// Of those that end later than anything seen, the last so many are as late as this.
const FARTHEST: f64 = 0.9999;

#[cfg(test)]
mod tests {
    use super::*;

    /// Normal logarithms with a mean of that of ten seconds and a spread of 0.2, of which those above the third
    /// quartile were given up there: it comes back as far as cells are wide.
    #[test]
    fn what_was_cut_by_a_deadline_goes_on_as_what_was_seen() {
        let at = |share: f64| (1e7 * libm::exp(0.2 * normal_score(share))) as u64;
        let (mut ended, mut given_up) = (Cells::default(), Cells::default());
        (0..750).for_each(|i| ended.add(at((f64::from(i) + 0.5) / 1_000.0)));
        given_up.add_times(at(0.75), 250);
        let survival = estimate(&ended, &given_up);
        assert!(
            (survival.quantile(1.0).expect("some ended") as f64 / at(0.75) as f64 - 1.0).abs()
                < 0.016
        );
        let late = survival.clone().with_late(1.0);
        for share in [0.25, 0.5, 0.75, 0.9, 0.99] {
            let found = late.quantile(share).expect("some ended") as f64;
            // Within three cells: what lies beyond is as far off as its two points are, times three.
            assert!((found / at(share) as f64 - 1.0).abs() < 0.05, "{share}: {found}");
        }
        // Half of what was given up never comes: of 875 that do, the last 125 are beyond.
        let half = survival.with_late(0.5);
        let found = half.quantile(800.0 / 875.0).expect("some ended") as f64;
        assert!((found / at(0.8) as f64 - 1.0).abs() < 0.05, "{found}");
    }

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
