//! Tables for people.

use comfy_table::{Cell, CellAlignment, Table, presets};

use super::format::{difference, figure, legend};
use super::notes::short_hash;
use super::{Report, VERSION};
use crate::experiment::{GateFinding, Identified, Pair, Ranking};
use crate::measures::{Block, Measure};
use crate::stats::{Dimension, Estimate, Outcome, Verdict};

/// What is shown besides the whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Parts {
    /// The measures of each route class.
    pub by_class: bool,
    /// The measures of each tenant.
    pub by_tenant: bool,
}

pub(super) fn render(report: &Report<'_>, parts: Parts) -> String {
    let mut sections = vec![head(report), measures(report)];
    if report.findings.policies.len() > 1 {
        sections.push(differences(report));
    }
    sections.extend(report.findings.stickiness.as_ref().map(|r| stickiness(report, r)));
    if parts.by_class {
        for (class, model) in report.scenario.classes.iter().enumerate() {
            let figures = report.findings.policies.iter().map(|policy| &policy.by_class[class]);
            sections.push(of_part(report, &format!("Route class {}", model.name), figures));
        }
    }
    if parts.by_tenant {
        for (tenant, model) in report.scenario.tenants.iter().enumerate() {
            let figures = report.findings.policies.iter().map(|policy| &policy.by_tenant[tenant]);
            sections.push(of_part(report, &format!("Tenant {}", model.name), figures));
        }
    }
    sections.extend(report.findings.split.iter().flat_map(|s| super::split::sections(report, s)));
    if !report.findings.gates.is_empty() {
        sections.push(gates(report));
    }
    sections.push(section("Conclusion", &report.conclusion().join("\n")));
    sections.join("\n")
}

fn head(report: &Report<'_>) -> String {
    let file = &report.scenario.file;
    let worlds = report.experiment.worlds.len();
    let mut lines = vec![
        format!("windtunnel {VERSION}"),
        format!("scenario   {} ({})", file.name, short_hash(&report.scenario.hash)),
    ];
    for policy in &report.findings.policies {
        lines.push(format!("policy     {} ({})", policy.name, short_hash(&policy.hash)));
    }
    let plural = if worlds == 1 { "world" } else { "worlds" };
    lines.push(format!("seed       {}, {worlds} {plural}", report.options.seed));
    lines.push(format!("intervals  95 %, over worlds: {}", report.covers()));
    lines.extend(report.missing_worlds().map(|text| format!("note       {text}")));
    lines.extend(file_notes(report));
    lines.extend(report.assumed_quality().map(|text| format!("note       task_success {text}")));
    if let Some(hypothesis) = &file.hypothesis {
        lines.push(format!("hypothesis {}", hypothesis.trim()));
    }
    lines.join("\n") + "\n"
}

/// What was made of the scenario's files: rows left out, limits ignored.
fn file_notes<'a>(report: &Report<'a>) -> impl Iterator<Item = String> + use<'a> {
    report.scenario.notes.iter().map(|text| format!("note       {text}"))
}

/// One row per measure, one column per policy.
fn measures(report: &Report<'_>) -> String {
    let figures = |policy: usize, row: usize| Some(report.findings.policies[policy].figures[row]);
    let alone = report.findings.policies.len() == 1;
    let mut table = Frame::new(names(report), alone);
    let measures = report.catalogue.measures();
    let mut block = None;
    for (row, measure) in measures.iter().enumerate() {
        if block.replace(measure.block) != Some(measure.block) && row > 0 {
            table.gap();
        }
        table.measure(measure, |policy| figures(policy, row));
    }
    let footnote = "Unanswered requests count at their deadline in means, as +∞ in quantiles.";
    section("Measures", &(table.text() + footnote))
}

/// The measures of one route class or tenant, by policy.
fn of_part<'a>(
    report: &Report<'_>,
    title: &str,
    figures: impl Iterator<Item = &'a Vec<Option<Estimate>>>,
) -> String {
    let figures: Vec<_> = figures.collect();
    let mut table = Frame::new(names(report), false);
    for (row, measure) in report.catalogue.measures().iter().enumerate() {
        if measure.by_class() {
            table.measure(measure, |policy| figures[policy][row]);
        }
    }
    section(title, &table.text())
}

fn differences(report: &Report<'_>) -> String {
    let base = &report.findings.policies[0].name;
    let others = &report.findings.policies[1..];
    let names = others.iter().map(|policy| policy.name.as_str()).collect();
    let mut table = Frame::new(names, false);
    for (row, measure) in report.catalogue.measures().iter().enumerate() {
        if let Some(cells) = difference_cells(report, row, measure) {
            table.row(measure.name.clone(), cells);
        }
    }
    let title = format!("Differences to {base} (same worlds, paired)");
    section(&title, &table.text())
}

/// A measure's difference of every policy after the first to the first; `None` where that says
/// nothing: only the answer is shown in full.
pub(super) fn difference_cells(
    report: &Report<'_>,
    row: usize,
    measure: &Measure,
) -> Option<Vec<String>> {
    let others = &report.findings.policies[1..];
    let paired: Vec<_> = others.iter().map(|policy| &policy.differences[row]).collect();
    let told =
        |p: &&crate::stats::Paired| p.difference.is_some() && p.verdict != Some(Verdict::Identical);
    let says_something = measure.block == Block::Answer || paired.iter().any(told);
    let cells = paired.iter().map(|paired| difference(paired, measure.dimension));
    says_something.then(|| cells.collect())
}

