//! One mistake in something a user wrote.

use std::fmt;

use windtunnel_policy::text::{escaped, is_unseen};

/// One mistake: where it is, what was expected, and how to mend it.
///
/// Prints as `file:line:column: field: message; fix` and the line with a caret below it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputError(Box<Parts>);

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Parts {
    file: String,
    line: u64,
    column: u64,
    field: String,
    message: String,
    fix: String,
    excerpt: String,
    sought: &'static str,
}

/// The widest piece of a source line that is shown.
const WIDEST: usize = 120;

impl InputError {
    /// A mistake in `file` as a whole.
    pub fn new(file: impl Into<String>, message: impl Into<String>) -> InputError {
        let (file, message) = (file.into(), message.into());
        InputError(Box::new(Parts { file, message, ..Parts::default() }))
    }

    /// With what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> InputError {
        self.0.fix = fix.into();
        self
    }

    /// With the field at fault, such as `targets.openai.weight`.
    #[must_use]
    pub fn field(mut self, path: impl Into<String>) -> InputError {
        self.0.field = path.into();
        self
    }

    /// With its place: line and column from 1, and the text of that line.
    #[must_use]
    pub fn at(mut self, line: u64, column: u64, text_of_line: &str) -> InputError {
        (self.0.line, self.0.column) = (line, column);
        self.0.excerpt = text_of_line.to_owned();
        self
    }

    /// With what the file was to be, such as "a policy".
    #[must_use]
    pub fn seeking(mut self, what: &'static str) -> InputError {
        self.0.sought = what;
        self
    }

    /// What the file was to be, such as "a policy"; empty where the mistake is of another sort.
    pub fn sought(&self) -> &'static str {
        self.0.sought
    }

    /// The file.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// Line from 1, where it is known.
    pub fn line(&self) -> Option<u64> {
        (self.0.line > 0).then_some(self.0.line)
    }

    /// Column from 1, in characters, where it is known.
    pub fn column(&self) -> Option<u64> {
        (self.0.column > 0).then_some(self.0.column)
    }

    /// The field at fault; empty where it is the file as a whole.
    pub fn path(&self) -> &str {
        &self.0.field
    }

    /// What is wrong, or what was expected.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do; empty where the message says it.
    pub fn remedy(&self) -> &str {
        &self.0.fix
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { file, line, column, field, message, fix, excerpt, .. } = &*self.0;
        let mut text = file.clone();
        if *line > 0 {
            text += &format!(":{line}");
        }
        if *column > 0 {
            text += &format!(":{column}");
        }
        for part in [field, message] {
            if !part.is_empty() {
                text += &format!(": {part}");
            }
        }
        if !fix.is_empty() {
            text += &format!("; {fix}");
        }
        f.write_str(&on_one_line(&text))?;
        if *line > 0 && !excerpt.trim().is_empty() {
            let (shown, caret) = window(excerpt, *column);
            write!(f, "\n{line:>5} | {shown}")?;
            if *column > 0 {
                write!(f, "\n      | {:caret$}^", "")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for InputError {}

/// A message without line breaks, its unseen characters escaped.
fn on_one_line(text: &str) -> String {
    escaped(&text.replace(['\n', '\r', '\t'], " "))
}

/// A line of a file, one column per character: what is not seen is a space or a `\u{fffd}`.
fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        _ if c.is_control() => ' ',
        _ if is_unseen(c) => char::REPLACEMENT_CHARACTER,
        _ => c,
    };
    text.chars().map(shown).collect()
}

/// The part of a line that is shown, and how many characters stand before the caret.
fn window(line: &str, column: u64) -> (String, usize) {
    let before = usize::try_from(column.saturating_sub(1)).unwrap_or(usize::MAX);
    let length = line.chars().count();
    let before = before.min(length);
    // A long line is cut so that the caret stands in its middle.
    let skipped = if length <= WIDEST { 0 } else { before.saturating_sub(WIDEST / 2) };
    let shown: String = line.chars().skip(skipped).take(WIDEST).collect();
    (printable(shown.trim_end()), before - skipped)
}
