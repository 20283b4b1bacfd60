//! Tools that write.

use windtunnel_policy::Share;
use windtunnel_policy::target::SideEffects;

use super::blocks::dist;
use crate::input::{InputError, Place};
use crate::scenario::{ClassSpec, ToolModel};

/// Looks at a record take this long at least, on average: lest they fill an instant.
const SHORTEST_LOOK_MICROS: f64 = 1_000.0;

/// The tool of a class, where it has one.
pub(super) fn resolve(spec: &ClassSpec, at: &Place<'_>) -> Result<Option<ToolModel>, InputError> {
    let Some(tools) = &spec.tools else { return Ok(None) };
    let at = at.key("tools");
    if spec.side_effects != SideEffects::WritePossible {
        let fix = "add `side_effects: write_possible` to the class";
        return Err(at.error("are tools that write, in a class that does not").fix(fix));
    }
    if tools.calls == Share::ZERO {
        return Err(at.key("calls").error("is zero").fix("leave the tool out"));
    }
    let look_at = at.key("reconciliation").key("takes");
    let look = dist(&tools.reconciliation.takes, &look_at)?;
    if look.mean() < SHORTEST_LOOK_MICROS {
        let fix = "asking a record takes milliseconds at least";
        return Err(look_at.error("the mean is below 1ms").fix(fix));
    }
    Ok(Some(ToolModel {
        at: tools.at,
        takes: dist(&tools.takes, &at.key("takes"))?,
        failures: tools.failures,
        deduplicates: tools.deduplicates,
        look,
        unknown: tools.reconciliation.unknown,
    }))
}
