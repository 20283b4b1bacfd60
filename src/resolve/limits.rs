//! Limits as shared objects: targets whose scope is the same draw on the same one.

use std::collections::BTreeMap;

use windtunnel_policy::{Duration, Share};

use super::frame::LONGEST;
use super::id;
use super::targets::Resolved;
use crate::input::{InputError, Place};
use crate::scenario::{
    LimitModel, LimitScope, LimitSpec, LimitUnit, RetryAfterForm, Settlement, TargetModel,
};

/// No target has more.
const MOST_LIMITS: usize = 32;

/// Makes one object of the limits of the same scope, unit and window, and tells each target which
/// ones it draws on.
///
/// # Errors
/// Targets state different figures for one object.
pub(super) fn share(targets: &mut [Resolved<'_>]) -> Result<Vec<LimitModel>, InputError> {
    let mut shared: Vec<LimitModel> = Vec::new();
    let mut known: BTreeMap<(String, Duration), usize> = BTreeMap::new();
    for (position, target) in targets.iter_mut().enumerate() {
        for (i, spec) in target.limits.iter().enumerate() {
            let name = name(&target.model, spec);
            let found = *known.entry((name.clone(), spec.window)).or_insert(shared.len());
            if found == shared.len() {
                shared.push(LimitModel { name, spec: spec.clone(), targets: Vec::new() });
            }
            let limit = &mut shared[found];
            if limit.spec != *spec {
                let message = format!("differs from another target's for {}", limit.name);
                let fix = "it is one limit that both share: state the same figures";
                return Err(target.limits_at.index(i).error(message).fix(fix));
            }
            limit.targets.push(id(position));
            let number = u16::try_from(found).expect("256 targets have at most 32 limits each");
            target.model.limits.push(number);
        }
    }
    Ok(shared)
}

/// Checks one target's or card's limits.
pub(super) fn check(limits: &[LimitSpec], at: &Place<'_>) -> Result<(), InputError> {
    if limits.len() > MOST_LIMITS {
        return Err(at.error(format!("{} are more than {MOST_LIMITS}", limits.len())));
    }
    for (i, spec) in limits.iter().enumerate() {
        figures(spec, &at.index(i))?;
        let same = |other: &LimitSpec| {
            (other.scope, other.unit, other.window) == (spec.scope, spec.unit, spec.window)
        };
        if limits[..i].iter().any(same) {
            let message = "an earlier limit has the same scope, unit and window";
            return Err(at.index(i).error(message).fix("keep one of them"));
        }
    }
    Ok(())
}

fn figures(spec: &LimitSpec, at: &Place<'_>) -> Result<(), InputError> {
    // Products with a window in µs stay within 128 bits, and no provider's limit comes near.
    super::blocks::between(spec.limit, 1, 1_000_000_000_000, &at.key("limit"))?;
    if spec.window.is_zero() {
        return Err(at.key("window").error("is zero").fix("leave it out for 60s"));
    }
    if spec.window > LONGEST {
        return Err(at.key("window").error("is longer than 400d"));
    }
    if spec.background == Share::ONE {
        return Err(at.key("background").error("leaves nothing").fix("stay below 100%"));
    }
    if let RetryAfterForm::Fixed(wait) = spec.retry_after
        && wait > LONGEST
    {
        return Err(at.key("retry_after").error("is longer than 400d"));
    }
    let tokens = matches!(
        spec.unit,
        LimitUnit::InputTokens | LimitUnit::OutputTokens | LimitUnit::TotalTokens
    );
    if !tokens && spec.settlement != Settlement::None {
        let message = format!("a limit of {} is not settled", unit(spec.unit));
        return Err(at.key("settlement").error(message).fix("leave it out"));
    }
    Ok(())
}

/// Names the object: two limits are one where this and the window are the same.
fn name(target: &TargetModel, spec: &LimitSpec) -> String {
    let mut parts = vec![target.provider.as_str(), &target.account];
    match spec.scope {
        LimitScope::Account => {}
        LimitScope::Model => parts.push(&target.model),
        LimitScope::Region => parts.extend([target.model.as_str(), &target.region]),
        LimitScope::Deployment => {
            parts.extend([target.model.as_str(), &target.region, &target.deployment]);
        }
    }
    format!("{} {}", parts.join(" / "), unit(spec.unit))
}

const fn unit(unit: LimitUnit) -> &'static str {
    match unit {
        LimitUnit::Requests => "requests",
        LimitUnit::InputTokens => "input tokens",
        LimitUnit::OutputTokens => "output tokens",
        LimitUnit::TotalTokens => "total tokens",
        LimitUnit::Concurrency => "concurrency",
        LimitUnit::DayQuota => "day quota",
    }
}
