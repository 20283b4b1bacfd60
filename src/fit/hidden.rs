//! Times in which a target was hardly asked right after it had failed, as behind an open breaker.
//!
//! What it would have answered then nobody saw: it is missing, not zero, and not the rest of its phase
//! either. A *hole* is a time between two tries in which so many requests came that chance would have
//! sent some there. Holes with but a few tries between them, a breaker's probes, make one *spell*. A
//! spell is taken by what was seen around and in it: each hole belongs half to the tries before it and
//! half to those after it, and what few tries show is drawn towards all of the spell. A refit draws
//! the tries anew, and where in a hole one gives way to the other.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::phases::InPhase;
use super::tries::Tries;
use crate::draw::below;

/// Requests that chance would have sent into a hole, at least: it leaves one as empty in e⁻²⁰ of cases.
const LEAST_MISSED: f64 = 20.0;
/// A longer hole is no breaker's: whoever asked this target asks another one.
const LONGEST_US: u64 = 15 * 60_000_000;
/// Tries before and after a spell that speak for it; as many in it part two spells.
const EDGE: usize = 12;
/// Tries before a spell among which a change is looked for.
const LOOKED_AT: usize = 300;
/// Of the last tries before it, so many must have failed.
const LEAST_FAILED: usize = 2;
/// Tries that all of those before it count as.
const BEFORE_COUNTS: usize = 4;
/// Tries that all of the spell counts as, beside those at one place of it.
const SPELL_COUNTS: f64 = 4.0;

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
    /// Before the first hole, between holes, and after the last.
    seen: Vec<Seen>,
    /// All of those before it.
    before: Seen,
    /// Each kind of failure as a share of those seen, behind a place for what was good.
    mix: Vec<f64>,
}

/// What was seen at one place of a spell.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Seen {
    /// Tries, as far as they count.
    tries: usize,
    /// How many of those failed.
    failed: f64,
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

/// The spells of a target.
pub(super) fn spells(tries: &Tries, demand: &Demand) -> Vec<Spell> {
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
        let began = lately(tries, first);
        let ended = (last + EDGE).min(tries.len());
        let edges: Vec<usize> =
            [began].into_iter().chain(chain.iter().copied()).chain([ended]).collect();
        let seen = |edge: &[usize]| {
            let all = edge[1] - edge[0];
            let failed = (edge[0]..edge[1]).filter(|&i| tries.outcome(i) > 0).count();
            let counted = all.min(if edge[0] == began { BEFORE_COUNTS } else { EDGE });
            Seen { tries: counted, failed: (failed * counted) as f64 / all as f64 }
        };
        let mut mix: Vec<f64> = Vec::new();
        for outcome in (began..ended).map(|i| tries.outcome(i)) {
            mix.resize(mix.len().max(outcome + 1), 0.0);
            mix[outcome] += 1.0;
        }
        mix[0] = 0.0;
        let all: f64 = mix.iter().sum();
        mix.iter_mut().for_each(|part| *part /= all);
        Spell {
            holes: chain.iter().map(|&after| (tries.at(after - 1), tries.at(after))).collect(),
            before: Seen {
                tries: first - began,
                failed: (began..first).filter(|&i| tries.outcome(i) > 0).count() as f64,
            },
            seen: edges.windows(2).map(seen).collect(),
            mix,
        }
    }

    /// Twice the log likelihood by which what was seen in it speaks against this failing share.
    pub(super) fn against(&self, share: f64) -> f64 {
        let inner = &self.seen[1..self.seen.len() - 1];
        let tries: usize = self.before.tries + inner.iter().map(|seen| seen.tries).sum::<usize>();
        let failed: f64 = self.before.failed + inner.iter().map(|seen| seen.failed).sum::<f64>();
        let own = failed / tries.max(1) as f64;
        if own <= share {
            return 0.0;
        }
        let term = |count: f64, of: f64| if count > 0.0 { count * libm::log(of) } else { 0.0 };
        let at = |p: f64| term(failed, p) + term(tries as f64 - failed, 1.0 - p);
        2.0 * (at(own) - at(share.clamp(1e-6, 1.0 - 1e-6)))
    }

    /// The minute it begins in.
    pub(super) fn minute(&self) -> u64 {
        self.holes[0].0 / MINUTE_US
    }

    /// How long nothing was seen, µs.
    pub(super) fn lasts_us(&self) -> u64 {
        self.holes.iter().map(|(from, to)| to - from).sum()
    }

    /// Tries that speak for it.
    pub(super) fn tries(&self) -> usize {
        self.seen.iter().map(|seen| seen.tries).sum()
    }

    /// Whether most of this time, µs, lies in it.
    pub(super) fn covers(&self, from_us: u64, to_us: u64) -> bool {
        let within = |&(from, to): &(u64, u64)| to.min(to_us).saturating_sub(from.max(from_us));
        self.holes.iter().map(within).sum::<u64>() * 2 > to_us - from_us
    }

    /// What is taken to hold in it: halves of its holes by what was seen on their side.
    pub(super) fn taken(&self) -> Vec<Stretch> {
        self.stretches(&self.seen, u64::midpoint)
    }

    /// The same of tries drawn anew, each by what is taken at its place, and with what lies before and
    /// after parted anywhere in a hole.
    pub(super) fn drawn(&self, draws: &mut ChaCha8Rng) -> Vec<Stretch> {
        let drawn = |(seen, share): (&Seen, f64)| {
            let limit = libm::round(share * (1_u64 << 32) as f64) as u64;
            let failed = (0..seen.tries).filter(|_| below(draws.next_u64(), 1 << 32) < limit);
            Seen { failed: failed.count() as f64, ..*seen }
        };
        let drawn: Vec<Seen> = self.seen.iter().zip(shares(&self.seen)).map(drawn).collect();
        self.stretches(&drawn, |from, to| from + below(draws.next_u64(), to - from))
    }

    fn stretches(&self, seen: &[Seen], mut parted: impl FnMut(u64, u64) -> u64) -> Vec<Stretch> {
        let mut from_us = self.holes[0].0;
        let end_us = self.holes[self.holes.len() - 1].1;
        let mut stretches = Vec::new();
        for (i, share) in shares(seen).into_iter().enumerate() {
            let to_us = self.holes.get(i).map_or(end_us, |&(from, to)| parted(from, to));
            let tries = seen[i].tries.max(1) as f64;
            let mut outcomes: Vec<f64> = self.mix.iter().map(|part| part * share * tries).collect();
            outcomes[0] = (1.0 - share) * tries;
            let taken = InPhase { outcomes, ..InPhase::default() };
            stretches.push(Stretch { from_us, to_us, taken });
            from_us = to_us;
        }
        stretches
    }
}

