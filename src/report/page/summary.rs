//! The first screen: what was asked, the figures that answer it, and how far to believe them.

use crate::measures::{Better, Measure};
use crate::page::{KeyFigure, Tone};
use crate::report::Report;
use crate::report::format::{amount, difference, figure};
use crate::report::table::stickiness_verdict;
use crate::stats::{Dimension, Paired, Verdict};

/// The measures a manager asks for, in plain words.
const ASKED_FOR: [(&str, &str); 5] = [
    ("success", "requests answered"),
    ("cost_per_1k", "cost per 1,000 requests"),
    ("attempts_per_request", "attempts per request"),
    ("added_latency_p99", "added latency, 99th percentile"),
    ("latency_p50", "time to answer, median"),
];

pub(super) fn title(report: &Report<'_>) -> String {
    let scenario = &report.scenario.file.name;
    match report.findings.policies.as_slice() {
        [only] => format!("`{}` in {scenario}", only.name),
        several => format!("{} policies in {scenario}", several.len()),
    }
}

pub(super) fn asked(report: &Report<'_>) -> String {
    let file = &report.scenario.file;
    let question = match report.findings.policies.len() {
        1 => "What would this policy have answered, how late, and for how much?",
        _ => "What would each policy have answered, how late, and for how much?",
    };
    format!("{question} {}", file.shows.trim())
}

/// Two policies to set against each other.
struct Duel<'a> {
    one: usize,
    other: usize,
    /// The one less the other.
    differences: &'a [Paired],
}

/// The one that answers most against the first; against the next, where it is the first.
fn duel<'a>(report: &Report<'a>) -> Option<Duel<'a>> {
    let top = report.findings.top.as_ref()?;
    Some(match top.best {
        0 => Duel { one: 0, other: top.next, differences: &top.differences },
        best => {
            let differences = &report.findings.policies[best].differences;
            Duel { one: best, other: 0, differences }
        }
    })
}

pub(super) fn figures(report: &Report<'_>) -> Vec<KeyFigure> {
    let duel = duel(report);
    let mut figures: Vec<KeyFigure> = ASKED_FOR
        .iter()
        .filter_map(|(name, label)| {
            let row = report.position(name)?;
            let measure = &report.catalogue.measures()[row];
            Some(match &duel {
                Some(duel) => compared(report, duel, row, measure, label),
                None => alone(report, row, measure, label),
            })
        })
        .collect();
    let more = match &duel {
        Some(duel) => saved(report, duel),
        None => gain(report),
    };
    if let Some(more) = more {
        figures.insert(1, more);
    }
    figures
}

fn alone(report: &Report<'_>, row: usize, measure: &Measure, label: &str) -> KeyFigure {
    let estimate = &report.findings.policies[0].figures[row];
    KeyFigure {
        label: label.into(),
        value: figure(estimate, measure.dimension),
        note: measure.describes.clone(),
        tone: Tone::Plain,
    }
}

fn compared(
    report: &Report<'_>,
    duel: &Duel<'_>,
    row: usize,
    measure: &Measure,
    label: &str,
) -> KeyFigure {
    let policies = &report.findings.policies;
    let paired = &duel.differences[row];
    let other = &policies[duel.other].figures[row];
    let other_value = match (other.value, other.note) {
        (Some(value), _) => amount(value, measure.dimension),
        (None, Some(note)) => note.to_string(),
        (None, None) => "no value".into(),
    };
    let apart = match paired.difference {
        Some(_) => format!("; {}", difference(paired, measure.dimension)),
        None => String::new(),
    };
    KeyFigure {
        label: label.into(),
        value: figure(&policies[duel.one].figures[row], measure.dimension),
        note: format!("{}: {other_value}{apart}", policies[duel.other].name),
        tone: tone(paired, measure.better),
    }
}

/// Good where it is clearly better, bad where it is clearly worse.
fn tone(paired: &Paired, better: Better) -> Tone {
    let clear = paired.verdict == Some(Verdict::Clear);
    let Some(difference) = paired.difference.filter(|_| clear) else { return Tone::Plain };
    match better {
        Better::Neither => Tone::Plain,
        Better::Higher if difference > 0.0 => Tone::Good,
        Better::Lower if difference < 0.0 => Tone::Good,
        Better::Higher | Better::Lower => Tone::Bad,
    }
}

