//! A note where a limit charges calls an output that nobody asked for.

use crate::scenario::{
    Arrivals, Charge, ClassModel, LimitModel, LimitUnit, ScenarioFile, Settlement, TargetModel,
    TraceLayout, TraceUse,
};

use super::traffic::Load;

/// Classes that state no `max_output`, and whose primary target charges its own maximum to a limit
/// that then cannot carry the traffic.
pub(super) fn notes(
    file: &ScenarioFile,
    classes: &[ClassModel],
    loads: &[Load],
    targets: &[&TargetModel],
    limits: &[LimitModel],
) -> Vec<String> {
    let mut notes = Vec::new();
    for (class, load) in classes.iter().zip(loads) {
        let traffic = &file.classes[&class.name].traffic;
        let stated = traffic.tokens.as_ref().is_some_and(|tokens| tokens.max_output.is_some());
        if stated || in_trace(&traffic.arrivals) {
            continue;
        }
        let target = targets[usize::from(class.reference.0)];
        let charged = target.max_output_tokens;
        let offered = 60.0 * load.expected / seconds(file.horizon);
        let limits = target.limits.iter().map(|limit| &limits[usize::from(*limit)]);
        for limit in limits.filter(|limit| charges_maximum(limit)) {
            let windows = 60.0 / seconds(limit.spec.window);
            let fits = limit.spec.limit as f64 * windows / f64::from(charged.max(1));
            if fits < offered {
                notes.push(format!(
                    "class {} states no max_output: {} charges each call its maximum, {charged} \
                     tokens, so that {fits:.0} a minute fit of the {offered:.0} offered ({}); set \
                     tokens.max_output",
                    class.name, target.name, limit.name,
                ));
            }
        }
    }
    notes
}

fn in_trace(arrivals: &Arrivals) -> bool {
    matches!(
        arrivals,
        Arrivals::Trace(TraceUse { layout: TraceLayout::Columns(columns), .. })
            if columns.max_output_tokens.is_some()
    )
}

fn charges_maximum(limit: &LimitModel) -> bool {
    let spec = &limit.spec;
    matches!(spec.unit, LimitUnit::OutputTokens | LimitUnit::TotalTokens)
        && spec.charge == Charge::PromptAndMax
        && spec.settlement == Settlement::None
}

fn seconds(length: windtunnel_policy::Duration) -> f64 {
    length.as_micros().max(1) as f64 / 1e6
}
