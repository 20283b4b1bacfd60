use proptest::prelude::*;

use super::*;

const KNOWN: &[Known<'static>] = &[
    Known { name: "success", dimension: Dimension::Share, signed: false },
    Known { name: "raw_success", dimension: Dimension::Share, signed: false },
    Known { name: "target_share.azure-eu", dimension: Dimension::Share, signed: false },
    Known { name: "added_latency_p99", dimension: Dimension::Seconds, signed: false },
    Known { name: "latency_p99", dimension: Dimension::Seconds, signed: false },
    Known { name: "excess_latency_p50", dimension: Dimension::Seconds, signed: true },
    Known { name: "cost_per_1k", dimension: Dimension::Dollars, signed: false },
    Known { name: "attempts_per_request", dimension: Dimension::Count, signed: false },
];

fn quantity(magnitude: f64, unit: Unit) -> Quantity {
    Quantity { magnitude, unit }
}

#[test]
fn good_gates() {
    // (text, k, c in the measure's unit, canonical text)
    let table = [
        ("success >= base - 0.1pp", 1.0, -0.001, "success >= base - 0.1pp"),
        ("cost_per_1k <= base * 1.05", 1.05, 0.0, "cost_per_1k <= base * 1.05"),
        ("success >= 99.5%", 0.0, 0.995, "success >= 99.5%"),
        ("success >= 99.9%", 0.0, 0.999, "success >= 99.9%"),
        ("success >= 0.995", 0.0, 0.995, "success >= 0.995"),
        ("success>=100%", 0.0, 1.0, "success >= 100%"),
        ("raw_success >= base", 1.0, 0.0, "raw_success >= base"),
        ("success >= base - 0.001", 1.0, -0.001, "success >= base - 0.001"),
        ("added_latency_p99 <= 3s", 0.0, 3.0, "added_latency_p99 <= 3s"),
        ("added_latency_p99 <= 2 m", 0.0, 120.0, "added_latency_p99 <= 2m"),
        ("latency_p99 <= base + 250ms", 1.0, 0.25, "latency_p99 <= base + 250ms"),
        ("latency_p99<=base*1.10+0.5s", 1.1, 0.5, "latency_p99 <= base * 1.1 + 0.5s"),
        ("excess_latency_p50 <= -50ms", 0.0, -0.05, "excess_latency_p50 <= -50ms"),
        ("cost_per_1k <= $2.50", 0.0, 2.5, "cost_per_1k <= $2.5"),
        ("cost_per_1k <= base - $0.10", 1.0, -0.1, "cost_per_1k <= base - $0.1"),
        ("  attempts_per_request\t<= 1.5 ", 0.0, 1.5, "attempts_per_request <= 1.5"),
        ("target_share.azure-eu <= 50%", 0.0, 0.5, "target_share.azure-eu <= 50%"),
    ];
    for (text, factor, offset, canonical) in table {
        let parsed = gate(text, KNOWN).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(parsed.limit.terms(), (factor, offset), "{text}");
        assert_eq!(parsed.to_string(), canonical);
    }
}

#[test]
fn bad_gates() {
    use Dimension::{Count, Dollars, Seconds, Share};
    let unknown = |name: &str, nearest: Option<&str>| Problem::UnknownMeasure {
        name: name.to_owned(),
        nearest: nearest.map(str::to_owned),
    };
    let unit = |unit: &str, dimension| Problem::UnknownUnit { unit: unit.to_owned(), dimension };
    let points = "percentage points, such as `0.1pp`";
    let table = [
        ("", 0, Problem::NoMeasure),
        ("   ", 3, Problem::NoMeasure),
        (">= 99%", 0, Problem::NoMeasure),
        ("succes >= 99%", 0, unknown("succes", Some("success"))),
        (" latencyp99 <= 3s", 1, unknown("latencyp99", Some("latency_p99"))),
        ("weather >= 99%", 0, unknown("weather", None)),
        ("base >= 99%", 0, unknown("base", None)),
        ("success", 7, Problem::NoRelation),
        ("success > 99%", 8, Problem::NoRelation),
        ("success == 99%", 8, Problem::NoRelation),
        ("success 99%", 8, Problem::NoRelation),
        ("success >=", 10, Problem::NoLimit { dimension: Share }),
        ("success >= bass - 1pp", 11, Problem::NoLimit { dimension: Share }),
        ("cost_per_1k <= cheap", 15, Problem::NoLimit { dimension: Dollars }),
        ("success >= base -", 17, Problem::NoFigure { expected: points }),
        ("success >= base - -1pp", 18, Problem::NoFigure { expected: points }),
        ("success >= base * x", 18, Problem::NoFigure { expected: "a factor, such as `1.05`" }),
        ("cost_per_1k <= $", 16, Problem::NoFigure { expected: "a number" }),
        ("cost_per_1k <= $2.", 18, Problem::NoFigure { expected: "decimals" }),
        ("success >= base * 0", 18, Problem::ZeroFactor),
        ("added_latency_p99 <= 3", 22, Problem::WrongUnit { dimension: Seconds }),
        ("added_latency_p99 <= 3%", 22, Problem::WrongUnit { dimension: Seconds }),
        ("added_latency_p99 <= 3 sec", 23, unit("sec", Seconds)),
        ("cost_per_1k <= 2.50", 19, Problem::WrongUnit { dimension: Dollars }),
        ("cost_per_1k <= $2.50s", 20, unit("s", Dollars)),
        ("success >= $1", 11, Problem::WrongUnit { dimension: Share }),
        ("attempts_per_request <= 150%", 27, Problem::WrongUnit { dimension: Count }),
        ("attempts_per_request <= 1e3", 25, unit("e3", Count)),
        ("success >= 99.5", 11, Problem::ShareOutOfRange),
        ("success >= 101%", 11, Problem::MoreThanAll),
        ("success >= -1%", 11, Problem::Negative),
        ("cost_per_1k <= -$5", 15, Problem::Negative),
        ("added_latency_p99 <= - 3s", 21, Problem::Negative),
        ("attempts_per_request <= -0", 24, Problem::Negative),
        ("success >= 99pp", 11, Problem::PointsAlone),
        ("success >= base - 0.1%", 18, Problem::PercentOfBase),
        ("success >= base 1pp", 16, Problem::Trailing),
        ("success >= 99% + 1pp", 15, Problem::Trailing),
        ("success >= base - 1pp - 1pp", 22, Problem::Trailing),
        ("success >= 99% and", 15, Problem::Trailing),
    ];
    for (text, column, problem) in table {
        let error = gate(text, KNOWN).expect_err(text);
        assert_eq!((error.column, error.problem), (column, problem), "{text}");
    }
}

