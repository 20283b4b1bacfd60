//! Kill switches on a schedule.

use windtunnel::record::AttemptRow;
use windtunnel_policy::{Duration, Instant};

use super::{policy, run, scenario};

/// North fails half of the time from 60 s to 120 s; someone acts on it as `operators` says.
fn service(operators: &str) -> String {
    format!(
        "
name: service
shows: an operator
expect: what the operator does
horizon: 200s
classes:
  chat:
    groups: {{primary: [north], fallbacks: [[south]]}}
    traffic:
      arrivals: {{poisson: 10/s}}
      tokens: {{input: {{constant: 10}}, output: {{constant: 10}}, max_output: 10}}
targets:
  north: {{card: plain-server}}
  south: {{card: plain-server}}
weather:
  - name: half
    hits: {{target: north}}
    when: {{window: {{from: 60s, lasts: 60s}}}}
    effects: {{failures: {{share: 50%, mix: [{{class: server_error, status: 500, weight: 1}}]}}}}
operators:
{operators}
"
    )
}

const POLICY: &str = "
name: gateways
attempts: {max: 3}
replicas: {count: 3}
";

/// First and last second in which `is` holds of an attempt, of all rows.
fn seconds_of(rows: &[AttemptRow], is: impl Fn(&AttemptRow) -> bool) -> Vec<u64> {
    let sent = rows.iter().filter(|row| is(row)).map(|row| row.sent);
    let mut seconds: Vec<u64> =
        sent.map(|at| (at - Instant::ZERO).as_micros() / 1_000_000).collect();
    seconds.sort_unstable();
    seconds.dedup();
    seconds
}

fn at(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}

#[test]
fn a_target_is_out_from_the_throw_until_it_is_put_back() {
    let operator = "
  - name: on-call
    switch: {targets: {target: north}}
    when: {incident: {weather: half, after: 20s, back_after: 10s}}";
    let (_, with) = run(&scenario(&service(operator)), &policy(POLICY), 1);
    let (_, without) = run(&scenario(&service("  []")), &policy(POLICY), 1);
    let north = |row: &AttemptRow| row.target.0 == 0;
    let used = seconds_of(&with.attempts, north);
    assert!(used.iter().all(|second| !(80..130).contains(second)), "{used:?}");
    assert!(used.contains(&79) && used.contains(&130), "out at 80 s, in at 130 s: {used:?}");
    let before = |rows: &[AttemptRow]| {
        rows.iter().filter(|row| row.ended < at(80)).copied().collect::<Vec<_>>()
    };
    assert!(before(&with.attempts) == before(&without.attempts), "nothing happened before");
    let south = seconds_of(&with.attempts, |row| row.target.0 == 1 && row.recovery.is_none());
    assert!((81..129).all(|second| south.contains(&second)), "the fallback serves: {south:?}");
}

#[test]
fn what_is_over_before_anybody_has_acted_needs_nobody() {
    let operator = "
  - name: on-call
    switch: {targets: {target: north}}
    when: {incident: {weather: half, after: 60s, back_after: 10s}}";
    let (_, with) = run(&scenario(&service(operator)), &policy(POLICY), 1);
    let (_, without) = run(&scenario(&service("  []")), &policy(POLICY), 1);
    assert!(with == without);
}

#[test]
fn without_recovery_failures_go_to_the_caller() {
    let operators = "
  - name: freeze
    switch: recovery
    when: {window: {from: 70s, lasts: 10s}}
  - name: longer
    switch: recovery
    when: {window: {from: 75s, lasts: 15s}}";
    let (_, rows) = run(&scenario(&service(operators)), &policy(POLICY), 1);
    let failed = |row: &AttemptRow| row.failure.is_some();
    let decided = |from: u64, to: u64| {
        let inside = move |row: &&AttemptRow| at(from) <= row.ended && row.ended < at(to);
        let failures: Vec<&AttemptRow> =
            rows.attempts.iter().filter(|row| failed(row)).filter(inside).collect();
        assert!(failures.len() > 10, "{}", failures.len());
        let stopped = |row: &&&AttemptRow| {
            row.decision.is_some_and(|decision| format!("{decision:?}").contains("KillSwitch"))
        };
        (failures.iter().filter(stopped).count(), failures.len())
    };
    let (stopped, failures) = decided(70, 90);
    assert_eq!(stopped, failures, "until the last of them lets go");
    assert_eq!(decided(60, 70).0 + decided(90, 120).0, 0);
}
