//! What a log does not tell is said to be so, and nothing is claimed beyond it.

use std::fmt::Write as _;
use std::fs;
use std::process::Output;

use serde_json::Value;
use tempfile::TempDir;

use super::program::{good, windtunnel};

const MAP: &str = "time_unit: s\nduration_unit: ms\ncolumns: {request: id, target: at, sent: t, \
                   took: ms, status: status, input_tokens: in, output_tokens: out";

/// A log of 400 requests in forty minutes, one in ten of which failed once and was not tried again.
/// Times, tokens and bills never vary.
pub(super) fn log(bill: &str) -> String {
    let mut text = String::from("id,at,t,ms,status,in,out,usd\n");
    for i in 0..400 {
        let (ms, status, out, usd) =
            if i % 10 == 3 { (200, 503, 0, "0") } else { (2_000, 200, 150, bill) };
        writeln!(text, "q{i},east,{},{ms},{status},1000,{out},{usd}", i * 6).expect("a string");
    }
    text
}

pub(super) fn folder(bill: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cost = if bill.is_empty() { "}\n" } else { ", cost: usd}\n" };
    let files = [
        ("log.csv", log(bill)),
        ("map.yaml", format!("{MAP}{cost}")),
        ("one.yaml", "name: one\nattempts: {max: 1}\n".into()),
        ("uno.yaml", "name: uno\nattempts: {max: 1}\n".into()),
        (
            "three.yaml",
            "name: three\nattempts: {max: 3, max_same_target: 3}\nbackoff: {base: 0ms}\n".into(),
        ),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("it can be written to");
    }
    folder
}

pub(super) const LOG: [&str; 3] = ["log.csv", "--columns", "map.yaml"];

pub(super) fn ask(folder: &TempDir, policies: [&str; 2], more: &[&str]) -> String {
    let words = ["--worlds=3", "-p", policies[0], "-p", policies[1]];
    good(folder, &[&["what-if"], &LOG[..], &words, more].concat())
}

pub(super) fn json(folder: &TempDir, policies: [&str; 2], more: &[&str]) -> Value {
    serde_json::from_str(&ask(folder, policies, &[&["--format=json"], more].concat()))
        .expect("JSON")
}

pub(super) fn named<'a>(list: &'a Value, name: &str) -> &'a Value {
    let found = list.as_array().and_then(|all| all.iter().find(|one| one["name"] == name));
    found.unwrap_or_else(|| panic!("{name} is not in {list}"))
}

/// A line of a text that begins with these words.
fn line<'a>(text: &'a str, begin: &str) -> &'a str {
    let found = text.lines().find(|line| line.trim_start().starts_with(begin));
    found.unwrap_or_else(|| panic!("no line begins with {begin}:\n{text}"))
}

#[test]
fn without_bills_nothing_is_said_of_costs() {
    let folder = folder("");
    let page = ["--report", "report.html"];
    let text = ask(&folder, ["one.yaml", "three.yaml"], &page);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("what it costs is not told"), "{text}");
    assert!(!text.contains("$0.00"), "{text}");
    for row in ["cost_per_1k", "bill"] {
        assert!(line(&text, row).contains("not told"), "{text}");
    }
    let html = fs::read_to_string(folder.path().join("report.html")).expect("it was written");
    assert!(html.contains("what it costs is not told") && !html.contains("$0.00"));
    let markdown = ask(&folder, ["one.yaml", "three.yaml"], &["--format=markdown"]);
    assert!(markdown.contains("what it costs is not told") && !markdown.contains("$0.00"));

    let found = json(&folder, ["one.yaml", "three.yaml"], &[]);
    for policy in found["policies"].as_array().expect("two") {
        for bill in [&policy["bill"], &policy["targets"][0]["bill"]] {
            assert_eq!((&bill["value"], &bill["missing"]), (&Value::Null, &"not_told".into()));
        }
        let cost = named(&policy["figures"], "cost_per_1k");
        assert_eq!((&cost["value"], &cost["missing"]), (&Value::Null, &"not_told".into()));
    }
    let check = named(&found["believed"]["checks"], "cost_per_1k");
    assert_eq!((&check["logged"], &check["verdict"]), (&Value::Null, &"not_told".into()));
}

