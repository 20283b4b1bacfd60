//! One action that was sent again is one demand, whatever the log is; and what a log of last attempts
//! cannot tell.

use std::io::Cursor;

use windtunnel::fit::{Evidence, Fit};
use windtunnel::log::{self, ColumnMap, End, Format, Read, Request, Shows};
use windtunnel::report::RowFormat;

use crate::formats::map;
use crate::worlds::{known, ledger, policy};

fn read(text: &str, format: Format) -> (Read, Vec<Request>) {
    let mut requests = Vec::new();
    let read = log::read("log", Cursor::new(text), format, |request| requests.push(request))
        .unwrap_or_else(|e| panic!("{e}"));
    requests.sort_by_key(|request| request.arrived_us);
    (read, requests)
}

/// Which requests were sent again, in the order they came; each of them belongs to the action of the one
/// before it.
fn resent(text: &str, format: Format) -> Vec<bool> {
    let (_, requests) = read(text, format);
    let named = |pair: &&[Request]| pair[1].resent && pair[1].action.is_some();
    let follows = |pair: &&[Request]| named(pair) && pair[0].end != End::Answered;
    for pair in requests.windows(2).filter(follows) {
        assert_eq!(pair[0].action, pair[1].action, "{pair:?}");
    }
    requests.iter().map(|request| request.resent).collect()
}

fn mapped(map: ColumnMap) -> Format {
    Format::Mapped { map: Box::new(map), json: false }
}

/// A failure at 0 s, the same again at 2 s, and a minute after that ended once more: by then it is
/// somebody else's.
const SAME: [bool; 3] = [false, true, false];

#[test]
fn a_table_of_attempts() {
    let table = "id,what,target,at,took,status\n\
        1,h,a,0,1,500\n\
        2,h,a,2,1,200\n\
        3,h,a,70,1,200\n";
    let columns = "time_unit: s\ncolumns: {request: id, fingerprint: what, target: target, sent: at, took: took, status: status}";
    assert_eq!(resent(table, mapped(map(columns))), SAME);
}

#[test]
fn a_table_of_requests() {
    let table = "id,what,at,took,status\n\
        1,h,0,1,503\n\
        2,h,2,1,200\n\
        3,h,70,1,200\n";
    let columns = "time_unit: s\nrows: requests\ncolumns: {request: id, fingerprint: what, sent: at, took: took, status: status}";
    assert_eq!(resent(table, mapped(map(columns))), SAME);
    let columns = "time_unit: s\nrows: requests\ncolumns: {request: id, action: what, sent: at, took: took, status: status}";
    // The caller says itself what is one action, however late.
    assert_eq!(resent(table, mapped(map(columns))), [false, true, true]);
}

#[test]
fn what_answered_is_not_asked_again() {
    let table = "id,what,at,took,status\n1,h,0,1,200\n2,h,2,1,500\n3,h,3.5,1,500\n4,h,9,1,200\n5,h,11,1,200\n";
    let columns = "time_unit: s\nrows: requests\ncolumns: {request: id, fingerprint: what, sent: at, took: took, status: status}";
    assert_eq!(resent(table, mapped(map(columns))), [false, false, true, true, false]);
}

/// LiteLLM whose failure callback fires once per request.
fn litellm(id: u64, at: u64, failed: bool, more: &str) -> String {
    let status = if failed { "failure" } else { "success" };
    let error = if failed {
        r#","error_information":{"error_code":"503","error_class":"ServiceUnavailableError"}"#
    } else {
        ""
    };
    format!(
        "{{\"id\":\"{id}\",\"call_type\":\"acompletion\",\"status\":\"{status}\",\"model\":\"m\",\"model_id\":\"east\",\"startTime\":{}.0,\"endTime\":{}.0{error}{more}}}\n",
        1_750_000_000 + at,
        1_750_000_001 + at
    )
}

