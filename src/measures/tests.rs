//! Every measure against figures worked out by hand, for every way a request can end.

use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::{Advice, Outcome, Terminal};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::{Duration, Instant, Money};

use super::*;
use crate::record::{ClassTotals, RequestRow, RunTotals, TargetTotals};

const MS: u64 = 1_000;
const DEADLINE_MS: u64 = 10_000;

/// A request that arrived at zero and was closed unanswered after `took_ms`.
fn unanswered(outcome: Outcome, took_ms: u64, attempts: u16) -> RequestRow {
    let result = Terminal {
        id: 0,
        outcome,
        status: 500,
        class: None,
        stop: None,
        retryable: false,
        retry_after: None,
        attempts,
        cost: Money::ZERO,
        disclosed: false,
        advice: Advice::GiveUp,
    };
    RequestRow {
        request: 0,
        class: 0,
        tenant: 0,
        substitute: false,
        record: None,
        to_disclose: false,
        measured: true,
        arrived: Instant::ZERO,
        closed: Instant::from_micros(took_ms * MS),
        result,
        answered: false,
        by: None,
        resent: false,
        transport_success: false,
        contract_success: false,
        task_success: false,
        added_latency: None,
        excess_latency_us: None,
        ttft: None,
        released: false,
        cost: Money::ZERO,
        wasted: Money::ZERO,
        deadline: Duration::from_millis(DEADLINE_MS),
    }
}

/// One answered after `took_ms`, by an attempt sent after `added_ms`.
fn answered(by: Option<RecoveryAction>, took_ms: u64, added_ms: u64, attempts: u16) -> RequestRow {
    RequestRow {
        answered: true,
        by,
        transport_success: true,
        contract_success: true,
        task_success: true,
        added_latency: Some(Duration::from_millis(added_ms)),
        excess_latency_us: Some(took_ms as i64 * 1_000 - 1_000_000),
        ttft: Some(Duration::from_millis(added_ms + 100)),
        ..unanswered(Outcome::Answered(attempts), took_ms, attempts)
    }
}

fn totals(rows: &[RequestRow]) -> ClassTotals {
    let mut class = ClassTotals::default();
    for row in rows {
        class.take(row);
        class.close(row);
    }
    class
}

fn run(rows: &[RequestRow]) -> RunTotals {
    RunTotals { classes: vec![totals(rows)], ..RunTotals::default() }
}

fn value(name: &str, runs: &[RunTotals]) -> Option<f64> {
    let catalogue = Catalogue::new(["near", "far"]);
    catalogue.find(name).unwrap().read(&Runs::overall(runs, None)).estimate.value
}

fn note(name: &str, runs: &[RunTotals]) -> Option<Note> {
    let catalogue = Catalogue::new(["near", "far"]);
    catalogue.find(name).unwrap().read(&Runs::overall(runs, None)).estimate.note
}

/// One request of each kind, ten in all.
fn one_of_each() -> RunTotals {
    let dollars = |d: u64| Money::from_pico(d * 1_000_000_000_000);
    let first = RequestRow { cost: dollars(2), ..answered(None, 1_500, 0, 1) };
    let retried = RequestRow {
        cost: dollars(4),
        wasted: dollars(1),
        task_success: false,
        ..answered(Some(RecoveryAction::Retry), 2_500, 1_000, 2)
    };
    let moved = answered(Some(RecoveryAction::Failover), 700, 200, 3);
    let substituted = answered(Some(RecoveryAction::Substitution), 3_000, 2_000, 2);
    let refusal = RequestRow {
        result: Terminal { outcome: Outcome::Refused(1), ..first.result },
        task_success: false,
        ..answered(None, 500, 0, 1)
    };
    let silent_failure =
        RequestRow { transport_success: true, ..unanswered(Outcome::Answered(1), 900, 1) };
    let broken = RequestRow {
        cost: dollars(4),
        wasted: dollars(4),
        released: true,
        ..unanswered(Outcome::Partial, 4_000, 1)
    };
    let rows = [
        first,
        retried,
        moved,
        substituted,
        refusal,
        silent_failure,
        broken,
        unanswered(Outcome::Deadline, 10_000, 3),
        unanswered(Outcome::NoEligibleTarget, 0, 0),
        unanswered(Outcome::Cancelled, 6_000, 1),
    ];
    run(&rows)
}

