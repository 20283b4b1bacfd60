//! How load slows a target: whether answers take longer to begin the more is in flight meanwhile.
//!
//! What is in flight grows when a target is slow, so that the two go together whatever the cause. The number
//! in flight at the moment an attempt is sent is known before its own time is, though, and within some
//! seconds the weather hardly changes: there, what goes with that number is taken for load's doing. So within
//! stretches of twenty seconds times are held against it, and of the speeds that a card can state,
//! `1 / (1 + in_flight / half_at)`, the one is found after which nothing goes with it any more. What an attempt
//! meets is the number in flight from its sending to its first output; that at its sending is the instrument.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::sends::Sent;

/// Times are compared within so long a stretch.
const STRETCH_US: u64 = 20_000_000;
/// Standard errors from which a slowing is clear.
const CLEAR: f64 = 4.0;
/// Standard errors of an interval of 95 %.
const WITHIN: f64 = 1.96;
/// Halving at more in flight is none that anybody would notice.
const LARGEST: f64 = 1e5;
/// Parts of one in flight that averages are kept in.
const PARTS: f64 = 16.0;

/// What times say of load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LoadFit {
    /// In flight where the speed is half of that of an attempt alone; none where no slowing is clear.
    pub(super) half_at: Option<f64>,
    /// Between which it lies at 95 %; without an upper end where none is told.
    pub(super) between: (f64, Option<f64>),
    /// Attempts whose times are compared.
    pub(super) attempts: u64,
    /// In flight with those that were sent, on average and from the 5th to the 95th of 100.
    pub(super) mean: f64,
    pub(super) seen: (u64, u64),
}

/// An attempt whose first output was seen.
#[derive(Clone, Copy, Debug)]
struct Met {
    /// In flight when it was sent, itself included.
    at_first: usize,
    /// The same on average, until its first output.
    meanwhile: f64,
    /// Logarithm of the time to that.
    log: f64,
}

/// Sums over stretches.
#[derive(Clone, Debug, Default)]
struct Sums {
    attempts: u64,
    /// How far the number in flight at first is from that of its stretch, times the logarithm of the time; and
    /// the variance of that sum.
    with_times: f64,
    variance: f64,
    /// The same deviations, by what was met meanwhile, in parts.
    by_met: Vec<f64>,
    /// Attempts by number in flight at first.
    counts: Vec<u64>,
    met: f64,
}

impl LoadFit {
    /// Of attempts in the order they were sent; none where no two of a stretch tell a time.
    pub(super) fn of(sends: impl Iterator<Item = Sent>) -> Option<LoadFit> {
        let sums = Stretches::of(sends);
        if sums.variance == 0.0 {
            return None;
        }
        let error = libm::sqrt(sums.variance);
        let (low, high) = (sums.with_times + WITHIN * error, sums.with_times - WITHIN * error);
        let clear = sums.with_times > CLEAR * error;
        Some(LoadFit {
            half_at: sums.size(sums.with_times).filter(|_| clear),
            between: (sums.size(low).unwrap_or(f64::INFINITY), sums.size(high)),
            attempts: sums.attempts,
            mean: sums.met / sums.attempts as f64,
            seen: (sums.quantile(0.05), sums.quantile(0.95)),
        })
    }

    /// The speed at the load of the log as a part of that of an attempt alone.
    pub(super) fn speed(&self, half_at: Option<f64>) -> f64 {
        half_at.map_or(1.0, |half_at| 1.0 / slower(self.mean, half_at))
    }

    /// A size that may be as well, with a standard normal deviation.
    pub(super) fn drawn(&self, deviation: f64) -> Option<f64> {
        let (half_at, high) = (self.half_at?, self.between.1?);
        let error = libm::log(high / self.between.0) / (2.0 * WITHIN);
        Some(half_at * libm::exp(deviation * error))
    }

    /// In words.
    pub(super) fn words(&self) -> String {
        let LoadFit { attempts, seen: (few, many), between: (low, high), .. } = self;
        let seen = format!("{attempts} times to the first output, with {few} to {many} in flight");
        match (self.half_at, high) {
            (Some(half), Some(high)) => format!(
                "half as fast with {half:.0} in flight ({low:.0}–{high:.0}), from {seen}; beyond is taken to go on so"
            ),
            _ if low.is_finite() => format!(
                "none is clear in {seen}; it would be were speed halved by fewer than {low:.0}"
            ),
            _ => format!("none is seen in {seen}"),
        }
    }
}

