//! The three moments of a stream that may count as its first: headers, a first chunk without content, and
//! the first output. All times are worked out by hand.

#[path = "common/lab.rs"]
mod lab;

use lab::{Run, Server, in_worlds, policy, scenario};
use windtunnel::record::{AttemptRow, RequestRow};
use windtunnel::scenario::Scenario;
use windtunnel::world::WorldOptions;
use windtunnel_policy::config::Policy;
use windtunnel_policy::outcome::{FailureClass, Phase};
use windtunnel_policy::{Duration, Instant};

/// Headers after 100 ms, content after 500 ms; a further token takes 100 ms, and there is one.
fn server(name: &str, chunk_after_headers: Option<&str>, more: &str) -> String {
    let latency = Server {
        headers: "constant: 100ms",
        first_token: "constant: 500ms",
        per_output_token: "constant: 100ms",
        more,
        ..Server::default()
    };
    let chunk = chunk_after_headers.map_or(String::new(), |after| {
        format!("      chunk_after_headers: {{constant: {after}}}\n      prompt_tokens")
    });
    match chunk_after_headers {
        Some(_) => latency.named(name).replacen("      prompt_tokens", &chunk, 1),
        None => latency.named(name),
    }
}

/// Streams at a target that fails as `fails` says, and one that does not fail.
fn streams(chunk_after_headers: Option<&str>, fails: &str, weather: &str) -> Scenario {
    scenario(&format!(
        "
name: streams
shows: what counts as the first of a stream
expect: what can be worked out by hand
horizon: 1m
classes:
  chat:
    groups: {{primary: [east], fallbacks: [[west]]}}
    traffic:
      streamed: 100%
      arrivals: {{poisson: 2/s}}
      tokens: {{input: {{constant: 1}}, output: {{constant: 2}}, max_output: 2}}
targets:{}{}{weather}
",
        server("east", chunk_after_headers, fails),
        server("west", chunk_after_headers, ""),
    ))
}

/// An error inside a 200, after the headers and before any content: when that was due.
const ERROR_INSIDE: &str = "    failures:
      source: textbook
      mix: [{class: overloaded, status: 200, phase: before_output, share: 100%}]
";

fn streaming(says: &str) -> Policy {
    policy(&format!(
        "
name: streaming
attempts: {{max: 2, allow_retry: false}}
cooldown: {{rule: none}}
{says}
"
    ))
}

fn look(scenario: &Scenario, policy: &Policy, each: impl Fn(&RequestRow, &[&AttemptRow])) {
    in_worlds(scenario, policy, 1, WorldOptions::default(), |run: &Run| {
        assert!(run.rows.requests.len() > 80);
        for row in &run.rows.requests {
            let of = |attempt: &&AttemptRow| attempt.request == row.request;
            let attempts: Vec<&AttemptRow> = run.rows.attempts.iter().filter(of).collect();
            each(row, &attempts);
        }
    });
}

/// Milliseconds from the request's arrival.
fn ms(row: &RequestRow, at: Option<Instant>) -> Option<u64> {
    at.map(|at| at.since(row.arrived).as_micros() / 1_000)
}

#[test]
fn released_at_the_first_chunk_a_later_error_is_final() {
    let down = streams(Some("150ms"), ERROR_INSIDE, "");
    look(&down, &streaming("streaming: at_first_chunk"), |row, attempts| {
        let [only] = attempts else { panic!("{attempts:?}") };
        let seen = [only.headers, only.first_chunk, only.first_output, Some(only.ended)];
        assert_eq!(seen.map(|at| ms(row, at)), [Some(100), Some(250), None, Some(500)]);
        assert_eq!(
            (only.failure, only.phase),
            (Some(FailureClass::Overloaded), Phase::BeforeOutput)
        );
        assert_eq!(row.result.outcome.name(), "partial");
        assert!(row.released && !row.answered, "the caller has got a chunk, and no more");
    });
}

