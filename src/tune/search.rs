//! The course of a search, from the base to the evidence.

use windtunnel_policy::config::Policy;

use super::near::Seen;
use super::runner::{Halt, Runner, Spent, Stream};
use super::score::{Reader, Score};
use super::{
    ALPHA, Answer, Entrant, FINALISTS, Fate, LOOKS, Options, Reason, Round, Stage, Task, TuneError,
    Tuning,
};
use crate::draw::{Key, NameHash, Purpose};
use crate::experiment::{ExperimentError, Observer};
use crate::input::InputError;
use crate::measures::Catalogue;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::space::{Method, Plan, Sampling, Tally};
use crate::stats::{MIN_EXCEEDANCES, Note};
use crate::world::Stickiness;

/// Races near the best: how far from them, in coordinates from 0 to 1.
const RADII: [(&str, f64); 2] = [("near the best", 0.2), ("nearer", 0.07)];
/// Of the budget and of the error, the first race has a half, and each later one a quarter.
const SHARES: [u64; 3] = [2, 4, 4];
/// Of a race's budget, what goes into its first look: three fifths. The rest carries those that are
/// left to the later looks, which cost three times as much for each.
const FIRST_LOOK: (u64, u64) = (3, 5);
/// Fewer variants are no search.
const FEWEST: u64 = 8;
/// More are not drawn unless they are asked for.
const MOST: u64 = 2_000;

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
    drawn: Tally,
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

    /// The base in the worlds of the first look: what requests cost, and whether the goal can be
    /// measured at all.
    fn measure_base(&mut self) -> Result<(), Halt> {
        let spent = self.bring_to(LOOKS[0])?;
        self.stage("the base", 1, spent);
        self.requests_per_world = (spent.requests / u64::from(LOOKS[0])).max(1);
        let samples = self.reader().samples(&self.entrants[0].totals, LOOKS[0] as usize);
        if let Some((constraint, scenario, note)) = samples.missing() {
            self.is_measurable(constraint, scenario, note).map_err(Halt::Input)?;
        }
        self.read(&[0], LOOKS[0]);
        Ok(())
    }

    fn is_measurable(
        &self,
        constraint: Option<usize>,
        scenario: usize,
        note: Note,
    ) -> Result<(), InputError> {
        let goal = self.task.goal;
        let (option, measure) = match constraint {
            None => (goal.direction.option(), &goal.measure),
            Some(constraint) => ("--subject-to", &goal.constraints[constraint].measure),
        };
        let scenario = &self.task.scenarios[scenario].file.name;
        let refuse = |message: String, fix: &str| Err(InputError::new(option, message).fix(fix));
        let most = LOOKS[LOOKS.len() - 1];
        match note {
            Note::FewExceedances { found }
                if found * u64::from(most / LOOKS[0]) < MIN_EXCEEDANCES =>
            {
                refuse(
                    format!(
                        "`{measure}`: {found} requests of `{scenario}` lie beyond it in {} worlds, \
                         and {MIN_EXCEEDANCES} are needed in {most}",
                        LOOKS[0]
                    ),
                    "take a lower quantile or a mean, or a longer scenario",
                )
            }
            Note::NotModelled | Note::NothingMeasured => refuse(
                format!("`{measure}` has no value in `{scenario}`: nothing there makes it happen"),
                "take another measure; `windtunnel run` shows which have values",
            ),
            _ => Ok(()),
        }
    }

    /// The variants of the first race, each checked against every scenario.
    fn draw(&mut self) -> Result<Vec<Entrant>, InputError> {
        let space = self.task.space;
        let count = self.wanted(0)?;
        let sizes: Option<Vec<u64>> = space.dimensions.iter().map(|d| d.size()).collect();
        let size = sizes.map(|sizes| sizes.into_iter().fold(1_u64, u64::saturating_mul));
        // A space that is small enough is searched whole.
        let method = match size {
            Some(size) if size <= count => Method::Grid,
            _ => Method::Sobol,
        };
        let sampling = Sampling { method, count, seed: self.task.options.seed };
        let plan = Plan::new(space, &sampling)?;
        self.drawn = plan.tally;
        let mut entrants = Vec::new();
        for levels in &plan.variants {
            let variant = space.variant(levels);
            if !self.is_new(&variant) {
                continue;
            }
            self.fits(&variant.policy).map_err(|error| {
                let with = space.describe(levels);
                InputError::new("--space", format!("a variant ({with}): {}", error.message()))
                    .fix(error.remedy())
            })?;
            self.seen.insert(levels.clone());
            entrants.push(Entrant::new(variant, 0));
        }
        if entrants.is_empty() {
            return Err(InputError::new("--space", "it holds no policy but the base")
                .fix("widen a range, or vary another field"));
        }
        if plan.variants.len() == 1 {
            return Err(InputError::new(
                "--space",
                "it holds one variant: there is nothing to search",
            )
            .fix("hold the two against each other with `windtunnel compare`"));
        }
        Ok(entrants)
    }

    /// How many new variants the race of this round has.
    fn wanted(&self, round: usize) -> Result<u64, InputError> {
        let Options { variants, budget, .. } = self.task.options;
        if let Some(variants) = variants {
            return Ok((variants * 2 / SHARES[round]).max(1));
        }
        let Some(budget) = budget else { return Ok(MOST * 2 / SHARES[round]) };
        let (of, all) = FIRST_LOOK;
        let first_look = self.requests_per_world * u64::from(LOOKS[0]);
        let carried = budget / SHARES[round] * of / all / first_look;
        if round == 0 && carried < FEWEST {
            let least = first_look * FEWEST * SHARES[0] * all / of;
            let message = format!(
                "{budget} requests carry {carried} variants: one in {} worlds takes {first_look}",
                LOOKS[0]
            );
            return Err(InputError::new("--budget", message)
                .fix(format!("give at least {least}, or shorten the scenario")));
        }
        Ok(carried.min(MOST * 2 / SHARES[round]))
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