#[test]
fn shares_of_one_request_of_each_kind() {
    let runs = [one_of_each()];
    for (name, expected) in [
        ("raw_success", 0.2),
        ("success", 0.5),
        ("recovered_by_retry", 0.1),
        ("recovered_by_failover", 0.1),
        ("recovered_by_substitution", 0.1),
        ("transport_success", 0.6),
        ("contract_success", 0.5),
        ("task_success", 0.3),
        ("exhausted", 0.0),
        ("silent_failure", 0.1),
        ("deadline_exhausted", 0.1),
        ("no_eligible_target", 0.1),
        ("turned_away", 0.0),
        ("partial_output", 0.1),
        ("cancelled", 0.1),
        ("refused", 0.1),
    ] {
        assert_eq!(value(name, &runs), Some(expected), "{name}");
    }
}

#[test]
fn how_requests_end_adds_up_to_all() {
    let told = |outcome, class| {
        let row = unanswered(outcome, 1, 1);
        RequestRow { result: Terminal { class: Some(class), ..row.result }, ..row }
    };
    let more = run(&[
        told(Outcome::Exhausted, FailureClass::Overloaded),
        told(Outcome::Exhausted, FailureClass::Unknown),
        told(Outcome::PolicyStop, FailureClass::Overloaded),
        unanswered(Outcome::Refused(1), 5, 1),
        unanswered(Outcome::TurnedAway, 0, 0),
    ]);
    let runs = [one_of_each(), more];
    let ends = [
        ("success", 5),
        ("exhausted", 2),
        ("policy_stop", 1),
        ("silent_failure", 2),
        ("deadline_exhausted", 1),
        ("no_eligible_target", 1),
        ("turned_away", 1),
        ("partial_output", 1),
        ("cancelled", 1),
    ];
    for (name, of_15) in ends {
        assert_eq!(value(name, &runs), Some(f64::from(of_15) / 15.0), "{name}");
    }
    assert_eq!(ends.iter().map(|(_, count)| count).sum::<i32>(), 15);
    assert_eq!(value("ended_as.overloaded", &runs), Some(2.0 / 15.0));
    assert_eq!(value("ended_as.unknown", &runs), Some(1.0 / 15.0));
    assert_eq!(value("ended_as.timeout", &runs), Some(0.0));
}

#[test]
fn failure_classes_are_counted_at_their_place() {
    for (position, class) in FailureClass::ALL.into_iter().enumerate() {
        assert_eq!(class as usize, position);
    }
}

#[test]
fn attempts_and_money_of_one_request_of_each_kind() {
    let runs = [one_of_each()];
    // Attempts 1+2+3+2+1+1+1+3+0+1 = 15; dollars 2+4+4 = 10, five of them wasted; five answers.
    for (name, expected) in [
        ("attempts_per_request", 1.5),
        ("amplification", 1.5),
        ("cost_per_request", 1.0),
        ("cost_per_1k", 1_000.0),
        ("cost_per_success", 2.0),
        ("wasted_cost_share", 0.5),
    ] {
        assert_eq!(value(name, &runs), Some(expected), "{name}");
    }
}

#[test]
fn means_count_the_unanswered_at_their_deadline() {
    let runs = [one_of_each()];
    // Five unanswered at 10 s each, whatever they took.
    for (name, expected) in [
        // 0 + 1 + 0.2 + 2 + 0 = 3.2
        ("added_latency_mean", 5.32),
        // 0.5 + 1.5 − 0.3 + 2 − 0.5 = 3.2
        ("excess_latency_mean", 5.32),
        // 1.5 + 2.5 + 0.7 + 3 + 0.5 = 8.2
        ("latency_mean", 5.82),
        // 0.1 + 1.1 + 0.3 + 2.1 + 0.1 = 3.7
        ("ttft_mean", 5.37),
    ] {
        let got = value(name, &runs).unwrap();
        assert!((got - expected).abs() < 1e-12, "{name}: {got}");
    }
}

