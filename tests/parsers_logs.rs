//! Logs, counters and timelines in which a value or a line is wrong: they are read or refused, and whatever
//! is read makes a world that loads. `PROPTEST_CASES=20000` runs it for some minutes.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use proptest::prelude::*;
use windtunnel::fit::{Evidence, Fit, FittedFile};
use windtunnel::input::{InputError, SourceFile};
use windtunnel::log::{self, ColumnMap, Format, Read, Shows, read_counters};
use windtunnel::scenario::Scenario;
use windtunnel::timeline::{Asked, Hypothesis, Incident, Traffic};

/// One change of a text.
#[derive(Clone, Debug)]
enum Damage {
    /// Puts something in the place of a word.
    Value { word: usize, by: &'static str },
    /// Takes a line away.
    Lose { line: usize },
    /// Repeats a line elsewhere.
    Copy { line: usize, to: usize },
    /// Ends the text.
    Cut { at: usize },
}

const AWKWARD: [&str; 28] = [
    "",
    "-",
    "-1",
    "0",
    "1",
    "0.5",
    "-0.0",
    "1e308",
    "1e-308",
    "NaN",
    "inf",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "600",
    "200",
    "429",
    "true",
    "null",
    "[]",
    "{}",
    "\"",
    "1970-01-01 00:00:00",
    "9999-12-31T23:59:60Z",
    "2025-06-10T09:00:00+14:00",
    "é\u{202e}",
    "\u{0}",
];

fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let place = || 0..usize::MAX;
    let one = prop_oneof![
        6 => (place(), prop::sample::select(&AWKWARD[..])).prop_map(|(word, by)| Damage::Value { word, by }),
        1 => place().prop_map(|line| Damage::Lose { line }),
        1 => (place(), place()).prop_map(|(line, to)| Damage::Copy { line, to }),
        1 => place().prop_map(|at| Damage::Cut { at }),
    ];
    prop::collection::vec(one, 1..5)
}

/// Words are what stands between the signs of CSV and JSON.
fn damaged(text: &str, damage: &[Damage]) -> String {
    let mut text = text.to_owned();
    for one in damage {
        let mut lines: Vec<&str> = text.lines().collect();
        if lines.is_empty() {
            return text;
        }
        text = match one {
            Damage::Value { word, by } => {
                let sign = |c: char| ",:{}[]\n\"".contains(c);
                let words: Vec<(usize, &str)> = text
                    .split(sign)
                    .scan(0, |at, word| {
                        let start = *at;
                        *at += word.len() + 1;
                        Some((start, word))
                    })
                    .filter(|(_, word)| !word.trim().is_empty())
                    .collect();
                let Some((start, old)) = words.get(word % words.len().max(1)) else { return text };
                format!("{}{by}{}", &text[..*start], &text[start + old.len()..])
            }
            Damage::Lose { line } => {
                lines.remove(line % lines.len());
                lines.join("\n")
            }
            Damage::Copy { line, to } => {
                lines.insert(to % lines.len(), lines[line % lines.len()]);
                lines.join("\n")
            }
            Damage::Cut { at } => text.chars().take(at % text.len().max(1)).collect(),
        };
    }
    text
}

/// A message is one line and, where it has a place, that line and a caret; nothing in it moves the cursor of
/// a terminal.
fn is_clear(error: &InputError) -> bool {
    let text = error.to_string();
    text.lines().count() <= 3 && !text.chars().any(|c| c.is_control() && c != '\n')
}

fn map(text: &str) -> Box<ColumnMap> {
    let file = SourceFile { name: "map.yaml".into(), text: text.into(), folder: None };
    Box::new(ColumnMap::read(&file).unwrap_or_else(|e| panic!("{e}")))
}

const ATTEMPTS: &str = "time_unit: datetime\nduration_unit: ms\ncolumns: {request: id, action: key, resent: again, class: route, target: to, provider: by, model: model, group: group, sent: at, took: ms, first_output: first, status: code, failure: why, cancelled: cut, retry_after: hint, input_tokens: in, cached_tokens: cached, output_tokens: out, cost: usd}";
const REQUESTS: &str = "time_unit: s\nrows: requests\ncolumns: {request: id, fingerprint: hash, attempts: tries, sent: at, took: s, status: code, input_tokens: in, output_tokens: out}";
const COUNTERS: &str = "minute,target,provider,model,attempts,status_429,timeouts,errors\n0,a,x,m,30,3,1,5\n60,a,x,m,30,,,\n0,b,x,m,5,,,1\n";

