//! The answer in a few sentences.

use super::Section;
use super::believed::reproduced;
use crate::whatif::figures::Unit;
use crate::whatif::finding::{Logged, WhatIf};
use crate::whatif::policy::PolicyFinding;
use crate::whatif::words::{clear, difference, figure, plain, requests};

/// The answer in a few sentences; that it does not reproduce goes first.
pub(super) fn summary(found: &WhatIf) -> Section {
    let mut sentences: Vec<String> = reproduced(found).or(unheld(found)).into_iter().collect();
    sentences.extend((1..found.policies.len()).map(|i| instead(found, i)));
    sentences.push(intervals(found));
    Section { title: "Summary".into(), sentences, ..Section::default() }
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
pub(in crate::whatif) fn intervals(found: &WhatIf) -> String {
    let refits = match found.refits {
        0 => "; what is assumed of the world is not in them".into(),
        refits => format!(", and {refits} refits to blocks of the log drawn anew"),
    };
    format!("Intervals are 95 %: {} worlds of luck{refits}.", found.worlds)
}
