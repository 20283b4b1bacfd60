//! Gates: conditions on a policy's measures, written by people.
//!
//! ```text
//! success >= base - 0.1pp        cost_per_1k <= base * 1.05
//! added_latency_p99 <= 3s        cost_per_1k <= $2.50
//! ```
//!
//! `base` is the same measure of the first policy, on the same worlds.

mod error;
mod evaluate;
mod parse;
mod quantity;

use std::fmt;

pub use error::{GateError, Problem};
pub use evaluate::{Doubt, GateResult, Outcome, combine, exit_code};
pub use quantity::{Dimension, Quantity, Unit};

/// A measure that gates may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known<'a> {
    /// As written in tables, JSON and gates.
    pub name: &'a str,
    /// What it is measured in, hence the units its limits may have.
    pub dimension: Dimension,
    /// Whether it may be below zero.
    pub signed: bool,
}

/// A condition on one measure. Displays as it can be parsed.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The measure's name.
    pub measure: String,
    /// Which side of the limit is good.
    pub relation: Relation,
    /// What the measure is held against.
    pub limit: Limit,
}

/// Which side of its limit a measure must keep to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>=`
    AtLeast,
    /// `<=`
    AtMost,
}

/// What a measure is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// A figure of its own.
    Absolute(Quantity),
    /// `base * factor + offset`.
    Relative {
        /// Above zero; 1 where none is written.
        factor: f64,
        /// Added; its magnitude is negative where the gate subtracts.
        offset: Option<Quantity>,
    },
}

impl Gate {
    /// Parses an expression such as `success >= base - 0.1pp`.
    ///
    /// # Errors
    /// Says what was expected and where, and the nearest name where the measure
    /// is not among `known`.
    pub fn parse(expression: &str, known: &[Known<'_>]) -> Result<Gate, GateError> {
        parse::gate(expression, known)
    }
}

impl Limit {
    /// The factor k and the offset c of a limit `k · base + c`, in the
    /// measure's own unit; an absolute limit has k = 0.
    fn terms(&self) -> (f64, f64) {
        match self {
            Limit::Absolute(quantity) => (0.0, quantity.value()),
            Limit::Relative { factor, offset } => (*factor, offset.map_or(0.0, |o| o.value())),
        }
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.measure, self.relation, self.limit)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::AtLeast => ">=",
            Relation::AtMost => "<=",
        })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (factor, offset) = match self {
            Limit::Absolute(quantity) => return quantity.fmt(f),
            Limit::Relative { factor, offset } => (factor, offset),
        };
        f.write_str("base")?;
        if *factor != 1.0 {
            write!(f, " * {factor}")?;
        }
        match offset {
            None => Ok(()),
            Some(offset) if offset.magnitude.is_sign_negative() => write!(f, " - {}", -*offset),
            Some(offset) => write!(f, " + {offset}"),
        }
    }
}
