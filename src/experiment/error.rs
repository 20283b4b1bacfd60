//! Why an experiment cannot be run.

use std::fmt;

use windtunnel_policy::config::Problem;

use crate::world::WorldError;

/// Why an experiment cannot be run.
#[derive(Clone, PartialEq, Debug)]
pub enum ExperimentError {
    /// A policy does not fit the scenario.
    Policy {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problems: Vec<Problem>,
    },
    /// The scenario has no world.
    World(WorldError),
    /// The threads could not be started.
    Threads(String),
    /// Ended before any world was complete.
    Interrupted,
    /// The worlds take too much memory together.
    TooLarge {
        /// What they take.
        bytes: u64,
        /// What they may take.
        most: u64,
        /// Requests in one of the largest.
        requests: u64,
    },
}

impl fmt::Display for ExperimentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExperimentError::Policy { name, problems } => {
                write!(f, "policy `{name}` does not fit this scenario")?;
                problems
                    .iter()
                    .try_for_each(|p| write!(f, "\n  {}: {}; {}", p.field, p.message, p.fix))
            }
            ExperimentError::World(error) => error.fmt(f),
            ExperimentError::Threads(error) => write!(f, "threads could not be started: {error}"),
            ExperimentError::Interrupted => f.write_str("interrupted before a world was complete"),
            ExperimentError::TooLarge { bytes, most, requests } => {
                let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
                write!(
                    f,
                    "the worlds take {:.1} GiB, {requests} requests in one; at most {:.0} GiB are \
                     kept: ask for fewer worlds, or for a shorter horizon",
                    gib(*bytes),
                    gib(*most)
                )
            }
        }
    }
}

impl std::error::Error for ExperimentError {}
