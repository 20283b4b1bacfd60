//! What is wanted of a policy.

use serde::{Deserialize, Serialize};

use crate::input::{InputError, did_you_mean};
use crate::measures::{Better, Catalogue};

/// Which way a measure is good.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// Less is better.
    Least,
    /// More is better.
    Most,
}

/// A measure to be as good as can be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// Its name.
    pub measure: String,
    /// Which way it is good.
    pub goal: Goal,
}

/// What is wanted where nothing is said. Not the cost of all requests: a policy that gives up early
/// is the cheapest by that.
pub const DEFAULT_OBJECTIVES: [&str; 2] = ["success", "cost_per_success"];

impl Objective {
    /// Reads a measure's name, or `min:NAME` or `max:NAME` where the measure says not which way it
    /// is good. Every catalogue must have it.
    ///
    /// # Errors
    /// There is no such measure, or neither way is good.
    pub fn parse<'c>(
        text: &str,
        catalogues: impl IntoIterator<Item = &'c Catalogue>,
    ) -> Result<Objective, InputError> {
        let refuse = |message: String| InputError::new("--objective", message);
        let (goal, name) = match text.split_once(':') {
            Some(("min", name)) => (Some(Goal::Least), name),
            Some(("max", name)) => (Some(Goal::Most), name),
            _ => (None, text),
        };
        let mut better = Better::Neither;
        for catalogue in catalogues {
            let Some(measure) = catalogue.find(name) else {
                let known = catalogue.measures().iter().map(|measure| measure.name.as_str());
                return Err(refuse(format!("`{name}` is no measure of every scenario"))
                    .fix(did_you_mean(name, "measure", known)));
            };
            better = measure.better;
        }
        let goal = goal.or(match better {
            Better::Higher => Some(Goal::Most),
            Better::Lower => Some(Goal::Least),
            Better::Neither => None,
        });
        let goal = goal.ok_or_else(|| {
            refuse(format!("`{name}` is good neither way by itself"))
                .fix(format!("write `min:{name}` or `max:{name}`"))
        })?;
        Ok(Objective { measure: name.into(), goal })
    }
}

impl Goal {
    /// True where `a` is better than `b`; a missing value is worse than any.
    pub fn prefers(self, a: Option<f64>, b: Option<f64>) -> bool {
        match (a, b, self) {
            (Some(a), Some(b), Goal::Least) => a < b,
            (Some(a), Some(b), Goal::Most) => a > b,
            (Some(_), None, _) => true,
            (None, _, _) => false,
        }
    }
}
