//! A few variants, frozen, held once against the base in worlds that nothing was chosen by.

use super::extremes::AtExtreme;
use super::runner::{Halt, Spent};
use super::score::{Reader, Score, Totals};
use super::search::Search;
use super::{ALPHA, Answer, Gain, Reason};
use crate::measures::Catalogue;
use crate::record::RunTotals;
use crate::stats::{Jackknife, Outcome, holm, one_sided_95, p_value};

/// A variant that was held against the base.
#[derive(Clone, Debug)]
pub struct Finalist {
    /// Its position among the entrants.
    pub entrant: usize,
    /// How much better than the base it was where it was chosen.
    pub tuned: Option<Gain>,
    /// How much better it is in held-out worlds.
    pub held_out: Option<Gain>,
    /// How likely chance alone shows as much: that it is better, or, where the base misses a
    /// condition, that it meets it.
    pub p: f64,
    /// The same, corrected for the number of finalists.
    pub adjusted: f64,
    /// In held-out worlds of the scenarios tuned on.
    pub score: Score,
    /// In the scenarios not tuned on.
    pub elsewhere: Vec<HeldOut>,
    /// What follows.
    pub ruling: Ruling,
    /// Where no failure sticks, and where all do; empty unless confirmed, and where that was not run.
    pub extremes: Vec<AtExtreme>,
}

/// A finalist in a scenario that was not tuned on.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// How much better than the base it is there.
    pub gain: Option<Gain>,
    /// Clearly worse, in the objective or in a condition that the base does not miss.
    pub is_worse: bool,
    /// The conditions there.
    pub score: Score,
}

/// What came of a finalist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ruling {
    /// Clearly better, with every condition met.
    Confirmed,
    /// Not clearly better than the base.
    NotBetter,
    /// A condition is missed, or not clear of its limit.
    ConditionsNotHeld,
    /// Clearly worse in a scenario that was not tuned on.
    WorseElsewhere,
}

/// What the confirmation found.
pub(super) struct Confirmed {
    pub(super) base: Score,
    pub(super) finalists: Vec<Finalist>,
    /// In held-out worlds: the base, then the finalists.
    pub(super) totals: Vec<Totals>,
}

impl Search<'_> {
    pub(super) fn confirm(&mut self, frozen: &[usize]) -> Result<Confirmed, Halt> {
        let everyone: Vec<usize> = std::iter::once(0).chain(frozen.iter().copied()).collect();
        let policies: Vec<_> =
            everyone.iter().map(|&at| &self.entrants[at].variant.policy).collect();
        let worlds = self.task.options.held_out_worlds;
        let without_timeline = |_: usize, run: &mut RunTotals| {
            run.timeline = Vec::new();
        };
        let (tuned_on, hold_out) = (self.task.scenarios, self.task.hold_out);
        let stream = self.held_out_worlds(tuned_on);
        let (totals, spent) = self.runner.run(stream, &policies, 0..worlds, without_timeline)?;
        let stream = self.held_out_worlds(hold_out);
        let (elsewhere, more) = self.runner.run(stream, &policies, 0..worlds, without_timeline)?;
        let runs = spent.runs + more.runs;
        let requests = spent.requests + more.requests;
        self.stage("confirmation", everyone.len(), Spent { runs, requests });

        let scores = scores(self.reader(), &totals, worlds);
        let (base, rest) = scores.split_first().expect("the base is the first");
        let base_fails = base.fails();
        let p_values: Vec<f64> = rest.iter().map(|score| p(score, base, base_fails)).collect();
        let adjusted = holm(&p_values);
        let elsewhere = self.elsewhere(&elsewhere, worlds, base_fails);
        let tuned_base = self.entrants[0].last.as_ref();
        let finalists = frozen.iter().enumerate().map(|(position, &entrant)| {
            let score = rest[position].clone();
            let chosen = self.entrants[entrant].last.as_ref();
            let tuned = chosen.zip(tuned_base).and_then(|(it, base)| it.gain_over(base));
            let elsewhere: Vec<HeldOut> =
                elsewhere.iter().map(|scenario| scenario[position].clone()).collect();
            let ruling = if adjusted[position] > ALPHA {
                Ruling::NotBetter
            } else if !score.holds() {
                Ruling::ConditionsNotHeld
            } else if elsewhere.iter().any(|there| there.is_worse) {
                Ruling::WorseElsewhere
            } else {
                Ruling::Confirmed
            };
            Finalist {
                entrant,
                tuned: tuned.as_ref().map(Gain::of),
                held_out: score.gain_over(base).as_ref().map(Gain::of),
                p: p_values[position],
                adjusted: adjusted[position],
                score,
                elsewhere,
                ruling,
                extremes: Vec::new(),
            }
        });
        let finalists = finalists.collect();
        Ok(Confirmed { base: base.clone(), finalists, totals })
    }

    /// By scenario not tuned on, then finalist.
    fn elsewhere(&self, totals: &[Totals], worlds: u32, base_fails: bool) -> Vec<Vec<HeldOut>> {
        let scenarios = self.task.hold_out.iter().enumerate();
        let there = scenarios.map(|(position, scenario)| {
            let catalogues = [Catalogue::of(scenario)];
            let reader = Reader { goal: self.task.goal, catalogues: &catalogues };
            let of_scenario = |totals: &Totals| -> Totals { vec![totals[position].clone()] };
            let totals: Vec<Totals> = totals.iter().map(of_scenario).collect();
            let scores = scores(reader, &totals, worlds);
            let (base, rest) = scores.split_first().expect("the base is the first");
            let held = rest.iter().map(|score| {
                let gain = score.gain_over(base);
                // Where the base misses a condition, meeting it may cost something.
                let costs_more = !base_fails && gain.as_ref().is_some_and(is_below_zero);
                HeldOut {
                    gain: gain.as_ref().map(Gain::of),
                    is_worse: costs_more || misses_more(score, base),
                    score: score.clone(),
                }
            });
            held.collect()
        });
        there.collect()
    }
}

