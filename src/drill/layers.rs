//! Drill 13: loops around the gateway and behind it.

use std::cmp::Reverse;

use super::advice::CORE;
use super::evidence::{Case, Evidence};
use super::finding::{Breach, Finding, Rule, first_of, not_applicable, together};
use super::rules;
use crate::record::AttemptRow;

/// Drill 13.
pub(super) fn one_owner(evidence: &Evidence<'_>) -> Vec<Finding> {
    let rule = rules::ONE_OWNER;
    let limits = &evidence.policy.attempts;
    if !limits.allow_retry && !limits.allow_failover && !limits.allow_substitution {
        let reason = "the policy recovers nothing, by design (attempts.allow_retry, \
                      allow_failover and allow_substitution: false): retries are another layer's";
        return vec![not_applicable(rule, reason)];
    }
    vec![no_layer_adds(evidence, rule), reported(evidence)]
}

fn no_layer_adds(evidence: &Evidence<'_>, rule: Rule) -> Finding {
    let actions = evidence.actions();
    let multiplied = |action: &&Vec<&Case<'_>>| {
        action.len() > 1 || attempts(action).any(|row| row.hidden_calls > 0)
    };
    let broken: Vec<_> = actions.iter().filter(multiplied).collect();
    let Some(worst) = broken.iter().min_by_key(|action| Reverse(calls(action))) else {
        return together(rule, actions.len() as u64, None);
    };
    let tries = worst.len();
    let all: Vec<&AttemptRow> = attempts(worst).collect();
    let sent = all.len();
    let (attempts, left_out) = first_of(&all);
    let change = match evidence.policy.attempts.owns_retries {
        false => {
            "set `attempts.owns_retries: true`: layers that heed it leave all retries to this \
                  gateway"
        }
        true => "nothing here: a layer does not heed that the gateway owns the retries",
    };
    let breach = Breach {
        broken: broken.len() as u64,
        seen: actions.len() as u64,
        what: format!(
            "{} calls of providers for one thing a user wanted: request {} was sent {tries} times, \
             which made {sent} attempts",
            calls(worst),
            worst[0].action,
        ),
        change: change.into(),
        attempts,
        left_out,
        request: Some(*worst[0].request),
    };
    together(rule, actions.len() as u64, Some(breach))
}

fn reported(evidence: &Evidence<'_>) -> Finding {
    let rule = rules::REPORTED;
    let measured = |action: &&Vec<&Case<'_>>| action[0].request.measured;
    let actions = evidence.actions();
    let made: u64 = actions.iter().filter(measured).map(|action| calls(action)).sum();
    let asked = actions.iter().filter(measured).count() as u64;
    let classes = || evidence.totals.classes.iter();
    let told: u64 = classes().map(|totals| totals.calls()).sum();
    let of: u64 = classes().map(|totals| totals.requests).sum();
    let breach = (told != made || of != asked).then(|| Breach {
        broken: 1,
        seen: asked,
        what: format!("{told} calls for {of} actions are reported, {made} for {asked} were made"),
        change: CORE.into(),
        attempts: Vec::new(),
        left_out: 0,
        request: None,
    });
    together(rule, asked, breach)
}

fn attempts<'a>(action: &'a [&'a Case<'_>]) -> impl Iterator<Item = &'a AttemptRow> {
    action.iter().flat_map(|case| case.attempts.iter().copied())
}

/// Calls of providers, those of a proxy on the way included.
fn calls(action: &[&Case<'_>]) -> u64 {
    attempts(action).map(AttemptRow::provider_calls).sum()
}
