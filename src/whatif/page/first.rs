//! The first screen: what was asked, whether the log is reproduced, the answer, how far to believe it.

use crate::fit::many;
use crate::page::{KeyFigure, Tone};
use crate::whatif::believe::Verdict;
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::left_out;
use crate::whatif::policy::PolicyFinding;
use crate::whatif::sections::{briefly, briefly_reproduced, cautious, intervals, of_fewer, unheld};
use crate::whatif::value::{Difference, Figure};
use crate::whatif::words::{bill, clear, difference, figure, unit_of};

pub(super) fn title(found: &WhatIf) -> String {
    let timeline = found.timeline.as_ref().map_or(&found.scenario, |timeline| &timeline.name);
    let of = found.log.as_ref().map_or(timeline, |log| &log.name);
    match found.policies.as_slice() {
        [_, only] => format!("What if `{}` had been in force in {of}?", only.name),
        all => format!("What if one of {} policies had been in force in {of}?", all.len() - 1),
    }
}

pub(super) fn asked(found: &WhatIf) -> String {
    let first = &found.policies[0].name;
    let log = found.log.as_ref().map_or(String::new(), |log| {
        format!(
            "The log holds {} and {} under `{first}`{}. ",
            many(log.requests, "request"),
            many(log.attempts, "attempt"),
            of_fewer(log)
        )
    });
    let others = match found.policies.len() {
        2 => format!("`{}`", found.policies[1].name),
        _ => "each of the others".into(),
    };
    format!("{log}What would {others} have answered, how late, and for how much?")
}

/// Whether the log is reproduced goes first; the figures below it have the rest.
pub(super) fn answer(found: &WhatIf) -> String {
    let held = briefly_reproduced(found).or(unheld(found));
    let sentences = held.into_iter().chain(cautious(found)).chain([briefly(found)]);
    sentences.collect::<Vec<_>>().join(" ")
}

pub(super) fn figures(found: &WhatIf) -> Vec<KeyFigure> {
    let (first, other) = (&found.policies[0], &found.policies[found.candidate]);
    let mut figures: Vec<KeyFigure> = reproduction(found).into_iter().collect();
    figures.push(compared(found, "requests answered", 0, true));
    let more = tone(&other.differences[0], true);
    figures.extend(other.moved.as_ref().map(|moved| KeyFigure {
        label: "requests saved".into(),
        value: figure(&moved.saved, Unit::Count),
        note: format!(
            "{} lost, against {}, in one world",
            figure(&moved.lost, Unit::Count),
            first.name
        ),
        tone: more,
    }));
    figures.push(KeyFigure {
        label: "the bill".into(),
        value: bill(&other.bill.figure),
        note: match first.bill.figure.missing.or(other.bill.figure.missing) {
            Some(_) => "a target's prices are not in the log: write them into its card".into(),
            None => format!(
                "{}: {}; {}",
                first.name,
                bill(&first.bill.figure),
                other.bill.change.as_ref().map_or(String::new(), |of| change(found, of))
            ),
        },
        tone: other.bill.change.as_ref().map_or(Tone::Plain, |change| tone(change, false)),
    });
    let impact = |of: &PolicyFinding| figure(&of.impact_minutes.figure, Unit::Count);
    let fewer = other.impact_minutes.change.as_ref();
    figures.push(KeyFigure {
        label: "minutes of impact".into(),
        value: impact(other),
        note: format!(
            "{}: {}; {}; with fewer than 99 % answered",
            first.name,
            impact(first),
            fewer.map_or(String::new(), |of| change(found, of))
        ),
        tone: fewer.map_or(Tone::Plain, |change| tone(change, false)),
    });
    figures.extend(latency(found));
    if found.is_another_world() {
        // What is good or bad in a world that does not do what the log says is neither.
        figures.iter_mut().skip(1).for_each(|figure| figure.tone = Tone::Plain);
    }
    figures
}

/// The first of these that both policies have.
fn latency(found: &WhatIf) -> Option<KeyFigure> {
    let (first, other) = (&found.policies[0], &found.policies[found.candidate]);
    let wanted = [
        ("added_latency_p99", "added latency, 99th percentile"),
        ("latency_p50", "time to answer, median"),
    ];
    wanted.into_iter().find_map(|(name, label)| {
        let at = position(first, name);
        other.differences[at].difference?;
        Some(compared(found, label, at, false))
    })
}

