//! The tables of a report.

use super::TuneReport;
use super::yaml::flow;
use crate::measures::{Catalogue, Measure};
use crate::report::{Grid, amount, difference, figure};
use crate::space::{Dimension, Level, grouped};
use crate::stats::Outcome;
use crate::tune::{Change, Finalist, Ruling, Score};

pub(super) fn finalists(report: &TuneReport<'_>) -> Grid {
    let measure = &report.task.goal.measure;
    let tuned = format!("{measure} where chosen");
    let columns = columns(report);
    let mut head = vec!["", &tuned, "held out", "p (Holm)", "conditions", "ruling"];
    head.extend(columns.iter().map(String::as_str));
    let mut table = Grid::new(&head);
    for (position, finalist) in report.tuning.finalists.iter().enumerate() {
        let change = |gain: Option<crate::tune::Gain>| {
            gain.map_or("–".into(), |gain| report.shown(&report.change(gain)))
        };
        let row = [
            (position + 1).to_string(),
            change(finalist.tuned),
            change(finalist.held_out),
            p(finalist.adjusted),
            conditions(report, &finalist.score),
            ruling(finalist).to_owned(),
        ];
        table.add_row(row.into_iter().chain(values(report, finalist.entrant)));
    }
    table
}

/// A p value, no finer than it matters.
pub(super) fn p(p: f64) -> String {
    match p {
        p if p < 0.000_1 => "< 0.0001".into(),
        p => format!("{p:.4}"),
    }
}

fn ruling(finalist: &Finalist) -> &'static str {
    match finalist.ruling {
        Ruling::Confirmed => "confirmed",
        Ruling::NotBetter => "not clearly better",
        Ruling::ConditionsNotHeld => "conditions not held",
        Ruling::WorseElsewhere => "worse elsewhere",
    }
}

/// A column for each dimension: the end of its name, as far as that tells it from the others.
fn columns(report: &TuneReport<'_>) -> Vec<String> {
    let names: Vec<&str> = report.task.space.dimensions.iter().map(|d| d.name.as_str()).collect();
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let is_alone = |name: &str| names.iter().filter(|other| last(other) == last(name)).count() == 1;
    names.iter().map(|name| if is_alone(name) { last(name) } else { (*name).to_owned() }).collect()
}

/// What a variant has in each dimension.
fn values(report: &TuneReport<'_>, entrant: usize) -> Vec<String> {
    let variant = &report.tuning.entrants[entrant].variant;
    let dimensions = report.task.space.dimensions.iter().zip(&variant.levels);
    let value = |(dimension, level): (&Dimension, &Level)| match level {
        Some(level) => shown(&dimension.show(*level)),
        None => {
            let fields = dimension.fields.iter().map(|field| shown(&variant.show(field)));
            fields.collect::<Vec<_>>().join(", ")
        }
    };
    dimensions.map(value).collect()
}

/// A value on one line, as a policy file has it.
fn shown(value: &str) -> String {
    match value.starts_with(['{', '[']) {
        true => serde_json::from_str(value).map_or_else(|_| value.to_owned(), |v| flow(&v)),
        false => value.to_owned(),
    }
}

/// What of the conditions is not met.
pub(super) fn conditions(report: &TuneReport<'_>, score: &Score) -> String {
    if report.task.goal.constraints.is_empty() {
        return "–".into();
    }
    let with = |outcome: fn(&Outcome) -> bool| {
        let checks = score.checks.iter().filter(move |check| outcome(&check.result.outcome));
        let mut names: Vec<&str> =
            checks.map(|c| report.task.goal.constraints[c.constraint].measure.as_str()).collect();
        names.dedup();
        names.join(", ")
    };
    let failed = with(|outcome| *outcome == Outcome::Failed);
    let open = with(|outcome| matches!(outcome, Outcome::Undecided { .. }));
    match (failed.is_empty(), open.is_empty()) {
        (true, true) => "held".into(),
        (false, _) => format!("missed: {failed}"),
        (true, false) => format!("undecided: {open}"),
    }
}

pub(super) fn changes(report: &TuneReport<'_>) -> Grid {
    let Some(evidence) = &report.tuning.evidence else { return Grid::default() };
    let mut table = Grid::new(&["field", "base", "recommended", "this change buys"]);
    for change in &evidence.changes {
        for (row, (field, base, recommended)) in change.fields.iter().enumerate() {
            let buys = if row == 0 { buys(report, change) } else { "(the same choice)".into() };
            table.add_row([field.clone(), shown(base), shown(recommended), buys]);
        }
    }
    table
}

/// What a change does to the objective, and which conditions are missed without it.
pub(super) fn buys(report: &TuneReport<'_>, change: &Change) -> String {
    let moved = match &change.without {
        Ok(moved) => moved,
        Err(reason) => return format!("cannot be taken back alone: {reason}"),
    };
    let measure = &report.task.goal.measure;
    let bought = moved.gain.map(|gain| {
        // What is lost without it is what it buys.
        let bought = crate::tune::Gain { value: 0.0 - gain.value, ..gain };
        format!("{measure} {}", report.shown(&report.change(bought)))
    });
    let mut parts = vec![bought.unwrap_or_else(|| format!("{measure}: no value without it"))];
    let missed = report.missed(&moved.score);
    if !missed.is_empty() {
        parts.push(format!("without it missed: {}", missed.join(", ")));
    }
    parts.join("; ")
}

