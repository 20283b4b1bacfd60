//! The report as sections of sentences and tables, in the order a reader needs them: whether to
//! believe it, what each policy does, when, where, what it rests on, what to change.

use super::believe::{Check, Verdict};
use super::course::InTime;
use super::figures::Unit;
use super::finding::{Logged, WhatIf};
use super::left_out;
use super::otherwise::{Sensitivity, leaders};
use super::policy::PolicyFinding;
use super::words::{bill, clear, clock, difference, figure, plain, requests, unit_of};

/// One section.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Section {
    pub(super) title: String,
    pub(super) sentences: Vec<String>,
    pub(super) table: Option<Table>,
    /// Text to be shown as it stands.
    pub(super) verbatim: Option<String>,
}

/// Cells; the first column is text, the others are figures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Table {
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// Rows of a table over time, at most.
const MOST_ROWS: usize = 16;

/// All sections.
pub(super) fn sections(found: &WhatIf) -> Vec<Section> {
    let mut all = vec![summary(found)];
    all.extend(believed(found));
    all.push(policies(found));
    all.extend((1..found.policies.len()).map(|i| changes(found, i)));
    all.push(in_time(found));
    all.extend(by_class(found));
    all.push(targets(found));
    all.extend(sensitivity(found));
    all.extend(stories(found));
    all.push(recommended(found));
    all.extend(left_out::section(found));
    all.extend(not_identified(found));
    all
}

pub(super) fn not_identified(found: &WhatIf) -> Option<Section> {
    (!found.not_identified.is_empty()).then(|| Section {
        title: format!("What the {} cannot tell, and what is taken instead", found.made_of()),
        sentences: found.not_identified.clone(),
        ..Section::default()
    })
}

/// The answer in a few sentences; that it does not reproduce goes first.
fn summary(found: &WhatIf) -> Section {
    let mut sentences: Vec<String> = reproduced(found).or(unheld(found)).into_iter().collect();
    sentences.extend((1..found.policies.len()).map(|i| instead(found, i)));
    sentences.push(intervals(found));
    Section { title: "Summary".into(), sentences, ..Section::default() }
}

/// Whether the policy in force, simulated, does what the log says; none without a log.
pub(super) fn reproduced(found: &WhatIf) -> Option<String> {
    let (believed, first) = (found.believed.as_ref()?, &found.policies[0]);
    let off: Vec<String> = believed
        .checks
        .iter()
        .filter(|c| c.verdict == Verdict::Off)
        .map(|check| off_by(check, unit_of(&check.name)))
        .collect();
    Some(match believed.reproduces {
        true => format!(
            "Simulated in the fitted world, `{}` does what the log says: every figure is within sampling error{}{}.",
            first.name,
            several(&believed.intervals, "interval"),
            several(&believed.targets, "figure by target"),
        ),
        false => format!(
            "NOT REPRODUCED: simulated in the fitted world, `{}` does not do what the log says: {}. Differences smaller than that are not to be believed.",
            first.name,
            off.join("; ")
        ),
    })
}

/// How many of several checks of a kind are outside their range; nothing where none is.
fn several(checks: &[Check], kind: &str) -> String {
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let (chance, off) = (count(Verdict::OutsideByChance), count(Verdict::Off));
    let all = chance + off + count(Verdict::WithinSamplingError);
    let kinds = match kind.split_once(' ') {
        _ if all == 1 => kind.to_owned(),
        Some((noun, rest)) => format!("{noun}s {rest}"),
        None => format!("{kind}s"),
    };
    match (chance, off) {
        (0, 0) => String::new(),
        (chance, 0) => format!(
            "; {chance} of {all} {kinds} {} range, as chance would have it",
            if chance == 1 { "is outside its" } else { "are outside their" }
        ),
        (_, off) => format!(
            "; BUT {off} of {all} {kinds} {} outside, more than chance would have: there it does not do what the log says",
            if off == 1 { "is" } else { "are" }
        ),
    }
}