fn reproduction(found: &WhatIf) -> Option<KeyFigure> {
    let believed = found.believed.as_ref()?;
    let count = |verdict| believed.checks.iter().filter(|check| check.verdict == verdict).count();
    let (within, off) = (count(Verdict::WithinSamplingError), count(Verdict::Off));
    let slight = count(Verdict::WithinTolerance);
    let beside = || believed.intervals.iter().chain(&believed.targets);
    let (value, tone) = match believed.reproduces {
        None => ("not told", Tone::Bad),
        Some(true) if beside().any(|check| check.verdict == Verdict::Off) => {
            ("in part", Tone::Plain)
        }
        Some(true) => ("yes", Tone::Good),
        Some(false) => ("NO", Tone::Bad),
    };
    let tolerated = match slight {
        0 => String::new(),
        _ => format!(", {slight} off by less than is tolerated"),
    };
    let outside = believed.intervals.iter().filter(|check| check.outside()).count();
    let chance = match outside {
        0 => "",
        _ if believed.intervals.iter().any(|check| check.verdict == Verdict::OutsideByChance) => {
            ", as chance would have it"
        }
        _ => ", more than chance would have",
    };
    Some(KeyFigure {
        label: "the log is reproduced".into(),
        value: value.into(),
        note: format!(
            "{within} of {} figures within sampling error{tolerated}; {outside} of {} intervals outside{chance}",
            within + slight + off,
            believed.intervals.len()
        ),
        tone,
    })
}

fn compared(found: &WhatIf, label: &str, measure: usize, more_is_better: bool) -> KeyFigure {
    let (first, other) = (&found.policies[0], &found.policies[found.candidate]);
    let value = |of: &Figure| figure(of, unit_of(&of.name));
    let paired = &other.differences[measure];
    KeyFigure {
        label: label.into(),
        value: value(&other.figures[measure]),
        note: format!(
            "{}: {}; {}",
            first.name,
            value(&first.figures[measure]),
            change(found, paired)
        ),
        tone: tone(paired, more_is_better),
    }
}

fn change(found: &WhatIf, paired: &Difference) -> String {
    if paired.difference.is_none() {
        return "no difference is known".into();
    }
    let shown = difference(paired.difference, paired.ci95, unit_of(&paired.name));
    format!("{shown}, {}", clear(found, paired))
}

/// Good where it is clearly better, bad where it is clearly worse.
fn tone(paired: &Difference, more_is_better: bool) -> Tone {
    match paired.difference.filter(|_| paired.clear) {
        None => Tone::Plain,
        Some(difference) if (difference > 0.0) == more_is_better => Tone::Good,
        Some(_) => Tone::Bad,
    }
}

/// Where a measure stands among the figures of a policy.
fn position(policy: &PolicyFinding, name: &str) -> usize {
    let found = policy.figures.iter().position(|figure| figure.name == name);
    found.expect("every policy has all measures")
}

pub(super) fn belief(found: &WhatIf) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(believed) = &found.believed {
        let off = believed.intervals.iter().filter(|check| check.outside()).count();
        let all = believed.intervals.len();
        lines.push(format!(
            "The log against the simulation, figure by figure, is below. Success by interval is outside \
             its range in {off} of {all}; by chance alone it would be in about {:.0}.",
            (all as f64 * 0.05).ceil()
        ));
    }
    lines.push(intervals(found));
    let made_of = found.made_of();
    let cases = found.sensitivity.len();
    let other = found.sensitivity.iter().filter(|case| !case.same_order).count();
    if cases > 0 {
        lines.push(match other {
            0 => format!(
                "In none of the {cases} worlds that the {made_of} cannot tell from this one does another \
                 policy answer most."
            ),
            _ => format!(
                "In {other} of the {cases} worlds that the {made_of} cannot tell from this one ANOTHER \
                 policy answers most."
            ),
        });
    }
    lines.extend(left_out::files(found).map(|file| {
        format!("{} cannot be used and are left out; the section on them says why.", file.count())
    }));
    let open = found.not_identified.len();
    if open > 0 {
        lines.push(format!(
            "{open} things are not identified by the {made_of}; the last section says what is taken instead."
        ));
    }
    lines.push(
        "It is a simulation: `docs/validity.md` says what is modelled, assumed and left out."
            .into(),
    );
    lines
}
