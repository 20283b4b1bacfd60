//! The policies beside each other: what matters most with its interval, and how requests ended.

use super::{axis, drawn};
use crate::experiment::{Ranking, Setting};
use crate::measures::Better;
use crate::page::{BarChart, BarRow, Block, DotChart, DotPanel, DotRow, Section, Tone};
use crate::report::Report;
use crate::report::format::figure;
use crate::report::table::{SETTINGS, stickiness_verdict};
use crate::stats::{Dimension, Estimate};

/// The measures that are drawn.
const DRAWN: [&str; 6] = [
    "success",
    "attempts_per_request",
    "added_latency_p99",
    "latency_p99",
    "cost_per_1k",
    "wasted_cost_share",
];

/// The ways to end, in words, and whether they are good.
const ENDINGS: [(&str, &str, Tone); 14] = [
    ("raw_success", "first attempt", Tone::Good),
    ("recovered_by_retry", "retry", Tone::Good),
    ("recovered_by_failover", "failover", Tone::Good),
    ("recovered_by_substitution", "substitution", Tone::Good),
    ("recovered_by_hedge", "hedge", Tone::Good),
    ("recovered_by_resend", "sent again from outside", Tone::Good),
    ("exhausted", "exhausted", Tone::Bad),
    ("deadline_exhausted", "deadline", Tone::Bad),
    ("policy_stop", "stopped by the policy", Tone::Bad),
    ("no_eligible_target", "no target", Tone::Bad),
    ("partial_output", "broke off", Tone::Bad),
    ("silent_failure", "broke its contract", Tone::Bad),
    ("cancelled", "caller left", Tone::Bad),
    ("turned_away", "turned away", Tone::Bad),
];

pub(super) fn section(report: &Report<'_>) -> Section {
    let title = if report.findings.policies.len() == 1 { "Figures" } else { "By policy" };
    let panels = DRAWN.iter().filter_map(|name| panel(report, name));
    let dots = DotChart {
        title: "What matters most".into(),
        about: "Values with their 95 % intervals. Axes begin where the values do, not at zero."
            .into(),
        panels: panels.collect(),
    };
    Section::new(title, vec![Block::Dots(dots), Block::Bars(endings(report))])
}

fn panel(report: &Report<'_>, name: &str) -> Option<DotPanel> {
    let row = report.position(name)?;
    let measure = &report.catalogue.measures()[row];
    let policies = report.findings.policies.iter().enumerate();
    let rows = policies.map(|(of, policy)| dot(of, &policy.figures[row], measure.dimension));
    let rows: Vec<DotRow> = rows.collect();
    if rows.iter().all(|row| row.value.is_none()) {
        return None;
    }
    let note = match measure.better {
        Better::Higher => format!("{}; higher is better", measure.describes),
        Better::Lower => format!("{}; lower is better", measure.describes),
        Better::Neither => measure.describes.clone(),
    };
    Some(DotPanel { axis: axis(&*measure.name, measure.dimension), note, rows })
}

fn dot(of: usize, estimate: &Estimate, dimension: Dimension) -> DotRow {
    let (_, factor) = drawn(dimension);
    DotRow {
        of,
        value: estimate.value.map(|value| value * factor),
        interval: estimate.ci95.map(|(lo, hi)| (lo * factor, hi * factor)),
        shown: figure(estimate, dimension),
    }
}

/// What became of all requests, as shares.
fn endings(report: &Report<'_>) -> BarChart {
    let share = |name: &str, policy: usize| report.value(name, policy).unwrap_or(0.0);
    let policies = report.findings.policies.len();
    let occurs = |name: &str| (0..policies).any(|policy| share(name, policy) > 0.0);
    let kept: Vec<_> = ENDINGS.iter().filter(|(name, ..)| occurs(name)).collect();
    let row = |of| BarRow { of, shares: kept.iter().map(|(name, ..)| share(name, of)).collect() };
    BarChart {
        title: "How requests ended".into(),
        about:
            "In blue and green what was answered, by the action that did it; in brown what was not."
                .into(),
        parts: kept.iter().map(|(_, words, tone)| ((*words).into(), *tone)).collect(),
        rows: (0..policies).map(row).collect(),
    }
}

/// Success where failures stick less, as declared, and more.
pub(super) fn stickiness(report: &Report<'_>, ranking: &Ranking) -> Section {
    let panels = (0..Setting::ALL.len()).map(|setting| {
        let rows = ranking.success.iter().enumerate();
        let rows = rows.map(|(of, success)| dot(of, &success[setting], Dimension::Share));
        let axis = axis(SETTINGS[setting], Dimension::Share);
        DotPanel { axis, note: String::new(), rows: rows.collect() }
    });
    let chart = DotChart {
        title: "Success by stickiness of failures".into(),
        about: stickiness_verdict(ranking),
        panels: panels.collect(),
    };
    let text = format!(
        "How far failures stick to their request decides what a retry is worth. Nobody publishes it, \
         so {} was also run at both extremes.",
        if report.findings.policies.len() == 2 { "each of the two" } else { "every policy" },
    );
    Section::new("Stickiness", vec![Block::Text(text), Block::Dots(chart)])
}