/// How many times as long something takes with so many in flight, if `half_at` of them halve the speed.
pub(super) fn slower(in_flight: f64, half_at: f64) -> f64 {
    1.0 + in_flight / half_at
}

/// Attempts in flight, and stretches of which not all times are known yet.
#[derive(Default)]
struct Stretches {
    sums: Sums,
    /// What happens next: a first output, or an end.
    next: BinaryHeap<Reverse<(u64, Option<Waiting>)>>,
    in_flight: usize,
    /// What was in flight so far, summed over time up to this moment, µs.
    summed: u64,
    now_us: u64,
    /// By number: what is known, and how many are not.
    open: BTreeMap<u64, (Vec<Met>, usize)>,
}

/// Until the first output of an attempt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    sent_us: u64,
    at_first: usize,
    /// The sum over time when it was sent.
    summed: u64,
}

impl Stretches {
    fn of(sends: impl Iterator<Item = Sent>) -> Sums {
        let mut all = Stretches::default();
        for send in sends {
            // What failed before any output mostly did so at the door.
            let Some(first_ms) = send.first_ms else { continue };
            all.go_on(send.at_us);
            all.settle(send.at_us / STRETCH_US);
            all.in_flight += 1;
            all.open.entry(send.at_us / STRETCH_US).or_default().1 += 1;
            let (sent_us, at_first, summed) = (send.at_us, all.in_flight, all.summed);
            let first_us = u64::from(first_ms.max(1)) * 1_000;
            let waiting = Waiting { sent_us, at_first, summed };
            all.next.push(Reverse((sent_us + first_us, Some(waiting))));
            all.next.push(Reverse((sent_us + send.took_us.max(first_us), None)));
        }
        all.go_on(u64::MAX);
        all.settle(u64::MAX);
        all.sums
    }

    /// Goes on to this moment.
    fn go_on(&mut self, to_us: u64) {
        while let Some(&Reverse((at_us, waiting))) =
            self.next.peek().filter(|next| next.0.0 <= to_us)
        {
            self.next.pop();
            self.pass(at_us);
            match waiting {
                Some(waiting) => self.saw(at_us, waiting),
                None => self.in_flight -= 1,
            }
        }
        if to_us < u64::MAX {
            self.pass(to_us);
        }
    }

    fn pass(&mut self, to_us: u64) {
        self.summed += self.in_flight as u64 * (to_us - self.now_us);
        self.now_us = to_us;
    }

    /// The first output of an attempt.
    fn saw(&mut self, at_us: u64, waiting: Waiting) {
        let took_us = (at_us - waiting.sent_us) as f64;
        let number = waiting.sent_us / STRETCH_US;
        let (known, unknown) = self.open.get_mut(&number).expect("it was opened by this attempt");
        known.push(Met {
            at_first: waiting.at_first,
            meanwhile: (self.summed - waiting.summed) as f64 / took_us,
            log: libm::log(took_us),
        });
        *unknown -= 1;
    }

    /// Adds stretches before this number of which all is known.
    fn settle(&mut self, before: u64) {
        while let Some(first) = self.open.first_entry()
            && *first.key() < before
            && first.get().1 == 0
        {
            self.sums.add(&first.remove().0);
        }
    }
}

impl Sums {
    /// Adds a stretch.
    fn add(&mut self, stretch: &[Met]) {
        let all = stretch.len() as f64;
        if stretch.len() < 2 {
            return;
        }
        let number = stretch.iter().map(|met| met.at_first as f64).sum::<f64>() / all;
        let log = stretch.iter().map(|met| met.log).sum::<f64>() / all;
        self.attempts += stretch.len() as u64;
        for met in stretch {
            let off = met.at_first as f64 - number;
            self.with_times += off * met.log;
            self.variance += off * off * (met.log - log) * (met.log - log);
            self.met += met.meanwhile;
            *entry(&mut self.by_met, libm::round(met.meanwhile * PARTS) as usize) += off;
            *entry(&mut self.counts, met.at_first) += 1;
        }
    }

