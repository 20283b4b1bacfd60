//! Names that people give to things.

use super::{InputError, Place};

/// Names that are shown in tables are no longer.
const LONGEST_NAME: usize = 64;

/// Refuses a name that tables, gates and files could not carry.
pub(crate) fn check_name(name: &str, at: &Place<'_>) -> Result<(), InputError> {
    let fix = "use the letters a to z, digits and `-_./:`";
    check(name, |c| c.is_ascii_alphanumeric(), fix, at)
}

/// The same of a name that tables alone carry: letters of any script.
pub(crate) fn check_title(name: &str, at: &Place<'_>) -> Result<(), InputError> {
    check(name, char::is_alphanumeric, "use letters, digits and `-_./:`", at)
}

fn check(
    name: &str,
    is_letter: fn(char) -> bool,
    fix: &str,
    at: &Place<'_>,
) -> Result<(), InputError> {
    if name.is_empty() {
        return Err(at.error("the name is empty").fix(fix));
    }
    if name.chars().count() > LONGEST_NAME {
        let message = format!("a name has at most {LONGEST_NAME} characters");
        return Err(at.error(message).fix("shorten it"));
    }
    // Files are written by names, in folders of the user's choice and nowhere else.
    if name.starts_with(['/', '.']) || name.split('/').any(|part| part == ".." || part == ".") {
        let fix = "begin it with a letter, a digit, `-`, `_` or `:`, and leave out `..`";
        return Err(at.error(format!("the name `{name}` is a path")).fix(fix));
    }
    match name.chars().find(|c| !(is_letter(*c) || "-_./:".contains(*c))) {
        Some(bad) => Err(at.error(format!("the name `{name}` holds `{bad}`")).fix(fix)),
        None => Ok(()),
    }
}
