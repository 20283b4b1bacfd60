use crate::outcome::FailureClass;

/// What each failure class allows, and whom it blames.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Matrix(pub(super) [Row; FailureClass::ALL.len()]);

impl Matrix {
    /// The row of a class.
    pub const fn row(&self, class: FailureClass) -> Row {
        self.0[class as usize]
    }

    /// The same, where it is.
    pub(crate) const fn at(&self, class: FailureClass) -> &Row {
        &self.0[class as usize]
    }

    /// Replaces the row of a class.
    pub const fn set(&mut self, class: FailureClass, row: Row) {
        self.0[class as usize] = row;
    }
}

/// One row of the failure matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// The same target again.
    pub retry: RetryRule,
    /// Another target of the same model.
    pub failover: FailoverRule,
    /// Another, approved model.
    pub substitution: SubstitutionRule,
    /// What the failure does to the target's standing.
    pub blame: Blame,
}

/// When the same target may be tried again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RetryRule {
    /// Never.
    No,
    /// At most once, and only if the operation is idempotent: the outcome is ambiguous.
    OnceIfIdempotent,
    /// Within the attempt budgets, with backoff.
    Bounded,
    /// The same, and at most this often on any one target.
    UpTo(u16),
    /// Within the attempt budgets, and never before the provider's wait hint.
    Delayed,
}

/// When another target of the same model may be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FailoverRule {
    /// Never.
    No,
    /// Yes, if the operation is idempotent where the outcome is ambiguous.
    Yes,
    /// Only to a target validated for the same schema.
    IfValidated,
}

/// When another model may be tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SubstitutionRule {
    /// Never.
    No,
    /// If the product approved the model for the route class.
    IfApproved,
    /// If approved and validated for the same schema.
    IfApprovedAndValidated,
    /// Only to an approved model with a larger window that the prompt fits.
    LargerWindow,
}

/// What a failure does to the standing of its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Blame {
    /// Nothing.
    No,
    /// Counts in its breakers.
    Breaker,
    /// Starts its own cooldown, apart from the breakers.
    Cooldown,
    /// Isolates the target until it is verified.
    Isolate,
    /// Isolates every target of the account until its reset.
    IsolateAccount,
    /// Counts against its contract, not in its breakers: see `selection.substitutes`.
    Contract,
}

#[cfg(feature = "serde")]
mod files {
    //! A file names the rows it changes, and of a row the cells it changes.

    use alloc::collections::BTreeMap;

    use serde::ser::SerializeMap;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Blame, FailoverRule, FailureClass, Matrix, RetryRule, SubstitutionRule};

    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[cfg_attr(feature = "schema", schemars(rename = "MatrixRow"))]
    struct Cells {
        retry: Option<RetryRule>,
        failover: Option<FailoverRule>,
        substitution: Option<SubstitutionRule>,
        blame: Option<Blame>,
    }

    impl<'de> Deserialize<'de> for Matrix {
        fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Matrix, D::Error> {
            let mut matrix = Matrix::default();
            for (class, cells) in BTreeMap::<FailureClass, Cells>::deserialize(d)? {
                let row = &mut matrix.0[class as usize];
                row.retry = cells.retry.unwrap_or(row.retry);
                row.failover = cells.failover.unwrap_or(row.failover);
                row.substitution = cells.substitution.unwrap_or(row.substitution);
                row.blame = cells.blame.unwrap_or(row.blame);
            }
            Ok(matrix)
        }
    }

    impl Serialize for Matrix {
        fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
            let mut map = s.serialize_map(Some(FailureClass::ALL.len()))?;
            for class in FailureClass::ALL {
                map.serialize_entry(class.name(), &self.row(class))?;
            }
            map.end()
        }
    }

    #[cfg(feature = "schema")]
    impl schemars::JsonSchema for Matrix {
        fn schema_name() -> alloc::borrow::Cow<'static, str> {
            "Matrix".into()
        }

        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            let cells = generator.subschema_for::<Cells>();
            let mut schema = schemars::json_schema!({
                "type": "object", "properties": {}, "additionalProperties": false,
                "description": "Rows that differ from the documented default, by failure class."
            });
            let properties = schema.get_mut("properties").and_then(|value| value.as_object_mut());
            let properties = properties.expect("it is an object, just above");
            for class in FailureClass::ALL {
                properties.insert(class.name().into(), cells.clone().to_value());
            }
            schema
        }
    }
}
