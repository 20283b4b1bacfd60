//! The answer first, then finalists, what each change buys, what each field does, the front, and
//! where the budget went.

use comfy_table::CellAlignment;

use super::TuneReport;
use super::yaml::flow;
use crate::experiment::policy_hash;
use crate::measures::{Catalogue, Measure};
use crate::report::VERSION;
use crate::report::short_hash;
use crate::report::{amount, difference, figure};
use crate::report::{frame, section, text};
use crate::space::{Dimension, Level, grouped};
use crate::stats::{Outcome, Paired, Verdict};
use crate::sweep::Aggregate;
use crate::tune::{ALPHA, Change, FINALISTS, Finalist, Ruling, Score};

pub(super) fn render(report: &TuneReport<'_>) -> String {
    let tuning = report.tuning;
    let mut sections = vec![report.answer().join("\n") + "\n", head(report)];
    if !tuning.finalists.is_empty() {
        sections.push(section("Finalists, in held-out worlds", &finalists(report)));
    }
    if let Some(evidence) = &tuning.evidence {
        let worlds = evidence.worlds;
        let title = format!("Changes to the base, and what each buys ({worlds} held-out worlds)");
        sections.push(section(&title, &changes(report)));
        sections.push(section("Measures, in held-out worlds", &measures(report)));
        let title = format!("Sensitivity: one field moved alone ({worlds} held-out worlds)");
        sections.push(section(&title, &settings(report)));
    }
    if !tuning.front.is_empty() {
        sections.push(section("What can be had, in held-out worlds", &front(report)));
    }
    sections.push(section("Search", &search(report)));
    sections.push(section("Budget", &budget(report)));
    sections.push(section("How sure", &how_sure(report)));
    sections.join("\n")
}

fn head(report: &TuneReport<'_>) -> String {
    let task = report.task;
    let (goal, options) = (task.goal, task.options);
    let several = match (task.scenarios.len(), goal.aggregate) {
        (1, _) => String::new(),
        (_, Aggregate::Mean) => ", mean over scenarios".into(),
        (_, Aggregate::Worst) => ", of the worst scenario".into(),
        (_, Aggregate::Quantile(share)) => {
            format!(", best of the worst {} % of scenarios", share * 100.0)
        }
    };
    let mut lines = vec![
        format!("windtunnel {VERSION}"),
        format!("goal       {} {}{several}", goal.direction.verb(), goal.measure),
    ];
    lines.extend(goal.constraints.iter().map(|gate| format!("condition  {gate}")));
    let named =
        |s: &crate::scenario::Scenario| format!("{} ({})", s.file.name, short_hash(&s.hash));
    lines.extend(task.scenarios.iter().map(|s| format!("scenario   {}", named(s))));
    lines.extend(task.hold_out.iter().map(|s| format!("held out   {}", named(s))));
    let base = &report.tuning.base().variant.policy;
    lines.push(format!("base       {} ({})", base.name, short_hash(&policy_hash(base))));
    let vary: Vec<&str> = task.space.dimensions.iter().map(|d| d.name.as_str()).collect();
    let space = &task.space.space;
    lines.push(format!("space      {} ({})", space.name, short_hash(&space.hash())));
    lines.push(format!("varies     {}", vary.join(", ")));
    let course = if options.as_published { "as published" } else { "resampled" };
    lines.push(format!(
        "seed       {}; worlds chosen by: {course}; {} held out, resampled",
        options.seed, options.held_out_worlds
    ));
    lines.join("\n") + "\n"
}

fn finalists(report: &TuneReport<'_>) -> String {
    let measure = &report.task.goal.measure;
    let tuned = format!("{measure} where chosen");
    let mut table = frame(&["", "variant", &tuned, "held out", "p (Holm)", "conditions", "ruling"]);
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
    text(&table)
}

