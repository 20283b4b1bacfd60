//! The program with an incident's timeline in place of a log.

use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use super::program::{good, windtunnel};

/// Forty minutes, of which a quarter of calls fails in the second ten.
const TIMELINE: &str = r#"[
  {"id": "short", "provider": "openai", "source": "https://example.org/<b>status</b>",
   "start": "2025-06-10T09:00:00Z", "end": "2025-06-10T09:20:00Z",
   "points": [["2025-06-10T09:05:00Z", "errors at 5%"]],
   "peak_error_rate": 0.25,
   "peak_window": ["2025-06-10T09:10:00Z", "2025-06-10T09:20:00Z"]},
  {"id": "unknown", "provider": "nobody", "source": "x",
   "start": "2025-06-10T09:00:00Z", "end": "2025-06-10T09:20:00Z"}
]"#;

/// A call every two seconds for ten minutes, from `from` on.
fn trace(from: &str) -> String {
    let rows = (0..300).map(|n| format!("{from}:{:02}:{:02},200,50\n", n / 30, n % 30 * 2));
    rows.fold("TIMESTAMP,ContextTokens,GeneratedTokens\n".into(), |text: String, row| text + &row)
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = [
        ("t.json", TIMELINE.to_owned()),
        ("then.csv", trace("2025-06-10 09")),
        ("other.csv", trace("2023-01-01 00")),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("it can be written to");
    }
    folder
}

const SHORT: [&str; 6] =
    ["--timeline", "t.json#short", "--traffic", "other.csv", "--layout", "azure2023"];
const ASK: [&str; 5] = ["-p", "single", "-p", "conservative", "--worlds=2"];

