//! What the script is told of lines, so that it can show values and zoom.

use super::svg::{number, short};
use crate::page::scale::Scale;
use crate::page::{LineChart, X};

/// Values are told to a hundred-thousandth of the axis.
const FINEST: f64 = 1e-5;

/// The axes and all values of a chart, as JSON; `across` is where lines have their values.
pub(super) fn told(chart: &LineChart, y: &Scale, across: &[f64]) -> String {
    let decimals = decimals((y.hi - y.lo) * FINEST);
    let value = |v: f64| short(v, decimals);
    let joined = |parts: Vec<String>| parts.join(",");
    let lines = chart.lines.iter().map(|line| {
        let values = line.values.iter().map(|v| v.map_or("null".into(), value)).collect();
        let bands = line.bands.iter();
        let bands = bands
            .map(|b| b.map_or("null".into(), |(lo, hi)| format!("[{},{}]", value(lo), value(hi))));
        format!(
            "{{\"of\":{},\"v\":[{}],\"b\":[{}]}}",
            line.of,
            joined(values),
            joined(bands.collect())
        )
    });
    let (kind, x) = match &chart.x {
        X::Time { from, step, .. } => ("time", format!("\"from\":{from},\"step\":{step}")),
        X::Values(axis, values) => {
            let places = across.iter().copied().map(number).collect();
            let unit = axis.unit;
            let shown = values.iter().map(|v| format!("{}{v}{}", unit.before(), unit.after()));
            let shown: Vec<String> = shown.collect();
            let (shown, label) = (json(&shown), json(&axis.label));
            ("values", format!("\"at\":[{}],\"shown\":{shown},\"label\":{label}", joined(places)))
        }
    };
    let bound = |bound: Option<f64>| bound.map_or("null".into(), |b| b.to_string());
    format!(
        "{{\"kind\":\"{kind}\",{x},\"n\":{},\"y\":{{\"label\":{},\"before\":{},\"after\":{},\"lo\":{},\"hi\":{},\
         \"least\":{},\"most\":{},\"log\":{}}},\"lines\":[{}]}}",
        chart.x.len(),
        json(&chart.y.label),
        json(chart.y.unit.before()),
        json(chart.y.unit.after()),
        y.lo,
        y.hi,
        bound(chart.y.least),
        bound(chart.y.most),
        y.log,
        joined(lines.collect()),
    )
}

fn decimals(finest: f64) -> usize {
    (-libm::floor(libm::log10(finest))).clamp(0.0, 12.0) as usize
}

fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("text is plain data")
}
