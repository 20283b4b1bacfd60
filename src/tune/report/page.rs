//! What a search found as a document: the answer, what each change buys, and what it rests on.

use super::{TuneReport, extremes, tables, text};
use crate::experiment::policy_hash;
use crate::page::{Axis, Block, Dot, KeyFigure, Origin, Page, Scatter, Section, Tone};
use crate::report::{VERSION, amount, axis, drawn};
use crate::space::grouped;
use crate::tune::{Finalist, Gain, Score, Weighed};

/// Positions in the legend.
const BASE: usize = 0;
const OTHER: usize = 1;
const RECOMMENDED: usize = 2;

pub(super) fn of(report: &TuneReport<'_>, command: &str) -> Page {
    let base = &report.tuning.base().variant.policy.name;
    let mut legend = vec![format!("{base} (base)"), "other variants".to_owned()];
    legend.extend(report.tuning.policy().map(|policy| policy.name));
    let answer = report.answer();
    // On the first screen, with what takes from it.
    let (first, rest) = answer.split_at(if report.is_qualified() { 2 } else { 1 });
    Page {
        kind: "tuning".into(),
        title: format!("`{base}` tuned to {} {}", verb(report), report.task.goal.measure),
        asked: asked(report),
        answer: first.join(" "),
        figures: figures(report),
        belief: belief(report, rest),
        legend,
        sections: body(report),
        origin: origin(report, command),
    }
}

