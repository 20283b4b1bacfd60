//! CSV in long form: one row per policy, route class or tenant, and measure.

use super::Report;
use super::format::mark;
use super::numbers::{correlation, rounded};
use crate::measures::Measure;
use crate::stats::{Estimate, Paired};

const COLUMNS: [&str; 17] = [
    "scenario",
    "seed",
    "policy",
    "class",
    "tenant",
    "measure",
    "unit",
    "value",
    "ci95_lo",
    "ci95_hi",
    "n",
    "note",
    "difference",
    "difference_ci95_lo",
    "difference_ci95_hi",
    "verdict",
    "correlation",
];

pub(super) fn render(report: &Report<'_>) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let mut write = |row: &[String]| writer.write_record(row).expect("writing to memory");
    write(&COLUMNS.map(String::from));
    let measures = report.catalogue.measures();
    for policy in &report.findings.policies {
        for (position, measure) in measures.iter().enumerate() {
            let paired = policy.differences.get(position);
            write(&row(report, [&policy.name, "", ""], measure, &policy.figures[position], paired));
        }
        let classes = report.scenario.classes.iter().zip(&policy.by_class);
        let classes = classes.map(|(class, figures)| ([&policy.name, &*class.name, ""], figures));
        let tenants = report.scenario.tenants.iter().zip(&policy.by_tenant);
        let tenants = tenants.map(|(tenant, figures)| ([&policy.name, "", &*tenant.name], figures));
        for (of, figures) in classes.chain(tenants) {
            for (measure, figure) in measures.iter().zip(figures) {
                let Some(estimate) = figure else { continue };
                write(&row(report, of, measure, estimate, None));
            }
        }
    }
    let bytes = writer.into_inner().expect("memory needs no flush");
    String::from_utf8(bytes).expect("every field is text")
}

fn row(
    report: &Report<'_>,
    [policy, class, tenant]: [&str; 3],
    measure: &Measure,
    estimate: &Estimate,
    paired: Option<&Paired>,
) -> [String; COLUMNS.len()] {
    let (lo, hi) = bounds(estimate.ci95);
    let (difference_lo, difference_hi) = bounds(paired.and_then(|paired| paired.ci95));
    [
        report.scenario.file.name.clone(),
        report.options.seed.to_string(),
        policy.into(),
        class.into(),
        tenant.into(),
        measure.name.clone(),
        measure.unit.into(),
        number(estimate.value),
        lo,
        hi,
        estimate.n.to_string(),
        report.note(measure, estimate).unwrap_or_default(),
        number(paired.and_then(|paired| paired.difference)),
        difference_lo,
        difference_hi,
        paired.and_then(|paired| paired.verdict).map_or("", mark).into(),
        number(paired.and_then(|paired| paired.correlation).map(correlation)),
    ]
}

fn bounds(ci95: Option<(f64, f64)>) -> (String, String) {
    let rounded = ci95.map(rounded);
    (number(rounded.map(|(lo, _)| lo)), number(rounded.map(|(_, hi)| hi)))
}

/// Empty where there is none.
fn number(value: Option<f64>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}
