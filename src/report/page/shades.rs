//! When incidents were on, over all worlds.

use windtunnel_policy::Instant;

use crate::page::Shade;
use crate::report::Report;
use crate::weather::Incident;

/// More changes than this are rounded to whole steps of the chart.
const MOST_EXACT: usize = 200;

/// The stretches of time in which incidents were on, each as dark as in many worlds. `step` is the
/// chart's, in seconds.
pub(super) fn shades(report: &Report<'_>, step: f64) -> Vec<Shade> {
    let worlds = &report.experiment.incidents;
    let horizon = seconds(Instant::ZERO + report.scenario.file.horizon);
    let many = worlds.iter().map(Vec::len).sum::<usize>() * 2 > MOST_EXACT;
    let at = |instant: Instant| {
        let exact = seconds(instant).min(horizon);
        if many { libm::round(exact / step) * step } else { exact }
    };
    // A world's incidents that overlap count once.
    let mut changes: Vec<(f64, i32)> = Vec::new();
    for incidents in worlds {
        for (from, to) in joined(incidents) {
            changes.extend([(at(from), 1), (at(to), -1)]);
        }
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut shades: Vec<Shade> = Vec::new();
    let mut on = 0;
    for pair in changes.windows(2) {
        on += pair[0].1;
        let (from, to) = (pair[0].0, pair[1].0);
        if on > 0 && to > from {
            shades.push(Shade { from, to, depth: f64::from(on) / worlds.len() as f64 });
        }
    }
    shades
}

/// The incidents by name, with when they were on, in a sentence; nothing where there were none.
pub(super) fn in_words(report: &Report<'_>, clock: impl Fn(f64) -> String) -> String {
    let worlds = &report.experiment.incidents;
    let Some(first) = worlds.first().filter(|first| !first.is_empty()) else {
        let any = worlds.iter().any(|incidents| !incidents.is_empty());
        return if any {
            "Shaded: incidents, darkest where every world has one.".into()
        } else {
            String::new()
        };
    };
    if worlds.iter().any(|incidents| incidents != first) {
        let mut names: Vec<&str> = worlds.iter().flatten().map(|i| i.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let names = names.join(", ");
        return format!("Shaded: incidents ({names}), darkest where every world has one.");
    }
    const MOST: usize = 6;
    let one =
        |i: &Incident| format!("{} ({}–{})", i.name, clock(seconds(i.from)), clock(seconds(i.to)));
    let mut named: Vec<String> = first.iter().take(MOST).map(one).collect();
    if first.len() > MOST {
        named.push(format!("and {} more", first.len() - MOST));
    }
    format!("Shaded: {}.", named.join(", "))
}

/// Incidents that overlap made one, in order.
fn joined(incidents: &[Incident]) -> Vec<(Instant, Instant)> {
    let mut spans: Vec<(Instant, Instant)> = incidents.iter().map(|i| (i.from, i.to)).collect();
    spans.sort_unstable();
    spans.dedup_by(|next, last| {
        let overlaps = next.0 <= last.1;
        if overlaps {
            last.1 = last.1.max(next.1);
        }
        overlaps
    });
    spans
}

fn seconds(at: Instant) -> f64 {
    at.as_micros() as f64 / 1e6
}
