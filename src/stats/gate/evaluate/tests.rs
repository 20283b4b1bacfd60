use super::super::{Dimension, Known};
use super::*;
use crate::stats::{Hits, Ratio};

const KNOWN: &[Known<'static>] = &[
    Known { name: "success", dimension: Dimension::Share, signed: false },
    Known { name: "latency_p99", dimension: Dimension::Seconds, signed: false },
    Known { name: "cost_per_1k", dimension: Dimension::Dollars, signed: false },
];

fn gate(text: &str) -> Gate {
    Gate::parse(text, KNOWN).unwrap_or_else(|e| panic!("{e}"))
}

/// A proportion over worlds of `of` requests each.
fn share(of: u64, hits: &[u64]) -> Sample<'static> {
    Sample::proportion(hits.iter().map(|&hits| Hits { hits, of }).collect())
}

/// Dollars per request over worlds of one request each: a plain mean.
fn cost(worlds: &[f64]) -> Sample<'static> {
    let worlds = worlds.iter().map(|&numerator| Ratio { numerator, denominator: 1.0 });
    let worlds: Vec<Ratio> = worlds.collect();
    let requests = worlds.len() as u64;
    Sample::ratio(worlds, requests)
}

fn noise(worlds_needed: u32) -> Outcome {
    undecided(Some(worlds_needed), Doubt::Noise)
}

#[test]
fn the_one_sided_bound_decides() {
    // Mean 2, s = 1 over three worlds: half-width 2.919986 · 1/√3 = 1.685854.
    let policy = cost(&[1.0, 2.0, 3.0]);
    let table = [
        ("cost_per_1k <= $3.69", Outcome::Passed),
        // Margins 1.68 and 1: ⌈3 (1.685854/1.68)²⌉ = 4, ⌈3 · 1.685854²⌉ = 9.
        ("cost_per_1k <= $3.68", noise(4)),
        ("cost_per_1k <= $3", noise(9)),
        ("cost_per_1k <= $1", noise(9)),
        ("cost_per_1k <= $0.31", Outcome::Failed),
        ("cost_per_1k >= $0.31", Outcome::Passed),
        ("cost_per_1k >= $3.69", Outcome::Failed),
        // On the limit itself no number of worlds decides.
        ("cost_per_1k <= $2", undecided(None, Doubt::Noise)),
    ];
    for (text, outcome) in table {
        assert_eq!(gate(text).evaluate(&policy, &policy).outcome, outcome, "{text}");
    }
    let result = gate("cost_per_1k <= $3").evaluate(&policy, &policy);
    assert_eq!((result.measured, result.limit, result.margin), (Some(2.0), Some(3.0), Some(1.0)));
    assert!((result.half_width.unwrap() - 1.685_854).abs() < 1e-6);
}

#[test]
fn a_factor_applies_to_the_paired_base() {
    // B is 1.04 A in every world: the spread of B - 1.05 A is a hundredth of A's.
    let base = cost(&[1.0, 2.0, 3.0]);
    let policy = cost(&[1.04, 2.08, 3.12]);
    // Margin 0.02, half-width 0.01 · 1.685854: passes, where unpaired noise would not let it.
    let result = gate("cost_per_1k <= base * 1.05").evaluate(&policy, &base);
    assert_eq!(result.outcome, Outcome::Passed);
    assert!((result.margin.unwrap() - 0.02).abs() < 1e-12);
    assert!((result.half_width.unwrap() - 0.016_858_54).abs() < 1e-8);
    // B - A - 0.2: margin 0.12, half-width 0.04 · 1.685854.
    assert_eq!(
        gate("cost_per_1k <= base + $0.20").evaluate(&policy, &base).outcome,
        Outcome::Passed
    );
    assert_eq!(
        gate("cost_per_1k <= base * 1.03").evaluate(&policy, &base).outcome,
        Outcome::Failed
    );
    // Exactly on it: no spread at all, and rounding does not fail it.
    assert_eq!(
        gate("cost_per_1k <= base * 1.04").evaluate(&policy, &base).outcome,
        Outcome::Passed
    );
}

#[test]
fn the_same_policy_keeps_every_base() {
    for hits in [&[90, 95, 99][..], &[100, 100, 100], &[0, 0, 0]] {
        let same = share(100, hits);
        for (text, outcome) in [
            ("success >= base", Outcome::Passed),
            ("success <= base", Outcome::Passed),
            ("success >= base - 0.1pp", Outcome::Passed),
            ("success >= base + 0.1pp", Outcome::Failed),
        ] {
            assert_eq!(gate(text).evaluate(&same, &same).outcome, outcome, "{text} {hits:?}");
        }
    }
}

