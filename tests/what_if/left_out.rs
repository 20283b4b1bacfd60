//! Rows that cannot be used: counted by reason with the first of each, in every report.

use std::fs;
use std::io::Cursor;
use std::process::Command;

use windtunnel::log::{self, End, Format, Read, Request, Shows};

fn read(text: &str, format: Format) -> (Read, Vec<Request>) {
    let mut requests = Vec::new();
    let read = log::read("log", Cursor::new(text), format, |request| requests.push(request))
        .unwrap_or_else(|e| panic!("{e}"));
    (read, requests)
}

fn span(name: &str, id: &str, operation: &str, more: &str) -> String {
    format!(
        r#"{{"traceId":"aa","spanId":"{id}","name":"{name}","startTimeUnixNano":"1000000000","endTimeUnixNano":"2000000000"{more},"attributes":[{{"key":"http.route","value":{{"stringValue":"r"}}}}{operation}]}}"#
    )
}

#[test]
fn spans_that_are_no_model_call_are_counted_and_named() {
    let operation = |name: &str| {
        format!(r#",{{"key":"gen_ai.operation.name","value":{{"stringValue":"{name}"}}}}"#)
    };
    let model =
        operation("chat") + r#",{"key":"gen_ai.request.model","value":{"stringValue":"m"}}"#;
    let spans = [
        span("GET /v1", "1", "", ""),
        span("agent", "2", &operation("invoke_agent"), ""),
        span("chat m", "3", &model, ""),
        span("chat", "4", &operation("chat"), ""),
    ];
    let batch = |spans: &[String]| {
        format!(r#"{{"resourceSpans":[{{"scopeSpans":[{{"spans":[{}]}}]}}]}}"#, spans.join(","))
    };
    let told = |read: &Read| read.unusable.told().collect::<Vec<_>>();
    let lines = format!("{}\n{}\n", batch(&spans[2..]), batch(&spans[..2]));
    let (in_lines, requests) = read(&lines, Format::Otlp { whole: false });
    assert_eq!((in_lines.rows, requests.len(), in_lines.unusable.count()), (4, 1, 3));
    assert_eq!(
        told(&in_lines),
        [
            "1 × has no `server.address`, first in line 1: span `chat` (4), operation `chat`",
            "2 × is no call of a model, first in line 2: span `GET /v1` (1)",
        ]
    );
    let (whole, _) = read(&batch(&spans[1..3]), Format::Otlp { whole: true });
    assert_eq!(
        told(&whole),
        ["1 × is no call of a model, first: span `agent` (2), operation `invoke_agent`"],
        "no line tells where"
    );
    let none =
        log::read("log", Cursor::new(batch(&spans[..2])), Format::Otlp { whole: true }, |_| ());
    let error = none.expect_err("no model was called").to_string();
    let wanted = "none of its 2 rows can be used; span `GET /v1` (1): is no call of a model";
    assert!(error.contains(wanted), "{error}");
}

/// Both of Envoy's logs in one file: each request has a row, and each of its attempts.
const BOTH: &str = r#"
{"access_log_type":"DownstreamStart","start_time":"2025-06-10T09:00:00.000Z","duration":1,"response_code":0,"upstream_cluster":"-","request_id":"r1"}
{"access_log_type":"UpstreamEnd","start_time":"2025-06-10T09:00:00.001Z","duration":100,"response_code":429,"upstream_cluster":"openai","request_id":"r1"}
{"access_log_type":"UpstreamEnd","start_time":"2025-06-10T09:00:00.130Z","duration":900,"response_code":200,"upstream_cluster":"azure","request_id":"r1"}
{"access_log_type":"DownstreamEnd","start_time":"2025-06-10T09:00:00.000Z","duration":1031,"response_code":200,"upstream_cluster":"azure","request_id":"r1","upstream_request_attempt_count":2}
{"access_log_type":"UpstreamEnd","start_time":"2025-06-10T09:00:02.001Z","duration":498,"response_code":200,"upstream_cluster":"openai","request_id":"r2"}
{"access_log_type":"DownstreamEnd","start_time":"2025-06-10T09:00:02.000Z","duration":500,"response_code":0,"response_flags":"DC","upstream_cluster":"openai","request_id":"r2","upstream_request_attempt_count":1}
"#;

#[test]
fn envoy_rows_of_requests_are_no_attempts() {
    let (both, all) = read(BOTH, Format::Envoy);
    let told: Vec<(usize, End)> = all.iter().map(|r| (r.attempts.len(), r.end)).collect();
    assert_eq!(told, [(2, End::Answered), (1, End::Cancelled)]);
    let statuses: Vec<u16> = all[0].attempts.iter().map(|attempt| attempt.status).collect();
    assert_eq!((statuses, all[0].tries), (vec![429, 200], Some(2)));
    assert_eq!(all[0].closed_us - all[0].arrived_us, 1_031_000);
    assert_eq!(both.shows, Shows::EveryAttempt);
    let left_out: Vec<String> = both.unusable.iter().map(|(why, _)| why.words()).collect();
    assert_eq!(left_out, ["tells of a call that has not ended"]);

    let only = |kind: &str| -> String {
        BOTH.lines().filter(|line| line.contains(kind)).map(|line| format!("{line}\n")).collect()
    };
    let (downstream, all) = read(&only("DownstreamEnd"), Format::Envoy);
    assert_eq!((all[0].attempts.len(), all[0].tries), (1, Some(2)), "it stands for its attempts");
    assert_eq!(downstream.shows, Shows::LastAttempt);
    let (_, all) = read(&only("UpstreamEnd"), Format::Envoy);
    assert_eq!((all[0].attempts.len(), all[0].end), (2, End::Answered));

    let untold = (only("UpstreamEnd") + &only("DownstreamEnd")).replace("access_log_type", "kind");
    let error = log::read("log", Cursor::new(untold), Format::Envoy, |_| ()).expect_err("twice");
    let error = error.to_string();
    let wanted = "in 2 of 2 requests with several entries one spans the others";
    assert!(error.contains(wanted), "{error}");
    assert!(error.contains("log `%ACCESS_LOG_TYPE%` as `access_log_type`"), "{error}");
}

const MAP: &str = "time_unit: s\nrows: requests\ncolumns: {request: id, sent: at, took: took, status: status, input_tokens: in, output_tokens: out}\n";

/// What `what-if` says of a log and counters, in the words of its options.
fn said(options: &[&str]) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let row = |n: u32| format!("{n},{},1.5,200,100,20\n", 600 + n);
    let rows: String = (0..600).map(row).collect();
    let log = format!("id,at,took,status,in,out\nnoise <b>\n{rows}x,soon,1,200,1,1\n");
    let minute = |minute: u32| format!("{},a,60,3\n", minute * 60);
    let minutes: String = (8..20).map(minute).collect();
    let counters = format!("minute,target,attempts,errors\n{minutes}");
    for (name, text) in [("log.csv", &*log), ("map.yaml", MAP), ("counters.csv", &*counters)] {
        fs::write(folder.path().join(name), text).expect("it can be written to");
    }
    let ask = "what-if log.csv --columns map.yaml --counters counters.csv -p conservative -p single --worlds=2";
    let mut program = Command::new(env!("CARGO_BIN_EXE_windtunnel"));
    program.current_dir(folder.path()).args(ask.split(' ')).args(options);
    let output = program.output().expect("it starts");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let mut text = String::from_utf8(output.stdout).expect("UTF-8");
    if let Ok(html) = fs::read_to_string(folder.path().join("r.html")) {
        text += &html;
    }
    text
}

/// The log has its header, a line of noise, 600 rows and one without a time; it lasts from minute 10 to
/// 20: of the counters' minutes 8 and 9 are before it.
#[test]
fn every_report_of_what_if_says_what_was_left_out() {
    let text = said(&[]);
    for part in [
        "left out   2 of 602 rows of log.csv (why: below)\n",
        "left out   2 of 12 rows of counters.csv (why: below)\n",
        "\nRows that cannot be used\n",
        "  - 1 × is not written as a row of this log, first in line 2: noise <b>\n",
        "  - 1 × `at` cannot be read, first in line 603: x,soon,1,200,1,1\n",
        "  - 2 × lies before or after the log, first in line 2: a at 1970-01-01 00:08, 60 attempts\n",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }

    let markdown = said(&["--format=markdown"]);
    for part in [
        "- 2 of 602 rows of log.csv cannot be used and are left out; the section on them says why.",
        "## Rows that cannot be used",
        "- 1 × is not written as a row of this log, first in line 2: noise &lt;b&gt;\n",
        "first in line 2: a at 1970-01-01 00:08, 60 attempts",
    ] {
        assert!(markdown.contains(part), "{part} is not in\n{markdown}");
    }

    let html = said(&["--quiet", "--report", "r.html"]);
    let noise = "is not written as a row of this log, first in line 2: noise &lt;b&gt;";
    assert!(html.contains(noise) && !html.contains("noise <b>"), "it is in the page, escaped");

    let json: serde_json::Value =
        serde_json::from_str(&said(&["--format=json"])).expect("it is JSON");
    let wanted = serde_json::json!([
        {"file": "log.csv", "rows": 602, "unusable": 2, "reasons": [
            {"reason": "is not written as a row of this log", "rows": 1, "line": 2, "example": "noise <b>"},
            {"reason": "`at` cannot be read", "rows": 1, "line": 603, "example": "x,soon,1,200,1,1"},
        ]},
        {"file": "counters.csv", "rows": 12, "unusable": 2, "reasons": [
            {"reason": "lies before or after the log", "rows": 2, "line": 2,
             "example": "a at 1970-01-01 00:08, 60 attempts"},
        ]},
    ]);
    assert_eq!(json["log"]["left_out"], wanted);
}
