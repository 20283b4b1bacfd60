//! The safety drills: small scenarios in which one thing must not happen, whatever the policy.
//!
//! A drill is a scenario of the folder `drills`, and facts that are read from the rows of its run.
//! Some of them a policy file can break; others the policy core holds whatever a file says, and
//! then the drill watches the core.

mod accounts;
mod advice;
mod breaker;
mod caller;
mod contract;
mod effects;
mod evidence;
mod finding;
mod layers;
mod output;
mod recovery;
mod rules;
#[cfg(test)]
mod tests;
mod waits;

use std::fmt;

use windtunnel_policy::config::{Policy, Problem};

pub use self::evidence::{Case, Evidence};
pub use self::finding::{Breach, Finding, HeldBy, Rule, Verdict};
use crate::input::{InputError, did_you_mean};
use crate::record::Rows;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::world::{World, WorldError, WorldOptions};

/// One drill.
#[derive(Clone, Copy, Debug)]
pub struct Drill {
    /// Its number, from 1.
    pub number: u8,
    /// Its name, and that of its scenario.
    pub name: &'static str,
    /// What it checks, as one sentence.
    pub checks: &'static str,
    /// What must hold; some of it only for some policies.
    pub rules: &'static [Rule],
    /// Reads the facts from the evidence.
    pub judge: fn(&Evidence<'_>) -> Vec<Finding>,
}

/// Every drill, in order.
pub static DRILLS: [Drill; 13] = [
    Drill {
        number: 1,
        name: "primary-down",
        checks: "primary down before headers: the next target of the same model answers",
        rules: &[rules::REFUSED, rules::OVERLOADED, rules::SILENT],
        judge: recovery::primary_down,
    },
    Drill {
        number: 2,
        name: "rate-limit",
        checks: "rate limited, with and without a wait hint: waits are kept",
        rules: &[rules::WAITS, rules::LONG_WAITS, rules::NO_HINT, rules::IN_PEACE],
        judge: waits::rate_limit,
    },
    Drill {
        number: 3,
        name: "caller-cancels",
        checks: "the caller cancels: no attempt starts afterwards",
        rules: &[rules::NONE_AFTERWARDS, rules::ENDS_WITH_IT],
        judge: caller::cancels,
    },
    Drill {
        number: 4,
        name: "broken-stream",
        checks: "a stream breaks after output: no transparent replay",
        rules: &[rules::NO_REPLAY, rules::PARTIAL, rules::WHOLE],
        judge: output::broken_stream,
    },
    Drill {
        number: 5,
        name: "invalid-request",
        checks: "an invalid request is not hidden by a retry or a fallback",
        rules: &[rules::MALFORMED, rules::BLOCKED, rules::REFUSAL],
        judge: contract::invalid_request,
    },
    Drill {
        number: 6,
        name: "tools-once",
        checks: "a tool workflow repeated: exactly one side effect",
        rules: &[rules::ONCE, rules::WRITTEN, rules::NOT_RETRYABLE],
        judge: effects::tools_once,
    },
    Drill {
        number: 7,
        name: "all-exhausted",
        checks: "every target fails: one clear terminal error",
        rules: &[rules::ONE_ERROR, rules::COUNTED, rules::IN_GOOD_TIME],
        judge: recovery::all_exhausted,
    },
    Drill {
        number: 8,
        name: "ledger-reconciles",
        checks: "the ledger reconciles with usage and cost",
        rules: &[rules::BILLS, rules::SUMS, rules::TOTALS],
        judge: accounts::reconcile,
    },
    Drill {
        number: 9,
        name: "late-primary",
        checks: "a primary that fails when the deadline is nearly gone: no useless attempt",
        rules: &[rules::USEFUL],
        judge: waits::late_primary,
    },
    Drill {
        number: 10,
        name: "breaker",
        checks: "a primary goes down: traffic moves; it recovers: probes, no flood",
        rules: &[rules::MOVES, rules::PROBES, rules::RETURNS],
        judge: breaker::moves_and_probes,
    },
    Drill {
        number: 11,
        name: "contract",
        checks: "tools missing, schema broken, context exceeded: not eligible, or handled",
        rules: &[rules::TOOLS, rules::SCHEMA, rules::DELIVERED, rules::WINDOW, rules::OVERFLOW],
        judge: contract::no_match,
    },
    Drill {
        number: 12,
        name: "cancel-pending",
        checks: "a cancel while a fallback attempt is pending ends it; one key twice writes once",
        rules: &[rules::PENDING, rules::NONE_AFTERWARDS, rules::SAME_KEY, rules::KEYLESS],
        judge: caller::cancels_pending,
    },
    Drill {
        number: 13,
        name: "layered-loops",
        checks: "3 x 3 x 2 layered retries: one owner, and no layer multiplies another",
        rules: &[rules::ONE_OWNER, rules::REPORTED],
        judge: layers::one_owner,
    },
];

/// What a policy did in one drill.
#[derive(Clone, PartialEq, Debug)]
pub struct Drilled {
    /// The drill.
    pub drill: &'static Drill,
    /// SHA-256 over its scenario, in hexadecimal.
    pub scenario_hash: String,
    /// Names of the scenario's targets, by their ids.
    pub targets: Vec<String>,
    /// Names of its route classes, by their ids.
    pub classes: Vec<String>,
    /// Failed where a rule was broken, else passed where one was kept.
    pub verdict: Verdict,
    /// Rule by rule.
    pub findings: Vec<Finding>,
}

/// Why a drill cannot be run.
#[derive(Clone, PartialEq, Debug)]
pub enum DrillError {
    /// The drill's own file holds a mistake.
    Scenario(InputError),
    /// The policy does not fit the drill.
    Policy(Vec<Problem>),
    /// The drill's scenario has no world.
    World(WorldError),
}

impl Drill {
    /// The core where it holds every rule, so that no policy file can fail the drill.
    pub fn held_by(&self) -> HeldBy {
        let core = self.rules.iter().all(|rule| rule.held_by == HeldBy::Core);
        if core { HeldBy::Core } else { HeldBy::Policy }
    }

