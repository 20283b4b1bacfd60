//! The path of a field in a policy, such as `breakers[0].trip[0].rate_over_time.window`.

use std::fmt;

/// A path from a policy's root to one value in it; never empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FieldPath(Vec<Step>);

/// One step of a path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Step {
    /// A field, a row of the matrix, or the value of an enum under its name.
    Key(String),
    /// An element of a list.
    Index(usize),
}

impl FieldPath {
    /// Reads a path.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<FieldPath, String> {
        let mut steps = Vec::new();
        for part in text.split('.') {
            let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
            if key.is_empty() || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
                return Err(format!(
                    "`{text}` is no path of a field, such as `breakers[0].open_for`"
                ));
            }
            steps.push(Step::Key(key.to_owned()));
            while let Some(inner) = rest.strip_prefix('[') {
                let (number, after) = inner.split_once(']').unwrap_or((inner, "["));
                let index = number.parse().map_err(|_| {
                    format!("`{text}`: expected the number of a list's element between `[` and `]`")
                })?;
                steps.push(Step::Index(index));
                rest = after;
            }
            if !rest.is_empty() {
                return Err(format!("`{text}`: `{rest}` follows an element of a list"));
            }
        }
        Ok(FieldPath(steps))
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// This path from `around` on: `Some(None)` where they are the same, `None` where it does not
    /// lie there.
    pub(super) fn below(&self, around: &FieldPath) -> Option<Option<FieldPath>> {
        let rest = self.0.strip_prefix(around.0.as_slice())?;
        Some((!rest.is_empty()).then(|| FieldPath(rest.to_vec())))
    }

    /// The path of the first `steps` steps, as text.
    pub(super) fn head(&self, steps: usize) -> String {
        text(&self.0[..steps])
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&text(&self.0))
    }
}

fn text(steps: &[Step]) -> String {
    let mut text = String::new();
    for step in steps {
        match step {
            Step::Key(key) if text.is_empty() => text += key,
            Step::Key(key) => text += &format!(".{key}"),
            Step::Index(index) => text += &format!("[{index}]"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_and_written_alike() {
        for text in ["hedge", "backoff.base", "breakers[0].trip[12].rate_over_time.window"] {
            assert_eq!(FieldPath::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", ".", "a..b", "a[", "a[]", "a[x]", "a[0]b", "[0]", "a b", "a[0"] {
            assert!(FieldPath::parse(bad).is_err(), "{bad}");
        }
    }
}
