//! Retry loops outside the gateway and behind it.

use windtunnel_policy::Duration;
use windtunnel_policy::config::{Backoff, Policy, RetryAfter, RetryAfterSource};

use super::blocks::between;
use crate::input::{InputError, Place};
use crate::scenario::{ClassSpec, Layer, OuterLayer, UpstreamProxy};

/// The layers outside the gateway, the outermost first.
pub(super) fn outer(
    spec: &ClassSpec,
    at: &Place<'_>,
) -> Result<[Option<OuterLayer>; 2], InputError> {
    for (layer, name) in [(&spec.application, Layer::Application), (&spec.sdk, Layer::Sdk)] {
        if let Some(layer) = layer {
            check(layer, &at.key(name.name()))?;
        }
    }
    Ok([spec.application.clone(), spec.sdk.clone()])
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
