//! What an experiment found: figures, differences, and how far they depend on stickiness.

use rayon::prelude::*;

use super::{Experiment, PolicyRuns, Ranking, Setting, SplitFindings};
use crate::measures::{Catalogue, Measure, Reading, Runs};
use crate::stats::{
    Estimate, Gate, GateResult, Limit, Note, Paired, Sample, combine, exit_code, paired,
};

/// Everything that is reported of an experiment.
#[derive(Clone, Debug)]
pub struct Findings {
    /// In the order the policies were given.
    pub policies: Vec<PolicyFindings>,
    /// The two policies that answer most against each other; absent with fewer than two.
    pub top: Option<TopTwo>,
    /// Success where failures stick otherwise; absent where that was not run.
    pub stickiness: Option<Ranking>,
    /// The policies side by side, where that was asked for.
    pub split: Option<SplitFindings>,
    /// Gate by gate, each policy that had to pass it.
    pub gates: Vec<GateFinding>,
}

/// The figures of one policy. All lists of figures are in the order of the catalogue.
#[derive(Clone, Debug)]
pub struct PolicyFindings {
    /// Its name.
    pub name: String,
    /// SHA-256 of its data, in hexadecimal.
    pub hash: String,
    /// Every measure.
    pub figures: Vec<Estimate>,
    /// The measures that are read by route class, in the scenario's order of classes; `None`
    /// for those that belong to whole runs.
    pub by_class: Vec<Vec<Option<Estimate>>>,
    /// The same by tenant, in the scenario's order of tenants; empty where nobody is told apart.
    pub by_tenant: Vec<Vec<Option<Estimate>>>,
    /// To the first policy; empty for the first itself.
    pub differences: Vec<Paired>,
}

/// The two policies that answer most, by position; of equals, those given first.
#[derive(Clone, Debug)]
pub struct TopTwo {
    /// Answers most.
    pub best: usize,
    /// Answers most of the others.
    pub next: usize,
    /// The best less the next, in the order of the catalogue.
    pub differences: Vec<Paired>,
}

/// One gate held against one policy.
#[derive(Clone, Debug)]
pub struct GateFinding {
    /// The gate.
    pub gate: Gate,
    /// The policy's name.
    pub policy: String,
    /// What came of it, stickiness considered.
    pub result: GateResult,
}

/// A relative gate where there is nothing to compare with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NoBase {
    /// The gate as written.
    pub gate: String,
}

impl Findings {
    /// Reads every measure of an experiment, policy by policy in parallel, and judges the gates.
    ///
    /// # Errors
    /// A gate names `base`, but there is one policy only.
    pub fn of(
        experiment: &Experiment,
        catalogue: &Catalogue,
        gates: &[Gate],
    ) -> Result<Findings, NoBase> {
        let single = experiment.single.as_deref();
        let read: Vec<Vec<Reading>> = experiment
            .policies
            .par_iter()
            .map(|policy| readings(catalogue, &Runs::overall(&policy.worlds, single)))
            .collect();
        let policies = experiment.policies.par_iter().zip(&read).enumerate();
        let policies = policies.map(|(position, (policy, readings))| PolicyFindings {
            name: policy.name.clone(),
            hash: policy.hash.clone(),
            figures: readings.iter().map(|reading| reading.estimate).collect(),
            by_class: classes(catalogue, policy, single),
            by_tenant: tenants(catalogue, policy, single),
            differences: if position == 0 { Vec::new() } else { differences(&read[0], readings) },
        });
        Ok(Findings {
            policies: policies.collect(),
            top: top_two(catalogue, &read),
            stickiness: Ranking::of(experiment, catalogue),
            split: None,
            gates: judge(experiment, catalogue, gates)?,
        })
    }

    /// 0 where all gates passed, 1 where one failed, else 3 where one is undecided.
    pub fn exit_code(&self) -> u8 {
        let results: Vec<GateResult> = self.gates.iter().map(|finding| finding.result).collect();
        exit_code(&results)
    }
}

fn readings(catalogue: &Catalogue, runs: &Runs<'_>) -> Vec<Reading> {
    catalogue.measures().iter().map(|measure| measure.read(runs)).collect()
}

