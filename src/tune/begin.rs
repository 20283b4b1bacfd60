//! What a search begins with: the base, measured, and as many variants as the budget carries.

use super::runner::Halt;
use super::search::Search;
use super::{Entrant, LOOKS, Options};
use crate::input::InputError;
use crate::space::{Method, Plan, Sampling};
use crate::stats::{MIN_EXCEEDANCES, Note};

/// Of the budget and of the error, the first race has a half, and each later one a quarter.
pub(super) const SHARES: [u64; 3] = [2, 4, 4];
/// Of a race's budget, what goes into its first look: three fifths. The rest carries those that are
/// left to the later looks, which cost three times as much for each.
const FIRST_LOOK: (u64, u64) = (3, 5);
/// Fewer variants are no search.
const FEWEST: u64 = 8;
/// More are not drawn unless they are asked for.
const MOST: u64 = 2_000;

impl Search<'_> {
    /// The base in the worlds of the first look: what requests cost, and whether the goal can be
    /// measured at all.
    pub(super) fn measure_base(&mut self) -> Result<(), Halt> {
        let spent = self.bring_to(LOOKS[0])?;
        self.stage("the base", 1, spent);
        self.requests_per_world = (spent.requests / u64::from(LOOKS[0])).max(1);
        let samples = self.reader().samples(&self.entrants[0].totals, LOOKS[0] as usize);
        if let Some((constraint, scenario, note)) = samples.missing() {
            self.is_measurable(constraint, scenario, note).map_err(Halt::Input)?;
        }
        self.read(&[0], LOOKS[0]);
        Ok(())
    }

    fn is_measurable(
        &self,
        constraint: Option<usize>,
        scenario: usize,
        note: Note,
    ) -> Result<(), InputError> {
        let goal = self.task.goal;
        let (option, measure) = match constraint {
            None => (goal.direction.option(), &goal.measure),
            Some(constraint) => ("--subject-to", &goal.constraints[constraint].measure),
        };
        let scenario = &self.task.scenarios[scenario].file.name;
        let refuse = |message: String, fix: &str| Err(InputError::new(option, message).fix(fix));
        let most = LOOKS[LOOKS.len() - 1];
        match note {
            Note::FewExceedances { found }
                if found * u64::from(most / LOOKS[0]) < MIN_EXCEEDANCES =>
            {
                refuse(
                    format!(
                        "`{measure}`: {found} requests of `{scenario}` lie beyond it in {} worlds, \
                         and {MIN_EXCEEDANCES} are needed in {most}",
                        LOOKS[0]
                    ),
                    "take a lower quantile or a mean, or a longer scenario",
                )
            }
            Note::NotModelled | Note::NothingMeasured => refuse(
                format!("`{measure}` has no value in `{scenario}`: nothing there makes it happen"),
                "take another measure; `windtunnel run` shows which have values",
            ),
            _ => Ok(()),
        }
    }

    /// The variants of the first race, each checked against every scenario.
    pub(super) fn draw(&mut self) -> Result<Vec<Entrant>, InputError> {
        let space = self.task.space;
        let count = self.wanted(0)?;
        let sizes: Option<Vec<u64>> = space.dimensions.iter().map(|d| d.size()).collect();
        let size = sizes.map(|sizes| sizes.into_iter().fold(1_u64, u64::saturating_mul));
        // A space that is small enough is searched whole.
        let method = match size {
            Some(size) if size <= count => Method::Grid,
            _ => Method::Sobol,
        };
        let sampling = Sampling { method, count, seed: self.task.options.seed };
        let plan = Plan::new(space, &sampling)?;
        self.drawn = plan.tally;
        let mut entrants = Vec::new();
        for levels in &plan.variants {
            let variant = space.variant(levels);
            if !self.is_new(&variant) {
                continue;
            }
            self.fits(&variant.policy).map_err(|error| {
                let with = space.describe(levels);
                InputError::new("--space", format!("a variant ({with}): {}", error.message()))
                    .fix(error.remedy())
            })?;
            self.seen.insert(levels.clone());
            entrants.push(Entrant::new(variant, 0));
        }
        if entrants.is_empty() {
            return Err(InputError::new("--space", "it holds no policy but the base")
                .fix("widen a range, or vary another field"));
        }
        if plan.variants.len() == 1 {
            return Err(InputError::new(
                "--space",
                "it holds one variant: there is nothing to search",
            )
            .fix("hold the two against each other with `windtunnel compare`"));
        }
        Ok(entrants)
    }

    /// How many new variants the race of this round has.
    pub(super) fn wanted(&self, round: usize) -> Result<u64, InputError> {
        let Options { variants, budget, .. } = self.task.options;
        if let Some(variants) = variants {
            return Ok((variants * 2 / SHARES[round]).max(1));
        }
        let Some(budget) = budget else { return Ok(MOST * 2 / SHARES[round]) };
        let (of, all) = FIRST_LOOK;
        let first_look = self.requests_per_world * u64::from(LOOKS[0]);
        let carried = budget / SHARES[round] * of / all / first_look;
        if round == 0 && carried < FEWEST {
            let least = first_look * FEWEST * SHARES[0] * all / of;
            let message = format!(
                "{budget} requests carry {carried} variants: one in {} worlds takes {first_look}",
                LOOKS[0]
            );
            return Err(InputError::new("--budget", message)
                .fix(format!("give at least {least}, or shorten the scenario")));
        }
        Ok(carried.min(MOST * 2 / SHARES[round]))
    }
}