/// 360 of 400 are billed $0.004 each: $3.60 for each thousand. What took 2.000 s takes 2.000 s.
#[test]
fn what_never_varies_is_reproduced() {
    let folder = folder("0.004");
    let found = json(&folder, ["one.yaml", "three.yaml"], &[]);
    let believed = &found["believed"];
    let cost = named(&believed["checks"], "cost_per_1k");
    assert!((cost["logged"].as_f64().expect("it is told") - 3.6).abs() < 1e-9, "{cost}");
    let simulated = cost["simulated"].as_f64().expect("it is told");
    assert!((simulated - 3.6).abs() < 0.2, "{cost}");
    let median = named(&believed["checks"], "latency_p50")["simulated"].as_f64();
    assert!((median.expect("half are answered") / 2.0 - 1.0).abs() < 0.001, "{believed}");
    assert_eq!(believed["reproduces"], true, "{believed}");

    let text = good(&folder, &[&["fit"], &LOG[..], &["--out", "w"]].concat());
    assert!(line(&text, "first output").contains("p50 2.00 s, p90 2.00 s"), "{text}");
    assert!(text.contains("they do not tell input and output apart"), "{text}");
    // Six of the answers are beyond the highest percentile, and one in ten requests is unanswered.
    let median = named(&believed["checks"], "latency_p99");
    assert_eq!(median["verdict"], "unanswered", "{believed}");
}

/// What is saved and lost, billed and sent adds up, each from counts of its own: 400 requests at one target,
/// in whatever stretch of time.
#[test]
fn figures_add_up_and_have_intervals() {
    let folder = folder("0.004");
    let found = json(&folder, ["one.yaml", "three.yaml"], &[]);
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value} is no number"));
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
    let (one, three) = (&found["policies"][0], &found["policies"][1]);
    assert!(one["moved"].is_null() && one["bill"]["change"].is_null());

    let more = number(&named(&three["differences"], "success")["difference"]);
    let moved = &three["moved"];
    near(number(&moved["saved"]["value"]) - number(&moved["lost"]["value"]), 400.0 * more);
    near(number(&three["bill"]["value"]), number(&three["targets"][0]["bill"]["value"]));
    let rise = number(&three["bill"]["value"]) - number(&one["bill"]["value"]);
    near(number(&three["bill"]["change"]["difference"]), rise);
    let per_request = |of: &Value| number(&named(&of["figures"], "attempts_per_request")["value"]);
    near(number(&three["targets"][0]["attempts"]["value"]), 400.0 * per_request(three));
    near(per_request(&three["by_class"][0]), per_request(three));
    let change = |stretch: &Value| {
        number(&stretch["requests"]) * number(&stretch["success"][1]["change"]["difference"])
    };
    let stretches = found["stretches"].as_array().expect("there are some");
    near(stretches.iter().map(change).sum(), 400.0 * more);

    let bill = [&three["bill"], &three["bill"]["change"], &three["targets"][0]["bill"]];
    let moved = [&moved["saved"], &moved["lost"], &three["impact_minutes"]["change"]];
    for figure in bill.into_iter().chain(moved).chain([&stretches[0]["success"][1]["change"]]) {
        assert!(
            figure["ci95"]["low"].is_number() && figure["ci95"]["high"].is_number(),
            "{figure}"
        );
    }
    let cases = found["sensitivity"].as_array().expect("there are some");
    assert!(cases.iter().all(|case| case["changes"][0]["ci95"].is_object()), "{cases:?}");
}

