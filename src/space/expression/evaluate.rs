//! Whether a condition holds of a policy.

use serde_json::Value as Json;

use super::super::document::{get, variant};
use super::super::quantity::{Kind, Quantity};
use super::{Expression, Node, Operator};

/// What a part of a condition comes to.
#[derive(Clone, PartialEq, Debug)]
enum Value {
    Figure(Quantity),
    Word(String),
    Truth(bool),
    /// A part of a policy, which is there.
    Part,
    Nothing,
}

impl Expression {
    /// Whether it holds of this document. A comparison of sizes with a field that has no value
    /// holds: what is absent limits nothing.
    ///
    /// # Errors
    /// It compares or reckons with what does not go together.
    pub(in super::super) fn holds(&self, document: &Json) -> Result<bool, String> {
        match value(&self.root, document)? {
            Value::Truth(truth) => Ok(truth),
            other => Err(format!("expected a comparison, found {}", noun(&other))),
        }
    }
}

fn value(node: &Node, document: &Json) -> Result<Value, String> {
    Ok(match node {
        Node::Figure(figure) => Value::Figure(*figure),
        Node::Word(word) => Value::Word(word.clone()),
        Node::Truth(truth) => Value::Truth(*truth),
        Node::Nothing => Value::Nothing,
        Node::Field(path) => match get(document, path) {
            None | Some(Json::Null) => Value::Nothing,
            Some(Json::Bool(truth)) => Value::Truth(*truth),
            Some(held) => match (Quantity::of(held), variant(held)) {
                (Some(figure), _) => Value::Figure(figure),
                (None, Some(name)) => Value::Word(name.into()),
                (None, None) => Value::Part,
            },
        },
        Node::Not(inner) => Value::Truth(!truth(inner, document, "not")?),
        Node::Both(Operator::And, left, right) => {
            let left = truth(left, document, "and")?;
            Value::Truth(left && truth(right, document, "and")?)
        }
        Node::Both(Operator::Or, left, right) => {
            let left = truth(left, document, "or")?;
            Value::Truth(left || truth(right, document, "or")?)
        }
        Node::Both(operator, left, right) => {
            combine(*operator, &value(left, document)?, &value(right, document)?)?
        }
    })
}

fn truth(node: &Node, document: &Json, of: &str) -> Result<bool, String> {
    match value(node, document)? {
        Value::Truth(truth) => Ok(truth),
        other => Err(format!("`{of}` takes a comparison, found {}", noun(&other))),
    }
}

fn combine(operator: Operator, left: &Value, right: &Value) -> Result<Value, String> {
    use Operator::{AtLeast, AtMost, Equal, Less, Minus, More, Over, Plus, Times, Unequal};
    let mixed = || {
        let sign = operator.sign();
        Err(format!("`{sign}` does not go between {} and {}", noun(left), noun(right)))
    };
    match (operator, left, right) {
        (Equal | Unequal, Value::Figure(a), Value::Figure(b)) if a.kind != b.kind => mixed(),
        (Equal | Unequal, Value::Part, Value::Part) => mixed(),
        (Equal, a, b) => Ok(Value::Truth(a == b)),
        (Unequal, a, b) => Ok(Value::Truth(a != b)),
        (Less | AtMost | More | AtLeast, Value::Nothing, _)
        | (Less | AtMost | More | AtLeast, _, Value::Nothing) => Ok(Value::Truth(true)),
        (Plus | Minus | Times | Over, Value::Nothing, Value::Nothing | Value::Figure(_))
        | (Plus | Minus | Times | Over, Value::Figure(_), Value::Nothing) => Ok(Value::Nothing),
        (_, Value::Figure(a), Value::Figure(b)) => {
            let (x, y) = (a.amount, b.amount);
            let alike = a.kind == b.kind;
            let truth = |truth| Ok(Value::Truth(truth));
            let figure = |kind, amount| Ok(Value::Figure(Quantity { kind, amount }));
            match operator {
                Less if alike => truth(x < y),
                AtMost if alike => truth(x <= y),
                More if alike => truth(x > y),
                AtLeast if alike => truth(x >= y),
                Plus if alike => figure(a.kind, x + y),
                Minus if alike => figure(a.kind, x - y),
                Times if a.kind == Kind::Plain => figure(b.kind, x * y),
                Times if b.kind == Kind::Plain => figure(a.kind, x * y),
                Over if y == 0.0 => Err("divides by zero".into()),
                Over if b.kind == Kind::Plain => figure(a.kind, x / y),
                Over if alike => figure(Kind::Plain, x / y),
                _ => mixed(),
            }
        }
        _ => mixed(),
    }
}

fn noun(value: &Value) -> String {
    match value {
        Value::Figure(figure) => figure.kind.noun().into(),
        Value::Word(word) => format!("the name `{word}`"),
        Value::Truth(_) => "true or false".into(),
        Value::Part => "a part of the policy".into(),
        Value::Nothing => "no value".into(),
    }
}
