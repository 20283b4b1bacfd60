//! Where output goes: standard output, or a file that is either the old one or the whole new one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;
use windtunnel::input::InputError;

use super::interrupt::remove_at_end;
use super::same_file::place;

/// A file to be: written beside its place, put there when it is complete.
pub(super) struct OutFile {
    path: PathBuf,
    to: To,
}

enum To {
    /// Renamed at the end.
    Beside(NamedTempFile),
    /// A device or a pipe, which nothing can be renamed over.
    Direct(File),
}

impl OutFile {
    /// Opens a file for writing, so that one that cannot be written is known before the work.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<OutFile, InputError> {
        if path == "-" {
            return Err(InputError::new("-", "is no file here")
                .fix("leave `--out` away for standard output, or name a file: `./-` is one"));
        }
        // What a link names is written: to rename over the link would put a file in its place.
        // What it leads to may have no name of its own, such as a pipe: that is opened by the link.
        let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
            && fs::metadata(path).map_or(true, |found| found.is_file());
        let path = &if is_link { place(path) } else { path.to_owned() };
        let refuse = |error: &io::Error| cannot_write(path, error);
        let to = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                let error = InputError::new(path.display().to_string(), "is a directory");
                return Err(error.fix("name a file in it"));
            }
            Ok(found) if !found.is_file() => {
                To::Direct(OpenOptions::new().write(true).open(path).map_err(|e| refuse(&e))?)
            }
            Ok(found) if found.permissions().readonly() => {
                return Err(refuse(&ErrorKind::PermissionDenied.into()));
            }
            _ => To::Beside(beside(path).map_err(|e| refuse(&e))?),
        };
        Ok(OutFile { path: path.into(), to })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// It cannot be completed; the old file, if any, is as it was.
    pub(super) fn finish(mut self) -> Result<(), InputError> {
        self.flush().map_err(|error| cannot_write(&self.path, &error))?;
        match self.to {
            To::Direct(_) => Ok(()),
            To::Beside(file) => match file.persist(&self.path) {
                Ok(_) => Ok(()),
                Err(failed) => Err(cannot_write(&self.path, &failed.error)),
            },
        }
    }

    /// Where it will be.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Beside(file) => file.write(bytes),
            To::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Beside(file) => file.flush(),
            To::Direct(file) => file.flush(),
        }
    }
}

/// Writes a whole file at once.
///
/// # Errors
/// It cannot be completed.
pub(super) fn write_file(mut file: OutFile, bytes: &[u8]) -> Result<(), InputError> {
    file.write_all(bytes).map_err(|error| cannot_write(file.path(), &error))?;
    file.finish()
}

/// Writes to standard output. A reader that has gone, as `head` does, is no mistake.
///
/// # Errors
/// Standard output cannot be written for another reason.
pub(super) fn print(text: &str) -> Result<(), InputError> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(cannot_write(Path::new("standard output"), &error))
        }
        _ => Ok(()),
    }
}

/// The mistake of a file that cannot be written.
pub(super) fn cannot_write(path: &Path, error: &io::Error) -> InputError {
    let reason = match error.kind() {
        ErrorKind::NotFound => "there is no such directory".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::AlreadyExists => "it is a file, and a folder is wanted".into(),
        ErrorKind::StorageFull => "no space is left there".into(),
        ErrorKind::QuotaExceeded => "it goes beyond your quota".into(),
        ErrorKind::FileTooLarge => "it grows beyond the limit on files (`ulimit -f`)".into(),
        _ => {
            // Without the system's number, and without the name of the unfinished file.
            let text = error.to_string();
            text.split(" (os error").next().unwrap_or(&text).to_lowercase()
        }
    };
    InputError::new(path.display().to_string(), format!("cannot be written: {reason}"))
}

/// Makes a folder where there is none, and tries whether files can be put in it, so that one in which
/// they cannot is known before the work.
///
/// # Errors
/// It cannot be made or written.
pub(super) fn try_folder(folder: &Path) -> Result<(), InputError> {
    let tried = fs::create_dir_all(folder).and_then(|()| beside(&folder.join("chart")));
    tried.map(drop).map_err(|error| cannot_write(folder, &error))
}

/// The folder a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    let leaf = path.file_name().unwrap_or_default().to_string_lossy();
    // Cut, so that the longest name of a file has room for more.
    let prefix = format!(".{}.", leaf.chars().take(40).collect::<String>());
    builder.prefix(&prefix).suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: what the umask leaves of this.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder_of(path))?;
    remove_at_end(file.path().to_owned());
    Ok(file)
}
