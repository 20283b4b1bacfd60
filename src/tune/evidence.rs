//! What stands behind a recommendation, in worlds it was not chosen by: what each change buys, what
//! each field does around it, how the measures differ, and what is traded against what.

use windtunnel_policy::config::Policy;

use super::confirm::{Confirmed, scores};
use super::runner::Halt;
use super::score::{Score, Totals, Weighed};
use super::search::Search;
use super::{Answer, Gain};
use crate::measures::{Block, Runs};
use crate::space::{Applied, Dimension, Level, Variant};
use crate::stats::{Estimate, Paired, paired};
use crate::sweep::{Goal, Objective, front};

/// Held-out worlds that explanations take, at most.
const WORLDS: u32 = 20;
/// Points of a Pareto front, at most.
const POINTS: usize = 12;
/// How far a field is moved either way, in coordinates from 0 to 1.
const STEP: f64 = 0.1;
/// Other values of a list that are tried.
const OTHERS: u64 = 4;

/// About the recommended policy.
#[derive(Clone, Debug)]
pub struct Evidence {
    /// Worlds it rests on.
    pub worlds: u32,
    /// Every change to the base, by dimension.
    pub changes: Vec<Change>,
    /// Every dimension moved alone.
    pub settings: Vec<Setting>,
    /// The first measures of a report, of the base and of the recommended policy.
    pub measures: Vec<Compared>,
}

/// A change to the base.
#[derive(Clone, Debug)]
pub struct Change {
    /// The fields it concerns, with what they are in the base and in the recommended policy.
    pub fields: Vec<(String, String, String)>,
    /// What becomes of the recommended policy without it; or why that is no policy.
    pub without: Result<Moved, String>,
}

/// One dimension set otherwise, all else as recommended.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The dimension.
    pub dimension: String,
    /// What it is in the recommended policy.
    pub from: String,
    /// What it is here.
    pub to: String,
    /// What becomes of it.
    pub moved: Moved,
}

/// A policy beside the recommended one.
#[derive(Clone, Debug)]
pub struct Moved {
    /// How much better it is: negative where it is worse.
    pub gain: Option<Gain>,
    /// Whether it meets the conditions.
    pub score: Score,
}

/// One measure of the base and of the recommended policy.
#[derive(Clone, Debug)]
pub struct Compared {
    /// Position of the scenario.
    pub scenario: usize,
    /// The measure's name.
    pub measure: String,
    /// Of the base.
    pub base: Estimate,
    /// Of the recommended policy.
    pub policy: Estimate,
    /// The recommended policy less the base.
    pub difference: Option<Paired>,
}

/// A variant that no other one beats in everything.
#[derive(Clone, Debug)]
pub struct FrontPoint {
    /// Its position among the entrants.
    pub entrant: usize,
    /// In held-out worlds.
    pub score: Score,
}

