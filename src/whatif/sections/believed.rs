//! Whether the log is reproduced, figure by figure.

use super::{Section, Table};
use crate::whatif::believe::{Believed, Check, Verdict};
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::words::{difference, plain, unit_of};

/// Single intervals of time that are shown, at most.
const MOST_INTERVALS: usize = 5;

/// Whether the policy in force, simulated, does what the log says; none without a log.
pub(in crate::whatif) fn reproduced(found: &WhatIf) -> Option<String> {
    let (believed, first) = (found.believed.as_ref()?, &found.policies[0].name);
    let off = |verdict| all_off(believed, verdict);
    let tolerance = believed.tolerance.words();
    let smaller = "Differences smaller than that are not to be believed.";
    if believed.reproduces.is_none() {
        return Some(untold(first));
    }
    if believed.reproduces == Some(false) {
        return Some(format!(
            "NOT REPRODUCED: simulated in the fitted world, `{first}` does not do what the log says: {}, more than \
             sampling error and than is tolerated ({tolerance}). {UNFOUNDED}",
            off(Verdict::Off),
        ));
    }
    let beside =
        several(&believed.intervals, "interval") + &several(&believed.targets, "figure by target");
    let slight = off(Verdict::WithinTolerance);
    let vague = vague(believed);
    Some(match slight.is_empty() {
        true => format!(
            "Simulated in the fitted world, `{first}` does what the log says: every figure is within sampling \
             error{beside}.{vague}"
        ),
        false => format!(
            "Simulated in the fitted world, `{first}` does what the log says, to within what is tolerated \
             ({tolerance}) though not to within sampling error: {slight}{beside}. {smaller}{vague}"
        ),
    })
}

/// The same in a few words: what is below says the rest.
pub(in crate::whatif) fn briefly_reproduced(found: &WhatIf) -> Option<String> {
    let (believed, first) = (found.believed.as_ref()?, &found.policies[0].name);
    if believed.reproduces.is_none() {
        return Some(untold(first));
    }
    if believed.reproduces == Some(false) {
        let off = all_off(believed, Verdict::Off);
        return Some(format!(
            "NOT REPRODUCED: simulated in the fitted world, `{first}` does not do what the log says: {off}. {UNFOUNDED}"
        ));
    }
    let is = |verdict| move |check: &Check| check.verdict == verdict;
    let tolerated = believed.checks.iter().any(is(Verdict::WithinTolerance));
    let closely = if tolerated { ", to within what is tolerated" } else { "" };
    let mut beside = believed.intervals.iter().chain(&believed.targets);
    let everywhere = match beside.any(is(Verdict::Off)) {
        true => ", though not at every time and target",
        false => "",
    };
    Some(format!(
        "Simulated in the fitted world, `{first}` does what the log says{closely}{everywhere}.{}",
        vague(believed)
    ))
}

/// Half a range of success from which that the log lies within it says little.
const VAGUE: f64 = 0.05;

/// That hardly any log would have been outside the range of success; nothing where that is not so.
fn vague(believed: &Believed) -> String {
    let success = believed.checks.first().filter(|check| check.loose());
    let range = success.and_then(|check| check.range95);
    let range = range.filter(|range| range.high - range.low > 2.0 * VAGUE);
    range.map_or(String::new(), |range| {
        format!(
            " That says little: what the log does not tell leaves its success anywhere from {:.0} % to {:.0} %.",
            100.0 * range.low,
            100.0 * range.high
        )
    })
}

/// Of another policy a world may be wrong by more, and in the other direction, than of the one that is logged.
const UNFOUNDED: &str = "What it says of other policies is not to be believed, in size or sign.";

/// Where nothing can be held against anything.
fn untold(first: &str) -> String {
    format!(
        "NOT HELD AGAINST THE LOG: it has too few requests to tell whether `{first}`, simulated in the fitted world, does \
         what it says."
    )
}

/// The figures with this verdict, each with how far it is off.
fn all_off(believed: &Believed, verdict: Verdict) -> String {
    let off = believed.checks.iter().filter(|check| check.verdict == verdict);
    let off = off.map(|check| format!("{} is {}", check.name, off_by(check, unit(check))));
    off.collect::<Vec<_>>().join("; ")
}

/// Figures of which sampling error alone is more than what is tolerated; nothing where there are none.
fn loose(believed: &Believed) -> Option<String> {
    let loose = believed.checks.iter().filter(|check| check.loose());
    let names: Vec<&str> = loose.map(|check| check.name.as_str()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Sampling error alone is more than that for {}: the log tells too little to hold them as closely.",
            names.join(", ")
        )
    })
}

