//! What other policies would have done in the world of a log.
//!
//! - `runs` puts the policies into that world, into refits of it, and into what the log cannot tell;
//! - `believe` holds the policy that was in force against the log itself;
//! - `policy`, `course`, `otherwise` and `recommend` say what each policy does, when, in which other worlds,
//!   and what to change;
//! - `finding` is all that was found, as plain data: text, JSON and documents are made of it alone.

mod bad_times;
mod believe;
mod course;
mod doubts;
mod figures;
mod finding;
mod left_out;
mod otherwise;
mod page;
mod parts;
mod plot;
mod policy;
mod policy_diff;
mod recommend;
mod requests;
mod runs;
mod sections;
mod sensitivity;
mod steps;
mod story;
mod text;
mod unseen;
mod value;
mod words;

use windtunnel_policy::config::Policy;

pub use bad_times::BadTime;
pub use believe::{Believed, Check, Tolerance, Verdict};
pub use course::{InTime, Stretch};
pub use finding::{FORMAT, Logged, Told, WhatIf};
pub use left_out::{LeftOut, Reason};
pub use otherwise::Sensitivity;
pub use parts::{OfClass, OfTarget};
pub use policy::{MovedRequests, PolicyFinding};
pub use policy_diff::Change;
pub use recommend::Recommended;
pub use story::Story;
pub use unseen::goes_elsewhere;
pub use value::{Compared, Difference, Figure, Interval, Missing};

use crate::experiment::{ExperimentError, Observer};
use crate::fit::{Evidence, Fit};
use crate::scenario::Scenario;
use crate::timeline::Hypothesis;

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The fitted world; people may have edited it.
    pub scenario: &'a Scenario,
    /// What it was fitted to; absent where the world is made of a timeline.
    pub log: Option<(&'a Fit, &'a Evidence)>,
    /// What it was made of where there is no log.
    pub timeline: Option<&'a Hypothesis>,
    /// The policy that was in force, then the others.
    pub policies: &'a [Policy],
    /// How it is run.
    pub options: Options,
}

/// How much is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Options {
    /// Seed of all luck.
    pub seed: u64,
    /// Worlds of luck; at least two give intervals.
    pub worlds: u32,
    /// Refits to blocks of the log drawn anew.
    pub refits: u32,
    /// Run also the worlds that the log cannot tell from the fitted one.
    pub sensitivity: bool,
    /// Gaps between log and simulation that do not matter.
    pub tolerance: Tolerance,
    /// Threads; as many as there are cores where absent. Results do not depend on it.
    pub threads: Option<usize>,
}

impl Options {
    /// Fewer refits tell the error of the fit too badly.
    pub const LEAST_REFITS: u32 = 20;
}

/// Answers the question.
///
/// # Errors
/// A policy does not fit the scenario, or it was interrupted before anything was complete.
pub fn investigate(
    question: &Question<'_>,
    observer: &dyn Observer,
) -> Result<WhatIf, ExperimentError> {
    let runs = runs::Runs::of(question, observer)?;
    Ok(finding::of(question, &runs))
}
