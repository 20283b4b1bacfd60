//! JSON Schema of the files people write, for editors.

use schemars::Schema;
use windtunnel_policy::config::Policy;

use crate::library::Kind;
use crate::scenario::{ModelCard, ScenarioFile};

/// The JSON Schema (draft 2020-12) of this kind of file; `None` for profiles, which no person
/// writes.
pub fn schema(kind: Kind) -> Option<Schema> {
    match kind {
        Kind::Scenario => Some(schemars::schema_for!(ScenarioFile)),
        Kind::Policy => Some(schemars::schema_for!(Policy)),
        Kind::Card => Some(schemars::schema_for!(ModelCard)),
        Kind::Profile => None,
    }
}

/// The schema as a file: indented, with a newline at its end.
pub fn schema_text(kind: Kind) -> Option<String> {
    let schema = schema(kind)?;
    let text = serde_json::to_string_pretty(&schema).expect("a schema is plain JSON");
    Some(text + "\n")
}

/// The names of the top-level fields of this kind of file.
pub(crate) fn fields(kind: Kind) -> Vec<String> {
    let schema = schema(kind);
    let properties = schema.as_ref().and_then(|s| s.get("properties")?.as_object());
    properties.map(|p| p.keys().cloned().collect()).unwrap_or_default()
}
