//! `fit`: a log or a timeline made into a world.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use windtunnel::fit::{Evidence, Fit, FittedFile, NamedCard};
use windtunnel::input::{InputError, SourceFile, open};
use windtunnel::log::{self, ANYWHERE, ColumnMap, Format, Read, Shows};
use windtunnel::scenario::Scenario;
use windtunnel::timeline::Hypothesis;

use super::Outcome;
use super::args::{FitArgs, LogArgs};
use super::fit_folder::{left, refuse_no_folder, refuse_standing};
use super::incident;
use super::interrupt::{self, First};
use super::output::{OutFile, cannot_write, print};
use super::progress::{Progress, Watched};
use super::same_file::refuse_overwriting;

/// A log that was read.
pub(super) struct Recorded {
    pub(super) read: Read,
    pub(super) evidence: Evidence,
    pub(super) fit: Fit,
}

/// A world, and what it was made of.
pub(super) enum Made {
    /// A log.
    Fitted(Box<Recorded>),
    /// An incident's timeline.
    Supposed(Box<Hypothesis>),
}

/// Writes the world of a log or a timeline.
pub(super) fn fit(args: &FitArgs) -> Outcome {
    interrupt::watch(First::EndsAtOnce);
    let refuse = if args.overwrite { refuse_any_file } else { refuse_standing };
    // Once before the work, as far as it can be known, and once when all names are.
    refuse(&args.out, &[])?;
    let made = made(&args.log, Some(&args.out), false)?;
    let files = made.files();
    refuse(&args.out, &files)?;
    made.check()?;
    write_all(&args.out, &files, &args.log.files())?;
    print(&made.text())?;
    let scenario = args.out.join(made.scenario_path());
    print(&format!(
        "\n{} in {}: read and edit, then `windtunnel compare {} -p POLICY -p POLICY`\n",
        match files.len() {
            1 => "one file".into(),
            several => format!("{several} files"),
        },
        args.out.display(),
        scenario.display()
    ))?;
    for path in left(&args.out, &files) {
        print(&format!("{} is of an earlier fit and of no use to this one\n", path.display()))?;
    }
    Ok(0)
}

