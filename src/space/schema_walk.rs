//! Which fields a policy can have: paths held against the schema of policy files.

use std::sync::OnceLock;

use serde_json::Value;
use windtunnel_policy::config::Policy;

use super::path::{FieldPath, Step};
use super::refusal::Refusal;
use crate::input::did_you_mean;

/// How a step leads on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Leads {
    /// To a field, which may be absent so far.
    Field,
    /// Into the value of an enum, which must be there.
    Value,
    /// To an element of a list, which must be there.
    Element,
}

/// How each step of a path leads on.
///
/// # Errors
/// The first step that leads nowhere in any policy, with the nearest name.
pub(super) fn steps(path: &FieldPath) -> Result<Vec<Leads>, Refusal> {
    walk(path).map(|(leads, _)| leads)
}

/// The names that the value of a field can have; `None` where it is no choice among names, holds
/// texts a user makes up, or is no field at all.
pub(super) fn names(path: &FieldPath) -> Option<Vec<&'static str>> {
    let (_, values) = walk(path).ok()?;
    let mut names = Vec::new();
    for Alternative { schema, of_enum } in values {
        let given = |key: &str| schema.get(key).and_then(Value::as_array);
        match (schema.get("const"), given("enum"), given("required")) {
            (Some(name), ..) => names.push(name.as_str()?),
            (None, Some(several), _) => names.extend(several.iter().filter_map(Value::as_str)),
            (None, None, Some(required)) if of_enum && required.len() == 1 => {
                names.push(required[0].as_str()?);
            }
            _ if schema.get("type").and_then(Value::as_str) == Some("null") => {}
            _ => return None,
        }
    }
    (!names.is_empty()).then_some(names)
}

/// True where a policy writes `null` for a field without a value, and knows no name `none` for it.
pub(super) fn can_be_absent(path: &FieldPath) -> bool {
    let is_null = |alternative: &Alternative| match alternative.schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|one| one == "null"),
        Some(one) => one == "null",
        None => false,
    };
    let is_name = names(path).is_some_and(|names| names.contains(&"none"));
    !is_name && walk(path).is_ok_and(|(_, values)| values.iter().any(is_null))
}

/// True where a field holds a list and nothing else.
pub(super) fn is_list(path: &FieldPath) -> bool {
    let is_array = |alternative: &Alternative| {
        alternative.schema.get("type").is_some_and(|one| one == "array")
    };
    walk(path).is_ok_and(|(_, values)| !values.is_empty() && values.iter().all(is_array))
}

fn walk(path: &FieldPath) -> Result<(Vec<Leads>, Vec<Alternative>), Refusal> {
    let root = policy_schema();
    let mut here = alternatives(root, root);
    let mut leads = Vec::new();
    for (position, step) in path.steps().iter().enumerate() {
        let mut next = Vec::new();
        let mut kind = Leads::Field;
        match step {
            Step::Key(key) => {
                for Alternative { schema, of_enum } in &here {
                    if let Some(below) = schema.get("properties").and_then(|p| p.get(key)) {
                        next.extend(alternatives(root, below));
                        kind = if *of_enum { Leads::Value } else { Leads::Field };
                    } else if let Some(below) = named_freely(schema) {
                        next.extend(alternatives(root, below));
                    }
                }
            }
            Step::Index(_) => {
                kind = Leads::Element;
                for below in here.iter().filter_map(|a| a.schema.get("items")) {
                    next.extend(alternatives(root, below));
                }
            }
        }
        if next.is_empty() {
            return Err(nowhere(path, position, &here));
        }
        leads.push(kind);
        here = next;
    }
    Ok((leads, here))
}

/// One of the shapes a value may have.
struct Alternative {
    schema: &'static Value,
    /// It is one of the values of an enum.
    of_enum: bool,
}

/// The values of a map whose keys are names that a user gives.
fn named_freely(schema: &'static Value) -> Option<&'static Value> {
    schema.get("additionalProperties").filter(|below| below.is_object())
}

fn policy_schema() -> &'static Value {
    static SCHEMA: OnceLock<Value> = OnceLock::new();
    SCHEMA.get_or_init(|| schemars::schema_for!(Policy).to_value())
}

