//! Logs of other gateways: what each row means, and what cannot be used.

use std::io::Cursor;

use windtunnel::input::SourceFile;
use windtunnel::log::{self, ColumnMap, End, Format, Read, Request, Shows};
use windtunnel_policy::outcome::FailureClass;

fn requests(text: &str, format: Format) -> (Read, Vec<Request>) {
    let mut requests = Vec::new();
    let read = log::read("log", Cursor::new(text), format, |request| requests.push(request))
        .unwrap_or_else(|e| panic!("{e}"));
    (read, requests)
}

pub(crate) fn map(text: &str) -> ColumnMap {
    let file = SourceFile { name: "map.yaml".into(), text: text.into(), folder: None };
    ColumnMap::read(&file).unwrap_or_else(|e| panic!("{e}"))
}

/// Two tries of one call: a 429 at the first deployment, an answer at the second.
const LITELLM: &str = r#"
{"id":"a","trace_id":"t1","call_type":"acompletion","status":"failure","model":"gpt-4o","model_group":"chat","model_id":"east","custom_llm_provider":"azure","startTime":1750000000.5,"endTime":1750000000.75,"completionStartTime":1750000000.75,"response_cost":0,"prompt_tokens":0,"completion_tokens":0,"error_str":"rate limit","error_information":{"error_code":"429","error_class":"RateLimitError","llm_provider":"azure"}}
{"id":"b","trace_id":"t1","call_type":"acompletion","status":"success","model":"gpt-4o","model_group":"chat","model_id":"west","custom_llm_provider":"azure","startTime":1750000001.0,"endTime":1750000003.0,"completionStartTime":1750000001.4,"response_cost":0.00275,"prompt_tokens":300,"completion_tokens":200}
{"id":"c","trace_id":"t2","call_type":"aembedding","status":"success","model":"e","startTime":1,"endTime":2}
{"id":"d","trace_id":"t3","call_type":"acompletion","status":"failure","model":"gpt-4o","model_id":"east","startTime":1750000010.0,"endTime":1750000070.0,"error_information":{"error_code":"408","error_class":"Timeout"}}
not json
"#;

#[test]
fn litellm_calls_of_one_trace_are_one_request() {
    let (read, requests) = requests(LITELLM, Format::LiteLlm);
    let [tried, timed_out] = &requests[..] else { panic!("{requests:?}") };
    assert_eq!((tried.end, timed_out.end), (End::Answered, End::Failed));
    let names: Vec<&str> = read.names.targets.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["east", "west"]);
    let [refused, answered] = tried.attempts[..] else { panic!("{tried:?}") };
    assert_eq!(refused.failure, Some(FailureClass::RateLimited));
    assert_eq!((refused.status, refused.ended_us - refused.sent_us), (429, 250_000));
    assert_eq!(answered.first_us, Some(1_750_000_001_400_000));
    assert_eq!((answered.input, answered.output), (300, 200));
    assert_eq!(answered.cost_pico, Some(2_750_000_000));
    let given_up = timed_out.attempts[0];
    assert_eq!((given_up.failure, given_up.cancelled), (Some(FailureClass::Timeout), true));
    // An embedding and a line of noise, each counted.
    assert_eq!((read.rows, read.unusable.count()), (5, 2));
    assert!(read.format.blind_to().iter().any(|said| said.contains("lower bound")));
}

