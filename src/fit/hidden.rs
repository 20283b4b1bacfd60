//! Times in which a target was hardly asked right after it had failed, as behind an open breaker.
//!
//! What it would have answered then nobody saw: it is missing, not zero, and not the rest of its phase
//! either. A *hole* is a time between two tries in which so many requests came that chance would have
//! sent some there. Holes with but a few tries between them, a breaker's probes, make one *spell*. What is
//! taken for a spell is the course of the failing share that all tries around and in it tell; a refit takes
//! another course that they leave open.

use rand_chacha::ChaCha8Rng;

use super::phases::InPhase;
use super::share_course::ShareCourse;
use super::tries::Tries;

/// Requests that chance would have sent into a hole, at least: it leaves one as empty in e⁻²⁰ of cases.
const LEAST_MISSED: f64 = 20.0;
/// A longer hole is no breaker's: whoever asked this target asks another one.
const LONGEST_US: u64 = 15 * 60_000_000;
/// As many tries in a spell part it in two.
const EDGE: usize = 12;
/// Of the last so many before it, some must have failed.
const LEAST_FAILED: usize = 2;
/// Tries so long before and behind a spell tell how the share went.
const AROUND_US: u64 = 20 * 60_000_000;
/// Shares that differ by less are told as one.
const ALIKE: f64 = 0.02;

/// How often a target is asked where nothing stands in the way.
pub(super) struct Demand {
    /// Arrivals of requests, ascending, µs on the log's clock.
    arrivals: Vec<u64>,
}

/// Holes with but a few tries between them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Spell {
    /// From one try to the next, µs on the log's clock.
    holes: Vec<(u64, u64)>,
    /// Each kind of failure as a share of those seen before, between and after, behind a place for what was good.
    mix: Vec<f64>,
}

/// What is hidden of a target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Hidden {
    pub(super) spells: Vec<Spell>,
    /// The course of the failing share where spells are, with the positions of those that lie in it.
    courses: Vec<(ShareCourse, std::ops::Range<usize>)>,
}

/// A part of a spell, and what is taken to hold in it.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Stretch {
    /// µs on the log's clock.
    pub(super) from_us: u64,
    pub(super) to_us: u64,
    pub(super) taken: InPhase,
}

impl Demand {
    /// Of requests that arrived at these times.
    pub(super) fn of(mut arrivals: Vec<u64>) -> Demand {
        arrivals.sort_unstable();
        Demand { arrivals }
    }

    /// Requests that came in this time.
    fn between(&self, from_us: u64, to_us: u64) -> usize {
        let before = |at: u64| self.arrivals.partition_point(|&arrived| arrived < at);
        before(to_us).saturating_sub(before(from_us))
    }

    /// First tries for each request where nothing stands in the way: nine of ten minutes have fewer.
    fn share(&self, tries: &Tries) -> f64 {
        let mut shares = Vec::new();
        let mut at = 0;
        while at < tries.len() {
            let minute = tries.at(at) / MINUTE_US;
            let from = at;
            while at < tries.len() && tries.at(at) / MINUTE_US == minute {
                at += 1;
            }
            let asked = self.between(minute * MINUTE_US, (minute + 1) * MINUTE_US);
            if asked >= LEAST_ASKED {
                shares.push((at - from) as f64 / asked as f64);
            }
        }
        shares.sort_by(f64::total_cmp);
        shares.get(shares.len() * 9 / 10).copied().unwrap_or(0.0)
    }
}

/// Minutes with fewer requests do not tell which share goes where.
const LEAST_ASKED: usize = 10;
const MINUTE_US: u64 = super::evidence::MINUTE_US;

