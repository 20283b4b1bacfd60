//! Ejection of targets that fail much more than their peers.

use alloc::vec;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

use crate::config::Outlier;
use crate::rolling::Counts;
use crate::standing::Standing;
use crate::target::{TargetId, Topology};
use crate::{Instant, Share};

/// Outcomes of the present interval, and how often each target was ejected.
#[derive(Clone, Debug)]
pub(crate) struct Ejection {
    config: Outlier,
    /// The groups of two targets or more, of all classes, each once.
    groups: Vec<Vec<TargetId>>,
    counts: Vec<Counts>,
    /// How often each was ejected, less the intervals it has been well since.
    times: Vec<u32>,
    /// When the present interval ends.
    until: Instant,
}

impl Ejection {
    /// No outcome seen.
    pub(crate) fn new(config: &Outlier, topology: &Topology) -> Ejection {
        let mut groups: Vec<Vec<TargetId>> = Vec::new();
        for group in topology.classes.iter().flat_map(|class| &class.groups) {
            if group.targets.len() > 1 && !groups.contains(&group.targets) {
                groups.push(group.targets.clone());
            }
        }
        let targets = topology.targets.len();
        Ejection {
            config: config.clone(),
            groups,
            counts: vec![Counts::default(); targets],
            times: vec![0; targets],
            until: Instant::ZERO + config.interval,
        }
    }

    /// An attempt on a target ended, or its first output came.
    pub(crate) fn count(&mut self, target: TargetId, failed: bool) {
        let counts = &mut self.counts[usize::from(target.0)];
        counts.marked += u64::from(failed);
        counts.all += 1;
    }

    /// Compares the targets of each group, once the interval is over: as of its end, so that it
    /// does not matter which event comes first after it.
    pub(crate) fn on_time(&mut self, now: Instant, standing: &mut Standing) {
        if now < self.until {
            return;
        }
        for group in 0..self.groups.len() {
            self.judge(group, self.until, standing);
        }
        self.counts.fill(Counts::default());
        // Of the intervals gone by since, nothing is known that could be compared.
        let interval = self.config.interval;
        let gone_by = now.since(self.until).as_micros() / interval.as_micros();
        self.until = self.until + interval.saturating_mul(gone_by + 1);
    }

    fn judge(&mut self, group: usize, now: Instant, standing: &mut Standing) {
        let Some(mean) = self.mean(group) else { return };
        let size = self.groups[group].len() as u64;
        let most = self.config.max_ejected.of(size);
        let is_out = |target: &&TargetId| standing.ejected(**target, now);
        let mut out = self.groups[group].iter().filter(is_out).count() as u64;
        // The worst first: the share that may be out may not be enough for all.
        let mut last = None;
        while let Some(next) = self.worst_after(group, last) {
            last = Some(next);
            let (rate, place) = next;
            let target = self.groups[group][place];
            let times = &mut self.times[usize::from(target.0)];
            let far_below = mean - rate.min(mean) >= self.config.below_mean.as_bits();
            if !far_below {
                *times = times.saturating_sub(1);
            } else if out < most && !standing.ejected(target, now) {
                *times += 1;
                out += 1;
                let length = self.config.eject_for.saturating_mul(u64::from(*times));
                standing.on_ejection(target, now + length);
            }
        }
    }

    /// The mean success rate of those that had enough attempts; `None` where fewer than two had.
    fn mean(&self, group: usize) -> Option<u64> {
        let rates = self.groups[group].iter().filter_map(|target| self.rate(*target));
        let (sum, n) = rates.fold((0_u128, 0), |(sum, n), rate| (sum + u128::from(rate), n + 1));
        (n > 1).then(|| (sum / n) as u64)
    }

    /// The target of a group with the lowest rate after this one, ties in the group's order.
    fn worst_after(&self, group: usize, last: Option<(u64, usize)>) -> Option<(u64, usize)> {
        let judged = self.groups[group].iter().enumerate();
        let judged = judged.filter_map(|(place, target)| Some((self.rate(*target)?, place)));
        judged.filter(|next| last.is_none_or(|last| *next > last)).min()
    }

    /// The success rate of a target in units of 2⁻⁶³, where it had enough attempts.
    fn rate(&self, target: TargetId) -> Option<u64> {
        let Counts { marked, all } = self.counts[usize::from(target.0)];
        let enough = all >= u64::from(self.config.min_calls);
        enough.then(|| Share::ratio(all - marked, all).as_bits())
    }

    /// As new.
    pub(crate) fn reset(&mut self) {
        self.counts.fill(Counts::default());
        self.times.fill(0);
        self.until = Instant::ZERO + self.config.interval;
    }
}