/// A p value, no finer than it matters.
fn p(p: f64) -> String {
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

/// What a variant has in each dimension; the base, what it has in the dimension's fields.
fn values(report: &TuneReport<'_>, entrant: usize) -> Vec<String> {
    let variant = &report.tuning.entrants[entrant].variant;
    let dimensions = report.task.space.dimensions.iter().zip(&variant.levels);
    let value = |(dimension, level): (&Dimension, &Level)| match level {
        Some(level) => shown(&dimension.show(*level)),
        None if entrant == 0 => {
            let fields = dimension.fields.iter().map(|field| shown(&variant.show(field)));
            fields.collect::<Vec<_>>().join(", ")
        }
        None => String::new(),
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
fn conditions(report: &TuneReport<'_>, score: &Score) -> String {
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

fn changes(report: &TuneReport<'_>) -> String {
    let Some(evidence) = &report.tuning.evidence else { return String::new() };
    let mut table = frame(&["field", "base", "recommended", "this change buys"]);
    for change in &evidence.changes {
        for (row, (field, base, recommended)) in change.fields.iter().enumerate() {
            let buys = if row == 0 { buys(report, change) } else { "(the same choice)".into() };
            table.add_row([field.clone(), shown(base), shown(recommended), buys]);
        }
    }
    text(&table)
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

fn measures(report: &TuneReport<'_>) -> String {
    let Some(evidence) = &report.tuning.evidence else { return String::new() };
    let several = report.task.scenarios.len() > 1;
    let mut table = frame(&["", "base", "recommended", "difference"]);
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
    right(&mut table, 1..4);
    text(&table)
}

fn settings(report: &TuneReport<'_>) -> String {
    let Some(evidence) = &report.tuning.evidence else { return String::new() };
    let measure = &report.task.goal.measure;
    let mut table = frame(&["field", "recommended", "set to", measure, "conditions"]);
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
    text(&table)
}

fn front(report: &TuneReport<'_>) -> String {
    let tuning = report.tuning;
    let weighed = report.task.goal.weighed();
    let names = columns(report);
    let mut header = vec!["", report.task.goal.measure.as_str()];
    header.extend(weighed.iter().map(|w| w.measure.as_str()));
    header.push("conditions");
    header.extend(names.iter().map(String::as_str));
    let mut table = frame(&header);
    let recommended = tuning.recommended().map(|finalist| finalist.entrant);
    for point in &tuning.front {
        let mark = match point.entrant {
            0 => "base",
            at if Some(at) == recommended => "recommended",
            _ => "",
        };
        let objective = with_interval(report, &point.score);
        let others = weighed.iter().zip(&point.score.weighed).map(|(weighed, value)| {
            let dimension = report.measure(&weighed.measure).map(|m| m.dimension);
            let shown = value.zip(dimension).map(|(value, dimension)| amount(value, dimension));
            shown.unwrap_or_else(|| "– (unanswered)".into())
        });
        let mut row = vec![mark.to_owned(), objective];
        row.extend(others);
        row.push(conditions(report, &point.score));
        table.add_row(row.into_iter().chain(values(report, point.entrant)));
    }
    text(&table)
}

/// The objective with its interval.
fn with_interval(report: &TuneReport<'_>, score: &Score) -> String {
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

fn search(report: &TuneReport<'_>) -> String {
    let mut table = frame(&[
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
    right(&mut table, 1..7);
    let drawn = report.tuning.drawn;
    let mut lines = text(&table);
    let variants = report.tuning.entrants.len() - 1;
    lines += &format!(
        "{variants} variants in all; {} points of the space were drawn, {} excluded by its conditions, \
         {} repeated.\n",
        drawn.drawn, drawn.excluded, drawn.repeated
    );
    lines
}

fn budget(report: &TuneReport<'_>) -> String {
    let all = report.tuning.spent();
    let mut table = frame(&["stage", "policies", "runs", "requests", "share"]);
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
    right(&mut table, 1..5);
    text(&table)
}

/// The errors that were allowed, and what they do not cover.
fn how_sure(report: &TuneReport<'_>) -> String {
    let tuning = report.tuning;
    let mut lines = Vec::new();
    let clear = tuning.rounds.iter().map(|round| {
        format!("{} {:.2} % ({:.1e} a comparison)", round.name, 100.0 * round.alpha, round.error)
    });
    let clear: Vec<String> = clear.collect();
    if !clear.is_empty() {
        lines.push(format!(
            "The best variant of a race is lost as clearly worse or infeasible with a probability of at \
             most: {}.",
            clear.join(", ")
        ));
    }
    let set_aside: usize =
        tuning.rounds.iter().flat_map(|round| &round.looks).map(|look| look.set_aside).sum();
    if set_aside > 0 {
        lines.push(format!(
            "{set_aside} variants were set aside by their values alone, for want of budget: that bound \
             does not cover them. A larger --budget does."
        ));
    }
    if !tuning.finalists.is_empty() {
        lines.push(format!(
            "At most {FINALISTS} finalists are frozen and measured once: the chance that any \
             confirmed one is not better than the base is at most {:.0} % (Holm), that a condition \
             said to be held is not at most 5 % each.",
            100.0 * ALPHA
        ));
    }
    if tuning.interrupted {
        lines.push("Interrupted: what was under way is left out.".into());
    }
    lines.push(format!("Again: {}", report.command));
    lines.join("\n")
}

fn right(table: &mut comfy_table::Table, columns: std::ops::Range<usize>) {
    for column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// True where a change is more than noise.
pub(super) fn is_clear(paired: &Paired) -> bool {
    paired.verdict == Some(Verdict::Clear)
}
