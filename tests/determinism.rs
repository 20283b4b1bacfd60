//! Same scenario, policies, seed and version: the same bytes, at any number of threads, in a
//! second run, and in debug and release.
//!
//! `tests/fingerprints.txt` holds a digest of report and ledger for every shipped scenario, cut to
//! its first few thousand requests. Both profiles are held against that file. A change that is
//! meant to change results renews it: `UPDATE_FINGERPRINTS=1 cargo test --test determinism`.

use std::fmt::Write;

use sha2::{Digest, Sha256};
use windtunnel::experiment::{Extremes, Findings, NoObserver, Options, run};
use windtunnel::library::{Kind, list, load_policy};
use windtunnel::measures::Catalogue;
use windtunnel::report::{Ledger, Parts, Report, RowFormat};
use windtunnel::scenario::Scenario;
use windtunnel::world::{World, WorldOptions};
use windtunnel_policy::{Duration, Instant};

/// Scenarios are cut after about so many requests of a world.
const REQUESTS: usize = 1_500;
const WORLDS: u32 = 2;

#[test]
fn same_inputs_same_bytes() {
    let mut found = String::new();
    for shipped in list(Kind::Scenario) {
        let scenario = shortened(&shipped.name);
        let one = bytes(&scenario, 1);
        assert!(one.len() > 10_000, "{}: hardly anything was written", shipped.name);
        for threads in [2, 8, 1] {
            assert!(bytes(&scenario, threads) == one, "{} at {threads} threads", shipped.name);
        }
        let digest: String = Sha256::digest(&one).iter().map(|b| format!("{b:02x}")).collect();
        writeln!(found, "{} {digest}", shipped.name).unwrap();
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fingerprints.txt");
    if std::env::var_os("UPDATE_FINGERPRINTS").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let expected = std::fs::read_to_string(path).unwrap();
    assert_eq!(found, expected, "results have changed; if they should have, renew the file");
}

/// The scenario, with a horizon that its first few thousand requests fill.
fn shortened(name: &str) -> Scenario {
    let mut scenario = Scenario::load(name).unwrap();
    let full = World::build(&scenario, WorldOptions::default()).unwrap();
    if let Some(request) = full.requests.get(REQUESTS) {
        let file = &mut scenario.file;
        let least = Instant::ZERO + file.warm_up + Duration::from_secs(60);
        file.horizon = file.horizon.min(request.at.max(least) - Instant::ZERO);
    }
    scenario
}

/// Report and ledger of all policies of the scenario.
fn bytes(scenario: &Scenario, threads: usize) -> Vec<u8> {
    let policies = scenario.load_policies().unwrap();
    let single = load_policy("single").unwrap();
    let options = Options {
        seed: 1,
        worlds: WORLDS,
        resample: false,
        extremes: Extremes::Off,
        threads: Some(threads),
    };
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<&str> = policies.iter().map(|policy| policy.name.as_str()).collect();
    let ledger =
        Ledger::new(Vec::new(), RowFormat::Csv, folder.path().into(), scenario, &names).unwrap();
    let experiment =
        run(scenario, &policies, Some(&single), &options, &ledger, &NoObserver).unwrap();
    let catalogue = Catalogue::of(scenario);
    let findings = Findings::of(&experiment, &catalogue, &[]).unwrap();
    let report = Report {
        scenario,
        options: &options,
        experiment: &experiment,
        catalogue: &catalogue,
        findings: &findings,
    };
    let parts = Parts { by_class: true, by_tenant: true };
    let mut bytes = ledger.close().unwrap();
    bytes.extend(report.json().into_bytes());
    bytes.extend(report.table(parts).into_bytes());
    bytes.extend(report.timeline(RowFormat::Csv));
    bytes
}
