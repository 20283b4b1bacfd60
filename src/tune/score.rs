//! Policies held against a goal, on the worlds they have met.

use super::Gain;
use super::goal::Goal;
use crate::measures::{Catalogue, Measure, Runs};
use crate::record::RunTotals;
use crate::stats::{GateResult, Hits, Jackknife, Note, Outcome, Race, Relation, Sample, jackknife};
use crate::sweep::{self, Aggregate};

/// The totals of one policy: by scenario, then by world.
pub(super) type Totals = Vec<Vec<RunTotals>>;

/// Reads what a goal needs from totals.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) goal: &'a Goal,
    /// By scenario.
    pub(super) catalogues: &'a [Catalogue],
}

/// What a goal needs of one policy.
pub(super) struct Samples {
    /// By scenario.
    objective: Vec<Sample<'static>>,
    /// By condition, then scenario.
    constraints: Vec<Vec<Sample<'static>>>,
    /// The values of what is weighed against the objective: the worst scenario's.
    weighed: Vec<Option<f64>>,
    /// The same without each world in turn; `None` where one cannot be left out.
    weighed_over: Vec<Option<Jackknife>>,
}

/// One policy held against the goal.
#[derive(Clone, Debug)]
pub struct Score {
    /// Worlds it rests on.
    pub worlds: usize,
    /// The objective as a loss, of which less is better: over scenarios their mean, or the worst.
    /// `None` where a scenario has no value.
    pub(super) loss: Option<Jackknife>,
    /// Every condition in every scenario: condition by condition.
    pub checks: Vec<Check>,
    /// What is weighed against the objective, in the order of [`Weighed`].
    pub weighed: Vec<Option<f64>>,
    /// The same without each world in turn; `None` where one cannot be left out.
    pub(super) weighed_over: Vec<Option<Jackknife>>,
}

/// One condition in one scenario.
#[derive(Clone, Debug)]
pub struct Check {
    /// Position of the condition in the goal.
    pub constraint: usize,
    /// Position of the scenario.
    pub scenario: usize,
    /// Whether it is met at 95 %.
    pub result: GateResult,
    /// By how much it is missed; `None` where that cannot be said.
    pub(super) shortfall: Option<Jackknife>,
}

/// A measure that is weighed against the objective in a Pareto front.
#[derive(Clone, PartialEq, Debug)]
pub struct Weighed {
    /// Its name.
    pub measure: String,
    /// True where more is better.
    pub more_is_better: bool,
}

impl Goal {
    /// What is weighed against the objective: what conditions name, or else success, or else cost.
    pub fn weighed(&self) -> Vec<Weighed> {
        let mut weighed: Vec<Weighed> = Vec::new();
        for gate in &self.constraints {
            if gate.measure != self.measure && weighed.iter().all(|w| w.measure != gate.measure) {
                let more_is_better = gate.relation == Relation::AtLeast;
                weighed.push(Weighed { measure: gate.measure.clone(), more_is_better });
            }
        }
        if weighed.is_empty() {
            let (measure, more_is_better) = match self.measure.as_str() {
                "success" => ("cost_per_1k", false),
                _ => ("success", true),
            };
            weighed.push(Weighed { measure: measure.into(), more_is_better });
        }
        weighed
    }
}

