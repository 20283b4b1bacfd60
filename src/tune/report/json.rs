//! JSON: one object, described in `docs/tune.md`.

use serde_json::{Value, json};

use super::text::is_clear;
use super::{TuneReport, extremes};
use crate::experiment::policy_hash;
use crate::report::rounded;
use crate::report::{FORMAT, VERSION};
use crate::stats::Outcome;
use crate::tune::{Answer, Change, Finalist, Gain, Moved, Reason, Round, Ruling, Score, Stage};

pub(super) fn render(report: &TuneReport<'_>) -> String {
    let tuning = report.tuning;
    let finalists: Vec<Value> = tuning.finalists.iter().map(|f| finalist(report, f)).collect();
    let front = tuning.front.iter().map(|point| {
        let mut object = standing(report, &point.score);
        object["variant"] = variant(report, point.entrant);
        object
    });
    let object = json!({
        "windtunnel": head(report),
        "answer": report.answer(),
        "recommended": tuning.policy().map(|policy| json!({
            "policy": policy,
            "hash": policy_hash(&policy),
        })),
        "reason": match &tuning.answer {
            Answer::Recommended(_) => Value::Null,
            Answer::None(reason) => json!(reason_name(reason)),
        },
        "base_held_out": tuning.base_held_out.as_ref().map(|score| standing(report, score)),
        "finalists": finalists,
        "evidence": evidence(report),
        "front": front.collect::<Vec<_>>(),
        "rounds": tuning.rounds.iter().map(round).collect::<Vec<_>>(),
        "drawn": {
            "points": tuning.drawn.drawn,
            "excluded": tuning.drawn.excluded,
            "repeated": tuning.drawn.repeated,
            "variants": tuning.entrants.len() - 1,
        },
        "budget": tuning.stages.iter().map(stage).collect::<Vec<_>>(),
        "interrupted": tuning.interrupted,
    });
    let mut text = serde_json::to_string_pretty(&object).expect("plain values");
    text.push('\n');
    text
}

fn head(report: &TuneReport<'_>) -> Value {
    let (task, goal) = (report.task, report.task.goal);
    let named = |scenario: &crate::scenario::Scenario| json!({"name": scenario.file.name, "hash": scenario.hash});
    let base = &report.tuning.base().variant.policy;
    json!({
        "version": VERSION,
        "format": FORMAT,
        "command": report.command,
        "seed": task.options.seed,
        "goal": {
            "direction": goal.direction.verb(),
            "measure": goal.measure,
            "subject_to": goal.constraints.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "over_scenarios": goal.aggregate.name(),
        },
        "scenarios": task.scenarios.iter().map(named).collect::<Vec<_>>(),
        "hold_out": task.hold_out.iter().map(named).collect::<Vec<_>>(),
        "base": {"name": base.name, "hash": policy_hash(base)},
        "space": {
            "name": task.space.space.name,
            "hash": task.space.space.hash(),
            "varies": task.space.dimensions.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(),
        },
        "budget": task.options.budget,
        "resample": !task.options.as_published,
        "held_out_worlds": task.options.held_out_worlds,
    })
}

fn reason_name(reason: &Reason) -> &'static str {
    match reason {
        Reason::NothingFeasible(_) => "nothing_feasible",
        Reason::BaseIsBest => "base_is_best",
        Reason::NotBetter => "not_better",
        Reason::ConditionsNotHeld => "conditions_not_held",
        Reason::WorseElsewhere => "worse_elsewhere",
        Reason::Interrupted(_) => "interrupted",
    }
}

fn finalist(report: &TuneReport<'_>, finalist: &Finalist) -> Value {
    let change = |gain: Option<Gain>| gain.map(|gain| change(report, gain));
    let optimism = finalist.tuned.zip(finalist.held_out).map(|(tuned, held)| tuned.less(held));
    let elsewhere = finalist.elsewhere.iter().zip(report.task.hold_out).map(|(held, scenario)| {
        json!({
            "scenario": scenario.file.name,
            "change": change(held.gain),
            "is_worse": held.is_worse,
            "checks": standing(report, &held.score)["checks"],
        })
    });
    json!({
        "variant": variant(report, finalist.entrant),
        "tuned_change": change(finalist.tuned),
        "held_out_change": change(finalist.held_out),
        "optimism": optimism.map(|gain| interval(gain.value, gain.half_width)),
        "p": digits(finalist.p),
        "p_holm": digits(finalist.adjusted),
        "held_out": standing(report, &finalist.score),
        "elsewhere": elsewhere.collect::<Vec<_>>(),
        "ruling": match finalist.ruling {
            Ruling::Confirmed => "confirmed",
            Ruling::NotBetter => "not_better",
            Ruling::ConditionsNotHeld => "conditions_not_held",
            Ruling::WorseElsewhere => "worse_elsewhere",
        },
        "stickiness": extremes::json(report, finalist),
    })
}

