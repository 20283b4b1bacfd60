//! A sweep that runs: the worlds, and the base in them.

use windtunnel_policy::config::Policy;

use super::arena::{Arena, ArenaOptions};
use super::figures::Score;
use super::in_order::in_order;
use super::row::{Figure, Row};
use super::study::Study;
use crate::experiment::{ExperimentError, policy_hash};
use crate::space::Variant;

/// The worlds of a study, and what the base makes of them.
pub struct Runner<'a, 's> {
    study: &'a Study<'s>,
    arena: Arena<'s>,
    base: (Vec<Figure>, Vec<Score>),
}

impl<'a, 's> Runner<'a, 's> {
    /// Makes the worlds and runs the base in them.
    ///
    /// # Errors
    /// A scenario has no world, or the worlds take too much memory.
    pub fn new(study: &'a Study<'s>, single: &Policy) -> Result<Runner<'a, 's>, ExperimentError> {
        let header = &study.header;
        let options =
            ArenaOptions { seed: header.seed, worlds: 0..header.worlds, resample: header.resample };
        let arena = Arena::build(&study.scenarios, single, &options)?;
        let runs = arena.run(&study.space.base, 0..header.worlds as usize)?;
        let (_, scores) = study.figures.of(arena.stages(), &runs, None);
        // Once more, for its differences to itself: none, exactly.
        let base = study.figures.of(arena.stages(), &runs, Some(&scores));
        Ok(Runner { study, arena, base })
    }

    /// Runs the rows of the study's shard, but for the first `finished`, and hands them over in
    /// their order. Ends early where `stop` comes to be true, without a gap. Gives how many rows
    /// were handed over.
    ///
    /// Threads are those of the current pool.
    pub fn rows(
        &self,
        finished: usize,
        stop: impl Fn() -> bool + Sync,
        take: impl FnMut(Row) + Send,
    ) -> usize {
        let header = &self.study.header;
        let numbers: Vec<u64> = header.shard.rows(header.variants).skip(finished).collect();
        let mut take = take;
        in_order(numbers.len(), stop, |job| self.row(numbers[job]), |_, row| take(row))
    }

    /// Runs one variant in all worlds.
    pub fn row(&self, number: u64) -> Row {
        let variant = self.study.variant(number);
        let figures = match number {
            0 => self.base.0.clone(),
            _ => self.figures(&variant),
        };
        Row {
            variant: number,
            policy: policy_hash(&variant.policy),
            fields: self.study.cells(&variant),
            figures,
        }
    }

    fn figures(&self, variant: &Variant) -> Vec<Figure> {
        let worlds = 0..self.study.header.worlds as usize;
        let runs = self.arena.run(&variant.policy, worlds);
        let runs = runs.expect("every variant was held against every scenario");
        self.study.figures.of(self.arena.stages(), &runs, Some(&self.base.1)).0
    }
}
