//! Scenarios in which no policy could answer: every figure of theirs would be about failures.

use windtunnel_policy::Duration;
use windtunnel_policy::target::{RouteClass, TargetId};

use crate::input::{InputError, Place};
use crate::scenario::Scenario;

/// Draws in this part of the lower tail are too rare to save a class.
const RARE: u64 = u64::MAX / 100;
/// The median's draw.
const HALF: u64 = 1 << 63;

/// Deadlines that come before any first token, and prompts beyond every window.
pub(super) fn check(scenario: &Scenario) -> Vec<InputError> {
    let at = Place::root(&scenario.source).key("classes");
    let mut found = Vec::new();
    for class in &scenario.topology.classes {
        let at = at.key(&class.name);
        found.extend(too_soon(scenario, class, &at));
        found.extend(too_long(scenario, class, &at));
    }
    found
}

fn members(class: &RouteClass) -> impl Iterator<Item = TargetId> {
    class.groups.iter().flat_map(|group| group.targets.iter().copied())
}

/// No target of the class begins to answer before the answer is due, but for one time in a hundred.
fn too_soon(scenario: &Scenario, class: &RouteClass, at: &Place<'_>) -> Option<InputError> {
    let soonest = |id: TargetId| {
        let latency = &scenario.targets[usize::from(id.0)].latency;
        // The shortest prompt saves the time of all the tokens it was measured at.
        let saved = latency.per_prompt_token.saturating_mul(latency.prompt_tokens.into());
        Duration::from_micros(latency.first_token.sample(RARE)).saturating_sub(saved)
    };
    let soonest = members(class).map(soonest).min()?;
    let (total, first) = (class.deadline_total, class.deadline_first_output);
    let (field, deadline) = if total <= first { ("total", total) } else { ("first_output", first) };
    if deadline >= soonest {
        return None;
    }
    let message = format!(
        "{deadline} is over before a target of the class begins to answer: 99 of 100 first tokens take \
         {soonest} and longer"
    );
    let fix = "hardly anything can be answered, whatever the policy; is a unit wrong?";
    Some(at.key("deadline").key(field).error(message).fix(fix))
}

/// Half of the prompts, or more, fit no target of the class.
fn too_long(scenario: &Scenario, class: &RouteClass, at: &Place<'_>) -> Option<InputError> {
    let spec = &scenario.file.classes[&class.name].traffic;
    let input = spec.tokens.as_ref()?.input.as_ref()?.dist().ok()?;
    let window = |id: TargetId| scenario.topology.targets[usize::from(id.0)].context_tokens;
    let widest = members(class).map(window).max()?;
    let median = input.sample(HALF);
    if median <= u64::from(widest) {
        return None;
    }
    let message = format!(
        "half of the prompts have {median} tokens and more, and the widest window of the class's targets \
         holds {widest}: no policy can have them answered"
    );
    let at = at.key("traffic").key("tokens").key("input");
    Some(
        at.error(message)
            .fix("name a target with a larger `context_tokens`, or shorten the prompts"),
    )
}