pub(super) fn measures(report: &TuneReport<'_>) -> Grid {
    let Some(evidence) = &report.tuning.evidence else { return Grid::default() };
    let several = report.task.scenarios.len() > 1;
    let mut table = Grid::new(&["", "base", "recommended", "difference"]);
    for compared in &evidence.measures {
        let catalogue = Catalogue::of(&report.task.scenarios[compared.scenario]);
        let measure = catalogue.find(&compared.measure).expect("a measure of the catalogue");
        let name = match several {
            true => {
                format!("{}: {}", report.task.scenarios[compared.scenario].file.name, measure.name)
            }
            false => measure.name.clone(),
        };
        let of = |estimate| figure(estimate, measure.dimension);
        let apart = compared.difference.as_ref();
        let apart = apart.map_or("–".into(), |paired| difference(paired, measure.dimension));
        table.add_row([name, of(&compared.base), of(&compared.policy), apart]);
    }
    table.figures(1..4);
    table
}

pub(super) fn settings(report: &TuneReport<'_>) -> Grid {
    let Some(evidence) = &report.tuning.evidence else { return Grid::default() };
    let measure = &report.task.goal.measure;
    let mut table = Grid::new(&["field", "recommended", "set to", measure, "conditions"]);
    for setting in &evidence.settings {
        let change = setting.moved.gain.map(|gain| report.shown(&report.change(gain)));
        table.add_row([
            setting.dimension.clone(),
            shown(&setting.from),
            shown(&setting.to),
            change.unwrap_or_else(|| "–".into()),
            conditions(report, &setting.moved.score),
        ]);
    }
    table
}

pub(super) fn front(report: &TuneReport<'_>) -> Grid {
    let tuning = report.tuning;
    let weighed = report.task.goal.weighed();
    let names = columns(report);
    let mut header = vec!["", report.task.goal.measure.as_str()];
    header.extend(weighed.iter().map(|w| w.measure.as_str()));
    header.push("conditions");
    header.extend(names.iter().map(String::as_str));
    let mut table = Grid::new(&header);
    let recommended = tuning.recommended().map(|finalist| finalist.entrant);
    for point in &tuning.front {
        let mark = match point.entrant {
            0 => "base".to_owned(),
            at if Some(at) == recommended => "recommended".to_owned(),
            at => format!("#{at}"),
        };
        let objective = with_interval(report, &point.score);
        let others = weighed.iter().zip(&point.score.weighed).map(|(weighed, value)| {
            let dimension = report.measure(&weighed.measure).map(|m| m.dimension);
            let shown = value.zip(dimension).map(|(value, dimension)| amount(value, dimension));
            shown.unwrap_or_else(|| "– (unanswered)".into())
        });
        let mut row = vec![mark, objective];
        row.extend(others);
        row.push(conditions(report, &point.score));
        table.add_row(row.into_iter().chain(values(report, point.entrant)));
    }
    table
}

/// The objective with its interval.
pub(super) fn with_interval(report: &TuneReport<'_>, score: &Score) -> String {
    let Some((value, half)) = report.value(score) else { return "–".into() };
    let Measure { dimension, .. } = report.objective();
    let estimate = crate::stats::Estimate {
        value: Some(value),
        ci95: Some((value - half, value + half)),
        n: 0,
        worlds: score.worlds as u32,
        note: None,
    };
    figure(&estimate, dimension)
}

pub(super) fn search(report: &TuneReport<'_>) -> Grid {
    let mut table = Grid::new(&[
        "race",
        "worlds",
        "compared",
        "clearly infeasible",
        "clearly worse",
        "without value",
        "set aside (budget)",
    ]);
    for round in &report.tuning.rounds {
        for (row, look) in round.looks.iter().enumerate() {
            let name = match (row, round.radius) {
                (0, Some(radius)) => format!("{} (within {radius})", round.name),
                (0, None) => round.name.to_owned(),
                _ => String::new(),
            };
            let counts =
                [look.compared, look.infeasible, look.worse, look.without_value, look.set_aside];
            let counts = counts.map(|count| count.to_string());
            table.add_row([name, look.worlds.to_string()].into_iter().chain(counts));
        }
    }
    table.figures(1..7);
    table
}

/// How many variants there were.
pub(super) fn drawn(report: &TuneReport<'_>) -> String {
    let drawn = report.tuning.drawn;
    let variants = report.tuning.entrants.len() - 1;
    format!(
        "{variants} variants in all; {} points of the space were drawn, {} excluded by its conditions, \
         {} repeated.",
        drawn.drawn, drawn.excluded, drawn.repeated
    )
}

pub(super) fn budget(report: &TuneReport<'_>) -> Grid {
    let all = report.tuning.spent();
    let mut table = Grid::new(&["stage", "policies", "runs", "requests", "share"]);
    let share = |requests: u64| match all.requests {
        0 => "–".into(),
        all => format!("{:.1} %", 100.0 * requests as f64 / all as f64),
    };
    for stage in &report.tuning.stages {
        let (runs, requests) = (stage.spent.runs, stage.spent.requests);
        table.add_row([
            stage.name.to_owned(),
            stage.policies.to_string(),
            grouped(runs.into()),
            grouped(requests.into()),
            share(requests),
        ]);
    }
    let total = [grouped(all.runs.into()), grouped(all.requests.into()), share(all.requests)];
    table.add_row(["all".to_owned(), String::new()].into_iter().chain(total));
    table.figures(1..5);
    table
}
