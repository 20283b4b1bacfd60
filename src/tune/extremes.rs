//! Confirmed finalists at both extremes of stickiness: how far real failures stick nobody publishes,
//! so that a recommendation is as good as what is left of it there.

use super::confirm::{Confirmed, Ruling, is_below_zero, p, scores};
use super::runner::{Halt, Stream};
use super::score::Score;
use super::search::Search;
use super::{ALPHA, Finalist, Gain};
use crate::experiment::{Identified, Setting};
use crate::world::Stickiness;

/// With fewer worlds, intervals grow quickly.
const LEAST_WORLDS: u32 = 10;

/// A finalist held against the base where failures stick otherwise than declared.
#[derive(Clone, Debug)]
pub struct AtExtreme {
    /// How failures stick.
    pub setting: Setting,
    /// The base there.
    pub base: Score,
    /// The finalist there.
    pub score: Score,
    /// How much better than the base it is there.
    pub gain: Option<Gain>,
    /// What is left of its confirmation.
    pub holds: Holds,
}

/// What is left of a confirmation at an extreme, by one-sided 95 % bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// The finalist would be confirmed there, too.
    Yes,
    /// It is not clearly better, or a condition is not clear of its limit.
    Unclear,
    /// It is clearly worse, or clearly misses a condition.
    No,
}

impl Finalist {
    /// Whether what was confirmed holds however far failures stick; `None` where that was not run.
    pub fn identified(&self) -> Option<Identified> {
        let holds = |wanted: Holds| self.extremes.iter().any(|there| there.holds == wanted);
        match (self.extremes.is_empty(), holds(Holds::No), holds(Holds::Unclear)) {
            (true, ..) => None,
            (_, true, _) => Some(Identified::No),
            (_, _, true) => Some(Identified::InPart),
            (_, false, false) => Some(Identified::Yes),
        }
    }
}

impl Search<'_> {
    /// Runs the base and every confirmed finalist in half of the held-out worlds, but where no failure
    /// sticks and where all do.
    pub(super) fn at_extremes(&mut self, confirmed: &mut Confirmed) -> Result<(), Halt> {
        let finalists = &mut confirmed.finalists;
        let kept = |at: &usize| finalists[*at].ruling == Ruling::Confirmed;
        let kept: Vec<usize> = (0..finalists.len()).filter(kept).collect();
        if kept.is_empty() {
            return Ok(());
        }
        let everyone = std::iter::once(0).chain(kept.iter().map(|&at| finalists[at].entrant));
        let policies: Vec<_> = everyone.map(|at| &self.entrants[at].variant.policy).collect();
        let (task, reader) = (self.task, self.reader());
        let worlds = worlds_of(task.options.held_out_worlds);
        let keep = |scenario: usize, run: &mut _| {
            reader.goal.keep_what_it_reads(&reader.catalogues[scenario], run);
        };
        let everyone = policies.len();
        let mut there = Vec::new();
        for (setting, stickiness) in SETTINGS {
            let stream = Stream { stickiness, ..self.held_out_worlds(task.scenarios) };
            let (totals, spent) = self.runner.run(stream, &policies, 0..worlds, keep)?;
            there.push((setting, scores(reader, &totals, worlds), spent));
        }
        for (setting, scores, spent) in there {
            self.stage("the extremes of stickiness", everyone, spent);
            let (base, rest) = scores.split_first().expect("the base is the first");
            for (&at, score) in kept.iter().zip(rest) {
                finalists[at].extremes.push(at_extreme(setting, base, score));
            }
        }
        Ok(())
    }
}

/// Half of the held-out worlds, the first of them, where those are ten or more.
fn worlds_of(held_out: u32) -> u32 {
    held_out.min(held_out.div_ceil(2).max(LEAST_WORLDS))
}

const SETTINGS: [(Setting, Stickiness); 2] = [
    (Setting::Independent, Stickiness::Independent),
    (Setting::AllToRequest, Stickiness::AllToRequest),
];

fn at_extreme(setting: Setting, base: &Score, score: &Score) -> AtExtreme {
    let gain = score.gain_over(base);
    // Where the base misses a condition there, meeting it may cost something.
    let costs_more = !base.fails() && gain.as_ref().is_some_and(is_below_zero);
    let holds = if costs_more || score.fails() {
        Holds::No
    } else if score.holds() && p(score, base, base.fails()) <= ALPHA {
        Holds::Yes
    } else {
        Holds::Unclear
    };
    let (base, score) = (base.clone(), score.clone());
    AtExtreme { setting, base, score, gain: gain.as_ref().map(Gain::of), holds }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_worlds_but_ten_at_least() {
        assert_eq!([4, 10, 15, 20, 21, 40].map(worlds_of), [4, 10, 10, 10, 11, 20]);
    }
}
