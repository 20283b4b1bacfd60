//! Limits on time against each other: what a deadline always eats.

use windtunnel_policy::Duration;
use windtunnel_policy::config::{BudgetScope, Jitter, RetryAfterMode};

use super::Warnings;

/// Against this deadline, which is called `name`.
pub(super) fn check(warnings: &mut Warnings<'_>, deadline: Option<Duration>, name: &str) {
    attempts_that_time_out(warnings, deadline, name);
    waits(warnings, deadline, name);
    limits_that_never_end_an_attempt(warnings, deadline, name);
    estimate(warnings, deadline, name);
    hedge(warnings, deadline, name);
    wait_hints(warnings);
}

/// "Three attempts of 10 s in a deadline of 15 s."
fn attempts_that_time_out(warnings: &mut Warnings<'_>, deadline: Option<Duration>, name: &str) {
    let (policy, retries) = (warnings.policy, warnings.retries());
    let (Some(deadline), Some(timeout)) = (deadline, policy.timeouts.attempt) else { return };
    let attempts = match (policy.attempts.scope, warnings.leaves_target()) {
        (BudgetScope::Request, true) => policy.attempts.max,
        // What counts anew elsewhere is held against the clock for the first target only.
        _ => retries + 1,
    };
    if timeout >= deadline || attempts < 2 {
        return;
    }
    let mut used = Duration::ZERO;
    let mut fit = 0;
    for number in 0..attempts {
        let waited = if number > 0 && number <= retries {
            least_wait(warnings, number - 1)
        } else {
            Duration::ZERO
        };
        used = used + waited + timeout;
        if used > deadline {
            break;
        }
        fit += 1;
    }
    if fit < attempts {
        let message = format!(
            "{attempts} attempts of {timeout} do not fit {name} of {deadline}: where attempts time \
             out, {fit} can run to their end"
        );
        warnings.add("timeouts.attempt", message, "shorten it, or lower attempts.max");
    }
}

/// Retries whose least wait is too long, whatever is drawn.
fn waits(warnings: &mut Warnings<'_>, deadline: Option<Duration>, name: &str) {
    let envelope = &warnings.policy.envelope;
    let needed = envelope.min_useful + envelope.safety_margin;
    let mut limits = vec![(deadline.map(|d| d.saturating_sub(needed)), name.to_owned())];
    limits.push((envelope.max_added_latency, "envelope.max_added_latency".to_owned()));
    for (limit, name) in limits {
        let Some(limit) = limit else { continue };
        let mut waited = Duration::ZERO;
        for retry in 0..warnings.retries() {
            waited += least_wait(warnings, retry);
            if waited > limit {
                let message = format!(
                    "retry {} waits until {waited} after the first failure at the least, which {name} \
                     never leaves",
                    retry + 1
                );
                warnings.add(
                    "backoff.base",
                    message,
                    "shorten it, or lower attempts.max_same_target",
                );
                break;
            }
        }
    }
}

/// The shortest wait that may be drawn before this retry, counted from 0.
fn least_wait(warnings: &Warnings<'_>, retry: u16) -> Duration {
    let backoff = &warnings.policy.backoff;
    // With no wait before it, the smallest draw gives the shortest; of what is taken off, the largest.
    let draw = if matches!(backoff.jitter, Jitter::Subtractive(_)) { u64::MAX } else { 0 };
    backoff.delay(retry.into(), Duration::ZERO, draw)
}

fn limits_that_never_end_an_attempt(
    warnings: &mut Warnings<'_>,
    deadline: Option<Duration>,
    name: &str,
) {
    let timeouts = &warnings.policy.timeouts;
    let attempt = timeouts.attempt;
    let fields = [
        (timeouts.first_token, "timeouts.first_token"),
        (timeouts.idle_stream, "timeouts.idle_stream"),
    ];
    for (limit, field) in fields {
        let Some(limit) = limit else { continue };
        if attempt == Some(limit) {
            let message =
                format!("is as long as timeouts.attempt, {limit}, which ends the attempt");
            warnings.add(field, message, "make it shorter, or leave it out");
        } else if let Some(deadline) = deadline.filter(|deadline| limit >= *deadline) {
            let message = format!("{limit} never ends an attempt before {name} of {deadline}");
            warnings.add(field, message, "make it shorter, or leave it out");
        }
    }
    let most = warnings.policy.envelope.max_added_latency;
    if let (Some(most), Some(deadline)) = (most, deadline)
        && most >= deadline
    {
        let message = format!("{most} never binds before {name} of {deadline}");
        warnings.add("envelope.max_added_latency", message, "make it shorter, or leave it out");
    }
    let own = warnings.policy.envelope.deadline_total;
    if let (Some(attempt), Some(own)) = (attempt, own)
        && attempt >= own
    {
        let message =
            format!("{attempt} never ends an attempt before envelope.deadline_total of {own}");
        warnings.add("timeouts.attempt", message, "make it shorter, or leave it out");
    }
}

/// A prior that refuses every recovery until answers were seen.
fn estimate(warnings: &mut Warnings<'_>, deadline: Option<Duration>, name: &str) {
    let envelope = &warnings.policy.envelope;
    let estimate = &envelope.estimate;
    let recovers = warnings.retries() > 0 || warnings.leaves_target();
    let (Some(prior), Some(deadline), true, true) =
        (estimate.prior, deadline, estimate.enabled, recovers)
    else {
        return;
    };
    let cut = warnings.policy.timeouts.attempt.unwrap_or(Duration::MAX);
    if prior.min(cut) + envelope.safety_margin >= deadline {
        let message = format!(
            "{prior} does not fit {name} of {deadline}: until {} outcomes were seen at a target, no \
             recovery goes there",
            estimate.min_samples
        );
        warnings.add("envelope.estimate.prior", message, "state what an attempt usually takes");
    }
}

/// A hedge that its attempt never lives to see.
fn hedge(warnings: &mut Warnings<'_>, deadline: Option<Duration>, name: &str) {
    let Some(hedge) = &warnings.policy.hedge else { return };
    let attempt = warnings.policy.timeouts.attempt.map(|limit| (limit, "timeouts.attempt"));
    let ends = attempt.into_iter().chain(deadline.map(|deadline| (deadline, name)));
    let Some((end, name)) = ends.min().filter(|(end, _)| hedge.at_least >= *end) else { return };
    let message = format!("{} never passes before {name} of {end}", hedge.at_least);
    warnings.add("hedge.at_least", message, "make it shorter, or remove the hedge");
}

fn wait_hints(warnings: &mut Warnings<'_>) {
    let retry_after = &warnings.policy.retry_after;
    let Some(longest) = retry_after.longest_wait else { return };
    match retry_after.mode {
        RetryAfterMode::Ignore => {
            let message = "is never used: retry_after.mode ignores every hint".to_owned();
            warnings.add("retry_after.longest_wait", message, "leave it out, or honour the hints");
        }
        RetryAfterMode::CapAt(cap) if cap <= longest => {
            let message = format!("{longest} never binds: every hint is cut to {cap} before");
            warnings.add("retry_after.longest_wait", message, "make it shorter, or leave it out");
        }
        _ => {}
    }
}
