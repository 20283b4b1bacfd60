//! The answer in one sentence, and what a reader must know beside it.

use super::TuneReport;
use crate::measures::{Catalogue, Measure};
use crate::report::{amount, difference};
use crate::stats::{Outcome, Paired, Verdict};
use crate::tune::{Answer, Finalist, Gain, Reason, Ruling, Score};

/// The measure that a policy which gives up early is bad by.
const SUCCESS: &str = "success";

impl TuneReport<'_> {
    /// What to take away, one sentence a line; the first is the answer.
    pub fn answer(&self) -> Vec<String> {
        match &self.tuning.answer {
            Answer::Recommended(position) => self.recommendation(&self.tuning.finalists[*position]),
            Answer::None(reason) => vec![self.nothing(reason)],
        }
    }

    fn recommendation(&self, finalist: &Finalist) -> Vec<String> {
        let (goal, tuning) = (self.task.goal, self.tuning);
        let base = &tuning.base().variant.policy.name;
        let name = tuning.policy().map(|policy| policy.name).unwrap_or_default();
        let worlds = self.task.options.held_out_worlds;
        let base_fails = tuning.base_held_out.as_ref().is_some_and(Score::fails);
        let change = finalist.held_out.map(|gain| self.shown(&self.change(gain)));
        let change = change.unwrap_or_else(|| "no value for the base".into());
        let measure = &goal.measure;
        let conditions = self.conditions();
        let mut lines = vec![match (base_fails, conditions.is_empty()) {
            (true, _) => format!(
                "Recommended: `{name}` meets {conditions} in {worlds} held-out worlds, which \
                 `{base}` does not; {measure} {change}."
            ),
            (false, true) => format!(
                "Recommended: `{name}`: {measure} {change} against `{base}` in {worlds} held-out \
                 worlds."
            ),
            (false, false) => format!(
                "Recommended: `{name}`: {measure} {change} against `{base}` in {worlds} held-out \
                 worlds, and {conditions} held there."
            ),
        }];
        lines.extend(self.success_lost());
        let (holds, at_extremes) = self.at_extremes(finalist);
        // What takes from the answer stands next to it.
        let (first, last) = if holds { (None, at_extremes) } else { (at_extremes, None) };
        lines.extend(first);
        lines.extend(self.optimism(finalist));
        lines.extend(self.elsewhere(finalist));
        lines.extend(last);
        lines
    }

    /// By how much fewer requests are answered, where no condition speaks of that: a policy that gives up
    /// early is cheap, and fast.
    fn success_lost(&self) -> Vec<String> {
        let goal = self.task.goal;
        let asked = |measure: &str| measure == SUCCESS;
        if asked(&goal.measure) || goal.constraints.iter().any(|gate| asked(&gate.measure)) {
            return Vec::new();
        }
        let measures = self.tuning.evidence.iter().flat_map(|evidence| &evidence.measures);
        let lost = measures.filter(|compared| asked(&compared.measure)).filter_map(|compared| {
            let apart = compared.difference.as_ref()?;
            let fewer = apart.difference? < 0.0 && apart.verdict == Some(Verdict::Clear);
            let dimension = self.measure(SUCCESS)?.dimension;
            let scenario = &self.task.scenarios[compared.scenario].file.name;
            fewer.then(|| {
                format!(
                    "BUT fewer requests are answered: {SUCCESS} {} in `{scenario}`, and no condition speaks of \
                     it: add one, such as `--subject-to '{SUCCESS} >= 99%'`.",
                    difference(apart, dimension)
                )
            })
        });
        lost.collect()
    }

    /// What was lost on the way from where it was chosen to where it was held.
    fn optimism(&self, finalist: &Finalist) -> Option<String> {
        let (tuned, held) = (finalist.tuned?, finalist.held_out?);
        let alone = |gain: Gain| self.shown(&Paired { verdict: None, ..self.change(gain) });
        let lost = tuned.less(held);
        let (than, by) =
            if lost.value < 0.0 { ("more", -lost.value) } else { ("less", lost.value) };
        let ci95 = Some((by - lost.half_width, by + lost.half_width));
        let lost = Paired { difference: Some(by), ci95, ..self.change(lost) };
        Some(format!(
            "Optimism: where it was chosen the change was {}, held out it is {}; the gain is {than} by {}.",
            alone(tuned),
            alone(held),
            self.shown(&lost),
        ))
    }

    /// In scenarios not tuned on.
    fn elsewhere(&self, finalist: &Finalist) -> Vec<String> {
        let there = finalist.elsewhere.iter().zip(self.task.hold_out);
        let line = |(held, scenario): (&crate::tune::HeldOut, &crate::scenario::Scenario)| {
            let change = held.gain.map(|gain| self.shown(&self.change(gain)));
            let misses: Vec<String> = self.missed(&held.score);
            let misses = match misses.is_empty() {
                true => String::new(),
                false => format!("; missed there: {}", misses.join(", ")),
            };
            format!(
                "In `{}`, which was not tuned on: {} {}{misses}.",
                scenario.file.name,
                self.task.goal.measure,
                change.unwrap_or_else(|| "has no value".into()),
            )
        };
        there.map(line).collect()
    }

    fn nothing(&self, reason: &Reason) -> String {
        let tuning = self.tuning;
        let base = &tuning.base().variant.policy.name;
        let described = |at: usize| match at {
            0 => format!("the base, `{base}`"),
            _ => self.task.space.describe(&tuning.entrants[at].variant.levels),
        };
        match reason {
            Reason::NothingFeasible(nearest) => {
                let score = tuning.entrants[*nearest].last.as_ref();
                let misses = score.map(|score| self.missed_values(score)).unwrap_or_default();
                format!(
                    "No recommendation: nothing in the space meets {}. The nearest ({}) has {}.",
                    self.conditions(),
                    described(*nearest),
                    misses.join(", "),
                )
            }
            Reason::BaseIsBest => {
                let looks = || tuning.rounds.iter().flat_map(|round| &round.looks);
                let worse: usize = looks().map(|look| look.worse).sum();
                let infeasible: usize = looks().map(|look| look.infeasible).sum();
                let set_aside = match tuning.set_aside() {
                    0 => String::new(),
                    some => format!(
                        ", {some} set aside for want of budget, about which nothing is known: try a \
                         larger --budget"
                    ),
                };
                format!(
                    "No recommendation: no variant came through against `{base}`: {worse} clearly \
                     worse, {infeasible} clearly miss a condition{set_aside}."
                )
            }
            Reason::NotBetter => {
                let best = tuning.finalists.iter().min_by(|a, b| a.adjusted.total_cmp(&b.adjusted));
                let best = best.and_then(|best| {
                    let change = self.shown(&self.change(best.held_out?));
                    Some(format!("; the likeliest: {} {change}", self.task.goal.measure))
                });
                format!(
                    "No recommendation: none of {} finalists is clearly better than `{base}` in \
                     held-out worlds (chance alone would explain it, Holm-corrected, with a \
                     probability above 5 %){}.",
                    tuning.finalists.len(),
                    best.unwrap_or_default(),
                )
            }
            Reason::ConditionsNotHeld => {
                let missing = |f: &&Finalist| f.ruling == Ruling::ConditionsNotHeld;
                let first = tuning.finalists.iter().find(missing);
                let values = first.map(|f| self.doubtful_values(&f.score)).unwrap_or_default();
                format!(
                    "No recommendation: what is better than `{base}` does not surely keep {} in \
                     held-out worlds: {}.",
                    self.conditions(),
                    values.join(", "),
                )
            }
            Reason::WorseElsewhere => format!(
                "No recommendation: what is better than `{base}` here is clearly worse in a scenario \
                 that was not tuned on."
            ),
            Reason::Interrupted(best) => format!(
                "No recommendation: interrupted before anything was confirmed. The best so far, by \
                 the worlds it was chosen by: {}.",
                described(*best),
            ),
        }
    }

    /// All conditions in words; empty where there are none.
    pub(super) fn conditions(&self) -> String {
        let texts: Vec<String> =
            self.task.goal.constraints.iter().map(|gate| format!("`{gate}`")).collect();
        match texts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
            None => String::new(),
        }
    }

    /// The conditions that are clearly missed.
    pub(super) fn missed(&self, score: &Score) -> Vec<String> {
        let failed = score.checks.iter().filter(|c| c.result.outcome == Outcome::Failed);
        let mut texts: Vec<String> = failed
            .map(|check| format!("`{}`", self.task.goal.constraints[check.constraint]))
            .collect();
        texts.dedup();
        texts
    }

    /// The conditions that are not clearly met, with what was measured.
    pub(super) fn doubtful_values(&self, score: &Score) -> Vec<String> {
        let doubtful = score.checks.iter().filter(|c| c.result.outcome != Outcome::Passed);
        doubtful.map(|check| self.value_of(check)).collect()
    }

    /// The conditions that are missed by their values.
    fn missed_values(&self, score: &Score) -> Vec<String> {
        let missed = score.checks.iter().filter(|check| {
            check.result.outcome == Outcome::Failed
                || check.result.margin.is_none_or(|margin| margin < 0.0)
        });
        missed.map(|check| self.value_of(check)).collect()
    }

    pub(super) fn value_of(&self, check: &crate::tune::Check) -> String {
        let gate = &self.task.goal.constraints[check.constraint];
        let dimension = self.measure(&gate.measure).map(|measure| measure.dimension);
        let value = check.result.measured.zip(dimension);
        let value = value.map(|(value, dimension)| amount(value, dimension));
        let value = value.unwrap_or_else(|| "no value".into());
        let place = match self.task.scenarios.len() {
            1 => String::new(),
            _ => format!(" in `{}`", self.task.scenarios[check.scenario].file.name),
        };
        format!("{} {value}{place}", gate.measure)
    }

    pub(super) fn measure(&self, name: &str) -> Option<Measure> {
        Catalogue::of(&self.task.scenarios[0]).find(name).cloned()
    }

    /// A change of the objective.
    pub(super) fn shown(&self, change: &Paired) -> String {
        difference(change, self.objective().dimension)
    }
}