impl Confirmed {
    /// The first that is confirmed, in the order in which they were frozen: choosing by what was
    /// held out would be tuning on it.
    pub(super) fn answer(&self) -> Answer {
        let confirmed = |finalist: &Finalist| finalist.ruling == Ruling::Confirmed;
        if let Some(position) = self.finalists.iter().position(confirmed) {
            return Answer::Recommended(position);
        }
        let any = |ruling| self.finalists.iter().any(|finalist| finalist.ruling == ruling);
        Answer::None(if any(Ruling::WorseElsewhere) {
            Reason::WorseElsewhere
        } else if any(Ruling::ConditionsNotHeld) {
            Reason::ConditionsNotHeld
        } else {
            Reason::NotBetter
        })
    }
}

/// Every policy held against the first.
pub(super) fn scores(reader: Reader<'_>, totals: &[Totals], worlds: u32) -> Vec<Score> {
    let base = reader.samples(&totals[0], worlds as usize);
    totals.iter().map(|of| reader.score(&reader.samples(of, worlds as usize), &base)).collect()
}

/// How likely chance alone shows this: a better objective or, where the base misses conditions,
/// each of those met.
pub(super) fn p(score: &Score, base: &Score, base_fails: bool) -> f64 {
    if !base_fails {
        return score.gain_over(base).as_ref().map_or(1.0, p_value);
    }
    let missed_by_base = base.checks.iter().zip(&score.checks);
    let missed_by_base = missed_by_base.filter(|(base, _)| base.result.outcome == Outcome::Failed);
    let p = missed_by_base.map(|(_, check)| match &check.shortfall {
        Some(shortfall) => p_value(&shortfall.combine(shortfall, |shortfall, _| -shortfall)),
        None => 1.0,
    });
    p.fold(0.0, f64::max)
}

/// The one-sided 95 % bound lies below zero.
pub(super) fn is_below_zero(gain: &Jackknife) -> bool {
    gain.value + one_sided_95(gain.degrees()) * gain.standard_error() < 0.0
}

fn misses_more(score: &Score, base: &Score) -> bool {
    let failed = |outcome: Outcome| outcome == Outcome::Failed;
    let mut pairs = score.checks.iter().zip(&base.checks);
    pairs.any(|(check, base)| failed(check.result.outcome) && !failed(base.result.outcome))
}
