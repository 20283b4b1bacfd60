//! Rows kept as they come, so that an interrupted sweep can go on.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use windtunnel::input::{InputError, open};
use windtunnel::sweep::{Header, Lines, Row, Rows, Summary, difference};

use super::alone::open_alone;
use super::output::cannot_write;

/// The rows of a sweep so far, in a `.sweep` file where there is to be one, which no other process
/// writes as long as this is there.
pub(super) struct Journal {
    file: Option<(PathBuf, BufWriter<File>)>,
    finished: usize,
    lines: Lines,
    /// What a table needs of them.
    pub(super) summary: Summary,
}

impl Journal {
    /// Begins a journal, or goes on with one.
    ///
    /// # Errors
    /// There is one already and it is not to be gone on with, or it is of another sweep, or
    /// another process writes it, or it cannot be read or written; it is as it was then.
    pub(super) fn open(
        path: Option<&Path>,
        header: &Header,
        resume: bool,
    ) -> Result<Journal, InputError> {
        let (lines, summary) = (Lines::of(header), Summary::new(header.clone()));
        let Some(path) = path else {
            return match resume {
                true => Err(InputError::new("--resume", "nothing was kept without `--out`")
                    .fix("name the files of the interrupted sweep")),
                false => Ok(Journal { file: None, finished: 0, lines, summary }),
            };
        };
        let mut file = open_alone(path, resume)?;
        if has_begun(&mut file, path, header)? {
            return Journal::go_on(file, path, summary);
        }
        let failed = |error: io::Error| cannot_write(path, &error);
        file.set_len(0).and_then(|()| file.rewind()).map_err(failed)?;
        let mut file = BufWriter::new(file);
        let line = header.line();
        file.write_all(line.as_bytes()).and_then(|()| file.flush()).map_err(failed)?;
        Ok(Journal { file: Some((path.to_owned(), file)), finished: 0, lines, summary })
    }

    fn go_on(mut file: File, path: &Path, mut summary: Summary) -> Result<Journal, InputError> {
        let mut rows = rows(&file, path)?;
        let name = path.display().to_string();
        let (there, here) = (rows.header(), &summary.header);
        if let Some(difference) = difference(here, there) {
            return Err(InputError::new(name, format!("is of another sweep: {difference}"))
                .fix("resume with the files and options it was begun with, or remove it"));
        }
        if there.shard != here.shard {
            let message = format!("is shard {} of {}", there.shard.number, there.shard.of);
            return Err(InputError::new(name, message).fix("resume the same shard"));
        }
        let mut finished = 0;
        while let Some(row) = rows.next_row()? {
            summary.add(&row);
            finished += 1;
        }
        // A line that was cut short goes.
        let end = rows.bytes();
        let at_end = file.set_len(end).and_then(|()| file.seek(SeekFrom::Start(end)));
        at_end.map_err(|error| cannot_write(path, &error))?;
        let lines = Lines::of(&summary.header);
        let file = Some((path.to_owned(), BufWriter::new(file)));
        Ok(Journal { file, finished, lines, summary })
    }

    /// How many rows there are.
    pub(super) fn finished(&self) -> usize {
        self.finished
    }

    /// The rows that were kept, from the first on, after the last was added; none where there is
    /// no file.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn rows(&self) -> Result<Option<Rows<BufReader<File>>>, InputError> {
        let file = self.file.as_ref();
        file.map(|(path, file)| rows(file.get_ref(), path)).transpose()
    }

    /// Keeps a row, on disk before it returns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn add(&mut self, row: &Row) -> Result<(), InputError> {
        if let Some((path, file)) = &mut self.file {
            let line = self.lines.row(row);
            let written = file.write_all(line.as_bytes()).and_then(|()| file.flush());
            written.map_err(|error| {
                cannot_write(path, &error)
                    .fix("make room, and go on by `--resume`: what is finished is kept")
            })?;
        }
        self.summary.add(row);
        self.finished += 1;
        Ok(())
    }
}

/// False where a file was cut short in the middle of this header: nothing is in it yet.
fn has_begun(file: &mut File, path: &Path, header: &Header) -> Result<bool, InputError> {
    let mut begin = Vec::new();
    let whole = header.line();
    let read = file.take(whole.len() as u64).read_to_end(&mut begin);
    read.map_err(|error| cannot_read(path, &error))?;
    Ok(begin.len() == whole.len() || !whole.as_bytes().starts_with(&begin))
}

/// The rows of an open file: some systems let no other handle read one that is locked.
fn rows(file: &File, path: &Path) -> Result<Rows<BufReader<File>>, InputError> {
    let again = file.try_clone().and_then(|mut file| file.rewind().map(|()| file));
    let again = again.map_err(|error| cannot_read(path, &error))?;
    Rows::open(&path.display().to_string(), BufReader::new(again))
}

fn cannot_read(path: &Path, error: &io::Error) -> InputError {
    InputError::new(path.display().to_string(), format!("cannot be read: {error}"))
}

/// Opens a `.sweep` file for reading.
///
/// # Errors
/// It cannot be read, or is none.
pub(super) fn read(path: &Path) -> Result<Rows<BufReader<File>>, InputError> {
    Rows::open(&path.display().to_string(), BufReader::new(open(path)?))
}