impl Hidden {
    /// What the tries of a target leave hidden.
    pub(super) fn of(tries: &Tries, demand: &Demand) -> Hidden {
        let spells = spells(tries, demand);
        let mut courses = Vec::new();
        let mut first = 0;
        let apart = |a: &Spell, b: &Spell| b.begin_us() - a.end_us() <= 2 * AROUND_US;
        for near in spells.chunk_by(apart) {
            let from_us = near[0].begin_us().saturating_sub(AROUND_US).max(tries.at(0));
            let to_us = near[near.len() - 1].end_us() + AROUND_US;
            let course = ShareCourse::of(tries, from_us, to_us.min(tries.at(tries.len() - 1) + 1));
            courses.push((course, first..first + near.len()));
            first += near.len();
        }
        Hidden { spells, courses }
    }

    /// How long all of it lasted, µs.
    pub(super) fn lasted_us(&self) -> u64 {
        self.spells.iter().map(Spell::lasts_us).sum()
    }

    /// What is taken to hold in it.
    pub(super) fn taken(&self) -> Vec<Stretch> {
        let of = |(course, spells): &(ShareCourse, std::ops::Range<usize>)| {
            let each = self.spells[spells.clone()].iter();
            each.flat_map(|spell| spell.stretches(course.mean(spell.begin_us(), spell.end_us())))
                .collect::<Vec<_>>()
        };
        self.courses.iter().flat_map(of).collect()
    }

    /// The same of another course that may be as well.
    pub(super) fn drawn(&self, draws: &mut ChaCha8Rng) -> Vec<Stretch> {
        let mut stretches = Vec::new();
        for (course, spells) in &self.courses {
            let drawn = course.drawn(draws);
            for spell in &self.spells[spells.clone()] {
                let shares = course.clipped(&drawn, spell.begin_us(), spell.end_us());
                stretches.extend(spell.stretches(shares));
            }
        }
        stretches
    }
}

fn spells(tries: &Tries, demand: &Demand) -> Vec<Spell> {
    let share = demand.share(tries);
    let is_hole = |&after: &usize| {
        let (from, to) = (tries.at(after - 1), tries.at(after));
        to - from <= LONGEST_US && demand.between(from, to) as f64 * share >= LEAST_MISSED
    };
    let holes: Vec<usize> = (1..tries.len()).filter(is_hole).collect();
    let chained = |a: &usize, b: &usize| b - a <= EDGE;
    let chains = holes.chunk_by(chained);
    let after_failures = |chain: &&[usize]| {
        let before = chain[0].saturating_sub(EDGE)..chain[0];
        before.filter(|&i| tries.outcome(i) > 0).count() >= LEAST_FAILED
    };
    chains.filter(after_failures).map(|chain| Spell::of(tries, chain)).collect()
}

impl Spell {
    /// The spell whose holes end with these tries.
    fn of(tries: &Tries, chain: &[usize]) -> Spell {
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        let around = first.saturating_sub(EDGE)..(last + EDGE).min(tries.len());
        let mut mix: Vec<f64> = Vec::new();
        for outcome in around.map(|i| tries.outcome(i)) {
            mix.resize(mix.len().max(outcome + 1), 0.0);
            mix[outcome] += 1.0;
        }
        mix[0] = 0.0;
        let all: f64 = mix.iter().sum();
        mix.iter_mut().for_each(|part| *part /= all);
        Spell {
            holes: chain.iter().map(|&after| (tries.at(after - 1), tries.at(after))).collect(),
            mix,
        }
    }

    fn begin_us(&self) -> u64 {
        self.holes[0].0
    }

    fn end_us(&self) -> u64 {
        self.holes[self.holes.len() - 1].1
    }

    /// How long nothing was seen, µs.
    fn lasts_us(&self) -> u64 {
        self.holes.iter().map(|(from, to)| to - from).sum()
    }

    /// Whether most of this time, µs, lies in it.
    pub(super) fn covers(&self, from_us: u64, to_us: u64) -> bool {
        let within = |&(from, to): &(u64, u64)| to.min(to_us).saturating_sub(from.max(from_us));
        self.holes.iter().map(within).sum::<u64>() * 2 > to_us - from_us
    }

