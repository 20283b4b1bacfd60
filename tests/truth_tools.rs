//! Tools that write, held against what can be worked out by hand.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, Server, agrees, failing, in_worlds, scenario, share, single, tries};
use windtunnel::record::ClassTotals;
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::Duration;
use windtunnel_policy::config::Policy;
use windtunnel_policy::event::StopReason;
use windtunnel_policy::outcome::{Execution, FailureClass};

/// A class with a tool, on one target whose answers of 101 tokens take 100 ms and 10 ms for each
/// further token, and of which a share breaks off anywhere in between.
fn tooled(tools: &str, class: &str, breaks: &str, abort: &str) -> Scenario {
    let failures = failing("phase: after_output, ", breaks);
    let server = Server {
        headers: "constant: 100ms",
        per_output_token: "constant: 10ms",
        failure: "constant: 10ms",
        more: &format!("{failures}    abort: {{source: textbook, whole: {abort}}}"),
        ..Server::default()
    };
    scenario(&format!(
        "
name: tooled
shows: tools
expect: what can be worked out by hand
horizon: 200s
classes:
  agent:
    deadline: {{total: 10m}}
    side_effects: write_possible
    tools: {{{tools}}}
    {class}
    groups: {{primary: [only]}}
    traffic:
      arrivals: {{poisson: 5/s}}
      streamed: 0%
      tokens: {{input: {{constant: 1}}, output: {{constant: 101}}, max_output: 101}}
targets:{}",
        server.named("only")
    ))
}

const LOOK: &str = "reconciliation: {takes: {constant: 200ms}}";

fn tool(more: &str) -> String {
    format!("takes: {{constant: 50ms}}, {LOOK}, {more}")
}

/// The policy, asking the record before anything follows.
fn asking(mut policy: Policy) -> Policy {
    policy.side_effects.reconcile = true;
    policy
}

/// The policy, looking up what earlier requests of an action wrote before it is sent again.
fn looking(mut policy: Policy) -> Policy {
    policy.side_effects.look_up = true;
    policy
}

fn totals(scenario: &Scenario, policy: &Policy) -> ClassTotals {
    let all = in_worlds(scenario, policy, 1, WorldOptions::default(), |run: &Run| {
        let all = run.totals.overall();
        let writes = |n| run.rows.effects.iter().filter(|effect| effect.writes == n).count() as u64;
        // No warm-up, but a tail that does not count.
        assert!(writes(1) >= all.side_effects && writes(2) >= all.duplicate_side_effects);
        all
    });
    assert!(all[0].requests > 500, "{} requests are few", all[0].requests);
    all.into_iter().next().expect("one world")
}

#[test]
fn a_tool_that_knows_no_keys_writes_in_every_attempt() {
    let known = tooled(&tool("deduplicates: 100%"), "", "100%", "stops");
    let all = totals(&known, &tries(3, ""));
    assert_eq!(all.attempts, 3 * all.requests);
    assert_eq!([all.side_effects, all.duplicate_side_effects], [all.requests, 0]);

    let unknown = tooled(&tool("deduplicates: 0%"), "", "100%", "stops");
    let all = totals(&unknown, &tries(3, ""));
    assert_eq!([all.side_effects, all.duplicate_side_effects], [all.requests, all.requests]);
}

#[test]
fn an_attempt_that_breaks_before_the_call_does_not_write() {
    // Called at 40 %, broken off uniformly: one attempt of two calls with 60 %. Of two attempts
    // both do with 36 %, at least one with 84 %.
    let scenario = tooled(&tool("at: 40%, deduplicates: 0%"), "", "100%", "stops");
    let found = in_worlds(&scenario, &tries(2, ""), 12, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        let part = |n| share(n, all.requests);
        (part(all.side_effects), part(all.duplicate_side_effects))
    });
    let (some, twice): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    agrees("written", &some, 0.84, 0.03);
    agrees("written twice", &twice, 0.36, 0.04);
}

#[test]
fn half_of_the_actions_have_a_tool_and_half_of_the_tools_know_keys() {
    let scenario = tooled(&tool("calls: 50%, deduplicates: 50%"), "", "100%", "stops");
    let found = in_worlds(&scenario, &tries(2, ""), 12, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        let part = |n| share(n, all.requests);
        (part(all.side_effects), part(all.duplicate_side_effects))
    });
    let (some, twice): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    agrees("written", &some, 0.5, 0.04);
    agrees("written twice", &twice, 0.25, 0.04);
}