#[test]
fn no_failure_seen_is_not_no_failure() {
    // 3/n = 0.5 % at 600 requests: just enough for 99.5 %.
    let enough = share(200, &[200, 200, 200]);
    let short = share(100, &[100, 100, 100]);
    let all = gate("success >= 99.5%");
    assert_eq!(all.evaluate(&enough, &enough).outcome, Outcome::Passed);
    // 1 % against 0.5 %: twice the worlds.
    assert_eq!(all.evaluate(&short, &short).outcome, noise(6));
    // Compared with a base of its own luck it is no better known.
    let base = share(100, &[99, 99, 99]);
    assert_eq!(gate("success >= base + 0.5pp").evaluate(&short, &base).outcome, noise(6));
}

#[test]
fn missing_values_leave_it_open() {
    let open = |worlds, note| undecided(worlds, Doubt::Missing(note));
    let one = share(100, &[90]);
    assert_eq!(gate("success >= 50%").evaluate(&one, &one).outcome, open(Some(10), Note::OneWorld));
    let none = share(0, &[0, 0]);
    let outcome = gate("success >= 50%").evaluate(&none, &none).outcome;
    assert_eq!(outcome, open(None, Note::NothingMeasured));
    // Only one of six worlds has the measure at all.
    let rare = || {
        let worlds = (0..6).map(|i| f64::from(i / 5));
        let worlds = worlds.map(|one| Ratio { numerator: one, denominator: one });
        Sample::ratio(worlds.collect(), 6)
    };
    let outcome = gate("cost_per_1k <= $3").evaluate(&rare(), &rare()).outcome;
    assert_eq!(outcome, open(Some(12), Note::Fragile));
    // 40 exceedances from two worlds: five worlds have a hundred.
    let answered = vec![Hits { hits: 0, of: 2_000 }; 2];
    let few = Sample::quantile(0.99, answered, |_| Some(1.0));
    let outcome = gate("latency_p99 <= 3s").evaluate(&few, &few).outcome;
    assert_eq!(outcome, open(Some(5), Note::FewExceedances { found: 40 }));
}

#[test]
fn an_infinite_quantile_fails_once_the_unanswered_show_it() {
    let p99 = |unanswered: [u64; 3], value: Option<f64>| {
        let worlds = unanswered.map(|hits| Hits { hits, of: 10_000 });
        Sample::quantile(0.99, worlds.to_vec(), move |_| value)
    };
    let lost = p99([500, 510, 490], None);
    // 1.1 % unanswered, with a half-width of 2.92 · 0.1 %/√3 = 0.169 %: three worlds
    // leave it open, ⌈3 · 1.69²⌉ = 9 would not.
    let unclear = p99([100, 110, 120], None);
    let found = p99([0, 1, 2], Some(2.0));
    let open = |worlds| undecided(Some(worlds), Doubt::Missing(Note::Unanswered));
    let (absolute, relative) = (gate("latency_p99 <= 3s"), gate("latency_p99 <= base + 1s"));
    assert_eq!(absolute.evaluate(&lost, &found).outcome, Outcome::Failed);
    assert_eq!(absolute.evaluate(&unclear, &found).outcome, open(9));
    assert_eq!(absolute.evaluate(&found, &lost).outcome, Outcome::Passed);
    assert_eq!(relative.evaluate(&lost, &found).outcome, Outcome::Failed);
    assert_eq!(relative.evaluate(&found, &lost).outcome, Outcome::Passed);
    assert_eq!(relative.evaluate(&found, &unclear).outcome, open(9));
    let both = undecided(None, Doubt::Missing(Note::Unanswered));
    assert_eq!(relative.evaluate(&lost, &lost).outcome, both);
}

fn result(outcome: Outcome) -> GateResult {
    GateResult { outcome, measured: None, limit: None, margin: None, half_width: None }
}

#[test]
fn stickiness_that_reverses_the_answer_opens_it() {
    let (passed, failed, open) = (Outcome::Passed, Outcome::Failed, noise(20));
    let turned = undecided(None, Doubt::Stickiness);
    let table = [
        (passed, [passed, passed], passed),
        (failed, [failed, failed], failed),
        (passed, [passed, failed], turned),
        (failed, [passed, failed], turned),
        (passed, [open, passed], passed),
        (open, [passed, failed], open),
    ];
    for (default, extremes, expected) in table {
        let got = combine(result(default), &extremes.map(result)).outcome;
        assert_eq!(got, expected, "{default} {extremes:?}");
    }
}

#[test]
fn exit_codes() {
    let (passed, failed, open) = (Outcome::Passed, Outcome::Failed, noise(20));
    let table = [
        (vec![], 0),
        (vec![passed, passed], 0),
        (vec![passed, open], 3),
        (vec![open, failed, passed], 1),
        (vec![failed], 1),
    ];
    for (outcomes, code) in table {
        let results: Vec<GateResult> = outcomes.iter().copied().map(result).collect();
        assert_eq!(exit_code(&results), code, "{outcomes:?}");
    }
}
