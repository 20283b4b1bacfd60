//! Conditions between the fields of a policy, such as
//! `timeouts.first_token * attempts.max <= envelope.deadline_total`.
//!
//! Fields are named by their paths; figures carry their units (`250ms`, `$0.05`, `20%`, `3`); names
//! of choices stand in quotes; `none` is what a field without a value holds. Operators, from the
//! loosest: `or`, `and`, `not`, comparisons, `+ -`, `* /`.

mod evaluate;
mod parse;
#[cfg(test)]
mod tests;

use super::path::FieldPath;
use super::quantity::Quantity;

/// A condition.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Expression {
    /// As it was written.
    pub(super) text: String,
    root: Node,
}

#[derive(Clone, PartialEq, Debug)]
enum Node {
    Field(FieldPath),
    Figure(Quantity),
    Word(String),
    Truth(bool),
    Nothing,
    Not(Box<Node>),
    Both(Operator, Box<Node>, Box<Node>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operator {
    Or,
    And,
    Less,
    AtMost,
    More,
    AtLeast,
    Equal,
    Unequal,
    Plus,
    Minus,
    Times,
    Over,
}

impl Operator {
    const fn sign(self) -> &'static str {
        match self {
            Operator::Or => "or",
            Operator::And => "and",
            Operator::Less => "<",
            Operator::AtMost => "<=",
            Operator::More => ">",
            Operator::AtLeast => ">=",
            Operator::Equal => "==",
            Operator::Unequal => "!=",
            Operator::Plus => "+",
            Operator::Minus => "-",
            Operator::Times => "*",
            Operator::Over => "/",
        }
    }

    /// Tighter operators have more.
    const fn strength(self) -> u8 {
        match self {
            Operator::Or => 1,
            Operator::And => 2,
            Operator::Plus | Operator::Minus => 5,
            Operator::Times | Operator::Over => 6,
            _ => 4,
        }
    }
}
