//! One request's life: every attempt, wait and breaker, and the reason of each decision; under one
//! policy, or under two side by side.

mod json;
mod life;
mod otlp;
mod pick;
mod text;

use windtunnel_policy::Instant;
use windtunnel_policy::config::Policy;

use self::life::Follow;
pub use self::life::{Happening, Told};
pub use self::pick::{Pick, Worst};
use crate::experiment::ExperimentError;
use crate::scenario::Scenario;
use crate::simulation::Simulation;
use crate::world::{Stickiness, World, WorldOptions};

/// One request under one policy or two.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// Number of the world.
    pub world: u32,
    /// The request's position in it.
    pub request: u64,
    /// The first is the one that was asked for.
    pub lives: Vec<Told>,
    targets: Vec<Place>,
}

/// What a trace says of a target.
#[derive(Clone, PartialEq, Debug)]
struct Place {
    name: String,
    provider: String,
    model: String,
    region: String,
}

/// Why a request cannot be explained.
#[derive(Debug)]
pub enum Unexplained {
    /// The policies or the world cannot be run.
    Run(ExperimentError),
    /// No request of this number came.
    NoSuchRequest {
        /// Under which policy.
        policy: String,
        /// How many came.
        of: u64,
    },
    /// No request is of the kind asked for.
    NoneOfThatKind,
    /// Under the second policy this number is another request.
    AnotherRequest,
}

/// Follows a request through the runs of the policies in one world.
///
/// # Errors
/// There is no such request, or nothing can be run.
pub fn explain(
    scenario: &Scenario,
    policies: &[Policy],
    pick: Pick,
    seed: u64,
    world: u32,
) -> Result<Explanation, Unexplained> {
    let options = WorldOptions { seed, world, resample: false, stickiness: Stickiness::Declared };
    let world = World::build(scenario, options)
        .map_err(|error| Unexplained::Run(ExperimentError::World(error)))?;
    let request = match (pick, policies.first()) {
        (Pick::Request(request), _) => request,
        (pick, Some(first)) => {
            let mut best = pick::Best::new(pick);
            simulation(scenario, first)?.run(&world, &mut best);
            best.found().ok_or(Unexplained::NoneOfThatKind)?
        }
        (_, None) => return Err(Unexplained::NoneOfThatKind),
    };
    let mut lives = Vec::new();
    for policy in policies {
        let mut follow = Follow::new(request, policy);
        simulation(scenario, policy)?.run(&world, &mut follow);
        lives.push(follow.told(policy, scenario)?);
    }
    let first = lives.first().and_then(asked);
    if lives.iter().any(|told| asked(told) != first) {
        return Err(Unexplained::AnotherRequest);
    }
    let place = |target: &crate::scenario::TargetModel| Place {
        name: target.name.clone(),
        provider: target.provider.clone(),
        model: target.model.clone(),
        region: target.region.clone(),
    };
    Ok(Explanation {
        scenario: scenario.file.name.clone(),
        seed,
        world: options.world,
        request,
        lives,
        targets: scenario.targets.iter().map(place).collect(),
    })
}

fn simulation<'s>(scenario: &'s Scenario, policy: &Policy) -> Result<Simulation<'s>, Unexplained> {
    Simulation::new(scenario, policy).map_err(|problems| {
        let name = policy.name.clone();
        Unexplained::Run(ExperimentError::Policy { name, problems })
    })
}

/// What was asked and when, but for what a router needs to know it by.
fn asked(told: &Told) -> Option<(Instant, u16, u32, u32, bool)> {
    let request = told.asked()?;
    let (input, most) = (request.input_tokens, request.max_output_tokens);
    Some((told.course.first()?.moment.now, request.class.0, input, most, request.streamed))
}

impl Explanation {
    /// For people.
    pub fn text(&self) -> String {
        text::explanation(self)
    }

    /// One JSON object.
    pub fn json(&self) -> String {
        json::explanation(self)
    }

    /// An OpenTelemetry trace per policy, as OTLP JSON.
    pub fn otlp(&self) -> String {
        otlp::traces(self)
    }
}
