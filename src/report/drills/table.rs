//! Verdicts first; then, failure by failure, what broke, what to change, and the rows.

use comfy_table::CellAlignment;
use windtunnel_policy::Instant;
use windtunnel_policy::config::RecoveryAction;
use windtunnel_policy::event::Decision;
use windtunnel_policy::outcome::FailureClass;

use super::{DrillReport, PolicyDrilled};
use crate::drill::{Breach, Drilled, Verdict};
use crate::record::AttemptRow;
use crate::report::VERSION;
use crate::report::notes::short_hash;
use crate::report::table::{frame, section, text};

pub(super) fn render(report: &DrillReport) -> String {
    let mut sections = vec![head(report)];
    match report.policies.as_slice() {
        [policy] => {
            sections.push(section("Drills", &verdicts(policy)));
            let failure = |drilled| failure(policy, drilled, report.seed);
            sections.extend(policy.failed().map(failure));
        }
        policies => {
            sections.push(section("Drills", &matrix(policies)));
            sections.extend(policies.iter().filter_map(remarks));
            if let Some(policy) = policies.iter().find(|policy| policy.failed().next().is_some()) {
                let alone = format!("windtunnel drill {}", quoted(&policy.written));
                sections.push(format!(
                    "The rows of a failure are shown for one policy alone: {alone}\n"
                ));
            }
        }
    }
    sections.push(section("Conclusion", &conclusion(report)));
    sections.join("\n")
}

fn head(report: &DrillReport) -> String {
    let mut lines = vec![format!("windtunnel {VERSION}")];
    for policy in &report.policies {
        lines.push(format!("policy     {} ({})", policy.name, short_hash(&policy.hash)));
    }
    lines.push(format!("seed       {}", report.seed));
    lines.join("\n") + "\n"
}

fn label(drilled: &Drilled) -> [String; 2] {
    [drilled.drill.number.to_string(), drilled.drill.name.to_owned()]
}

/// One row per drill.
fn verdicts(policy: &PolicyDrilled) -> String {
    let mut table = frame(&["", "drill", "verdict", ""]);
    for drilled in &policy.drills {
        let [number, name] = label(drilled);
        let remark = match &drilled.verdict {
            Verdict::Passed { .. } => drilled.drill.checks.to_owned(),
            Verdict::Failed(_) => {
                let (broken, all) = (broken(drilled).count(), drilled.findings.len());
                format!("{broken} of {all} rules broken, see below")
            }
            Verdict::NotApplicable(reason) => reason.clone(),
        };
        table.add_row([number, name, word(&drilled.verdict).into(), remark]);
    }
    right_first(&mut table);
    text(&table)
}

/// One row per drill, one column per policy.
fn matrix(policies: &[PolicyDrilled]) -> String {
    let names = policies.iter().map(|policy| policy.name.as_str());
    let columns: Vec<&str> = ["", "drill"].into_iter().chain(names).collect();
    let mut table = frame(&columns);
    for (at, drilled) in policies[0].drills.iter().enumerate() {
        let cells = policies.iter().map(|policy| word(&policy.drills[at].verdict).to_owned());
        table.add_row(label(drilled).into_iter().chain(cells));
    }
    right_first(&mut table);
    text(&table)
}

fn right_first(table: &mut comfy_table::Table) {
    let numbers = table.column_mut(0).expect("the column was made with the table");
    numbers.set_cell_alignment(CellAlignment::Right);
}

pub(super) fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Passed { .. } => "pass",
        Verdict::Failed(_) => "FAIL",
        Verdict::NotApplicable(_) => "n/a",
    }
}

/// A policy's failures in short, and why drills do not apply to it.
fn remarks(policy: &PolicyDrilled) -> Option<String> {
    let mut lines = Vec::new();
    for drilled in &policy.drills {
        let [number, name] = label(drilled);
        match &drilled.verdict {
            Verdict::Passed { .. } => {}
            Verdict::NotApplicable(reason) => {
                lines.push(format!("{number:>2} {name}: n/a, {reason}"))
            }
            Verdict::Failed(_) => {
                for (rule, breach) in broken(drilled) {
                    lines.push(format!("{number:>2} {name}: FAIL. {rule}"));
                    lines.push(format!("      {}", what(breach)));
                    lines.push(format!("      {}", breach.change));
                }
            }
        }
    }
    (!lines.is_empty()).then(|| section(&policy.name, &lines.join("\n")))
}

pub(super) fn broken(drilled: &Drilled) -> impl Iterator<Item = (&'static str, &Breach)> {
    drilled.findings.iter().filter_map(|finding| match &finding.verdict {
        Verdict::Failed(breach) => Some((finding.rule.text, &**breach)),
        _ => None,
    })
}

