//! What operators do in one world: the same whatever the policy does.

use rand::Rng;
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant};

use crate::draw::{NameHash, Purpose, stream, unit};
use crate::scenario::{OperatorSpec, OperatorWhen, Range, Scenario, Switch};
use crate::weather::{Incident, Weather, hit_targets, within_range};

/// A kill switch is thrown or put back, at every gateway.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KillSwitch {
    /// When.
    pub at: Instant,
    /// The target; `None` for all recovery.
    pub target: Option<TargetId>,
    /// True to take it out.
    pub off: bool,
}

/// All that operators do until `until`, in order. Where several hold a switch, it is put back when the
/// last lets go.
pub(super) fn switches(
    scenario: &Scenario,
    weather: &Weather,
    seed: u64,
    resample: bool,
    until: Instant,
) -> Vec<KillSwitch> {
    let mut held: Vec<(Option<TargetId>, Instant, Instant)> = Vec::new();
    for spec in &scenario.file.operators {
        let targets: Vec<Option<TargetId>> = match &spec.switch {
            Switch::Recovery => vec![None],
            Switch::Targets(domain) => {
                hit_targets(scenario, domain).into_iter().map(|t| Some(TargetId(t))).collect()
            }
        };
        for (from, to) in spans(spec, weather, seed, resample) {
            held.extend(targets.iter().map(|&target| (target, from, to)));
        }
    }
    held.retain(|&(_, from, to)| from < to);
    held.sort_unstable();
    let mut all: Vec<KillSwitch> = Vec::new();
    let mut open: Option<(Option<TargetId>, Instant, Instant)> = None;
    let mut let_go = |(target, from, to): (Option<TargetId>, Instant, Instant)| {
        all.push(KillSwitch { at: from, target, off: true });
        all.push(KillSwitch { at: to, target, off: false });
    };
    for (target, from, to) in held {
        open = match open {
            Some((same, since, reaches)) if same == target && from <= reaches => {
                Some((target, since, reaches.max(to)))
            }
            earlier => {
                earlier.into_iter().for_each(&mut let_go);
                Some((target, from, to))
            }
        };
    }
    open.into_iter().for_each(&mut let_go);
    all.retain(|switch| switch.at < until);
    all.sort_by_key(|switch| (switch.at, switch.target));
    all
}

/// When an operator holds the switch.
fn spans(
    spec: &OperatorSpec,
    weather: &Weather,
    seed: u64,
    resample: bool,
) -> Vec<(Instant, Instant)> {
    let mut draws = stream(seed, Purpose::Operator, NameHash::of(&spec.name));
    let mut time = |range: &Range<Duration>| {
        let at = unit(draws.next_u64());
        if resample { within_range(range.from, range.to, at) } else { range.from }
    };
    match &spec.when {
        OperatorWhen::Window { from, lasts } => {
            let from = Instant::ZERO + time(from);
            vec![(from, from + time(lasts))]
        }
        OperatorWhen::Incident { weather: entry, after, back_after } => {
            let incidents = weather.incidents.iter().filter(|incident| incident.name == *entry);
            let span = |incident: &Incident| {
                let (after, back_after) = (time(after), time(back_after));
                let thrown = incident.from + after;
                // One that is over before anybody has acted needs nobody.
                (thrown < incident.to).then(|| (thrown, incident.to + back_after))
            };
            incidents.filter_map(span).collect()
        }
    }
}
