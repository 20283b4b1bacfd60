//! Scenario files become scenarios: cards merged in, names looked up, limits shared.

use windtunnel::input::SourceFile;
use windtunnel::scenario::Scenario;
use windtunnel_policy::Duration;
use windtunnel_policy::target::{Role, TargetId};

const PLAIN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/files/plain.yaml");

#[test]
fn a_scenario_is_put_together() {
    let scenario = Scenario::load(PLAIN).expect("the file is right");
    let names: Vec<&str> = scenario.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["north", "south"]);
    assert_eq!(scenario.targets[0].region, "north");
    assert_eq!(scenario.targets[1].region, "south");
    assert_eq!(scenario.targets[1].deployment, "south");
    // One dollar per million tokens is a million picodollars per token.
    assert_eq!(scenario.targets[0].price.input, 1_000_000);
    assert_eq!(scenario.targets[0].price.cached, 1_000_000);
    // The card's limit is scoped to the model, whatever the region.
    assert_eq!(scenario.limits.len(), 1);
    assert_eq!(scenario.limits[0].targets, [TargetId(0), TargetId(1)]);
    let class = &scenario.topology.classes[0];
    assert_eq!(class.groups[0].role, Role::Primary);
    assert_eq!(class.groups[1].role, Role::Fallback(1));
    assert_eq!(scenario.classes[0].deadline, Duration::from_secs(30));
    assert_eq!(scenario.classes[0].reference, TargetId(0));
    // 300 ms to the first token and 99 further ones of 10 ms each.
    assert_eq!(scenario.topology.targets[0].prior_latency, Duration::from_millis(1_290));
    assert!(scenario.notes.is_empty(), "{:?}", scenario.notes);
}

#[test]
fn the_hash_follows_content_not_layout() {
    let text = std::fs::read_to_string(PLAIN).expect("the file is there");
    let hash = |text: &str| {
        let folder = Some(std::path::Path::new(PLAIN).parent().expect("a folder").to_owned());
        let file = windtunnel::input::SourceFile { name: "x".into(), text: text.into(), folder };
        Scenario::read(file).expect("the file is right").hash
    };
    assert_eq!(hash(&text).len(), 64);
    assert_eq!(hash(&text), hash(&format!("# a comment\n{text}")));
    assert_ne!(hash(&text), hash(&text.replace("5/s", "6/s")));
}

#[test]
fn a_limit_that_charges_what_nobody_asked_for_is_noted() {
    let steady = include_str!("../scenarios/steady.yaml").replace("poisson: 2/s", "poisson: 5/s");
    let notes = |text: &str| {
        let source = SourceFile { name: "test.yaml".into(), text: text.to_owned(), folder: None };
        Scenario::read(source).unwrap_or_else(|e| panic!("{e}")).notes.join("\n")
    };
    assert!(!notes(&steady).contains("max_output"));
    let silent = notes(&steady.replace("        max_output: 1024\n", ""));
    // 2,000,000 tokens a minute ÷ 16,384 = 122 calls a minute, of 5 · 60 offered.
    assert!(silent.contains("122 a minute fit of the 300 offered"), "{silent}");
}