/// How many requests more are answered, in a world.
fn saved(report: &Report<'_>, duel: &Duel<'_>) -> Option<KeyFigure> {
    let row = report.position("success")?;
    let paired = &duel.differences[row];
    let success = &report.findings.policies[duel.one].figures[row];
    let requests = success.n as f64 / report.experiment.worlds.len() as f64;
    let more = paired.difference? * requests;
    let half = paired.ci95.map_or(0.0, |(lo, hi)| requests * (hi - lo) / 2.0);
    let digit = last_digit(half);
    let rounded = |value: f64| whole(libm::round(value / digit) * digit);
    let interval = if half > 0.0 { format!(" ± {}", rounded(half)) } else { String::new() };
    let per_world = if report.experiment.worlds.len() == 1 { "" } else { " in each world" };
    let other = &report.findings.policies[duel.other].name;
    Some(KeyFigure {
        label: "requests saved".into(),
        value: format!("{}{interval}", rounded(more)),
        note: format!("of {}{per_world}, against {other}", whole(requests)),
        tone: tone(paired, Better::Higher),
    })
}

/// What recovery gains on no recovery at all.
fn gain(report: &Report<'_>) -> Option<KeyFigure> {
    let success = report.value("success", 0)?;
    let without = report.value("no_recovery_success", 0)?;
    Some(KeyFigure {
        label: "gained by recovery".into(),
        value: format!("{:+.2} pp", (success - without) * 100.0),
        note: format!("without any: {}", amount(without, Dimension::Share)),
        tone: if success > without { Tone::Good } else { Tone::Plain },
    })
}

/// What the last digit counts that an interval of this half-width lets one write: one digit of it,
/// or two where the first is 1.
fn last_digit(half: f64) -> f64 {
    if half < 1.0 {
        return 1.0;
    }
    let first = libm::pow(10.0, libm::floor(libm::log10(half)));
    if half < 2.0 * first { (first / 10.0).max(1.0) } else { first }
}

/// A whole number, its thousands apart.
fn whole(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if value < 0.0 && digits != "0" { format!("−{text}") } else { text }
}

pub(super) fn belief(report: &Report<'_>) -> Vec<String> {
    let worlds = report.experiment.worlds.len();
    let mut lines = Vec::new();
    lines.extend(report.missing_worlds().map(|missing| sentence(&missing)));
    lines.push(match worlds {
        1 => "One world, so there are no intervals: `--worlds 10` gives some.".into(),
        _ => format!(
            "Intervals are 95 %, over {worlds} worlds. They cover {}. A difference is clear where \
             its interval leaves zero out.",
            report.covers(),
        ),
    });
    let stickiness = report.findings.stickiness.as_ref();
    lines.extend(stickiness.map(|ranking| {
        let verdict = stickiness_verdict(ranking);
        format!("Real failures stick to their request, and nobody publishes how much. {verdict}")
    }));
    if let Some(hypothesis) = &report.scenario.file.hypothesis {
        lines.push(format!("The scenario is a hypothesis: {}", hypothesis.trim()));
    }
    lines.extend(report.assumed_quality().map(|text| format!("`task_success` is {text}.")));
    lines.extend(report.scenario.notes.iter().map(|note| sentence(note)));
    lines.push(
        "It is a simulation: `docs/validity.md` says what is modelled, assumed and left out."
            .into(),
    );
    lines
}

/// With a capital at its begin and a stop at its end.
fn sentence(text: &str) -> String {
    let mut letters = text.trim().chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
    let text = first + letters.as_str();
    if text.ends_with('.') { text } else { text + "." }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_interval() {
        assert_eq!([0.3, 1.5, 17.0, 29.5, 130.0].map(last_digit), [1.0, 1.0, 1.0, 10.0, 10.0]);
    }

    #[test]
    fn thousands_are_apart() {
        assert_eq!(whole(1_234_567.4), "1,234,567");
        assert_eq!((whole(-999.6).as_str(), whole(-0.2).as_str()), ("−1,000", "0"));
    }
}