fn evidence(report: &TuneReport<'_>) -> Value {
    let Some(evidence) = &report.tuning.evidence else { return Value::Null };
    let settings = evidence.settings.iter().map(|setting| {
        let mut object = moved(report, &setting.moved);
        object["dimension"] = json!(setting.dimension);
        object["from"] = json!(setting.from);
        object["to"] = json!(setting.to);
        object
    });
    let measures = evidence.measures.iter().map(|compared| {
        let estimate = |estimate: &crate::stats::Estimate| {
            json!({"value": estimate.value, "ci95": estimate.ci95.map(rounded)})
        };
        json!({
            "scenario": report.task.scenarios[compared.scenario].file.name,
            "measure": compared.measure,
            "base": estimate(&compared.base),
            "recommended": estimate(&compared.policy),
            "difference": compared.difference.and_then(|d| d.difference),
            "ci95": compared.difference.and_then(|d| d.ci95).map(rounded),
        })
    });
    json!({
        "worlds": evidence.worlds,
        "changes": evidence.changes.iter().map(|c| change_of(report, c)).collect::<Vec<_>>(),
        "sensitivity": settings.collect::<Vec<_>>(),
        "measures": measures.collect::<Vec<_>>(),
    })
}

fn change_of(report: &TuneReport<'_>, change: &Change) -> Value {
    let fields = change.fields.iter().map(|(field, base, recommended)| {
        json!({"field": field, "base": base, "recommended": recommended})
    });
    let fields: Vec<Value> = fields.collect();
    match &change.without {
        Ok(without) => json!({"fields": fields, "without_it": moved(report, without)}),
        Err(reason) => json!({"fields": fields, "cannot_be_taken_back": reason}),
    }
}

/// A policy beside the recommended one.
fn moved(report: &TuneReport<'_>, moved: &Moved) -> Value {
    let mut object = standing(report, &moved.score);
    object["change"] = json!(moved.gain.map(|gain| change(report, gain)));
    object
}

/// A change of the objective.
pub(super) fn change(report: &TuneReport<'_>, gain: Gain) -> Value {
    let paired = report.change(gain);
    let mut object = interval(paired.difference.unwrap_or_default(), gain.half_width);
    object["clear"] = json!(is_clear(&paired));
    object
}

fn interval(value: f64, half_width: f64) -> Value {
    let (low, high) = rounded((value - half_width, value + half_width));
    // Not -0, which would print a sign.
    json!({"value": value + 0.0, "ci95": [low, high]})
}

/// Objective and conditions of a policy.
pub(super) fn standing(report: &TuneReport<'_>, score: &Score) -> Value {
    let checks = score.checks.iter().map(|check| {
        json!({
            "condition": report.task.goal.constraints[check.constraint].to_string(),
            "scenario": report.task.scenarios.get(check.scenario).map(|s| s.file.name.as_str()),
            "measured": check.result.measured,
            "outcome": match check.result.outcome {
                Outcome::Passed => "passed",
                Outcome::Failed => "failed",
                Outcome::Undecided { .. } => "undecided",
            },
        })
    });
    let weighed = report.task.goal.weighed().into_iter().zip(&score.weighed);
    let weighed = weighed.map(|(weighed, value)| (weighed.measure, json!(value)));
    json!({
        "worlds": score.worlds,
        "objective": report.value(score).map(|(value, half)| {
            let possible = report.objective().dimension.within((value - half, value + half));
            json!({"value": value + 0.0, "ci95": rounded(possible)})
        }),
        "weighed": weighed.collect::<serde_json::Map<String, Value>>(),
        "checks": checks.collect::<Vec<_>>(),
    })
}

fn variant(report: &TuneReport<'_>, entrant: usize) -> Value {
    let space = report.task.space;
    let variant = &report.tuning.entrants[entrant].variant;
    if entrant == 0 {
        return json!("base");
    }
    let set = space.dimensions.iter().zip(&variant.levels);
    let set = set.filter_map(|(d, level)| Some((d.name.clone(), json!(d.show((*level)?)))));
    Value::Object(set.collect())
}

fn round(round: &Round) -> Value {
    let looks = round.looks.iter().map(|look| {
        json!({
            "worlds": look.worlds,
            "compared": look.compared,
            "infeasible": look.infeasible,
            "worse": look.worse,
            "without_value": look.without_value,
            "set_aside": look.set_aside,
        })
    });
    json!({
        "name": round.name,
        "radius": round.radius,
        "new": round.new,
        "entrants": round.entrants,
        "alpha": round.alpha,
        "error": round.error,
        "looks": looks.collect::<Vec<_>>(),
    })
}

fn stage(stage: &Stage) -> Value {
    json!({
        "stage": stage.name,
        "policies": stage.policies,
        "runs": stage.spent.runs,
        "requests": stage.spent.requests,
    })
}

/// A probability without the digits that differ between platforms.
fn digits(p: f64) -> f64 {
    format!("{p:.6e}").parse().expect("a printed float is a float")
}
