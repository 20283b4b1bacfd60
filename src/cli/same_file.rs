//! Whether two paths lead to one file, so that no output takes the place of another file in use.

use std::fs;
use std::path::{Path, PathBuf};

use windtunnel::input::InputError;

use super::output::folder_of;

/// Longer chains of links lead nowhere on any system.
const MOST_LINKS: usize = 40;

/// Refuses outputs that are one file, or a file that is read. Each output comes with its option.
///
/// # Errors
/// The first output that is also something else.
pub(super) fn refuse_overwriting(
    outputs: &[(&str, &Path)],
    inputs: &[PathBuf],
) -> Result<(), InputError> {
    for (i, (option, path)) in outputs.iter().enumerate() {
        let refuse = |message: String| {
            let error = InputError::new(path.display().to_string(), message);
            Err(error.fix("give each output a file of its own"))
        };
        if let Some((other, _)) = outputs[..i].iter().find(|(_, other)| same(other, path)) {
            return refuse(format!("is to be written by {other} and by {option}"));
        }
        if let Some(input) = inputs.iter().find(|input| same(input, path)) {
            return refuse(format!("is read as {}: {option} would overwrite it", input.display()));
        }
    }
    Ok(())
}

/// The outputs that were asked for, each with its option.
pub(super) fn asked_for<'a>(
    outputs: &[(&'a str, &'a Option<PathBuf>)],
) -> Vec<(&'a str, &'a Path)> {
    outputs.iter().filter_map(|(option, path)| Some((*option, path.as_deref()?))).collect()
}

/// True where both lead to one file, which need not exist yet.
pub(super) fn same(a: &Path, b: &Path) -> bool {
    place(a) == place(b) || one_inode(a, b)
}

/// The path without links and detours.
pub(super) fn place(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(found) = fs::canonicalize(&path) {
            return found;
        }
        // What does not exist may still be named by a link.
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => break,
        }
    }
    match (fs::canonicalize(folder_of(&path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// Two names of one file: hard links, or spellings a file system takes for the same.
#[cfg(unix)]
fn one_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn one_inode(_: &Path, _: &Path) -> bool {
    false
}