fn refuse_any_file(out: &Path, _: &[FittedFile<'_>]) -> Result<(), InputError> {
    refuse_no_folder(out)
}

/// Makes the world that was asked for; it is called as the folder is, if it is to have one.
///
/// # Errors
/// What it is made of cannot be read, or nothing in it can be used.
pub(super) fn made(args: &LogArgs, out: Option<&Path>, quiet: bool) -> Result<Made, InputError> {
    let leaf = out.and_then(leaf).filter(|leaf| leaf != "..");
    match &args.log {
        Some(log) => {
            let leaf = leaf.unwrap_or_else(|| "fitted".into());
            Ok(Made::Fitted(Box::new(read(log, args, &leaf, quiet)?)))
        }
        None => Ok(Made::Supposed(Box::new(incident::suppose(&args.timeline, leaf)?))),
    }
}

fn leaf(path: &Path) -> Option<String> {
    path.file_name().map(|leaf| leaf.to_string_lossy().into_owned())
}

/// Reads a log and fits a world to it.
fn read(path: &Path, args: &LogArgs, world: &str, quiet: bool) -> Result<Recorded, InputError> {
    let beyond = NamedCard::read(&args.timeline.targets)?;
    let map = args.columns.as_deref().map(SourceFile::read).transpose()?;
    let map = map.as_ref().map(ColumnMap::read).transpose()?;
    let format = log::detect(path, map)?;
    let name = path.display().to_string();
    let file = open(path)?;
    let length = file.metadata().map_or(0, |file| file.len());
    let progress = Progress::of_reading(quiet);
    let mut evidence = Evidence::new();
    let from = BufReader::with_capacity(1 << 20, Watched::new(file, length, &progress));
    let read = log::read(&name, from, format, |request| evidence.take(&request));
    progress.clear();
    let mut read = read?;
    evidence.finish();
    match &args.counters {
        Some(path) => count(path, &mut read, &mut evidence)?,
        None if read.names.targets.iter().any(|target| target.name == ANYWHERE) => {
            return Err(InputError::new(&name, "does not say where requests went")
                .fix("name its column in `target`, or give `--counters FILE`"));
        }
        None => {}
    }
    if !evidence.has_attempts() {
        return Err(InputError::new(&name, "holds no well-formed request that was sent anywhere")
            .fix("a fit needs to see what providers answered"));
    }
    let fit = Fit::of(world, &leaf(path).unwrap_or_default(), &read, &evidence).with(beyond)?;
    Ok(Recorded { read, evidence, fit })
}

/// Takes counters beside the log.
fn count(path: &Path, read: &mut Read, evidence: &mut Evidence) -> Result<(), InputError> {
    if read.shows == Shows::EveryAttempt
        && matches!(read.format, Format::Ledger { .. } | Format::Mapped { .. })
    {
        return Err(InputError::new("--counters", "the log shows every attempt by itself")
            .fix("leave it out, or say `rows: requests` in the column mapping"));
    }
    let name = path.display().to_string();
    let mut counters = log::read_counters(&name, BufReader::new(open(path)?), &mut read.names)?;
    if evidence.count(&mut counters, &read.names) == 0 {
        return Err(InputError::new(&name, "counts no minute of the log")
            .fix("write minutes as dates with times (UTC), or in seconds on the log's clock"));
    }
    read.counters = Some(counters);
    Ok(())
}

/// Writes the files below a folder: all of them are complete before the first is put in its place, and folders
/// that were made for them go where that fails.
///
/// # Errors
/// One cannot be written, or would take the place of a file that was read.
pub(super) fn write_all(
    folder: &Path,
    files: &[FittedFile<'_>],
    read: &[PathBuf],
) -> Result<(), InputError> {
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(&file.path)).collect();
    let mut made = Vec::new();
    let written =
        make_folders(folder, &paths, &mut made).and_then(|()| write_into(&paths, files, read));
    if written.is_err() {
        // What holds a file stays.
        made.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
    }
    written
}

/// Makes the folders of these files; those that were not there before are added to `made`, outer ones first.
fn make_folders(
    folder: &Path,
    paths: &[PathBuf],
    made: &mut Vec<PathBuf>,
) -> Result<(), InputError> {
    for path in paths {
        let parent = path.parent().unwrap_or(folder);
        let missing =
            parent.ancestors().take_while(|at| !at.as_os_str().is_empty() && !at.exists());
        let mut missing: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        missing.reverse();
        made.extend(missing);
        std::fs::create_dir_all(parent).map_err(|error| cannot_write(parent, &error))?;
    }
    Ok(())
}

fn write_into(
    paths: &[PathBuf],
    files: &[FittedFile<'_>],
    read: &[PathBuf],
) -> Result<(), InputError> {
    let named: Vec<(&str, &Path)> = paths.iter().map(|path| ("--out", path.as_path())).collect();
    refuse_overwriting(&named, read)?;
    let mut opened: Vec<OutFile> =
        paths.iter().map(|path| OutFile::create(path)).collect::<Result<_, _>>()?;
    for (file, out) in files.iter().zip(&mut opened) {
        let written = file.write(out).and_then(|()| out.flush());
        written.map_err(|error| cannot_write(out.path(), &error))?;
    }
    opened.into_iter().try_for_each(OutFile::finish)
}

impl LogArgs {
    /// The files that are read.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let own = [&self.log, &self.columns, &self.counters].into_iter().flatten().cloned();
        own.chain(self.timeline.files()).collect()
    }
}

impl Made {
    /// Its files.
    pub(super) fn files(&self) -> Vec<FittedFile<'_>> {
        match self {
            Made::Fitted(recorded) => recorded.fit.files(&recorded.evidence),
            Made::Supposed(hypothesis) => hypothesis.files(),
        }
    }

    /// Path of the scenario among the files.
    pub(super) fn scenario_path(&self) -> String {
        match self {
            Made::Fitted(recorded) => recorded.fit.scenario_path(),
            Made::Supposed(hypothesis) => hypothesis.scenario_path(),
        }
    }

    /// Its scenario, by way of its files: what runs is what `fit` writes; with the kill switches that were thrown
    /// besides.
    ///
    /// # Errors
    /// No scenario can state it, or the switches do not fit it.
    pub(super) fn scenario(&self, switches: Option<&Path>) -> Result<Scenario, InputError> {
        let folder = tempfile::tempdir().map_err(|error| {
            InputError::new("a temporary folder", format!("cannot be made: {error}"))
        })?;
        write_all(folder.path(), &self.files(), &[])?;
        let alone = self.loaded(folder.path())?;
        let Some(switches) = switches else { return Ok(alone) };
        let path = folder.path().join(self.scenario_path());
        Scenario::load_with_switches(&path.display().to_string(), switches)
    }

    /// Whether a scenario can state it.
    fn check(&self) -> Result<(), InputError> {
        let sketched: Vec<FittedFile> =
            self.files().into_iter().map(FittedFile::sketched).collect();
        let Ok(folder) = tempfile::tempdir() else { return Ok(()) };
        // Where there is no room for a sketch there is none for the world, which says so of its own files.
        match write_all(folder.path(), &sketched, &[]) {
            Ok(()) => self.loaded(folder.path()).map(drop),
            Err(_) => Ok(()),
        }
    }

    fn loaded(&self, folder: &Path) -> Result<Scenario, InputError> {
        let path = folder.join(self.scenario_path());
        Scenario::load(&path.display().to_string()).map_err(|error| match self {
            Made::Fitted(recorded) => not_possible(&recorded.fit.log, &error),
            Made::Supposed(_) => error,
        })
    }

    /// What was found, for people.
    fn text(&self) -> String {
        match self {
            Made::Fitted(recorded) => recorded.fit.text(&recorded.read),
            Made::Supposed(hypothesis) => hypothesis.text(),
        }
    }
}

/// What is fitted to times in another unit than they are said to be in may be beyond anything that a scenario can state.
fn not_possible(log: &str, error: &InputError) -> InputError {
    let what = format!("makes a world that is none: {} {}", error.path(), error.message());
    InputError::new(log, what).fix("are its times in the unit that they are said to be in?")
}