/// The failing share at each place of a spell.
fn shares(seen: &[Seen]) -> Vec<f64> {
    // Those after it tell when it was over, not what it was.
    let last = seen.len() - 1;
    let tries: usize = seen[..last].iter().map(|seen| seen.tries).sum();
    let failed: f64 = seen[..last].iter().map(|seen| seen.failed).sum();
    // As by Jeffreys: neither none nor all is ever certain.
    let spell = (failed + 0.5) / (tries as f64 + 1.0);
    let of = |(i, seen): (usize, &Seen)| {
        let weight = if i == last { 0.0 } else { SPELL_COUNTS };
        (seen.failed + weight * spell) / (seen.tries as f64 + weight).max(1.0)
    };
    seen.iter().enumerate().map(of).collect()
}

/// From which try on those before `end` may be of one failing share: where it changed last. A breaker opens
/// by the worst of what is seen; the last few alone would be too bad.
fn lately(tries: &Tries, end: usize) -> usize {
    let start = end.saturating_sub(LOOKED_AT);
    let all = (start..end).filter(|&i| tries.outcome(i) > 0).count();
    let whole = likelihood(all, end - start);
    // The place and a share.
    let penalty = 2.0 * libm::log((end - start).max(2) as f64);
    let (mut best, mut from, mut failed) = (penalty / 2.0, start, 0);
    for at in (start + 1..end).rev() {
        failed += usize::from(tries.outcome(at) > 0);
        let apart = likelihood(failed, end - at) + likelihood(all - failed, at - start);
        if apart - whole > best {
            (best, from) = (apart - whole, at);
        }
    }
    from
}

/// Log likelihood of so many failures at their own share.
fn likelihood(failed: usize, all: usize) -> f64 {
    let term = |count: usize| match count {
        0 => 0.0,
        count => count as f64 * libm::log(count as f64 / all as f64),
    };
    term(failed) + term(all - failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000;

    /// One request a second for 20 minutes; tries at those seconds fail that `fails` says, and those that
    /// `hides` says are not made.
    fn made(fails: impl Fn(u64) -> bool, hides: impl Fn(u64) -> bool) -> Vec<Spell> {
        let made = (0..1_200).filter(|&second| !hides(second));
        let tries = Tries::at_moments(made.map(|second| (second * SECOND, fails(second))));
        spells(&tries, &Demand::of((0..1_200).map(|second| second * SECOND).collect()))
    }

    #[test]
    fn holes_right_after_failures_make_a_spell() {
        // Fails from 600 on; hidden from 610 to 900 but for a probe every 30 s.
        let fails = |second| (600..900).contains(&second);
        let found = made(fails, |second| (610..900).contains(&second) && second % 30 != 0);
        let [spell] = &found[..] else { panic!("one spell, not {found:?}") };
        assert_eq!(spell.lasts_us(), 291 * SECOND);
        assert!(spell.covers(660 * SECOND, 720 * SECOND) && !spell.covers(0, 600 * SECOND));
        let taken = spell.taken();
        assert_eq!((taken[0].from_us, taken[0].to_us), (609 * SECOND, 619_500_000));
        assert_eq!((taken[10].from_us, taken[10].to_us), (885 * SECOND, 900 * SECOND));
        let shares: Vec<f64> = taken.iter().filter_map(|of| of.taken.rate()).collect();
        // Thirteen of thirteen failed, by Jeffreys 13.5 of 14; after the last hole none did.
        assert!((shares[0] - (4.0 + 4.0 * 13.5 / 14.0) / 8.0).abs() < 1e-12, "{shares:?}");
        assert!(shares[..10].iter().all(|share| *share > 0.95), "{shares:?}");
        assert_eq!(shares[10], 0.0);
    }

    #[test]
    fn what_is_asked_no_more_without_a_failure_is_not_hidden() {
        assert_eq!(made(|_| false, |second| (610..700).contains(&second)), []);
        // For longer than any breaker is open.
        let fails = |second| (130..140).contains(&second);
        assert_eq!(made(fails, |second| (140..1_100).contains(&second)), []);
    }

    #[test]
    fn few_failures_in_a_row_are_no_change_of_many() {
        let of = |failing: &[usize]| {
            let made = (0..300).map(|at| (at, failing.contains(&(at as usize))));
            lately(&Tries::at_moments(made), 300)
        };
        // A quarter fails throughout, and the last four do: 4 log 4 is less than log 300.
        let quarter: Vec<usize> = (0..300).filter(|i| i % 4 == 0 || *i >= 297).collect();
        assert_eq!(of(&quarter), 0);
        let onset: Vec<usize> = (280..300).filter(|i| i % 2 == 0).collect();
        assert_eq!(of(&onset), 280);
    }
}