#[test]
fn who_asks_the_record_never_writes_twice() {
    let scenario = tooled(&tool("at: 40%, deduplicates: 0%"), "", "60%", "stops");
    let all = totals(&scenario, &asking(tries(3, "")));
    assert_eq!(all.duplicate_side_effects, 0);
    assert!(all.answered.retry > 0 && all.ended_as[FailureClass::SideEffectUnknown as usize] == 0);
    // The same without asking: a server error is sent again, whatever a tool did.
    assert!(totals(&scenario, &tries(3, "")).duplicate_side_effects > 0);
}

#[test]
fn what_stays_unknown_is_never_sent_again() {
    // A failure (p = 50 %) is asked for, and unknown with u = 20 %: p u + p (1 − u) p u in two tries.
    let unknown = "takes: {constant: 50ms}, reconciliation: {takes: {constant: 200ms}, unknown: 20%}, deduplicates: 0%";
    let scenario = tooled(unknown, "", "50%", "stops");
    let found = in_worlds(&scenario, &asking(tries(2, "")), 12, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        assert_eq!(all.duplicate_side_effects, 0);
        let unknown = all.ended_as[FailureClass::SideEffectUnknown as usize];
        (share(unknown, all.requests), share(all.answered.total(), all.requests))
    });
    let (unknown, success): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    agrees("unknown", &unknown, 0.5 * 0.2 + 0.5 * 0.8 * 0.5 * 0.2, 0.03);
    agrees("success", &success, 0.5 + 0.5 * 0.8 * 0.5, 0.04);
}

#[test]
fn a_tool_that_failed_stops_its_request_and_has_written_nothing() {
    let scenario = tooled(&tool("failures: 100%"), "", "100%", "stops");
    let stopped = in_worlds(&scenario, &asking(tries(3, "")), 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        assert_eq!([all.side_effects, all.attempts], [0, all.requests]);
        run.rows.requests.iter().all(|row| row.result.stop == Some(StopReason::ToolFailed))
    });
    assert_eq!(stopped, [true]);
    // Whoever does not ask tries three times, and nothing is written either.
    let all = totals(&scenario, &tries(3, ""));
    assert_eq!([all.side_effects, all.attempts], [0, 3 * all.requests]);
}

#[test]
fn the_same_key_twice_from_an_outer_layer_writes_once_where_keys_are_known() {
    let twice = "sdk: {attempts: 2}";
    for (deduplicates, duplicates) in [("100%", false), ("0%", true)] {
        let tools = tool(&format!("deduplicates: {deduplicates}"));
        let all = totals(&tooled(&tools, twice, "100%", "stops"), &single());
        assert_eq!(all.received, 2 * all.requests);
        let expected = [all.requests, if duplicates { all.requests } else { 0 }];
        assert_eq!([all.side_effects, all.duplicate_side_effects], expected, "{deduplicates}");
    }
}

#[test]
fn who_looks_the_key_up_writes_once_whatever_tools_know() {
    let twice = tooled(&tool("deduplicates: 0%"), "sdk: {attempts: 2}", "100%", "stops");
    let stored = in_worlds(&twice, &looking(single()), 1, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        assert_eq!(all.received, 2 * all.requests, "the SDK sends every action again");
        assert_eq!([all.side_effects, all.duplicate_side_effects], [all.requests, 0]);
        let rows = run.rows.requests.iter().filter(|row| row.measured);
        rows.filter(|row| row.record == Some(Execution::Succeeded)).count() as u64 * 2
            == all.received
    });
    assert_eq!(
        stored,
        [true],
        "the second request of each action was told, the first asked nothing"
    );

    // Called at 40 % of an output that breaks off anywhere: the first request has written with 60 %,
    // and else the second does. At least one with 84 %, as without looking; and never both.
    let late = tooled(&tool("at: 40%, deduplicates: 0%"), "sdk: {attempts: 2}", "100%", "stops");
    let found = in_worlds(&late, &looking(single()), 12, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        assert_eq!(all.duplicate_side_effects, 0);
        share(all.side_effects, all.requests)
    });
    agrees("written", &found, 0.84, 0.03);
}

