//! Experiments: policies in worlds.
//!
//! - [`run`] puts policies into the same worlds and gives an [`Experiment`]: the totals of every
//!   policy in every world;
//! - [`split`] puts them side by side in front of one fleet, and holds that against each alone;
//! - [`Findings`] reads the measures from it, the paired differences to the first policy, what
//!   depends on how far failures stick, and the gates.

mod error;
mod findings;
mod options;
mod ranking;
mod recorder;
mod run;
mod split;

pub use error::ExperimentError;
pub use findings::{Findings, GateFinding, NoBase, PolicyFindings, TopTwo};
pub use options::{Extremes, Options};
pub use ranking::{Ahead, Identified, Pair, Ranking};
pub use recorder::{NoObserver, NoRecorder, Observer, Recorder, RunId};
pub use run::{policy_hash, run, run_divided, run_first_within};
pub use split::{ArmFindings, SplitFindings, split};

use crate::record::RunTotals;
use crate::weather::Incident;

/// The totals of every policy in every world.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Numbers of the worlds that were completed, in order.
    pub worlds: Vec<u32>,
    /// The incidents of each of them.
    pub incidents: Vec<Vec<Incident>>,
    /// As the failures were declared to stick.
    pub policies: Vec<PolicyRuns>,
    /// The `single` policy in the same worlds, for `no_recovery_success`: without histograms.
    pub single: Option<Vec<RunTotals>>,
    /// The policies where every try is an independent draw, and where all failures stick to
    /// their request; absent where that was not run. Where no gate asks: without histograms, and
    /// not in every world.
    pub extremes: Option<[Vec<PolicyRuns>; 2]>,
}

/// One policy in all worlds.
#[derive(Clone, Debug)]
pub struct PolicyRuns {
    /// Its name.
    pub name: String,
    /// SHA-256 of its data, in hexadecimal.
    pub hash: String,
    /// By world.
    pub worlds: Vec<RunTotals>,
}

/// How failures stick.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Setting {
    /// Every try is an independent draw: stickiness 0.
    Independent,
    /// As declared.
    Declared,
    /// What failed for a request at a target fails there again: stickiness 1.
    AllToRequest,
}

impl Setting {
    /// From the least sticky.
    pub const ALL: [Setting; 3] = [Setting::Independent, Setting::Declared, Setting::AllToRequest];
    /// The two that bound the truth.
    pub const EXTREMES: [Setting; 2] = [Setting::Independent, Setting::AllToRequest];

    /// Its name in tables and JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Setting::Independent => "0",
            Setting::Declared => "declared",
            Setting::AllToRequest => "1",
        }
    }
}

impl Experiment {
    /// The policies where failures stick so; `None` where that was not run.
    pub fn at(&self, setting: Setting) -> Option<&[PolicyRuns]> {
        let extremes = self.extremes.as_ref();
        match setting {
            Setting::Declared => Some(&self.policies),
            Setting::Independent => extremes.map(|[independent, _]| independent.as_slice()),
            Setting::AllToRequest => extremes.map(|[_, stuck]| stuck.as_slice()),
        }
    }
}