/// That figures are of fewer requests than the log holds; nothing where they are not.
pub(super) fn of_fewer(log: &Logged) -> String {
    if log.measured == log.requests {
        return String::new();
    }
    format!("; figures are of {} of them, without warm-up, malformed and resent", log.measured)
}

/// That nothing was held against a log, where there is none.
pub(super) fn unheld(found: &WhatIf) -> Option<String> {
    let timeline = found.timeline.as_ref()?;
    Some(format!(
        "NOT HELD AGAINST A LOG: there is none. The course is that of {}, the traffic that of {}, everything else is assumed; nothing says how far this can be believed, but what changes the answer is below.",
        timeline.name, timeline.traffic
    ))
}

/// What the policy at this position does in place of the one in force.
pub(super) fn instead(found: &WhatIf, i: usize) -> String {
    let (first, policy) = (&found.policies[0], &found.policies[i]);
    let success = &policy.differences[0];
    format!(
        "`{}` instead of `{}`: {} answered ({}); {} requests saved, {} lost; {}; {} minutes of impact instead of {}.",
        policy.name,
        first.name,
        difference(success.difference, success.ci95, Unit::Share),
        clear(success),
        requests(policy.saved),
        requests(policy.lost),
        costs(first, policy),
        figure(&policy.impact_minutes, Unit::Count),
        figure(&first.impact_minutes, Unit::Count),
    )
}

fn costs(first: &PolicyFinding, policy: &PolicyFinding) -> String {
    match first.bill.zip(policy.bill).map(|(first, own)| own - first) {
        None => "what it costs is not told".into(),
        Some(0.0) => "the bill is the same".into(),
        Some(more) => format!(
            "the bill {} {}",
            if more < 0.0 { "falls by" } else { "rises by" },
            plain(Some(more.abs()), Unit::Dollars)
        ),
    }
}

/// What the intervals are made of.
pub(super) fn intervals(found: &WhatIf) -> String {
    let refits = match found.refits {
        0 => "; what is assumed of the world is not in them".into(),
        refits => format!(", and {refits} refits to blocks of the log drawn anew"),
    };
    format!("Intervals are 95 %: {} worlds of luck{refits}.", found.worlds)
}

fn off_by(check: &Check, unit: Unit) -> String {
    let off = check.simulated.zip(check.logged).map(|(simulated, logged)| simulated - logged);
    format!("{} is off by {}", check.name, difference(off, None, unit))
}

pub(super) fn believed(found: &WhatIf) -> Option<Section> {
    let believed = found.believed.as_ref()?;
    let row = |check: &Check, unit: Unit| {
        let range = check.range95.map_or("–".into(), |range| {
            format!("{} – {}", plain(Some(range.low), unit), plain(Some(range.high), unit))
        });
        let verdict = match check.verdict {
            Verdict::WithinSamplingError => "within sampling error".into(),
            Verdict::Off => {
                off_by(check, unit).split_once(" is ").map_or(String::new(), |(_, off)| off.into())
            }
            Verdict::OutsideByChance => "outside, as chance has it".into(),
            Verdict::NotTold => "not told".into(),
            Verdict::Unanswered => "unanswered".into(),
            Verdict::TooFew => "too few requests".into(),
        };
        vec![
            check.name.clone(),
            plain(check.logged, unit),
            plain(check.simulated, unit),
            range,
            verdict,
        ]
    };
    let unit = |check: &Check| {
        if check.name.contains("per request") { Unit::Count } else { unit_of(&check.name) }
    };
    let rows = believed.checks.iter().chain(&believed.targets).map(|check| row(check, unit(check)));
    let mut rows: Vec<Vec<String>> = rows.collect();
    let off = believed.intervals.iter().filter(|check| check.outside());
    let worst: Vec<&Check> = off.clone().take(5).collect();
    rows.extend(worst.iter().map(|check| row(check, Unit::Share)));
    let all = believed.intervals.len();
    Some(Section {
        title: format!("Believe it? `{}` in the log and simulated", found.policies[0].name),
        sentences: vec![format!(
            "Success by interval: {} of {all} {} outside; by chance alone about {:.0} would be.",
            off.clone().count(),
            if off.count() == 1 { "is" } else { "are" },
            (all as f64 * 0.05).ceil()
        )],
        table: Some(Table {
            head: ["", "log", "simulated", "95 % of courses", ""].map(str::to_owned).to_vec(),
            rows,
        }),
        verbatim: None,
    })
}