#[test]
fn policies_that_do_the_same_are_level() {
    let folder = folder("0.004");
    let found = json(&folder, ["one.yaml", "uno.yaml"], &[]);
    let cases = found["sensitivity"].as_array().expect("there are some");
    assert!(!cases.is_empty());
    for case in cases {
        assert_eq!((&case["leader"], &case["same_order"]), (&Value::Null, &true.into()), "{case}");
    }
    let text = ask(&folder, ["one.yaml", "uno.yaml"], &[]);
    assert!(line(&text, "no failure sticks").ends_with("level"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("the bill is the same") && !flat.contains("ANOTHER"), "{text}");
    assert!(flat.contains("0 pp ± 0 answered (identical)"), "{text}");
}

/// A world in which nothing is as in the log recommends nothing, however clear the change is in it.
#[test]
fn what_is_not_reproduced_recommends_nothing() {
    let folder = folder("0.004");
    good(&folder, &[&["fit"], &LOG[..], &["--out", "w"]].concat());
    let card = folder.path().join("w/models/east.yaml");
    let text = fs::read_to_string(&card).expect("it was written");
    let (before, share) = text.split_once("share: ").expect("the log has failures");
    let after = &share[share.find([',', '}']).expect("the share ends")..];
    fs::write(&card, format!("{before}share: 40%{after}")).expect("it can be written to");
    let world = ["--world", "w/w.yaml"];
    let text = ask(&folder, ["one.yaml", "three.yaml"], &world);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("- NOT REPRODUCED:"), "{text}");
    assert!(flat.contains("of other policies is not to be believed, in size or sign."), "{text}");
    assert!(flat.contains("answered (in that world alone)"), "{text}");
    // Of three tries instead of one the bill is higher there, and answers are more: neither is called clear.
    assert!(flat.contains("the bill rises by") && !flat.contains("(clear)"), "{text}");
    assert!(!flat.replace("not clear", "").contains(" clear"), "{text}");
    assert!(flat.contains("No change is recommended.") && flat.contains("no ground for a change"));
    let found = json(&folder, ["one.yaml", "three.yaml"], &world);
    assert!(found["recommended"]["policy"].is_null(), "{}", found["recommended"]);
    assert_eq!(named(&found["believed"]["checks"], "success")["verdict"], "off");

    // Four in ten instead of one in ten are thirty points, give or take four standard errors (of 1,200 requests,
    // 1.4 points each): whoever tolerates that, has it reproduced, and
    // yet no gain that is smaller than that.
    let lenient = [&world[..], &["--tolerance", "36pp", "--tolerance", "400%"]].concat();
    let text = ask(&folder, ["one.yaml", "three.yaml"], &lenient);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("to within what is tolerated (36 pp, or 400 % of"), "{text}");
    assert!(!flat.contains("NOT REPRODUCED"), "{text}");
    let found = json(&folder, ["one.yaml", "three.yaml"], &lenient);
    let success = named(&found["believed"]["checks"], "success");
    assert_eq!(
        (&success["verdict"], &success["tolerance"]),
        (&"within_tolerance".into(), &0.36.into())
    );
    assert_eq!(found["believed"]["reproduces"], true);
    let gain = &found["policies"][1]["differences"][0]["difference"];
    let off = success["simulated"].as_f64().zip(success["logged"].as_f64()).map(|(a, b)| b - a);
    assert!(gain.as_f64() < off, "of what fails four times in ten, three tries save less: {gain}");
    assert!(found["recommended"]["policy"].is_null(), "{}", found["recommended"]);
}

#[test]
fn what_is_no_tolerance_is_refused() {
    let folder = folder("0.004");
    let words =
        [&["what-if"], &LOG[..], &["-p", "one.yaml", "-p", "three.yaml", "--tolerance", "5"]];
    let output = windtunnel(&folder, &words.concat());
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("--tolerance") && told.contains("such as 0.5pp"), "{told}");
}

#[test]
fn a_folder_that_holds_a_fit_is_not_written_over() {
    let folder = folder("0.004");
    let words = [&["fit"], &LOG[..], &["--out", "w"]].concat();
    good(&folder, &words);
    let card = folder.path().join("w/models/east.yaml");
    fs::write(&card, "edited\n").expect("it can be written to");
    fs::write(folder.path().join("w/models/west.yaml"), "of another\n").expect("it can");
    let output = windtunnel(&folder, &words);
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(told.contains("--overwrite") && told.contains("may have been edited"), "{told}");
    assert_eq!(fs::read_to_string(&card).expect("it is there"), "edited\n");

    let told = good(&folder, &[&words[..], &["--overwrite"]].concat());
    assert!(fs::read_to_string(&card).expect("it is there").starts_with("name: east\n"));
    assert!(told.contains("west.yaml is of an earlier fit") && !told.contains("east.yaml is of"));

    fs::write(folder.path().join("file"), "").expect("it can be written to");
    for more in [&[][..], &["--overwrite"]] {
        let words = [&["fit"], &LOG[..], &["--out", "file"], more].concat();
        let output = windtunnel(&folder, &words);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains("is a file, not a folder") && !told.contains("os error"), "{told}");
    }
}

