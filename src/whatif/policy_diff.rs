//! What is different in another policy, field by field.

use serde::Serialize;
use serde_json::Value;
use windtunnel_policy::config::Policy;

/// One field of a policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Change {
    /// Its path.
    pub field: String,
    /// In the policy in force; null where it has none.
    pub from: Option<String>,
    /// In the other.
    pub to: Option<String>,
}

/// Fields that differ, in the order of the policy; names and descriptions apart.
pub(super) fn changes(from: &Policy, to: &Policy) -> Vec<Change> {
    let value = |policy: &Policy| serde_json::to_value(policy).expect("a policy is plain data");
    let mut found = Vec::new();
    differ("", &value(from), &value(to), &mut found);
    found.retain(|change| !["name", "description"].contains(&change.field.as_str()));
    found
}

fn differ(path: &str, from: &Value, to: &Value, found: &mut Vec<Change>) {
    if from == to {
        return;
    }
    if let (Value::Object(a), Value::Object(b)) = (from, to) {
        for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            let of =
                |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or(Value::Null);
            differ(&below, &of(a), &of(b), found);
        }
        return;
    }
    if let (Value::Array(a), Value::Array(b)) = (from, to)
        && a.len() == b.len()
        && a.iter().any(Value::is_object)
    {
        for (i, (a, b)) in a.iter().zip(b).enumerate() {
            differ(&format!("{path}[{i}]"), a, b, found);
        }
        return;
    }
    let shown = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    found.push(Change { field: path.into(), from: shown(from), to: shown(to) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_named() {
        let from = Policy::default();
        let mut to = Policy { name: "other".into(), ..from.clone() };
        to.attempts.max = from.attempts.max + 1;
        let change = Change {
            field: "attempts.max".into(),
            from: Some(from.attempts.max.to_string()),
            to: Some(to.attempts.max.to_string()),
        };
        assert_eq!(changes(&from, &to), [change]);
        assert_eq!(changes(&from, &from), []);
    }
}
