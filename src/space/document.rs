//! A policy as a document whose fields can be read and set by path.

use serde_json::{Map, Value};
use windtunnel_policy::config::Policy;

use super::path::{FieldPath, Step};
use super::schema_walk::Leads;

/// The policy with every field written out.
pub(super) fn document(policy: &Policy) -> Value {
    let plain = "a policy is plain data";
    let mut document = serde_json::to_value(policy).expect(plain);
    // Left out where it is the default.
    let side_effects = serde_json::to_value(&policy.side_effects).expect(plain);
    let fields = document.as_object_mut().expect("a policy has fields");
    fields.entry("side_effects").or_insert(side_effects);
    document
}

/// The value of a path; `None` where this document has none.
pub(super) fn get<'d>(document: &'d Value, path: &FieldPath) -> Option<&'d Value> {
    let mut here = document;
    for step in path.steps() {
        here = match step {
            Step::Key(key) => here.get(key.as_str())?,
            Step::Index(index) => here.get(*index)?,
        };
    }
    Some(here)
}

/// Sets the value of a path. What is absent on the way to a field comes to be.
///
/// # Errors
/// The path leads through an element or an enum's value that is not there.
pub(super) fn set(
    document: &mut Value,
    path: &FieldPath,
    leads: &[Leads],
    value: Value,
) -> Result<(), String> {
    let mut here = document;
    for (position, (step, leads)) in path.steps().iter().zip(leads).enumerate() {
        let name = || path.head(position);
        here = match (step, leads) {
            (Step::Index(index), _) => {
                let length = here.as_array().map_or(0, Vec::len);
                here.get_mut(*index).ok_or_else(|| {
                    format!("`{path}` leads nowhere: `{}` has {length} elements", name())
                })?
            }
            (Step::Key(key), Leads::Value) => {
                let held = variant(here).unwrap_or("nothing").to_owned();
                here.get_mut(key.as_str()).ok_or_else(|| {
                    format!("`{path}` leads nowhere: `{}` is `{held}`, not `{key}`", name())
                })?
            }
            (Step::Key(key), _) => {
                if here.is_null() {
                    *here = Value::Object(Map::new());
                }
                let fields = here.as_object_mut();
                let fields = fields.ok_or_else(|| format!("`{}` has no fields", name()))?;
                fields.entry(key.as_str()).or_insert(Value::Null)
            }
        };
    }
    *here = value;
    Ok(())
}

/// The name of an enum's value, with or without anything under it.
pub(super) fn variant(value: &Value) -> Option<&str> {
    match value {
        Value::String(name) => Some(name),
        Value::Object(fields) if fields.len() == 1 => fields.keys().next().map(String::as_str),
        _ => None,
    }
}
