//! Markdown tables of the fields and values of a JSON Schema's types.

use serde_json::Value;
use windtunnel_policy::config::Policy;

/// What people call the types that are written as one word or number.
const UNITS: [(&str, &str); 6] = [
    ("Duration", "duration"),
    ("Money", "money"),
    ("Share", "share"),
    ("Rate", "rate"),
    ("Factor", "factor"),
    ("Tokens", "tokens"),
];

/// One table for each type of a schema, by the type's name.
pub(crate) struct Tables(Vec<(String, String)>);

impl Tables {
    /// The tables of a schema whose root type has this name.
    pub(crate) fn new(root: &str, schema: &Value) -> Tables {
        let mut tables = vec![(root.to_string(), table(schema))];
        let definitions = schema["$defs"].as_object().into_iter().flatten();
        for (name, definition) in definitions {
            if definition["properties"].is_object() || definition["oneOf"].is_array() {
                tables.push((name.clone(), table(definition)));
            }
        }
        Tables(tables)
    }

    /// Adds the tables of another schema; a type that both have must be the same.
    pub(crate) fn append(&mut self, other: Tables) {
        for (name, table) in other.0 {
            match self.get(&name) {
                Some(known) => assert_eq!(known, table, "two types are called {name}"),
                None => self.0.push((name, table)),
            }
        }
    }

    /// Replaces the table of the failure matrix by the default rows.
    pub(crate) fn add_matrix(&mut self, policy: &Policy) {
        let file = serde_json::to_value(policy).expect("a policy is data");
        let mut table = String::from(
            "| Class | `retry` | `failover` | `substitution` | `blame` |\n|---|---|---|---|---|\n",
        );
        for (class, row) in file["matrix"].as_object().expect("rows by class") {
            let cell = |name: &str| row[name].as_str().expect("a rule's name").to_string();
            let cells = ["retry", "failover", "substitution", "blame"].map(cell);
            table += &format!("| `{class}` | {} |\n", cells.join(" | "));
        }
        let known = self.0.iter_mut().find(|(name, _)| name == "Matrix").expect("a matrix");
        known.1 = table;
    }

    /// The names of all types.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// The table of a type.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, table)| table.as_str())
    }
}

fn table(schema: &Value) -> String {
    match schema["oneOf"].as_array() {
        Some(values) => {
            let rows = values.iter().map(value_rows).collect::<String>();
            format!("| Value | Meaning |\n|---|---|\n{rows}")
        }
        None => {
            format!("| Field | Type | Default | Meaning |\n|---|---|---|---|\n{}", rows(schema))
        }
    }
}

fn rows(schema: &Value) -> String {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .map(|(name, field)| {
            let default = default_of(schema, name, field);
            format!("| `{name}` | {} | {default} | {} |\n", type_of(field), description(field))
        })
        .collect()
}

/// One row per value of an enum; the parts of a value follow its meaning.
fn value_rows(value: &Value) -> String {
    let meaning = description(value);
    if let Some(names) = value["enum"].as_array() {
        return names.iter().map(|name| format!("| `{}` | {meaning} |\n", text(name))).collect();
    }
    if value["const"].is_string() {
        return format!("| `{}` | {meaning} |\n", text(&value["const"]));
    }
    let (name, inner) = value["properties"]
        .as_object()
        .and_then(|properties| properties.iter().next())
        .expect("a value with one part");
    let Some(parts) = inner["properties"].as_object() else {
        return format!("| `{name}:` {} | {meaning} |\n", type_of(inner));
    };
    let part = |(part, field): (&String, &Value)| {
        let default = match default_of(inner, part, field).as_str() {
            "required" => String::new(),
            default => format!(", default {default}"),
        };
        format!(" • `{part}` ({}{default}): {}", type_of(field), description(field))
    };
    let names: Vec<&str> = parts.keys().map(String::as_str).collect();
    let parts: String = parts.iter().map(part).collect();
    format!("| `{name}: {{{}}}` | {meaning}{parts} |\n", names.join(", "))
}

fn default_of(owner: &Value, name: &str, field: &Value) -> String {
    let required = owner["required"].as_array().into_iter().flatten();
    if required.into_iter().any(|known| known == name) {
        return "required".into();
    }
    match &field["default"] {
        Value::Null => "none".into(),
        Value::Array(items) if items.is_empty() => "none".into(),
        Value::String(text) if text.is_empty() => "empty".into(),
        Value::String(text) => format!("`{text}`"),
        Value::Object(_) => "its own defaults".into(),
        other => format!("`{other}`").replace('"', "").replace(',', ", ").replace(':', ": "),
    }
}

/// What a field holds, in words, with a link to the table of its type.
fn type_of(field: &Value) -> String {
    if let Some(reference) = field["$ref"].as_str() {
        return named(reference.rsplit('/').next().unwrap_or_default());
    }
    if let Some(choices) = field["anyOf"].as_array() {
        return type_of(&choices[0]);
    }
    let kind = match &field["type"] {
        Value::Array(kinds) => text(&kinds[0]),
        kind => text(kind),
    };
    match kind {
        "array" if field["prefixItems"].is_array() => {
            let items = field["prefixItems"].as_array().into_iter().flatten();
            format!("[{}]", items.map(type_of).collect::<Vec<_>>().join(", "))
        }
        "array" => format!("list of {}", type_of(&field["items"])),
        "object" => format!("{} by name", type_of(&field["additionalProperties"])),
        "string" => "text".into(),
        "boolean" => "true or false".into(),
        kind => kind.into(),
    }
}

fn named(name: &str) -> String {
    if let Some((_, unit)) = UNITS.iter().find(|(known, _)| *known == name) {
        return (*unit).into();
    }
    match name.strip_prefix("RangeOf") {
        Some(inner) => format!("{0} or [{0}, {0}]", named(inner)),
        None => format!("[{name}](#{})", name.to_lowercase()),
    }
}

fn description(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("anything")
}
