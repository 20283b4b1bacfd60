//! What a drill found: rule by rule, kept, broken or without anything to judge.

use super::evidence::Case;
use crate::record::{AttemptRow, RequestRow};

/// One thing that must hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule {
    /// What must hold, as one sentence.
    pub text: &'static str,
    /// Who sees to it.
    pub held_by: HeldBy,
}

/// Who sees to it that a rule is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeldBy {
    /// The policy file: another file may break it.
    Policy,
    /// The policy core or the simulator: no policy file can break it.
    Core,
}

impl Rule {
    /// A rule for the policy file to keep.
    pub(super) const fn of_policy(text: &'static str) -> Rule {
        Rule { text, held_by: HeldBy::Policy }
    }

    /// A rule that is kept whatever a policy says.
    pub(super) const fn of_core(text: &'static str) -> Rule {
        Rule { text, held_by: HeldBy::Core }
    }
}

impl HeldBy {
    /// The word for it in reports.
    pub const fn name(self) -> &'static str {
        match self {
            HeldBy::Policy => "policy",
            HeldBy::Core => "core",
        }
    }
}

/// A rule, and whether it held.
#[derive(Clone, PartialEq, Debug)]
pub struct Finding {
    /// What must hold.
    pub rule: Rule,
    /// Whether it did.
    pub verdict: Verdict,
}

/// Whether a rule, or a drill, was kept.
#[derive(Clone, PartialEq, Debug)]
pub enum Verdict {
    /// It was, so many times.
    Passed {
        /// How many cases it was held against: at least one.
        seen: u64,
    },
    /// It was broken.
    Failed(Box<Breach>),
    /// There was nothing to hold it against, for this reason.
    NotApplicable(String),
}

/// How a rule was broken, with the evidence.
#[derive(Clone, PartialEq, Debug)]
pub struct Breach {
    /// How many cases broke it.
    pub broken: u64,
    /// Of how many.
    pub seen: u64,
    /// What happened, as one sentence about the case shown.
    pub what: String,
    /// What to change in the policy.
    pub change: String,
    /// The attempts of the case shown, the first of them where there are many.
    pub attempts: Vec<AttemptRow>,
    /// How many further attempts it has.
    pub left_out: u64,
    /// Its request; absent where the case is not about one request.
    pub request: Option<RequestRow>,
}

/// What one case says about a rule.
pub(super) enum Sight {
    /// Nothing: it did not come to that.
    Nothing,
    /// The rule was kept.
    Kept,
    /// The rule was broken, in this way.
    Broken(String),
}

impl Sight {
    /// Broken in this way, or kept where there is none.
    pub(super) fn of(broken: Option<String>) -> Sight {
        broken.map_or(Sight::Kept, Sight::Broken)
    }
}

/// Holds a rule against requests one by one; the first that breaks it is shown. `change` is asked
/// for a remedy of that one, and `otherwise` says why there may be nothing to judge.
pub(super) fn each<'c, 'r: 'c>(
    rule: Rule,
    cases: impl Iterator<Item = &'c Case<'r>>,
    look: impl Fn(&Case<'r>) -> Sight,
    change: impl Fn(&Case<'r>) -> String,
    otherwise: &str,
) -> Finding {
    let (mut seen, mut broken, mut first) = (0, 0, None);
    for case in cases {
        match look(case) {
            Sight::Nothing => {}
            Sight::Kept => seen += 1,
            Sight::Broken(what) => {
                seen += 1;
                broken += 1;
                first.get_or_insert((case, what));
            }
        }
    }
    let verdict = match first {
        None if seen == 0 => Verdict::NotApplicable(otherwise.to_owned()),
        None => Verdict::Passed { seen },
        Some((case, what)) => Verdict::Failed(Box::new(Breach {
            broken,
            seen,
            what: format!("request {}: {what}", case.request.request),
            change: change(case),
            attempts: case.attempts.iter().map(|row| **row).collect(),
            left_out: 0,
            request: Some(*case.request),
        })),
    };
    Finding { rule, verdict }
}

/// A finding that is about many requests at once. `broken` shows some of the attempts that broke it.
pub(super) fn together(rule: Rule, seen: u64, broken: Option<Breach>) -> Finding {
    let verdict = match broken {
        Some(breach) => Verdict::Failed(Box::new(breach)),
        None => Verdict::Passed { seen },
    };
    Finding { rule, verdict }
}

/// So many attempts are shown of a crowd.
const SHOWN: usize = 8;

/// The first of many attempts, and how many more there are.
pub(super) fn first_of(attempts: &[&AttemptRow]) -> (Vec<AttemptRow>, u64) {
    let shown: Vec<AttemptRow> = attempts.iter().take(SHOWN).map(|row| **row).collect();
    let left_out = attempts.len() - shown.len();
    (shown, left_out as u64)
}

/// A finding without anything to judge.
pub(super) fn not_applicable(rule: Rule, reason: impl Into<String>) -> Finding {
    Finding { rule, verdict: Verdict::NotApplicable(reason.into()) }
}

/// The verdict of a drill: failed where a rule was broken, else passed where one was kept.
pub(super) fn overall(findings: &[Finding]) -> Verdict {
    let mut seen = 0;
    let mut reasons: Vec<&str> = Vec::new();
    for finding in findings {
        match &finding.verdict {
            Verdict::Failed(breach) => return Verdict::Failed(breach.clone()),
            Verdict::Passed { seen: more } => seen += more,
            Verdict::NotApplicable(reason) if reasons.contains(&reason.as_str()) => {}
            Verdict::NotApplicable(reason) => reasons.push(reason),
        }
    }
    match seen {
        0 => Verdict::NotApplicable(reasons.join("; ")),
        seen => Verdict::Passed { seen },
    }
}

impl Verdict {
    /// The word for it in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Verdict::Passed { .. } => "passed",
            Verdict::Failed(_) => "failed",
            Verdict::NotApplicable(_) => "not_applicable",
        }
    }

    /// Whether it is a failure.
    pub const fn is_failed(&self) -> bool {
        matches!(self, Verdict::Failed(_))
    }
}
