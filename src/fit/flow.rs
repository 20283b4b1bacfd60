//! Values as one line of YAML, as people write them.

use serde::Serialize;
use serde_json::Value;

/// A value in flow style: `{constant: 3s}`. What is null or empty is left out.
pub(crate) fn flow(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("plain data");
    let mut text = String::new();
    write(&value, &mut text);
    text
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            out.push('{');
            let mut first = true;
            for (key, value) in map.iter().filter(|(_, value)| says(value)) {
                if !std::mem::take(&mut first) {
                    out.push_str(", ");
                }
                out.push_str(&scalar(key));
                out.push_str(": ");
                write(value, out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                write(item, out);
            }
            out.push(']');
        }
        Value::String(text) => out.push_str(&scalar(text)),
        other => out.push_str(&other.to_string()),
    }
}

fn says(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Object(map) => !map.is_empty(),
        _ => true,
    }
}

/// Text without quotes where YAML takes it for the same text.
pub(crate) fn scalar(text: &str) -> String {
    let plain = !text.is_empty()
        && text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '$')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./%$".contains(&b))
        && text.parse::<f64>().is_err()
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n", "inf", "nan"]
            .contains(&text.to_lowercase().as_str());
    // A JSON string is a double-quoted YAML scalar.
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_be_something_else_is_quoted() {
        for text in ["", "5", "1e3", "true", "No", "a: b", "#x", "it's", "-x", "~"] {
            assert!(scalar(text).starts_with('"'), "{text}");
        }
        for text in ["gpt-4o", "250ms", "12.5%", "$2.50", "a/b"] {
            assert_eq!(scalar(text), text);
        }
    }
}
