//! Holds a measured policy against a gate.
//!
//! The margin by which a gate holds is one paired quantity, `B - k·A - c` (or
//! its negative for `<=`), jackknifed over worlds as a whole, so that a factor
//! of the base carries the base's own noise.

use std::fmt;

use super::{Gate, Limit, Relation};
use crate::stats::{
    Jackknife, MIN_EXCEEDANCES, Note, PLANNED_WORLDS, Sample, jackknife, one_sided_95,
};

/// What came of a gate, with the figures to explain it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GateResult {
    /// The answer.
    pub outcome: Outcome,
    /// The policy's measure, if it has a value.
    pub measured: Option<f64>,
    /// What it was held against, if that has a value.
    pub limit: Option<f64>,
    /// By how much the gate holds; negative where it does not.
    pub margin: Option<f64>,
    /// The one-sided 95 % uncertainty of the margin.
    pub half_width: Option<f64>,
}

/// Whether a gate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Holds, with 95 % confidence.
    Passed,
    /// Does not hold, with 95 % confidence.
    Failed,
    /// Neither is certain enough.
    Undecided {
        /// About how many worlds would decide it; `None` where more would not help.
        worlds_needed: Option<u32>,
        /// Why it is open.
        doubt: Doubt,
    },
}

/// Why a gate is undecided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// The limit lies within the uncertainty of the margin.
    Noise,
    /// A value or its uncertainty is missing.
    Missing(Note),
    /// The answer turns with how far failures stick.
    Stickiness,
}

impl GateResult {
    /// Decided, because the quantile that was measured lies among the unanswered requests.
    pub fn is_unanswered(&self) -> bool {
        self.measured.is_none() && !matches!(self.outcome, Outcome::Undecided { .. })
    }
}

/// The answer at the default stickiness, undecided where an extreme reverses it.
pub fn combine(default: GateResult, extremes: &[GateResult]) -> GateResult {
    let reverse = match default.outcome {
        Outcome::Passed => Outcome::Failed,
        Outcome::Failed => Outcome::Passed,
        Outcome::Undecided { .. } => return default,
    };
    if extremes.iter().any(|extreme| extreme.outcome == reverse) {
        return GateResult { outcome: undecided(None, Doubt::Stickiness), ..default };
    }
    default
}

/// The exit code of all gates: 1 where any failed, else 3 where any is undecided, else 0.
pub fn exit_code(results: &[GateResult]) -> u8 {
    let any = |wanted: fn(&Outcome) -> bool| results.iter().any(|result| wanted(&result.outcome));
    if any(|outcome| *outcome == Outcome::Failed) {
        1
    } else if any(|outcome| matches!(outcome, Outcome::Undecided { .. })) {
        3
    } else {
        0
    }
}

impl Gate {
    /// Holds `policy` against the gate; `base` is the same measure of the first
    /// policy on the same worlds, and matters to relative limits only.
    ///
    /// # Panics
    /// Where the numbers of worlds differ.
    pub fn evaluate(&self, policy: &Sample<'_>, base: &Sample<'_>) -> GateResult {
        assert_eq!(policy.worlds(), base.worlds(), "paired on the same worlds");
        let (factor, offset) = self.limit.terms();
        let (measured, limit) = match self.limit {
            Limit::Absolute(_) => (policy.value(), Ok(offset)),
            Limit::Relative { .. } => (policy.value(), base.value().map(|a| factor * a + offset)),
        };
        let bare = GateResult {
            outcome: Outcome::Passed,
            measured: measured.ok(),
            limit: limit.ok(),
            margin: None,
            half_width: None,
        };
        let outcome = match (measured, limit) {
            (Ok(_), Ok(_)) => return self.decide(policy, base, bare),
            (Err(Note::Unanswered), Ok(_)) => self.infinite(policy, base, self.relation),
            (Ok(_), Err(Note::Unanswered)) => self.infinite(base, policy, self.relation.reversed()),
            (Err(note), _) => missing(policy, note),
            (_, Err(note)) => missing(base, note),
        };
        GateResult { outcome, ..bare }
    }