#[test]
fn the_report_says_first_that_there_is_no_log() {
    let folder = folder();
    let words = [&["what-if"], &SHORT[..], &ASK[..], &["--report", "r.html"]].concat();
    let text = good(&folder, &words);
    let summary = text.split("\nSummary\n").nth(1).expect("it has a summary");
    assert!(summary.starts_with("  - NOT HELD AGAINST A LOG"), "{text}");
    assert!(!text.contains("Believe it?"), "{text}");
    for said in [
        "timeline   short in t.json",
        "12.5% of calls failed at its worst",
        "what failed was silence",
        "each share that is told held until the next",
        "had azure-gpt-4o-eastus been hit as openai was",
        "“errors at 5%” is read as 5% of calls",
        "What the timeline cannot tell, and what is taken instead",
    ] {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    let html = fs::read_to_string(folder.path().join("r.html")).expect("it was written");
    assert!(html.contains("NOT HELD AGAINST A LOG") && !html.contains("<b>status"));
    let command = "windtunnel what-if --timeline 't.json#short' --traffic other.csv --layout azure2023 --policy single";
    assert!(html.contains(&command.replace('\'', "&#39;")) || html.contains(command), "{html}");
    let json = good(&folder, &[&["what-if"], &SHORT[..], &ASK[..], &["--format=json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["believed"].is_null() && json["log"].is_null());
    assert_eq!(json["timeline"]["traffic"], "other.csv");
}

/// Success in the world follows from the course: failures of the incident, and those that the card has
/// in ordinary times.
#[test]
fn as_many_calls_fail_as_the_course_says() {
    let folder = folder();
    good(&folder, &[&["fit"], &SHORT[..], &["--out", "w"]].concat());
    let run = ["run", "w/w.yaml", "-p", "single", "--worlds=20", "--format=json"];
    let json: serde_json::Value = serde_json::from_str(&good(&folder, &run)).expect("JSON");
    let success = json["policies"][0]["measures"]["success"]["value"].as_f64();
    let success = success.unwrap_or_else(|| panic!("{json}"));
    // Of thirty measured minutes: 5 at 2.5 % and 5 at 15 % on average, 10 at 25 %; the card fails 1.78 %.
    let fails: f64 = (5.0 * 0.025 + 5.0 * 0.15 + 10.0 * 0.25) / 30.0;
    let truth = (1.0 - fails) * (1.0 - 0.0178);
    // 900 requests in each of twenty worlds; what sticks to windows of a minute makes them vary more.
    let error = (fails * (1.0 - fails) / (20.0 * 900.0)).sqrt();
    assert!((success - truth).abs() < 4.0 * 4.0 * error, "{success} is not {truth}");
}

#[test]
fn a_trace_of_the_time_of_the_incident_stays_where_it_is() {
    let folder = folder();
    let words =
        ["fit", "--timeline", "t.json#short", "--traffic", "then.csv", "--layout", "azure2023"];
    let text = good(&folder, &[&words[..], &["--out", "w"]].concat());
    assert!(text.contains("the rows of then.csv whose times fall into the incident"), "{text}");
    let rows = fs::read_to_string(folder.path().join("w/traffic/all.csv")).expect("it was written");
    // The world begins at 08:50, the trace at 09:00.
    assert_eq!(rows.lines().nth(1), Some("600000000,200,50"));
    good(&folder, &["check", "w/w.yaml"]);
}

/// The world begins ten minutes before the incident, whose worst is from its tenth minute to its end.
#[test]
fn bad_times_are_those_that_were_told() {
    let folder = folder();
    let more = ["--format=json", "--report", "r.html", "--plot", "p.svg"];
    let text = good(&folder, &[&["what-if"], &SHORT[..], &ASK[..], &more].concat());
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let times = found["bad_times"].as_array().expect("there are some");
    let number = |time: &Value, field: &str| time[field].as_f64().expect("a number");
    assert!(times.iter().all(|time| time["target"] == times[0]["target"]), "{times:?}");
    assert_eq!(times[0]["target"], "openai-gpt-4o");
    for time in times {
        assert!(number(time, "from_s") >= 600.0 && number(time, "to_s") <= 1_800.0, "{time}");
        assert_eq!(number(time, "speed"), 1.0);
    }
    let worst = times.iter().filter(|time| (number(time, "failing") - 0.25).abs() < 1e-3);
    let ends = worst.map(|time| (number(time, "from_s"), number(time, "to_s")));
    assert_eq!(ends.collect::<Vec<_>>(), [(1_200.0, 1_800.0)]);

    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("it was written");
    let html = read("r.html");
    assert!(html.contains("openai-gpt-4o: up to 25 % of its attempts fail"));
    assert!(html.contains("–0:30 21 to 25 % fail; beyond what fails in ordinary times."), "{html}");
    assert!(html.matches("class=\"strip\"").count() == 2, "below success and attempts");
    let svg = read("p.svg");
    assert!(
        svg.starts_with("<svg") && svg.contains("openai-gpt-4o: up to 25 % of its attempts fail")
    );
}

#[test]
fn targets_are_the_users_where_they_are_named() {
    let folder = folder();
    let words =
        [&["fit"], &SHORT[..], &["--target", "openai-gpt-4-1", "--target", "openai-gpt-4o-mini"]];
    let words = [
        &words.concat()[..],
        &["--target", "groq-gpt-oss-120b", "--severity", "80%", "--out", "w"],
    ];
    let text = good(&folder, &words.concat());
    assert!(
        text.contains("openai-gpt-4-1, openai-gpt-4o-mini, groq-gpt-oss-120b, tried in this order"),
        "{text}"
    );
    let scenario = fs::read_to_string(folder.path().join("w/w.yaml")).expect("it was written");
    assert!(
        scenario.contains("share: 80%") && scenario.contains("substitutes: [gpt-4o-mini"),
        "{scenario}"
    );
    good(&folder, &["check", "w/w.yaml"]);
}

/// The timelines that others collected, where they are at hand.
#[test]
fn collected_timelines_are_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/incident_timelines.json");
    if !std::path::Path::new(path).exists() {
        eprintln!("skipped: {path} is not here");
        return;
    }
    let folder = folder();
    for (id, peak) in [
        ("openai-2025-06-10", "25%"),
        ("openai-2024-12-11", "50%"),
        ("openai-2024-12-26", "90%"),
        ("openai-2024-08-16", "50%"),
        ("openai-2023-11-08", "100%"),
        ("chatgpt-2024-04-10", "50%"),
        ("anthropic-2026-06-16", "10%"),
    ] {
        let named = format!("{path}#{id}");
        let words =
            ["fit", "--timeline", &named, "--traffic", "azure-2023-conversation", "--out", id];
        let text = good(&folder, &words);
        assert!(text.contains(&format!("at its worst {peak} of the calls")), "{id}: {text}");
    }
    let named = format!("{path}#anthropic-2025-08-routing");
    let words = ["fit", "--timeline", &named, "--traffic", "azure-2023-conversation", "--out", "x"];
    let output = windtunnel(&folder, &words);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("end: is 44 days after the start; at most 7"), "{message}");
}
