//! A proof for programs.

use serde_json::{Value, json};
use windtunnel_policy::promises::{Moment, Promise};

use super::{Counterexample, Proof, Verdict};

pub(super) fn proof(proof: &Proof) -> String {
    let verdict = match proof.verdict() {
        Verdict::Holds => "holds",
        Verdict::Broken => "broken",
        Verdict::Undecided => "undecided",
    };
    let covered: Vec<Value> = proof
        .covered
        .iter()
        .map(|row| {
            json!({
                "start": row.start,
                "depth": row.depth,
                "complete_to": row.complete_to,
                "states": row.states,
                "sequences": row.sequences,
            })
        })
        .collect();
    let broken = proof.counterexample.as_ref().map(|found| found.broken.promise);
    let promises: Vec<Value> = Promise::ALL
        .into_iter()
        .map(|promise| {
            let holds = match (broken, proof.verdict()) {
                (Some(broken), _) if broken == promise => Some(false),
                (_, Verdict::Holds) => Some(true),
                _ => None,
            };
            json!({"name": promise.name(), "says": promise.sentence(), "holds": holds})
        })
        .collect();
    let all = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "policy": proof.policy,
        "targets": proof.targets,
        "depth": proof.depth,
        "complete_depth": proof.complete_depth(),
        "max_states": proof.max_states,
        "verdict": verdict,
        "promises": promises,
        "not_promised": proof.not_promised,
        "covered": covered,
        "counterexample": proof.counterexample.as_ref().map(|found| counterexample(proof, found)),
    });
    format!("{all:#}\n")
}

fn counterexample(proof: &Proof, found: &Counterexample) -> Value {
    let moment = |moment: &Moment| {
        let origin = windtunnel_policy::Instant::ZERO;
        let actions: Vec<String> =
            moment.actions.iter().map(|action| proof.names.action(action, origin)).collect();
        json!({
            "t_us": moment.now.as_micros(),
            "event": proof.names.event(&moment.event),
            "actions": actions,
        })
    };
    json!({
        "start": found.start,
        "promise": found.broken.promise.name(),
        "how": found.broken.how,
        "steps": found.steps,
        "shortest": found.shortest,
        "moments_before": found.before,
        "trail": found.trail.iter().map(moment).collect::<Vec<_>>(),
    })
}
