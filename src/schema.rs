//! JSON Schema of the files people write, for editors.

use schemars::Schema;
use windtunnel_policy::config::Policy;

use crate::library::Kind;
use crate::log::ColumnMap;
use crate::profile::Profile;
use crate::scenario::{ModelCard, ScenarioFile};
use crate::space::SpaceFile;

/// The JSON Schema (draft 2020-12) of this kind of file.
pub fn schema(kind: Kind) -> Schema {
    match kind {
        Kind::Scenario => schemars::schema_for!(ScenarioFile),
        Kind::Policy => schemars::schema_for!(Policy),
        Kind::Card => schemars::schema_for!(ModelCard),
        Kind::Profile => schemars::schema_for!(Profile),
        Kind::Space => schemars::schema_for!(SpaceFile),
    }
}

/// The schema as a file: indented, with a newline at its end.
pub fn schema_text(kind: Kind) -> String {
    text(&schema(kind))
}

/// The JSON Schema of a column mapping, as a file.
pub fn columns_text() -> String {
    text(&schemars::schema_for!(ColumnMap))
}

fn text(schema: &Schema) -> String {
    serde_json::to_string_pretty(schema).expect("a schema is plain JSON") + "\n"
}

/// The names of the top-level fields of this kind of file.
pub(crate) fn fields(kind: Kind) -> Vec<String> {
    properties(&schema(kind))
}

/// The names of the top-level fields of a file of this type.
pub(crate) fn fields_of<T: schemars::JsonSchema>() -> Vec<String> {
    properties(&schemars::schema_for!(T))
}

fn properties(schema: &Schema) -> Vec<String> {
    let properties = schema.get("properties").and_then(|value| value.as_object());
    properties.map(|p| p.keys().cloned().collect()).unwrap_or_default()
}
