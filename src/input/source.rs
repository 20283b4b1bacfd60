//! A file's text and the name it goes by in messages.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::InputError;

/// A text file, from disk or shipped inside the binary.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SourceFile {
    /// What messages call it: its path, or `models/x.yaml (shipped)`.
    pub name: String,
    /// Its text, without a byte order mark.
    pub text: String,
    /// Where the names in it are looked up first; none for a shipped file.
    pub folder: Option<PathBuf>,
}

/// No file of settings is larger; a trace is streamed and has its own limits.
const LARGEST: u64 = 16 << 20;

impl SourceFile {
    /// Reads a file of at most 16 MiB from disk.
    ///
    /// # Errors
    /// The file is missing, unreadable, a directory, too large, or not UTF-8.
    pub fn read(path: &Path) -> Result<SourceFile, InputError> {
        let name = path.display().to_string();
        let mut bytes = Vec::new();
        let mut file = open(path)?;
        Read::by_ref(&mut file)
            .take(LARGEST + 1)
            .read_to_end(&mut bytes)
            .map_err(|e| InputError::new(&name, format!("cannot be read: {}", plain(&e))))?;
        if bytes.len() as u64 > LARGEST {
            return Err(InputError::new(name, "is larger than 16 MiB")
                .fix("a scenario, card, policy or profile is much smaller"));
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(SourceFile { folder: Some(folder), ..SourceFile::from_bytes(name, bytes)? })
    }

    /// Takes bytes already read, from no folder.
    ///
    /// # Errors
    /// The bytes are not UTF-8.
    pub fn from_bytes(name: String, bytes: Vec<u8>) -> Result<SourceFile, InputError> {
        match String::from_utf8(bytes) {
            Ok(text) => {
                let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
                Ok(SourceFile { name, text, folder: None })
            }
            Err(error) => {
                let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
                let line = 1 + good.iter().filter(|b| **b == b'\n').count() as u64;
                let column = 1 + good.iter().rev().take_while(|b| **b != b'\n').count() as u64;
                Err(InputError::new(name, "is not UTF-8 text")
                    .at(line, column, "")
                    .fix("save it as UTF-8"))
            }
        }
    }

    /// The text of a line, counted from 1; empty beyond the end.
    pub fn line(&self, line: u64) -> &str {
        let skip = usize::try_from(line.saturating_sub(1)).unwrap_or(usize::MAX);
        self.text.lines().nth(skip).unwrap_or("")
    }
}

/// Opens a file for reading, refusing directories.
///
/// # Errors
/// The file is missing, unreadable or a directory.
pub fn open(path: &Path) -> Result<File, InputError> {
    let name = path.display().to_string();
    let refuse = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound if path == Path::new("-") => standard_input(),
        std::io::ErrorKind::NotFound => {
            InputError::new(&name, "no such file").fix("check the path")
        }
        _ => InputError::new(&name, format!("cannot be read: {}", plain(&e))),
    };
    let meta = std::fs::metadata(path).map_err(refuse)?;
    if meta.is_dir() {
        // What `fit` writes: the scenario is called as its folder is.
        let leaf = path.file_name().map(|leaf| leaf.to_string_lossy());
        let scenario = leaf.map(|leaf| path.join(format!("{leaf}.yaml")));
        let fix = match scenario.filter(|path| path.is_file()) {
            Some(scenario) => format!("name the scenario in it: `{}`", scenario.display()),
            None => "name one file in it".into(),
        };
        return Err(InputError::new(&name, "is a directory").fix(fix));
    }
    File::open(path).map_err(refuse)
}

/// What to tell who writes `-` for standard input.
pub(crate) fn standard_input() -> InputError {
    InputError::new(
        "-",
        "standard input has another name here, and logs and traces are read from files",
    )
    .fix("write `/dev/stdin` for a scenario, policy or card; save a log or trace to a file")
}

/// An operating system's message without its number.
pub(crate) fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_lowercase(),
        None => text,
    }
}
