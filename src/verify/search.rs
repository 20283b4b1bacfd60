//! The walk over every sequence of steps, shortest first; a state that was seen is not walked again.

use std::collections::BTreeMap;

use windtunnel_policy::event::RequestRef;
use windtunnel_policy::promises::{Broken, Subject, Watched};

use super::Observer;
use super::step::{Step, open};

/// What a walk from one state found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Walked {
    /// Every sequence of so many steps was walked.
    pub(super) complete_to: u32,
    /// Different states among them.
    pub(super) states: u64,
    /// Sequences that lead through them, ends before the last step counted once.
    pub(super) sequences: u64,
    /// The shortest way to a broken promise.
    pub(super) broken: Option<(Vec<Step>, Broken)>,
}

/// Why a walk ends before it is complete.
enum Stop {
    Broken(Broken),
    /// As many states were seen as may be, or the user has had enough.
    Enough,
}

struct Search<'a, S, O, K> {
    steps: &'a [Step],
    /// What states are told apart by.
    key: &'a K,
    /// The requests that were open at the start.
    requests: Vec<RequestRef>,
    /// Sequences of so many steps from each state seen.
    seen: BTreeMap<(u128, u32), u64>,
    most: u64,
    observer: &'a O,
    way: Vec<Step>,
    /// States that are done with: to copy over one of them is cheaper than to make a new one.
    spare: Vec<Watched<S>>,
}

/// Walks over every sequence of so many steps. Where that is cut short or breaks a promise, it walks
/// over those of no step, then of one, and so on: what is found then is shortest.
pub(super) fn walk<S: Subject, O: Observer>(
    start: &Watched<S>,
    steps: &[Step],
    depth: u32,
    most: u64,
    observer: &O,
) -> Walked {
    walk_by(&Watched::key, start, steps, depth, most, observer)
}

/// The same, with states told apart by this key.
fn walk_by<S: Subject, O: Observer, K: Fn(&Watched<S>) -> u128>(
    key: &K,
    start: &Watched<S>,
    steps: &[Step],
    depth: u32,
    most: u64,
    observer: &O,
) -> Walked {
    let mut walked = Walked { complete_to: 0, states: 0, sequences: 0, broken: None };
    for length in [depth].into_iter().chain(0..depth) {
        let (seen, way) = (BTreeMap::new(), Vec::new());
        let requests = open(start);
        let spare = Vec::new();
        let mut search = Search { steps, key, requests, seen, most, observer, way, spare };
        let end = search.from(&mut start.clone(), length);
        let states = search.seen.len() as u64;
        let complete = end.is_ok();
        match end {
            Ok(sequences) => {
                walked = Walked { complete_to: length, states, sequences, ..walked };
            }
            Err(Stop::Broken(broken)) => walked.broken = Some((search.way, broken)),
            Err(Stop::Enough) => {}
        }
        // The first is the whole; of the others, none is complete after one that is not.
        if complete == (length == depth) {
            break;
        }
    }
    walked
}

impl<S: Subject, O: Observer, K: Fn(&Watched<S>) -> u128> Search<'_, S, O, K> {
    /// All sequences of `left` more steps; answers how many there are. What it leaves of the state is of
    /// no use.
    fn from(&mut self, watched: &mut Watched<S>, left: u32) -> Result<u64, Stop> {
        let key = ((self.key)(watched), left);
        if let Some(known) = self.seen.get(&key) {
            return Ok(*known);
        }
        if self.seen.len() as u64 >= self.most || self.observer.stop() {
            return Err(Stop::Enough);
        }
        let sequences = if left == 0 || watched.lives.is_empty() {
            self.end(watched).map_err(Stop::Broken)?;
            1
        } else {
            self.on(watched, left)?
        };
        self.seen.insert(key, sequences);
        self.observer.visited();
        Ok(sequences)
    }

    /// Each step in turn.
    fn on(&mut self, watched: &Watched<S>, left: u32) -> Result<u64, Stop> {
        let mut sequences: u64 = 0;
        for step in self.steps {
            let Some(happens) = step.meaning(watched) else { continue };
            self.way.push(*step);
            let mut next = match self.spare.pop() {
                Some(mut spare) => {
                    spare.clone_from(watched);
                    spare
                }
                None => watched.clone(),
            };
            happens.to(&mut next).map_err(Stop::Broken)?;
            sequences = sequences.saturating_add(self.from(&mut next, left - 1)?);
            self.spare.push(next);
            self.way.pop();
        }
        Ok(sequences)
    }

    /// What is open ends by itself, and is silent from then on.
    fn end(&self, watched: &mut Watched<S>) -> Result<(), Broken> {
        watched.drain()?;
        self.requests.iter().try_for_each(|request| watched.silent(*request))
    }
}

#[cfg(test)]
#[path = "search/tests.rs"]
mod tests;
