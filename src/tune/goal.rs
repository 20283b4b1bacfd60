//! What a search is after: a measure to make small or large, and conditions to meet.

use crate::input::{InputError, did_you_mean};
use crate::measures::{Catalogue, Measure};
use crate::record::RunTotals;
use crate::stats::{Gate, Limit, Relation};
use crate::sweep::Aggregate;

/// Which way the objective is to go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Less is better.
    Minimize,
    /// More is better.
    Maximize,
}

/// What a search is after.
#[derive(Clone, PartialEq, Debug)]
pub struct Goal {
    /// The name of the measure.
    pub measure: String,
    /// Which way it is to go.
    pub direction: Direction,
    /// What must hold in every scenario.
    pub constraints: Vec<Gate>,
    /// How several scenarios count.
    pub aggregate: Aggregate,
}

impl Direction {
    /// The option that says it.
    pub const fn option(self) -> &'static str {
        match self {
            Direction::Minimize => "--minimize",
            Direction::Maximize => "--maximize",
        }
    }

    /// In words.
    pub const fn verb(self) -> &'static str {
        match self {
            Direction::Minimize => "minimize",
            Direction::Maximize => "maximize",
        }
    }

    /// What makes a value a loss, of which less is better.
    pub const fn sign(self) -> f64 {
        match self {
            Direction::Minimize => 1.0,
            Direction::Maximize => -1.0,
        }
    }
}

impl Goal {
    /// Reads a goal as a user writes it. A measure must be one of every scenario.
    ///
    /// # Errors
    /// An unknown measure, with the nearest; a condition that cannot be read; two that contradict
    /// each other.
    pub fn parse(
        direction: Direction,
        measure: &str,
        subject_to: &[String],
        catalogues: &[Catalogue],
    ) -> Result<Goal, InputError> {
        let (first, rest) = catalogues.split_first().expect("a search has a scenario");
        let everywhere = |name: &str| rest.iter().all(|c| c.find(name).is_some());
        let mut known = first.known();
        known.retain(|measure| everywhere(measure.name));
        if !known.iter().any(|known| known.name == measure) {
            let message = format!("`{measure}` is no measure of every scenario");
            let names = known.iter().map(|known| known.name);
            return Err(InputError::new(direction.option(), message)
                .fix(did_you_mean(measure, "measure", names)));
        }
        let mut constraints: Vec<Gate> = Vec::new();
        for text in subject_to {
            let gate = Gate::parse(text, &known).map_err(|error| {
                InputError::new("--subject-to", error.problem.to_string()).at(
                    1,
                    error.column as u64 + 1,
                    &error.expression,
                )
            })?;
            if let Some(other) = constraints.iter().find(|other| contradict(other, &gate)) {
                let message = format!("`{gate}` contradicts `{other}`: nothing meets both");
                return Err(InputError::new("--subject-to", message).fix("leave one out"));
            }
            constraints.push(gate);
        }
        Ok(Goal { measure: measure.to_owned(), direction, constraints, aggregate: Aggregate::Mean })
    }

    /// The objective in this catalogue.
    pub fn objective<'c>(&self, catalogue: &'c Catalogue) -> &'c Measure {
        catalogue.find(&self.measure).expect("a goal names a measure it was parsed with")
    }

    /// The measure of a condition in this catalogue.
    pub fn constrained<'c>(&self, gate: &Gate, catalogue: &'c Catalogue) -> &'c Measure {
        catalogue.find(&gate.measure).expect("a goal names a measure it was parsed with")
    }

    /// Drops from a run's totals what no measure of the goal is read from.
    pub(super) fn keep_what_it_reads(&self, catalogue: &Catalogue, run: &mut RunTotals) {
        let constrained = self.constraints.iter().map(|gate| self.constrained(gate, catalogue));
        let read: Vec<&Measure> =
            std::iter::once(self.objective(catalogue)).chain(constrained).collect();
        Measure::keep_what_they_read(&read, run);
    }
}

/// True where no value meets both.
fn contradict(a: &Gate, b: &Gate) -> bool {
    let (least, most) = match (a.relation, b.relation) {
        (Relation::AtLeast, Relation::AtMost) => (a, b),
        (Relation::AtMost, Relation::AtLeast) => (b, a),
        _ => return false,
    };
    let above = match (least.limit, most.limit) {
        (Limit::Absolute(least), Limit::Absolute(most)) => least.value() > most.value(),
        (Limit::Relative { factor, offset }, Limit::Relative { factor: other, offset: most }) => {
            let of = |offset: Option<crate::stats::Quantity>| offset.map_or(0.0, |o| o.value());
            factor == other && of(offset) > of(most)
        }
        _ => false,
    };
    a.measure == b.measure && above
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(measure: &str, subject_to: &[&str]) -> Result<Goal, String> {
        let texts: Vec<String> = subject_to.iter().map(|text| (*text).to_owned()).collect();
        Goal::parse(Direction::Minimize, measure, &texts, &[Catalogue::new(["a"])])
            .map_err(|error| error.to_string())
    }

    #[test]
    fn names_are_held_against_the_measures() {
        let error = goal("cost_per_1", &[]).unwrap_err();
        assert!(error.starts_with("--minimize: `cost_per_1` is no measure"), "{error}");
        assert!(error.contains("did you mean `cost_per_1k`?"), "{error}");
        let error = goal("cost_per_1k", &["sucess >= 99%"]).unwrap_err();
        assert!(error.contains("the nearest is `success`"), "{error}");
        let error = goal("cost_per_1k", &["added_latency_p99 <= 3"]).unwrap_err();
        assert!(error.contains("`250ms`, `3s` or `2m`"), "{error}");
        // Targets differ between scenarios, and so do the measures that name them.
        let catalogues = [Catalogue::new(["a"]), Catalogue::new(["b"])];
        let shared = Goal::parse(Direction::Minimize, "target_share.a", &[], &catalogues);
        assert!(shared.unwrap_err().to_string().contains("no measure of every scenario"));
    }

    #[test]
    fn conditions_that_nothing_meets_are_refused() {
        for (a, b) in
            [("success >= 99%", "success <= 98%"), ("success <= base - 1pp", "success >= base")]
        {
            let error = goal("cost_per_1k", &[a, b]).unwrap_err();
            assert!(error.contains("nothing meets both"), "{error}");
        }
        assert!(goal("cost_per_1k", &["success >= 98%", "success <= 99%"]).is_ok());
        assert!(goal("cost_per_1k", &["success >= 98%", "success >= base"]).is_ok());
    }
}
