//! When targets were bad, behind and below the charts over time.

use crate::page::{Shade, Strip};
use crate::whatif::bad_times::BadTime;
use crate::whatif::figures::Unit;
use crate::whatif::finding::WhatIf;
use crate::whatif::words::plain;

/// The faintest that anybody sees.
const FAINTEST: f64 = 0.4;

/// Where any target is bad, as dark as the worst of them.
pub(in crate::whatif) fn shades(found: &WhatIf) -> Vec<Shade> {
    let times = &found.bad_times;
    let mut cuts: Vec<f64> = times.iter().flat_map(|time| [time.from_s, time.to_s]).collect();
    cuts.sort_by(f64::total_cmp);
    cuts.dedup();
    let mut shades: Vec<Shade> = Vec::new();
    for ends in cuts.windows(2) {
        let (from, to) = (ends[0], ends[1]);
        let on = times.iter().filter(|time| time.from_s <= from && time.to_s >= to);
        let Some(depth) = on.map(depth).max_by(f64::total_cmp) else { continue };
        match shades.last_mut() {
            Some(last) if last.to == from && last.depth == depth => last.to = to,
            _ => shades.push(Shade { from, to, depth }),
        }
    }
    shades
}

/// The same for each target that was ever bad.
pub(in crate::whatif) fn strips(found: &WhatIf) -> Vec<Strip> {
    let of = |times: &[BadTime]| {
        let worst = times.iter().map(|time| time.failing).fold(0.0, f64::max);
        let slowest = times.iter().map(|time| time.speed).fold(1.0, f64::min);
        let mut what = Vec::new();
        if worst > 0.0 {
            what.push(format!("up to {} of its attempts fail", plain(Some(worst), Unit::Share)));
        }
        if slowest < 1.0 {
            what.push(format!("down to {:.0} % of its speed", 100.0 * slowest));
        }
        let shade = |time: &BadTime| Shade { from: time.from_s, to: time.to_s, depth: depth(time) };
        Strip {
            label: format!("{}: {}", times[0].target, what.join(", ")),
            shades: times.iter().map(shade).collect(),
        }
    };
    found.bad_times.chunk_by(|a, b| a.target == b.target).map(of).collect()
}

/// Shares of failures are mostly small: their root is told apart more easily.
fn depth(time: &BadTime) -> f64 {
    FAINTEST + (1.0 - FAINTEST) * libm::sqrt(time.severity())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_all_targets_is_behind_a_chart() {
        let time = |target: &str, from_s, to_s, failing| BadTime {
            target: target.into(),
            from_s,
            to_s,
            failing,
            speed: 1.0,
        };
        let times = vec![
            time("a", 0.0, 10.0, 0.16),
            time("a", 10.0, 20.0, 0.64),
            time("b", 5.0, 30.0, 0.36),
        ];
        let found = WhatIf { bad_times: times, ..crate::whatif::finding::empty() };
        // Roots of the shares, above the faintest.
        let shade = |from, to, root: f64| Shade { from, to, depth: 0.4 + 0.6 * root };
        let expected = [
            shade(0.0, 5.0, 0.4),
            shade(5.0, 10.0, 0.6),
            shade(10.0, 20.0, 0.8),
            shade(20.0, 30.0, 0.6),
        ];
        assert_eq!(shades(&found), expected);
        let strips = strips(&found);
        assert_eq!(strips.len(), 2);
        assert_eq!(strips[0].label, "a: up to 64 % of its attempts fail");
        assert_eq!(strips[1].shades, [shade(5.0, 30.0, 0.6)]);
    }
}
