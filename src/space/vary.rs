//! `--vary FIELD=VALUES` in one argument.

use serde_json::Value;

use super::file::{Range, Scale, Vary};
use super::range::is_number;
use crate::input::{InputError, SourceFile, read_yaml};

/// More of an argument is not repeated in messages.
const LONGEST_SHOWN: usize = 100;

/// Reads an argument: `FIELD=A,B,C`, or `FIELD=LOW..HIGH` with `:log`, `:COUNT` or `:step=STEP`
/// behind it.
///
/// # Errors
/// What is wrong with it, and how such an argument looks.
pub(super) fn parse(argument: &str) -> Result<Vary, InputError> {
    let refuse = |message: String| {
        InputError::new(called(argument), message).fix(
            "write `FIELD=LOW..HIGH`, `FIELD=LOW..HIGH:log`, `FIELD=LOW..HIGH:COUNT`, \
             `FIELD=LOW..HIGH:step=STEP` or `FIELD=A,B,C`; of lists, `FIELD=[A,B],[C]`",
        )
    };
    let (field, values) = argument
        .split_once('=')
        .ok_or_else(|| refuse("has no `=` between the field and its values".into()))?;
    if field.trim().is_empty() {
        return Err(refuse("names no field before its `=`".into()));
    }
    let field = Some(field.trim().to_owned());
    if values.trim().is_empty() {
        return Err(refuse("has no values".into()));
    }
    let is_range = !values.trim_start().starts_with(['[', '{']);
    if let Some((low, rest)) = values.split_once("..").filter(|_| is_range) {
        let range = range(low, rest).map_err(refuse)?;
        return Ok(Vary { field, range: Some(range), ..Vary::default() });
    }
    if let Some((low, high)) = values.split_once('-').filter(|ends| are_numbers(*ends)) {
        let message = format!("`{values}` is no range; write `{}..{}`", low.trim(), high.trim());
        return Err(refuse(message));
    }
    let list = match is_one_list(values.trim()) {
        true => values.to_owned(),
        false => format!("[{values}]"),
    };
    let values = match yaml(&list) {
        Ok(Value::Array(values)) => values,
        Ok(_) => return Err(refuse("the values are no list".into())),
        Err(message) => return Err(refuse(message)),
    };
    Ok(Vary { field, values: Some(values), ..Vary::default() })
}

/// What messages call an argument: there may be several.
pub(super) fn called(argument: &str) -> String {
    let shown: String = argument.chars().take(LONGEST_SHOWN).collect();
    let cut = if shown.len() < argument.len() { "…" } else { "" };
    format!("--vary '{shown}{cut}'")
}

/// True for `[A,B]`, which lists the values; `[A],[B]` lists values that are lists.
fn is_one_list(text: &str) -> bool {
    if !text.starts_with('[') {
        return false;
    }
    let mut depth = 0;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth -= 1;
                if depth == 0 {
                    return text[at + 1..].trim().is_empty();
                }
            }
            (None, _) => {}
        }
    }
    // Never closed: as it stands, for the message.
    true
}

fn are_numbers((low, high): (&str, &str)) -> bool {
    [low, high].into_iter().all(|text| yaml(text).is_ok_and(|value| is_number(&value)))
}

fn range(low: &str, rest: &str) -> Result<Range, String> {
    if rest.starts_with('.') {
        return Err("there are three points between the ends".into());
    }
    let mut parts = rest.split(':');
    let high = parts.next().unwrap_or_default();
    let mut range =
        Range { from: yaml(low)?, to: yaml(high)?, scale: Scale::Linear, count: None, step: None };
    let mut scale = None;
    for part in parts.map(str::trim) {
        let is_first = match part {
            "log" => scale.replace(Scale::Log).is_none(),
            "linear" => scale.replace(Scale::Linear).is_none(),
            part => match (part.strip_prefix("step="), part.parse()) {
                (Some(step), _) => range.step.replace(yaml(step)?).is_none(),
                (None, Ok(count)) => range.count.replace(count).is_none(),
                _ => return Err(format!("`{part}` is neither `log`, nor a count, nor `step=…`")),
            },
        };
        if !is_first {
            return Err(format!("`{part}` is the second of its kind; leave one out"));
        }
    }
    range.scale = scale.unwrap_or(Scale::Linear);
    Ok(range)
}

fn yaml(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Err("an end of the range is missing".into());
    }
    let file = SourceFile { name: String::new(), text: text.trim().into(), folder: None };
    read_yaml(&file).map_err(|error| format!("`{}`: {}", text.trim(), error.message()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ranges_and_lists() {
        let got = parse("backoff.base=50ms..2s:log:7").unwrap();
        let want = Range {
            from: json!("50ms"),
            to: json!("2s"),
            scale: Scale::Log,
            count: Some(7),
            step: None,
        };
        assert_eq!((got.field.as_deref(), got.range), (Some("backoff.base"), Some(want)));
        let stepped = parse("attempts.max=1..9:step=2").unwrap().range.unwrap();
        assert_eq!((stepped.from, stepped.step), (json!(1), Some(json!(2))));
        let listed = parse("hedge=null, {after_quantile: 95%, at_least: 1s}").unwrap();
        let wanted = vec![json!(null), json!({"after_quantile": "95%", "at_least": "1s"})];
        assert_eq!(listed.values, Some(wanted));
        assert_eq!(parse("a=[true, 1]").unwrap().values, Some(vec![json!(true), json!(1)]));
    }

    #[test]
    fn values_that_are_lists() {
        for (text, wanted) in [
            ("a=[x,y],[x]", vec![json!(["x", "y"]), json!(["x"])]),
            ("a=[],[x]", vec![json!([]), json!(["x"])]),
            ("a=[x], none", vec![json!(["x"]), json!("none")]),
            ("a=[[x,y],[x]]", vec![json!(["x", "y"]), json!(["x"])]),
            ("a=[[x]]", vec![json!(["x"])]),
            ("a=[x,y]", vec![json!("x"), json!("y")]),
            ("a=[']', x]", vec![json!("]"), json!("x")]),
            ("a=[{b: [1]}],[{b: [2]}]", vec![json!([{"b": [1]}]), json!([{"b": [2]}])]),
        ] {
            assert_eq!(parse(text).unwrap().values, Some(wanted), "{text}");
        }
    }

    #[test]
    fn messages_name_the_argument_they_are_about() {
        let error = parse("attempts.max=1-5").unwrap_err().to_string();
        let wanted = "--vary 'attempts.max=1-5': `1-5` is no range; write `1..5`;";
        assert!(error.starts_with(wanted), "{error}");
        let long = format!("a=1..{}", "9".repeat(200));
        // The mark of the cut takes the place of all but a hundred characters.
        assert_eq!(called(&long).chars().count(), "--vary ''".len() + 100 + 1);
    }

    #[test]
    fn what_is_neither_is_refused() {
        for bad in [
            "a",
            "",
            "=1..2",
            "a=",
            "a=1..",
            "a=..2",
            "a=1..2:fast",
            "a={",
            "a=1..2:step=",
            "a=1...3",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        for twice in ["log:log", "log:linear", "3:4", "step=2:step=3", "log:5:log"] {
            let error = parse(&format!("a=1..9:{twice}")).unwrap_err().to_string();
            assert!(error.contains("is the second of its kind"), "{twice}: {error}");
        }
    }
}