/// How many of several checks of a kind are outside their range; nothing where none is.
fn several(checks: &[Check], kind: &str) -> String {
    let count = |verdict| checks.iter().filter(|check| check.verdict == verdict).count();
    let (chance, off) = (count(Verdict::OutsideByChance), count(Verdict::Off));
    let slight = count(Verdict::WithinTolerance);
    let all = chance + slight + off + count(Verdict::WithinSamplingError);
    let kinds = match kind.split_once(' ') {
        _ if all == 1 => kind.to_owned(),
        Some((noun, rest)) => format!("{noun}s {rest}"),
        None => format!("{kind}s"),
    };
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    match (chance, slight, off) {
        (0, 0, 0) => String::new(),
        (chance, 0, 0) => format!(
            "; {chance} of {all} {kinds} {} range, as chance would have it",
            if chance == 1 { "is outside its" } else { "are outside their" }
        ),
        (_, slight, 0) => format!(
            "; {slight} of {all} {kinds} {} outside, more than chance would have, none by more than is tolerated",
            are(slight)
        ),
        (_, _, off) => format!(
            "; BUT {off} of {all} {kinds} {} off by more than chance would have and than is tolerated: there it does \
             not do what the log says",
            are(off)
        ),
    }
}

pub(in crate::whatif) fn believed(found: &WhatIf) -> Option<Section> {
    let believed = found.believed.as_ref()?;
    let mut rows: Vec<Vec<String>> =
        believed.checks.iter().chain(&believed.targets).map(row).collect();
    let off: Vec<&Check> = believed.intervals.iter().filter(|check| check.outside()).collect();
    let mut worst: Vec<usize> = (0..off.len()).collect();
    let gap = |at: usize| gap(off[at]).map_or(0.0, f64::abs);
    worst.sort_by(|&a, &b| gap(b).total_cmp(&gap(a)).then(a.cmp(&b)));
    worst.truncate(MOST_INTERVALS);
    worst.sort_unstable();
    rows.extend(worst.iter().map(|&at| row(off[at])));
    let all = believed.intervals.len();
    let mut sentences = vec![
        format!(
            "Success by interval: {} of {all} {} outside; by chance alone about {:.0} would be.",
            off.len(),
            if off.len() == 1 { "is" } else { "are" },
            (all as f64 * 0.05).ceil()
        ),
        format!(
            "What is tolerated: {}. What is off by more than sampling error and by more than that is not \
             reproduced.",
            believed.tolerance.words()
        ),
    ];
    sentences.extend(loose(believed));
    Some(Section {
        title: format!("Believe it? `{}` in the log and simulated", found.policies[0].name),
        sentences,
        table: Some(Table {
            head: ["", "log", "simulated", "95 % of courses", ""].map(str::to_owned).to_vec(),
            rows,
        }),
        verbatim: None,
    })
}

fn row(check: &Check) -> Vec<String> {
    let unit = unit(check);
    let range = check.range95.map_or("–".into(), |range| {
        format!("{} – {}", plain(Some(range.low), unit), plain(Some(range.high), unit))
    });
    let verdict = match check.verdict {
        Verdict::WithinSamplingError => "within sampling error".into(),
        Verdict::OutsideByChance => "outside, as chance has it".into(),
        Verdict::WithinTolerance => format!("{}, tolerated", off_by(check, unit)),
        Verdict::Off => off_by(check, unit),
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
}

/// What a check is counted in: of intervals it is success.
fn unit(check: &Check) -> Unit {
    match &check.name {
        name if name.ends_with("per request") => Unit::Count,
        name if name.starts_with("success from") => Unit::Share,
        name => unit_of(name),
    }
}

fn gap(check: &Check) -> Option<f64> {
    check.simulated.zip(check.logged).map(|(simulated, logged)| simulated - logged)
}

/// How far it is off, and which part of what the log says that is.
fn off_by(check: &Check, unit: Unit) -> String {
    let gap = gap(check);
    let part = gap.zip(check.logged).filter(|(_, logged)| unit != Unit::Share && *logged > 0.0);
    let part = part.map_or(String::new(), |(gap, logged)| {
        let percent = 100.0 * gap / logged;
        let decimals = if percent.abs() < 10.0 { 1 } else { 0 };
        format!(" ({percent:+.decimals$} %)")
    });
    format!("off by {}{part}", difference(gap, None, unit))
}
