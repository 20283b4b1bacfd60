//! What a fallback would have been worth, in shipped incidents whose truth is known. It takes minutes:
//! `cargo test --release --test what_if -- --ignored --nocapture shipped`.

use windtunnel::experiment::{Extremes, NoObserver, NoRecorder, Options as RunOptions, run};
use windtunnel::fit::NamedCard;
use windtunnel::report::RowFormat;
use windtunnel::scenario::Scenario;

use crate::worlds::{self, fitted, ledger, policy};

/// Scenarios, and the cards of the targets that stand in there.
const INCIDENTS: [(&str, &[&str]); 4] = [
    ("anthropic-2026-06-16", &["bedrock-claude-sonnet-4-5", "openai-gpt-4o"]),
    ("openai-2023-11-08", &["azure-gpt-4o-eastus", "azure-gpt-4o-swedencentral"]),
    ("slow-primary", &["azure-gpt-4o-eastus", "azure-gpt-4o-swedencentral"]),
    ("steady", &["azure-gpt-4o-eastus"]),
];
/// Policies that know one target, and policies that fail over.
const IN_FORCE: [&str; 2] = ["single", "naive-retry"];
const INSTEAD: [&str; 2] = ["conservative", "fast-failover"];
/// Of sixteen that cover the truth with a chance of 95 % each, fewer do in seven of 1,000 cases.
const LEAST_COVERED: usize = 13;

#[test]
#[ignore = "takes minutes"]
fn what_a_fallback_would_have_been_worth() {
    let mut covered = 0;
    for (name, cards) in INCIDENTS {
        let scenario = Scenario::load(name).unwrap_or_else(|e| panic!("{e}"));
        let cards: Vec<String> = cards.iter().map(|card| (*card).to_owned()).collect();
        for in_force in IN_FORCE {
            let policies: Vec<_> = [in_force].iter().chain(&INSTEAD).map(|p| policy(p)).collect();
            let options = RunOptions {
                seed: 1,
                worlds: 1,
                resample: false,
                extremes: Extremes::Off,
                threads: None,
            };
            let lived = run(&scenario, &policies, None, &options, &NoRecorder, &NoObserver)
                .unwrap_or_else(|e| panic!("{e}"));
            let all = |p: usize| lived.policies[p].worlds[0].overall();
            let requests = all(0).requests as f64;
            let success = |p: usize| all(p).answered.total() as f64 / requests;
            let log = ledger(&scenario, &policies[0], 1, 1, RowFormat::Csv);
            let (_, evidence, fit) = fitted(&log, false);
            let cards = NamedCard::read(&cards).unwrap_or_else(|e| panic!("{e}"));
            let fit = fit.with(cards).unwrap_or_else(|e| panic!("{e}"));
            let found = worlds::found((&fit, &evidence), &policies, 10, false);
            for (p, other) in INSTEAD.iter().enumerate().map(|(i, other)| (i + 1, other)) {
                let truth = success(p) - success(0);
                let told = &found.policies[p].differences[0];
                let (value, ci95) =
                    (told.difference.expect("told"), told.ci95.expect("ten worlds"));
                let half = (ci95.high - ci95.low) / 2.0;
                // Of requests that are answered by one of the two, nearly all are by the candidate.
                let luck = 1.96 * (truth.abs() / requests).sqrt();
                let within = (value - truth).abs() <= (half * half + luck * luck).sqrt();
                covered += usize::from(within);
                println!(
                    "{name}: {other} instead of {in_force}: {:+.2} pp ± {:.2}, truly {:+.2} ± {:.2}{}",
                    value * 100.0,
                    half * 100.0,
                    truth * 100.0,
                    luck * 100.0,
                    if within { "" } else { ": NOT COVERED" }
                );
            }
        }
    }
    assert!(covered >= LEAST_COVERED, "{covered} of 16");
}
