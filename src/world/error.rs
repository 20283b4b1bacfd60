//! Why a scenario has no world.

use std::fmt;

use super::MAX_REQUESTS;
use crate::weather::WeatherError;

/// Why a scenario has no world. Names the route class or weather entry at fault.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WorldError {
    /// More than [`MAX_REQUESTS`].
    TooManyRequests,
    /// Traffic of a route class that cannot be made.
    Traffic {
        /// The route class.
        class: String,
        /// What is wrong, and what would be right.
        problem: String,
    },
    /// Weather that cannot be made.
    Weather(WeatherError),
}

impl WorldError {
    pub(super) fn traffic(class: &str, problem: impl Into<String>) -> WorldError {
        WorldError::Traffic { class: class.into(), problem: problem.into() }
    }
}

impl fmt::Display for WorldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorldError::TooManyRequests => write!(
                f,
                "the scenario makes more than {MAX_REQUESTS} requests: \
                 shorten the horizon or lower the rates"
            ),
            WorldError::Traffic { class, problem } => {
                write!(f, "traffic of route class `{class}`: {problem}")
            }
            WorldError::Weather(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for WorldError {}

impl From<WeatherError> for WorldError {
    fn from(error: WeatherError) -> WorldError {
        WorldError::Weather(error)
    }
}