/// Logs of some minutes, each in its format.
fn logs() -> Vec<(Format, String)> {
    let mut attempts = String::from(
        "id,key,again,route,to,by,model,group,at,ms,first,code,why,cut,hint,in,cached,out,usd\n",
    );
    let mut requests = String::from("id,hash,tries,at,s,code,in,out\n");
    let (mut litellm, mut envoy, mut otlp) = (String::new(), String::new(), String::new());
    for n in 0..24 {
        let at = format!("2025-06-10 09:{:02}:{:02}", n / 8, n % 8 * 7);
        let (code, why) = if n % 5 == 2 { (503, "overloaded") } else { (200, "") };
        attempts += &format!(
            "{n},k{},{},chat,{},x,m,{},{at},{},{at},{code},{why},false,,{},0,{},0.00{n}\n",
            n / 2,
            n % 2,
            ["a", "b"][n % 2],
            n % 2,
            900 + n,
            100 + n,
            10 + n
        );
        requests += &format!("{n},h{},{},{},1.{n},{code},100,20\n", n / 2, 1 + n % 3, n * 7);
        let status = if code == 200 { "success" } else { "failure" };
        litellm += &format!(
            "{{\"id\":\"{n}\",\"trace_id\":\"t{}\",\"call_type\":\"acompletion\",\"status\":\"{status}\",\"model\":\"m\",\"model_id\":\"a\",\"cache_key\":\"c{}\",\"startTime\":{}.5,\"endTime\":{}.25,\"completionStartTime\":{}.75,\"response_cost\":0.00{n},\"prompt_tokens\":100,\"completion_tokens\":{n},\"error_information\":{{\"error_code\":\"{code}\"}}}}\n",
            n / 2,
            n / 3,
            1000 + n * 7,
            1002 + n * 7,
            1000 + n * 7
        );
        envoy += &format!(
            "{{\"start_time\":\"{at}.000Z\",\"duration\":{},\"response_code\":{code},\"response_flags\":\"-\",\"upstream_cluster\":\"a\",\"request_id\":\"r{n}\",\"upstream_request_attempt_count\":{},\"prompt_hash\":\"h{}\",\"genai_tokens_input\":100,\"genai_tokens_output\":{n}}}\n",
            900 + n,
            1 + n % 3,
            n / 2
        );
        otlp += &format!(
            "{{\"resourceSpans\":[{{\"scopeSpans\":[{{\"spans\":[{{\"traceId\":\"t{}\",\"spanId\":\"s{n}\",\"parentSpanId\":\"p{n}\",\"startTimeUnixNano\":\"{}000000000\",\"endTimeUnixNano\":\"{}000000000\",\"attributes\":[{{\"key\":\"gen_ai.operation.name\",\"value\":{{\"stringValue\":\"chat\"}}}},{{\"key\":\"gen_ai.request.model\",\"value\":{{\"stringValue\":\"m\"}}}},{{\"key\":\"http.response.status_code\",\"value\":{{\"intValue\":\"{code}\"}}}}]}}]}}]}}]}}\n",
            n / 3,
            1000 + n * 7,
            1002 + n * 7
        );
    }
    vec![
        (Format::Mapped { map: map(ATTEMPTS), json: false }, attempts),
        (Format::Mapped { map: map(REQUESTS), json: false }, requests),
        (Format::LiteLlm, litellm),
        (Format::Envoy, envoy),
        (Format::Otlp { whole: false }, otlp),
    ]
}

/// Writes the files of a world, and loads it.
fn loads(files: &[FittedFile]) -> Result<(), String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        let path = folder.path().join(&file.path);
        fs::create_dir_all(path.parent().unwrap_or(Path::new(""))).expect("it can be made");
        fs::write(path, file.text()).expect("it can be written to");
    }
    let path = folder.path().join(&files[0].path);
    Scenario::load(&path.display().to_string()).map(drop).map_err(|e| e.to_string())
}

/// What a log says, with counters beside it where it shows requests.
fn read(format: &Format, text: &str, counters: &str) -> Result<(Read, Evidence), InputError> {
    let mut evidence = Evidence::new();
    let from = Cursor::new(text);
    let mut read = log::read("log", from, format.clone(), |request| evidence.take(&request))?;
    evidence.finish();
    if read.shows == Shows::LastAttempt {
        let mut counters = read_counters("counters", Cursor::new(counters), &mut read.names)?;
        evidence.count(&mut counters, &read.names);
        read.counters = Some(counters);
    }
    Ok((read, evidence))
}

const TIMELINE: &str = r#"{
  "id": "i", "provider": "openai", "cause": "c", "source": "s", "tz": "UTC",
  "start": "2025-06-10T06:00:00Z", "end": "2025-06-10T10:00:00Z",
  "points": [["2025-06-10T07:00:00Z", "errors ~5%"], ["2025-06-10T09:30:00Z", "rest", 0.01]],
  "peak_error_rate": {"api": 0.25, "chatgpt": 0.35},
  "peak_window": ["2025-06-10T08:00:00Z", "2025-06-10T09:00:00Z"],
  "probe_results": {"502": 12, "0": 4}, "note": "n"
}"#;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_read_makes_a_world_that_loads(
        which in 0..5_usize,
        in_log in damage(),
        in_counters in damage(),
        spoil_counters in any::<bool>(),
    ) {
        let (format, text) = &logs()[which];
        let text = damaged(text, &in_log);
        let counters = if spoil_counters { damaged(COUNTERS, &in_counters) } else { COUNTERS.into() };
        match read(format, &text, &counters) {
            Err(error) => prop_assert!(is_clear(&error), "{error}"),
            Ok((read, evidence)) if evidence.has_attempts() => {
                let fit = Fit::of("fitted", "log", &read, &evidence);
                let said = fit.text(&read);
                prop_assert!(!said.contains('\u{202e}'), "{said}");
                prop_assert_eq!(loads(&fit.files(&evidence)), Ok(()), "of {}", text.len());
                let _ = fit.refit(&evidence, 1, 0);
            }
            Ok(_) => {}
        }
    }

    #[test]
    fn whatever_timeline_is_read_makes_a_world_that_loads(changes in damage()) {
        let text = damaged(TIMELINE, &changes);
        let file = SourceFile { name: "t.json".into(), text: text.clone(), folder: None };
        let traffic = Traffic::read("azure-2023-code", None).expect("it is shipped");
        let made = Incident::pick(file, None).and_then(|found| {
            let asked = Asked { found: &found, traffic: &traffic, targets: &[], severity: None };
            Hypothesis::of("world", &asked)
        });
        match made {
            Err(error) => prop_assert!(is_clear(&error), "{error}"),
            Ok(hypothesis) => {
                let said = hypothesis.text();
                prop_assert!(!said.contains('\u{202e}'), "{said}");
                prop_assert_eq!(loads(&hypothesis.files()), Ok(()), "of\n{}", text);
            }
        }
    }
}
