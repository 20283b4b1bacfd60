//! Which gaps between log and simulation nobody would act on.

use serde::Serialize;
use windtunnel_policy::text::escaped;

use crate::whatif::figures::Unit;

/// How far a figure may be off before it matters. A long log has so little sampling error that gaps of no
/// consequence lie beyond it; a gap is held against the log where it is beyond both.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Tolerance {
    /// Of shares, as a fraction: 0.005 is half a percentage point.
    pub share: f64,
    /// Of times, costs and attempts per request, as a part of what the log says.
    pub part: f64,
}

impl Default for Tolerance {
    fn default() -> Tolerance {
        Tolerance { share: 0.005, part: 0.05 }
    }
}

/// Nobody waits for less, seconds.
const LEAST_SECONDS: f64 = 0.01;

impl Tolerance {
    /// This one, but for what `words` says: `0.5pp` of shares, or `5%` of the rest.
    ///
    /// # Errors
    /// It is neither; what was expected.
    pub fn with(self, words: &str) -> Result<Tolerance, String> {
        let number = |digits: &str| {
            let number = digits.trim().parse().ok().filter(|n: &f64| *n >= 0.0 && n.is_finite());
            number.ok_or_else(|| expected(words))
        };
        if let Some(points) = words.strip_suffix("pp") {
            return Ok(Tolerance { share: number(points)? / 100.0, ..self });
        }
        let percent = words.strip_suffix('%').ok_or_else(|| expected(words))?;
        Ok(Tolerance { part: number(percent)? / 100.0, ..self })
    }

    /// How far a figure may be off of which the log says this much.
    pub(super) fn of(self, logged: f64, counted: Counted) -> f64 {
        let part = logged.abs() * self.part;
        match counted {
            Counted::In(Unit::Share) => self.share,
            Counted::In(Unit::Seconds) if self.part > 0.0 => part.max(LEAST_SECONDS),
            Counted::In(Unit::Seconds | Unit::Dollars | Unit::Count) => part,
            Counted::PerRequest => part.max(self.share),
        }
    }

    /// In words.
    pub(in crate::whatif) fn words(self) -> String {
        let rounded = |part: f64| libm::round(part * 1e6) / 1e4;
        format!(
            "{} pp, or {} % of times, costs and attempts",
            rounded(self.share),
            rounded(self.part)
        )
    }
}

/// What a figure that is held against the log is counted in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counted {
    In(Unit),
    /// Attempts at one target, for each request of all: few where it is seldom tried.
    PerRequest,
}

impl Counted {
    pub(super) fn unit(self) -> Unit {
        match self {
            Counted::In(unit) => unit,
            Counted::PerRequest => Unit::Count,
        }
    }
}

fn expected(words: &str) -> String {
    format!(
        "`{}` is no tolerance: expected percentage points of shares, such as 0.5pp, or a part of times, costs and \
         attempts, such as 5%",
        escaped(words)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_says_what_it_is_of() {
        let both = Tolerance::default().with("1pp").and_then(|of| of.with("10 %"));
        assert_eq!(both, Ok(Tolerance { share: 0.01, part: 0.1 }));
        for wrong in ["", "5", "-1pp", "x%", "NaNpp", "inf%"] {
            assert!(Tolerance::default().with(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Tolerance::default().words(), "0.5 pp, or 5 % of times, costs and attempts");
    }

    #[test]
    fn what_is_tolerated_is_a_matter_of_size() {
        let of = |logged, counted| Tolerance::default().of(logged, counted);
        assert_eq!(of(0.9, Counted::In(Unit::Share)), 0.005);
        assert_eq!(of(8.0, Counted::In(Unit::Seconds)), 0.4);
        assert_eq!(of(0.1, Counted::In(Unit::Seconds)), 0.01, "no less than anybody notices");
        assert_eq!(of(2.0, Counted::PerRequest), 0.1);
        assert_eq!(of(0.001, Counted::PerRequest), 0.005);
        let none = Tolerance { share: 0.0, part: 0.0 };
        assert_eq!(none.of(8.0, Counted::In(Unit::Seconds)), 0.0);
    }
}
