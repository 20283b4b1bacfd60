//! Files that one process alone writes: locked for as long as they are open.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;

use windtunnel::input::{InputError, open};

use super::output::cannot_write;

/// Opens a file to be read and written by this process alone, and leaves what is in it as it is.
/// Where the file system knows no locks there is none.
///
/// # Errors
/// Another process has it, it is there though it `may_exist` not, or it cannot be opened.
pub(super) fn open_alone(path: &Path, may_exist: bool) -> Result<File, InputError> {
    loop {
        if may_exist && path.exists() {
            // A directory, or what cannot be read, is told as such.
            open(path).map(drop)?;
        }
        let mut how = OpenOptions::new();
        how.read(true).write(true).create(may_exist).create_new(!may_exist).truncate(false);
        let file = match how.open(path) {
            Err(error) if !may_exist && error.kind() == ErrorKind::AlreadyExists => {
                refuse_taken(path)?;
                let name = path.display().to_string();
                return Err(InputError::new(name, "is there, of an earlier sweep")
                    .fix("go on with it by `--resume`, or remove it"));
            }
            opened => opened.map_err(|error| cannot_write(path, &error))?,
        };
        if is_taken(&file) {
            return Err(taken(path));
        }
        // Whoever had it until now may have removed it, or put another in its place.
        if is_at(&file, path) {
            return Ok(file);
        }
    }
}

/// Refuses a file that another process writes, if there is one.
///
/// # Errors
/// It is being written.
pub(super) fn refuse_taken(path: &Path) -> Result<(), InputError> {
    // One that cannot be opened is told of by whoever needs it.
    let is_free = !path.is_file() || File::open(path).map_or(true, |file| !is_taken(&file));
    if is_free { Ok(()) } else { Err(taken(path)) }
}

/// Takes the lock; true where another process has it.
fn is_taken(file: &File) -> bool {
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

fn taken(path: &Path) -> InputError {
    let message = "is being written by another windtunnel";
    InputError::new(path.display().to_string(), message)
        .fix("wait for it to end, or stop it and go on by `--resume`")
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(opened), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (opened.dev(), opened.ino()) == (there.dev(), there.ino())
}

#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    fs::exists(path).unwrap_or(true)
}