pub(super) fn policies(found: &WhatIf) -> Section {
    let mut head = vec![String::new()];
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    let figures = found.policies[0].figures.iter().enumerate().map(|(i, first)| {
        let of = |policy: &PolicyFinding| {
            let own = &policy.figures[i];
            figure(own, unit_of(&own.name))
        };
        let cells = found.policies.iter().map(of);
        [first.name.clone()].into_iter().chain(cells).collect()
    });
    let mut rows: Vec<Vec<String>> = figures.collect();
    let impact = found.policies.iter().map(|policy| figure(&policy.impact_minutes, Unit::Count));
    rows.push(["impact_minutes".to_owned()].into_iter().chain(impact).collect());
    let bills = found.policies.iter().map(|policy| bill(policy.bill));
    rows.push(["bill".to_owned()].into_iter().chain(bills).collect());
    Section {
        title: "What each policy does".into(),
        table: Some(Table { head, rows }),
        ..Section::default()
    }
}

pub(super) fn changes(found: &WhatIf, i: usize) -> Section {
    let policy = &found.policies[i];
    let rows = policy.differences.iter().map(|change| {
        let unit = unit_of(&change.name);
        let shown = difference(change.difference, change.ci95, unit);
        vec![change.name.clone(), shown, clear(change).to_owned()]
    });
    Section {
        title: format!("`{}` against `{}`", policy.name, found.policies[0].name),
        sentences: vec![format!(
            "The same requests, weather and luck: {} requests are answered that were not, {} no longer.",
            requests(policy.saved),
            requests(policy.lost)
        )],
        table: Some(Table {
            head: ["", "change", ""].map(str::to_owned).to_vec(),
            rows: rows.collect(),
        }),
        verbatim: None,
    }
}

/// Success over time, in pieces of as many intervals as make the table short.
fn in_time(found: &WhatIf) -> Section {
    let piece = found.in_time.len().div_ceil(MOST_ROWS).max(1);
    let mut head = vec!["from".to_owned(), "requests".to_owned()];
    if found.believed.is_some() {
        head.push("log".into());
    }
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    let rows = found.in_time.chunks(piece).map(|intervals| {
        let requests: f64 = intervals.iter().map(|interval| interval.requests).sum();
        let share =
            |of: &dyn Fn(&InTime) -> Option<f64>| plain(weighted(intervals, of), Unit::Share);
        let mut row = vec![clock(intervals[0].from_s as u64), format!("{requests:.0}")];
        if found.believed.is_some() {
            row.push(share(&|interval| interval.logged));
        }
        row.extend((0..found.policies.len()).map(|p| share(&|interval| interval.success[p])));
        row
    });
    Section {
        title: "Success over time".into(),
        table: Some(Table { head, rows: rows.collect() }),
        ..Section::default()
    }
}

/// A share in several intervals together, by their requests; none where no interval has one.
pub(super) fn weighted(intervals: &[InTime], of: impl Fn(&InTime) -> Option<f64>) -> Option<f64> {
    let parts = intervals.iter().filter_map(|i| Some((of(i)?, i.requests)));
    let (sum, all) =
        parts.fold((0.0, 0.0), |(s, n), (share, count)| (s + share * count, n + count));
    (all > 0.0).then(|| sum / all)
}

