//! Drill 6, and the second half of drill 12: what is written outside the model, once.

use windtunnel_policy::event::Advice;
use windtunnel_policy::outcome::FailureClass;

use super::advice::{self, ended};
use super::evidence::{Case, Evidence};
use super::finding::{Breach, Finding, Rule, Sight, each, first_of, not_applicable, together};
use super::rules;
use crate::record::AttemptRow;

/// Drill 6.
pub(super) fn tools_once(evidence: &Evidence<'_>) -> Vec<Finding> {
    let actions = evidence.actions();
    let written = |case: &Case<'_>| match case.request.answered {
        false => Sight::Nothing,
        true => Sight::of(match evidence.writes(case.action) {
            0 => Some("answered, and its tool has written nothing".into()),
            _ => None,
        }),
    };
    let never = "nothing was answered";
    vec![
        at_most_once(evidence, rules::ONCE, &actions, &to_ask(evidence)),
        each(rules::WRITTEN, evidence.cases.iter(), written, advice::core, never),
        not_retryable(evidence),
    ]
}

fn not_retryable(evidence: &Evidence<'_>) -> Finding {
    let open = [FailureClass::SideEffectUnknown, FailureClass::Transport, FailureClass::Timeout];
    let look = |case: &Case<'_>| {
        let result = &case.request.result;
        if !result.class.is_some_and(|class| open.contains(&class)) {
            return Sight::Nothing;
        }
        Sight::of(match (result.retryable, result.advice) {
            (true, _) => Some(format!("{}, marked as safe to send again", ended(case))),
            (false, Advice::Escalate) => None,
            (false, advice) => Some(format!(
                "{}, with the advice {} to the application",
                ended(case),
                advice.name()
            )),
        })
    };
    let never = "no request ended with its effect open";
    each(rules::NOT_RETRYABLE, evidence.cases.iter(), look, advice::core, never)
}

/// Drill 12, the same key twice: for a tool that knows it again, and for one that does not.
pub(super) fn same_key(evidence: &Evidence<'_>) -> [Finding; 2] {
    let twice = |name, rule, change: &str| {
        let class = evidence.class(name);
        let mut actions = evidence.actions();
        actions.retain(|action| action.len() > 1 && action[0].request.class == class);
        match actions.is_empty() {
            true => not_applicable(rule, "no action came twice"),
            false => at_most_once(evidence, rule, &actions, change),
        }
    };
    [
        twice("same-key", rules::SAME_KEY, advice::CORE),
        twice("keyless", rules::KEYLESS, to_look_up(evidence)),
    ]
}

fn at_most_once(
    evidence: &Evidence<'_>,
    rule: Rule,
    actions: &[Vec<&Case<'_>>],
    change: &str,
) -> Finding {
    let twice = |action: &&Vec<&Case<'_>>| evidence.writes(action[0].action) > 1;
    let seen = actions.len() as u64;
    let Some(first) = actions.iter().find(twice) else { return together(rule, seen, None) };
    let all: Vec<&AttemptRow> = first.iter().flat_map(|case| case.attempts.clone()).collect();
    let (attempts, left_out) = first_of(&all);
    let breach = Breach {
        broken: actions.iter().filter(twice).count() as u64,
        seen,
        what: format!(
            "request {}: its tool wrote {} times in {} attempts",
            first[0].action,
            evidence.writes(first[0].action),
            all.len()
        ),
        change: change.into(),
        attempts,
        left_out,
        request: Some(*first[0].request),
    };
    together(rule, seen, Some(breach))
}

fn to_ask(evidence: &Evidence<'_>) -> String {
    match evidence.policy.side_effects.reconcile {
        false => {
            "set `side_effects: {reconcile: true}`: ask what the tool did before anything is sent \
                  again"
                .into()
        }
        true => advice::CORE.into(),
    }
}

fn to_look_up(evidence: &Evidence<'_>) -> &'static str {
    match evidence.policy.side_effects.look_up {
        false => {
            "set `side_effects: {look_up: true}`: ask what an earlier request of the action did before \
             anything is sent for it again"
        }
        true => advice::CORE,
    }
}