#[test]
fn means_are_restricted_at_the_deadline() {
    let late = answered(None, DEADLINE_MS + 5_000, 0, 1);
    let got = value("latency_mean", &[run(&[late])]).unwrap();
    assert_eq!(got, 10.0);
}

/// A thousand answers after 1 to 1,000 ms, and 1,000 unanswered after 2 s.
fn half_unanswered() -> RunTotals {
    let answers = (1..=1_000).map(|ms| answered(None, ms, ms, 1));
    let failures = (0..1_000).map(|_| unanswered(Outcome::Exhausted, 2_000, 1));
    run(&answers.chain(failures).collect::<Vec<_>>())
}

#[test]
fn quantiles_put_the_unanswered_at_infinity() {
    let runs = [half_unanswered()];
    // The median of 2,000 is the 1,000th: the slowest answer. Cells are 0.1 % wide.
    for (name, expected) in [
        ("latency_p50", 1.0),
        ("added_latency_p50", 1.0),
        ("ttft_p50", 1.1),
        ("excess_latency_p50", 0.0),
        ("time_to_failure_p50", 2.0),
    ] {
        let got = value(name, &runs).unwrap();
        assert!((got - expected).abs() <= 0.0011, "{name}: {got}");
    }
    for name in ["latency_p90", "added_latency_p99", "excess_latency_p90", "ttft_p90"] {
        assert_eq!((value(name, &runs), note(name, &runs)), (None, Some(Note::Unanswered)));
    }
}

#[test]
fn quantiles_need_a_hundred_requests_beyond() {
    let answers: Vec<RequestRow> = (1..=1_000).map(|ms| answered(None, ms, 0, 1)).collect();
    let runs = [run(&answers)];
    let p90 = value("latency_p90", &runs).unwrap();
    assert!((p90 - 0.9).abs() <= 0.001, "{p90}");
    assert_eq!(note("latency_p99", &runs), Some(Note::FewExceedances { found: 10 }));
}

#[test]
fn nothing_measured_is_null() {
    let runs = [run(&[])];
    let catalogue = Catalogue::new([]);
    for measure in catalogue.measures() {
        let got = measure.read(&Runs::overall(&runs, None)).estimate;
        assert_eq!(got.value, None, "{}", measure.name);
        assert!(got.note.is_some(), "{}", measure.name);
    }
    let lost = [run(&[unanswered(Outcome::Exhausted, 10, 1)])];
    assert_eq!(note("cost_per_success", &lost), Some(Note::NothingMeasured));
    assert_eq!(note("wasted_cost_share", &lost), Some(Note::NothingMeasured));
}

#[test]
fn what_is_not_modelled_says_so() {
    let runs = [one_of_each()];
    for name in ["duplicate_side_effects", "no_recovery_success"] {
        assert_eq!(note(name, &runs), Some(Note::NotModelled), "{name}");
    }
}

#[test]
fn the_single_policy_is_read_on_the_same_worlds() {
    let (runs, single) = ([one_of_each()], [run(&[answered(None, 1, 0, 1)])]);
    let catalogue = Catalogue::new([]);
    let measure = catalogue.find("no_recovery_success").unwrap();
    let got = measure.read(&Runs::overall(&runs, Some(&single))).estimate;
    assert_eq!((got.value, got.n), (Some(0.1), 10));
}