impl Reader<'_> {
    /// What the goal needs of the first `worlds` worlds.
    pub(super) fn samples(&self, totals: &Totals, worlds: usize) -> Samples {
        let runs: Vec<Runs<'_>> =
            totals.iter().map(|runs| Runs::overall(&runs[..worlds], None)).collect();
        let of = |scenario: usize, measure: &Measure| {
            let sample = measure.read(&runs[scenario]).sample;
            sample.unwrap_or_else(|| Sample::proportion(vec![Hits { hits: 0, of: 0 }; worlds]))
        };
        let everywhere = |find: &dyn Fn(usize) -> Sample<'static>| {
            (0..self.catalogues.len()).map(find).collect::<Vec<_>>()
        };
        let constraints =
            self.goal.constraints.iter().map(|gate| {
                everywhere(&|s| of(s, self.goal.constrained(gate, &self.catalogues[s])))
            });
        let scenarios = 0..self.catalogues.len();
        let weighed = self.goal.weighed().into_iter().map(|weighed| {
            let measured = |s: usize| self.catalogues[s].find(&weighed.measure).map(|m| of(s, m));
            let samples: Option<Vec<Sample<'_>>> = scenarios.clone().map(measured).collect();
            samples.map_or((None, None), |samples| worst(&samples, weighed.more_is_better))
        });
        let (weighed, weighed_over) = weighed.unzip();
        Samples {
            objective: everywhere(&|s| of(s, self.goal.objective(&self.catalogues[s]))),
            constraints: constraints.collect(),
            weighed,
            weighed_over,
        }
    }

    pub(super) fn score(&self, policy: &Samples, base: &Samples) -> Score {
        let sign = self.goal.direction.sign();
        let loss = |sample: &Sample<'_>| {
            let value = over_worlds(sample)?;
            Some(value.combine(&value, |value, _| sign * value))
        };
        let losses: Option<Vec<Jackknife>> = policy.objective.iter().map(loss).collect();
        let mut checks = Vec::new();
        for (constraint, gate) in self.goal.constraints.iter().enumerate() {
            let pairs = policy.constraints[constraint].iter().zip(&base.constraints[constraint]);
            checks.extend(pairs.enumerate().map(|(scenario, (policy, base))| Check {
                constraint,
                scenario,
                result: gate.evaluate(policy, base),
                shortfall: gate.shortfall(policy, base),
            }));
        }
        Score {
            worlds: policy.objective[0].worlds(),
            loss: losses.map(|losses| over_scenarios(&losses, self.goal.aggregate)),
            checks,
            weighed: policy.weighed.clone(),
            weighed_over: policy.weighed_over.clone(),
        }
    }
}

impl Samples {
    /// Why the objective or a condition has no value in some scenario: its position, and which.
    pub(super) fn missing(&self) -> Option<(Option<usize>, usize, Note)> {
        let find = |samples: &[Sample<'_>]| {
            samples.iter().enumerate().find_map(|(s, sample)| Some((s, sample.value().err()?)))
        };
        let constraints = self.constraints.iter().enumerate();
        let mut constraints = constraints
            .filter_map(|(c, samples)| find(samples).map(|(s, note)| (Some(c), s, note)));
        find(&self.objective).map(|(s, note)| (None, s, note)).or_else(|| constraints.next())
    }
}

/// A value over all worlds and without each; `None` where it has none.
fn over_worlds(sample: &Sample<'_>) -> Option<Jackknife> {
    sample.value().ok()?;
    jackknife(sample.worlds(), |world| sample.pooled(world)).ok()
}