    /// By how much `policy` misses the limit in these worlds: positive where it does. Where a
    /// quantile may not be infinite and is, by how much the share of unanswered requests is more than
    /// the quantile leaves over. `None` where that cannot be said.
    ///
    /// # Panics
    /// Where the numbers of worlds differ.
    pub fn shortfall(&self, policy: &Sample<'_>, base: &Sample<'_>) -> Option<Jackknife> {
        assert_eq!(policy.worlds(), base.worlds(), "paired on the same worlds");
        let absolute = matches!(self.limit, Limit::Absolute(_));
        match (policy.value(), absolute || base.value().is_ok()) {
            (Ok(_), true) => {
                let parts = self.parts(policy, base).ok()?;
                let slack = SLACK * parts.scale;
                // Rounding must not turn an exact tie into a miss.
                Some(parts.margin.combine(&parts.margin, |margin, _| -margin - slack))
            }
            (Err(Note::Unanswered), true) if self.relation == Relation::AtMost => {
                jackknife(policy.worlds(), |i| policy.unanswered_excess(i)).ok()
            }
            _ => None,
        }
    }

    /// The margin and what it is made of, where both have values.
    fn parts(&self, policy: &Sample<'_>, base: &Sample<'_>) -> Result<Parts, Note> {
        let (factor, offset) = self.limit.terms();
        let sign = self.relation.sign();
        let jack = |sample: &Sample<'_>| jackknife(sample.worlds(), |i| sample.pooled(i));
        let b = jack(policy)?;
        // An absolute limit must not depend on whether the base has replicates.
        let a = if factor == 0.0 { b.combine(&b, |_, _| 0.0) } else { jack(base)? };
        let margin = b.combine(&a, |b, a| sign * (b - factor * a - offset));
        let scale = b.value.abs().max((factor * a.value).abs()).max(offset.abs());
        Ok(Parts { b, a, margin, scale })
    }

    fn decide(&self, policy: &Sample<'_>, base: &Sample<'_>, bare: GateResult) -> GateResult {
        let (factor, _) = self.limit.terms();
        let Parts { b, a, margin, scale } = match self.parts(policy, base) {
            Ok(parts) => parts,
            Err(note) => return GateResult { outcome: missing(policy, note), ..bare },
        };
        let spread = one_sided_95(margin.degrees()) * margin.standard_error();
        let growth = if spread > 0.0 { Growth::Root } else { Growth::Linear };
        let half_width = if spread > 0.0 {
            libm::hypot(spread, libm::hypot(policy.grain(), factor * base.grain()))
        } else {
            unseen(policy, &b, &a, factor)
        };
        let bound = Bound { margin: margin.value, half_width, scale, growth };
        GateResult {
            outcome: bound.outcome(policy.worlds()),
            margin: Some(margin.value),
            half_width: Some(half_width),
            ..bare
        }
    }

    /// The answer where `lost` has an infinite quantile: as `relation` would
    /// have it for infinity, if the share of unanswered requests shows clearly
    /// that `lost` is infinite and, in a relative gate, that `found` is not.
    fn infinite(&self, lost: &Sample<'_>, found: &Sample<'_>, relation: Relation) -> Outcome {
        let surely_lost = unanswered(lost, 1.0);
        let surely_found = match self.limit {
            Limit::Absolute(_) => Outcome::Passed,
            Limit::Relative { .. } => unanswered(found, -1.0),
        };
        match (surely_lost, surely_found, relation) {
            (Outcome::Passed, Outcome::Passed, Relation::AtLeast) => Outcome::Passed,
            (Outcome::Passed, Outcome::Passed, Relation::AtMost) => Outcome::Failed,
            (Outcome::Undecided { worlds_needed, .. }, _, _)
            | (_, Outcome::Undecided { worlds_needed, .. }, _) => {
                undecided(worlds_needed, Doubt::Missing(Note::Unanswered))
            }
            _ => undecided(None, Doubt::Missing(Note::Unanswered)),
        }
    }
}

impl Relation {
    fn sign(self) -> f64 {
        match self {
            Relation::AtLeast => 1.0,
            Relation::AtMost => -1.0,
        }
    }

    fn reversed(self) -> Relation {
        match self {
            Relation::AtLeast => Relation::AtMost,
            Relation::AtMost => Relation::AtLeast,
        }
    }
}

/// What subtracting may leave by rounding alone, of what was subtracted.
const SLACK: f64 = 1e-9;

