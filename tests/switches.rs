//! Kill switches from a file: what an operator does entry by entry is what the scenario's operators do
//! by windows, and mistakes are told where they are.

#[path = "common/lab.rs"]
mod lab;

use std::fs;

use lab::{in_worlds, scenario, scenario_in, shipped};
use tempfile::TempDir;
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;

const SERVICE: &str = "
name: service
shows: switches
expect: the same
horizon: 120s
classes:
  chat:
    groups: {primary: [north], fallbacks: [[south]]}
    traffic:
      arrivals: {poisson: 10/s}
      tokens: {input: {constant: 1}, output: {constant: 1}, max_output: 1}
targets:
  north: {card: plain-server, region: north}
  south: {card: plain-server, region: south}
weather:
  - name: half
    hits: {target: south}
    when: always
    effects: {failures: {share: 50%, mix: [{class: server_error, status: 500, weight: 1}]}}
";

const FILE: &str = "
description: What was done.
switches:
  - {at: 20s, off: {targets: {region: north}}}
  - {at: 30s, off: recovery}
  - {at: 50s, on: {targets: {region: north}}}
  - {at: 60s, off: {targets: {region: north}}}
  - {at: 70s, on: recovery}
";

const WINDOWS: &str = "
operators:
  - {name: a, switch: {targets: {target: north}}, when: {window: {from: 20s, lasts: 30s}}}
  - {name: b, switch: recovery, when: {window: {from: 30s, lasts: 40s}}}
  - {name: c, switch: {targets: {target: north}}, when: {window: {from: 60s, lasts: 1d}}}
";

fn rows(scenario: &Scenario) -> Vec<windtunnel::record::Rows> {
    let policy = shipped("conservative");
    in_worlds(scenario, &policy, 2, WorldOptions::default(), |run| run.rows.clone())
}

#[test]
fn a_file_says_what_windows_say() {
    let folder = TempDir::new().expect("a folder");
    fs::write(folder.path().join("on-call.yaml"), FILE).expect("a file");
    let named = scenario_in(folder.path(), &format!("switches: on-call.yaml{SERVICE}"));
    let windows = rows(&scenario(&format!("{SERVICE}{WINDOWS}")));
    assert!(rows(&named) == windows);
    assert!(rows(&scenario(SERVICE)) != windows);
    // Given besides, to a scenario that names none.
    let plain = folder.path().join("service.yaml");
    fs::write(&plain, SERVICE).expect("a file");
    let path = plain.to_str().expect("a path of text");
    let given = Scenario::load_with_switches(path, &folder.path().join("on-call.yaml"));
    let given = given.unwrap_or_else(|error| panic!("{error}"));
    assert!(rows(&given) == windows);
    assert_ne!(given.hash, scenario(SERVICE).hash, "another scenario");
    assert!(named.files().iter().any(|path| path.ends_with("on-call.yaml")));
}

#[test]
fn mistakes_are_told_where_they_are() {
    let folder = TempDir::new().expect("a folder");
    let plain = folder.path().join("service.yaml");
    fs::write(&plain, SERVICE).expect("a file");
    let path = plain.to_str().expect("a path of text");
    let told = |text: &str| {
        let file = folder.path().join("s.yaml");
        fs::write(&file, text).expect("a file");
        Scenario::load_with_switches(path, &file).map(drop).expect_err(text).to_string()
    };
    for (entries, holds) in [
        (
            "[{at: 9s, off: recovery}, {at: 8s, on: recovery}]",
            "s.yaml:1:38: switches[1].at: 8s comes before the entry above, at 9s; sort the list",
        ),
        ("[{at: 1h, off: recovery}]", "switches[0].at: 3600s is not before the horizon, 120s"),
        (
            "[{at: 1s, on: recovery}]",
            "switches[0].on: is not off; an entry above must have thrown just this switch",
        ),
        (
            "[{at: 1s, off: recovery}, {at: 2s, off: recovery}]",
            "switches[1].off: is off already, since 1s; leave one of the two out",
        ),
        ("[{at: 1s}]", "switches[0]: says not one of `off` and `on`"),
        (
            "[{at: 1s, off: {targets: {region: nroth}}}]",
            "switches[0].off.targets.region: no target has the region `nroth`; did you mean `north`?",
        ),
        ("[{at: 1s, of: recovery}]", "switches[0].of: unknown field"),
    ] {
        let told = told(&format!("switches: {entries}\n"));
        assert!(told.contains(holds), "{entries}: {told}");
    }
    let missing = Scenario::load_with_switches(path, &folder.path().join("none.yaml"));
    assert!(missing.map(drop).expect_err("no file").to_string().contains("none.yaml"));
}