    /// The drill of this number or name.
    ///
    /// # Errors
    /// There is none; names the nearest.
    pub fn find(wanted: &str) -> Result<&'static Drill, InputError> {
        let is_wanted = |drill: &&Drill| drill.name == wanted || drill.number.to_string() == wanted;
        DRILLS.iter().find(is_wanted).ok_or_else(|| {
            let names = DRILLS.iter().map(|drill| drill.name);
            let error = InputError::new("--drill", format!("no drill is called `{wanted}`"));
            match wanted.parse::<u64>() {
                Ok(_) => error.fix(format!("they are numbered from 1 to {}", DRILLS.len())),
                Err(_) => error.fix(did_you_mean(wanted, "drill", names)),
            }
        })
    }

    /// Its scenario.
    ///
    /// # Errors
    /// The drill's own file holds a mistake.
    pub fn scenario(&self) -> Result<Scenario, InputError> {
        let shipped = crate::library::drills().into_iter().find(|file| file.name == self.name);
        let shipped = shipped.expect("each drill has a file of its name");
        let name = format!("{} (shipped)", shipped.path);
        let source = crate::input::SourceFile { name, text: shipped.text.into(), folder: None };
        Scenario::read(source)
    }

    /// Puts a policy through it.
    ///
    /// # Errors
    /// The policy does not fit, or the drill itself is broken.
    pub fn run(&'static self, policy: &Policy, seed: u64) -> Result<Drilled, DrillError> {
        let scenario = self.scenario().map_err(DrillError::Scenario)?;
        let options = WorldOptions { seed, ..WorldOptions::default() };
        let world = World::build(&scenario, options).map_err(DrillError::World)?;
        let mut simulation = Simulation::new(&scenario, policy).map_err(DrillError::Policy)?;
        let mut rows = Rows::default();
        let totals = simulation.run(&world, &mut rows);
        let evidence = Evidence::new(policy, &scenario, &world, &totals, &rows);
        let findings = (self.judge)(&evidence);
        let verdict = finding::overall(&findings);
        Ok(Drilled {
            drill: self,
            scenario_hash: scenario.hash.clone(),
            targets: scenario.targets.iter().map(|target| target.name.clone()).collect(),
            classes: scenario.classes.iter().map(|class| class.name.clone()).collect(),
            verdict,
            findings,
        })
    }
}

/// Two drills are the same where they have one name.
impl PartialEq for Drill {
    fn eq(&self, other: &Drill) -> bool {
        self.name == other.name
    }
}

impl fmt::Display for DrillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DrillError::Scenario(error) => error.fmt(f),
            DrillError::World(error) => error.fmt(f),
            DrillError::Policy(problems) => {
                f.write_str("the policy does not fit the drill")?;
                problems
                    .iter()
                    .try_for_each(|p| write!(f, "\n  {}: {}; {}", p.field, p.message, p.fix))
            }
        }
    }
}

impl std::error::Error for DrillError {}
