//! Charts of a search: those of a sweep, of the policies it tried, and the answer over time.

use super::TuneReport;
use crate::experiment::{
    Experiment, ExperimentError, Extremes, Findings, NoRecorder, Observer, Options, policy_hash,
    run,
};
use crate::measures::Catalogue;
use crate::report::{PlotError, PlotFormat, Report, VERSION};
use crate::sweep::{
    Charts, Columns, Counted, Figure, FigureColumn, Goal, Header, LeftOut, Named, Objective, Point,
    Shard, Summary,
};
use crate::tune::search::held_out_seed;
use crate::tune::{Direction, Gain, LOOKS, Score};

/// Worlds of the chart over time.
const WORLDS: u32 = 10;

/// A chart's name without ending, and its bytes.
pub type ChartFile = (String, Vec<u8>);

/// The base and the recommended policy in held-out worlds.
pub struct OverTime {
    options: Options,
    experiment: Experiment,
    catalogue: Catalogue,
    findings: Findings,
}

impl<'a> TuneReport<'a> {
    /// Charts as files: name without ending, and bytes; and those there is nothing for. The front in held-out
    /// worlds; every variant after the first look; what each field does over the whole space, and a map of the
    /// two that matter most.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn charts(&self, format: PlotFormat) -> Result<(Vec<ChartFile>, Vec<LeftOut>), PlotError> {
        let tuning = self.tuning;
        let (mut charts, mut left_out) = (Vec::new(), Vec::new());
        let mut draw = |summary: &Summary, wanted: &[&str], as_name: Option<&str>| {
            let Charts { drawn, left_out: undrawn } = summary.charts();
            let is_wanted = |name: &str| wanted.iter().any(|kind| name.starts_with(kind));
            let called = |name: String| match (as_name, name.split_once('-')) {
                (Some(kind), Some((_, rest))) => format!("{kind}-{rest}"),
                _ => name,
            };
            for chart in drawn.into_iter().filter(|chart| is_wanted(&chart.name)) {
                let bytes = chart.draw(format)?;
                charts.push((called(chart.name), bytes));
            }
            let undrawn = undrawn.into_iter().filter(|chart| is_wanted(&chart.name));
            left_out.extend(undrawn.map(|c| LeftOut { name: called(c.name), why: c.why }));
            Ok(())
        };
        let held_out = tuning.front.iter().map(|point| (point.entrant, &point.score));
        if let Some(worlds) = tuning.front.first().map(|point| point.score.worlds) {
            let summary = self.summary(held_out, worlds as u32, Some("held-out worlds"));
            draw(&summary, &["front-"], None)?;
        }
        let tried = self.tried();
        draw(&self.summary(tried.clone(), LOOKS[0], None), &["front-"], Some("variants"))?;
        // Later rounds stand close to the best: what they share is no effect of a field.
        let drawn = tried.filter(|(at, _)| *at == 0 || tuning.entrants[*at].round == 0);
        draw(&self.summary(drawn, LOOKS[0], None), &["effects-", "map-"], None)?;
        Ok((charts, left_out))
    }

    /// Every variant with its score after the first look. What was found by taking changes back has none: it was
    /// measured in all worlds at once, beside which these say nothing.
    pub(super) fn tried(&self) -> impl Iterator<Item = (usize, &'a Score)> + Clone {
        let tried = self.tuning.entrants.iter().enumerate();
        tried.filter_map(|(at, entrant)| Some((at, entrant.first.as_ref()?)))
    }

    /// Runs the base and the recommended policy in held-out worlds of the first scenario; `None` without one.
    ///
    /// # Errors
    /// It was interrupted.
    pub fn over_time(&self, observer: &dyn Observer) -> Result<Option<OverTime>, ExperimentError> {
        let Some(policy) = self.tuning.policy() else { return Ok(None) };
        let scenario = &self.task.scenarios[0];
        let options = Options {
            seed: held_out_seed(self.task.options.seed),
            worlds: WORLDS,
            resample: true,
            extremes: Extremes::Off,
            threads: self.task.options.threads,
        };
        let policies = [self.tuning.base().variant.policy.clone(), policy];
        let experiment = run(scenario, &policies, None, &options, &NoRecorder, observer)?;
        if experiment.worlds.len() < WORLDS as usize {
            // A chart of fewer worlds would pass for one of all.
            return Err(ExperimentError::Interrupted);
        }
        let catalogue = Catalogue::of(scenario);
        let findings = Findings::of(&experiment, &catalogue, &[]).expect("there are no gates");
        Ok(Some(OverTime { options, experiment, catalogue, findings }))
    }

    /// These policies, each with its score, as a sweep has them; the base must be among them.
    fn summary<'s>(
        &self,
        scores: impl Iterator<Item = (usize, &'s Score)> + Clone,
        worlds: u32,
        worlds_as: Option<&str>,
    ) -> Summary {
        let space = self.task.space;
        let columns = Columns::of(space);
        let mut summary = Summary::new(self.header(&columns, scores.clone().count(), worlds));
        summary.worlds_as = worlds_as.map(str::to_owned);
        let base = scores.clone().find(|(entrant, _)| *entrant == 0).map(|(_, score)| score);
        for (entrant, score) in scores {
            let value = self.value(score);
            let interval = |(value, half): (f64, f64)| (value - half, value + half);
            let mut figures = vec![Figure::new(value.map(|v| v.0), value.map(interval))];
            figures.extend(score.weighed.iter().map(|value| Figure::new(*value, None)));
            let base = base.filter(|_| entrant > 0);
            let gain = base.and_then(|base| score.gain_over(base));
            let change = gain.map(|gain| self.change(Gain::of(&gain)));
            let mut differences = vec![Figure::default(); figures.len()];
            if let Some(change) = change {
                differences[0] = Figure::new(change.difference, change.ci95);
            }
            let pairs =
                base.into_iter().flat_map(|base| score.weighed_over.iter().zip(&base.weighed_over));
            for (difference, pair) in differences[1..].iter_mut().zip(pairs) {
                let (Some(value), Some(base)) = pair else { continue };
                let change = value.combine(base, |value, base| value - base);
                *difference = Figure::new(Some(change.value), Some(change.ci95()));
            }
            summary.points.push(Point {
                variant: entrant as u64,
                is_base_again: false,
                fields: columns.cells(space, &self.tuning.entrants[entrant].variant),
                scores: figures,
                differences,
                in_scenarios: Vec::new(),
            });
        }
        summary.points.sort_by_key(|point| point.variant);
        let recommended = self.tuning.recommended().map(|found| found.entrant as u64);
        let is_there = |number: &u64| summary.points.iter().any(|point| point.variant == *number);
        summary.recommended = recommended.filter(is_there);
        summary.recommended_as = self.tuning.policy().map(|policy| policy.name);
        summary
    }

    fn header(&self, columns: &Columns, policies: usize, worlds: u32) -> Header {
        let (task, base) = (self.task, &self.tuning.base().variant.policy);
        let objective = |measure: &str, more_is_better: bool| Objective {
            measure: measure.into(),
            goal: if more_is_better { Goal::Most } else { Goal::Least },
        };
        let first = objective(&task.goal.measure, task.goal.direction == Direction::Maximize);
        let weighed = task.goal.weighed();
        let weighed = weighed.iter().map(|w| objective(&w.measure, w.more_is_better));
        let objectives: Vec<Objective> = [first].into_iter().chain(weighed).collect();
        let figure = |objective: &Objective| {
            let measure = self.measure(&objective.measure).expect("it was measured");
            FigureColumn {
                name: measure.name,
                unit: measure.unit.into(),
                dimension: measure.dimension.into(),
            }
        };
        let scenarios = task.scenarios.iter().map(|scenario| Counted {
            name: scenario.file.name.clone(),
            hash: scenario.hash.clone(),
            weight: 1.0,
        });
        Header {
            windtunnel: VERSION.into(),
            scenarios: scenarios.collect(),
            base: Named { name: base.name.clone(), hash: policy_hash(base) },
            space: Named { name: task.space.space.name.clone(), hash: task.space.space.hash() },
            sample: String::new(),
            sample_seed: task.options.seed,
            tally: self.tuning.drawn,
            seed: task.options.seed,
            worlds,
            resample: !task.options.as_published,
            // Each has a figure, and one for its difference to the base.
            figures: objectives.iter().flat_map(|o| [figure(o), figure(o)]).collect(),
            objectives,
            score: task.goal.aggregate,
            variants: policies as u64 - 1,
            fields: columns.headers(),
            shard: Shard::WHOLE,
        }
    }
}

impl OverTime {
    /// Success, attempts, latency and cost of both over time.
    ///
    /// # Errors
    /// The drawing library refuses.
    pub fn plot(&self, report: &TuneReport<'_>, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
        let drawn = Report {
            scenario: &report.task.scenarios[0],
            options: &self.options,
            experiment: &self.experiment,
            catalogue: &self.catalogue,
            findings: &self.findings,
        };
        drawn.plot_measures(format)
    }
}