fn failure(policy: &PolicyDrilled, drilled: &Drilled, seed: u64) -> String {
    let [number, name] = label(drilled);
    let look = |request: u64| {
        let seed = if seed == 1 { String::new() } else { format!(" --seed {seed}") };
        let written = quoted(&policy.written);
        format!("windtunnel explain {name} --policy {written} --request {request}{seed}")
    };
    let rules: Vec<String> =
        broken(drilled).map(|(rule, b)| breach(drilled, rule, b, look)).collect();
    section(&format!("{number} {name}: FAIL"), &rules.join("\n"))
}

/// As a shell takes it for one word.
pub(super) fn quoted(word: &str) -> String {
    match word.contains(char::is_whitespace) {
        true => format!("'{word}'"),
        false => word.to_owned(),
    }
}

fn breach(drilled: &Drilled, rule: &str, breach: &Breach, look: impl Fn(u64) -> String) -> String {
    let mut lines = vec![
        format!("must hold  {rule}"),
        format!("broken     {}", what(breach)),
        format!("to do      {}", breach.change),
    ];
    if let Some(request) = &breach.request {
        lines.push(format!(
            "request    {} of class {}, arrived at {} s, ended at {} s as {} (status {})",
            request.request,
            drilled.classes[usize::from(request.class)],
            seconds(request.arrived),
            seconds(request.closed),
            request.result.outcome.name(),
            request.result.status,
        ));
    }
    if let Some(row) = breach.attempts.first() {
        lines.push(format!("look       {}", look(row.request)));
        lines.push(rows(drilled, &breach.attempts).trim_end().to_owned());
    }
    if breach.left_out > 0 {
        lines.push(format!("… and {} attempts more", breach.left_out));
    }
    lines.join("\n") + "\n"
}

/// How often, and how. Where no single request is shown, the sentence has its own figures.
pub(super) fn what(breach: &Breach) -> String {
    match breach.request {
        Some(_) => format!("{} of {}; {}", breach.broken, breach.seen, breach.what),
        None => breach.what.clone(),
    }
}

/// The attempts, as the ledger has them.
fn rows(drilled: &Drilled, attempts: &[AttemptRow]) -> String {
    let mut table = frame(&COLUMNS);
    attempts.iter().for_each(|row| _ = table.add_row(cells(drilled, row)));
    text(&table)
}

/// What is shown of an attempt.
pub(super) const COLUMNS: [&str; 11] = [
    "request", "attempt", "target", "recovery", "waited", "sent", "ended", "status", "failure",
    "breaker", "then",
];

/// An attempt under [`COLUMNS`].
pub(super) fn cells(drilled: &Drilled, row: &AttemptRow) -> [String; COLUMNS.len()] {
    [
        row.request.to_string(),
        row.number.to_string(),
        drilled.targets[usize::from(row.target.0)].clone(),
        row.recovery.map_or("first", RecoveryAction::name).into(),
        row.waited.to_string(),
        format!("{} s", seconds(row.sent)),
        format!("{} s", seconds(row.ended)),
        row.status.to_string(),
        row.failure.map_or("–", FailureClass::name).into(),
        row.breaker.name().into(),
        next(row),
    ]
}

/// What followed an attempt.
pub(in crate::report) fn next(row: &AttemptRow) -> String {
    match row.decision {
        None => "–".into(),
        Some(Decision::Recover { action, .. }) => action.name().into(),
        Some(Decision::Await) => "await the other".into(),
        Some(Decision::Stop(reason)) => format!("stop: {}", reason.name()),
    }
}

/// Seconds to the millisecond.
fn seconds(at: Instant) -> String {
    let ms = at.as_micros() / 1_000;
    format!("{}.{:03}", ms / 1_000, ms % 1_000)
}

pub(super) fn conclusion(report: &DrillReport) -> String {
    let of = |policy: &PolicyDrilled| {
        let failed: Vec<String> = policy.failed().map(|d| d.drill.name.to_owned()).collect();
        let is_na = |d: &&Drilled| matches!(d.verdict, Verdict::NotApplicable(_));
        let rest = match policy.drills.iter().filter(is_na).count() {
            0 => String::new(),
            1 => "; one does not apply".into(),
            n => format!("; {n} do not apply"),
        };
        let all = match policy.drills.len() {
            1 => "1 drill".to_owned(),
            n => format!("{n} drills"),
        };
        let name = &policy.name;
        match failed.len() {
            0 => format!("`{name}` fails none of {all}{rest}."),
            n => format!("`{name}` FAILS {n} of {all}: {}{rest}.", failed.join(", ")),
        }
    };
    report.policies.iter().map(of).collect::<Vec<_>>().join("\n")
}
