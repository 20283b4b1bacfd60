//! Courses, and the worlds that are made of them.

use windtunnel_policy::Share;

use super::{Asked, Course, Hypothesis, Incident, Traffic};
use crate::input::{InputError, SourceFile};
use crate::profile::{About, Profile, Row};
use crate::scenario::Scenario;

const HEAD: &str = r#""id": "i", "provider": "openai", "source": "s",
  "start": "2025-06-10T06:00:00Z", "end": "2025-06-10T10:00:00Z""#;

fn file(text: &str) -> SourceFile {
    SourceFile { name: "t.json".into(), text: text.into(), folder: None }
}

fn course(rest: &str, severity: Option<Share>) -> Result<Course, InputError> {
    let found = Incident::pick(file(&format!("{{\n  {HEAD}{rest}\n}}")), None)?;
    Course::of(&found, severity)
}

fn good(rest: &str) -> Course {
    course(rest, None).unwrap_or_else(|e| panic!("{e}"))
}

/// The peak, and what it may have been as well.
fn peak(course: &Course) -> [String; 3] {
    [course.peak, course.range.0, course.range.1].map(|share| share.to_string())
}

/// Minutes and shares of the peak.
fn told(course: &Course) -> Vec<(u64, String)> {
    course.points.iter().map(|(at, share)| (at / 60_000_000, share.to_string())).collect()
}

fn expected(points: &[(u64, &str)]) -> Vec<(u64, String)> {
    points.iter().map(|(at, share)| (*at, (*share).to_owned())).collect()
}

#[test]
fn a_window_and_percentages_in_words_make_a_course() {
    let course = good(
        r#", "points": [["2025-06-10T06:00:00Z", "begin"], ["2025-06-10T07:00:00Z", "errors ~5%"]],
        "peak_error_rate": {"api": 0.25, "chatgpt": 0.35},
        "peak_window": ["2025-06-10T07:15:00Z", "2025-06-10T09:00:00Z"]"#,
    );
    assert_eq!(peak(&course), ["25%", "12.5%", "50%"]);
    let points = [(0, "0%"), (60, "20%"), (75, "100%"), (180, "100%"), (240, "0%")];
    assert_eq!(told(&course), expected(&points));
    assert!(course.said.iter().any(|said| said.contains("“errors ~5%” is read as 5%")));
    assert!(course.said.iter().any(|said| said.contains("that of `api` is taken")));
}

#[test]
fn where_nothing_but_the_peak_is_known_it_holds() {
    let flat = good(r#", "peak_error_rate": 0.1, "points": [["2025-06-10", "10% errors before"]]"#);
    assert_eq!((peak(&flat)[0].as_str(), told(&flat)), ("10%", Vec::new()));
}

#[test]
fn a_share_that_nobody_published_is_assumed_and_may_be_anything() {
    let course = good("");
    assert_eq!(peak(&course), ["50%", "10%", "100%"]);
    assert!(course.said[0].contains("50 % is assumed"), "{:?}", course.said);
}

#[test]
fn a_share_of_ones_own_scales_the_whole_course() {
    let rest = r#", "peak_error_rate": 0.4, "points": [["2025-06-10T07:00:00Z", "a half of it", 0.2],
        ["2025-06-10T08:00:00Z", "all", 0.4]]"#;
    let mine = course(rest, Some(Share::ratio(1, 8))).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(peak(&mine), ["12.5%", "6.25%", "25%"]);
    assert_eq!(told(&mine), expected(&[(0, "0%"), (60, "50%"), (120, "100%"), (240, "0%")]));
}

