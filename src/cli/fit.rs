//! `fit`: a log made into a world.

use std::io::BufReader;
use std::path::{Path, PathBuf};

use windtunnel::fit::{Evidence, Fit, FittedFile};
use windtunnel::input::{InputError, SourceFile};
use windtunnel::log::{self, ColumnMap, Read};

use super::Outcome;
use super::args::{FitArgs, LogArgs};
use super::interrupt::{self, First};
use super::output::{OutFile, cannot_write, print, write_file};
use super::same_file::refuse_overwriting;

/// A log that was read.
pub(super) struct Recorded {
    pub(super) read: Read,
    pub(super) evidence: Evidence,
    pub(super) fit: Fit,
}

/// Writes the world of a log.
pub(super) fn fit(args: &FitArgs) -> Outcome {
    interrupt::watch(First::EndsAtOnce);
    let recorded = read(&args.log, &args.out)?;
    let files = recorded.fit.files(&recorded.evidence);
    write_all(&args.out, &files, &args.log.files())?;
    print(&recorded.fit.text(&recorded.read))?;
    let scenario = args.out.join(recorded.fit.scenario_path());
    print(&format!(
        "\n{} files in {}: read and edit them, then `windtunnel compare {} -p POLICY -p POLICY`\n",
        files.len(),
        args.out.display(),
        scenario.display()
    ))?;
    Ok(0)
}

/// Reads a log and fits a world to it, which is called as the folder is.
///
/// # Errors
/// The log cannot be read, or nothing in it can be used.
pub(super) fn read(args: &LogArgs, out: &Path) -> Result<Recorded, InputError> {
    let map = args.columns.as_deref().map(SourceFile::read).transpose()?;
    let map = map.as_ref().map(ColumnMap::read).transpose()?;
    let format = log::detect(&args.log, map)?;
    let name = args.log.display().to_string();
    let file = std::fs::File::open(&args.log)
        .map_err(|error| InputError::new(&name, format!("cannot be read: {error}")))?;
    let mut evidence = Evidence::new();
    let from = BufReader::with_capacity(1 << 20, file);
    let read = log::read(&name, from, format, |request| evidence.take(&request))?;
    evidence.finish();
    if !evidence.has_attempts() {
        return Err(InputError::new(&name, "holds requests, but no attempt that was sent")
            .fix("a fit needs to see what providers answered"));
    }
    let leaf = |path: &Path| path.file_name().map(|leaf| leaf.to_string_lossy().into_owned());
    let world = leaf(out).filter(|leaf| leaf != "..").unwrap_or_else(|| "fitted".into());
    let log = leaf(&args.log).unwrap_or_default();
    let fit = Fit::of(&world, &log, &read, &evidence);
    Ok(Recorded { read, evidence, fit })
}

/// Writes the files below a folder: all of them are opened before the first is put in its place.
///
/// # Errors
/// One cannot be written, or would take the place of a file that was read.
pub(super) fn write_all(
    folder: &Path,
    files: &[FittedFile],
    read: &[PathBuf],
) -> Result<(), InputError> {
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.path)).collect();
    for path in &paths {
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(|error| cannot_write(parent, &error))?;
    }
    let named: Vec<(&str, &Path)> = paths.iter().map(|path| ("--out", path.as_path())).collect();
    refuse_overwriting(&named, read)?;
    let opened: Vec<OutFile> =
        paths.iter().map(|path| OutFile::create(path)).collect::<Result<_, _>>()?;
    for (file, out) in files.iter().zip(opened) {
        write_file(out, file.text.as_bytes())?;
    }
    Ok(())
}

impl LogArgs {
    /// The files that are read.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        [Some(&self.log), self.columns.as_ref()].into_iter().flatten().cloned().collect()
    }
}