fn top_two(catalogue: &Catalogue, read: &[Vec<Reading>]) -> Option<TopTwo> {
    let success = catalogue.measures().iter().position(|measure| measure.name == "success")?;
    let value = |position: usize| read[position][success].estimate.value.unwrap_or(0.0);
    let mut order: Vec<usize> = (0..read.len()).collect();
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    let [best, next, ..] = order[..] else { return None };
    Some(TopTwo { best, next, differences: differences(&read[next], &read[best]) })
}

fn classes(
    catalogue: &Catalogue,
    policy: &PolicyRuns,
    single: Option<&[crate::record::RunTotals]>,
) -> Vec<Vec<Option<Estimate>>> {
    let count = policy.worlds.first().map_or(0, |run| run.classes.len());
    let runs = |class| Runs::class(&policy.worlds, single, class);
    (0..count).map(|class| of_part(catalogue, &runs(class))).collect()
}

fn tenants(
    catalogue: &Catalogue,
    policy: &PolicyRuns,
    single: Option<&[crate::record::RunTotals]>,
) -> Vec<Vec<Option<Estimate>>> {
    let count = policy.worlds.first().map_or(0, |run| run.tenants.len());
    let runs = |tenant| Runs::tenant(&policy.worlds, single, tenant);
    (0..count).map(|tenant| of_part(catalogue, &runs(tenant))).collect()
}

/// The measures that can be read of a part of the requests.
fn of_part(catalogue: &Catalogue, runs: &Runs<'_>) -> Vec<Option<Estimate>> {
    let figure = |m: &Measure| m.by_class().then(|| m.read(runs).estimate);
    catalogue.measures().iter().map(figure).collect()
}

pub(super) fn differences(base: &[Reading], readings: &[Reading]) -> Vec<Paired> {
    base.iter().zip(readings).map(|(a, b)| difference(a, b)).collect()
}

fn difference(base: &Reading, reading: &Reading) -> Paired {
    match (&base.sample, &reading.sample) {
        (Some(a), Some(b)) => paired(a, b),
        _ => Paired {
            difference: None,
            ci95: None,
            correlation: None,
            verdict: None,
            note: Some(Note::NotModelled),
        },
    }
}

/// Holds every policy after the first (or the only one) against every gate.
fn judge(
    experiment: &Experiment,
    catalogue: &Catalogue,
    gates: &[Gate],
) -> Result<Vec<GateFinding>, NoBase> {
    let policies = experiment.policies.len();
    let mut findings = Vec::new();
    for gate in gates {
        if policies < 2 && matches!(gate.limit, Limit::Relative { .. }) {
            return Err(NoBase { gate: gate.to_string() });
        }
        let measure =
            catalogue.find(&gate.measure).expect("a gate names a measure it was parsed with");
        for position in (1..policies).chain((policies == 1).then_some(0)) {
            let at = |setting| hold(experiment, setting, measure, gate, position);
            let declared = at(Setting::Declared).expect("every policy ran as declared");
            let extremes: Vec<GateResult> =
                Setting::EXTREMES.iter().filter_map(|&setting| at(setting)).collect();
            findings.push(GateFinding {
                gate: gate.clone(),
                policy: experiment.policies[position].name.clone(),
                result: combine(declared, &extremes),
            });
        }
    }
    Ok(findings)
}

/// The gate's result where failures stick as `setting` says; `None` where that was not run.
fn hold(
    experiment: &Experiment,
    setting: Setting,
    measure: &Measure,
    gate: &Gate,
    position: usize,
) -> Option<GateResult> {
    let policies = experiment.at(setting)?;
    let single = match setting {
        Setting::Declared => experiment.single.as_deref(),
        Setting::Independent | Setting::AllToRequest => None,
    };
    let sample = |policy: &PolicyRuns| {
        let runs = Runs::overall(&policy.worlds, single);
        measure.read(&runs).sample.unwrap_or_else(|| nothing(runs.worlds()))
    };
    Some(gate.evaluate(&sample(&policies[position]), &sample(&policies[0])))
}

/// A measure that is not modelled: no request has it, none could.
fn nothing(worlds: usize) -> Sample<'static> {
    Sample::proportion(vec![crate::stats::Hits { hits: 0, of: 0 }; worlds])
}
