//! What rows say was set: a column for each choice, and one for each field that anything sets.

use std::borrow::Cow;

use serde_json::{Number, Value};

use super::header::{FieldColumn, Holds};
use crate::space::{FieldPath, Kind, PolicySpace, Quantity, Scale, Variant};

/// The columns of a space, and how a variant fills them.
pub(crate) struct Columns {
    columns: Vec<(FieldColumn, Source)>,
}

enum Source {
    /// The name of the option chosen in this dimension.
    Option(usize),
    /// The value of a field.
    Field(FieldPath),
}

impl Columns {
    pub(crate) fn of(space: &PolicySpace) -> Columns {
        let mut columns = Vec::new();
        for (position, dimension) in space.dimensions.iter().enumerate() {
            if dimension.is_choice() {
                let name = dimension.name.clone();
                let column = FieldColumn {
                    choice: Some(name.clone()),
                    name,
                    holds: Holds::Text,
                    scale: Scale::Linear,
                };
                columns.push((column, Source::Option(position)));
            }
        }
        for field in space.fields() {
            let holds = holds(&space.values_of(field));
            let column = FieldColumn {
                name: field.to_string(),
                holds,
                choice: choice(space, field),
                scale: space.scale_of(field),
            };
            columns.push((column, Source::Field(field.clone())));
        }
        Columns { columns }
    }

    pub(crate) fn headers(&self) -> Vec<FieldColumn> {
        self.columns.iter().map(|(column, _)| column.clone()).collect()
    }

    /// The cells of a variant; `null` where it has no value.
    pub(crate) fn cells(&self, space: &PolicySpace, variant: &Variant) -> Vec<Value> {
        let fill = |(column, source): &(FieldColumn, Source)| match source {
            Source::Option(dimension) => {
                let level = variant.levels[*dimension];
                level.map_or(Value::Null, |l| space.dimensions[*dimension].show(l).into())
            }
            Source::Field(field) => cell(column.holds, variant.value(field)),
        };
        self.columns.iter().map(fill).collect()
    }
}

/// The choice that alone sets a field.
fn choice(space: &PolicySpace, field: &FieldPath) -> Option<String> {
    let mut setting = space.dimensions.iter().filter(|d| d.fields.contains(field));
    let first = setting.next().filter(|dimension| dimension.is_choice())?;
    setting.next().is_none().then(|| first.name.clone())
}

/// What all of these values are, where they are alike.
fn holds(values: &[Cow<'_, Value>]) -> Holds {
    let present = || values.iter().filter(|value| !value.is_null());
    if present().next().is_some() && present().all(|value| value.is_boolean()) {
        return Holds::Truth;
    }
    let kinds: Option<Vec<Kind>> =
        present().map(|value| Quantity::of(value).map(|quantity| quantity.kind)).collect();
    let is_share = |value: &Cow<'_, Value>| value.as_str().is_some_and(|text| text.ends_with('%'));
    match kinds.as_deref() {
        // A share may be written as a number, too.
        Some(kinds) if kinds.iter().all(|k| *k == Kind::Plain) && present().any(is_share) => {
            Holds::Share
        }
        Some([first, rest @ ..]) if rest.iter().all(|kind| kind == first) => (*first).into(),
        _ => Holds::Text,
    }
}

fn cell(holds: Holds, value: Option<&Value>) -> Value {
    let Some(value) = value else { return Value::Null };
    match (holds, value) {
        (Holds::Number | Holds::Share | Holds::Seconds | Holds::Dollars, _) => {
            // Nine digits: a share is a multiple of 2⁻⁶³, not of a millionth.
            let amount = Quantity::of(value).map(|quantity| rounded(quantity.amount));
            amount.and_then(Number::from_f64).map_or(Value::Null, Value::Number)
        }
        (Holds::Truth, Value::Bool(_)) | (Holds::Text, Value::String(_)) => value.clone(),
        (Holds::Truth, _) => Value::Null,
        (Holds::Text, other) => Value::String(other.to_string()),
    }
}

fn rounded(amount: f64) -> f64 {
    format!("{amount:.9}").parse().expect("a printed float is a float")
}