impl Search<'_> {
    /// The evidence where something is recommended, and the front.
    pub(super) fn explain(
        &mut self,
        confirmed: &Confirmed,
    ) -> Result<(Option<Evidence>, Vec<FrontPoint>), Halt> {
        let worlds = WORLDS.min(self.task.options.held_out_worlds);
        let front = self.front(confirmed, worlds)?;
        let Answer::Recommended(position) = confirmed.answer() else { return Ok((None, front)) };
        let entrant = confirmed.finalists[position].entrant;
        let recommended = self.entrants[entrant].variant.clone();
        let totals = [&confirmed.totals[0], &confirmed.totals[position + 1]];
        let changes = self.changes(&recommended, totals, worlds)?;
        let settings = self.settings(&recommended, totals, worlds)?;
        let measures = self.compared(totals);
        Ok((Some(Evidence { worlds, changes, settings, measures }), front))
    }

    /// Each change to the base taken back alone.
    fn changes(
        &mut self,
        recommended: &Variant,
        totals: [&Totals; 2],
        worlds: u32,
    ) -> Result<Vec<Change>, Halt> {
        let space = self.task.space;
        let base = space.base_variant();
        let mut changes = Vec::new();
        let mut policies = Vec::new();
        for position in space.changes(recommended) {
            let differ = |field: &&_| recommended.value(field) != base.value(field);
            let fields = space.dimensions[position].fields.iter().filter(differ);
            let fields = fields.map(|f| (f.to_string(), base.show(f), recommended.show(f)));
            let fields: Vec<_> = fields.collect();
            let policy = space.put_back(recommended, position).and_then(|left| {
                let fits = self.fits(&left.policy);
                fits.map_err(|error| error.message().to_owned()).map(|()| left.policy)
            });
            changes.push((fields, policy.as_ref().err().cloned()));
            policies.extend(policy);
        }
        let mut moved =
            self.beside("what each change buys", &policies, totals, worlds)?.into_iter();
        let change = |(fields, refused): (Vec<_>, Option<String>)| {
            let without = match refused {
                Some(reason) => Err(reason),
                None => Ok(moved.next().expect("one for each policy")),
            };
            Change { fields, without }
        };
        Ok(changes.into_iter().map(change).collect())
    }

    /// Each dimension moved alone.
    fn settings(
        &mut self,
        recommended: &Variant,
        totals: [&Totals; 2],
        worlds: u32,
    ) -> Result<Vec<Setting>, Halt> {
        let space = self.task.space;
        let mut moves = Vec::new();
        let mut policies: Vec<Policy> = Vec::new();
        for (position, dimension) in space.dimensions.iter().enumerate() {
            let level = recommended.levels[position];
            let from = match (level, dimension.fields.as_slice()) {
                (Some(level), _) => dimension.show(level),
                (None, [field]) => recommended.show(field),
                (None, _) => "as in the base".into(),
            };
            for other in others(dimension, level) {
                let mut levels = recommended.levels.clone();
                levels[position] = Some(other);
                let Ok(Applied::Variant(moved)) = space.apply(&levels) else { continue };
                // One that a condition leaves out does nothing.
                if moved.policy == recommended.policy || self.fits(&moved.policy).is_err() {
                    continue;
                }
                moves.push((dimension.name.clone(), from.clone(), dimension.show(other)));
                policies.push(moved.policy);
            }
        }
        let moved = self.beside("sensitivity", &policies, totals, worlds)?;
        let setting = |((dimension, from, to), moved)| Setting { dimension, from, to, moved };
        Ok(moves.into_iter().zip(moved).map(setting).collect())
    }

    /// Policies held against the recommended one. `totals` are the base's and the recommended's.
    fn beside(
        &mut self,
        stage: &'static str,
        policies: &[Policy],
        totals: [&Totals; 2],
        worlds: u32,
    ) -> Result<Vec<Moved>, Halt> {
        let policies: Vec<&Policy> = policies.iter().collect();
        let found = self.in_held_out_worlds(stage, &policies, worlds)?;
        let reader = self.reader();
        let [base, recommended] = totals.map(|totals| reader.samples(totals, worlds as usize));
        let recommended = reader.score(&recommended, &base);
        let moved = found.iter().map(|totals| {
            let score = reader.score(&reader.samples(totals, worlds as usize), &base);
            Moved { gain: score.gain_over(&recommended).as_ref().map(Gain::of), score }
        });
        Ok(moved.collect())
    }

    fn in_held_out_worlds(
        &mut self,
        stage: &'static str,
        policies: &[&Policy],
        worlds: u32,
    ) -> Result<Vec<Totals>, Halt> {
        let reader = self.reader();
        let keep = |scenario: usize, run: &mut _| {
            reader.goal.keep_what_it_reads(&reader.catalogues[scenario], run);
        };
        let stream = self.held_out_worlds(self.task.scenarios);
        let (totals, spent) = self.runner.run(stream, policies, 0..worlds, keep)?;
        self.stage(stage, policies.len(), spent);
        Ok(totals)
    }

    /// What a report shows first, in each scenario.
    fn compared(&self, [base, policy]: [&Totals; 2]) -> Vec<Compared> {
        let mut compared = Vec::new();
        for (scenario, catalogue) in self.reader().catalogues.iter().enumerate() {
            let runs = [&base[scenario], &policy[scenario]].map(|runs| Runs::overall(runs, None));
            for measure in catalogue.measures().iter().filter(|m| m.block == Block::Answer) {
                let [base, policy] = [&runs[0], &runs[1]].map(|runs| measure.read(runs));
                let samples = base.sample.as_ref().zip(policy.sample.as_ref());
                compared.push(Compared {
                    scenario,
                    measure: measure.name.clone(),
                    base: base.estimate,
                    policy: policy.estimate,
                    difference: samples.map(|(base, policy)| paired(base, policy)),
                });
            }
        }
        compared
    }

    /// Who is beaten by nobody in everything: chosen by the first look, which all met, and measured
    /// in held-out worlds. The base and the recommended policy stand beside them.
    fn front(&mut self, confirmed: &Confirmed, worlds: u32) -> Result<Vec<FrontPoint>, Halt> {
        let weighed = self.task.goal.weighed();
        let first = |at: &usize| point(self.entrants[*at].first.as_ref()?, &weighed);
        let measured: Vec<(usize, Vec<f64>)> =
            (0..self.entrants.len()).filter_map(|at| Some((at, first(&at)?))).collect();
        let mut chosen = thinned(&undominated(&measured));
        let told = |chosen: &mut Vec<usize>, at| {
            if !chosen.contains(&at) {
                chosen.push(at);
            }
        };
        told(&mut chosen, 0);
        if let Answer::Recommended(position) = confirmed.answer() {
            told(&mut chosen, confirmed.finalists[position].entrant);
        }
        let known = |at: usize| {
            let finalist = confirmed.finalists.iter().position(|f| f.entrant == at);
            if at == 0 { Some(0) } else { finalist.map(|position| position + 1) }
        };
        let unknown: Vec<usize> =
            chosen.iter().copied().filter(|&at| known(at).is_none()).collect();
        let policies: Vec<Policy> =
            unknown.iter().map(|&at| self.entrants[at].variant.policy.clone()).collect();
        let policies: Vec<&Policy> = policies.iter().collect();
        let mut more = self.in_held_out_worlds("the front", &policies, worlds)?.into_iter();
        let mut totals = vec![confirmed.totals[0].clone()];
        totals.extend(chosen.iter().map(|&at| match known(at) {
            Some(position) => confirmed.totals[position].clone(),
            None => more.next().expect("one for each policy"),
        }));
        let scores = scores(self.reader(), &totals, worlds);
        let mut points: Vec<FrontPoint> = chosen
            .into_iter()
            .zip(scores.into_iter().skip(1))
            .map(|(entrant, score)| FrontPoint { entrant, score })
            .collect();
        let measured: Vec<(usize, Vec<f64>)> = points
            .iter()
            .enumerate()
            .filter_map(|(at, p)| Some((at, point(&p.score, &weighed)?)))
            .collect();
        let best = undominated(&measured);
        let recommended = match confirmed.answer() {
            Answer::Recommended(position) => Some(confirmed.finalists[position].entrant),
            Answer::None(_) => None,
        };
        let mut position = 0;
        points.retain(|point| {
            let on_it = best.iter().any(|(at, _)| *at == position);
            position += 1;
            on_it || point.entrant == 0 || Some(point.entrant) == recommended
        });
        let loss = |p: &FrontPoint| p.score.loss.as_ref().map_or(f64::INFINITY, |loss| loss.value);
        points.sort_by(|a, b| loss(a).total_cmp(&loss(b)).then(a.entrant.cmp(&b.entrant)));
        Ok(points)
    }
}

