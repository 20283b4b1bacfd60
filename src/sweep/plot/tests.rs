//! Charts of sweeps made up by hand.

use serde_json::{Value, json};

use super::super::row::Figure;
use super::super::summary::{Point, Summary};
use crate::report::PlotFormat;

/// Three fields, of which the first is declared logarithmic; two objectives, the more success and the
/// less cost the better.
fn summary(points: Vec<Point>) -> Summary {
    let named = json!({ "name": "x", "hash": "0".repeat(64) });
    let figure = |name: &str, unit: &str, dimension: &str| json!({ "name": name, "unit": unit, "dimension": dimension });
    let (success, cost) =
        (figure("success", "fraction", "share"), figure("cost", "USD", "dollars"));
    let header = json!({
        "windtunnel": "0.1.0",
        "scenarios": [{ "name": "one", "hash": "0".repeat(64), "weight": 1.0 }],
        "base": named,
        "space": named,
        "sample": "sobol",
        "sample_seed": 1,
        "tally": { "drawn": 8, "excluded": 0, "repeated": 0 },
        "seed": 1,
        "worlds": 10,
        "resample": true,
        "objectives": [
            { "measure": "success", "goal": "most" },
            { "measure": "cost", "goal": "least" },
        ],
        "score": "mean",
        "variants": points.len() - 1,
        "fields": [
            { "name": "wait", "holds": "seconds", "choice": null, "scale": "log" },
            { "name": "tries", "holds": "number", "choice": null },
            { "name": "idle", "holds": "number", "choice": null },
        ],
        "figures": [success, success, cost, cost],
        "shard": { "number": 1, "of": 1 },
    });
    let mut summary = Summary::new(serde_json::from_value(header).expect("a header"));
    summary.points = points;
    summary
}

/// A point with the half-width of both differences.
fn point(variant: u64, fields: [Value; 3], scores: [Option<f64>; 2], half: f64) -> Point {
    let difference = match variant {
        0 => Figure::default(),
        _ => Figure::new(Some(0.0), Some((-half, half))),
    };
    Point {
        variant,
        is_base_again: false,
        fields: fields.into(),
        scores: scores.map(|score| Figure::new(score, None)).into(),
        differences: vec![difference; 2],
        in_scenarios: Vec::new(),
    }
}

fn plain(variant: u64, success: f64, cost: f64, half: f64) -> Point {
    point(variant, [json!(1), json!(1), json!(1)], [Some(success), Some(cost)], half)
}

fn svg(summary: &Summary, name: &str) -> String {
    let charts = summary.charts();
    let chart = charts.drawn.iter().find(|chart| chart.name == name);
    let chart = chart.unwrap_or_else(|| panic!("no {name}: {:?}", charts.left_out));
    String::from_utf8(chart.draw(PlotFormat::Svg).expect("it is drawn")).expect("UTF-8")
}

/// The texts of a picture.
fn texts(svg: &str) -> Vec<&str> {
    let lines = svg.lines().map(str::trim);
    lines.filter(|line| !line.starts_with('<') && !line.is_empty()).collect()
}

#[test]
fn dots_of_the_front_are_named_as_in_the_table() {
    let points = vec![
        plain(0, 0.90, 5.0, 0.0),
        plain(1, 0.99, 9.0, 0.001),
        plain(2, 0.95, 6.0, 0.001),
        plain(3, 0.80, 3.0, 0.001),
        plain(4, 0.70, 8.0, 0.001),
    ];
    let mut summary = summary(points);
    summary.recommended = Some(2);
    let svg = svg(&summary, "front-success-cost");
    let texts = texts(&svg);
    for name in ["base", "#1", "recommended", "#3"] {
        assert_eq!(texts.iter().filter(|text| **text == name).count(), 1, "{name}: {texts:?}");
    }
    assert!(!texts.contains(&"#4") && !texts.contains(&"#2"), "{texts:?}");
    assert!(!svg.contains("not clearly better"), "all are apart");
}