fn verb(report: &TuneReport<'_>) -> &'static str {
    report.task.goal.direction.verb()
}

fn asked(report: &TuneReport<'_>) -> String {
    let task = report.task;
    let names: Vec<&str> = task.scenarios.iter().map(|s| s.file.name.as_str()).collect();
    let vary: Vec<&str> = task.space.dimensions.iter().map(|d| d.name.as_str()).collect();
    let conditions = match report.conditions() {
        none if none.is_empty() => String::new(),
        conditions => format!(" and keeps {conditions}"),
    };
    format!(
        "Which policy does most to {} {}{conditions} in {}? What varies: {}.",
        verb(report),
        task.goal.measure,
        names.join(", "),
        vary.join(", ")
    )
}

fn figures(report: &TuneReport<'_>) -> Vec<KeyFigure> {
    let tuning = report.tuning;
    let recommended = tuning.recommended();
    let name = tuning.policy().map(|policy| policy.name);
    let plain = |label: &str, value: String, note: String| KeyFigure {
        label: label.into(),
        value,
        note,
        tone: Tone::Plain,
    };
    let mut figures = vec![KeyFigure {
        tone: if name.is_some() { Tone::Good } else { Tone::Plain },
        ..plain(
            "recommended",
            name.unwrap_or_else(|| "nothing".into()),
            format!("of {} variants", grouped((tuning.entrants.len() as u64 - 1).into())),
        )
    }];
    if let (Some(finalist), Some(base)) = (recommended, &tuning.base_held_out) {
        figures.extend(gained(report, finalist, base));
        let weighed = report.task.goal.weighed();
        let values = weighed.iter().zip(&finalist.score.weighed).zip(&base.weighed);
        figures.extend(values.take(2).map(|((weighed, value), base)| {
            let note = format!("base: {}; in held-out worlds", shown(report, weighed, *base));
            plain(&weighed.measure, shown(report, weighed, *value), note)
        }));
    }
    let spent = tuning.spent();
    let runs = format!("in {} runs", grouped(spent.runs.into()));
    figures.push(plain("requests simulated", grouped(spent.requests.into()), runs));
    figures
}

/// The objective where it was chosen and where it was held, and how likely that is luck.
fn gained(report: &TuneReport<'_>, finalist: &Finalist, base: &Score) -> Vec<KeyFigure> {
    let change = |gain: Option<Gain>| {
        gain.map_or("no value".into(), |gain| report.shown(&report.change(gain)))
    };
    let measure = &report.task.goal.measure;
    let objective = KeyFigure {
        label: format!("{measure}, held out"),
        value: tables::with_interval(report, &finalist.score),
        note: format!(
            "base: {}; {}",
            tables::with_interval(report, base),
            change(finalist.held_out)
        ),
        tone: match finalist.held_out {
            Some(gain) if gain.value > gain.half_width => Tone::Good,
            _ => Tone::Plain,
        },
    };
    let tuned = KeyFigure {
        label: "the change where it was chosen".into(),
        value: change(finalist.tuned),
        note: format!("held out: {}", change(finalist.held_out)),
        tone: Tone::Plain,
    };
    let luck = KeyFigure {
        label: "chance alone would show as much".into(),
        value: tables::p(finalist.adjusted),
        note: "p, corrected for all finalists (Holm)".into(),
        tone: Tone::Plain,
    };
    vec![objective, tuned, luck]
}

fn shown(report: &TuneReport<'_>, weighed: &Weighed, value: Option<f64>) -> String {
    let dimension = report.measure(&weighed.measure).map(|measure| measure.dimension);
    let value = value.zip(dimension).map(|(value, dimension)| amount(value, dimension));
    value.unwrap_or_else(|| "– (unanswered)".into())
}

fn belief(report: &TuneReport<'_>, rest: &[String]) -> Vec<String> {
    let mut lines = rest.to_vec();
    lines.extend(text::how_sure(report));
    lines.push(
        "It is a simulation: `docs/validity.md` says what is modelled, assumed and left out."
            .into(),
    );
    lines
}

fn body(report: &TuneReport<'_>) -> Vec<Section> {
    let tuning = report.tuning;
    let mut all = Vec::new();
    if let Some(evidence) = &tuning.evidence {
        let worlds = evidence.worlds;
        let caption = format!("What each change buys, in {worlds} held-out worlds");
        let fields = evidence.changes.iter().flat_map(|change| &change.fields);
        let diff =
            fields.map(|(field, base, tuned)| format!("- {field}: {base}\n+ {field}: {tuned}\n"));
        let blocks = vec![
            Block::Code("Fields that differ from the base:".into(), diff.collect()),
            Block::Table(tables::changes(report).table(&caption)),
        ];
        all.push(Section::new("What to change", blocks));
    }
    if !tuning.finalists.is_empty() {
        let caption = "Where they were chosen, and once in held-out worlds";
        let mut blocks = vec![Block::Table(tables::finalists(report).table(caption))];
        blocks.extend(
            extremes::titled(report).map(|(title, table)| Block::Table(table.table(&title))),
        );
        all.push(Section::new("Finalists", blocks));
    }
    all.extend(front(report));
    if let Some(evidence) = &tuning.evidence {
        let table = tables::measures(report).table("In held-out worlds");
        all.push(Section::new("Measures", vec![Block::Table(table)]));
        let caption = format!("One field moved alone, in {} held-out worlds", evidence.worlds);
        let table = tables::settings(report).table(&caption);
        all.push(Section::new("Sensitivity", vec![Block::Table(table)]));
    }
    let search = vec![
        Block::Text(tables::drawn(report)),
        Block::Table(tables::search(report).table("Who left the races, and why")),
        Block::Table(tables::budget(report).table("Where the budget went")),
    ];
    all.push(Section::new("The search", search));
    all
}

/// The objective against what is weighed against it: all variants at the first look, and who is
/// beaten by nobody, in held-out worlds.
fn front(report: &TuneReport<'_>) -> Option<Section> {
    let tuning = report.tuning;
    if tuning.front.is_empty() {
        return None;
    }
    let (weighed, rest) =
        report.task.goal.weighed().split_first().map(|(w, r)| (w.clone(), r.len()))?;
    let dimension = report.measure(&weighed.measure)?.dimension;
    let objective = report.objective();
    let ((_, across), (_, up)) = (drawn(dimension), drawn(objective.dimension));
    let recommended = tuning.recommended().map(|finalist| finalist.entrant);
    let dot = |entrant: usize, score: &Score| {
        let (value, half) = report.value(score)?;
        let at = ((*score.weighed.first()?)? * across, value * up);
        let over = score.weighed_over.first()?.as_ref();
        let x_interval = over.map(|over| dimension.within(over.ci95()));
        let x_interval = x_interval.map(|(lo, hi)| (lo * across, hi * across));
        let half = half * up;
        let (of, label) = match entrant {
            0 => (BASE, "base".to_owned()),
            at if Some(at) == recommended => (RECOMMENDED, "recommended".to_owned()),
            at => (OTHER, report.task.space.describe(&tuning.entrants[at].variant.levels)),
        };
        let y_interval = Some((at.1 - half, at.1 + half));
        Some(Dot { of, at, x_interval, y_interval, label, named: of != OTHER })
    };
    let chart = |title: &str, about: &str, dots: Vec<Dot>, front: Vec<(f64, f64)>| {
        let y = axis(&*objective.name, objective.dimension);
        let x: Axis = axis(&*weighed.measure, dimension);
        Block::Scatter(Scatter { title: title.into(), about: about.into(), x, y, dots, front })
    };
    let held: Vec<Dot> =
        tuning.front.iter().filter_map(|point| dot(point.entrant, &point.score)).collect();
    let line =
        if rest == 0 { undominated(report, &held, weighed.more_is_better) } else { Vec::new() };
    // Intervals of all variants would hide them.
    let first = report.tried().filter_map(|(at, score)| {
        Some(Dot { x_interval: None, y_interval: None, ..dot(at, score)? })
    });
    let charts = vec![
        chart(
            "What can be had",
            "Whom no other beats in everything, with the base and the recommended policy, in held-out \
             worlds; bars are 95 % intervals.",
            held,
            line,
        ),
        chart(
            "All variants",
            "After the first look, in the worlds they were chosen by: the best of many look better than \
             they are.",
            first.collect(),
            Vec::new(),
        ),
    ];
    let table = tables::front(report).table("What can be had, in held-out worlds");
    Some(Section::new(
        "What is traded against what",
        vec![Block::Beside(charts), Block::Table(table)],
    ))
}

/// The points that no other beats in either, from left to right.
fn undominated(report: &TuneReport<'_>, dots: &[Dot], more_is_better: bool) -> Vec<(f64, f64)> {
    let across = if more_is_better { -1.0 } else { 1.0 };
    let up = report.task.goal.direction.sign();
    let loss = |dot: &Dot| (across * dot.at.0, up * dot.at.1);
    let beats = |a: (f64, f64), b: (f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
    let is_kept = |dot: &&Dot| !dots.iter().any(|other| beats(loss(other), loss(dot)));
    let mut kept: Vec<(f64, f64)> = dots.iter().filter(is_kept).map(|dot| dot.at).collect();
    kept.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    kept.dedup();
    kept
}

fn origin(report: &TuneReport<'_>, command: &str) -> Origin {
    let task = report.task;
    let fact = |name: String, value: String| (name, value);
    let base = &report.tuning.base().variant.policy;
    let space = &task.space.space;
    let mut facts = vec![
        fact("version".into(), VERSION.into()),
        fact("seed".into(), task.options.seed.to_string()),
        fact("held-out worlds".into(), task.options.held_out_worlds.to_string()),
    ];
    let named = |what: &'static str| {
        move |s: &crate::scenario::Scenario| (format!("{what} {}", s.file.name), s.hash.clone())
    };
    facts.extend(task.scenarios.iter().map(named("scenario")));
    facts.extend(task.hold_out.iter().map(named("held out")));
    facts.push(fact(format!("base {}", base.name), policy_hash(base)));
    facts.push(fact(format!("space {}", space.name), space.hash()));
    let policy = report.tuning.policy();
    facts.extend(policy.map(|p| fact(format!("policy {}", p.name), policy_hash(&p))));
    Origin { command: command.into(), facts }
}
