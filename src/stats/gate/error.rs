//! What is wrong with a gate's text, and where.

use std::fmt;

use super::Dimension;

/// A gate that cannot be read. Displays with the text and a caret below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GateError {
    /// The text as given.
    pub expression: String,
    /// Where the problem starts, in characters from 0.
    pub column: usize,
    /// What the problem is.
    pub problem: Problem,
}

/// Ways for a gate to be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Longer than any sensible gate.
    TooLong {
        /// Characters allowed.
        limit: usize,
    },
    /// Empty, or it opens with an operator.
    NoMeasure,
    /// Not the name of a measure.
    UnknownMeasure {
        /// As written.
        name: String,
        /// The closest known name, if any is close.
        nearest: Option<String>,
    },
    /// Neither `>=` nor `<=`.
    NoRelation,
    /// Neither `base` nor a figure.
    NoLimit {
        /// Of the measure.
        dimension: Dimension,
    },
    /// A figure is missing after an operator.
    NoFigure {
        /// What was to follow.
        expected: &'static str,
    },
    /// A figure that no float holds.
    TooLarge,
    /// A unit that no measure has.
    UnknownUnit {
        /// As written.
        unit: String,
        /// Of the measure.
        dimension: Dimension,
    },
    /// A unit, or none, that this measure's limits do not take.
    WrongUnit {
        /// Of the measure.
        dimension: Dimension,
    },
    /// `pp` as a limit of its own.
    PointsAlone,
    /// `base + 1%`, which reads two ways.
    PercentOfBase,
    /// A limit below zero, of a measure that never is.
    Negative,
    /// A percentage above 100.
    MoreThanAll,
    /// A share outside 0 to 1, most often a forgotten `%`.
    ShareOutOfRange,
    /// `base * 0`.
    ZeroFactor,
    /// Something after the end.
    Trailing,
}

impl std::error::Error for GateError {}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One character a column, so that the caret stands where it should.
        let line: String =
            self.expression.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(f, "{}\n  {line}\n  {}^", self.problem, " ".repeat(self.column))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::TooLong { limit } => write!(f, "a gate has at most {limit} characters"),
            Problem::NoMeasure => f.write_str("expected the name of a measure"),
            Problem::UnknownMeasure { name, nearest: Some(nearest) } => {
                write!(f, "unknown measure `{name}`; the nearest is `{nearest}`")
            }
            Problem::UnknownMeasure { name, nearest: None } => {
                write!(f, "unknown measure `{name}`")
            }
            Problem::NoRelation => f.write_str("expected `>=` or `<=`"),
            Problem::NoLimit { dimension } => {
                write!(f, "expected `base` or {}", dimension.example())
            }
            Problem::NoFigure { expected } => write!(f, "expected {expected}"),
            Problem::TooLarge => f.write_str("this figure is too large"),
            Problem::UnknownUnit { unit, dimension } => {
                write!(f, "unknown unit `{unit}`; expected {}", dimension.example())
            }
            Problem::WrongUnit { dimension } => {
                write!(f, "wrong unit for this measure; expected {}", dimension.example())
            }
            Problem::PointsAlone => f.write_str(
                "percentage points are a difference: write `99%`, or `base - 1pp`",
            ),
            Problem::PercentOfBase => f.write_str(
                "a percentage added to `base` reads two ways: write `1pp` for percentage points, or `base * 1.01`",
            ),
            Problem::Negative => f.write_str(
                "this measure is never below zero: leave the `-` out, or write `base - …` for a difference",
            ),
            Problem::MoreThanAll => f.write_str("a share is at most 100%"),
            Problem::ShareOutOfRange => {
                f.write_str("a share lies between 0 and 1: is a `%` missing?")
            }
            Problem::ZeroFactor => {
                f.write_str("a factor of `base` is above zero: write the limit by itself")
            }
            Problem::Trailing => f.write_str("expected the end of the gate"),
        }
    }
}
