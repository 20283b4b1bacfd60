//! `explain`.

use windtunnel::experiment::ExperimentError;
use windtunnel::explain::{self, Pick, Unexplained, Worst};
use windtunnel::input::InputError;
use windtunnel::library::load_policy;
use windtunnel::scenario::Scenario;

use super::Outcome;
use super::args::{ExplainArgs, ExplainFormat, WorstIn};
use super::output::print;

/// Tells one request's life.
pub(super) fn explain(args: &ExplainArgs) -> Outcome {
    let scenario = Scenario::load(&args.scenario)?;
    let mut policies = vec![load_policy(&args.policy)?];
    if let Some(other) = &args.vs {
        let mut other_policy = load_policy(other)?;
        if other_policy.name == policies[0].name {
            other_policy.name = other.clone();
        }
        policies.push(other_policy);
    }
    let (pick, option) = match (args.request, args.worst) {
        (Some(request), _) => (Pick::Request(request), "--request"),
        (None, Some(worst)) => (Pick::Worst(worst.into()), "--worst"),
        (None, None) => (Pick::Failed, "--failed"),
    };
    let told = explain::explain(&scenario, &policies, pick, args.seed, args.world)
        .map_err(|error| mistake(error, args, option))?;
    print(&match args.format {
        ExplainFormat::Text => told.text(),
        ExplainFormat::Json => told.json(),
        ExplainFormat::Otlp => told.otlp(),
    })?;
    Ok(0)
}

fn mistake(error: Unexplained, args: &ExplainArgs, option: &str) -> InputError {
    match error {
        Unexplained::Run(ExperimentError::World(error)) => {
            InputError::new(&args.scenario, error.to_string())
        }
        Unexplained::Run(error) => InputError::new(&args.policy, error.to_string()),
        Unexplained::NoSuchRequest { policy, of } => {
            let fix = format!("{of} came: they are numbered from 0");
            InputError::new(option, format!("no such request came under `{policy}`")).fix(fix)
        }
        Unexplained::NoneOfThatKind => {
            let fix = "name one with --request, or take another world";
            InputError::new(option, "no measured request of this world is of this kind").fix(fix)
        }
        Unexplained::AnotherRequest => {
            let message = "under the other policy this number is another request: who asks here \
                           waits for answers, or asks again";
            InputError::new("--vs", message).fix("explain each of them by itself")
        }
    }
}

impl From<WorstIn> for Worst {
    fn from(worst: WorstIn) -> Worst {
        match worst {
            WorstIn::Latency => Worst::Latency,
            WorstIn::Cost => Worst::Cost,
            WorstIn::Attempts => Worst::Attempts,
        }
    }
}
