//! What "without recovery" means: the scenario's reference target, and nothing else.

#[path = "common/lab.rs"]
mod lab;

use windtunnel::experiment::{self, Extremes, NoObserver, NoRecorder, Options};

const STEADY: &str = include_str!("../scenarios/steady.yaml");

/// Answered by the `single` run of an experiment, per world.
fn without_recovery(text: &str) -> Vec<u64> {
    let scenario = lab::scenario(text);
    let policies = [lab::shipped("single")];
    let options =
        Options { seed: 1, worlds: 2, resample: false, extremes: Extremes::Off, threads: Some(1) };
    let experiment = experiment::run(
        &scenario,
        &policies,
        Some(&policies[0]),
        &options,
        &NoRecorder,
        &NoObserver,
    );
    let single = experiment.expect("two worlds are run").single.expect("it was asked for");
    single.iter().map(|run| run.overall().answered.total()).collect()
}

#[test]
fn no_recovery_is_the_reference_target_alone() {
    let at_azure = STEADY.replace("warm_up: 1m", "reference_target: azure-eastus\nwarm_up: 1m");
    // The same by hand: Azure as primary, so that `single` goes there by itself.
    let by_hand = STEADY
        .replace("primary: [openai]", "primary: [azure-eastus]")
        .replace("fallbacks: [[azure-eastus]]", "fallbacks: [[openai]]");
    assert_eq!(without_recovery(&at_azure), without_recovery(&by_hand));
    let at_openai = without_recovery(STEADY);
    assert!(
        without_recovery(&at_azure).iter().zip(&at_openai).all(|(azure, openai)| azure > openai)
    );
}