    /// Shares from one moment to another; neighbours that are alike become one.
    fn stretches(&self, shares: Vec<(u64, u64, f64)>) -> Vec<Stretch> {
        let alike = |a: &(u64, u64, f64), b: &(u64, u64, f64)| (a.2 - b.2).abs() < ALIKE;
        let stretch = |run: &[(u64, u64, f64)]| {
            let (from_us, to_us) = (run[0].0, run[run.len() - 1].1);
            let parts = run.iter().map(|(from, to, share)| share * (to - from) as f64);
            let share = parts.sum::<f64>() / (to_us - from_us).max(1) as f64;
            // One try: no more is known of any of them.
            let mut outcomes: Vec<f64> = self.mix.iter().map(|part| part * share).collect();
            outcomes[0] = 1.0 - share;
            Stretch { from_us, to_us, taken: InPhase { outcomes, ..InPhase::default() } }
        };
        shares.chunk_by(alike).map(stretch).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    /// One request a second for 20 minutes; tries at those seconds fail that `fails` says, and those that
    /// `hides` says are not made.
    fn made(fails: impl Fn(u64) -> bool, hides: impl Fn(u64) -> bool) -> Hidden {
        let made = (0..1_200).filter(|&second| !hides(second));
        let tries = Tries::at_moments(made.map(|second| (second * SECOND, fails(second))));
        Hidden::of(&tries, &Demand::of((0..1_200).map(|second| second * SECOND).collect()))
    }

    #[test]
    fn holes_right_after_failures_make_a_spell() {
        // Fails from 600 on; hidden from 610 to 900 but for a probe every 30 s.
        let fails = |second| (600..900).contains(&second);
        let found = made(fails, |second| (610..900).contains(&second) && second % 30 != 0);
        let [spell] = &found.spells[..] else { panic!("one spell, not {found:?}") };
        assert_eq!(spell.lasts_us(), 291 * SECOND);
        assert!(spell.covers(660 * SECOND, 720 * SECOND) && !spell.covers(0, 600 * SECOND));
        let taken = found.taken();
        let (first, last) = (&taken[0], &taken[taken.len() - 1]);
        assert_eq!((first.from_us, last.to_us), (609 * SECOND, 900 * SECOND));
        assert!(taken.windows(2).all(|two| two[0].to_us == two[1].from_us), "{taken:?}");
        let bad = taken.iter().filter(|of| of.taken.rate().is_some_and(|rate| rate > 0.9));
        let bad_us: u64 = bad.map(|of| of.to_us - of.from_us).sum();
        // All but the last probe's hole, whose end was good.
        assert!(bad_us > 240 * SECOND, "{taken:?}");
    }

    #[test]
    fn holes_that_chance_opens_are_taken_for_the_rest_of_their_time() {
        // Three of ten fail throughout; half a minute is hidden whenever three fail in a row, then a probe is good.
        let fails = |second: u64| second % 10 < 3;
        let found = made(fails, |second| second % 120 > 62 && second % 120 < 94);
        assert_eq!(found.spells.len(), 10);
        let taken = found.taken();
        let lasts = |of: &Stretch| (of.to_us - of.from_us) as f64;
        let all: f64 = taken.iter().map(lasts).sum();
        let bad: f64 = taken.iter().map(|of| lasts(of) * of.taken.rate().unwrap_or(0.0)).sum();
        assert!((bad / all - 0.3).abs() < 0.05, "{}", bad / all);
    }

    #[test]
    fn what_is_asked_no_more_without_a_failure_is_not_hidden() {
        assert_eq!(made(|_| false, |second| (610..700).contains(&second)), Hidden::default());
        // For longer than any breaker is open.
        let fails = |second| (130..140).contains(&second);
        let found = made(fails, |second| (140..1_100).contains(&second));
        assert_eq!(found, Hidden::default());
    }
}
