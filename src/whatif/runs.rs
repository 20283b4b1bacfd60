//! All that is run for one question.

use std::sync::Mutex;

use super::Question;
use super::figures::{Measure, Unit};
use super::requests::{Outcomes, Watch};
use super::sensitivity::{self, Variant};
use super::value::Missing;
use crate::experiment::{
    Experiment, ExperimentError, Extremes, NoObserver, NoRecorder, Observer, Options, Recorder,
    RunId, run,
};
use crate::record::{ClassTotals, RunTotals};
use crate::scenario::{Scenario, TargetModel};

/// Totals by policy, then world.
pub(super) type ByPolicy = Vec<Vec<RunTotals>>;

/// Everything that was run.
pub(super) struct Runs {
    /// As fitted.
    pub(super) declared: ByPolicy,
    /// Refits, each in the first worlds.
    pub(super) refits: Vec<ByPolicy>,
    /// What the log cannot tell, taken otherwise.
    pub(super) variants: Vec<(Variant, ByPolicy)>,
    /// How each request ended, by policy, in the first worlds.
    pub(super) outcomes: Vec<Vec<Outcomes>>,
    /// By target: it answers, the log does not tell what it charges, and nobody wrote it into its card.
    pub(super) unpriced: Vec<bool>,
}

/// Worlds that each refit is run in: the same ones, so that luck cancels between refits.
const REFIT_WORLDS: u32 = 2;
/// Worlds for what the log cannot tell.
const VARIANT_WORLDS: u32 = 4;
/// Worlds in which each request is followed.
const FOLLOWED: u32 = 2;

impl Runs {
    pub(super) fn of(
        question: &Question<'_>,
        observer: &dyn Observer,
    ) -> Result<Runs, ExperimentError> {
        let watched =
            Watched { policies: question.policies.len(), outcomes: Mutex::new(Vec::new()) };
        let options = |worlds: u32, extremes: Extremes| Options {
            seed: question.options.seed,
            worlds,
            resample: false,
            extremes,
            threads: question.options.threads,
        };
        let bare = |scenario: &Scenario, worlds: u32| {
            run(
                scenario,
                question.policies,
                None,
                &options(worlds, Extremes::Off),
                &NoRecorder,
                &NoObserver,
            )
        };
        let scenario = question.scenario;
        let worlds = question.options.worlds;
        let extremes = match question.options.sensitivity {
            true => Extremes::Counts,
            false => Extremes::Off,
        };
        let main =
            run(scenario, question.policies, None, &options(worlds, extremes), &watched, observer)?;
        let refits = match question.log {
            None => Vec::new(),
            Some((fit, evidence)) => (0..question.options.refits)
                .map(|number| {
                    if observer.stop() {
                        return Err(ExperimentError::Interrupted);
                    }
                    let refit = fit.refit(evidence, question.options.seed, u64::from(number));
                    let again = bare(&refit.applied(scenario), REFIT_WORLDS.min(worlds))?;
                    observer.done(number as usize + 1, question.options.refits as usize);
                    Ok(by_policy(again))
                })
                .collect::<Result<_, _>>()?,
        };
        let mut variants = Vec::new();
        if let Some([independent, stuck]) = main.extremes.clone() {
            for (variant, runs) in [(Variant::Independent, independent), (Variant::Stuck, stuck)] {
                variants.push((variant, runs.into_iter().map(|policy| policy.worlds).collect()));
            }
        }
        let others = question.options.sensitivity.then(|| sensitivity::worlds(question));
        for (variant, scenario) in others.into_iter().flatten() {
            let runs = bare(&scenario, VARIANT_WORLDS.min(worlds))?;
            variants.push((variant, by_policy(runs)));
        }
        let declared = by_policy(main);
        let unpriced = unpriced(question, &declared);
        Ok(Runs { declared, refits, variants, outcomes: watched.by_policy(), unpriced })
    }
}

impl Runs {
    /// A measure of what a run counted; costs are not told where a price is missing.
    pub(super) fn read(&self, measure: Measure, of: &ClassTotals) -> Result<f64, Missing> {
        match measure.unit {
            Unit::Dollars if !self.priced() => Err(Missing::NotTold),
            _ => (measure.read)(of),
        }
    }

    /// Whether it is known what every target charges.
    pub(super) fn priced(&self) -> bool {
        !self.unpriced.contains(&true)
    }
}

/// By target, whether it answers in these runs for a price that nobody knows.
fn unpriced(question: &Question<'_>, declared: &ByPolicy) -> Vec<bool> {
    let answers = |at: usize| {
        let mut targets = declared.iter().flatten().filter_map(|run| run.targets.get(at));
        targets.any(|target| target.attempts > target.failures)
    };
    let of = |(at, target): (usize, &TargetModel)| {
        let free = target.price.bill(1_000_000, 0, 1_000_000).as_pico() == 0;
        let untold = question.log.is_some_and(|(fit, _)| fit.leaves_unpriced(&target.name));
        free && untold && answers(at)
    };
    question.scenario.targets.iter().enumerate().map(of).collect()
}

fn by_policy(experiment: Experiment) -> ByPolicy {
    experiment.policies.into_iter().map(|policy| policy.worlds).collect()
}

/// Follows the requests of the first worlds.
struct Watched {
    policies: usize,
    outcomes: Mutex<Vec<(RunId, Outcomes)>>,
}

impl Recorder for Watched {
    type Sink = Watch;

    fn start(&self, run: RunId) -> Watch {
        Watch::new(run.world < FOLLOWED)
    }

    fn finish(&self, run: RunId, sink: Watch) {
        if let Some(outcomes) = sink.outcomes() {
            self.outcomes.lock().expect("nobody panics while holding it").push((run, outcomes));
        }
    }
}

impl Watched {
    fn by_policy(self) -> Vec<Vec<Outcomes>> {
        let mut all = self.outcomes.into_inner().expect("nobody panics while holding it");
        all.sort_by_key(|(run, _)| (run.policy, run.world));
        let mut by_policy = vec![Vec::new(); self.policies];
        for (run, outcomes) in all {
            by_policy[run.policy].push(outcomes);
        }
        by_policy
    }
}