#[test]
fn who_is_on_the_front_by_no_more_than_noise_is_counted() {
    // 1 and 2 lead each other by 0.001 and by 0.01, the half-widths together are 0.02; 3 is far off.
    let points = vec![
        plain(0, 0.50, 50.0, 0.0),
        plain(1, 0.951, 6.01, 0.01),
        plain(2, 0.950, 6.00, 0.01),
        plain(3, 0.80, 3.0, 0.01),
    ];
    let summary = summary(points);
    let front = summary.front();
    assert_eq!(front, [1, 2, 3]);
    assert_eq!(summary.not_apart(&front, &[0, 1]), Some(vec![1, 2]));
    let text = summary.text();
    assert!(text.contains("2 of the 3 on the front are not clearly better than"), "{text}");
    assert!(svg(&summary, "front-success-cost").contains("another of the front: 2 of 3"));
    let mut one_world = summary.clone();
    one_world.header.worlds = 1;
    assert_eq!(one_world.not_apart(&front, &[0, 1]), None);
}

#[test]
fn a_front_without_values_is_left_out() {
    let without = |variant| point(variant, [json!(1), json!(1), json!(1)], [Some(0.9), None], 0.1);
    let summary = summary((0..4).map(without).collect());
    let charts = summary.charts();
    assert!(charts.drawn.iter().all(|chart| !chart.name.starts_with("front-")));
    let front = &charts.left_out[0];
    assert_eq!(front.name, "front-success-cost");
    assert_eq!(front.why, "no policy has a value for cost");
}

/// Success follows the tries, then the wait a little; nothing follows the third field.
fn many() -> Summary {
    let mut points = vec![point(0, [json!(1), json!(1), json!(1)], [Some(0.9), Some(1.0)], 0.0)];
    for variant in 1..=320_u64 {
        let wait = match variant % 16 {
            0 => Value::Null,
            1 => json!(0.0),
            step => json!(0.05 * libm::pow(40.0, (step - 2) as f64 / 13.0)),
        };
        let tries = variant / 16 % 4;
        let success = 0.5 + 0.1 * tries as f64 + 0.005 * (variant % 16) as f64;
        let fields = [wait, json!(tries), json!(variant / 64 % 2)];
        points.push(point(variant, fields, [Some(success), Some(1.0)], 0.01));
    }
    summary(points)
}

#[test]
fn a_field_declared_logarithmic_is_drawn_so_with_zero_and_none_beside() {
    let svg = svg(&many(), "effects-success");
    let texts = texts(&svg);
    for text in ["wait (s, log scale)", "none", "0", "0.1", "0.2", "0.5", "1"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
}

#[test]
fn the_map_shows_the_two_fields_that_matter_and_says_so() {
    let svg = svg(&many(), "map-success");
    let texts = texts(&svg);
    let chosen = texts.iter().find(|text| text.starts_with("tries, ")).expect("why these");
    assert!(chosen.contains("; wait, ") && !chosen.contains("idle"), "{chosen}");
    assert!(texts.contains(&"wait (s, log scale)"), "{texts:?}");
    // A cell for zero, one for none, and six evenly in the logarithm: 0.05 × 40^(1/6) is 0.0925.
    for text in ["0", "none", "0.05–0.092", "1.1–2"] {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
}

#[test]
fn a_map_of_one_field_that_matters_is_left_out() {
    let points = (0..64).map(|n| plain(n, 0.5 + 0.001 * (n % 2) as f64, 1.0, 0.01));
    let mut points: Vec<Point> = points.collect();
    points.iter_mut().for_each(|p| p.fields[1] = json!(p.variant % 2));
    let summary = summary(points);
    let left_out = summary.charts().left_out;
    let map = left_out.iter().find(|chart| chart.name == "map-success").expect("it is left out");
    assert_eq!(map.why, "one field alone matters to it (tries, 100 %)");
}

#[test]
fn who_varies_two_fields_sees_them_also_where_one_does_not_matter() {
    let points = (0..64).map(|n| plain(n, 0.5 + 0.001 * (n % 2) as f64, 1.0, 0.01));
    let mut points: Vec<Point> = points.collect();
    for point in &mut points {
        point.fields[0] = json!(point.variant / 2 % 4);
        point.fields[1] = json!(point.variant % 2);
    }
    let summary = summary(points);
    let svg = svg(&summary, "map-success");
    assert!(texts(&svg).contains(&"tries, 100 %; wait, less than 1 %"), "{:?}", texts(&svg));
    // Neither matters to what is always the same.
    let left_out = summary.charts().left_out;
    assert!(left_out.iter().any(|chart| chart.name == "map-cost"), "{left_out:?}");
}
