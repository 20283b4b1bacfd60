//! Races: variants in more and more of the same worlds, the clearly worse left behind on the way.
//!
//! With α for a round, V entrants, K looks and C conditions (in each scenario one), each comparison
//! errs with at most α ÷ (V · K · T), where T is 1 without conditions and C + 2 with them. The best
//! of those that meet the conditions is lost only where a look takes it for one that misses a
//! condition (C comparisons), or finds it worse than a leader that is not (V), or lets one lead that
//! does not meet the conditions (V): at each look at most V · T errors, at all of them α.

use super::runner::{Halt, Spent};
use super::score::Score;
use super::search::Search;
use super::{Entrant, LOOKS};
use crate::stats::Race;

/// What became of a variant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It came through every race.
    Through,
    /// It clearly misses a condition.
    Infeasible,
    /// It is clearly worse than the leader.
    Worse,
    /// The objective has no value: too much is unanswered.
    WithoutValue,
    /// Nothing is clear, but the budget does not carry it further.
    SetAside,
}

/// One race.
#[derive(Clone, PartialEq, Debug)]
pub struct Round {
    /// What was raced.
    pub name: &'static str,
    /// How far new variants lie from those they were made of, in coordinates from 0 to 1.
    pub radius: Option<f64>,
    /// New variants in it.
    pub new: usize,
    /// Variants in it, the base among them.
    pub entrants: usize,
    /// The chance that the best of them is lost.
    pub alpha: f64,
    /// The error of one comparison.
    pub error: f64,
    /// What happened at each look.
    pub looks: Vec<Look>,
}

/// One look: how many were in the race, and how many left it by which fate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Look {
    /// Worlds that were met by then.
    pub worlds: u32,
    /// Variants compared, the base among them.
    pub compared: usize,
    /// Left behind as clearly infeasible.
    pub infeasible: usize,
    /// As clearly worse than the leader.
    pub worse: usize,
    /// For want of a value.
    pub without_value: usize,
    /// For want of budget.
    pub set_aside: usize,
}