/// What the warm-up holds is no part of any figure, and the header says so.
#[test]
fn that_figures_are_of_fewer_requests_is_said() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let scenario = include_str!("../files/cli/small.yaml");
    fs::write(folder.path().join("small.yaml"), scenario).expect("it can be written to");
    good(&folder, &["run", "small.yaml", "-p", "conservative", "--ledger", "l.csv", "--quiet"]);
    let words = ["what-if", "l.csv", "-p", "conservative", "-p", "single", "--worlds=2"];
    let text = good(&folder, &words);
    let found = good(&folder, &[&words[..], &["--format=json"]].concat());
    let found: Value = serde_json::from_str(&found).expect("JSON");
    let (all, measured) = (&found["log"]["requests"], &found["log"]["measured"]);
    assert!(measured.as_u64() < all.as_u64(), "{}", found["log"]);
    assert!(line(&text, "log ").contains(&format!("figures are of {measured} of them")));
}

#[test]
fn one_is_singular_and_none_is_no_negative() {
    let folder = folder("0.004");
    let all = log("0.004");
    let lines: Vec<&str> = all.lines().take(2).collect();
    fs::write(folder.path().join("log.csv"), lines.join("\n")).expect("it can be written to");
    let text = good(&folder, &[&["fit"], &LOG[..], &["--out", "w"]].concat());
    assert!(text.starts_with("log.csv: 1 row, 1 request, 1 attempt\n"), "{text}");
    assert!(text.contains("0 of 1 failed (0.00 %)") && !text.contains("-0"), "{text}");
    // A minute in which all fail stands apart: nothing is left of its phase.
    let failing: String = (0..60).map(|i| format!("q{i},east,{i},200,503,1000,0,0\n")).collect();
    let text = told(&fit_of(&folder, &format!("{}\n{failing}", lines[0])));
    assert!(text.contains("0 of 0 failed (0.00 %)") && !text.contains("-0"), "{text}");
}

fn fit_of(folder: &TempDir, text: &str) -> Output {
    fs::write(folder.path().join("log.csv"), text).expect("it can be written to");
    windtunnel(folder, &[&["fit"], &LOG[..], &["--overwrite", "--out", "w"]].concat())
}