pub(super) fn by_class(found: &WhatIf) -> Option<Section> {
    if found.policies[0].by_class.len() < 2 {
        return None;
    }
    let mut head = vec![String::new()];
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    let rows = found.policies[0].by_class.iter().enumerate().map(|(i, class)| {
        let cells = found.policies.iter().map(|policy| {
            let own = &policy.by_class[i];
            let success = figure(&own.success, Unit::Share);
            match &own.change {
                Some(change) => format!(
                    "{success} ({})",
                    difference(change.difference, change.ci95, Unit::Share)
                ),
                None => success,
            }
        });
        [class.class.clone()].into_iter().chain(cells).collect()
    });
    Some(Section {
        title: "Success by route class".into(),
        table: Some(Table { head, rows: rows.collect() }),
        ..Section::default()
    })
}

pub(super) fn targets(found: &WhatIf) -> Section {
    let head = ["target", "policy", "attempts", "failed", "bill"].map(str::to_owned).to_vec();
    let mut rows = Vec::new();
    for i in 0..found.policies[0].targets.len() {
        for policy in &found.policies {
            let target = &policy.targets[i];
            rows.push(vec![
                target.target.clone(),
                policy.name.clone(),
                format!("{:.0}", target.attempts),
                format!("{:.0}", target.failed),
                bill(target.bill),
            ]);
        }
    }
    Section {
        title: "What goes where".into(),
        table: Some(Table { head, rows }),
        ..Section::default()
    }
}

pub(super) fn sensitivity(found: &WhatIf) -> Option<Section> {
    if found.sensitivity.is_empty() {
        return None;
    }
    let mut head = vec!["success if".to_owned()];
    head.extend(found.policies.iter().map(|policy| policy.name.clone()));
    head.push("who answers most".into());
    let rows = found.sensitivity.iter().map(|case| {
        let cells = case.success.iter().map(|success| plain(*success, Unit::Share));
        [case.what.clone()].into_iter().chain(cells).chain([leads(found, case)]).collect()
    });
    Some(Section {
        title: format!("Worlds the {} cannot tell from this one", found.made_of()),
        table: Some(Table { head, rows: rows.collect() }),
        ..Section::default()
    })
}

/// Who answers most in a world, beside who does in the one that was fitted.
fn leads(found: &WhatIf, case: &Sensitivity) -> String {
    let fitted: Vec<Option<f64>> = found.policies.iter().map(|of| of.figures[0].value).collect();
    match &case.leader {
        None => "level".into(),
        Some(_) if !case.same_order => "ANOTHER".into(),
        Some(_) if leaders(&fitted).len() == 1 => "the same".into(),
        Some(only) => format!("`{only}`"),
    }
}

fn stories(found: &WhatIf) -> Vec<Section> {
    let of = |story: &super::story::Story| Section {
        title: format!("Request {}: {}", story.request, story.why),
        verbatim: Some(story.told.clone()),
        ..Section::default()
    };
    found.stories.iter().map(of).collect()
}

pub(super) fn recommended(found: &WhatIf) -> Section {
    let recommended = &found.recommended;
    let mut sentences = match &recommended.policy {
        Some(policy) => vec![format!("Change to `{policy}`.")],
        None => vec!["No change is recommended.".to_owned()],
    };
    sentences.extend(recommended.because.iter().map(|because| format!("{because}.")));
    let rows: Vec<Vec<String>> = recommended
        .changes
        .iter()
        .map(|change| {
            let of = |value: &Option<String>| value.clone().unwrap_or("–".into());
            vec![change.field.clone(), of(&change.from), of(&change.to)]
        })
        .collect();
    let table = (!rows.is_empty())
        .then(|| Table { head: ["field", "now", "then"].map(str::to_owned).to_vec(), rows });
    Section { title: "What to change".into(), sentences, table, verbatim: None }
}
