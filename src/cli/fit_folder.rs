//! The folder of a fit: what stands there is not replaced unasked, for it may have been edited.

use std::fs;
use std::path::{Path, PathBuf};

use windtunnel::fit::FittedFile;
use windtunnel::input::InputError;

/// Where a fit keeps cards and traffic.
const FOLDERS: [&str; 2] = ["models", "traffic"];

/// Refuses a folder that holds one of these files, or cards or traffic of any fit, and one that is none.
///
/// # Errors
/// What stands there.
pub(super) fn refuse_standing(out: &Path, files: &[FittedFile<'_>]) -> Result<(), InputError> {
    refuse_no_folder(out)?;
    let standing = standing(out, files);
    let Some(first) = standing.first() else { return Ok(()) };
    let others = match standing.len() - 1 {
        0 => String::new(),
        1 => " and another file".into(),
        more => format!(" and {more} other files"),
    };
    let holds = format!("holds {}{others}, which may have been edited", first.display());
    Err(InputError::new(out.display().to_string(), holds)
        .fix("name a folder that is not there yet, or say `--overwrite`"))
}

/// Refuses a path that is a file, or has one where a fit has a folder.
///
/// # Errors
/// The file.
pub(super) fn refuse_no_folder(out: &Path) -> Result<(), InputError> {
    let places = [out.to_owned()].into_iter().chain(FOLDERS.map(|folder| out.join(folder)));
    for place in places {
        if fs::metadata(&place).is_ok_and(|found| !found.is_dir()) {
            return Err(InputError::new(place.display().to_string(), "is a file, not a folder")
                .fix("a fit is several files: name a folder for them"));
        }
    }
    Ok(())
}

/// Cards and traffic in the folder that are not among these files: an earlier fit's.
pub(super) fn left(out: &Path, files: &[FittedFile<'_>]) -> Vec<PathBuf> {
    let mut all = kept(out);
    all.retain(|path| files.iter().all(|file| out.join(&file.path) != *path));
    all
}

fn standing(out: &Path, files: &[FittedFile<'_>]) -> Vec<PathBuf> {
    let own = files.iter().map(|file| out.join(&file.path)).filter(|path| path.exists());
    let mut all: Vec<PathBuf> = own.chain(kept(out)).collect();
    all.sort();
    all.dedup();
    all
}

/// Cards and traffic that are there.
fn kept(out: &Path) -> Vec<PathBuf> {
    let folders = FOLDERS.iter().filter_map(|folder| fs::read_dir(out.join(folder)).ok());
    let mut all: Vec<PathBuf> =
        folders.flatten().filter_map(|entry| Some(entry.ok()?.path())).collect();
    all.retain(|path| path.is_file());
    all.sort();
    all
}
