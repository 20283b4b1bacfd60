//! Reports of runs made by hand.

use windtunnel_policy::{Duration, Instant};

use super::*;
use crate::experiment::{Extremes, PolicyRuns};
use crate::input::SourceFile;
use crate::record::{Answered, ClassTotals, RunTotals, TargetTotals};
use crate::stats::Gate;
use crate::weather::Incident;

fn scenario() -> Scenario {
    let text = include_str!("../../tests/files/cli/small.yaml");
    Scenario::read(SourceFile::from_bytes("small.yaml".into(), text.into()).unwrap()).unwrap()
}

/// A world of 1,000 requests, of which so many are answered by the first attempt and so many by
/// failover; each attempt costs a cent.
fn world(raw: u64, failover: u64) -> RunTotals {
    let answered = Answered { raw, failover, ..Answered::default() };
    let attempts = 1_000 + failover;
    let mut class = ClassTotals {
        requests: 1_000,
        received: 1_000,
        answered,
        transport_success: answered.total(),
        contract_success: answered.total(),
        task_success: answered.total(),
        attempts,
        cost: u128::from(attempts) * 10_000_000_000,
        ..ClassTotals::default()
    };
    (0..raw).for_each(|_| class.latency.record(2_000_000));
    (0..failover).for_each(|_| class.latency.record(3_000_000));
    (0..1_000 - answered.total()).for_each(|_| class.latency.record_infinite());
    let target = |attempts| TargetTotals { attempts, ..TargetTotals::default() };
    RunTotals {
        classes: vec![class],
        targets: vec![target(failover), target(1_000)],
        measured: Duration::from_secs(600),
        ..RunTotals::default()
    }
}

fn policies(failovers: [[u64; 3]; 2]) -> Vec<PolicyRuns> {
    let names = ["careful", "eager"];
    let policy = |(name, failovers): (&str, [u64; 3])| PolicyRuns {
        name: name.into(),
        hash: "0123456789abcdef".into(),
        worlds: [900, 880, 920].into_iter().zip(failovers).map(|(r, f)| world(r, f)).collect(),
    };
    names.into_iter().zip(failovers).map(policy).collect()
}

/// The eager policy answers more, but less where failures stick to their requests.
fn experiment() -> Experiment {
    let at = |s| Instant::ZERO + Duration::from_secs(s);
    let incident =
        Incident { name: "trouble".into(), from: at(180), to: at(360), targets: vec![0] };
    Experiment {
        worlds: vec![0, 1, 2],
        incidents: vec![vec![incident]; 3],
        policies: policies([[0, 0, 0], [80, 90, 70]]),
        single: Some([900, 880, 920].map(|raw| world(raw, 0)).to_vec()),
        extremes: Some([
            policies([[0, 0, 0], [80, 90, 70]]),
            policies([[50, 60, 40], [10, 18, 2]]),
        ]),
    }
}