/// A margin, and the two values it is made of.
struct Parts {
    b: Jackknife,
    a: Jackknife,
    margin: Jackknife,
    /// The size of what was subtracted, by which rounding is judged.
    scale: f64,
}

/// A margin with its one-sided uncertainty.
struct Bound {
    margin: f64,
    half_width: f64,
    /// The size of what was subtracted, by which rounding is judged.
    scale: f64,
    growth: Growth,
}

/// How the half-width shrinks as worlds are added.
#[derive(Clone, Copy)]
enum Growth {
    /// With the root of their number, as a spread over worlds does.
    Root,
    /// With their number, as the rule of three does.
    Linear,
}

impl Bound {
    fn outcome(&self, worlds: usize) -> Outcome {
        // Rounding must not turn an exact tie into a failure.
        let slack = SLACK * self.scale;
        if self.margin - self.half_width >= -slack {
            Outcome::Passed
        } else if self.margin + self.half_width < -slack {
            Outcome::Failed
        } else {
            undecided(self.worlds_needed(worlds), Doubt::Noise)
        }
    }

    fn worlds_needed(&self, worlds: usize) -> Option<u32> {
        let ratio = self.half_width / self.margin.abs();
        let factor = match self.growth {
            Growth::Root => ratio * ratio,
            Growth::Linear => ratio,
        };
        planned(worlds, factor)
    }
}

/// `worlds` times `factor`, at least one more than there are; `None` where
/// that is beyond a million: the measure sits on its limit.
fn planned(worlds: usize, factor: f64) -> Option<u32> {
    let needed = (worlds as f64 * factor).ceil().max(worlds as f64 + 1.0);
    (needed <= 1e6).then_some(needed as u32)
}

/// The half-width where the margin does not vary over worlds: the rule of three
/// for a proportion of none or all, as far as the base does not share its luck.
fn unseen(policy: &Sample<'_>, b: &Jackknife, a: &Jackknife, factor: f64) -> f64 {
    let shared = if a == b { factor } else { 0.0 };
    policy.rule_of_three().unwrap_or(0.0) * (1.0 - shared).abs()
}

/// Whether `sign` times the excess of unanswered requests is clearly positive.
fn unanswered(sample: &Sample<'_>, sign: f64) -> Outcome {
    match jackknife(sample.worlds(), |i| Some(sign * sample.unanswered_excess(i)?)) {
        Ok(jack) => Bound {
            margin: jack.value,
            half_width: one_sided_95(jack.degrees()) * jack.standard_error(),
            scale: 1.0,
            growth: Growth::Root,
        }
        .outcome(sample.worlds()),
        Err(note) => missing(sample, note),
    }
}

fn missing(sample: &Sample<'_>, note: Note) -> Outcome {
    let worlds_needed = match note {
        Note::OneWorld => Some(PLANNED_WORLDS),
        Note::FewExceedances { found } => {
            planned(sample.worlds(), MIN_EXCEEDANCES as f64 / found as f64)
        }
        // What rests on one world is likely to be met again in as many once more.
        Note::Fragile => planned(sample.worlds(), 2.0).map(|worlds| worlds.max(PLANNED_WORLDS)),
        Note::NothingMeasured
        | Note::NotModelled
        | Note::IfIndependent
        | Note::Unanswered
        | Note::Reached { .. } => None,
    };
    undecided(worlds_needed, Doubt::Missing(note))
}

const fn undecided(worlds_needed: Option<u32>, doubt: Doubt) -> Outcome {
    Outcome::Undecided { worlds_needed, doubt }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Passed => f.write_str("passed"),
            Outcome::Failed => f.write_str("failed"),
            Outcome::Undecided { worlds_needed: Some(worlds), doubt } => {
                write!(f, "undecided ({doubt}); about {worlds} worlds would decide it")
            }
            Outcome::Undecided { worlds_needed: None, doubt } => write!(f, "undecided ({doubt})"),
        }
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Doubt::Noise => f.write_str("within the noise"),
            Doubt::Missing(note) => note.fmt(f),
            Doubt::Stickiness => f.write_str("turns with the stickiness of failures"),
        }
    }
}

#[cfg(test)]
mod tests;
