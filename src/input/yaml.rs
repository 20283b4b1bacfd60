//! YAML (and JSON, a subset of it) into types, with errors for people.

use serde::de::DeserializeOwned;
use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{DuplicateKeyPolicy, Error, MergeKeyPolicy, NonFiniteFloatPolicy, Options};

use super::tree::Node;
use super::{InputError, SourceFile, did_you_mean};

/// Reads a value of type `T` from a file's text.
///
/// # Errors
/// The text is no YAML, holds unknown, missing or repeated fields or values of another type, or
/// is too large or too deep. The error stands at the place of the mistake.
pub fn read_yaml<T: DeserializeOwned>(file: &SourceFile) -> Result<T, InputError> {
    if file.text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Err(InputError::new(&file.name, "is empty")
            .fix("`windtunnel list` names shipped files to start from"));
    }
    serde_saphyr::from_str_with_options(&file.text, options()).map_err(|e| explain(file, &e))
}

/// The same of a file that is to be of one kind, `what`, such as "a policy": the error says so.
///
/// # Errors
/// As [`read_yaml`].
pub fn read_yaml_as<T: DeserializeOwned>(
    what: &'static str,
    file: &SourceFile,
) -> Result<T, InputError> {
    read_yaml(file).map_err(|error| error.seeking(what))
}

/// One set of limits for every reading of a file. Anchors and aliases are refused: no file needs
/// them, and they are how a small file becomes a large one.
fn options() -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_nodes: 200_000,
            max_depth: 32,
            max_aliases: 0,
            max_anchors: 0,
            max_documents: 1,
        },
        strict_booleans: true,
        reject_unsupported_tags: true,
        merge_keys: MergeKeyPolicy::Error,
        with_snippet: false,
    }
}

/// The same limits, for finding places in a file that is refused for what it says.
pub(super) fn lenient() -> Options {
    let mut options = options();
    options.duplicate_keys = DuplicateKeyPolicy::LastWins;
    options.non_finite_float_policy = NonFiniteFloatPolicy::PassThrough;
    options
}

/// What went wrong, in our words, with the field and the nearest names.
fn explain(file: &SourceFile, error: &Error) -> InputError {
    let error = innermost(error);
    let (message, fix) = words(file, error);
    let out = InputError::new(&file.name, message).fix(fix);
    let Some(at) = error.location().filter(|at| at.line() > 0) else { return out };
    let mut position = (at.line(), at.column());
    let mut field = String::new();
    if let Some(tree) = Node::parse(&file.text) {
        (field, position) = match error {
            Error::SerdeMissingField { field, .. } => tree.around(position, field),
            // The reader stands behind the name, wherever the next begins.
            _ if lacks_value(file, error) => {
                position = tree.leaf_before(position).unwrap_or(position);
                (tree.path_at(position), position)
            }
            _ => (tree.path_at(position), position),
        };
    }
    out.field(field).at(position.0, position.1, file.line(position.0))
}

fn innermost(error: &Error) -> &Error {
    match error.without_snippet() {
        Error::AliasError { error, .. } => innermost(error),
        other => other,
    }
}

/// The message and the fix.
fn words(file: &SourceFile, error: &Error) -> (String, String) {
    match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            ("unknown field".into(), did_you_mean(field, "field", expected.iter().copied()))
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => (
            match variant.as_str() {
                // How the parser writes a value that is not there.
                "~" => "expected a value, found nothing".into(),
                _ => format!("unknown value `{}`", short(variant)),
            },
            did_you_mean(variant, "value", expected.iter().copied()),
        ),
        Error::SerdeMissingField { field, .. } => {
            ("is missing".into(), format!("add `{field}: …`"))
        }
        Error::DuplicateMappingKey { .. } => ("is given twice".into(), "remove one of them".into()),
        Error::Eof { .. } => ("the file ends too early".into(), "complete it".into()),
        Error::MultipleDocuments { .. } => several_documents(),
        Error::SerdeInvalidType { unexpected, expected, .. }
        | Error::SerdeInvalidValue { unexpected, expected, .. } => {
            (format!("expected {expected}, found {}", short(unexpected)), String::new())
        }
        Error::SerdeInvalidLength { len, expected, .. } => {
            (format!("expected {expected}, found {len}"), String::new())
        }
        Error::InvalidScalar { ty, location } => {
            (format!("expected {}, found {}", kind(ty), found(file, location)), String::new())
        }
        Error::InvalidBooleanStrict { location } => {
            (format!("expected true or false, found {}", found(file, location)), String::new())
        }
        Error::NullIntoString { .. } => ("expected a value, found nothing".into(), String::new()),
        Error::ExternallyTaggedEnumExpectedScalarOrMapping { location } => (
            format!("expected one name, or one name with a value, found {}", found(file, location)),
            String::new(),
        ),
        error if lacks_value(file, error) => without_value(),
        Error::Unexpected { expected, location } => {
            (format!("expected {}, found {}", kind(expected), found(file, location)), String::new())
        }
        Error::NonFiniteFloat { value, .. } => {
            (format!("expected a finite number, found `{}`", short(value)), String::new())
        }
        Error::UnknownAnchor { .. } => aliases(),
        Error::Budget { breach, .. } => limits(breach),
        other => match plain_text(other) {
            text if text.starts_with("recursion limit") => too_deep(),
            text => REWORDED.iter().find(|(theirs, ..)| text.contains(theirs)).map_or_else(
                || (text.clone(), String::new()),
                |(_, ours, fix)| ((*ours).into(), (*fix).into()),
            ),
        },
    }
}

