//! Policies side by side in front of one fleet: what each shows on its part of the sessions, and
//! what it does alone.

use serde_json::{Map, Value, json};

use super::Report;
use super::format::{amount, difference, figure};
use super::json::{figures, paired_of};
use super::table::{frame, section, text};
use crate::experiment::{ArmFindings, SplitFindings};
use crate::measures::{Block, Measure};
use crate::stats::{Dimension, Estimate, Paired, Verdict};

/// The sections of the table.
pub(super) fn sections(report: &Report<'_>, split: &SplitFindings) -> Vec<String> {
    let measures = report.catalogue.measures();
    let base = &split.arms[0].name;
    let arms = split.arms.iter().map(|arm| beside_and_alone(measures, split, arm));
    let others = split.arms.iter().skip(1).map(|arm| said_and_so(measures, base, arm));
    arms.chain(others).collect()
}

fn beside_and_alone(measures: &[Measure], split: &SplitFindings, arm: &ArmFindings) -> String {
    let mut table = frame(&BESIDE_AND_ALONE);
    rows_beside_and_alone(measures, arm).for_each(|row| _ = table.add_row(row));
    section(&title_of(split, arm), &text(&table))
}

/// The columns of a policy in the split and alone.
pub(super) const BESIDE_AND_ALONE: [&str; 4] =
    ["", "in the split", "same requests, alone", "difference"];

/// A row for each measure of the answer and each target.
pub(super) fn rows_beside_and_alone<'a>(
    measures: &'a [Measure],
    arm: &'a ArmFindings,
) -> impl Iterator<Item = [String; 4]> {
    shown_of(measures, arm).map(|(row, measure)| {
        let shown = |of: &[Option<Estimate>]| {
            of[row].map_or("–".into(), |estimate| figure(&estimate, measure.dimension))
        };
        [
            measure.name.clone(),
            shown(&arm.beside),
            shown(&arm.same_requests),
            difference(&arm.unseen[row], measure.dimension),
        ]
    })
}

/// Which policy has which part.
pub(super) fn title_of(split: &SplitFindings, arm: &ArmFindings) -> String {
    format!(
        "Split {}: {} on {} of the sessions, {} requests",
        split.split,
        arm.name,
        amount(arm.share, Dimension::Share),
        arm.requests,
    )
}

fn said_and_so(measures: &[Measure], base: &str, arm: &ArmFindings) -> String {
    let mut table = frame(&SAID_AND_SO);
    rows_said_and_so(measures, arm).for_each(|row| _ = table.add_row(row));
    section(&title_against(base, arm), &text(&table))
}

/// The columns of a policy's difference to the first.
pub(super) const SAID_AND_SO: [&str; 3] =
    ["", "in the split (other requests)", "each alone (same requests)"];

/// A row for each measure of the answer and each target.
pub(super) fn rows_said_and_so<'a>(
    measures: &'a [Measure],
    arm: &'a ArmFindings,
) -> impl Iterator<Item = [String; 3]> {
    shown_of(measures, arm).map(|(row, measure)| {
        let shown = |of: &[Paired]| difference(&of[row], measure.dimension);
        [measure.name.clone(), shown(&arm.said), shown(&arm.so)]
    })
}

/// What is compared.
pub(super) fn title_against(base: &str, arm: &ArmFindings) -> String {
    format!("{} against {base}, as the split shows it and as it is", arm.name)
}

/// The measures of the answer, and the shares of targets, that are more than nothing somewhere.
fn shown_of<'a>(
    measures: &'a [Measure],
    arm: &'a ArmFindings,
) -> impl Iterator<Item = (usize, &'a Measure)> {
    let figures = |row: usize| [arm.beside[row], arm.same_requests[row], arm.alone[row]];
    let is_something = move |row| figures(row).iter().flatten().any(|e| e.value != Some(0.0));
    let is_shown = |measure: &Measure| {
        measure.block == Block::Answer || measure.name.starts_with("target_share.")
    };
    let all = measures.iter().enumerate();
    all.filter(move |(row, measure)| is_shown(measure) && is_something(*row))
}

/// What to take away: one sentence for each policy after the first.
pub(super) fn conclusion(report: &Report<'_>, split: &SplitFindings) -> Vec<String> {
    let measures = report.catalogue.measures();
    let Some(success) = measures.iter().position(|m| m.name == "success") else {
        return Vec::new();
    };
    let one = |arm: &ArmFindings| {
        let value = |of: &[Option<Estimate>]| of[success].and_then(|estimate| estimate.value);
        let (beside, alone) = (value(&arm.beside)?, value(&arm.same_requests)?);
        let share = |value| amount(value, Dimension::Share);
        let shows = match arm.unseen[success].verdict {
            Some(Verdict::Clear) => "the split does not show what it does alone",
            Some(Verdict::Noise | Verdict::Identical) => "no clear difference",
            None => "one world says little",
        };
        Some(format!(
            "`{}` on {} of the sessions answers {} of its requests, and {} of the same requests where \
             all sessions are its own: {shows}.",
            arm.name,
            share(arm.share),
            share(beside),
            share(alone),
        ))
    };
    split.arms.iter().skip(1).filter_map(one).collect()
}

/// The same as JSON.
pub(super) fn json(report: &Report<'_>, split: &SplitFindings) -> Value {
    let arms: Vec<Value> = split.arms.iter().map(|arm| arm_json(report, arm)).collect();
    json!({ "parts": split.split.to_string(), "arms": arms })
}

fn arm_json(report: &Report<'_>, arm: &ArmFindings) -> Value {
    let classes = report.scenario.classes.iter().zip(&arm.by_class);
    let classes = classes.map(|(class, [beside, same_requests])| {
        let both = json!({
            "beside": figures(report, beside),
            "same_requests": figures(report, same_requests),
        });
        (class.name.clone(), both)
    });
    json!({
        "policy": arm.name,
        "share": arm.share,
        "requests": arm.requests,
        "beside": figures(report, &arm.beside),
        "same_requests": figures(report, &arm.same_requests),
        "alone": figures(report, &arm.alone),
        "unseen": paired_of(report, &arm.unseen),
        "said": paired_of(report, &arm.said),
        "so": paired_of(report, &arm.so),
        "by_class": classes.collect::<Map<String, Value>>(),
    })
}
