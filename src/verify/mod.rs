//! A policy put through every sequence of outcomes: the router's promises proven, or the shortest way
//! to break one.

mod beyond;
mod json;
mod sample;
mod search;
mod start;
mod step;
mod text;

use rayon::prelude::*;
use windtunnel_policy::Router;
use windtunnel_policy::config::{Policy, Problem};
use windtunnel_policy::promises::{Broken, Moment, Promise, Subject, Watched};
use windtunnel_policy::target::Topology;

use self::start::{Early, Start};
use self::step::Step;
use crate::story::Names;

/// How far a proof goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Steps of each sequence.
    pub depth: u32,
    /// States of one start, at most.
    pub max_states: u64,
}

/// Who looks on.
pub trait Observer: Sync {
    /// One more state was seen.
    fn visited(&self) {}
    /// Whether to stop early; what is not complete is then undecided.
    fn stop(&self) -> bool {
        false
    }
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {}

/// What was walked over, and what came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Proof {
    /// The policy's name.
    pub policy: String,
    /// What its targets are from.
    pub targets: String,
    /// Steps asked for.
    pub depth: u32,
    /// States of one start, at most.
    pub max_states: u64,
    /// Every start.
    pub covered: Vec<Covered>,
    /// The shortest way to a broken promise, of all starts.
    pub counterexample: Option<Counterexample>,
    /// What a reader might take for promised and is not.
    pub not_promised: Option<String>,
    /// Targets and breakers by name, for the telling.
    names: Names,
}

/// What was walked from one start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Covered {
    /// What is so before the first step.
    pub start: String,
    /// Steps of each sequence.
    pub depth: u32,
    /// Every sequence of so many steps was walked.
    pub complete_to: u32,
    /// Different states seen.
    pub states: u64,
    /// Sequences that lead through them.
    pub sequences: u64,
}

/// A broken promise, and all that led to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// What was so before the first step.
    pub start: String,
    /// Events before the first step.
    pub before: usize,
    /// Steps.
    pub steps: usize,
    /// Whether every shorter sequence from this start was walked.
    pub shortest: bool,
    /// Everything that happened.
    pub trail: Vec<Moment>,
    /// What was not kept.
    pub broken: Broken,
}

/// What a proof says in the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// Every sequence was walked, and every promise held.
    Holds,
    /// There is a counterexample.
    Broken,
    /// Not every sequence was walked.
    Undecided,
}

impl Proof {
    /// What it says.
    pub fn verdict(&self) -> Verdict {
        let complete = self.covered.iter().all(|start| start.complete_to == start.depth);
        match (&self.counterexample, complete) {
            (Some(_), _) => Verdict::Broken,
            (None, true) => Verdict::Holds,
            (None, false) => Verdict::Undecided,
        }
    }

    /// The depth to which all was walked; `None` where nothing is complete.
    pub fn complete_depth(&self) -> Option<u32> {
        let depth = |start: &Covered| match start.complete_to {
            all if all == start.depth => Some(self.depth),
            // No start is walked for less than one step.
            0 => None,
            // Some starts are walked for fewer steps than asked for.
            steps => Some(steps + self.depth.saturating_sub(start.depth)),
        };
        self.covered.iter().map(depth).min().flatten()
    }

    /// For people.
    pub fn text(&self) -> String {
        text::proof(self)
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        json::proof(self)
    }
}

/// Walks over every sequence on these targets; on a small sample by roles where there are none.
///
/// # Errors
/// What is wrong with the policy or the targets.
pub fn verify<O: Observer>(
    policy: &Policy,
    targets: Option<(&str, &Topology)>,
    options: Options,
    observer: &O,
) -> Result<Proof, Vec<Problem>> {
    let sample = sample::topology_for(policy);
    let (name, topology) = targets.unwrap_or(("built-in sample", &sample));
    let router = Router::new(policy.clone(), topology.clone())?;
    Ok(verify_subject(&router, name, options, observer))
}

/// The built-in sample: two primaries of one model in two regions, an equal fallback elsewhere, and an
/// approved substitute; a class that only asks, and one that may write and has little money.
pub fn sample() -> Topology {
    sample::topology_for(&Policy::default())
}

/// Walks over every sequence of a subject: a router, or something around one.
pub fn verify_subject<S: Subject + Send + Sync, O: Observer>(
    subject: &S,
    targets: &str,
    options: Options,
    observer: &O,
) -> Proof {
    let mut proof = Proof {
        policy: subject.policy().name.clone(),
        targets: targets.to_owned(),
        depth: options.depth,
        max_states: options.max_states,
        covered: Vec::new(),
        counterexample: None,
        not_promised: beyond::promises(subject.policy()),
        names: Names::new(subject.topology(), subject.breakers()),
    };
    let starts = match start::starts(subject) {
        Ok(starts) => starts,
        Err(early) => {
            let Early { watched, broken } = *early;
            let before = watched.trail().len();
            proof.counterexample = Some(Counterexample {
                start: "nothing has happened yet".into(),
                before,
                steps: 0,
                shortest: true,
                trail: watched.trail().to_vec(),
                broken,
            });
            return proof;
        }
    };
    let walked: Vec<_> =
        starts.par_iter().map(|start| from_one(start, options, observer)).collect();
    for (covered, counterexample) in walked {
        proof.covered.push(covered);
        let shorter = |found: &Counterexample| {
            proof.counterexample.as_ref().is_none_or(|known| found.steps < known.steps)
        };
        if let Some(found) = counterexample.filter(shorter) {
            proof.counterexample = Some(found);
        }
    }
    proof
}

fn from_one<S: Subject, O: Observer>(
    start: &Start<S>,
    options: Options,
    observer: &O,
) -> (Covered, Option<Counterexample>) {
    let depth = options.depth.saturating_sub(start.shorter).max(1);
    let hedges = start.watched.subject.policy().hedge.is_some();
    let steps = step::steps(&start.alphabet, start.requests, start.late, hedges);
    let bare = start.watched.clone().forgetting_trail();
    let walked = search::walk(&bare, &steps, depth, options.max_states, observer);
    let covered = Covered {
        start: start.name.clone(),
        depth,
        complete_to: walked.complete_to,
        states: walked.states,
        sequences: walked.sequences,
    };
    let complete_to = walked.complete_to as usize;
    let counterexample = walked.broken.map(|(way, broken)| {
        let shortest = way.len() <= complete_to + 1;
        Counterexample { shortest, ..told(start, &way, broken) }
    });
    (covered, counterexample)
}

/// Goes the way again, and keeps what happens.
fn told<S: Subject>(start: &Start<S>, way: &[Step], broken: Broken) -> Counterexample {
    let mut watched: Watched<S> = start.watched.clone();
    let before = watched.trail().len();
    let broke = way.iter().any(|step| {
        step.meaning(&watched).is_some_and(|happens| happens.to(&mut watched).is_err())
    });
    // What breaks without a further step breaks while time ends everything.
    if !broke {
        let _ = watched.drain();
    }
    let trail = watched.trail().to_vec();
    let (start, steps) = (start.name.clone(), way.len());
    Counterexample { start, before, steps, shortest: true, trail, broken }
}

/// Name and sentence of every promise, in the order they are told.
fn promises() -> impl Iterator<Item = (&'static str, &'static str)> {
    Promise::ALL.into_iter().map(|promise| (promise.name(), promise.sentence()))
}
