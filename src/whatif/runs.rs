//! All that is run for one question.

use std::sync::Mutex;

use super::Question;
use super::figures::{Measure, Unit};
use super::requests::{Moved, Outcomes, Watch, moved};
use super::sensitivity::{self, Variant};
use super::steps::Steps;
use super::unseen::as_logged;
use super::value::Missing;
use crate::experiment::{
    Experiment, ExperimentError, Extremes, NoRecorder, Observer, Options, Recorder, RunId,
    run_first_within,
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
    /// What changes from the first policy to each, request by request, as fitted: by policy, then world.
    pub(super) moved: Vec<Vec<Moved>>,
    /// The same of each refit.
    pub(super) moved_in_refits: Vec<Vec<Vec<Moved>>>,
    /// How each request ended in the first world, by policy.
    pub(super) first_world: Vec<Outcomes>,
    /// By target: it answers, the log does not tell what it charges, and nobody wrote it into its card.
    pub(super) unpriced: Vec<bool>,
}

/// Worlds that each refit is run in: the same ones, so that luck cancels between refits.
const REFIT_WORLDS: u32 = 2;
/// Worlds for what the log cannot tell.
const VARIANT_WORLDS: u32 = 4;

impl Runs {
    pub(super) fn of(
        question: &Question<'_>,
        observer: &dyn Observer,
    ) -> Result<Runs, ExperimentError> {
        let policies = question.policies.len();
        let watched = Watched::new(true);
        let options = |worlds: u32, extremes: Extremes| Options {
            seed: question.options.seed,
            worlds,
            resample: false,
            extremes,
            threads: question.options.threads,
        };
        let options_of = |worlds: u32| options(worlds, Extremes::Off);
        let scenario = question.scenario;
        let worlds = question.options.worlds;
        let extremes = match question.options.sensitivity {
            true => Extremes::Counts,
            false => Extremes::Off,
        };
        let others: Vec<(Variant, Scenario)> = match question.options.sensitivity {
            true => sensitivity::worlds(question),
            false => Vec::new(),
        };
        let refits = question.log.map_or(0, |_| question.options.refits);
        let in_refit = policies * REFIT_WORLDS.min(worlds) as usize;
        let in_variant = policies * VARIANT_WORLDS.min(worlds) as usize;
        let behind = refits as usize * in_refit + others.len() * in_variant;
        let steps = Steps::new(observer, behind);
        let within = as_logged(question);
        let within = within.as_ref();
        let main = run_first_within(
            scenario,
            question.policies,
            within,
            &options(worlds, extremes),
            &watched,
            &steps,
        )?;
        let (first_world, moved) = watched.by_policy(policies);
        let (mut by_refit, mut moved_in_refits) = (Vec::new(), Vec::new());
        if let Some((fit, evidence)) = question.log {
            for number in 0..refits {
                if observer.stop() {
                    return Err(ExperimentError::Interrupted);
                }
                let refit = fit.refit(evidence, question.options.seed, u64::from(number));
                let (scenario, watched) = (refit.applied(scenario), Watched::new(false));
                let options = options_of(REFIT_WORLDS.min(worlds));
                steps.next(in_refit);
                let again = run_first_within(
                    &scenario,
                    question.policies,
                    within,
                    &options,
                    &watched,
                    &steps,
                )?;
                by_refit.push(by_policy(again));
                moved_in_refits.push(watched.by_policy(policies).1);
            }
        }
        let mut variants = Vec::new();
        if let Some([independent, stuck]) = main.extremes.clone() {
            for (variant, runs) in [(Variant::Independent, independent), (Variant::Stuck, stuck)] {
                variants.push((variant, runs.into_iter().map(|policy| policy.worlds).collect()));
            }
        }
        for (variant, scenario) in others {
            let options = options_of(VARIANT_WORLDS.min(worlds));
            steps.next(in_variant);
            let runs = run_first_within(
                &scenario,
                question.policies,
                within,
                &options,
                &NoRecorder,
                &steps,
            )?;
            variants.push((variant, by_policy(runs)));
        }
        let declared = by_policy(main);
        let unpriced = unpriced(question, &declared);
        let refits = by_refit;
        Ok(Runs { declared, refits, variants, moved, moved_in_refits, first_world, unpriced })
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

/// Follows the requests of every world.
struct Watched {
    /// Also how long they took, in the first world.
    times: bool,
    outcomes: Mutex<Vec<(RunId, Outcomes)>>,
}

impl Recorder for Watched {
    type Sink = Watch;

    fn start(&self, run: RunId) -> Watch {
        Watch::new(self.times && run.world == 0)
    }

    fn finish(&self, run: RunId, sink: Watch) {
        let mut outcomes = self.outcomes.lock().expect("nobody panics while holding it");
        outcomes.push((run, sink.outcomes()));
    }
}

impl Watched {
    fn new(times: bool) -> Watched {
        Watched { times, outcomes: Mutex::new(Vec::new()) }
    }

    /// The outcomes in the first world, and what changes from the first policy to each: by policy, then world.
    fn by_policy(self, policies: usize) -> (Vec<Outcomes>, Vec<Vec<Moved>>) {
        let mut all = self.outcomes.into_inner().expect("nobody panics while holding it");
        all.sort_by_key(|(run, _)| (run.policy, run.world));
        let mut by_policy = vec![Vec::new(); policies];
        for (run, outcomes) in all {
            by_policy[run.policy].push(outcomes);
        }
        let against_first = |worlds: &Vec<Outcomes>| {
            by_policy[0].iter().zip(worlds).map(|(first, other)| moved(first, other)).collect()
        };
        let moved = by_policy.iter().map(against_first).collect();
        let first = |worlds: Vec<Outcomes>| worlds.into_iter().next().unwrap_or_default();
        (by_policy.into_iter().map(first).collect(), moved)
    }
}