#[test]
fn what_stays_unknown_of_an_earlier_request_is_never_sent() {
    // The first request fails (p = 50 %), and for the second nobody knows (u = 20 %).
    let unknown = "takes: {constant: 50ms}, reconciliation: {takes: {constant: 200ms}, unknown: 20%}, deduplicates: 0%";
    let scenario = tooled(unknown, "sdk: {attempts: 2}", "50%", "stops");
    let found = in_worlds(&scenario, &looking(single()), 12, WorldOptions::default(), |run| {
        let all = run.totals.overall();
        assert_eq!(all.duplicate_side_effects, 0);
        let stopped = all.ended_as[FailureClass::SideEffectUnknown as usize];
        (share(stopped, all.requests), share(all.answered.total(), all.requests))
    });
    let (unknown, success): (Vec<f64>, Vec<f64>) = found.into_iter().unzip();
    agrees("unknown", &unknown, 0.5 * 0.2, 0.03);
    agrees("success", &success, 0.5 + 0.5 * 0.8 * 0.5, 0.04);
}

#[test]
fn a_try_that_the_sdk_gave_up_and_that_works_on_is_waited_for() {
    // Given up after 500 ms, the call comes at 1.1 s: planned, then started, then succeeded.
    let hasty = "sdk: {attempts: 2, timeout: 500ms}";
    let scenario = tooled(&tool("at: 100%, deduplicates: 0%"), hasty, "0%", "runs_on");
    let all = totals(&scenario, &single());
    assert_eq!([all.side_effects, all.duplicate_side_effects], [all.requests, all.requests]);
    // The gateway has seen no failure, only a caller that went: there is nothing to reconcile.
    let all = totals(&scenario, &asking(single()));
    assert_eq!(all.duplicate_side_effects, all.requests);
    // The second try waits until the first has written, and continues with the stored result.
    let all = totals(&scenario, &looking(single()));
    assert_eq!([all.side_effects, all.duplicate_side_effects], [all.requests, 0]);
    assert_eq!([all.received, all.attempts], [2 * all.requests, 2 * all.requests]);
    // Who does not wait so long for the record sends nothing.
    let mut hurried = looking(single());
    hurried.side_effects.longest = Duration::from_millis(10);
    let all = totals(&scenario, &hurried);
    assert_eq!([all.side_effects, all.duplicate_side_effects], [all.requests, 0]);
    assert_eq!([all.received, all.attempts], [2 * all.requests, all.requests]);
    assert_eq!(all.ended_as[FailureClass::SideEffectUnknown as usize], all.requests);
}

#[test]
fn what_works_on_unseen_may_still_write_and_keeps_the_record_open() {
    // Given up after 500 ms, the call comes at 1.1 s: planned, then started, then succeeded.
    let hasty = |more: &str| {
        tries(
            2,
            &format!(
                "timeouts: {{attempt: 500ms}}\nmatrix: {{timeout: {{retry: bounded}}}}\n{more}"
            ),
        )
    };
    let scenario = tooled(&tool("at: 100%, deduplicates: 0%"), "", "0%", "runs_on");
    let all = totals(&scenario, &asking(hasty("")));
    assert_eq!([all.side_effects, all.duplicate_side_effects], [all.requests, 0]);
    assert_eq!(all.attempts, 2 * all.requests, "its result is stored, and a second try may use it");

    let scenario = tooled(&tool("at: 100%, deduplicates: 0%"), "", "0%", "stops");
    let all = totals(&scenario, &asking(hasty("")));
    assert_eq!([all.side_effects, all.attempts], [0, 2 * all.requests], "not called: sent again");

    // Who does not wait so long never learns it.
    let scenario = tooled(&tool("at: 100%, deduplicates: 0%"), "", "0%", "runs_on");
    let all = totals(&scenario, &asking(hasty("side_effects: {longest: 300ms}")));
    assert_eq!(all.ended_as[FailureClass::SideEffectUnknown as usize], all.requests);
    assert_eq!([all.side_effects, all.attempts], [all.requests, all.requests]);
}
