//! Figures with units, as people write them in gates.

use std::fmt;
use std::ops::Neg;

/// What a measure is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// A fraction, 0 to 1.
    Share,
    /// Seconds.
    Seconds,
    /// US dollars.
    Dollars,
    /// A plain number.
    Count,
}

impl Dimension {
    /// As much of an interval as there can be values.
    pub fn within(self, (low, high): (f64, f64)) -> (f64, f64) {
        match self {
            Dimension::Share => (low.max(0.0), high.min(1.0)),
            Dimension::Seconds | Dimension::Dollars | Dimension::Count => (low, high),
        }
    }
}

/// A figure in the unit it was written in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// In `unit`s; finite.
    pub magnitude: f64,
    /// What it was written in.
    pub unit: Unit,
}

/// Units of limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// No unit: a fraction, or a plain number.
    Plain,
    /// `%`
    Percent,
    /// `pp`, percentage points: a difference of shares.
    Points,
    /// `ms`
    Milliseconds,
    /// `s`
    Seconds,
    /// `m`
    Minutes,
    /// `$`, before the figure.
    Dollars,
}

impl Quantity {
    /// In the measure's own unit: a fraction, seconds, dollars or a plain number.
    pub fn value(self) -> f64 {
        match self.unit {
            Unit::Percent | Unit::Points => shifted(self.magnitude, -2),
            Unit::Milliseconds => shifted(self.magnitude, -3),
            Unit::Minutes => self.magnitude * 60.0,
            Unit::Plain | Unit::Seconds | Unit::Dollars => self.magnitude,
        }
    }
}

/// `x` with its decimal point moved: 99.9 % is then the same float as 0.999,
/// which dividing by 100 does not give.
fn shifted(x: f64, places: i32) -> f64 {
    format!("{x}e{places}").parse().expect("a printed float with an exponent is a float")
}

impl Dimension {
    /// How a limit of this dimension is written.
    pub(super) fn example(self) -> &'static str {
        match self {
            Dimension::Share => "a share, such as `99.5%` or `0.995`",
            Dimension::Seconds => "a time, such as `250ms`, `3s` or `2m`",
            Dimension::Dollars => "an amount, such as `$2.50`",
            Dimension::Count => "a plain number, such as `1.5`",
        }
    }

    /// True where figures of this dimension may carry `unit`.
    pub(super) fn takes(self, unit: Unit) -> bool {
        match self {
            Dimension::Share => matches!(unit, Unit::Plain | Unit::Percent | Unit::Points),
            Dimension::Seconds => {
                matches!(unit, Unit::Milliseconds | Unit::Seconds | Unit::Minutes)
            }
            Dimension::Dollars => unit == Unit::Dollars,
            Dimension::Count => unit == Unit::Plain,
        }
    }
}

impl Unit {
    /// The unit written after a figure as `text`.
    pub(super) fn from_suffix(text: &str) -> Option<Unit> {
        Some(match text {
            "" => Unit::Plain,
            "%" => Unit::Percent,
            "pp" => Unit::Points,
            "ms" => Unit::Milliseconds,
            "s" => Unit::Seconds,
            "m" => Unit::Minutes,
            _ => return None,
        })
    }

    fn suffix(self) -> &'static str {
        match self {
            Unit::Plain | Unit::Dollars => "",
            Unit::Percent => "%",
            Unit::Points => "pp",
            Unit::Milliseconds => "ms",
            Unit::Seconds => "s",
            Unit::Minutes => "m",
        }
    }
}

impl Neg for Quantity {
    type Output = Quantity;
    fn neg(self) -> Quantity {
        Quantity { magnitude: -self.magnitude, ..self }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.magnitude.is_sign_negative() { "-" } else { "" };
        let dollar = if self.unit == Unit::Dollars { "$" } else { "" };
        write!(f, "{sign}{dollar}{}{}", self.magnitude.abs(), self.unit.suffix())
    }
}
