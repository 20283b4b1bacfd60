//! Tuning: a search for the policy of a space that is best by one measure and meets conditions, with
//! the evidence for it.
//!
//! 1. Variants over the whole space are raced in the same worlds at set looks, then variants near the
//!    best of them, twice, in ever smaller steps (`rounds`).
//! 2. The best loses the changes that buy nothing (`plain`); at most five are frozen, and held once
//!    against the base in worlds that nothing was chosen by (`confirm`); those that are confirmed are
//!    also run where no failure sticks and where all do (`extremes`).
//! 3. What each change buys, what each field does, and what is traded against what is measured in
//!    those worlds too (`evidence`).
//!
//! Decisions are made between runs only, from totals in the order of variants: they do not depend
//! on threads. `docs/tune.md` has the method, with its errors.

mod begin;
mod confirm;
mod evidence;
mod extremes;
mod goal;
mod near;
mod plain;
mod report;
mod rounds;
mod runner;
mod score;
mod search;

use windtunnel_policy::config::Policy;

use crate::experiment::Observer;
use crate::input::InputError;
use crate::scenario::Scenario;
use crate::space::{PolicySpace, Tally, Variant};
use crate::stats::Jackknife;

pub use confirm::{Finalist, HeldOut, Ruling};
pub use evidence::{Change, Compared, Evidence, FrontPoint, Moved, Setting};
pub use extremes::{AtExtreme, Holds};
pub use goal::{Direction, Goal};
pub use report::{ChartFile, OverTime, TuneReport};
pub use rounds::{Fate, Look, Round};
pub use runner::Spent;
pub use score::{Check, Score, Weighed, over_scenarios};

/// The error that the search may make, and that the confirmation may make.
pub const ALPHA: f64 = 0.05;
/// Worlds after which variants are compared.
pub const LOOKS: [u32; 3] = [10, 20, 40];
/// Variants that are held against the base in held-out worlds, at most.
pub const FINALISTS: usize = 5;

/// What to search, and how.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// Tuned on.
    pub scenarios: &'a [Scenario],
    /// Not tuned on: where a recommendation must not be clearly worse.
    pub hold_out: &'a [Scenario],
    /// The base and what may vary.
    pub space: &'a PolicySpace,
    /// What is wanted.
    pub goal: &'a Goal,
    /// How.
    pub options: Options,
}

/// How to search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// The seed of worlds and draws.
    pub seed: u64,
    /// Variants over the whole space; as many as the budget carries where absent.
    pub variants: Option<u64>,
    /// Requests the search may simulate; no limit where absent.
    pub budget: Option<u64>,
    /// Held-out worlds of each scenario.
    pub held_out_worlds: u32,
    /// Tune on each scenario's published course alone; held-out worlds are drawn all the same.
    pub as_published: bool,
    /// Threads; as many as there are cores where absent. Results do not depend on it.
    pub threads: Option<usize>,
}

/// Everything that was found.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// The base first, then every variant in the order it was drawn.
    pub entrants: Vec<Entrant>,
    /// What was drawn for the first round.
    pub drawn: Tally,
    /// The races.
    pub rounds: Vec<Round>,
    /// Frozen and held against the base, the best by the search first.
    pub finalists: Vec<Finalist>,
    /// The base in held-out worlds; absent where it did not come so far.
    pub base_held_out: Option<Score>,
    /// The answer.
    pub answer: Answer,
    /// About the recommended policy; absent without one, or where an interrupt came first.
    pub evidence: Option<Evidence>,
    /// What can be had of the objective for how much of the rest, in held-out worlds.
    pub front: Vec<FrontPoint>,
    /// What was spent, in order.
    pub stages: Vec<Stage>,
    /// True where an interrupt ended it before it was complete.
    pub interrupted: bool,
}

/// A policy that was tried.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// Its levels and its policy.
    pub variant: Variant,
    /// The round it came in, from 0; the base is in all.
    pub round: usize,
    /// What became of it.
    pub fate: Fate,
    /// After the first look.
    pub first: Option<Score>,
    /// After its last look.
    pub last: Option<Score>,
    totals: score::Totals,
}

/// What came of the search.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The finalist at this position.
    Recommended(usize),
    /// None, and why.
    None(Reason),
}

/// Why nothing is recommended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// No variant that came through meets the conditions; the nearest, by position of the entrant.
    NothingFeasible(usize),
    /// No variant came through: they are clearly worse than the base, or infeasible.
    BaseIsBest,
    /// No finalist is clearly better than the base in held-out worlds.
    NotBetter,
    /// Those that are better miss a condition there, or are not clear of it.
    ConditionsNotHeld,
    /// Those that are better are clearly worse where nothing was tuned.
    WorseElsewhere,
    /// Interrupted before the confirmation; the best so far, by position of the entrant.
    Interrupted(usize),
}

/// A part of the work, and what it took.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stage {
    /// What was done.
    pub name: &'static str,
    /// Policies in it.
    pub policies: usize,
    /// What it took.
    pub spent: Spent,
}

/// Why a search did not even begin.
#[derive(Clone, PartialEq, Debug)]
pub enum TuneError {
    /// Something in what was asked for.
    Input(InputError),
    /// Ended before the base was measured.
    Interrupted,
}

impl From<InputError> for TuneError {
    fn from(error: InputError) -> TuneError {
        TuneError::Input(error)
    }
}

/// Searches, confirms, and explains.
///
/// # Errors
/// What was asked for cannot be done, or an interrupt came before the base was measured.
pub fn tune(task: &Task<'_>, observer: &dyn Observer) -> Result<Tuning, TuneError> {
    search::run(task, observer)
}

impl Tuning {
    /// The base.
    pub fn base(&self) -> &Entrant {
        &self.entrants[0]
    }

    /// The recommended finalist.
    pub fn recommended(&self) -> Option<&Finalist> {
        match self.answer {
            Answer::Recommended(position) => Some(&self.finalists[position]),
            Answer::None(_) => None,
        }
    }

    /// The recommended policy, under a name of its own.
    pub fn policy(&self) -> Option<Policy> {
        let recommended = self.recommended()?;
        let base = &self.base().variant.policy;
        let policy = &self.entrants[recommended.entrant].variant.policy;
        Some(Policy { name: format!("{}-tuned", base.name), ..policy.clone() })
    }

    /// Variants that the budget did not carry to the end of a race.
    pub fn set_aside(&self) -> usize {
        self.rounds.iter().flat_map(|round| &round.looks).map(|look| look.set_aside).sum()
    }

    /// All that was spent.
    pub fn spent(&self) -> Spent {
        let add = |a: Spent, b: &Stage| Spent {
            runs: a.runs + b.spent.runs,
            requests: a.requests + b.spent.requests,
        };
        self.stages.iter().fold(Spent::default(), add)
    }
}

/// A gain with its two-sided 95 % interval: how much better than the base, positive where better.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gain {
    /// In the objective's unit.
    pub value: f64,
    /// Half the width of its interval.
    pub half_width: f64,
}

impl Gain {
    pub(crate) fn of(gain: &Jackknife) -> Gain {
        let (low, high) = gain.ci95();
        Gain { value: gain.value, half_width: (high - low) / 2.0 }
    }

    /// This less another, which was measured in other worlds.
    pub fn less(self, other: Gain) -> Gain {
        let half_width = libm::hypot(self.half_width, other.half_width);
        Gain { value: self.value - other.value, half_width }
    }
}
