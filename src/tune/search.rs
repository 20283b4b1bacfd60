//! The course of a search, from the base to the evidence.

use windtunnel_policy::config::Policy;

use super::begin::SHARES;
use super::near::Seen;
use super::runner::{Halt, Runner, Spent, Stream};
use super::score::{Reader, Score};
use super::{
    ALPHA, Answer, Entrant, FINALISTS, Fate, Reason, Round, Stage, Task, TuneError, Tuning,
};
use crate::draw::{Key, NameHash, Purpose};
use crate::experiment::{ExperimentError, Observer};
use crate::input::InputError;
use crate::measures::Catalogue;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::space::Tally;
use crate::world::Stickiness;

/// Races near the best: how far from them, in coordinates from 0 to 1.
const RADII: [(&str, f64); 2] = [("near the best", 0.2), ("nearer", 0.07)];
pub(super) struct Search<'a> {
    pub(super) task: &'a Task<'a>,
    /// By scenario tuned on.
    catalogues: &'a [Catalogue],
    pub(super) runner: Runner<'a>,
    pub(super) entrants: Vec<Entrant>,
    pub(super) rounds: Vec<Round>,
    pub(super) seen: Seen,
    /// Of all scenarios together.
    pub(super) requests_per_world: u64,
    pub(super) drawn: Tally,
    stages: Vec<Stage>,
}

pub(super) fn run(task: &Task<'_>, observer: &dyn Observer) -> Result<Tuning, TuneError> {
    let catalogues: Vec<Catalogue> = task.scenarios.iter().map(Catalogue::of).collect();
    let mut search = Search {
        task,
        catalogues: &catalogues,
        runner: Runner::new(task.options.threads, observer)?,
        entrants: vec![Entrant::new(task.space.base_variant(), 0)],
        rounds: Vec::new(),
        seen: Seen::new(),
        requests_per_world: 0,
        drawn: Tally::default(),
        stages: Vec::new(),
    };
    search.fits(&task.space.base)?;
    match search.measure_base() {
        Err(Halt::Interrupted) => return Err(TuneError::Interrupted),
        Err(Halt::Input(error)) => return Err(error.into()),
        Ok(()) => {}
    }
    let first = search.draw()?;
    search.course(first)
}

impl<'a> Search<'a> {
    fn course(mut self, first: Vec<Entrant>) -> Result<Tuning, TuneError> {
        match self.races(first) {
            Ok(()) => {}
            Err(Halt::Input(error)) => return Err(error.into()),
            Err(Halt::Interrupted) => {
                let best = self.best_so_far();
                return Ok(self.tuning(Answer::None(Reason::Interrupted(best))));
            }
        }
        let mut frozen = self.freeze();
        if frozen.is_empty() {
            let base_fails = self.entrants[0].last.as_ref().is_some_and(Score::fails);
            let reason = match base_fails {
                true => Reason::NothingFeasible(self.by_rank()[0]),
                false => Reason::BaseIsBest,
            };
            return Ok(self.tuning(Answer::None(reason)));
        }
        let best = frozen[0];
        match self.plainer(best) {
            Ok(plain) => frozen[0] = plain.unwrap_or(best),
            Err(Halt::Input(error)) => return Err(error.into()),
            Err(Halt::Interrupted) => {
                return Ok(self.tuning(Answer::None(Reason::Interrupted(best))));
            }
        }
        let mut confirmed = match self.confirm(&frozen) {
            Ok(confirmed) => confirmed,
            Err(Halt::Input(error)) => return Err(error.into()),
            Err(Halt::Interrupted) => {
                return Ok(self.tuning(Answer::None(Reason::Interrupted(best))));
            }
        };
        let explained = self.at_extremes(&mut confirmed).and_then(|()| self.explain(&confirmed));
        let mut tuning = self.tuning(confirmed.answer());
        tuning.base_held_out = Some(confirmed.base);
        tuning.finalists = confirmed.finalists;
        match explained {
            Ok((evidence, front)) => (tuning.evidence, tuning.front) = (evidence, front),
            Err(Halt::Interrupted) => tuning.interrupted = true,
            Err(Halt::Input(error)) => return Err(error.into()),
        }
        Ok(tuning)
    }

