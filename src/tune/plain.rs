//! Before anything is frozen, the best loses the changes that buy nothing.

use super::runner::Halt;
use super::score::{Score, Totals};
use super::search::Search;
use super::{Entrant, Fate, LOOKS};
use crate::space::Variant;

/// A change stays where more than this part of the gain over the base goes without it.
const WORTH: f64 = 0.02;

/// A policy in the worlds that variants are chosen by.
struct Tried {
    variant: Variant,
    totals: Totals,
    score: Score,
}

impl Search<'_> {
    /// Takes changes to the base back from the best that came through: those without which it is no
    /// worse, the emptiest first, as long as conditions are met. Gives the position of what is left
    /// where that is another policy.
    pub(super) fn plainer(&mut self, best: usize) -> Result<Option<usize>, Halt> {
        let space = self.task.space;
        let variant = self.entrants[best].variant.clone();
        let chosen = self.entrants[best].last.clone().expect("the best was measured");
        let alone: Vec<(usize, Variant)> = space
            .changes(&variant)
            .into_iter()
            .filter_map(|change| Some((change, self.without(change, &variant)?)))
            .collect();
        let (changes, alone): (Vec<usize>, Vec<Variant>) = alone.into_iter().unzip();
        let alone = self.tried(alone)?;
        let mut empty: Vec<(usize, f64)> = changes
            .into_iter()
            .zip(&alone)
            .filter(|(_, tried)| self.is_as_good(&tried.score, &chosen))
            .map(|(change, tried)| (change, tried.score.rank().1))
            .collect();
        empty.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        let mut plain: Option<Tried> = None;
        for (change, _) in empty {
            let from = plain.as_ref().map_or(&variant, |plain| &plain.variant);
            let Some(next) = self.without(change, from) else { continue };
            let tried = self.tried(vec![next])?.pop();
            plain = tried.filter(|tried| self.is_as_good(&tried.score, &chosen)).or(plain);
        }
        let Some(Tried { variant, totals, score }) = plain else { return Ok(None) };
        let round = self.entrants[best].round;
        let (fate, last) = (Fate::Through, Some(score));
        self.entrants.push(Entrant { variant, round, fate, first: None, last, totals });
        Ok(Some(self.entrants.len() - 1))
    }

    /// A variant with one change taken back, where that is a policy and not the base.
    fn without(&self, change: usize, variant: &Variant) -> Option<Variant> {
        let space = self.task.space;
        let left = space.put_back(variant, change).ok()?;
        (left.policy != space.base && self.fits(&left.policy).is_ok()).then_some(left)
    }

    /// Variants in all worlds that variants are chosen by.
    fn tried(&mut self, variants: Vec<Variant>) -> Result<Vec<Tried>, Halt> {
        let policies: Vec<_> = variants.iter().map(|variant| &variant.policy).collect();
        let worlds = LOOKS[LOOKS.len() - 1];
        let (reader, stream) = (self.reader(), self.tuning_worlds());
        let keep = |scenario: usize, run: &mut _| {
            reader.goal.keep_what_it_reads(&reader.catalogues[scenario], run);
        };
        let (totals, spent) = self.runner.run(stream, &policies, 0..worlds, keep)?;
        self.stage("without what buys nothing", policies.len(), spent);
        let base = reader.samples(&self.entrants[0].totals, worlds as usize);
        let tried = variants.into_iter().zip(totals).map(|(variant, totals)| {
            let score = reader.score(&reader.samples(&totals, worlds as usize), &base);
            Tried { variant, totals, score }
        });
        Ok(tried.collect())
    }

    /// Whether a policy is as good as the one chosen, but for what is not worth a change.
    fn is_as_good(&self, score: &Score, chosen: &Score) -> bool {
        let base = self.entrants[0].last.as_ref().expect("the base was measured first");
        let gain = chosen.gain_over(base).map_or(0.0, |gain| gain.value.max(0.0));
        let lost = chosen.gain_over(score).map_or(f64::INFINITY, |lost| lost.value);
        score.is_feasible() && (score.holds() || !chosen.holds()) && lost <= WORTH * gain
    }
}
