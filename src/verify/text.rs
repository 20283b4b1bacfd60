//! A proof for people.

use std::fmt::Write;

use super::{Counterexample, Proof, Verdict, promises};
use crate::story::clock;

pub(super) fn proof(proof: &Proof) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "policy     {}", proof.policy);
    let _ = writeln!(text, "targets    {}", proof.targets);
    let _ = writeln!(text, "depth      {}\n", proof.depth);
    if !proof.covered.is_empty() {
        text += &covered(proof);
    }
    match (proof.verdict(), &proof.counterexample) {
        (_, Some(found)) => text += &counterexample(proof, found),
        (Verdict::Undecided, _) => text += &undecided(proof),
        _ => text += &all_hold(proof),
    }
    text
}

fn covered(proof: &Proof) -> String {
    let widest = proof.covered.iter().map(|row| row.start.len()).max().unwrap_or(0);
    let mut text = format!("{:<widest$}  steps    states        sequences\n", "start");
    for row in &proof.covered {
        let steps = match row.complete_to == row.depth {
            true => row.depth.to_string(),
            false => format!("{} of {}", row.complete_to, row.depth),
        };
        let (states, sequences) = (grouped(row.states), grouped(row.sequences));
        let _ = writeln!(text, "{:<widest$}  {steps:<6} {states:>8} {sequences:>16}", row.start);
    }
    text.push('\n');
    text
}

/// What was not walked, what is proven all the same, and what to ask for.
fn undecided(proof: &Proof) -> String {
    let cut = proof.covered.iter().filter(|row| row.complete_to < row.depth).count();
    let mut text = format!(
        "Undecided: from {cut} of {} starts there are more than {} states (--max-states), and the rest was \
         not walked.\nNo promise was broken in what was.",
        proof.covered.len(),
        grouped(proof.max_states),
    );
    if let Some(depth) = proof.complete_depth() {
        let _ = write!(text, " Depth {depth} is complete: `--depth {depth}` is a proof.");
    }
    let more = proof.max_states.saturating_mul(10);
    let _ = writeln!(
        text,
        "\nFor depth {}: `--max-states {more}`, or more; a step takes some three to twenty times the states \
         of the one before.",
        proof.depth
    );
    text
}

fn all_hold(proof: &Proof) -> String {
    let states: u64 = proof.covered.iter().map(|row| row.states).sum();
    let sequences = proof.covered.iter().fold(0_u64, |sum, row| sum.saturating_add(row.sequences));
    let mut text = format!(
        "{} states, {} sequences, depth {}: all {} promises hold\n",
        grouped(states),
        grouped(sequences),
        proof.depth,
        promises().count()
    );
    for (_, sentence) in promises() {
        let _ = writeln!(text, "  ✓ {sentence}");
    }
    if let Some(what) = &proof.not_promised {
        let _ = writeln!(text, "Not promised: {what}.");
    }
    text
}

fn counterexample(proof: &Proof, found: &Counterexample) -> String {
    let mut text = format!("Broken: {}\n\n", found.broken.promise.sentence());
    let steps = match found.steps {
        0 => "time alone".to_owned(),
        1 => "1 step".to_owned(),
        n => format!("{n} steps"),
    };
    let which = if found.shortest { "The shortest way" } else { "A way" };
    let _ = writeln!(text, "{which}, {steps} from: {}\n", found.start);
    // The start's own request is the latest to come before the first step.
    let arrivals = found.trail[..found.before].iter().filter(|moment| is_arrival(moment)).count();
    let told = arrivals.saturating_sub(2);
    if told > 0 {
        let _ = writeln!(text, "{:>14}  {told} requests came, failed once and were cancelled", "");
    }
    let first = first_told(found, told);
    let origin = found.trail.get(first).map(|moment| moment.now).unwrap_or_default();
    for moment in &found.trail[first..] {
        let at = clock(moment.now, origin);
        let _ = writeln!(text, "{at:>14}  {}", proof.names.event(&moment.event));
        for action in &moment.actions {
            let _ = writeln!(text, "{:>14}    {}", "", proof.names.action(action, origin));
        }
    }
    let _ = writeln!(text, "{:>14}  ✗ {}", "", found.broken.how);
    text
}

/// Where the telling begins: with the arrival after so many.
fn first_told(found: &Counterexample, arrivals: usize) -> usize {
    let mut positions = found.trail.iter().enumerate().filter(|(_, moment)| is_arrival(moment));
    positions.nth(arrivals).map_or(0, |(position, _)| position)
}

fn is_arrival(moment: &windtunnel_policy::promises::Moment) -> bool {
    matches!(moment.event, windtunnel_policy::event::Event::Arrived(_))
}

/// A count with its thousands apart.
fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
