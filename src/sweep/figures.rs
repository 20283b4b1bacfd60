//! The figures of a row, from the totals of a variant's runs.

use super::arena::{Stage, Weighted};
use super::header::FigureColumn;
use super::objective::{Goal, Objective};
use super::row::Figure;
use super::score::Aggregate;
use crate::measures::{Better, Catalogue, Measure, Reading, Runs};
use crate::record::RunTotals;
use crate::report::rounded;
use crate::stats::{Dimension, Jackknife, Sample};

/// Which figures a row has: every measure in every scenario, what several scenarios have in common
/// by weight, and each objective with its difference to the base.
pub(super) struct Figures {
    catalogues: Vec<(String, Catalogue)>,
    weights: Vec<f64>,
    /// By measure that every one of several scenarios has, its position in each catalogue.
    common: Vec<Vec<usize>>,
    /// By objective, its measure's position in each catalogue.
    wanted: Vec<(Objective, Vec<usize>)>,
    score: Aggregate,
}

/// An objective of one policy over all worlds, and without each where there are several; `None`
/// where it has no value.
pub(super) type Score = Option<Jackknife>;

impl Figures {
    pub(super) fn new(
        scenarios: &[Weighted<'_>],
        objectives: &[Objective],
        score: Aggregate,
    ) -> Figures {
        let catalogues: Vec<(String, Catalogue)> = scenarios
            .iter()
            .map(|w| (w.scenario.file.name.clone(), Catalogue::of(w.scenario)))
            .collect();
        let everywhere = |name: &str| -> Option<Vec<usize>> {
            let at = |(_, catalogue): &(String, Catalogue)| {
                catalogue.measures().iter().position(|measure| measure.name == name)
            };
            catalogues.iter().map(at).collect()
        };
        let common = match catalogues.as_slice() {
            [_] => Vec::new(),
            [(_, first), ..] => {
                first.measures().iter().filter_map(|measure| everywhere(&measure.name)).collect()
            }
            [] => Vec::new(),
        };
        let wanted = objectives.iter().map(|objective| {
            let positions = everywhere(&objective.measure);
            (objective.clone(), positions.expect("objectives were found in every catalogue"))
        });
        let wanted = wanted.collect();
        let weights = scenarios.iter().map(|weighted| weighted.weight).collect();
        Figures { catalogues, weights, common, wanted, score }
    }

    /// The columns. The last ones are the objectives, each before its difference to the base.
    pub(super) fn columns(&self) -> Vec<FigureColumn> {
        let mut columns = Vec::new();
        let several = self.catalogues.len() > 1;
        for (scenario, catalogue) in &self.catalogues {
            let prefix = if several { format!("{scenario}/") } else { String::new() };
            columns.extend(catalogue.measures().iter().map(|m| column(&prefix, m)));
        }
        let first = self.catalogues.first().map_or(&[][..], |(_, first)| first.measures());
        columns.extend(self.common.iter().map(|at| column("weighted/", &first[at[0]])));
        for (_, at) in &self.wanted {
            let measure = &first[at[0]];
            let prefix = if several { self.score.name() } else { "score".into() };
            columns.push(column(&format!("{prefix}/"), measure));
            columns.push(column("vs_base/", measure));
        }
        columns
    }

    /// The figures of a policy's runs, by scenario and world, and its objectives. Differences are to
    /// the objectives of the base.
    pub(super) fn of(
        &self,
        stages: &[Stage<'_>],
        runs: &[Vec<RunTotals>],
        base: Option<&[Score]>,
    ) -> (Vec<Figure>, Vec<Score>) {
        let readings: Vec<Vec<Reading>> = stages
            .iter()
            .zip(runs)
            .map(|(stage, runs)| {
                let runs = Runs::overall(runs, Some(&stage.single));
                stage.catalogue.measures().iter().map(|measure| measure.read(&runs)).collect()
            })
            .collect();
        let mut figures: Vec<Figure> = readings.iter().flatten().map(of_reading).collect();
        let first = self.catalogues.first().map_or(&[][..], |(_, first)| first.measures());
        for at in &self.common {
            let goal = match first[at[0]].better {
                Better::Higher => Goal::Most,
                Better::Lower | Better::Neither => Goal::Least,
            };
            let weighted = self.together(&readings, at, Aggregate::Mean, goal);
            figures.push(value(&weighted, first[at[0]].dimension));
        }
        let mut scores = Vec::new();
        for (position, (objective, at)) in self.wanted.iter().enumerate() {
            let score = self.together(&readings, at, self.score, objective.goal);
            figures.push(match readings.as_slice() {
                // The measure itself, with all its interval knows.
                [only] => of_reading(&only[at[0]]),
                _ => value(&score, first[at[0]].dimension),
            });
            let to = base.and_then(|base| base[position].as_ref());
            let difference =
                to.zip(score.as_ref()).map(|(base, score)| score.combine(base, |a, b| a - b));
            figures.push(figure(&difference, |interval| interval));
            scores.push(score);
        }
        (figures, scores)
    }

    /// One value of a measure in several scenarios, and the same without each world in turn: worlds
    /// of one number have luck in common, whatever the scenario.
    fn together(
        &self,
        readings: &[Vec<Reading>],
        at: &[usize],
        aggregate: Aggregate,
        goal: Goal,
    ) -> Score {
        let samples = readings.iter().zip(at).map(|(readings, &at)| readings[at].sample.as_ref());
        let samples: Vec<&Sample<'static>> = samples.collect::<Option<_>>()?;
        if samples.iter().any(|sample| sample.value().is_err()) {
            return None;
        }
        let without = |world: Option<usize>| {
            let values: Vec<(Option<f64>, f64)> = samples
                .iter()
                .zip(&self.weights)
                .map(|(sample, &weight)| (sample.pooled(world), weight))
                .collect();
            aggregate.of(&values, goal)
        };
        let value = without(None)?;
        let worlds = samples.first()?.worlds();
        let replicates: Option<Vec<f64>> = match worlds {
            // Nothing to leave out.
            1 => None,
            _ => (0..worlds).map(|world| without(Some(world))).collect(),
        };
        Some(Jackknife { value, replicates: replicates.unwrap_or_default() })
    }
}

fn column(prefix: &str, measure: &Measure) -> FigureColumn {
    FigureColumn {
        name: format!("{prefix}{}", measure.name),
        unit: measure.unit.into(),
        dimension: measure.dimension.into(),
    }
}

fn of_reading(reading: &Reading) -> Figure {
    Figure::new(reading.estimate.value, reading.estimate.ci95.map(rounded))
}

/// A measure's value.
fn value(score: &Score, dimension: Dimension) -> Figure {
    figure(score, |interval| dimension.within(interval))
}

fn figure(score: &Score, possible: impl Fn((f64, f64)) -> (f64, f64)) -> Figure {
    let interval =
        |score: &Jackknife| (score.replicates.len() > 1).then(|| rounded(possible(score.ci95())));
    Figure::new(score.as_ref().map(|score| score.value), score.as_ref().and_then(interval))
}