/// Rows of the table of spend logs: metadata is JSON in a text, the bill is called otherwise, and the
/// first row is of a version that says only of failures how they ended.
const SPEND_LOGS: &str = r#"
{"request_id":"a","call_type":"acompletion","cache_hit":"None","startTime":"2025-06-10 09:00:00.250000","endTime":"2025-06-10 09:00:02","completionStartTime":"2025-06-10 09:00:00.500000","model":"gpt-4o","model_id":"east","metadata":"{\"status\": null, \"usage_object\": {\"prompt_tokens_details\": {\"cached_tokens\": 128}}}","cache_key":"Cache OFF","spend":0.00275,"prompt_tokens":300,"completion_tokens":200,"messages":"{}"}
{"request_id":"b","session_id":"s","call_type":"acompletion","startTime":"2025-06-10T09:00:03Z","endTime":"2025-06-10T09:00:04Z","model":"gpt-4o","model_id":"east","metadata":"{\"status\": \"failure\", \"error_information\": {\"error_code\": \"429\", \"error_class\": \"RateLimitError\", \"error_message\": \"slow down\"}}","spend":0,"prompt_tokens":0,"completion_tokens":0,"messages":"{}"}
{"request_id":"c","call_type":"acompletion","startTime":"2025-06-10T09:00:05Z","endTime":"2025-06-10T09:00:06Z","model":"gpt-4o","model_id":"east","status":"success","metadata":"{}","spend":0.1,"prompt_tokens":1,"completion_tokens":1,"messages":"{}"}
{"request_id":"d","call_type":"acompletion","cache_hit":"True","startTime":"2025-06-10T09:00:07Z","endTime":"2025-06-10T09:00:07Z","model":"gpt-4o","status":"success","metadata":"{}","spend":0}
"#;

#[test]
fn litellm_spend_logs_say_the_same_in_other_words() {
    let (read, requests) = requests(SPEND_LOGS, Format::LiteLlm);
    let told: Vec<(End, bool)> = requests.iter().map(|r| (r.end, r.resent)).collect();
    // Nobody's messages are kept, so that they are all alike: nothing was sent again.
    assert_eq!(told, [(End::Answered, false), (End::Failed, false), (End::Answered, false)]);
    let answered = requests[0].attempts[0];
    assert_eq!(answered.first_us.map(|first| first - answered.sent_us), Some(250_000));
    assert_eq!((answered.input, answered.cached, answered.output), (300, 128, 200));
    assert_eq!(answered.cost_pico, Some(2_750_000_000));
    let refused = requests[1].attempts[0];
    assert_eq!((refused.failure, refused.status), (Some(FailureClass::RateLimited), 429));
    // An answer from the gateway's own cache is no call.
    assert_eq!((read.rows, read.unusable.count()), (4, 1));
}

const ENVOY: &str = r#"
{"start_time":"2025-06-10T09:00:00.000Z","duration":1200,"response_code":200,"response_flags":"-","upstream_cluster":"openai","request_id":"r1","genai_model_name":"gpt-4o","genai_tokens_input":100,"genai_tokens_output":50}
{"start_time":"2025-06-10T09:00:01.000Z","duration":15000,"response_code":504,"response_flags":"UT","upstream_cluster":"openai","request_id":"r2"}
{"start_time":"2025-06-10T09:00:02.000Z","duration":3,"response_code":503,"response_flags":"UF,URX","upstream_cluster":"openai","request_id":"r3"}
{"start_time":"2025-06-10T09:00:03.000Z","duration":3,"response_code":404,"response_flags":"NR","upstream_cluster":"-","request_id":"r4"}
{"start_time":"yesterday","duration":3,"response_code":200,"upstream_cluster":"openai","request_id":"r5"}
"#;

#[test]
fn envoy_flags_say_how_it_failed() {
    let (read, requests) = requests(ENVOY, Format::Envoy);
    let of = |i: usize| requests[i].attempts.first().and_then(|attempt| attempt.failure);
    assert_eq!(requests.len(), 4);
    assert_eq!((of(0), of(1)), (None, Some(FailureClass::Timeout)));
    assert_eq!(of(2), Some(FailureClass::Transport));
    assert!(requests[3].attempts.is_empty(), "it was never sent");
    assert_eq!(requests[0].attempts[0].output, 50);
    assert_eq!(read.unusable.count(), 1);
    assert_eq!(read.shows, Shows::LastAttempt);
}

