//! Counters by minute in place of what a log of requests cannot show.

use std::collections::{BTreeMap, BTreeSet};

use windtunnel_policy::outcome::{FailureClass, Phase};

use super::at_target::{AtTarget, Kind};
use super::evidence::{AtClass, Evidence, MINUTE_US, Use, entry};
use super::roles;
use super::sends::Sends;
use super::text::{many, minute_text};
use crate::log::{ANYWHERE, Counted, Counters, Names, Unusable};

/// What was taken from counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FromCounters {
    /// Minutes of targets that the log covers.
    pub(super) within: u64,
    /// Minutes of targets before or after it.
    pub(super) outside: u64,
    /// The log does not say where requests went.
    pub(super) anywhere: bool,
}

impl Evidence {
    /// Takes attempts and failures of each minute from counters, in place of those that a log of requests
    /// shows. Times stay those of the log; minutes outside it are counted among what cannot be used. How
    /// many of its own there are.
    pub fn count(&mut self, counters: &mut Counters, names: &Names) -> u64 {
        let anywhere = names.targets.iter().position(|target| target.name == ANYWHERE);
        let of_log = |counted: &&Counted| {
            let first = self.first_us.unwrap_or(0) / MINUTE_US;
            let last = self.lived.minutes.last_key_value().map_or(0, |(minute, _)| *minute);
            (first..=last).contains(&counted.minute)
        };
        let (within, outside): (Vec<&Counted>, Vec<&Counted>) =
            counters.minutes.iter().partition(of_log);
        for counted in &outside {
            let target = &names.targets[usize::from(counted.target)].name;
            let when = minute_text(counted.minute, self.first_us.unwrap_or(0) >= MINUTE_US);
            let shown = format!("{target} at {when}, {}", many(counted.attempts, "attempt"));
            counters.unusable.add(Unusable::OutsideTheLog, counted.line, &shown);
        }
        let targets: BTreeSet<u16> = within.iter().map(|counted| counted.target).collect();
        let pooled = anywhere.and_then(|place| self.targets.get(place).cloned());
        for &target in &targets {
            let at = entry(&mut self.targets, target);
            at.forget_counts();
            *entry(&mut self.sends, target) = Sends::default();
            if let Some(pooled) = &pooled {
                at.borrow_times(pooled);
            }
            let lived = entry(&mut self.lived.targets, target);
            (lived.attempts, lived.failures) = (0, 0);
        }
        if let Some(place) = anywhere {
            for all in [self.targets.get_mut(place)].into_iter().flatten() {
                *all = AtTarget::default();
            }
            for all in [self.lived.targets.get_mut(place)].into_iter().flatten() {
                *all = crate::record::TargetTotals::default();
            }
        }
        self.lived.minutes.values_mut().for_each(|minute| minute.sent = 0);
        let mut sent: BTreeMap<u16, u64> = BTreeMap::new();
        for counted in &within {
            entry(&mut self.targets, counted.target).count(counted);
            *sent.entry(counted.target).or_default() += counted.attempts;
            let lived = entry(&mut self.lived.targets, counted.target);
            lived.attempts += counted.attempts;
            lived.failures += counted.failed.iter().map(|(_, count)| count).sum::<u64>();
            self.lived.minutes.entry(counted.minute).or_default().sent += counted.attempts;
        }
        self.attempts = sent.values().sum();
        self.lived.share_attempts(self.attempts);
        let place = anywhere.and_then(|place| u16::try_from(place).ok());
        self.roles_by_volume(&sent, place);
        for &target in &targets {
            self.find_later_tries(target);
        }
        self.counted = Some(FromCounters {
            within: within.len() as u64,
            outside: outside.len() as u64,
            anywhere: anywhere.is_some(),
        });
        within.len() as u64
    }

    /// Requests try the first target once each for the first time: what was sent there beyond them in one minute
    /// is later tries. While a breaker keeps requests away none is found.
    fn find_later_tries(&mut self, target: u16) {
        let first_here = |class: &&AtClass| roles::first(class) == [target];
        let mut came: BTreeMap<u64, u64> = BTreeMap::new();
        for class in self.classes.iter().filter(first_here) {
            class.asks.iter().for_each(|ask| *came.entry(ask.at_us / MINUTE_US).or_default() += 1);
        }
        if came.is_empty() {
            return;
        }
        for (at, minute) in &mut self.targets[usize::from(target)].minutes {
            let all: u64 = minute.outcomes.iter().sum();
            minute.later = all.saturating_sub(came.get(at).copied().unwrap_or(0));
        }
    }

    /// Where the log does not say who was asked, whoever was asked most is taken for the first.
    fn roles_by_volume(&mut self, sent: &BTreeMap<u16, u64>, anywhere: Option<u16>) {
        let mut ranked: Vec<(u64, u16)> = sent.iter().map(|(&t, &n)| (u64::MAX - n, t)).collect();
        ranked.sort_unstable();
        for class in &mut self.classes {
            anywhere.map(|place| class.uses.remove(&place));
            if !class.uses.is_empty() {
                continue;
            }
            for (rank, &(less, target)) in (0_u64..).zip(&ranked) {
                let attempts = u64::MAX - less;
                let first = if rank == 0 { attempts } else { 0 };
                let positions = rank.saturating_mul(attempts);
                class.uses.insert(target, Use { attempts, first, positions, ..Use::default() });
            }
        }
    }
}

impl AtTarget {
    fn forget_counts(&mut self) {
        for minute in self.minutes.values_mut() {
            minute.outcomes.clear();
            minute.later = 0;
            (minute.again, minute.let_in, minute.refused) = ([0, 0], [0, 0], 0);
            minute.again_refused = [[0, 0]; 2];
        }
        self.totals.attempts = 0;
    }

    /// Takes the times of all requests for its own, where the log has none of it.
    fn borrow_times(&mut self, all: &AtTarget) {
        if !self.blocks.is_empty() {
            return;
        }
        self.blocks.clone_from(&all.blocks);
        self.totals = all.totals.clone();
        self.totals.attempts = 0;
        for (&at, minute) in &all.minutes {
            self.minutes.entry(at).or_default().times = minute.times;
        }
    }

    fn count(&mut self, counted: &Counted) {
        let failed: u64 = counted.failed.iter().map(|(_, count)| count).sum();
        let mut outcomes = vec![(0, counted.attempts - failed)];
        let mut refused = 0;
        for (with, count) in &counted.failed {
            let kind = Kind {
                class: with.class,
                status: with.status,
                phase: Phase::BeforeHeaders,
                hang: with.given_up,
            };
            outcomes.push((1 + self.place_of(kind), *count));
            refused += if with.class == FailureClass::RateLimited { *count } else { 0 };
        }
        let minute = self.minutes.entry(counted.minute).or_default();
        for (place, count) in outcomes {
            let length = minute.outcomes.len().max(place + 1);
            minute.outcomes.resize(length, 0);
            minute.outcomes[place] += count;
        }
        minute.refused += refused;
        minute.let_in[0] += counted.attempts - refused;
        self.totals.attempts += counted.attempts;
    }
}
