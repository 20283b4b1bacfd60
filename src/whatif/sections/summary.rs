//! The answer in a few sentences.

use super::Section;
use super::believed::reproduced;
use crate::whatif::figures::Unit;
use crate::whatif::finding::{Logged, WhatIf};
use crate::whatif::policy::PolicyFinding;
use crate::whatif::value::Figure;
use crate::whatif::words::{change, clear, difference, figure};

/// The answer in a few sentences; that it does not reproduce goes first.
pub(super) fn summary(found: &WhatIf) -> Section {
    let mut sentences: Vec<String> = reproduced(found).or(unheld(found)).into_iter().collect();
    sentences.extend(cautious(found));
    sentences.extend((1..found.policies.len()).map(|i| instead(found, i)));
    sentences.push(intervals(found));
    Section { title: "Summary".into(), sentences, ..Section::default() }
}

/// What speaks against believing it, to stand right behind what is reproduced.
pub(in crate::whatif) fn cautious(found: &WhatIf) -> impl Iterator<Item = String> + '_ {
    found.cautions.iter().chain(&found.doubts).map(|caution| format!("BUT {caution}."))
}

/// That figures are of fewer requests than the log holds; nothing where they are not.
pub(in crate::whatif) fn of_fewer(log: &Logged) -> String {
    if log.measured == log.requests {
        return String::new();
    }
    format!("; figures are of {} of them, without warm-up, malformed and resent", log.measured)
}

/// That nothing was held against a log, where there is none.
pub(in crate::whatif) fn unheld(found: &WhatIf) -> Option<String> {
    let timeline = found.timeline.as_ref()?;
    Some(format!(
        "NOT HELD AGAINST A LOG: there is none. The course is that of {}, the traffic that of {}, everything else is assumed; nothing says how far this can be believed, but what changes the answer is below.",
        timeline.name, timeline.traffic
    ))
}

/// What the policy at this position does in place of the one in force.
pub(in crate::whatif) fn instead(found: &WhatIf, i: usize) -> String {
    let (first, policy) = (&found.policies[0], &found.policies[i]);
    let success = &policy.differences[0];
    format!(
        "`{}` instead of `{}`{}: {} answered ({}); {}; {}; {}.",
        policy.name,
        first.name,
        if policy.nowhere_to_go { ", with nowhere to fail over to" } else { "" },
        difference(success.difference, success.ci95, Unit::Share),
        clear(found, success),
        moved(policy),
        costs(found, policy),
        impact(found, policy),
    )
}

/// The same of the policy that answers most, in a few words.
pub(in crate::whatif) fn briefly(found: &WhatIf) -> String {
    let (first, policy) = (&found.policies[0], &found.policies[found.candidate]);
    let success = &policy.differences[0];
    let more = success.difference.unwrap_or(0.0) >= 0.0;
    let size = difference(success.difference, success.ci95, Unit::Share);
    format!(
        "`{}` in place of `{}` answers {} {}{} ({}).",
        policy.name,
        first.name,
        size.trim_start_matches(['+', '-']),
        if more { "more" } else { "less" },
        if policy.nowhere_to_go { " with nowhere to fail over to" } else { "" },
        clear(found, success)
    )
}

/// Requests saved and lost.
pub(in crate::whatif) fn moved(policy: &PolicyFinding) -> String {
    policy.moved.as_ref().map_or(String::new(), |moved| {
        let count = |of: &Figure| figure(of, Unit::Count);
        format!("{} requests saved, {} lost", count(&moved.saved), count(&moved.lost))
    })
}

fn costs(found: &WhatIf, policy: &PolicyFinding) -> String {
    let Some(change) = &policy.bill.change else { return String::new() };
    match change.difference {
        None => "what it costs is not told".into(),
        Some(0.0) => "the bill is the same".into(),
        Some(more) => {
            let verb = if more < 0.0 { "falls by" } else { "rises by" };
            let size = difference(Some(more), change.ci95, Unit::Dollars);
            format!(
                "the bill {verb} {} ({})",
                size.trim_start_matches(['+', '-']),
                clear(found, change)
            )
        }
    }
}

fn impact(found: &WhatIf, policy: &PolicyFinding) -> String {
    let minutes = |of: &PolicyFinding| figure(&of.impact_minutes.figure, Unit::Count);
    format!(
        "{} minutes of impact instead of {} ({})",
        minutes(policy),
        minutes(&found.policies[0]),
        change(found, &policy.impact_minutes, Unit::Count)
    )
}

/// What the intervals are made of.
pub(in crate::whatif) fn intervals(found: &WhatIf) -> String {
    let refits = match found.refits {
        0 => "; what is assumed of the world is not in them".into(),
        refits => format!(", and {refits} refits to blocks of the log drawn anew"),
    };
    format!("Intervals are 95 %: {} worlds of luck{refits}.", found.worlds)
}
