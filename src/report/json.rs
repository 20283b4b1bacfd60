//! JSON: one object, described in `docs/output.md`.

use serde_json::{Map, Value, json};

use super::numbers::{correlation, rounded};
use super::{FORMAT, Report, VERSION, format};
use crate::experiment::{GateFinding, PolicyFindings, Ranking, Setting};
use crate::measures::Measure;
use crate::stats::{Estimate, Note, Outcome, Paired};

pub(super) fn render(report: &Report<'_>) -> String {
    let findings = report.findings;
    let policies: Vec<Value> = findings.policies.iter().map(|p| policy(report, p)).collect();
    let gates: Vec<Value> = findings.gates.iter().map(gate).collect();
    let mut object = json!({
        "windtunnel": head(report),
        "scenario": scenario(report),
        "notes": report.scenario.notes,
        "policies": policies,
        "stickiness": findings.stickiness.as_ref().map(|ranking| stickiness(report, ranking)),
        "gates": gates,
        "conclusion": report.conclusion(),
    });
    if let Some(split) = &findings.split {
        object["split"] = super::split::json(report, split);
    }
    let mut text = serde_json::to_string_pretty(&object).expect("plain values");
    text.push('\n');
    text
}

fn head(report: &Report<'_>) -> Value {
    let hashes = report.findings.policies.iter().map(|p| (p.name.clone(), json!(p.hash)));
    json!({
        "version": VERSION,
        "format": FORMAT,
        "seed": report.options.seed,
        "worlds": report.experiment.worlds.len(),
        "worlds_wanted": report.options.worlds,
        "resample": report.options.resample,
        "intervals_cover": report.covers(),
        "scenario_hash": report.scenario.hash,
        "policy_hashes": hashes.collect::<Map<String, Value>>(),
    })
}

fn scenario(report: &Report<'_>) -> Value {
    let file = &report.scenario.file;
    let classes: Vec<&str> = report.scenario.classes.iter().map(|c| c.name.as_str()).collect();
    let targets: Vec<&str> = report.scenario.targets.iter().map(|t| t.name.as_str()).collect();
    json!({
        "name": file.name,
        "shows": file.shows,
        "expect": file.expect,
        "hypothesis": file.hypothesis,
        "warm_up": seconds(file.warm_up),
        "horizon": seconds(file.horizon),
        "classes": classes,
        "targets": targets,
    })
}

fn policy(report: &Report<'_>, policy: &PolicyFindings) -> Value {
    let measures = report.catalogue.measures();
    let all = measures.iter().zip(&policy.figures);
    let all = all.map(|(m, estimate)| (m.name.clone(), figure(report, m, estimate)));
    let classes = report.scenario.classes.iter().zip(&policy.by_class);
    let classes = classes.map(|(class, of_class)| (class.name.clone(), figures(report, of_class)));
    let mut object = json!({
        "name": policy.name,
        "hash": policy.hash,
        "measures": all.collect::<Map<String, Value>>(),
        "by_class": classes.collect::<Map<String, Value>>(),
        "differences": paired_of(report, &policy.differences),
    });
    if !policy.by_tenant.is_empty() {
        let tenants = report.scenario.tenants.iter().zip(&policy.by_tenant);
        let tenants = tenants.map(|(tenant, of)| (tenant.name.clone(), figures(report, of)));
        object["by_tenant"] = Value::Object(tenants.collect());
    }
    object
}

/// Figures by measure, where there are any; in the order of the catalogue.
pub(super) fn figures(report: &Report<'_>, figures: &[Option<Estimate>]) -> Value {
    let measures = report.catalogue.measures().iter().zip(figures);
    let shown =
        measures.filter_map(|(m, f)| Some((m.name.clone(), figure(report, m, f.as_ref()?))));
    Value::Object(shown.collect())
}

/// Differences by measure, in the order of the catalogue.
pub(super) fn paired_of(report: &Report<'_>, differences: &[Paired]) -> Value {
    let measures = report.catalogue.measures().iter().zip(differences);
    Value::Object(measures.map(|(m, paired)| (m.name.clone(), difference(paired))).collect())
}

fn figure(report: &Report<'_>, measure: &Measure, estimate: &Estimate) -> Value {
    let mut figure = json!({
        "value": estimate.value,
        "unit": measure.unit,
        "ci95": interval(estimate.ci95),
        "n": estimate.n,
    });
    if let Some(note) = report.note(measure, estimate) {
        figure["note"] = json!(note);
    }
    figure
}

fn difference(paired: &Paired) -> Value {
    let mut difference = json!({
        "difference": paired.difference,
        "ci95": interval(paired.ci95),
        "verdict": paired.verdict.map(format::mark),
        "correlation": paired.correlation.map(correlation),
    });
    if let Some(note) = paired.note {
        difference["note"] = json!(note.to_string());
    }
    difference
}

fn stickiness(report: &Report<'_>, ranking: &Ranking) -> Value {
    let name = |position: usize| &report.findings.policies[position].name;
    let success = ranking.success.iter().enumerate().map(|(position, by_setting)| {
        let settings = Setting::ALL.iter().zip(by_setting);
        let settings = settings.map(|(setting, estimate)| {
            let value = json!({"value": estimate.value, "ci95": interval(estimate.ci95)});
            (setting.name().to_owned(), value)
        });
        (name(position).clone(), Value::Object(settings.collect()))
    });
    let pairs = ranking.pairs.iter().map(|pair| {
        let ahead = Setting::ALL.iter().zip(pair.ahead).map(|(setting, ahead)| {
            let winner = ahead.of(pair.first, pair.second).map(|position| name(position).clone());
            (setting.name().to_owned(), json!(winner))
        });
        json!({
            "policies": [name(pair.first), name(pair.second)],
            "ahead": ahead.collect::<Map<String, Value>>(),
            "identified": pair.identified().name(),
        })
    });
    let worlds = Setting::ALL.iter().zip(ranking.worlds);
    let worlds = worlds.map(|(setting, worlds)| (setting.name().to_owned(), json!(worlds)));
    json!({
        "worlds": worlds.collect::<Map<String, Value>>(),
        "success": success.collect::<Map<String, Value>>(),
        "pairs": pairs.collect::<Vec<Value>>(),
    })
}

fn gate(finding: &GateFinding) -> Value {
    let result = finding.result;
    let unanswered = result.is_unanswered().then(|| Note::Unanswered.to_string());
    let (outcome, worlds_needed, reason) = match result.outcome {
        Outcome::Passed => ("passed", None, unanswered),
        Outcome::Failed => ("failed", None, unanswered),
        Outcome::Undecided { worlds_needed, doubt } => {
            ("undecided", worlds_needed, Some(doubt.to_string()))
        }
    };
    json!({
        "gate": finding.gate.to_string(),
        "policy": finding.policy,
        "outcome": outcome,
        "measured": result.measured,
        "limit": result.limit,
        "margin": result.margin,
        "reason": reason,
        "worlds_needed": worlds_needed,
    })
}

fn interval(ci95: Option<(f64, f64)>) -> Option<[f64; 2]> {
    ci95.map(rounded).map(|(lo, hi)| [lo, hi])
}

fn seconds(duration: windtunnel_policy::Duration) -> f64 {
    duration.as_micros() as f64 / 1e6
}
