//! What one policy has over another, and what that costs, in one sentence.

use super::Report;
use super::format::{change, difference, short};
use crate::measures::{Better, Measure};
use crate::stats::{Paired, Verdict};

/// What is told of any two policies.
const ALWAYS: [(&str, &str); 4] = [
    ("success", "success"),
    ("cost per 1,000 requests", "cost_per_1k"),
    ("attempts per request", "attempts_per_request"),
    ("added latency p99", "added_latency_p99"),
];
/// What is told by name where it is clearly worse.
const WHERE_WORSE: [(&str, &str); 7] = [
    ("success of the worst tenant", "worst_tenant_success"),
    ("task success", "task_success"),
    ("silent failures", "silent_failure"),
    ("effects done twice", "duplicate_side_effects"),
    ("latency p50", "latency_p50"),
    ("latency p99", "latency_p99"),
    ("time to first token p99", "ttft_p99"),
];
/// Other rows named, at most.
const NAMED: usize = 4;
/// Rows that say what others said: how failures ended, which success counts; and a cost once more.
const SAID_ELSEWHERE: [&str; 6] = [
    "exhausted",
    "policy_stop",
    "deadline_exhausted",
    "no_eligible_target",
    "cost_per_request",
    "amplification",
];

/// How one policy stands to another.
#[derive(Default)]
struct Sides {
    better: Vec<String>,
    worse: Vec<String>,
    /// Other rows of the table that are clearly worse, too.
    more: Vec<String>,
    level: Vec<String>,
    /// Differences without an interval.
    bare: Vec<String>,
    /// What has no difference, with the reason.
    without: Vec<String>,
}

impl Report<'_> {
    /// One policy against another, given how they differ: what is clearly better and what clearly worse in
    /// one breath, then what is neither.
    pub(super) fn apart(&self, one: usize, other: usize, differences: &[Paired]) -> String {
        let sides = self.sides(differences);
        let worse = sides.clearly_worse();
        let but = if sides.better.is_empty() { "" } else { "but " };
        let said = [
            in_(&sides.better).map(|list| format!("clearly better in {list}")),
            worse.map(|list| format!("{but}clearly worse in {list}")),
            in_(&sides.level).map(|list| format!("no clear difference in {list}")),
            in_(&sides.bare).map(|list| format!("without intervals, {list}")),
            in_(&sides.without).map(|list| format!("not comparable: {list}")),
        ];
        let said: Vec<String> = said.into_iter().flatten().collect();
        format!("`{}` against `{}`: {}.", self.name(one), self.name(other), said.join("; "))
    }

    /// What is clearly worse of the policy that answers most than of the first, or than of the next, where it
    /// is the first.
    pub(super) fn price(&self, best: usize) -> Option<String> {
        let top = self.findings.top.as_ref();
        let (other, differences) = match best {
            0 => top.filter(|top| top.best == 0).map(|top| (top.next, &top.differences))?,
            _ => (0, &self.findings.policies[best].differences),
        };
        let worse = in_(&self.sides(differences).worse)?;
        Some(format!("but clearly worse than `{}` in {worse}", self.name(other)))
    }

    fn sides(&self, differences: &[Paired]) -> Sides {
        let mut sides = Sides::default();
        let rows = || self.catalogue.measures().iter().zip(differences);
        let find = |name: &str| rows().find(|(measure, _)| measure.name == name);
        for (label, name) in ALWAYS {
            let Some((measure, paired)) = find(name) else { continue };
            let Some(value) = paired.difference else {
                let why = paired.note.map_or(String::new(), |note| format!(" ({})", short(note)));
                sides.without.push(format!("{label}{why}"));
                continue;
            };
            let figure = change(value, paired.ci95, measure.dimension);
            let list = match (paired.verdict, is_worse(measure, paired)) {
                (Some(Verdict::Clear), true) => &mut sides.worse,
                (Some(Verdict::Clear), false) => &mut sides.better,
                (Some(Verdict::Noise), _) => &mut sides.level,
                (Some(Verdict::Identical), _) => {
                    sides
                        .level
                        .push(format!("{label} ({})", difference(paired, measure.dimension)));
                    continue;
                }
                (None, _) => &mut sides.bare,
            };
            list.push(format!("{label} {figure}"));
        }
        let clearly = |paired: &Paired| paired.verdict == Some(Verdict::Clear);
        for (label, name) in WHERE_WORSE {
            let found =
                find(name).filter(|(measure, paired)| clearly(paired) && is_worse(measure, paired));
            sides.worse.extend(found.and_then(|(measure, paired)| {
                Some(format!(
                    "{label} {}",
                    change(paired.difference?, paired.ci95, measure.dimension)
                ))
            }));
        }
        let told = |name: &str| {
            let named = ALWAYS.iter().chain(&WHERE_WORSE).any(|(_, told)| *told == name);
            named || SAID_ELSEWHERE.contains(&name) || name.starts_with("ended_as.")
        };
        let more = rows().filter(|(measure, paired)| {
            clearly(paired) && is_worse(measure, paired) && !told(&measure.name)
        });
        sides.more = more.map(|(measure, _)| measure.name.clone()).collect();
        sides
    }
}

impl Sides {
    fn clearly_worse(&self) -> Option<String> {
        let named = self.more.len().min(NAMED);
        let rest = match self.more.len() - named {
            0 => String::new(),
            rest => format!(" and {rest} more"),
        };
        match (in_(&self.worse), in_(&self.more[..named])) {
            (list, None) => list,
            (Some(list), Some(rows)) => Some(format!("{list} (of the table also: {rows}{rest})")),
            (None, Some(rows)) => Some(format!("{rows}{rest}")),
        }
    }
}

/// True where a difference is one to the bad.
fn is_worse(measure: &Measure, paired: &Paired) -> bool {
    let more = paired.difference.is_some_and(|difference| difference > 0.0);
    match measure.better {
        Better::Higher => !more,
        Better::Lower => more,
        Better::Neither => false,
    }
}

/// A list in words; `None` without entries.
fn in_(list: &[String]) -> Option<String> {
    (!list.is_empty()).then(|| list.join(", "))
}