/// The loss and what is weighed against it, of all of which less is better.
fn point(score: &Score, weighed: &[Weighed]) -> Option<Vec<f64>> {
    let mut point = vec![score.loss.as_ref()?.value];
    for (weighed, value) in weighed.iter().zip(&score.weighed) {
        point.push(if weighed.more_is_better { -(*value)? } else { (*value)? });
    }
    Some(point)
}

/// Those that no other beats in everything, in ascending order of the first coordinate.
fn undominated(points: &[(usize, Vec<f64>)]) -> Vec<(usize, Vec<f64>)> {
    let least = Objective { measure: String::new(), goal: Goal::Least };
    let objectives = vec![least; points.first().map_or(0, |point| point.1.len())];
    let values: Vec<Vec<Option<f64>>> =
        points.iter().map(|point| point.1.iter().copied().map(Some).collect()).collect();
    front(&values, &objectives).into_iter().map(|at| points[at].clone()).collect()
}

/// At most [`POINTS`] of them, both ends and as evenly between as positions allow.
fn thinned(points: &[(usize, Vec<f64>)]) -> Vec<usize> {
    if points.len() <= POINTS {
        return points.iter().map(|p| p.0).collect();
    }
    (0..POINTS).map(|nth| points[nth * (points.len() - 1) / (POINTS - 1)].0).collect()
}

/// Other levels of a dimension: both ends and a step either way, or other values of its list.
fn others(dimension: &Dimension, level: Level) -> Vec<u64> {
    let mut others: Vec<u64> = if dimension.is_range() {
        let step = dimension.size().map_or(STEP, |size| STEP.max(1.0 / size as f64));
        let end = 1.0 - f64::EPSILON;
        let here = level.map(|level| dimension.coordinate_of(level));
        let around = here.map_or(vec![0.5], |here| vec![here - step, here + step]);
        let coordinates = [vec![0.0], around, vec![end]].concat();
        coordinates.into_iter().map(|c| dimension.level_at(c.clamp(0.0, end))).collect()
    } else {
        let count = dimension.size().expect("a list has a number of values");
        (0..count).filter(|&other| Some(other) != level).take(OTHERS as usize).collect()
    };
    others.retain(|&other| Some(other) != level);
    others.dedup();
    others
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fronts_by_hand() {
        let points = [(3.0, 1.0), (1.0, 3.0), (2.0, 2.0), (2.5, 2.0), (2.0, 2.0), (4.0, 0.5)];
        let points: Vec<(usize, Vec<f64>)> =
            points.iter().enumerate().map(|(at, &(x, y))| (at, vec![x, y])).collect();
        let best: Vec<usize> = undominated(&points).iter().map(|p| p.0).collect();
        // The fourth is beaten by the third, and the fifth is the third again.
        assert_eq!(best, [1, 2, 0, 5]);
    }

    #[test]
    fn long_fronts_keep_both_ends() {
        let points: Vec<(usize, Vec<f64>)> = (0..100).map(|at| (at, vec![at as f64])).collect();
        let kept = thinned(&points);
        assert_eq!((kept.len(), kept[0], kept[POINTS - 1]), (POINTS, 0, 99));
        assert!(kept.windows(2).all(|pair| (8..=10).contains(&(pair[1] - pair[0]))));
    }
}