impl Search<'_> {
    /// Races the new entrants, those that came through so far, and the base.
    pub(super) fn race(
        &mut self,
        name: &'static str,
        radius: Option<f64>,
        new: Vec<Entrant>,
        alpha: f64,
        budget: u64,
    ) -> Result<(), Halt> {
        let count = new.len();
        self.entrants.extend(new);
        let racing = self.racing().len();
        let conditions = self.task.goal.constraints.len() * self.task.scenarios.len();
        let tests = if conditions == 0 { 1 } else { conditions + 2 };
        let race = Race::new(alpha, racing * tests, LOOKS.len());
        let error = race.error();
        self.rounds.push(Round {
            name,
            radius,
            new: count,
            entrants: racing,
            alpha,
            error,
            looks: vec![],
        });
        let mut spent = Spent::default();
        for (number, worlds) in LOOKS.into_iter().enumerate() {
            let run = self.bring_to(worlds)?;
            spent.runs += run.runs;
            spent.requests += run.requests;
            self.stage(name, count, run);
            let mut look = self.judge(worlds, &race);
            if let Some(next) = LOOKS.get(number + 1) {
                look.set_aside = self.set_aside(*next, budget.saturating_sub(spent.requests));
            }
            self.rounds.last_mut().expect("it was pushed above").looks.push(look);
            if self.racing().len() == 1 {
                // The base alone is left: there is nothing to compare.
                break;
            }
        }
        Ok(())
    }

    /// Positions of those still in the race, the base first.
    pub(super) fn racing(&self) -> Vec<usize> {
        let through = |at: &usize| *at == 0 || self.entrants[*at].fate == Fate::Through;
        (0..self.entrants.len()).filter(through).collect()
    }

    /// Runs everyone in the race up to so many worlds.
    pub(super) fn bring_to(&mut self, worlds: u32) -> Result<Spent, Halt> {
        let mut spent = Spent::default();
        let met = |entrant: &Entrant| entrant.totals.first().map_or(0, Vec::len) as u32;
        // Newcomers are all equally far; the base may be further.
        let mut behind: Vec<usize> = self.racing();
        behind.retain(|&at| met(&self.entrants[at]) < worlds);
        let mut starts: Vec<u32> = behind.iter().map(|&at| met(&self.entrants[at])).collect();
        starts.sort_unstable();
        starts.dedup();
        for start in starts {
            let group: Vec<usize> =
                behind.iter().copied().filter(|&at| met(&self.entrants[at]) == start).collect();
            let policies: Vec<_> =
                group.iter().map(|&at| &self.entrants[at].variant.policy).collect();
            let reader = self.reader();
            let keep = |scenario: usize, run: &mut _| {
                reader.goal.keep_what_it_reads(&reader.catalogues[scenario], run);
            };
            let stream = self.tuning_worlds();
            let (totals, run) = self.runner.run(stream, &policies, start..worlds, keep)?;
            spent.runs += run.runs;
            spent.requests += run.requests;
            for (&at, totals) in group.iter().zip(totals) {
                let held = &mut self.entrants[at].totals;
                held.resize(totals.len(), Vec::new());
                held.iter_mut().zip(totals).for_each(|(held, more)| held.extend(more));
            }
        }
        Ok(spent)
    }

    /// Compares everyone in the race after so many worlds, and frees what is left behind.
    fn judge(&mut self, worlds: u32, race: &Race) -> Look {
        let racing = self.racing();
        self.read(&racing, worlds);
        let last = |at: usize| self.entrants[at].last.as_ref().expect("it was read above");
        // Only one that surely meets the conditions leads: nobody is left behind for being worse
        // than what may not be had.
        let leader = racing
            .iter()
            .copied()
            .filter(|&at| last(at).surely_holds(race))
            .min_by(|&a, &b| last(a).rank().1.total_cmp(&last(b).rank().1));
        let leader = leader.map(|at| last(at).clone());
        let mut look = Look { worlds, compared: racing.len(), ..Look::default() };
        for at in racing.into_iter().filter(|&at| at != 0) {
            let entrant = &mut self.entrants[at];
            let score = entrant.last.as_ref().expect("it was read above");
            let behind = leader.as_ref().and_then(|leader| leader.gain_over(score));
            if score.surely_fails(race) {
                look.infeasible += 1;
                entrant.fate = Fate::Infeasible;
            } else if score.loss.is_none() {
                look.without_value += 1;
                entrant.fate = Fate::WithoutValue;
            } else if behind.is_some_and(|behind| race.leaves_behind(&behind)) {
                look.worse += 1;
                entrant.fate = Fate::Worse;
            }
            if entrant.fate != Fate::Through {
                entrant.totals = Vec::new();
            }
        }
        look
    }

    /// Holds these entrants against the goal and the base, after so many worlds.
    pub(super) fn read(&mut self, positions: &[usize], worlds: u32) {
        let reader = self.reader();
        let samples = |at: usize| reader.samples(&self.entrants[at].totals, worlds as usize);
        let base = samples(0);
        let scores = positions.iter().map(|&at| reader.score(&samples(at), &base));
        let scores: Vec<Score> = scores.collect();
        for (&at, score) in positions.iter().zip(scores) {
            let entrant = &mut self.entrants[at];
            if worlds == LOOKS[0] && entrant.first.is_none() {
                entrant.first = Some(score.clone());
            }
            entrant.last = Some(score);
        }
    }

    /// Sets aside as many as the budget does not carry to the next look, the worst first; gives
    /// their number.
    fn set_aside(&mut self, next: u32, budget: u64) -> usize {
        let per_world = self.requests_per_world;
        let met = |entrant: &Entrant| entrant.totals.first().map_or(0, Vec::len) as u32;
        let mut order: Vec<usize> = self.racing();
        order.retain(|&at| at != 0 && met(&self.entrants[at]) < next);
        let cost = |at: usize| u64::from(next - met(&self.entrants[at])) * per_world;
        self.sort_by_rank(&mut order);
        let mut left = budget;
        let carried = order.iter().take_while(|&&at| {
            let rest = left.checked_sub(cost(at));
            left = rest.unwrap_or(0);
            rest.is_some()
        });
        let carried = carried.count();
        for &at in &order[carried..] {
            self.entrants[at].fate = Fate::SetAside;
            self.entrants[at].totals = Vec::new();
        }
        order.len() - carried
    }

    /// The best first; of equals, those drawn first.
    pub(super) fn sort_by_rank(&self, order: &mut [usize]) {
        let rank =
            |at: usize| self.entrants[at].last.as_ref().map_or((true, f64::INFINITY), Score::rank);
        order.sort_by(|&a, &b| {
            let ((infeasible, loss), (other, most)) = (rank(a), rank(b));
            infeasible.cmp(&other).then(loss.total_cmp(&most)).then(a.cmp(&b))
        });
    }
}