/// The worst of a measure's values in several scenarios, and the same without each world.
fn worst(samples: &[Sample<'_>], more_is_better: bool) -> (Option<f64>, Option<Jackknife>) {
    let worse = if more_is_better { f64::min } else { f64::max };
    let values: Option<Vec<f64>> = samples.iter().map(|sample| sample.value().ok()).collect();
    let over: Option<Vec<Jackknife>> = samples.iter().map(over_worlds).collect();
    let over = over.and_then(|all| all.into_iter().reduce(|one, other| one.combine(&other, worse)));
    (values.and_then(|values| values.into_iter().reduce(worse)), over)
}

/// The loss over several scenarios, with the same aggregate for every world left out.
///
/// # Panics
/// Without scenarios, or where the numbers of worlds differ.
pub fn over_scenarios(losses: &[Jackknife], aggregate: Aggregate) -> Jackknife {
    let first = losses.first().expect("a search has a scenario");
    let alike = |loss: &Jackknife| loss.replicates.len() == first.replicates.len();
    assert!(losses.iter().all(alike), "the same number of worlds in each");
    let of = |value: &dyn Fn(&Jackknife) -> f64| {
        let values: Vec<(Option<f64>, f64)> =
            losses.iter().map(|loss| (Some(value(loss)), 1.0)).collect();
        aggregate.of(&values, sweep::Goal::Least).expect("each has a value")
    };
    let replicates = 0..first.replicates.len();
    Jackknife {
        value: of(&|loss| loss.value),
        replicates: replicates.map(|world| of(&|loss| loss.replicates[world])).collect(),
    }
}

impl Score {
    /// The objective as a loss, of which less is better, with its 95 % interval.
    pub fn loss_with_interval(&self) -> Option<Gain> {
        self.loss.as_ref().map(Gain::of)
    }

    /// Every condition is met, as far as its value says.
    pub(super) fn is_feasible(&self) -> bool {
        self.checks.iter().all(Check::is_met)
    }

    /// Every condition is met at 95 %.
    pub fn holds(&self) -> bool {
        self.checks.iter().all(|check| check.result.outcome == Outcome::Passed)
    }

    /// A condition is missed at 95 %.
    pub fn fails(&self) -> bool {
        self.checks.iter().any(|check| check.result.outcome == Outcome::Failed)
    }

    /// Every condition is met beyond what a race takes for chance.
    pub(super) fn surely_holds(&self, race: &Race) -> bool {
        let kept = |check: &Check| check.shortfall.as_ref().is_none_or(|s| race.surely_keeps(s));
        self.holds() && self.checks.iter().all(kept)
    }

    /// A condition is missed beyond that.
    pub(super) fn surely_fails(&self, race: &Race) -> bool {
        let missed =
            |check: &Check| check.shortfall.as_ref().is_some_and(|s| race.leaves_behind(s));
        self.checks.iter().any(missed)
    }

    /// By how much this is better than another policy in the same worlds: positive where it is.
    pub(super) fn gain_over(&self, other: &Score) -> Option<Jackknife> {
        Some(other.loss.as_ref()?.combine(self.loss.as_ref()?, |other, this| other - this))
    }

    /// The same figures, world by world.
    pub(super) fn is_alike(&self, other: &Score) -> bool {
        let shortfalls = |score: &Score| -> Vec<Option<Jackknife>> {
            score.checks.iter().map(|check| check.shortfall.clone()).collect()
        };
        self.loss == other.loss
            && self.weighed == other.weighed
            && shortfalls(self) == shortfalls(other)
    }

    /// How it ranks: those that meet all conditions by their loss, then the others by how far off
    /// the worst condition is. Less is better.
    pub(super) fn rank(&self) -> (bool, f64) {
        if self.is_feasible() {
            return (false, self.loss.as_ref().map_or(f64::INFINITY, |loss| loss.value));
        }
        (true, self.checks.iter().map(Check::miss).fold(f64::NEG_INFINITY, f64::max))
    }
}

impl Check {
    fn is_met(&self) -> bool {
        match &self.shortfall {
            Some(shortfall) => shortfall.value <= 0.0,
            None => self.result.outcome == Outcome::Passed,
        }
    }

    /// By how much it is missed, as a share of the limit.
    fn miss(&self) -> f64 {
        match (&self.shortfall, self.result.limit) {
            // Unanswered: missed by more than any figure.
            _ if self.result.measured.is_none() => f64::INFINITY,
            (Some(shortfall), Some(limit)) if limit != 0.0 => shortfall.value / limit.abs(),
            (Some(shortfall), _) => shortfall.value,
            (None, _) => f64::INFINITY,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses() -> [Jackknife; 2] {
        [
            Jackknife { value: 2.0, replicates: vec![1.0, 3.0, 2.0] },
            Jackknife { value: 4.0, replicates: vec![6.0, 2.0, 4.0] },
        ]
    }

    #[test]
    fn scenarios_count_by_their_mean_or_by_the_worst() {
        let mean = over_scenarios(&losses(), Aggregate::Mean);
        assert_eq!((mean.value, mean.replicates), (3.0, vec![3.5, 2.5, 3.0]));
        let worst = over_scenarios(&losses(), Aggregate::Worst);
        assert_eq!((worst.value, worst.replicates), (4.0, vec![6.0, 3.0, 4.0]));
        assert_eq!(over_scenarios(&losses()[..1], Aggregate::Worst), losses()[0]);
    }

    #[test]
    fn those_that_meet_the_conditions_go_first() {
        let score = |loss: f64, shortfall: f64| Score {
            worlds: 3,
            loss: Some(Jackknife { value: loss, replicates: vec![loss; 3] }),
            checks: vec![Check {
                constraint: 0,
                scenario: 0,
                result: GateResult {
                    outcome: Outcome::Passed,
                    measured: Some(0.9),
                    limit: Some(0.5),
                    margin: None,
                    half_width: None,
                },
                shortfall: Some(Jackknife { value: shortfall, replicates: vec![shortfall; 3] }),
            }],
            weighed: Vec::new(),
            weighed_over: Vec::new(),
        };
        assert_eq!(score(7.0, -0.1).rank(), (false, 7.0));
        assert_eq!(score(1.0, 0.1).rank(), (true, 0.2));
        let gain = score(1.0, 0.0).gain_over(&score(3.0, 0.0)).unwrap();
        assert_eq!(gain.value, 2.0);
    }
}