impl Hash for Ejection {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.counts, &self.times, self.until).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Duration;
    use crate::config::{Cooldown, Isolation};
    use crate::target::testing::{target, topology};

    struct Rig {
        ejection: Ejection,
        standing: Standing,
    }

    fn at(s: u64) -> Instant {
        Instant::ZERO + Duration::from_secs(s)
    }

    /// Four targets in one group; intervals of 10 s, half may be out, 20 points below the mean.
    fn rig() -> Rig {
        let targets = (0..4).map(|_| target("t", "p", "m", "r")).collect();
        let topology = topology(targets, &[&[0, 1, 2, 3]]);
        let config = Outlier {
            interval: Duration::from_secs(10),
            max_ejected: Share::ratio(1, 2),
            below_mean: Share::ratio(1, 5),
            eject_for: Duration::from_secs(30),
            min_calls: 10,
        };
        let standing = Standing::new(&Cooldown::default(), &Isolation::default(), &topology);
        Rig { ejection: Ejection::new(&config, &topology), standing }
    }

    impl Rig {
        /// An interval in which each target has ten attempts with so many failures.
        fn interval(&mut self, failures: [u64; 4], end: u64) -> [bool; 4] {
            self.ejection.on_time(at(end - 10), &mut self.standing);
            for (target, failed) in failures.into_iter().enumerate() {
                (0..10).for_each(|n| self.ejection.count(TargetId(target as u16), n < failed));
            }
            self.ejection.on_time(at(end), &mut self.standing);
            self.out(end)
        }

        fn out(&self, now: u64) -> [bool; 4] {
            [0, 1, 2, 3].map(|target| self.standing.ejected(TargetId(target), at(now)))
        }
    }

    #[test]
    fn what_is_far_below_the_mean_is_ejected() {
        // Mean 0.85; 0.7 is not 0.2 below it, 0.6 is below 0.825.
        assert_eq!(rig().interval([0, 0, 3, 3], 10), [false; 4]);
        assert_eq!(rig().interval([0, 0, 4, 3], 10), [false, false, true, false]);
        // All alike is nobody's fault.
        assert_eq!(rig().interval([9, 9, 9, 9], 10), [false; 4]);
    }

    #[test]
    fn no_more_than_may_be_out() {
        // Mean 0.275: 0 is far below it, 0.1 is not.
        let mut rig = rig();
        assert_eq!(rig.interval([0, 10, 9, 10], 10), [false, true, false, true]);
        // Two are out already: the third has to stay.
        assert_eq!(rig.interval([0, 0, 10, 0], 20), [false, true, false, true]);
    }

    #[test]
    fn the_worst_first() {
        let mut rig = rig();
        rig.ejection.config.max_ejected = Share::ratio(1, 4);
        // Mean 0.45: 0.2 and 0.1 are far below it, and one may be out.
        assert_eq!(rig.interval([0, 5, 8, 9], 10), [false, false, false, true]);
    }

    #[test]
    fn each_time_it_is_longer_until_it_has_been_well() {
        let mut rig = rig();
        rig.interval([0, 0, 10, 0], 10);
        assert!(rig.out(39)[2] && !rig.out(40)[2]);
        rig.interval([0, 0, 10, 0], 40);
        assert!(rig.out(99)[2] && !rig.out(100)[2]);
        // Two intervals well, then as the first time.
        rig.interval([0; 4], 100);
        rig.interval([0; 4], 110);
        rig.interval([0, 0, 10, 0], 120);
        assert!(rig.out(149)[2] && !rig.out(150)[2]);
        rig.ejection.reset();
        rig.standing.reset();
        assert_eq!(rig.out(130), [false; 4]);
    }

    #[test]
    fn whatever_comes_first_after_an_interval_changes_nothing() {
        for late in [10, 14, 47] {
            let mut rig = rig();
            (0..10).for_each(|_| rig.ejection.count(TargetId(2), true));
            (0..10).for_each(|_| rig.ejection.count(TargetId(0), false));
            rig.ejection.on_time(at(late), &mut rig.standing);
            assert!(rig.out(39)[2] && !rig.out(40)[2], "{late}");
            assert_eq!(rig.ejection.until, at((late / 10 + 1) * 10), "{late}");
        }
    }

    #[test]
    fn few_attempts_say_nothing() {
        let mut rig = rig();
        (0..9).for_each(|_| rig.ejection.count(TargetId(2), true));
        (0..50).for_each(|_| rig.ejection.count(TargetId(0), false));
        rig.ejection.on_time(at(10), &mut rig.standing);
        assert_eq!(rig.out(10), [false; 4]);
    }
}