fn with_report<T>(gates: &[&str], look: impl FnOnce(&Report<'_>) -> T) -> T {
    let (scenario, experiment) = (scenario(), experiment());
    let catalogue = Catalogue::of(&scenario);
    let known = catalogue.known();
    let gates: Vec<Gate> = gates.iter().map(|gate| Gate::parse(gate, &known).unwrap()).collect();
    let findings = Findings::of(&experiment, &catalogue, &gates).unwrap();
    let options =
        Options { seed: 7, worlds: 3, resample: false, extremes: Extremes::All, threads: None };
    look(&Report {
        scenario: &scenario,
        options: &options,
        experiment: &experiment,
        catalogue: &catalogue,
        findings: &findings,
    })
}

#[test]
fn the_table_and_its_conclusion() {
    let text = with_report(&["success >= base", "success >= 99%"], |report| {
        report.table(Parts::default())
    });
    // The version and the scenario's hash change for reasons of their own.
    let stable: Vec<&str> = text
        .lines()
        .filter(|line| !line.starts_with("windtunnel ") && !line.starts_with("scenario "))
        .collect();
    insta::assert_snapshot!(stable.join("\n"));
}

#[test]
fn a_turned_ranking_is_not_identified() {
    let (text, json) = with_report(&["success >= base"], |r| (r.table(Parts::default()), r.json()));
    assert!(text.contains("NOT IDENTIFIED"));
    assert!(text.contains("Not identified: whether `careful` or `eager`"));
    let object: serde_json::Value = serde_json::from_str(&json).unwrap();
    let pair = &object["stickiness"]["pairs"][0];
    assert_eq!(pair["identified"], "no");
    assert_eq!(pair["ahead"]["0"], "eager");
    assert_eq!(pair["ahead"]["1"], "careful");
    assert_eq!(object["gates"][0]["outcome"], "undecided", "an extreme reverses it");
}

#[test]
fn json_by_hand() {
    let json = with_report(&[], |report| report.json());
    let object: serde_json::Value = serde_json::from_str(&json).unwrap();
    let eager = &object["policies"][1];
    // 2,700 of 3,000 by the first attempt, 240 by failover.
    assert_eq!(eager["measures"]["raw_success"]["value"], 0.9);
    assert_eq!(eager["measures"]["success"]["value"], 0.98);
    assert_eq!(eager["measures"]["recovered_by_failover"]["value"], 0.08);
    assert_eq!(eager["measures"]["no_recovery_success"]["value"], 0.9);
    assert_eq!(eager["measures"]["success"]["n"], 3_000);
    // 3,240 attempts at a cent each.
    assert_eq!(eager["measures"]["cost_per_1k"]["value"], 10.8);
    assert_eq!(eager["measures"]["cost_per_1k"]["unit"], "dollars per 1,000 requests");
    assert_eq!(eager["measures"]["recovered_by_hedge"]["value"], 0.0);
    assert!(eager["by_class"]["chat"]["target_share.far"].is_null());
    let gain = &eager["differences"]["success"];
    assert_eq!(gain["verdict"], "clear");
    assert_eq!(object["windtunnel"]["policy_hashes"]["eager"], "0123456789abcdef");
}

#[test]
fn csv_has_a_row_for_each_figure() {
    let (csv, measures) = with_report(&[], |r| (r.csv(), r.catalogue.measures().len()));
    let mut reader = ::csv::Reader::from_reader(csv.as_bytes());
    let rows: Vec<::csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let overall = rows.iter().filter(|row| row[3].is_empty()).count();
    assert_eq!(overall, 2 * measures);
    let find = |policy: &str, class: &str, measure: &str| {
        rows.iter().find(|row| row[2] == *policy && row[3] == *class && row[5] == *measure).unwrap()
    };
    assert_eq!(find("eager", "", "success")[7], *"0.98");
    assert_eq!(find("eager", "", "success")[15], *"clear");
    assert_eq!(find("eager", "chat", "success")[7], *"0.98");
    assert_eq!(find("careful", "", "success")[12], *"");
}

#[test]
fn the_columns_are_documented() {
    let documented = include_str!("../../docs/output.md");
    for column in LEDGER_COLUMNS
        .iter()
        .chain(&LEDGER_LAYER_COLUMNS)
        .chain(&LEDGER_TENANT_COLUMNS)
        .chain(&LEDGER_DISCLOSURE_COLUMNS)
        .chain(&LEDGER_TOOL_COLUMNS)
        .chain(&LEDGER_CHUNK_COLUMNS)
        .chain(&LEDGER_DEADLINE_COLUMNS)
        .chain(&TIMELINE_COLUMNS)
    {
        assert!(documented.contains(&format!("`{column}`")), "{column} is not in docs/output.md");
    }
}

#[test]
fn the_page_answers_first() {
    let page = with_report(&["success >= 99%"], |report| report.page(Extras::default()));
    assert_eq!(page.title, "2 policies in small");
    assert!(page.answer.starts_with("`eager` answers most: 98.0 %"), "{}", page.answer);
    // What decides is read alone, so what it costs stands in it.
    let price = "but clearly worse than `careful` in cost per 1,000 requests +$0.80 ± 0.25";
    assert!(page.answer.contains(price), "{}", page.answer);
    let figure = |label: &str| page.figures.iter().find(|f| f.label == label).unwrap();
    // 980 of 1,000 instead of 900: 80, 90 and 70 in the three worlds, so ±4.303 × 10 ÷ √3 = 25.
    assert_eq!(figure("requests saved").value, "80 ± 20");
    assert_eq!(figure("requests saved").note, "of 1,000 in each world, against careful");
    assert_eq!(figure("requests saved").tone, crate::page::Tone::Good);
    let success = figure("requests answered");
    assert!(success.note.starts_with("careful: 90.0 %; +8.0 pp"), "{}", success.note);
    // A cent an attempt: 1,080 for 1,000 requests.
    assert_eq!(figure("cost per 1,000 requests").tone, crate::page::Tone::Bad);
    assert!(page.belief.iter().any(|line| line.contains("NOT IDENTIFIED")), "{:?}", page.belief);
    let titles: Vec<&str> = page.sections.iter().map(|s| s.title.as_str()).collect();
    let expected = ["Conclusion", "Gates", "By policy", "Over time", "Stickiness", "Every figure"];
    assert_eq!(titles, expected);
    assert!(page.html().contains("careful"));
}
