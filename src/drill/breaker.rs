//! Drill 10: a primary goes down and comes back.

use windtunnel_policy::{Duration, Instant};

use super::advice::NO_FAILOVER;
use super::evidence::{Case, Evidence};
use super::finding::{Breach, Finding, first_of, not_applicable, together};
use super::rules;
use crate::record::AttemptRow;

pub(super) fn moves_and_probes(evidence: &Evidence<'_>) -> Vec<Finding> {
    if !evidence.policy.attempts.allow_failover {
        return [rules::MOVES, rules::PROBES, rules::RETURNS]
            .map(|rule| not_applicable(rule, NO_FAILOVER))
            .into();
    }
    let outage = &evidence.world.weather.incidents[0];
    vec![moves(evidence, outage.from, outage.to), probes(evidence, outage.to), returns(evidence)]
}

fn moves(evidence: &Evidence<'_>, from: Instant, to: Instant) -> Finding {
    let half = from + Duration::from_micros(to.since(from).as_micros() / 2);
    let (asked, there) = between(evidence, half, to);
    let broken = there.len() as u64;
    let (attempts, left_out) = first_of(&there);
    together(
        rules::MOVES,
        asked,
        (broken * 10 > asked).then(|| Breach {
            broken,
            seen: asked,
            what: format!(
                "{broken} of {asked} requests still went to `primary`, which had failed every one \
                 for half a minute"
            ),
            change: match evidence.policy.breakers.is_empty() {
                true => "add `breakers: [{}]`: the defaults open at half of twenty calls".into(),
                false => "make a trip of `breakers` more sensitive, or `open_for` longer".into(),
            },
            attempts,
            left_out,
            request: None,
        }),
    )
}

fn probes(evidence: &Evidence<'_>, over: Instant) -> Finding {
    let mut there = at_primary(evidence).filter(|row| row.sent >= over).collect::<Vec<_>>();
    there.sort_by_key(|row| row.sent);
    let answered = there.iter().filter_map(|row| row.first_output).min();
    let (Some(first), Some(answered)) = (there.first().map(|row| row.sent), answered) else {
        return not_applicable(rules::PROBES, "it was not tried again");
    };
    let arrived = |case: &&Case<'_>| (first..answered).contains(&case.request.arrived);
    let asked = evidence.cases.iter().filter(arrived).count() as u64;
    there.retain(|row| row.sent < answered);
    let sent = there.len() as u64;
    let (attempts, left_out) = first_of(&there);
    together(
        rules::PROBES,
        sent,
        (sent * 2 > asked).then(|| Breach {
            broken: sent,
            seen: sent,
            what: format!(
                "{sent} attempts were sent to `primary` in the {} before its first output, while \
                 {asked} requests came",
                answered.since(first)
            ),
            change: match evidence.policy.breakers.is_empty() {
                true => "add `breakers: [{}]`: half-open, they send one probe at a time".into(),
                false => {
                    "set `after_open: half_open` in `breakers`, with few `probes.concurrent`".into()
                }
            },
            attempts,
            left_out,
            request: None,
        }),
    )
}

fn returns(evidence: &Evidence<'_>) -> Finding {
    let to = evidence.world.measured_to;
    let (asked, there) = between(evidence, to.saturating_sub(Duration::from_secs(60)), to);
    let broken = asked - there.len() as u64;
    together(
        rules::RETURNS,
        asked,
        (broken * 2 > asked).then(|| Breach {
            broken,
            seen: asked,
            what: format!(
                "{broken} of {asked} requests of the last minute still avoided `primary`, which had \
                 been well for five minutes"
            ),
            change: "shorten `open_for`, its `growth.max`, the `ramp` of `breakers`, or `isolation`"
                .into(),
            attempts: Vec::new(),
            left_out: 0,
            request: None,
        }),
    )
}

/// How many requests arrived in this time, and the first attempt of each that went to the primary.
fn between<'a>(evidence: &Evidence<'a>, from: Instant, to: Instant) -> (u64, Vec<&'a AttemptRow>) {
    let primary = evidence.named("primary");
    let cases = evidence.cases.iter().filter(|case| (from..to).contains(&case.request.arrived));
    let (mut asked, mut there) = (0, Vec::new());
    for case in cases {
        asked += 1;
        there.extend(case.attempts.iter().find(|row| row.target == primary));
    }
    (asked, there)
}

fn at_primary<'a>(evidence: &Evidence<'a>) -> impl Iterator<Item = &'a AttemptRow> {
    let primary = evidence.named("primary");
    let all: Vec<&AttemptRow> = evidence.cases.iter().flat_map(|c| c.attempts.clone()).collect();
    all.into_iter().filter(move |row| row.target == primary)
}