fn alternatives(root: &'static Value, schema: &'static Value) -> Vec<Alternative> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let pointer = reference.trim_start_matches('#');
        return root.pointer(pointer).map(|s| alternatives(root, s)).unwrap_or_default();
    }
    let list = |key: &str| schema.get(key).and_then(Value::as_array);
    if let Some(any) = list("anyOf") {
        return any.iter().flat_map(|one| alternatives(root, one)).collect();
    }
    if let Some(one) = list("oneOf") {
        return one.iter().map(|schema| Alternative { schema, of_enum: true }).collect();
    }
    vec![Alternative { schema, of_enum: false }]
}

fn nowhere(path: &FieldPath, position: usize, here: &[Alternative]) -> Refusal {
    let before = path.head(position);
    match &path.steps()[position] {
        Step::Index(_) => Refusal {
            message: format!("`{path}` leads nowhere: `{before}` is no list"),
            fix: format!("write `{before}` without a number"),
        },
        Step::Key(key) => {
            let properties = here.iter().filter_map(|a| a.schema.get("properties")?.as_object());
            let known: Vec<&str> = properties.flat_map(|p| p.keys().map(String::as_str)).collect();
            if known.is_empty() {
                let is_list = here.iter().any(|a| a.schema.get("items").is_some());
                let fix = match is_list {
                    true => format!("name an element of the list, such as `{before}[0].{key}`"),
                    false => format!("vary `{before}` itself"),
                };
                return Refusal {
                    message: format!("`{path}` leads nowhere: `{before}` has no fields"),
                    fix,
                };
            }
            let prefix = if before.is_empty() { String::new() } else { format!("{before}.") };
            let full: Vec<String> = known.iter().map(|name| format!("{prefix}{name}")).collect();
            let wrong = format!("{prefix}{key}");
            Refusal {
                message: format!("a policy has no field `{path}`"),
                fix: match crate::input::nearest(key, known.iter().copied()) {
                    Some(name) => format!("did you mean `{prefix}{name}`?"),
                    None => did_you_mean(&wrong, "field", full.iter().map(String::as_str)),
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn walk(path: &str) -> Result<Vec<Leads>, Refusal> {
        steps(&FieldPath::parse(path).unwrap())
    }

    #[test]
    fn every_kind_of_step() {
        use Leads::{Element, Field, Value};
        assert_eq!(walk("backoff.base"), Ok(vec![Field, Field]));
        assert_eq!(
            walk("breakers[0].trip[1].rate_over_time.window"),
            Ok(vec![Field, Element, Field, Element, Value, Field])
        );
        assert_eq!(walk("matrix.rate_limited.retry"), Ok(vec![Field; 3]));
        assert_eq!(walk("hedge.at_least"), Ok(vec![Field; 2]));
        assert_eq!(walk("retry_budgets[0].kind.ratio.share").map(|s| s[3]), Ok(Value));
    }

    #[test]
    fn which_fields_can_be_absent_and_which_are_lists() {
        for (path, absent, list) in [
            ("hedge", true, false),
            ("envelope.max_cost", true, false),
            ("attempts.max_before_fallback", true, false),
            ("attempts.max", false, false),
            // `none` is a rule of its own there.
            ("cooldown.rule", false, false),
            ("backoff", false, false),
            ("breakers", false, true),
            ("breakers[0].key", false, true),
            ("retry_budgets[1].governs", false, true),
        ] {
            let path = FieldPath::parse(path).unwrap();
            assert_eq!((can_be_absent(&path), is_list(&path)), (absent, list), "{path}");
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_nearest() {
        for (path, fix) in [
            ("backof.base", "did you mean `backoff`?"),
            ("backoff.bas", "did you mean `backoff.base`?"),
            ("breakers.open_for", "name an element of the list, such as `breakers[0].open_for`"),
            ("backoff.base.x", "vary `backoff.base` itself"),
            ("backoff[0]", "write `backoff` without a number"),
            (
                "breakers[0].trip[0].rate_over_tme",
                "did you mean `breakers[0].trip[0].rate_over_time`?",
            ),
            ("matrix.rate_limitd", "did you mean `matrix.rate_limited`?"),
        ] {
            assert_eq!(walk(path).unwrap_err().fix, fix, "{path}");
        }
    }
}
