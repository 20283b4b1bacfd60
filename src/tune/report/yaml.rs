//! Plain data as YAML that people can read.

use serde_json::Value;

/// A document: mappings and lists of mappings in blocks, the rest on one line each.
pub(super) fn document(value: &Value) -> String {
    let mut text = String::new();
    block(&mut text, value, 0);
    text
}

fn block(text: &mut String, value: &Value, indent: usize) {
    let fields = value.as_object().expect("a block is a mapping");
    for (key, value) in fields {
        *text += &format!("{:indent$}{}:", "", scalar_text(key));
        entry(text, value, indent);
    }
}

fn entry(text: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            text.push('\n');
            block(text, value, indent + 2);
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            text.push('\n');
            for item in items {
                *text += &format!("{:indent$}  - {}\n", "", flow(item));
            }
        }
        _ => *text += &format!(" {}\n", flow(value)),
    }
}

/// On one line.
pub(super) fn flow(value: &Value) -> String {
    match value {
        Value::String(text) => scalar_text(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(flow).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(fields) => {
            let fields = fields.iter().map(|(k, v)| format!("{}: {}", scalar_text(k), flow(v)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// Bare where nothing can be taken for another type or for syntax.
fn scalar_text(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '%');
    let is_word = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_quantity =
        text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(['%', 's', 'm', 'h', 'd']);
    let reserved = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let bare = text.chars().all(plain)
        && (is_word || is_quantity)
        && !reserved.contains(&text.to_ascii_lowercase().as_str());
    if bare { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::input::{SourceFile, read_yaml};

    #[test]
    fn what_is_written_is_read_again() {
        let value = json!({
            "name": "a-b",
            "words": "x: y # z",
            "matrix": {"rate_limited": {"retry": "no", "more": []}},
            "breakers": [{"key": ["provider", "model"], "open_for": "30s", "share": "12.5%"}],
            "flags": [true, null, 3, "1e5", "$0.05", "0x1f", "12", "1m"],
            "none": null,
        });
        let text = document(&value);
        let file = SourceFile { name: "t.yaml".into(), text: text.clone(), folder: None };
        assert_eq!(read_yaml::<Value>(&file).unwrap(), value, "{text}");
        assert!(
            text.contains("  - {key: [provider, model], open_for: 30s, share: 12.5%}\n"),
            "{text}"
        );
    }
}
