//! Retry loops outside the gateway and behind it.

use windtunnel_policy::Duration;
use windtunnel_policy::config::{Backoff, Policy, RetryAfter, RetryAfterSource};

use super::blocks::between;
use crate::input::{InputError, Place};
use crate::scenario::{ClassSpec, Layer, OuterLayer, RetriesSpec, TargetModel, UpstreamProxy};

/// The layers outside the gateway, the outermost first: of one that does not own the retries of its
/// class, a single try.
pub(super) fn outer(
    spec: &ClassSpec,
    targets: &[&TargetModel],
    at: &Place<'_>,
) -> Result<[Option<OuterLayer>; 2], InputError> {
    for (layer, name) in [(&spec.application, Layer::Application), (&spec.sdk, Layer::Sdk)] {
        if let Some(layer) = layer {
            check(layer, &at.key(name.name()))?;
        }
    }
    let owner = match &spec.retries {
        Some(retries) => owner(spec, retries, targets, &at.key("retries"))?,
        None => None,
    };
    let kept = |layer: &Option<OuterLayer>, name| {
        layer.clone().map(|layer| match owner {
            Some(owner) if owner != name => OuterLayer { attempts: 1, ..layer },
            _ => layer,
        })
    };
    Ok([kept(&spec.application, Layer::Application), kept(&spec.sdk, Layer::Sdk)])
}

/// Who owns the retries: a layer that is there.
fn owner(
    spec: &ClassSpec,
    retries: &RetriesSpec,
    targets: &[&TargetModel],
    at: &Place<'_>,
) -> Result<Option<Layer>, InputError> {
    if *retries == RetriesSpec::default() {
        let fix = "add `owner` or `attempts`, or leave `retries` out";
        return Err(at.error("says nothing").fix(fix));
    }
    if retries.attempts == Some(0) {
        return Err(at.key("attempts").error("must be at least 1"));
    }
    let Some(owner) = retries.owner else { return Ok(None) };
    let (there, fix) = match owner {
        Layer::Application => (spec.application.is_some(), "add `application: {}` to the class"),
        Layer::Sdk => (spec.sdk.is_some(), "add `sdk: {}` to the class"),
        Layer::Gateway => (true, ""),
        Layer::UpstreamProxy => (
            targets.iter().any(|target| target.upstream_proxy.is_some()),
            "add `upstream_proxy: {}` to a target",
        ),
    };
    match there {
        true => Ok(Some(owner)),
        false => {
            let message = format!("`{}` is not there", owner.name());
            Err(at.key("owner").error(message).fix(fix))
        }
    }
}

fn check(layer: &OuterLayer, at: &Place<'_>) -> Result<(), InputError> {
    tries(layer.attempts, &at.key("attempts"))?;
    for (i, status) in layer.repeats.iter().enumerate() {
        if !(400..=599).contains(status) {
            let message = format!("expected a failure's status, found {status}");
            return Err(at.key("repeats").index(i).error(message).fix("use 400 to 599"));
        }
    }
    if layer.timeout == Some(Duration::ZERO) {
        return Err(at.key("timeout").error("is zero").fix("leave it out for no limit"));
    }
    waits(&layer.backoff, &layer.retry_after, at)
}

/// Checks a proxy behind the gateway.
pub(super) fn proxy(proxy: &UpstreamProxy, at: &Place<'_>) -> Result<(), InputError> {
    tries(proxy.attempts, &at.key("attempts"))?;
    for (i, status) in proxy.repeats.iter().enumerate() {
        if !matches!(status, 0 | 400..=599) {
            let message = format!("expected a failure's status, found {status}");
            let fix = "use 400 to 599, or 0 for a broken connection";
            return Err(at.key("repeats").index(i).error(message).fix(fix));
        }
    }
    waits(&proxy.backoff, &RetryAfter::default(), at)
}

fn tries(attempts: u8, at: &Place<'_>) -> Result<(), InputError> {
    between(attempts.into(), 1, 16, at)
}

/// Waits are those of a policy, less what only a gateway can do.
fn waits(backoff: &Backoff, retry_after: &RetryAfter, at: &Place<'_>) -> Result<(), InputError> {
    let policy =
        Policy { backoff: backoff.clone(), retry_after: retry_after.clone(), ..Policy::default() };
    if let Err(problems) = policy.validate() {
        let problem = &problems[0];
        let error = at.path(&problem.field).error(problem.message.as_str());
        return Err(error.fix(problem.fix.as_str()));
    }
    let fix = "leave it out: this layer has one place to send to";
    for (asked, field) in
        [(backoff.before_failover, "before_failover"), (backoff.after_last, "after_last")]
    {
        if asked {
            return Err(at.key("backoff").key(field).error("is a gateway's alone").fix(fix));
        }
    }
    if retry_after.source != RetryAfterSource::Latest {
        return Err(at.key("retry_after").key("source").error("is a gateway's alone").fix(fix));
    }
    Ok(())
}