fn told(output: &Output) -> String {
    [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat()
}

#[test]
fn a_log_that_holds_its_rows_twice_is_read_once() {
    let folder = folder("0.004");
    let once = log("0.004");
    let rows = once.split_once('\n').expect("a header").1;
    let text = told(&fit_of(&folder, &format!("{once}{rows}")));
    assert!(text.starts_with("log.csv: 800 rows, 400 requests, 400 attempts\n"), "{text}");
    let repeated = "400 × says what a row before it said: the log holds it twice, first in line 402: \
                    request q0 at east";
    assert!(text.contains(repeated), "{text}");
}

#[test]
fn what_is_sent_after_an_answer_is_said() {
    let folder = folder("0.004");
    let once = log("0.004");
    let text = told(&fit_of(&folder, &once));
    assert!(!text.contains("after one had answered"), "{text}");
    // The first answer came at 2 s; the same id again at 60 s.
    let text = told(&fit_of(&folder, &format!("{once}q0,east,60,2000,200,1000,150,0.004\n")));
    let said = "1 of 400 requests have attempts sent after one had answered (the first in line 2)";
    assert!(text.contains(said), "{text}");
}

#[test]
fn times_in_another_unit_and_open_quotes_have_their_reasons() {
    let folder = folder("0.004");
    let head = "id,at,t,ms,status,in,out,usd\n";
    let milliseconds = "q0,east,1777626000000,200,200,1000,100,0.01\n".repeat(2);
    let quote = "q0,\"east,1,200,200,1000,100,0.01\nq1,east,2,200,200,1000,100,0.01\n";
    for (rows, reason) in [
        (milliseconds.as_str(), "none of its 2 rows can be used; line 2: is after the year 2100"),
        (quote, "its only row cannot be used; line 2: has a quote that its line does not close"),
    ] {
        let output = fit_of(&folder, &format!("{head}{rows}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(told(&output).contains(reason), "{}", told(&output));
    }
}

/// Two seconds, written as 2000, would be 33 minutes: both commands refuse it, in the same words.
#[test]
fn durations_in_another_unit_are_refused_by_fit_as_by_what_if() {
    let folder = folder("0.004");
    let map = MAP.replace("duration_unit: ms", "duration_unit: s") + "}\n";
    fs::write(folder.path().join("map.yaml"), map).expect("it can be written to");
    let what_if = ["-p", "one.yaml", "-p", "three.yaml"];
    for (command, rest) in [("fit", &["--out", "new"][..]), ("what-if", &what_if[..])] {
        let output = windtunnel(&folder, &[&[command], &LOG[..], rest].concat());
        assert_eq!(output.status.code(), Some(2), "{command}");
        let said = "error: log.csv: by `ms`, read in `s`, 360 of 400 attempts took longer than 20 minutes; \
                    write its unit into the mapping: `duration_unit: ms`?";
        assert_eq!(told(&output).trim_end(), said);
        assert!(!folder.path().join("new").exists());
    }
}

/// One request, which counts in no figure: nothing is vouched for.
#[test]
fn a_log_with_nothing_in_it_is_not_reproduced_and_not_denied() {
    let folder = folder("");
    let row = concat!(
        r#"{"policy":"p","world":0,"request":1,"correlation":1,"class":"c","measured":false,"attempt":1,"#,
        r#""group":0,"target":"t","provider":"x","model":"m","region":null,"recovery":"first","status":200,"#,
        r#""failure":null,"phase":"after_output","arrived_s":1.5,"sent_s":1.5,"first_output_s":1.75,"#,
        r#""ended_s":2.25,"sent":true,"cancelled":false,"remaining_s":10,"input_tokens":10,"output_tokens":10,"#,
        r#""cost_usd":0,"request_outcome":"success","request_answered":true,"request_closed_s":2.25}"#,
    );
    fs::write(folder.path().join("one.jsonl"), format!("{row}\n")).expect("it can be written to");
    let words = ["what-if", "one.jsonl", "--worlds=2", "-p", "one.yaml", "-p", "three.yaml"];
    let text = good(&folder, &words);
    assert!(text.contains("NOT HELD AGAINST THE LOG: it has too few requests"), "{text}");
    let found = good(&folder, &[&words[..], &["--format=json"]].concat());
    let found: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(found["believed"]["reproduces"], Value::Null, "{found}");
}

/// What no provider can have sent is no ground for a change of policy, though the simulation repeats it.
#[test]
fn failures_in_no_time_are_the_gateways_own() {
    let folder = folder("0.004");
    let two = "name: two\nattempts: {max: 2, max_same_target: 1}\n";
    fs::write(folder.path().join("two.yaml"), two).expect("it can be written to");
    let elsewhere = ["--target=openai-gpt-4o"];
    let ordinary = json(&folder, ["one.yaml", "two.yaml"], &elsewhere);
    assert_eq!(ordinary["cautions"], Value::Array(Vec::new()));
    assert_eq!(ordinary["recommended"]["policy"], "two");
    let log = log("0.004").replace(",200,503,", ",0,503,");
    fs::write(folder.path().join("log.csv"), log).expect("it can be written to");
    let told = json(&folder, ["one.yaml", "two.yaml"], &elsewhere);
    let caution = told["cautions"][0].as_str().expect("a caution");
    assert!(
        caution.starts_with("40 failures (10.0 % of attempts) came back within a millisecond"),
        "{caution}"
    );
    assert_eq!(told["recommended"]["policy"], Value::Null);
    let text = ask(&folder, ["one.yaml", "two.yaml"], &[]);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(&format!("BUT {caution}.")), "{text}");
}

/// Of 400 requests, the 40 that failed have no time: the others alone would show that nothing fails.
#[test]
fn a_log_many_of_whose_rows_cannot_be_used_is_told_so_first() {
    let folder = folder("0.004");
    let text = log("0.004").replace(",200,503,", ",,503,");
    fs::write(folder.path().join("log.csv"), &text).expect("it can be written to");
    let told = json(&folder, ["one.yaml", "three.yaml"], &[]);
    let caution = told["cautions"][0].as_str().expect("a caution");
    let said = "40 of 400 rows (10 %) cannot be used, most of them because one has no `ms`";
    assert!(caution.starts_with(said), "{caution}");
    assert_eq!(told["recommended"]["policy"], Value::Null);
    let text = ask(&folder, ["one.yaml", "three.yaml"], &[]);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(&format!("BUT {said}")), "{text}");
    // Rows that a log holds twice are no loss.
    let twice = log("0.004") + log("0.004").split_once('\n').expect("it has a header").1;
    fs::write(folder.path().join("log.csv"), twice).expect("it can be written to");
    let told = json(&folder, ["one.yaml", "three.yaml"], &[]);
    assert_eq!(told["cautions"], Value::Array(Vec::new()));
}

/// Every request went to one target: that nothing fails over is said before what anything gains there.
#[test]
fn a_log_of_one_target_says_first_that_nothing_fails_over() {
    let folder = folder("0.004");
    let told = json(&folder, ["one.yaml", "three.yaml"], &[]);
    let doubt = told["doubts"][0].as_str().expect("a sentence");
    assert!(doubt.starts_with("every request of this log has one target to go to"), "{doubt}");
    let text = ask(&folder, ["one.yaml", "three.yaml"], &[]);
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let at = |words: &str| flat.find(words).unwrap_or_else(|| panic!("no {words} in {text}"));
    assert!(
        at(&format!("BUT {doubt}.")) < at("`three` instead of `one`, with nowhere to fail over to"),
        "{text}"
    );

    let both = log("0.004").replace("q7,east", "q7,west");
    fs::write(folder.path().join("log.csv"), both).expect("it can be written to");
    let told = json(&folder, ["one.yaml", "three.yaml"], &[]);
    assert_eq!(told["doubts"], Value::Array(Vec::new()));

    // With a row for each request, failures that were recovered are missing.
    let map = fs::read_to_string(folder.path().join("map.yaml")).expect("it was written");
    let map = format!("rows: requests\n{map}");
    fs::write(folder.path().join("map.yaml"), map).expect("it can be written to");
    let told = json(&folder, ["one.yaml", "three.yaml"], &[]);
    let doubt = told["doubts"][0].as_str().expect("a sentence");
    assert!(doubt.starts_with("failures that a retry or another target recovered are"), "{doubt}");
}

/// Where a log shows only ends, a limit on the first token finds nothing to act on.
#[test]
fn rules_about_first_outputs_are_not_told_by_a_log_of_ends() {
    let folder = folder("0.004");
    let told = json(&folder, ["one.yaml", "three.yaml"], &[]);
    assert_eq!(told["blind_rules"], Value::Array(Vec::new()));
    assert_eq!(named(&told["believed"]["checks"], "ttft_p50")["logged"], Value::Null);
    let quick = "name: quick\nattempts: {max: 3}\ntimeouts: {first_token: 1s}\n";
    fs::write(folder.path().join("quick.yaml"), quick).expect("it can be written to");
    let told = json(&folder, ["one.yaml", "quick.yaml"], &[]);
    let rule = told["blind_rules"][0].as_str().expect("a sentence");
    assert!(rule.starts_with("`quick` acts on when output comes"), "{rule}");
    let text = ask(&folder, ["one.yaml", "quick.yaml"], &[]);
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plain.contains(&format!("{rule}.")), "{text}");
}
