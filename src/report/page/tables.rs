//! Every figure.

use crate::experiment::{Findings, SplitFindings};
use crate::page::{Block, Section, Table};
use crate::report::Report;
use crate::report::format::legend;
use crate::report::split::{
    BESIDE_AND_ALONE, SAID_AND_SO, rows_beside_and_alone, rows_said_and_so, title_against, title_of,
};
use crate::report::table::{difference_cells, gate_cells, measure_cells};
use crate::stats::Estimate;

/// The gates, where there are any.
pub(super) fn gates(report: &Report<'_>) -> Option<Section> {
    let findings = &report.findings.gates;
    if findings.is_empty() {
        return None;
    }
    let columns = ["gate", "policy", "measured", "limit", "outcome"];
    let mut table = Table::of_text("What had to hold", columns);
    for finding in findings {
        let [gate, rest @ ..] = gate_cells(report, finding);
        table.row(format!("`{gate}`"), rest.to_vec());
    }
    let outcome = match Findings::exit_code(report.findings) {
        0 => "Every gate passed.",
        1 => "A gate FAILED.",
        _ => "No gate failed, but one is undecided.",
    };
    Some(Section::new("Gates", vec![Block::Text(outcome.into()), Block::Table(table)]))
}

/// A policy in the split and alone, and each against the first.
pub(super) fn split(report: &Report<'_>, split: &SplitFindings) -> Section {
    let measures = report.catalogue.measures();
    let mut blocks = vec![Block::Text(
        "The policies side by side in front of one fleet, each on its part of the sessions, and each \
         alone on the same requests: what a canary shows, and what it does not."
            .into(),
    )];
    for arm in &split.arms {
        let [head, columns @ ..] = BESIDE_AND_ALONE;
        let mut table = Table::of_figures(title_of(split, arm), head, columns);
        for [name, cells @ ..] in rows_beside_and_alone(measures, arm) {
            table.row(name, cells.to_vec());
        }
        blocks.push(Block::Table(table));
    }
    for arm in split.arms.iter().skip(1) {
        let [head, columns @ ..] = SAID_AND_SO;
        let title = title_against(&split.arms[0].name, arm);
        let mut table = Table::of_figures(title, head, columns);
        for [name, cells @ ..] in rows_said_and_so(measures, arm) {
            table.row(name, cells.to_vec());
        }
        blocks.push(Block::Table(table));
    }
    Section::new(format!("Split {}", split.split), blocks)
}

/// All measures, differences, and the measures of each route class and tenant.
pub(super) fn all(report: &Report<'_>) -> Section {
    let policies = &report.findings.policies;
    let mut blocks = Vec::new();
    if policies.len() > 1 {
        blocks.push(Block::Table(differences(report)));
    }
    let overall =
        measures(report, "All measures", |policy, row| Some(policies[policy].figures[row]));
    let footnote = "Unanswered requests count at their deadline in means, as +∞ in quantiles.";
    let all = vec![Block::Table(overall), Block::Note(footnote.into())];
    blocks.push(Block::Folded("All measures".into(), all));
    let classes = &report.scenario.classes;
    for (class, model) in classes.iter().enumerate().filter(|_| classes.len() > 1) {
        let title = format!("Route class {}", model.name);
        let table = measures(report, &title, |policy, row| policies[policy].by_class[class][row]);
        blocks.push(Block::Folded(title, vec![Block::Table(table)]));
    }
    for (tenant, model) in report.scenario.tenants.iter().enumerate() {
        let title = format!("Tenant {}", model.name);
        let table = measures(report, &title, |policy, row| policies[policy].by_tenant[tenant][row]);
        blocks.push(Block::Folded(title, vec![Block::Table(table)]));
    }
    Section::new("Every figure", blocks)
}

fn measures(
    report: &Report<'_>,
    caption: &str,
    of: impl Fn(usize, usize) -> Option<Estimate>,
) -> Table {
    let policies = &report.findings.policies;
    let names = policies.iter().map(|policy| policy.name.as_str());
    let mut table = Table::of_figures(caption, "measure", names);
    let (mut block, mut unsaid) = (None, None);
    for (row, measure) in report.catalogue.measures().iter().enumerate() {
        let is_any = (0..policies.len()).any(|policy| of(policy, row).is_some());
        let cells = measure_cells(measure, policies.len(), |policy| of(policy, row));
        if let Some(cells) = cells.filter(|_| is_any) {
            unsaid = unsaid.or_else(|| cells.iter().find_map(|cell| legend(cell)));
            let row = table.row(measure.name.clone(), cells);
            row.about.clone_from(&measure.describes);
            row.breaks = block.replace(measure.block).is_some_and(|last| last != measure.block);
        }
    }
    if let Some(unsaid) = unsaid {
        table.caption += &format!(". {unsaid}");
    }
    table
}

fn differences(report: &Report<'_>) -> Table {
    let policies = &report.findings.policies;
    let names = policies[1..].iter().map(|policy| policy.name.as_str());
    let caption = format!("Differences to {} (same worlds, paired)", policies[0].name);
    let mut table = Table::of_figures(caption, "measure", names);
    for (row, measure) in report.catalogue.measures().iter().enumerate() {
        if let Some(cells) = difference_cells(report, row, measure) {
            table.row(measure.name.clone(), cells);
        }
    }
    table
}
