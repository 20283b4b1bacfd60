//! A sweep before it runs: everything checked, no world made.

use serde_json::Value;
use windtunnel_policy::Router;
use windtunnel_policy::config::Policy;

use super::arena::Weighted;
use super::columns::Columns;
use super::figures::Figures;
use super::header::{Counted, Header, Named, Shard};
use super::objective::Objective;
use super::score::Aggregate;
use crate::experiment::policy_hash;
use crate::input::InputError;
use crate::report::{VERSION, short_hash};
use crate::space::{Plan, PolicySpace, Sampling, Variant};

/// What to run, besides scenarios and space.
#[derive(Clone, PartialEq, Debug)]
pub struct StudyOptions {
    /// How variants are drawn.
    pub sampling: Sampling,
    /// The seed of the worlds.
    pub seed: u64,
    /// How many worlds of each scenario; at least one.
    pub worlds: u32,
    /// Draw stretches of recorded traffic and incidents within their ranges, too.
    pub resample: bool,
    /// What is wanted; not empty.
    pub objectives: Vec<Objective>,
    /// How several scenarios become one figure of an objective.
    pub score: Aggregate,
    /// Which part of the variants.
    pub shard: Shard,
}

/// A sweep, checked.
pub struct Study<'s> {
    /// The scenarios and their weights.
    pub scenarios: Vec<Weighted<'s>>,
    /// What varies around what.
    pub space: PolicySpace,
    /// The variants.
    pub plan: Plan,
    /// All that rows depend on.
    pub header: Header,
    pub(super) columns: Columns,
    pub(super) figures: Figures,
}

impl<'s> Study<'s> {
    /// Draws the variants and checks every one of them against every scenario.
    ///
    /// # Errors
    /// The space is too large, a variant is no policy, or one does not fit a scenario.
    pub fn new(
        scenarios: Vec<Weighted<'s>>,
        space: PolicySpace,
        options: &StudyOptions,
    ) -> Result<Study<'s>, InputError> {
        check(&scenarios, &space, &space.base_variant())?;
        let plan =
            Plan::checked(&space, &options.sampling, |variant| check(&scenarios, &space, variant))?;
        let columns = Columns::of(&space);
        let figures = Figures::new(&scenarios, &options.objectives, options.score);
        let counted = scenarios.iter().map(|Weighted { scenario, weight }| Counted {
            name: scenario.file.name.clone(),
            hash: scenario.hash.clone(),
            weight: *weight,
        });
        let header = Header {
            windtunnel: VERSION.into(),
            scenarios: counted.collect(),
            base: Named { name: space.base.name.clone(), hash: policy_hash(&space.base) },
            space: Named { name: space.space.name.clone(), hash: space.space.hash() },
            sample: options.sampling.method.name().into(),
            sample_seed: options.sampling.seed,
            tally: plan.tally,
            seed: options.seed,
            worlds: options.worlds,
            resample: options.resample,
            objectives: options.objectives.clone(),
            score: options.score,
            variants: plan.variants.len() as u64,
            fields: columns.headers(),
            figures: figures.columns(),
            shard: options.shard,
        };
        Ok(Study { scenarios, space, plan, header, columns, figures })
    }

    /// The variant of this number; 0 is the base.
    ///
    /// # Panics
    /// Where there is no such variant.
    pub fn variant(&self, number: u64) -> Variant {
        match number.checked_sub(1) {
            None => self.space.base_variant(),
            Some(position) => self.space.variant(&self.plan.variants[position as usize]),
        }
    }

    /// A variant as a policy file that says where it comes from.
    pub fn policy_file(&self, number: u64, variant: &Variant) -> String {
        let Header { base, space, sample, sample_seed, .. } = &self.header;
        let (short_base, short_space) = (short_hash(&base.hash), short_hash(&space.hash));
        let mut lines = vec![format!(
            "# Variant {number} of `{}` ({short_base}) in the space `{}` ({short_space}), drawn by {sample}\n\
             # with seed {sample_seed}. What it sets:",
            base.name, space.name
        )];
        for field in self.space.fields() {
            lines.push(format!("#   {field}: {}", variant.show(field)));
        }
        let name = match number {
            0 => base.name.clone(),
            _ => format!("{}-{number}", base.name),
        };
        let policy = Policy { name, ..variant.policy.clone() };
        let yaml = serde_saphyr::to_string(&policy).expect("a policy is plain data");
        lines.join("\n") + "\n" + &yaml
    }

    /// What a variant sets, by the header's fields.
    pub fn cells(&self, variant: &Variant) -> Vec<Value> {
        self.columns.cells(&self.space, variant)
    }
}

fn check(
    scenarios: &[Weighted<'_>],
    space: &PolicySpace,
    variant: &Variant,
) -> Result<(), InputError> {
    for Weighted { scenario, .. } in scenarios {
        if let Err(problems) = Router::check(&variant.policy, &scenario.topology) {
            let problem = problems.first().expect("a refusal names at least one problem");
            let set = space.describe(&variant.levels);
            let which = if set.is_empty() { "the base".into() } else { format!("with {set}") };
            let message =
                format!("does not fit {}: {} ({which})", scenario.file.name, problem.message);
            return Err(InputError::new(&space.space.name, message)
                .field(&problem.field)
                .fix(&problem.fix));
        }
    }
    Ok(())
}
