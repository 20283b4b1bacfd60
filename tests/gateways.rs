//! The shipped policies that say what a real gateway does, against what was counted of it in a total
//! outage: how many calls, where, and how long it waited between them.

#[path = "common/lab.rs"]
mod lab;

use lab::{Server, scenario, shipped};
use windtunnel::drill::DRILLS;
use windtunnel::record::{RequestRow, Rows};
use windtunnel::simulation::Simulation;
use windtunnel::world::{World, WorldOptions};
use windtunnel_policy::Duration;
use windtunnel_policy::config::{Jitter, Policy};

/// What a policy made of one request.
struct Life {
    /// Targets in the order they were called.
    called: Vec<&'static str>,
    /// Waits before each call.
    waited: Vec<Duration>,
    request: RequestRow,
}

/// The first request of a class with these groups of `a`, `b` and `c`, which have priorities 3, 2 and 1 and
/// fail with this kind, at once and always.
fn life(policy: &Policy, groups: &str, kind: &str) -> Life {
    let names = ["a", "b", "c"];
    let target = |(i, name): (usize, &&str)| {
        let mix = format!("mix: [{{{kind}, share: 100%}}]");
        let more = format!(
            "    priority: {}\n    failures:\n      source: textbook\n      {mix}\n      \
             stick: {{request: 0%, window: 0%, free: 100%}}\n",
            3 - i
        );
        Server { more: &more, ..Server::default() }.named(name)
    };
    let targets: String = names.iter().enumerate().map(target).collect();
    let scenario = scenario(&format!(
        "
name: outage
shows: everything down
expect: what was counted of gateways
horizon: 10s
classes:
  chat:
    groups: {groups}
    traffic:
      arrivals: {{poisson: 1/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:
{targets}"
    ));
    let world = World::build(&scenario, WorldOptions::default()).expect("a world");
    let mut rows = Rows::default();
    Simulation::new(&scenario, policy).expect("it fits").run(&world, &mut rows);
    let own = rows.attempts.iter().filter(|row| row.request == 0);
    let (called, waited) = own.map(|row| (names[usize::from(row.target.0)], row.waited)).unzip();
    let request = *rows.requests.iter().find(|row| row.request == 0).expect("it was closed");
    Life { called, waited, request }
}

const DOWN: &str = "class: overloaded, status: 503";
const A_GROUP_EACH: &str = "{primary: [a], fallbacks: [[b], [c]]}";
const ONE_GROUP: &str = "{primary: [a, b, c]}";

fn ms(waits: &[u64]) -> Vec<Duration> {
    waits.iter().map(|wait| Duration::from_millis(*wait)).collect()
}

/// Without jitter, as when it was measured.
fn steady(mut policy: Policy) -> Policy {
    policy.backoff.jitter = Jitter::Exponential;
    policy
}

#[test]
fn litellm_calls_nine_times_and_sleeps_ten_and_a_half_seconds() {
    let life = life(&steady(shipped("litellm-router")), A_GROUP_EACH, DOWN);
    assert_eq!(life.called, ["a", "a", "a", "b", "b", "b", "c", "c", "c"]);
    assert_eq!(life.waited, ms(&[0, 500, 1_000, 2_000, 500, 1_000, 2_000, 500, 1_000]));
    // And the last, useless one: 10.5 s in all.
    assert_eq!(life.request.closed - life.request.arrived, Duration::from_millis(10_500));
}

#[test]
fn litellm_falls_back_from_a_bad_request_without_a_retry() {
    let bad = "class: client_invalid, status: 400";
    let life = life(&steady(shipped("litellm-router")), A_GROUP_EACH, bad);
    assert_eq!(life.called, ["a", "b", "c"]);
    assert_eq!(life.request.result.status, 400);
}

#[test]
fn portkey_gives_each_target_its_own_tries() {
    let policy = shipped("portkey-fallback");
    let down = life(&policy, ONE_GROUP, DOWN);
    assert_eq!(down.called, ["a", "a", "a", "b", "b", "b", "c", "c", "c"]);
    assert_eq!(down.waited, ms(&[0, 1_000, 2_000, 0, 1_000, 2_000, 0, 1_000, 2_000]));
    assert_eq!(down.request.closed - down.request.arrived, Duration::from_secs(9));
    // Any status but a 2xx goes on to the next; a 408 is not retried.
    for kind in ["class: client_invalid, status: 400", "class: timeout, status: 408"] {
        assert_eq!(life(&policy, ONE_GROUP, kind).called, ["a", "b", "c"], "{kind}");
    }
    // A 200 is final: what fails inside it is the caller's.
    let inside = life(&policy, ONE_GROUP, "class: overloaded, status: 200, phase: before_output");
    assert_eq!(inside.called, ["a"]);
    assert!(inside.request.released && !inside.request.answered);
}

#[test]
fn tensorzero_walks_twice() {
    let policy = shipped("tensorzero-walk");
    for kind in [DOWN, "class: upstream_auth, status: 401", "class: client_invalid, status: 400"] {
        let life = life(&policy, ONE_GROUP, kind);
        assert_eq!(life.called, ["a", "b", "c", "a", "b", "c"], "{kind}");
        // One wait, of one to two seconds, between the walks.
        let between = life.waited[3];
        assert!(Duration::from_secs(1) <= between && between <= Duration::from_secs(2));
        assert_eq!(life.waited.iter().filter(|wait| !wait.is_zero()).count(), 1, "{kind}");
    }
}

#[test]
fn new_api_goes_down_by_one_priority_each_time() {
    let policy = shipped("new-api-channels");
    let down = life(&policy, ONE_GROUP, DOWN);
    assert_eq!(down.called, ["a", "b", "c", "c"]);
    assert_eq!(down.waited, ms(&[0, 0, 0, 0]));
    let timed_out = life(&policy, ONE_GROUP, "class: timeout, status: 408");
    assert_eq!(timed_out.called, ["a"]);
}

#[test]
fn envoy_stays_at_its_first_priority() {
    let policy = shipped("envoy-ai-gateway");
    assert_eq!(life(&policy, ONE_GROUP, DOWN).called, ["a", "a", "a"]);
    for kind in ["class: rate_limited, status: 429", "class: server_error, status: 500"] {
        assert_eq!(life(&policy, ONE_GROUP, kind).called, ["a"], "{kind}");
    }
}

/// As the document says.
#[test]
fn none_of_them_passes_all_drills() {
    for name in [
        "litellm-router",
        "portkey-fallback",
        "tensorzero-walk",
        "new-api-channels",
        "envoy-ai-gateway",
        "sdk-default",
    ] {
        let policy = shipped(name);
        let fails = |drill: &&'static windtunnel::drill::Drill| {
            drill.run(&policy, 1).expect("any policy can be drilled").verdict.is_failed()
        };
        assert!(DRILLS.iter().any(|drill| fails(&drill)), "{name}");
    }
}
