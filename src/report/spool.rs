//! Bytes of many runs into one file, in order, though the runs end in any order.

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use tempfile::SpooledTempFile;

/// Beyond this, bytes that wait are kept in a nameless file.
const IN_MEMORY: usize = 8 << 20;

/// The bytes of one run.
pub(super) struct Spool {
    file: SpooledTempFile,
    error: Option<io::Error>,
}

impl Spool {
    /// Adds bytes. A failure is kept, and told when all is closed.
    pub(super) fn write(&mut self, bytes: &[u8]) {
        if self.error.is_none() {
            self.error = self.file.write_all(bytes).err();
        }
    }
}

/// Gives each run its turn.
pub(super) struct Turns<W> {
    folder: PathBuf,
    state: Mutex<State<W>>,
}

struct State<W> {
    out: W,
    next: usize,
    waiting: BTreeMap<usize, Spool>,
    error: Option<io::Error>,
}

impl<W: Write> Turns<W> {
    pub(super) fn new(out: W, folder: PathBuf) -> Turns<W> {
        let state = State { out, next: 0, waiting: BTreeMap::new(), error: None };
        Turns { folder, state: Mutex::new(state) }
    }

    /// Room for one run.
    pub(super) fn spool(&self) -> Spool {
        Spool { file: tempfile::spooled_tempfile_in(IN_MEMORY, &self.folder), error: None }
    }

    /// The run with this number is over: it and all that waited for it are written.
    pub(super) fn add(&self, ordinal: usize, spool: Spool) {
        let mut state = self.state.lock().expect("no holder of the list panics");
        state.waiting.insert(ordinal, spool);
        while let Some(spool) = {
            let next = state.next;
            state.waiting.remove(&next)
        } {
            state.write(spool);
            state.next += 1;
        }
    }

    /// Writes what still waits for runs that never were, and gives back the output.
    pub(super) fn close(self) -> io::Result<W> {
        let mut state = self.state.into_inner().expect("no holder of the list panics");
        while let Some((_, spool)) = state.waiting.pop_first() {
            state.write(spool);
        }
        match state.error {
            Some(error) => Err(error),
            None => state.out.flush().map(|()| state.out),
        }
    }
}

impl<W: Write> State<W> {
    fn write(&mut self, mut spool: Spool) {
        if self.error.is_some() {
            return;
        }
        let result = match spool.error {
            Some(error) => Err(error),
            None => spool
                .file
                .seek(SeekFrom::Start(0))
                .and_then(|_| io::copy(&mut spool.file, &mut self.out)),
        };
        self.error = result.err();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spooled(turns: &Turns<Vec<u8>>, text: &str) -> Spool {
        let mut spool = turns.spool();
        spool.write(text.as_bytes());
        spool
    }

    #[test]
    fn runs_are_written_in_order_however_they_end() {
        let folder = tempfile::tempdir().unwrap();
        let turns = Turns::new(Vec::new(), folder.path().into());
        for ordinal in [2, 0, 3, 1, 5] {
            turns.add(ordinal, spooled(&turns, &ordinal.to_string()));
        }
        // Run 4 never was: an interrupted experiment.
        assert_eq!(turns.close().unwrap(), b"01235");
    }

    #[test]
    fn a_failure_is_told_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let turns = Turns::new(Full, folder.path().into());
        let mut spool = turns.spool();
        spool.write(b"x");
        turns.add(0, spool);
        assert_eq!(turns.close().err().map(|e| e.kind()), Some(io::ErrorKind::StorageFull));
    }
}