fn stickiness(report: &Report<'_>, ranking: &Ranking) -> String {
    let mut table = Frame::new(names(report), false);
    for (setting, label) in SETTINGS.into_iter().enumerate() {
        let cells = ranking.success.iter().map(|success| {
            let estimate: &Estimate = &success[setting];
            figure(estimate, Dimension::Share)
        });
        table.row(label.into(), cells.collect());
    }
    section("Success by stickiness of failures", &(table.text() + &stickiness_verdict(ranking)))
}

/// How failures stick, in words, in the order of `Setting::ALL`.
pub(crate) const SETTINGS: [&str; 3] = [
    "0: no failure sticks to its request",
    "as declared",
    "1: every failure sticks to its request",
];

/// What the stickiness of failures leaves of the ranking, in a sentence or two.
pub(super) fn stickiness_verdict(ranking: &Ranking) -> String {
    let any = |wanted| ranking.pairs.iter().any(|pair| pair.identified() == wanted);
    let all_level = ranking.pairs.iter().all(Pair::is_level);
    let verdict = if all_level {
        "The policies are level at every stickiness."
    } else if any(Identified::No) {
        "The ranking is NOT IDENTIFIED: it turns with the stickiness (see the conclusion)."
    } else if any(Identified::InPart) {
        "Nobody changes places, but some are level at some stickiness (see the conclusion)."
    } else {
        "The ranking is the same at every stickiness."
    };
    let [at_extreme, all, _] = ranking.worlds;
    match at_extreme < all {
        true => {
            format!("{verdict} At 0 and 1 the first {at_extreme} of the {all} worlds were run.")
        }
        false => verdict.into(),
    }
}

fn gates(report: &Report<'_>) -> String {
    let mut table = frame(&["gate", "policy", "measured", "limit", "outcome"]);
    for finding in &report.findings.gates {
        table.add_row(gate_cells(report, finding));
    }
    section("Gates", &text(&table))
}

/// The gate, the policy it was held against, what was measured, the limit, and the outcome.
pub(super) fn gate_cells(report: &Report<'_>, finding: &GateFinding) -> [String; 5] {
    let dimension = report.catalogue.find(&finding.gate.measure).map(|m| m.dimension);
    let dimension = dimension.expect("a gate names a measure it was parsed with");
    let shown = |value: Option<f64>| {
        value.map_or("–".into(), |value| super::format::amount(value, dimension))
    };
    let outcome = match finding.result.outcome {
        Outcome::Passed => "passed".to_owned(),
        Outcome::Failed => "FAILED".to_owned(),
        outcome @ Outcome::Undecided { .. } => outcome.to_string(),
    };
    let measured = match finding.result.is_unanswered() {
        true => "– (unanswered)".into(),
        false => shown(finding.result.measured),
    };
    let limit = shown(finding.result.limit);
    [finding.gate.to_string(), finding.policy.clone(), measured, limit, outcome]
}

fn names<'a>(report: &Report<'a>) -> Vec<&'a str> {
    report.findings.policies.iter().map(|policy| policy.name.as_str()).collect()
}

/// A table with a label and one column per policy.
struct Frame {
    table: Table,
    policies: usize,
    described: bool,
}

impl Frame {
    fn new(policies: Vec<&str>, described: bool) -> Frame {
        let last = described.then_some("meaning");
        let columns: Vec<&str> =
            [""].into_iter().chain(policies.iter().copied()).chain(last).collect();
        let mut table = frame(&columns);
        for column in 1..=policies.len() {
            let column = table.column_mut(column).expect("the column was made above");
            column.set_cell_alignment(CellAlignment::Right);
        }
        Frame { table, policies: policies.len(), described }
    }

    fn measure(&mut self, measure: &Measure, of: impl Fn(usize) -> Option<Estimate>) {
        let Some(mut cells) = measure_cells(measure, self.policies, of) else { return };
        if self.described {
            cells.push(measure.describes.clone());
        }
        self.row(measure.name.clone(), cells);
    }

    fn row(&mut self, label: String, cells: Vec<String>) {
        self.table.add_row([label].into_iter().chain(cells).map(Cell::new));
    }

    fn gap(&mut self) {
        self.table.add_row([""]);
    }

    fn text(&self) -> String {
        text(&self.table)
    }
}

/// A measure's figure of each policy; `None` where it is shown only if it occurs, and does not.
pub(super) fn measure_cells(
    measure: &Measure,
    policies: usize,
    of: impl Fn(usize) -> Option<Estimate>,
) -> Option<Vec<String>> {
    let occurs = |policy| of(policy).and_then(|e| e.value).is_some_and(|value| value > 0.0);
    if measure.only_where_it_occurs() && !(0..policies).any(occurs) {
        return None;
    }
    let shown = |estimate: Estimate| figure(&estimate, measure.dimension);
    Some((0..policies).map(|policy| of(policy).map_or("–".into(), shown)).collect())
}

pub(super) fn frame(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_header(columns);
    table
}

/// The table without spaces at line ends, which editors and diffs stumble over; with what its cells
/// leave unsaid below it.
pub(super) fn text(table: &Table) -> String {
    let table = table.to_string();
    let legend = legend(&table);
    let lines = table.lines().map(str::trim_end).chain(legend);
    lines.map(|line| format!("{line}\n")).collect()
}

pub(crate) fn section(title: &str, body: &str) -> String {
    format!("{title}\n{}\n", body.trim_end())
}
