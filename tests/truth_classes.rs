//! What a policy says of one route class holds for its requests, and for no others: counted exactly, where
//! every attempt fails.

#[path = "common/lab.rs"]
mod lab;

use lab::{FAST, policy, scenario, target};
use windtunnel::record::Rows;
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};

/// Requests of chat and of batch, and the attempts they made at each of the two targets.
fn attempts(of_classes: &str) -> [(u64, [u64; 2]); 2] {
    let class = |name: &str| {
        format!(
            "  {name}:
    deadline: {{total: 10m}}
    groups: {{primary: [a], fallbacks: [[b]]}}
    traffic:
      arrivals: {{poisson: 1/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
"
        )
    };
    let targets = target("a", FAST, FAST, "100%") + &target("b", FAST, FAST, "100%");
    let text = format!(
        "name: classes\nshows: x\nexpect: x\nhorizon: 5m\nclasses:\n{}{}targets:\n{targets}",
        class("chat"),
        class("batch")
    );
    let scenario = scenario(&text);
    let policy = policy(&format!(
        "{{name: classes, attempts: {{max: 3}}, envelope: {{estimate: {{enabled: false}}}},
          backoff: {{base: 0s}}, classes: {{{of_classes}}}}}"
    ));
    let world = World::build(&scenario, WorldOptions::default()).expect("a world");
    let mut rows = Rows::default();
    Simulation::new(&scenario, &policy).expect("it fits").run(&world, &mut rows);
    let class_of: Vec<u16> = world.requests.iter().map(|request| request.class).collect();
    let mut counted = [(0, [0; 2]); 2];
    for request in &rows.requests {
        counted[usize::from(request.class)].0 += 1;
    }
    for row in &rows.attempts {
        let class = class_of[row.request as usize];
        counted[usize::from(class)].1[usize::from(row.target.0)] += 1;
    }
    // Classes are numbered by name.
    let [batch, chat] = counted;
    assert!(scenario.classes.iter().map(|class| class.name.as_str()).eq(["batch", "chat"]));
    [chat, batch]
}

#[test]
fn each_class_makes_its_own_attempts() {
    for (of_classes, chat, batch) in [
        ("", [2, 1], [2, 1]),
        ("chat: {max: 1}", [1, 0], [2, 1]),
        ("batch: {max: 4}", [2, 1], [2, 2]),
        ("chat: {allow_retry: false}, batch: {allow_failover: false}", [1, 1], [2, 0]),
        ("batch: {max: 6, max_same_target: 3}", [2, 1], [3, 3]),
        ("batch: {max_before_fallback: 1, max_after_fallback: 1}", [2, 1], [1, 1]),
    ] {
        let counted = attempts(of_classes);
        for ((requests, made), each) in counted.into_iter().zip([chat, batch]) {
            assert!(requests > 200, "{requests}");
            assert_eq!(made, each.map(|n: u64| n * requests), "{of_classes}");
        }
    }
}