    fn races(&mut self, first: Vec<Entrant>) -> Result<(), Halt> {
        let alpha = |round: usize| ALPHA / SHARES[round] as f64;
        let budget = |round: usize| {
            self.task.options.budget.map_or(u64::MAX, |budget| budget / SHARES[round])
        };
        let budgets = [budget(0), budget(1), budget(2)];
        self.race("the whole space", None, first, alpha(0), budgets[0])?;
        for (number, (name, radius)) in RADII.into_iter().enumerate() {
            let round = number + 1;
            let wanted = self.wanted(round).map_err(Halt::Input)?;
            let near = self.near(wanted as usize, radius, round);
            if near.is_empty() {
                // Nothing lies between those that were tried.
                continue;
            }
            self.race(name, Some(radius), near, alpha(round), budgets[round])?;
        }
        Ok(())
    }

    /// The best that came through and may meet the conditions; those that meet them at 95 % first.
    fn freeze(&self) -> Vec<usize> {
        let mut through = self.racing();
        through.retain(|&at| at != 0);
        self.sort_by_rank(&mut through);
        let last = |at: &usize| self.entrants[*at].last.as_ref();
        through.retain(|at| last(at).is_some_and(|score| score.is_feasible() && !score.fails()));
        let (surely, perhaps): (Vec<usize>, Vec<usize>) =
            through.into_iter().partition(|at| last(at).is_some_and(|score| score.holds()));
        let mut frozen: Vec<usize> = Vec::new();
        for at in surely.into_iter().chain(perhaps) {
            // Whoever does the same in every world would be measured once more, and correct the
            // others' errors for nothing.
            let alike =
                |&other: &usize| last(&other).zip(last(&at)).is_some_and(|(a, b)| a.is_alike(b));
            if frozen.len() < FINALISTS && !frozen.iter().any(alike) {
                frozen.push(at);
            }
        }
        frozen
    }

    /// The best by its last look of those that came through so far.
    fn best_so_far(&self) -> usize {
        let through = |at: &usize| self.entrants[*at].fate == Fate::Through;
        self.by_rank().into_iter().find(through).unwrap_or(0)
    }

    /// Everyone who was measured, the best by its last look first, whatever became of it.
    fn by_rank(&self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.entrants.len()).collect();
        all.retain(|&at| self.entrants[at].last.is_some());
        self.sort_by_rank(&mut all);
        all
    }

    fn tuning(self, answer: Answer) -> Tuning {
        Tuning {
            entrants: self.entrants,
            drawn: self.drawn,
            rounds: self.rounds,
            finalists: Vec::new(),
            base_held_out: None,
            interrupted: matches!(answer, Answer::None(Reason::Interrupted(_))),
            answer,
            evidence: None,
            front: Vec::new(),
            stages: self.stages,
        }
    }

    /// Whether a policy can be run in every scenario.
    pub(super) fn fits(&self, policy: &Policy) -> Result<(), InputError> {
        for scenario in self.task.scenarios.iter().chain(self.task.hold_out) {
            Simulation::new(scenario, policy).map_err(|problems| {
                let name = policy.name.clone();
                let error = ExperimentError::Policy { name, problems };
                InputError::new(&scenario.source.name, error.to_string())
            })?;
        }
        Ok(())
    }

    pub(super) fn stage(&mut self, name: &'static str, policies: usize, spent: Spent) {
        match self.stages.last_mut() {
            Some(stage) if stage.name == name => {
                stage.spent.runs += spent.runs;
                stage.spent.requests += spent.requests;
            }
            _ => self.stages.push(Stage { name, policies, spent }),
        }
    }

    pub(super) fn reader(&self) -> Reader<'a> {
        Reader { goal: self.task.goal, catalogues: self.catalogues }
    }

    /// The worlds that variants are chosen by.
    pub(super) fn tuning_worlds(&self) -> Stream<'a> {
        let options = self.task.options;
        let resample = !options.as_published;
        let stickiness = Stickiness::Declared;
        Stream { scenarios: self.task.scenarios, seed: options.seed, resample, stickiness }
    }

    /// Worlds that nothing is chosen by, of these scenarios.
    pub(super) fn held_out_worlds(&self, scenarios: &'a [Scenario]) -> Stream<'a> {
        let seed = held_out_seed(self.task.options.seed);
        Stream { scenarios, seed, resample: true, stickiness: Stickiness::Declared }
    }
}

/// The seed of held-out worlds: another stream than that of the worlds searched in.
pub(super) fn held_out_seed(seed: u64) -> u64 {
    Key::of_world(seed).draw(Purpose::Variant, NameHash::of("held out"), 0)
}
