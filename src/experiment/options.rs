//! What to run, and how wide.

use rayon::ThreadPool;

use super::error::ExperimentError;

/// With fewer, intervals grow quickly.
const LEAST_WORLDS: u32 = 10;

/// What to run, besides scenario and policies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The seed all worlds are made from.
    pub seed: u64,
    /// How many worlds; at least one.
    pub worlds: u32,
    /// Draw stretches of recorded traffic and incidents within their ranges, too.
    pub resample: bool,
    /// What to find out of where no failure sticks, and where all do.
    pub extremes: Extremes,
    /// Threads; as many as there are cores where absent. Results do not depend on it.
    pub threads: Option<usize>,
}

impl Options {
    /// In how many of the worlds, the first of them, the policies also run at the extremes.
    pub(super) fn extreme_worlds(&self) -> u32 {
        match self.extremes {
            Extremes::Off => 0,
            Extremes::Counts => self.worlds.min(self.worlds.div_ceil(2).max(LEAST_WORLDS)),
            Extremes::All => self.worlds,
        }
    }

    /// The threads it asks for.
    ///
    /// # Errors
    /// They cannot be started.
    pub fn pool(&self) -> Result<ThreadPool, ExperimentError> {
        let threads = self.threads.unwrap_or(0);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|error| ExperimentError::Threads(error.to_string()))
    }
}

/// What an experiment finds out of the policies where failures stick otherwise than declared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extremes {
    /// Nothing: they are not run.
    Off,
    /// What is counted and summed, such as who answers more; no quantiles. That is told from half of
    /// the worlds, where those are ten or more.
    Counts,
    /// Every measure: a gate may be about any.
    All,
}