#[test]
fn spans_below_one_parent_are_one_request() {
    let span = |id: &str, parent: &str, from: u64, more: &str| {
        format!(
            r#"{{"traceId":"aa","spanId":"{id}","parentSpanId":"{parent}","name":"chat m","startTimeUnixNano":"{from}000000000","endTimeUnixNano":"{}000000000","attributes":[{{"key":"gen_ai.operation.name","value":{{"stringValue":"chat"}}}},{{"key":"gen_ai.request.model","value":{{"stringValue":"m"}}}},{{"key":"gen_ai.provider.name","value":{{"stringValue":"openai"}}}}{more}]}}"#,
            from + 2
        )
    };
    let failed = r#",{"key":"error.type","value":{"stringValue":"503"}}"#;
    let tokens = r#",{"key":"gen_ai.usage.input_tokens","value":{"intValue":"70"}}"#;
    let spans =
        [span("1", "p", 10, failed), span("2", "p", 13, tokens), span("3", "q", 20, "")].join(",");
    let batch = format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{spans}]}}]}}]}}"#);
    let (_, in_lines) = requests(&format!("{batch}\n"), Format::Otlp { whole: false });
    let pretty = batch.replace(",{", ",\n{");
    let (_, whole) = requests(&pretty, Format::Otlp { whole: true });
    assert_eq!(in_lines, whole);
    assert_eq!(whole.len(), 2);
    let mut ends: Vec<usize> = whole.iter().map(|request| request.attempts.len()).collect();
    ends.sort_unstable();
    assert_eq!(ends, [1, 2]);
    let two = whole.iter().find(|request| request.attempts.len() == 2).expect("one has two");
    assert_eq!(two.end, End::Answered);
    assert_eq!(two.attempts[0].failure, Some(FailureClass::Overloaded));
    assert_eq!((two.attempts[0].status, two.attempts[1].input), (503, 70));
}

