//! Replicas of a gateway that tell each other what they learn, between the two that are known: one
//! router for all, and routers that tell each other nothing.

#[path = "common/lab.rs"]
mod lab;

use lab::{RATE, Run, agrees, in_worlds, policy, scenario, share, target};
use windtunnel::record::{AttemptRow, Rows};
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::Duration;
use windtunnel_policy::config::{Policy, Replicas, Sharing};

/// One class at this rate, its sessions unique, on a target that fails this share.
fn service(rate: f64, horizon: &str, fails: &str, more: &str) -> Scenario {
    let only = target("only", "constant: 100ms", "constant: 10ms", fails);
    scenario(&format!(
        "
name: service
shows: replicas
expect: what arithmetic says
warm_up: 10s
horizon: {horizon}
classes:
  chat:
    groups: {{primary: [only]}}
    traffic:
      arrivals: {{poisson: {rate}/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 1}}, max_output: 1}}
targets:{only}{more}"
    ))
}

fn replicas(count: u32, sharing: Sharing, of: &Policy) -> Policy {
    Policy { replicas: Replicas { count, sharing }, ..of.clone() }
}

const AT_ONCE: Sharing = Sharing::After(Duration::ZERO);

/// Opens at half of at least 20 calls in 10 s.
fn twenty_calls() -> Policy {
    policy(
        "
name: twenty-calls
attempts: {max: 1}
cooldown: {rule: none}
breakers:
  - key: [deployment]
    trip: [{rate_over_time: {failures: 50%, window: 10s, min_calls: 20}}]
    open_for: 30s
",
    )
}

/// Whether any attempt was refused by a breaker: some request was never sent.
fn opened(run: &Run) -> bool {
    run.measured().any(|row| row.result.attempts == 0)
}

#[test]
fn twenty_calls_in_ten_seconds_are_seen_on_one_replica_and_on_none_of_ten() {
    // At the trace's 5.53 requests a second one replica sees 55 of them in 10 s; each of ten some
    // five or six, and 20 in any window of a quarter of an hour hardly ever.
    let down = service(RATE, "900s", "100%", "");
    let opens = |policy: &Policy| {
        let worlds = in_worlds(&down, policy, 10, WorldOptions::default(), opened);
        worlds.into_iter().filter(|opened| *opened).count()
    };
    let rule = twenty_calls();
    assert_eq!(opens(&rule), 10, "one");
    assert_eq!(opens(&replicas(10, Sharing::Private, &rule)), 0, "ten apart");
    for after in [0, 500, 5_000] {
        let sharing = Sharing::After(Duration::from_millis(after));
        assert_eq!(opens(&replicas(10, sharing, &rule)), 10, "ten that tell after {after} ms");
    }
}

/// What was sent, but for the order in which attempts of one moment ended.
fn attempts(rows: &Rows) -> Vec<AttemptRow> {
    let mut attempts = rows.attempts.clone();
    attempts.sort_by_key(|row| (row.request, row.number));
    attempts
}

#[test]
fn told_after_the_end_is_told_nothing() {
    let half = service(20.0, "300s", "50%", "");
    let rule = twenty_calls();
    let run = |sharing| {
        let policy = replicas(4, sharing, &rule);
        in_worlds(&half, &policy, 2, WorldOptions::default(), |run| attempts(&run.rows))
    };
    assert!(run(Sharing::Private) == run(Sharing::After(Duration::from_secs(86_400))));
    assert!(run(Sharing::Private) != run(AT_ONCE));
}

#[test]
fn told_at_once_they_decide_as_one() {
    // Nothing here hangs on probes, of which each replica has its own: a breaker that closes by time,
    // a cooldown and a budget.
    let as_one = policy(
        "
name: as-one
attempts: {max: 2, max_same_target: 2}
envelope: {estimate: {enabled: false}}
backoff: {base: 0s, max: 0s, jitter: fixed}
breakers:
  - key: [deployment]
    trip: [{rate_over_time: {failures: 50%, window: 10s, min_calls: 20}}]
    open_for: 5s
    after_open: close
retry_budgets:
  - governs: [retry]
    charged_to: overall
    kind: {ratio: {share: 20%, window: 10s, min_per_second: 0}}
",
    );
    let half = service(20.0, "300s", "50%", "");
    let run = |policy: &Policy| {
        in_worlds(&half, policy, 2, WorldOptions::default(), |run| {
            assert!(opened(run));
            attempts(&run.rows)
        })
    };
    assert!(run(&as_one) == run(&replicas(4, AT_ONCE, &as_one)));
}