#[test]
fn released_at_content_the_same_error_is_recovered() {
    let down = streams(Some("150ms"), ERROR_INSIDE, "");
    look(&down, &streaming("streaming: pass_through"), |row, attempts| {
        let [first, second] = attempts else { panic!("{attempts:?}") };
        let seen = [first.headers, first.first_chunk, first.first_output, Some(first.ended)];
        assert_eq!(seen.map(|at| ms(row, at)), [Some(100), Some(250), None, Some(500)]);
        let seen = [second.headers, second.first_chunk, second.first_output, Some(second.ended)];
        assert_eq!(seen.map(|at| ms(row, at)), [Some(600), Some(750), Some(1_000), Some(1_100)]);
        assert!(row.answered);
        assert_eq!(row.ttft, Some(Duration::from_millis(1_000)));
    });
}

#[test]
fn an_error_between_headers_and_chunk_is_final_at_headers_alone() {
    // The attempt is given up at 200 ms: after its headers, and before its chunk.
    let slow = streams(Some("150ms"), "", "");
    let cut =
        |moment: &str| streaming(&format!("timeouts: {{attempt: 200ms}}\nstreaming: {moment}"));
    look(&slow, &cut("at_headers"), |row, attempts| {
        assert_eq!((row.result.outcome.name(), attempts.len()), ("partial", 1));
        assert_eq!(attempts[0].first_chunk, None);
    });
    look(&slow, &cut("at_first_chunk"), |row, attempts| {
        assert_eq!((row.result.outcome.name(), attempts.len()), ("exhausted", 2));
        assert!(!row.released);
    });
}

#[test]
fn the_wait_for_the_first_token_ends_where_the_policy_says() {
    let slow = streams(Some("150ms"), "", "");
    // Headers come after 100 ms, the chunk after 250, content after 500.
    for (means, fits) in [("headers", 100), ("chunk", 250), ("output", 500)] {
        for limit in [99, 101, 249, 251, 499, 501] {
            let timeouts = format!("{{first_token: {limit}ms, first_token_means: {means}}}");
            let policy = streaming(&format!("timeouts: {timeouts}"));
            look(&slow, &policy, |row, attempts| {
                assert_eq!(row.answered, limit > fits, "{means} within {limit} ms");
                let ended = if limit > fits { 600 } else { limit };
                assert_eq!(ms(row, Some(attempts[0].ended)), Some(ended), "{means}, {limit} ms");
            });
        }
    }
}

#[test]
fn a_chunk_is_work_and_slows_down_with_it() {
    let weather = "
weather:
  - name: slow
    hits: {target: east}
    when: always
    effects: {speed: 0.5}
";
    let slow = streams(Some("150ms"), "", weather);
    look(&slow, &streaming("streaming: at_first_chunk"), |row, attempts| {
        let only = attempts[0];
        let seen = [only.headers, only.first_chunk, only.first_output, Some(only.ended)];
        assert_eq!(seen.map(|at| ms(row, at)), [Some(200), Some(500), Some(1_000), Some(1_200)]);
        // A chunk without content is no first token to the caller.
        assert_eq!(row.ttft, Some(Duration::from_millis(1_000)));
    });
}

#[test]
fn where_no_chunk_comes_before_content_content_is_the_first_chunk() {
    type Seen = (Vec<AttemptRow>, Vec<RequestRow>);
    let rows = |chunk_after_headers, moment: &str| -> Seen {
        let scenario = streams(chunk_after_headers, ERROR_INSIDE, "");
        let policy = streaming(&format!("streaming: {moment}"));
        let mut runs = in_worlds(&scenario, &policy, 1, WorldOptions::default(), |run| {
            (run.rows.attempts.clone(), run.rows.requests.clone())
        });
        runs.remove(0)
    };
    let usual = rows(None, "pass_through");
    assert!(usual.1.iter().all(|row| row.answered && row.result.attempts == 2));
    // Not said, with the content, or after it: the same in all that is recorded.
    for chunk_after_headers in [None, Some("400ms"), Some("2s")] {
        assert_eq!(rows(chunk_after_headers, "at_first_chunk"), usual);
    }
    assert_ne!(rows(Some("399ms"), "at_first_chunk"), usual);
}
