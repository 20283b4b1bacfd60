//! Drills 2 and 9: when to send again, and when it is too late to.

use windtunnel_policy::config::{Blame, CooldownRule};
use windtunnel_policy::outcome::FailureClass;
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant};

use super::advice::{self, NO_FAILOVER};
use super::evidence::{Case, Evidence};
use super::finding::{Breach, Finding, Rule, Sight, each, not_applicable, together};
use super::rules;
use crate::record::AttemptRow;
use crate::world::WorldRequest;

/// Without a hint, resends wait this long at least, on average: full jitter on the default base
/// makes 125 ms, and whoever sends again at once makes nothing.
const SOME_WAIT: Duration = Duration::from_millis(50);

const NOTHING_AGAIN: &str = "the policy sent nothing again to a target at its limit";

/// Drill 2.
pub(super) fn rate_limit(evidence: &Evidence<'_>) -> Vec<Finding> {
    vec![
        waits_are_kept(evidence, "short-wait"),
        long_waits_are_kept(evidence),
        waits_without_a_hint(evidence),
        left_in_peace(evidence),
    ]
}

fn waits_are_kept(evidence: &Evidence<'_>, class: &str) -> Finding {
    let rule = rules::WAITS;
    hint_is_kept(evidence, rule, class)
}

fn long_waits_are_kept(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::LONG_WAITS;
    hint_is_kept(evidence, rule, "long-wait")
}

fn hint_is_kept(evidence: &Evidence<'_>, rule: Rule, class: &str) -> Finding {
    let look = |case: &Case<'_>| {
        let mut sight = Sight::Nothing;
        for (before, after) in case.resends() {
            let Some(hint) = hint(evidence, before) else { continue };
            sight = Sight::Kept;
            if after.sent < before.ended + hint {
                let waited = after.sent.since(before.ended);
                let target = &evidence.target(after.target).name;
                return Sight::Broken(format!(
                    "sent to `{target}` again {waited} after it asked for {hint}"
                ));
            }
        }
        sight
    };
    let change = |_: &Case<'_>| advice::to_wait(evidence.policy);
    let otherwise = NOTHING_AGAIN;
    each(rule, evidence.of(class), look, change, otherwise)
}

/// The wait that this attempt's failure asked for, as the drill's weather says.
fn hint(evidence: &Evidence<'_>, row: &AttemptRow) -> Option<Duration> {
    if row.failure != Some(FailureClass::RateLimited) {
        return None;
    }
    let name = &evidence.target(row.target).name;
    let weather = evidence.scenario.file.weather.iter();
    let mut here = weather.filter(|entry| entry.hits.target.as_ref() == Some(name));
    let failures = here.find_map(|entry| entry.effects.failures.as_ref())?;
    failures.mix.first()?.retry_after
}

fn waits_without_a_hint(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::NO_HINT;
    let mut waits: Vec<(Duration, &Case<'_>)> = Vec::new();
    for case in evidence.of("no-hint") {
        for (before, after) in case.resends() {
            waits.push((after.sent.since(before.ended), case));
        }
    }
    let seen = waits.len() as u64;
    let Some((_, shown)) = waits.iter().min_by_key(|(wait, _)| *wait) else {
        return not_applicable(rule, NOTHING_AGAIN);
    };
    let sum: u64 = waits.iter().map(|(wait, _)| wait.as_micros()).sum();
    let mean = Duration::from_micros(sum / seen);
    together(
        rule,
        seen,
        (mean < SOME_WAIT).then(|| Breach {
            broken: waits.iter().filter(|(wait, _)| *wait < SOME_WAIT).count() as u64,
            seen,
            what: format!("{seen} attempts were sent again, after {mean} on average"),
            change: "set `backoff: {base: 250ms, max: 8s, jitter: full}`: at once, they meet the \
                     same limit"
                .into(),
            attempts: shown.attempts.iter().map(|row| **row).collect(),
            left_out: 0,
            request: Some(*shown.request),
        }),
    )
}

fn left_in_peace(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::IN_PEACE;
    if !evidence.policy.attempts.allow_failover {
        return not_applicable(rule, NO_FAILOVER);
    }
    let limited = evidence.named("asks-2s-too");
    let at_it = |case: &Case<'_>| case.attempts.iter().filter(|row| row.target == limited).count();
    let mut asked: Vec<(Instant, Instant)> = Vec::new();
    for row in evidence.of("with-another").flat_map(|case| &case.attempts) {
        asked.extend(hint(evidence, row).map(|hint| (row.ended, row.ended + hint)));
    }
    asked.sort_unstable();
    let rest_at = |at: Instant| asked.iter().find(|(from, to)| *from < at && at < *to);
    let look = |case: &Case<'_>| {
        if at_it(case) == 0 && rest_at(case.request.arrived).is_none() {
            return Sight::Nothing;
        }
        let here = case.attempts.iter().filter(|row| row.target == limited);
        Sight::of(here.filter_map(|row| rest_at(row.sent).map(|rest| (row, rest))).next().map(
            |(row, (from, to))| {
                format!(
                    "sent to `asks-2s-too` {} after it asked everybody for {}, with `free` beside it",
                    row.sent.since(*from),
                    to.since(*from)
                )
            },
        ))
    };
    each(rule, evidence.of("with-another"), look, |_| to_leave(evidence), "no request came")
}

fn to_leave(evidence: &Evidence<'_>) -> String {
    let policy = evidence.policy;
    if policy.matrix.row(FailureClass::RateLimited).blame != Blame::Cooldown {
        return "set `matrix: {rate_limited: {blame: cooldown}}`, so that other requests know"
            .into();
    }
    if policy.cooldown.exempt_single {
        return "set `cooldown.exempt_single: false`: a target alone in its group is not left in peace".into();
    }
    match policy.cooldown.rule {
        CooldownRule::None => {
            "set `cooldown: {rule: retry_after}`: it is `none`, so no request knows what another \
             was told"
                .into()
        }
        CooldownRule::Fixed(length) => {
            format!("set `cooldown: {{rule: retry_after}}`: a fixed {length} is shorter than asked")
        }
        _ => "raise `cooldown.max`, and look at `selection.panic_threshold`".into(),
    }
}

/// Drill 9.
pub(super) fn late_primary(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rule = rules::USEFUL;
    let look = |case: &Case<'_>| {
        let mut recoveries = case.attempts.iter().filter(|row| row.number > 1);
        let needs = |row: &AttemptRow| least(evidence, row.target, case.asked);
        let useless = recoveries.find(|row| row.sent + needs(row) > case.due());
        Sight::of(useless.map(|row| {
            let target = &evidence.target(row.target).name;
            let (left, needs) = (case.due().since(row.sent), needs(row));
            format!("sent to `{target}` with {left} left, where an answer takes {needs}")
        }))
    };
    let change = |_: &Case<'_>| match evidence.policy.envelope.estimate.enabled {
        false => "set `envelope.estimate.enabled: true`: without it, nothing asks whether an \
                  attempt can still be finished"
            .to_owned(),
        true => "raise `envelope.min_useful` or `envelope.estimate.quantile`: what is left is \
                 taken for enough"
            .to_owned(),
    };
    vec![each(rule, evidence.of("chat"), look, change, "no request came")]
}

/// The least time this request's answer takes at a target.
fn least(evidence: &Evidence<'_>, target: TargetId, asked: &WorldRequest) -> Duration {
    let latency = &evidence.target(target).latency;
    let more = u64::from(asked.output.saturating_sub(1));
    Duration::from_micros(latency.first_token.sample(0) + more * latency.per_output_token.sample(0))
}