#[test]
fn a_group_s_limit_is_one_for_all_who_tell_and_one_for_each_who_do_not() {
    // Five requests a second, at a door that lets in one.
    let limited = |window: &str| {
        policy(&format!(
            "
name: limited
attempts: {{max: 1}}
groups: {{primary: {{admission: {{rpm: 60, window: {window}}}}}}}
"
        ))
    };
    let busy = service(5.0, "600s", "0%", "");
    for window in ["sliding", "minute", "{paced: 5}"] {
        let of = |policy: &Policy| {
            in_worlds(&busy, policy, 2, WorldOptions::default(), |run| attempts(&run.rows))
        };
        let rule = limited(window);
        let one = of(&rule);
        assert!(of(&replicas(4, AT_ONCE, &rule)) == one, "{window}: told at once");
        let apart = of(&replicas(4, Sharing::Private, &rule));
        // 300 a minute are 75 at each of four doors, which lets in 60.
        let lets_in = apart[0].len() as f64 / one[0].len() as f64;
        assert!((3.5..=4.0).contains(&lets_in), "{window}: {lets_in} times as many");
        // Told late, it is overdrawn by the five that come meanwhile, or less: an even flow pays back.
        let late = of(&replicas(4, Sharing::After(Duration::from_secs(1)), &rule));
        let over = late[0].len() as f64 / one[0].len() as f64;
        assert!((0.95..1.0 + 10.0 / 60.0).contains(&over), "{window}: {over} times as many");
    }
}

/// Two retries a second at most, of ten failures.
fn two_a_second() -> Policy {
    policy(
        "
name: two-a-second
attempts: {max: 2, max_same_target: 2}
envelope: {estimate: {enabled: false}}
backoff: {base: 0s, max: 0s, jitter: fixed}
retry_budgets:
  - governs: [retry]
    charged_to: overall
    kind: {token_bucket: {capacity: 2, per_request: 0%, per_second: 2}}
",
    )
}

#[test]
fn a_budget_is_spent_once_by_all_or_once_by_each() {
    let down = service(20.0, "510s", "100%", "");
    let retries = |policy: &Policy| {
        in_worlds(&down, policy, 10, WorldOptions::default(), |run| {
            let all = run.totals.overall();
            share(all.attempts - all.requests, 500)
        })
    };
    let rule = two_a_second();
    agrees("one", &retries(&rule), 2.0, 0.05);
    agrees("five that tell at once", &retries(&replicas(5, AT_ONCE, &rule)), 2.0, 0.05);
    // Each of five is asked four times a second for two: nearly all of that is granted, but for
    // moments in which a bucket is full.
    let apart = retries(&replicas(5, Sharing::Private, &rule));
    assert!(apart.iter().all(|rate| *rate > 8.5), "{apart:?}");
    // The longer the way, the more is granted meanwhile.
    let mut before = 2.1;
    for ms in [500, 2_000, 10_000] {
        let late = retries(&replicas(5, Sharing::After(Duration::from_millis(ms)), &rule));
        let least = late.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least > before * 0.9, "after {ms} ms: {late:?} against {before}");
        before = least;
    }
}

#[test]
fn a_cooldown_is_heard_of() {
    let limited = |policy: &Policy| {
        let scenario = service(
            20.0,
            "120s",
            "0%",
            "
weather:
  - name: limited
    hits: {target: only}
    when: always
    effects:
      failures:
        share: 100%
        mix: [{class: rate_limited, status: 429, weight: 1, retry_after: 10s}]
        stick: {request: 0%, window: 0%, free: 100%}
",
        );
        let sent = in_worlds(&scenario, policy, 1, WorldOptions::default(), |run| {
            run.rows.attempts.iter().filter(|row| row.was_sent).count()
        });
        sent[0]
    };
    let cool = policy("name: cool\nattempts: {max: 1}\ncooldown: {rule: retry_after}\n");
    let one = limited(&cool);
    let four = limited(&replicas(4, Sharing::Private, &cool));
    let told = limited(&replicas(4, Sharing::After(Duration::from_millis(1)), &cool));
    // What is in flight when it is told comes on top.
    assert!(one <= 15 && told <= one + 5 && four >= 3 * one, "{one}, {told}, {four}");
}
