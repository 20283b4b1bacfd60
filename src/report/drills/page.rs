//! What drills found as a document: verdicts first, then each failure with its evidence.

use super::table::{COLUMNS, broken, cells, conclusion, quoted, what, word};
use super::{DrillReport, PolicyDrilled};
use crate::drill::{Breach, Drilled, Verdict};
use crate::page::{Block, KeyFigure, Origin, Page, Section, Table, Tone};
use crate::report::VERSION;

/// More policies than this have no figure of their own.
const MOST_FIGURES: usize = 6;

pub(super) fn of(report: &DrillReport, command: &str) -> Page {
    let policies = &report.policies;
    let title = match policies.as_slice() {
        [only] => format!("Safety drills of `{}`", only.name),
        several => format!("Safety drills of {} policies", several.len()),
    };
    let mut sections = vec![Section::new("Drills", vec![Block::Table(verdicts(policies))])];
    for policy in policies {
        let blocks: Vec<Block> =
            policy.failed().flat_map(|drilled| failure(policy, drilled, report.seed)).collect();
        if !blocks.is_empty() {
            sections.push(Section::new(format!("What `{}` fails", policy.name), blocks));
        }
    }
    sections.extend(not_applicable(policies));
    Page {
        kind: "safety drills".into(),
        title,
        asked:
            "Does a policy keep what a gateway must keep when providers fail, callers leave and \
                deadlines run out?"
                .into(),
        answer: conclusion(report).replace('\n', " "),
        figures: policies.iter().take(MOST_FIGURES).map(figure).collect(),
        belief: vec![
            "Each drill is one small world, made to provoke one kind of mistake: passing is \
             necessary, not sufficient."
                .into(),
            "`windtunnel verify` walks over every sequence of outcomes instead.".into(),
        ],
        legend: Vec::new(),
        sections,
        origin: origin(report, command),
    }
}

fn figure(policy: &PolicyDrilled) -> KeyFigure {
    let count = |wanted: fn(&Verdict) -> bool| {
        policy.drills.iter().filter(|drilled| wanted(&drilled.verdict)).count()
    };
    let passed = count(|verdict| matches!(verdict, Verdict::Passed { .. }));
    let beside = count(|verdict| matches!(verdict, Verdict::NotApplicable(_)));
    let failed = policy.failed().count();
    let all = policy.drills.len() - beside;
    let rest = if beside == 0 { String::new() } else { format!("; {beside} do not apply") };
    KeyFigure {
        label: policy.name.clone(),
        value: format!("{passed} of {all} passed"),
        note: match failed {
            0 => format!("none failed{rest}"),
            n => format!("{n} FAILED{rest}"),
        },
        tone: if failed == 0 { Tone::Good } else { Tone::Bad },
    }
}

/// A row for each drill, a column for each policy.
fn verdicts(policies: &[PolicyDrilled]) -> Table {
    let names = policies.iter().map(|policy| policy.name.as_str());
    let mut table = Table::of_text("Verdicts", ["drill"].into_iter().chain(names));
    let drills = policies.first().map_or(&[][..], |policy| &policy.drills);
    for (at, drilled) in drills.iter().enumerate() {
        let cells = policies.iter().map(|policy| word(&policy.drills[at].verdict).to_owned());
        let name = format!("{} {}", drilled.drill.number, drilled.drill.name);
        table.row(name, cells.collect()).about = drilled.drill.checks.into();
    }
    table
}

fn failure(policy: &PolicyDrilled, drilled: &Drilled, seed: u64) -> Vec<Block> {
    let name = drilled.drill.name;
    let title = Block::Text(format!("Drill {} `{name}`:", drilled.drill.number));
    let blocks = broken(drilled).flat_map(|(rule, breach)| {
        let list = vec![
            format!("Must hold: {rule}"),
            format!("Broken: {}", what(breach)),
            format!("To do: {}", breach.change),
        ];
        [Block::List(list)].into_iter().chain(evidence(policy, drilled, breach, seed))
    });
    [title].into_iter().chain(blocks).collect()
}

/// The attempts that broke it, and how to look closer.
fn evidence(
    policy: &PolicyDrilled,
    drilled: &Drilled,
    breach: &Breach,
    seed: u64,
) -> Option<Block> {
    let request = breach.attempts.first()?.request;
    let mut table = Table::of_text("The attempts", COLUMNS);
    for row in &breach.attempts {
        let [request, rest @ ..] = cells(drilled, row);
        table.row(request, rest.to_vec());
    }
    let look = format!(
        "windtunnel explain {} --policy {} --request {request} --seed {seed}",
        drilled.drill.name,
        quoted(&policy.written),
    );
    let blocks = vec![Block::Table(table), Block::Code(String::new(), look)];
    Some(Block::Folded("The attempts that broke it".into(), blocks))
}

/// Why drills do not apply, in one table.
fn not_applicable(policies: &[PolicyDrilled]) -> Option<Section> {
    let mut table = Table::of_text("Drills that do not apply", ["drill", "policy", "why"]);
    for policy in policies {
        for drilled in &policy.drills {
            if let Verdict::NotApplicable(reason) = &drilled.verdict {
                let name = format!("{} {}", drilled.drill.number, drilled.drill.name);
                table.row(name, vec![policy.name.clone(), reason.clone()]);
            }
        }
    }
    (!table.rows.is_empty()).then(|| Section::new("Not applicable", vec![Block::Table(table)]))
}

fn origin(report: &DrillReport, command: &str) -> Origin {
    let mut facts = vec![
        ("version".to_owned(), VERSION.to_owned()),
        ("seed".to_owned(), report.seed.to_string()),
    ];
    let policies = report.policies.iter();
    facts.extend(policies.map(|p| (format!("policy {}", p.name), p.hash.clone())));
    Origin { command: command.into(), facts }
}