/// What is wrong, and what the message says of it.
#[test]
fn what_cannot_be_is_refused_at_its_place() {
    for (rest, wanted) in [
        (r#", "colour": 1"#, "colour: unknown field"),
        (
            r#", "peak_error_rate": 25"#,
            "peak_error_rate: expected a fraction from 0 to 1, found 25",
        ),
        (r#", "peak_error_rate": {"api": -1}"#, "peak_error_rate.api: expected a fraction"),
        (r#", "peak_error_rate": "high""#, "peak_error_rate"),
        (r#", "peak_error_rate": {}"#, "peak_error_rate: names no product"),
        (r#", "peak_error_rate": 0"#, "peak_error_rate: no call failed"),
        (r#", "points": [["soon", "x"]]"#, "points[0][0]: expected a date and time, found `soon`"),
        (r#", "points": [["2025-06-10"]]"#, "points[0]"),
        (r#", "points": [["2025-06-10", "x", 0.1, 2]]"#, "points[0]"),
        (r#", "points": [["2025-06-11", "x", 0.1]]"#, "points[0][0]: `2025-06-11` is not between"),
        (r#", "points": [["2025-06-10T07:00:00Z", "x", 7]]"#, "points[0][2]: expected a fraction"),
        (
            r#", "points": [["2025-06-11", "x"], ["2025-06-10", "y"]]"#,
            "points[1][0]: `2025-06-10` is earlier",
        ),
        (
            r#", "peak_window": ["2025-06-10T08:00:00Z", "2025-06-10T07:00:00Z"]"#,
            "peak_window: is no",
        ),
        (r#", "peak_window": ["2025-06-10T08:00:00Z"]"#, "peak_window"),
    ] {
        let error = course(rest, None).map(drop).expect_err(rest).to_string();
        assert!(error.starts_with("t.json:") && error.contains(wanted), "{rest}: {error}");
    }
    let at = |end: &str| format!(r#"{{{}}}"#, HEAD.replace("2025-06-10T10:00:00Z", end));
    for (end, wanted) in [
        ("2025-06-10T05:00:00Z", "end: `2025-06-10T05:00:00Z` is not after the start"),
        ("2025-08-10", "end: is 60 days after the start; at most 7"),
        ("10:00", "end: expected a date and time"),
    ] {
        let found = Incident::pick(file(&at(end)), None).unwrap_or_else(|e| panic!("{e}"));
        let error = Course::of(&found, None).map(drop).expect_err(end).to_string();
        assert!(error.contains(wanted), "{end}: {error}");
    }
}

#[test]
fn one_of_several_is_named() {
    let list = format!("[{{{HEAD}}}, {{{}}}]", HEAD.replace("\"i\"", "\"other\""));
    let pick = |id| Incident::pick(file(&list), id).map(|found| found.incident.id);
    assert_eq!(pick(Some("other")).map_err(|e| e.to_string()), Ok("other".into()));
    let error = pick(Some("othr")).expect_err("there is none").to_string();
    assert!(error.contains("did you mean `other`?"), "{error}");
    let error = pick(None).expect_err("there are two").to_string();
    assert!(error.contains("holds 2 incidents: `i`, `other`"), "{error}");
}

/// A call each second for ten minutes.
fn traffic() -> Traffic {
    let row = |at: u64| Row {
        at_us: at * 1_000_000,
        input: 100,
        output: 300,
        session: 0,
        label: String::new(),
    };
    let rows: Vec<Row> = (0..600).map(row).collect();
    let word = || "made-up".to_owned();
    let about =
        About { name: word(), description: word(), source: word(), licence: word(), date: word() };
    let profile = Box::new(Profile::from_trace(&rows, about).expect("it has rows"));
    let own = SourceFile { name: "p.yaml".into(), text: profile.to_yaml(), folder: None };
    Traffic::Profile { name: "made-up".into(), profile, own: Some(own) }
}

fn supposed(provider: &str, targets: &[String]) -> Result<Hypothesis, InputError> {
    let text = format!("{{{HEAD}}}").replace("\"openai\"", &format!("\"{provider}\""));
    let found = Incident::pick(file(&text), None)?;
    Hypothesis::of("w", &Asked { found: &found, traffic: &traffic(), targets, severity: None })
}

#[test]
fn the_cards_of_the_provider_and_of_its_model_elsewhere_are_taken() {
    let hypothesis = supposed("anthropic", &[]).unwrap_or_else(|e| panic!("{e}"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in hypothesis.files() {
        let path = folder.path().join(&file.path);
        std::fs::create_dir_all(path.parent().expect("it has one")).expect("it can be made");
        std::fs::write(path, file.text()).expect("it can be written to");
    }
    let path = folder.path().join(hypothesis.scenario_path());
    let scenario = Scenario::load(&path.display().to_string()).unwrap_or_else(|e| panic!("{e}"));
    let names: Vec<&str> = scenario.targets.iter().map(|target| target.name.as_str()).collect();
    assert_eq!(names, ["anthropic-claude-sonnet-4-5", "bedrock-claude-sonnet-4-5"]);
    let words: Vec<String> = hypothesis.otherwise(&scenario).into_iter().map(|(w, _)| w).collect();
    assert_eq!(
        words,
        [
            "10% of calls failed at its worst",
            "100% of calls failed at its worst",
            "what failed was refused at once",
            "what failed was silence",
        ]
    );
    assert_eq!(hypothesis.spared(&scenario), ["bedrock-claude-sonnet-4-5"]);
}

#[test]
fn targets_that_cannot_be_are_refused() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    for (provider, targets, wanted) in [
        ("opnai", names(&[]), "no shipped card is of the provider `opnai`"),
        ("groq", names(&[]), "no shipped card offers another way than `groq-gpt-oss-120b`"),
        ("openai", names(&["groq-gpt-oss-120b"]), "provider: no target is run by `openai`"),
        ("openai", names(&["openai-gpt-4o", "openai-gpt-4o"]), "`openai-gpt-4o` is named twice"),
        ("openai", names(&["openai-gpt-5o"]), "no file and no shipped model card"),
    ] {
        let error = supposed(provider, &targets).map(drop).expect_err(wanted).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