/// Messages of the parser that speak of its own affairs: a part of each, then what we say and how it is
/// mended.
const REWORDED: [(&str, &str, &str); 4] = [
    ("merge keys", "merge keys (`<<`) are not used here", "write the fields out"),
    (
        "expected end of mapping after enum variant value",
        "a second name where one is meant",
        "keep one of them; in a list, begin an entry of its own with `- `",
    ),
    ("value for unit enum variant", "takes no value", "write the name alone"),
    ("found a tab", "a tab, here or in the next line", "indent with spaces"),
];

/// How the parser tells that a map ends where a value should be.
const AT_END: &str = "unexpected mapping end";

/// Whether a name stands alone that has a value: the reader wants one value where another thing begins or
/// this one ends, or meets that end itself.
fn lacks_value(file: &SourceFile, error: &Error) -> bool {
    match error {
        Error::Unexpected { expected, location } => {
            let at_hand = found(file, location);
            kind(expected) == ONE_VALUE && at_hand != "fields" && at_hand != "a list"
        }
        other => plain_text(other).contains(AT_END),
    }
}

fn without_value() -> (String, String) {
    ("a value is missing after this name".into(), "write `name: value`".into())
}

fn several_documents() -> (String, String) {
    ("the file holds several YAML documents".into(), "keep one, without `---` after it".into())
}

fn aliases() -> (String, String) {
    ("YAML anchors and aliases are not used here".into(), "write the value out".into())
}

fn too_deep() -> (String, String) {
    ("is nested deeper than 32 levels".into(), "no file here needs more than ten".into())
}

fn limits(breach: &BudgetBreach) -> (String, String) {
    match breach {
        BudgetBreach::Aliases { .. } | BudgetBreach::Anchors { .. } => aliases(),
        BudgetBreach::Depth { .. } => too_deep(),
        BudgetBreach::Documents { .. } => several_documents(),
        _ => ("is too large".into(), "at most 200000 values fit in one file".into()),
    }
}

/// The parser's own words, without the place they end with.
fn plain_text(error: &Error) -> String {
    let text = error.to_string();
    let end = text.find(" at line ").or_else(|| text.find("\n")).unwrap_or(text.len());
    short(&text[..end])
}

const ONE_VALUE: &str = "one value";

/// A type's name for people.
fn kind(ty: &str) -> &str {
    match ty {
        "u16" => "a whole number up to 65535",
        "u32" => "a whole number up to 4294967295",
        "u8" | "u64" | "u128" | "usize" => "a whole number, not negative",
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        "mapping start" => "fields (`name: value`)",
        "sequence start" => "a list",
        "string scalar" | "scalar" => ONE_VALUE,
        other => other,
    }
}

/// The value at a place, as far as its line shows it.
fn found(file: &SourceFile, at: &serde_saphyr::Location) -> String {
    let skip = usize::try_from(at.column().saturating_sub(1)).unwrap_or(usize::MAX);
    let rest: String = file.line(at.line()).chars().skip(skip).collect();
    let value = rest.split(" #").next().unwrap_or("").trim_end();
    match value.chars().next() {
        None | Some(':') => "nothing".into(),
        Some('{') => "fields".into(),
        Some('[') => "a list".into(),
        Some('-') if !value[1..].starts_with(|c: char| c.is_ascii_digit()) => "a list".into(),
        Some(quote @ ('"' | '\'')) => {
            let end = value[1..].find(quote).map_or(value.len(), |at| at + 2);
            format!("`{}`", short(&value[..end]))
        }
        Some(_) => {
            // Within `{…}` or `[…]` the value ends where the next begins.
            let end = value.find([',', '}', ']']).unwrap_or(value.len());
            format!("`{}`", short(&value[..end]))
        }
    }
}

fn short(text: &str) -> String {
    let mut out: String = text.chars().take(80).collect();
    if out.len() < text.len() {
        out.push('…');
    }
    out
}