    /// The size at which load would go with times so; none where even the largest does so more.
    fn size(&self, with_times: f64) -> Option<f64> {
        let with = |size: f64| -> f64 {
            let parts = self.by_met.iter().zip(0_u32..).filter(|(off, _)| **off != 0.0);
            parts.map(|(off, met)| off * libm::log(slower(f64::from(met) / PARTS, size))).sum()
        };
        if with(LARGEST) > with_times {
            return None;
        }
        let (mut low, mut high) = (0.0, libm::log(LARGEST));
        for _ in 0..40 {
            let middle = (low + high) / 2.0;
            if with(libm::exp(middle)) > with_times { low = middle } else { high = middle }
        }
        Some(libm::exp((low + high) / 2.0))
    }

    fn quantile(&self, p: f64) -> u64 {
        let wanted = p * self.counts.iter().sum::<u64>() as f64;
        let mut sum = 0;
        let reached = |count: &u64| {
            sum += count;
            sum as f64 >= wanted
        };
        self.counts.iter().position(reached).unwrap_or(0) as u64
    }
}

/// The place in a list, with all before it.
fn entry<T: Default + Clone>(list: &mut Vec<T>, place: usize) -> &mut T {
    if list.len() <= place {
        list.resize(place + 1, T::default());
    }
    &mut list[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Attempts in bursts for an hour, ten a second, at a target whose work goes on at this speed with so many
    /// in flight at this time. Each has half a second or one and a half of work, and its first output is after
    /// half of that.
    fn log(speed: impl Fn(usize, f64) -> f64) -> Vec<Sent> {
        let mut state = 1_u64;
        let mut next = |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut sends: Vec<Sent> = Vec::new();
        // Seconds; and of those in flight: position, work left, whether the first output is still to come.
        let (mut now, mut flying): (f64, Vec<(usize, f64, bool)>) = (0.0, Vec::new());
        for _ in 0..36_000 {
            let gap = if next(8) == 0 { next(1_400_000) } else { next(60_000) };
            let comes = now + gap as f64 / 1e6;
            loop {
                let rate = speed(flying.len(), now);
                let least = flying.iter().map(|of| of.1).fold(f64::INFINITY, f64::min);
                let until = f64::min(comes, now + least / rate);
                flying.iter_mut().for_each(|of| of.1 -= (until - now) * rate);
                now = until;
                if until == comes {
                    break;
                }
                let at = flying.iter().position(|of| of.1 < 1e-9).expect("the least is over");
                let (of, ..) = flying[at];
                let took_us = (now * 1e6) as u64 - sends[of].at_us;
                if flying[at].2 {
                    sends[of].first_ms = Some((took_us / 1_000) as u32);
                    flying[at] = (of, sends[of].took_us as f64 / 2e6, false);
                } else {
                    sends[of].took_us = took_us;
                    flying.swap_remove(at);
                }
            }
            let work_us = if next(2) == 0 { 500_000 } else { 1_500_000 };
            flying.push((sends.len(), work_us as f64 / 2e6, true));
            sends.push(Sent {
                at_us: (now * 1e6) as u64,
                took_us: work_us,
                outcome: Some(0),
                refused: None,
                input: 0,
                known: false,
                output: 0,
                first_ms: None,
            });
        }
        sends
    }

    #[test]
    fn a_slowing_by_load_is_found_with_its_size() {
        let sends = log(|in_flight, _| 1.0 / slower(in_flight as f64, 25.0));
        let found = LoadFit::of(sends.into_iter()).expect("times are told");
        let (low, high) = found.between;
        assert!(low < 25.0 && high.is_some_and(|high| high > 25.0 && high < 35.0), "{found:?}");
        assert!(found.half_at.is_some_and(|half| (half - 25.0).abs() < 5.0), "{found:?}");
    }

    #[test]
    fn what_is_slow_for_another_reason_is_not_taken_for_load() {
        // Half as fast every other two minutes: then more is in flight.
        let odd = |at: f64| (at / 120.0) as u64 % 2 == 1;
        let sends = log(|_, at| if odd(at) { 0.5 } else { 1.0 });
        let found = LoadFit::of(sends.into_iter()).expect("times are told");
        assert_eq!(found.half_at, None, "{found:?}");
        // It would have been seen, had it been there.
        assert!(found.between.0 > 50.0, "{found:?}");
    }

    #[test]
    fn nothing_is_said_of_what_is_alone() {
        let alone = log(|_, _| 100.0).into_iter();
        let found = LoadFit::of(alone);
        assert!(found.is_none_or(|found| found.half_at.is_none()), "{found:?}");
        assert_eq!(LoadFit::of(std::iter::empty()), None);
    }
}