#[test]
fn parts_of_the_policy() {
    let seconds = Duration::from_secs;
    let target = |attempts, open| TargetTotals {
        attempts,
        not_sent: attempts / 4,
        open,
        probes: attempts / 3,
        ..TargetTotals::default()
    };
    let runs = [RunTotals {
        targets: vec![target(12, seconds(30)), target(4, seconds(0))],
        measured: seconds(60),
        budget_asks: 8,
        budget_denials: 2,
        detections: vec![Some(seconds(3)), None, Some(seconds(5))],
        recoveries: vec![None, None, None],
        ..one_of_each()
    }];
    for (name, expected) in [
        ("not_sent", Some(0.2)),
        ("breaker_open_share", Some(0.25)),
        // 4 of 12, and 1 of 4.
        ("probe_share", Some(5.0 / 16.0)),
        ("retry_budget_denied", Some(0.25)),
        ("detection_time", Some(4.0)),
        ("recovery_time", None),
        ("target_share.near", Some(0.75)),
        ("target_share.far", Some(0.25)),
    ] {
        assert_eq!(value(name, &runs), expected, "{name}");
    }
    assert_eq!(note("detection_time", &runs), Some(Note::Reached { reached: 2, of: 3 }));
    assert_eq!(note("recovery_time", &runs), Some(Note::Reached { reached: 0, of: 3 }));
}

#[test]
fn classes_are_read_apart_and_together() {
    let answers = totals(&[answered(None, 10, 0, 1), answered(None, 10, 0, 1)]);
    let failures = totals(&[unanswered(Outcome::Exhausted, 10, 2)]);
    let runs = [RunTotals { classes: vec![answers, failures], ..RunTotals::default() }];
    let catalogue = Catalogue::new(["near"]);
    let success = catalogue.find("success").unwrap();
    let of = |runs: Runs<'_>| success.read(&runs).estimate.value;
    assert_eq!(of(Runs::overall(&runs, None)), Some(2.0 / 3.0));
    assert_eq!(of(Runs::class(&runs, None, 0)), Some(1.0));
    assert_eq!(of(Runs::class(&runs, None, 1)), Some(0.0));
    assert!(!catalogue.find("target_share.near").unwrap().by_class());
    assert!(success.by_class());
}

#[test]
fn worlds_are_pooled() {
    // 1 of 1 and 1 of 3: two of four, not the mean of the shares.
    let one = run(&[answered(None, 10, 0, 1)]);
    let third = run(&[
        answered(None, 10, 0, 1),
        unanswered(Outcome::Exhausted, 10, 1),
        unanswered(Outcome::PolicyStop, 10, 1),
    ]);
    assert_eq!(value("success", &[one, third]), Some(0.5));
}

#[test]
fn names_are_unique_and_those_of_the_documentation() {
    let catalogue = Catalogue::new(["near", "far"]);
    let names: Vec<&str> = catalogue.measures().iter().map(|m| m.name.as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), names.len());
    for family in ["added_latency", "excess_latency", "latency", "ttft"] {
        for suffix in ["mean", "p50", "p90", "p99", "p999"] {
            assert!(names.contains(&format!("{family}_{suffix}").as_str()), "{family}_{suffix}");
        }
    }
    let documented = include_str!("../../docs/measures.md");
    let listed = |name: &&&str| !name.contains('.');
    for name in names.iter().filter(listed) {
        assert!(documented.contains(&format!("`{name}`")), "{name} is not in docs/measures.md");
    }
}

#[test]
fn what_is_kept_is_enough_for_the_measures_it_was_kept_for() {
    let rows = [answered(None, 900, 0, 1), answered(None, 2_000, 300, 1)];
    let rows: Vec<RequestRow> = rows.iter().cycle().take(40_000).copied().collect();
    let (catalogue, full) = (Catalogue::new(["a"]), [run(&rows), run(&rows)]);
    for measure in catalogue.measures().iter().filter(|measure| measure.by_class()) {
        let mut slim = full.clone();
        slim.iter_mut().for_each(|run| Measure::keep_what_they_read(&[measure], run));
        let read = |runs: &[RunTotals]| measure.read(&Runs::overall(runs, None)).estimate;
        assert_eq!(read(&slim), read(&full), "{}", measure.name);
    }
    let mut slim = full[0].clone();
    Measure::keep_what_they_read(&[catalogue.find("latency_p90").unwrap()], &mut slim);
    assert!(slim.classes[0].ttft.is_empty() && slim.classes[0].added_latency.is_empty());
}