/// As Tempo hands out traces, of an instrumentation older than the conventions and of one that is newer.
#[test]
fn spans_of_other_times_are_read() {
    let text = |key: &str, value: &str| {
        format!(r#"{{"key":"{key}","value":{{"stringValue":"{value}"}}}}"#)
    };
    let number =
        |key: &str, value: u32| format!(r#"{{"key":"{key}","value":{{"intValue":"{value}"}}}}"#);
    let span = |id: &str, status: &str, attributes: &[String]| {
        format!(
            r#"{{"traceId":"{id}","spanId":"{id}","startTimeUnixNano":"1750000000000000000","endTimeUnixNano":"1750000004000000000","status":{{"code":"{status}"}},"attributes":[{}]}}"#,
            attributes.join(",")
        )
    };
    let old = [
        text("llm.request.type", "chat"),
        text("gen_ai.system", "openai"),
        text("gen_ai.request.model", "m"),
        number("gen_ai.usage.prompt_tokens", 70),
        number("gen_ai.usage.completion_tokens", 7),
    ];
    let new = [
        text("gen_ai.operation.name", "chat"),
        text("gen_ai.request.model", "m"),
        r#"{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":0.5}}"#.to_owned(),
        number("gen_ai.usage.cache_read.input_tokens", 30),
        number("gen_ai.usage.input_tokens", 40),
    ];
    let failed = [text("gen_ai.operation.name", "chat"), text("gen_ai.request.model", "m")];
    let spans = [
        span("aa", "STATUS_CODE_UNSET", &old),
        span("bb", "STATUS_CODE_OK", &new),
        span("cc", "STATUS_CODE_ERROR", &failed),
    ];
    let batch = format!(r#"{{"batches":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","));
    let (_, requests) = requests(&format!("{batch}\n"), Format::Otlp { whole: false });
    let [old, new, failed] = [0, 1, 2].map(|i| requests[i].attempts[0]);
    assert_eq!((old.input, old.output, old.first_us), (70, 7, None));
    assert_eq!((new.input, new.cached), (40, 30));
    assert_eq!(new.first_us.map(|first| first - new.sent_us), Some(500_000));
    assert_eq!((old.failure, new.failure), (None, None));
    assert!(failed.failure.is_some());
}

/// Lines of a proxy's own log come before those of its access log, and are counted.
#[test]
fn a_log_is_known_behind_other_lines() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("envoy.log");
    let text = format!("[2025-06-10 08:59:59.000][1][info] starting\n{}", ENVOY.trim_start());
    std::fs::write(&path, &text).expect("room for it");
    assert_eq!(log::detect(&path, None), Ok(Format::Envoy));
    let (read, requests) = requests(&text, Format::Envoy);
    assert_eq!((requests.len(), read.unusable.count()), (4, 2));
}

const MAP: &str = "
time_unit: datetime
duration_unit: ms
columns: {request: rid, action: key, target: backend, sent: at, took: ms, status: code, input_tokens: in, output_tokens: out}
";

#[test]
fn a_table_is_read_by_its_mapping_and_resends_are_recognised() {
    let text = "rid,key,backend,at,ms,code,in,out\n\
        1,k,a,2025-06-10 09:00:00,100,500,,\n\
        2,k,a,2025-06-10 09:00:01,900,200,10,20\n\
        3,,a,2025-06-10 09:00:02,900,200,10,20\n\
        4,,,2025-06-10 09:00:02,900,200,10,20\n\
        5,,a,2025-06-10 09:00:02,soon,200,10,20\n\
        6,,a,2025-06-10\n";
    let format = Format::Mapped { map: Box::new(map(MAP)), json: false };
    let (read, mut all) = requests(text, format);
    all.sort_by_key(|request| request.arrived_us);
    let told: Vec<(bool, End)> = all.iter().map(|request| (request.resent, request.end)).collect();
    assert_eq!(told, [(false, End::Failed), (true, End::Answered), (false, End::Answered)]);
    assert_eq!(all[0].attempts[0].failure, Some(FailureClass::ServerError));
    let reasons: Vec<(String, u64, Option<u64>)> =
        read.unusable.iter().map(|(why, seen)| (why.words(), seen.count, seen.line)).collect();
    let words = |text: &str| text.to_owned();
    assert_eq!(
        reasons,
        [
            (words("is not written as a row of this log"), 1, Some(7)),
            (words("has no `backend`"), 1, Some(5)),
            (words("`ms` cannot be read"), 1, Some(6)),
        ]
    );
}

/// A column that is the same in every row makes no request of a million attempts.
#[test]
fn a_request_without_end_is_cut_off() {
    let row = |ms: u32| format!("1,,a,2025-06-10 09:00:00,{ms},500,10,20\n");
    let rows: String = (1..=1_500).map(row).collect();
    let text = format!("rid,key,backend,at,ms,code,in,out\n{rows}");
    let (read, all) = requests(&text, Format::Mapped { map: Box::new(map(MAP)), json: false });
    assert_eq!((all.len(), all[0].attempts.len(), read.unusable.count()), (1, 1_000, 500));
    let why = read.unusable.first().map(|(why, seen)| (why.words(), seen.line));
    assert_eq!(why, Some(("tells of more attempts than can be".into(), Some(1_002))));
}

#[test]
fn a_mapping_that_cannot_be_is_refused() {
    for (text, wanted) in [
        (
            "time_unit: weeks\ncolumns: {request: r, target: t, sent: s, took: d}",
            "no such unit is called `weeks`",
        ),
        (
            "time_unit: s\ncolumns: {request: r, target: t, sent: s}",
            "name either `ended` or `took`",
        ),
        (
            "time_unit: s\ncolumns: {request: r, target: t, sent: s, took: d, colour: c}",
            "unknown field",
        ),
    ] {
        let file = SourceFile { name: "map.yaml".into(), text: text.into(), folder: None };
        let message = ColumnMap::read(&file).expect_err("it is wrong").to_string();
        assert!(message.starts_with("map.yaml:") && message.contains(wanted), "{message}");
    }
}

#[test]
fn a_column_that_is_not_there_is_named() {
    let format = Format::Mapped { map: Box::new(map(MAP)), json: false };
    let error =
        log::read("log.csv", Cursor::new("rid,key\n1,2\n"), format, |_| ()).expect_err("no target");
    assert!(error.to_string().contains("there is no column `backend`"), "{error}");
}