#[test]
fn litellm_by_its_messages_its_cache_key_or_the_count_of_an_sdk() {
    let like = |more: &str| {
        let rows = [(1, 0, true), (2, 2, false), (3, 70, false)];
        rows.map(|(id, at, failed)| litellm(id, at, failed, more)).concat()
    };
    let messages = r#","messages":[{"role":"user","content":"hi"}]"#;
    assert_eq!(resent(&like(messages), Format::LiteLlm), SAME);
    assert_eq!(resent(&like(r#","cache_key":"k1""#), Format::LiteLlm), SAME);
    let redacted = r#","messages":[{"role":"user","content":"redacted-by-litellm"}]"#;
    assert_eq!(
        resent(&like(redacted), Format::LiteLlm),
        [false; 3],
        "redacted messages are all alike"
    );
    let count = |n: u32| {
        format!(r#","metadata":{{"requester_custom_headers":{{"x-stainless-retry-count":"{n}"}}}}"#)
    };
    let rows = litellm(1, 0, true, &count(0)) + &litellm(2, 2, false, &count(1));
    assert_eq!(resent(&rows, Format::LiteLlm), [false, true]);
}

fn envoy(id: u64, second: u64, status: u16, more: &str) -> String {
    format!(
        "{{\"start_time\":\"2025-06-10T09:{:02}:{:02}.000Z\",\"duration\":1000,\"response_code\":{status},\"response_flags\":\"-\",\"upstream_cluster\":\"openai\",\"request_id\":\"r{id}\"{more}}}\n",
        second / 60,
        second % 60
    )
}

#[test]
fn envoy_by_its_fields() {
    let like = |more: &str| {
        let rows = [(1, 0, 503), (2, 2, 200), (3, 70, 200)];
        rows.map(|(id, at, status)| envoy(id, at, status, more)).concat()
    };
    assert_eq!(resent(&like(r#","prompt_hash":"h""#), Format::Envoy), SAME);
    assert_eq!(resent(&like(r#","idempotency_key":"h""#), Format::Envoy), [false, true, true]);
    assert_eq!(resent(&like(""), Format::Envoy), [false; 3]);
    let rows = envoy(1, 0, 503, "") + &envoy(2, 2, 200, r#","x-stainless-retry-count":"1""#);
    assert_eq!(resent(&rows, Format::Envoy), [false, true]);
}

/// Three gateway calls of one trace, each with one attempt below it.
#[test]
fn spans_by_their_trace() {
    let span = |id: u64, at: u64, error: &str| {
        format!(
            "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{\"traceId\":\"aa\",\"spanId\":\"s{id}\",\"parentSpanId\":\"p{id}\",\"startTimeUnixNano\":\"{}000000000\",\"endTimeUnixNano\":\"{}000000000\",\"attributes\":[{{\"key\":\"gen_ai.operation.name\",\"value\":{{\"stringValue\":\"chat\"}}}},{{\"key\":\"gen_ai.request.model\",\"value\":{{\"stringValue\":\"m\"}}}}{error}]}}]}}]}}]}}\n",
            100 + at,
            101 + at
        )
    };
    let failed = r#",{"key":"error.type","value":{"stringValue":"503"}}"#;
    let text = span(1, 0, failed) + &span(2, 2, "") + &span(3, 70, "");
    assert_eq!(resent(&text, Format::Otlp { whole: false }), SAME);
    let again = r#",{"key":"http.request.header.x-stainless-retry-count","value":{"arrayValue":{"values":[{"stringValue":"2"}]}}}"#;
    let text = span(1, 0, "") + &span(2, 2, again);
    assert_eq!(resent(&text, Format::Otlp { whole: false }), [false, true]);
}

/// Our own ledger, of an application that asks again after a failure.
#[test]
fn our_ledger() {
    const SCENARIO: &str = r"
name: again
shows: x
expect: x
horizon: 10m
classes:
  chat:
    groups: {primary: [first]}
    application: {attempts: 3}
    traffic:
      arrivals: {poisson: 2/s}
      tokens: {input: {constant: 100}, output: {constant: 10}}
targets:
  first: {card: plain-server}
weather:
  - name: incident
    hits: {target: first}
    when: always
    effects:
      failures: {share: 40%, mix: [{class: server_error, status: 500, weight: 1}]}
";
    let again = known(&[("again.yaml", SCENARIO)]);
    let log = ledger(&again.scenario, &policy("single"), 3, 1, RowFormat::Csv);
    let text = String::from_utf8(log).expect("UTF-8");
    let format = Format::Ledger { json: false };
    let (_, requests) = read(&text, format.clone());
    let actions = requests.iter().filter(|request| !request.resent).count();
    assert!(requests.len() > actions + 100, "{actions} of {}", requests.len());
    let (_, evidence, fit) = crate::worlds::fitted(text.as_bytes(), false);
    let trace = fit.files(&evidence).into_iter().find(|file| file.path == "traffic/chat.csv");
    let demand = trace.expect("it has a class").text().lines().count() - 1;
    assert_eq!(demand, actions, "what was sent again is no demand of its own");
}

fn fitted(text: &str, format: Format) -> (Evidence, Fit) {
    let mut evidence = Evidence::new();
    let read = log::read("log", Cursor::new(text), format, |request| evidence.take(&request))
        .unwrap_or_else(|e| panic!("{e}"));
    evidence.finish();
    let fit = Fit::of("fitted", "log", &read, &evidence);
    (evidence, fit)
}

#[test]
fn demand_does_not_grow_by_what_is_sent_again() {
    let messages = |n: u64| format!(r#","messages":"{n}""#);
    let of = |n: u64| {
        let at = n * 10;
        litellm(2 * n, at, true, &messages(n)) + &litellm(2 * n + 1, at + 3, false, &messages(n))
    };
    let text: String = (0..50).map(of).collect();
    let (evidence, fit) = fitted(&text, Format::LiteLlm);
    let trace = fit.files(&evidence).into_iter().find(|file| file.path.starts_with("traffic/"));
    assert_eq!(trace.expect("a class").text().lines().count() - 1, 50);
    assert_eq!((fit.requests, fit.resent), (100, 50));
    // The log of the actions says that all were answered.
    assert_eq!(fit.lived.overall().requests, 50);
    assert_eq!(fit.lived.overall().answered.resend, 50);
}

#[test]
fn a_log_of_last_attempts_says_so_and_is_held_to_no_more_than_it_shows() {
    let text: String = (0..40).map(|n| envoy(n, n, 200, "")).collect();
    let (read, _) = read(&text, Format::Envoy);
    assert_eq!(read.shows, Shows::LastAttempt);
    let (_, fit) = fitted(&text, Format::Envoy);
    for (measure, told) in [
        ("success", true),
        ("latency_p50", true),
        ("raw_success", false),
        ("attempts_per_request", false),
        ("added_latency_p99", false),
    ] {
        assert_eq!(fit.tells(measure), told, "{measure}");
    }
    assert!(!fit.tells_targets());
    let said = fit.said().join("\n");
    assert!(said.contains("attempts before the last are not seen"), "{said}");
    assert!(said.contains("lower bounds; `--counters`"), "{said}");
}

/// With Envoy's count of attempts, what came before the last is known to have failed.
#[test]
fn a_count_of_attempts_tells_how_many_failed() {
    let count = |n: u64| format!(r#","upstream_request_attempt_count":{n}"#);
    // Of a hundred, thirty took two attempts and ten three.
    let tries = |n: u64| {
        if n % 10 < 3 {
            2
        } else if n % 10 == 3 {
            3
        } else {
            1
        }
    };
    let text: String = (0..100).map(|n| envoy(n, n, 200, &count(tries(n)))).collect();
    let (_, fit) = fitted(&text, Format::Envoy);
    assert!(fit.tells("attempts_per_request") && fit.tells("raw_success") && !fit.tells_targets());
    let lived = fit.lived.overall();
    assert_eq!((lived.requests, lived.attempts), (100, 150));
    assert_eq!((lived.answered.raw, lived.answered.retry), (60, 40));
    assert_eq!(fit.attempts, 150);
    let text = fit.text(&read(&text, Format::Envoy).0);
    assert!(text.contains("40 of 100 failed (40.00 %)"), "{text}");
    // Forty had a second try, of which ten failed again.
    assert!(text.contains("10 of 40 second tries failed again"), "{text}");
}

/// LiteLLM that logs every attempt is told from one that logs the last.
#[test]
fn several_rows_of_one_request_show_every_attempt() {
    let trace = r#","trace_id":"t1""#;
    let both = litellm(1, 0, true, trace) + &litellm(2, 2, false, trace);
    assert_eq!(read(&both, Format::LiteLlm).0.shows, Shows::EveryAttempt);
    let once = litellm(1, 0, true, "") + &litellm(2, 2, false, "");
    assert_eq!(read(&once, Format::LiteLlm).0.shows, Shows::LastAttempt);
}
