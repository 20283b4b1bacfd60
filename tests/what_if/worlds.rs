//! Worlds that are known, and their logs.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use tempfile::TempDir;
use windtunnel::experiment::{Extremes, NoObserver, Options, run};
use windtunnel::fit::{Evidence, Fit};
use windtunnel::library::load_policy;
use windtunnel::log::{self, Format, Read};
use windtunnel::report::{Ledger, RowFormat};
use windtunnel::scenario::Scenario;
use windtunnel::whatif::{Options as WhatIfOptions, Question, Tolerance, WhatIf, investigate};
use windtunnel_policy::config::Policy;

/// A scenario and the folder its files are in.
pub(crate) struct Known {
    pub(crate) folder: TempDir,
    pub(crate) scenario: Scenario,
}

/// A card with room for all, on which one call in a hundred fails.
pub(crate) const CARD: &str = r"
name: card
description: x
provider: acme
model: large
sources: {made: {what: made up, date: 2026-01-01}}
context_tokens: 128000
max_output_tokens: 4096
capabilities: [streaming]
price: {source: made, input_per_million: $2.40, output_per_million: $9.60}
latency:
  source: made
  headers: {lognormal: {median: 300ms, sigma: 0.2}}
  first_token: {lognormal: {median: 600ms, sigma: 0.3}}
  prompt_tokens: 900
  per_prompt_token: 50us
  per_output_token: {lognormal: {median: 8ms, sigma: 0.2}}
  failure: {constant: 150ms}
capacity: {source: made, slots: 4000}
failures:
  source: made
  mix:
    - {class: server_error, status: 500, share: 1%}
  stick: {request: 60%, window: 0%, free: 40%}
";

/// The scenario of these files, the first of which it is.
pub(crate) fn known(files: &[(&str, &str)]) -> Known {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("it can be written to");
    }
    let path = folder.path().join(files[0].0);
    let scenario = Scenario::load(&path.display().to_string()).unwrap_or_else(|e| panic!("{e}"));
    Known { folder, scenario }
}

pub(crate) fn policy(name: &str) -> Policy {
    load_policy(name).unwrap_or_else(|e| panic!("{e}"))
}

/// What `--ledger` writes of this policy in these worlds.
pub(crate) fn ledger(
    scenario: &Scenario,
    policy: &Policy,
    seed: u64,
    worlds: u32,
    format: RowFormat,
) -> Vec<u8> {
    let options = Options { seed, worlds, resample: false, extremes: Extremes::Off, threads: None };
    let folder = std::env::temp_dir();
    let ledger = Ledger::new(Vec::new(), format, folder, scenario, &[policy.name.as_str()])
        .expect("memory can be written to");
    run(scenario, std::slice::from_ref(policy), None, &options, &ledger, &NoObserver)
        .unwrap_or_else(|e| panic!("{e}"));
    ledger.close().expect("memory can be written to")
}

/// What a log says, and the world fitted to it.
pub(crate) fn fitted(bytes: &[u8], json: bool) -> (Read, Evidence, Fit) {
    let mut evidence = Evidence::new();
    let format = Format::Ledger { json };
    let read = log::read("log", Cursor::new(bytes), format, |request| evidence.take(&request))
        .unwrap_or_else(|e| panic!("{e}"));
    evidence.finish();
    let fit = Fit::of("fitted", "log", &read, &evidence);
    (read, evidence, fit)
}

/// Writes the files of a fit, and loads them as a user would.
pub(crate) fn written(fit: &Fit, evidence: &Evidence, folder: &Path) -> Scenario {
    for file in fit.files(evidence) {
        let path = folder.join(&file.path);
        fs::create_dir_all(path.parent().expect("it has a folder")).expect("it can be made");
        fs::write(path, file.text()).expect("it can be written to");
    }
    let path = folder.join(fit.scenario_path());
    Scenario::load(&path.display().to_string()).unwrap_or_else(|e| panic!("{e}"))
}

/// What `what-if` finds of these policies, the first of which was in force, in as many worlds of luck.
pub(crate) fn found(
    (fit, evidence): (&Fit, &Evidence),
    policies: &[Policy],
    worlds: u32,
    sensitivity: bool,
) -> WhatIf {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let question = Question {
        scenario: &written(fit, evidence, folder.path()),
        log: Some((fit, evidence)),
        timeline: None,
        policies,
        options: WhatIfOptions {
            seed: 1,
            worlds,
            refits: WhatIfOptions::LEAST_REFITS,
            sensitivity,
            tolerance: Tolerance::default(),
            threads: None,
        },
    };
    investigate(&question, &NoObserver).unwrap_or_else(|e| panic!("{e}"))
}