#[test]
fn absurd_sizes() {
    let long = gate(&"x".repeat(300), KNOWN).unwrap_err();
    assert_eq!(long.problem, Problem::TooLong { limit: 256 });
    // 234 digits are a float; the largest has 309.
    let nines = format!("attempts_per_request <= {}", "9".repeat(232));
    assert!(gate(&nines, KNOWN).is_ok());
    let tiny = format!("success >= base * 0.{}1", "0".repeat(200));
    assert!(gate(&tiny, KNOWN).is_ok());
}

#[test]
fn errors_show_the_place() {
    let error = gate("success\t> 99%", KNOWN).unwrap_err();
    assert_eq!(error.to_string(), "expected `>=` or `<=`\n  success > 99%\n          ^");
    let error = gate("sucess >= 99%", KNOWN).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown measure `sucess`; the nearest is `success`\n  sucess >= 99%\n  ^"
    );
}

fn any_magnitude() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..=1.0, 0.0..1e9, (0_u32..100_000).prop_map(|n| f64::from(n) / 100.0)]
}

const TIMES: &[Unit] = &[Unit::Milliseconds, Unit::Seconds, Unit::Minutes];

/// A measure with units its limits take, alone and beside `base`.
fn any_measure() -> impl Strategy<Value = (&'static str, &'static [Unit], &'static [Unit])> {
    prop_oneof![
        Just(("success", &[Unit::Plain, Unit::Percent][..], &[Unit::Plain, Unit::Points][..])),
        Just(("latency_p99", TIMES, TIMES)),
        Just(("excess_latency_p50", TIMES, TIMES)),
        Just(("cost_per_1k", &[Unit::Dollars][..], &[Unit::Dollars][..])),
        Just(("attempts_per_request", &[Unit::Plain][..], &[Unit::Plain][..])),
    ]
}

prop_compose! {
    fn any_gate()(
        (measure, alone, beside) in any_measure(),
        (magnitude, share, factor) in (any_magnitude(), 0.0..=1.0, any_magnitude()),
        unit in any::<prop::sample::Index>(),
        (at_least, absolute, offset, negative) in any::<(bool, bool, bool, bool)>(),
    ) -> Gate {
        let sign = if negative { -1.0 } else { 1.0 };
        let limit = if absolute {
            // A share keeps to 0..=1 in either unit; few measures may be below zero.
            let magnitude = match measure {
                "success" => share,
                "excess_latency_p50" => sign * magnitude,
                _ => magnitude,
            };
            Limit::Absolute(quantity(magnitude, *unit.get(alone)))
        } else {
            let offset = offset.then(|| quantity(sign * magnitude, *unit.get(beside)));
            Limit::Relative { factor: factor + 0.01, offset }
        };
        let relation = if at_least { Relation::AtLeast } else { Relation::AtMost };
        Gate { measure: measure.to_owned(), relation, limit }
    }
}

proptest! {
    #[test]
    fn what_is_displayed_parses_back(written in any_gate()) {
        prop_assert_eq!(gate(&written.to_string(), KNOWN), Ok(written));
    }

    #[test]
    fn any_text_is_a_gate_or_an_error_within_it(text in any::<String>()) {
        if let Err(error) = gate(&text, KNOWN) {
            prop_assert!(error.column <= text.chars().count());
            prop_assert!(error.to_string().contains('^'));
        }
    }

    #[test]
    fn nearly_a_gate_is_a_gate_or_an_error_within_it(
        text in "(success|latency_p99|cost_per_1k|µ) ?[<>=]{1,2} ?(base)?[ 0-9.$%psm+*eµ-]{0,12}",
    ) {
        match gate(&text, KNOWN) {
            Ok(parsed) => prop_assert_eq!(gate(&parsed.to_string(), KNOWN), Ok(parsed)),
            Err(error) => prop_assert!(error.column <= text.chars().count()),
        }
    }
}
