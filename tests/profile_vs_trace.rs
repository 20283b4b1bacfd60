//! A traffic profile stands for its trace: the shipped profile of the Azure conversation trace gives
//! the measures of its exact replay, and the same share of attempts refused by a tight token limit.
//!
//! Needs the trace itself, which is not part of the repository.

#[path = "common/lab.rs"]
mod lab;

use std::path::Path;

use lab::{Run, in_worlds, mean_and_error, scenario_in, share, single};
use windtunnel::world::WorldOptions;
use windtunnel_policy::outcome::FailureClass;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data");
const TRACE: &str = "azure_conv.csv";
const WORLDS: u32 = 10;

/// Measures of a run by name.
fn measures(run: &Run) -> [(&'static str, f64); 7] {
    let all = run.totals.overall();
    let refused = |row: &&windtunnel::record::AttemptRow| {
        row.failure == Some(FailureClass::RateLimited) && row.arrived >= run.world.measured_from
    };
    let refused = run.rows.attempts.iter().filter(refused).count() as u64;
    let mean = |sum: u128| sum as f64 / 1e6 / all.requests as f64;
    [
        ("requests", all.requests as f64),
        ("rate-limited share", share(refused, all.attempts)),
        ("success", run.success()),
        ("latency", mean(all.latency_sum)),
        ("ttft", mean(all.ttft_sum)),
        ("cost", all.cost as f64 / 1e12 / all.requests as f64),
        ("median latency", all.latency.quantile(0.5).unwrap_or(0) as f64 / 1e6),
    ]
}

/// The measures with these arrivals against a limit of so many tokens a minute, by world.
fn with(arrivals: &str, tokens_a_minute: u32) -> Vec<[(&'static str, f64); 7]> {
    let text = format!(
        "
name: azure
shows: the Azure conversation traffic
expect: a profile does as its trace
warm_up: 2m
horizon: 58m
classes:
  chat:
    deadline: {{total: 60s}}
    groups: {{primary: [azure]}}
    traffic: {{arrivals: {{{arrivals}}}}}
targets:
  azure:
    card: azure-gpt-4o-eastus
    limits:
      - {{scope: deployment, unit: total_tokens, limit: {tokens_a_minute}}}
"
    );
    let scenario = scenario_in(Path::new(DATA), &text);
    in_worlds(&scenario, &single(), WORLDS, WorldOptions::default(), measures)
}

#[test]
fn a_profile_does_as_its_trace() {
    if !Path::new(DATA).join(TRACE).is_file() {
        eprintln!("SKIPPED: {DATA}/{TRACE} is not there");
        return;
    }
    // Below the mean of 453,000 tokens a minute, and where bursts alone are refused.
    for limit in [400_000, 500_000] {
        let replayed = with(&format!("trace: {{file: ./{TRACE}, layout: azure2023}}"), limit);
        let profiled = with("profile: {file: azure-2023-conversation}", limit);
        for (i, (name, _)) in replayed[0].iter().enumerate() {
            let of = |runs: &[[(&str, f64); 7]]| {
                mean_and_error(&runs.iter().map(|run| run[i].1).collect::<Vec<f64>>())
            };
            let ((replay, replay_error), (profile, profile_error)) = (of(&replayed), of(&profiled));
            // The trace is one deal of its lengths, so it differs from the mean deal as one world.
            let deal = profile_error * f64::from(WORLDS).sqrt();
            let error = (deal.powi(2) + profile_error.powi(2) + replay_error.powi(2)).sqrt();
            eprintln!("{limit} {name}: {replay} replayed, {profile} profiled, ± {error}");
            let off = (replay - profile).abs();
            assert!(off <= 5.0 * error, "{name}: {replay} and {profile}, ± {error}");
            assert!(
                5.0 * error < 0.15 * replay,
                "{name}: ± {error} would show nothing at {replay}"
            );
        }
    }
}
