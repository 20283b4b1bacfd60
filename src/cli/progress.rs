//! How far an experiment is, on a terminal, for whoever waits longer than two seconds; and an end
//! before time for whoever interrupts it.

use std::io::{self, Read};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use windtunnel::experiment::Observer;

use super::interrupt;

/// Whoever waits less needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) struct Progress {
    begun: Instant,
    quiet: bool,
    /// What the bar says.
    template: &'static str,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub(super) fn new(quiet: bool) -> Progress {
        Progress::saying(quiet, "{wide_bar} {pos} of {len} runs")
    }

    /// Of a sweep, with its rate and the time left.
    pub(super) fn of_variants(quiet: bool) -> Progress {
        let says = "{wide_bar} {pos} of {len} variants, {per_sec}, {eta} left";
        Progress::saying(quiet, says)
    }

    /// Of the reading of a file.
    pub(super) fn of_reading(quiet: bool) -> Progress {
        Progress::saying(quiet, "reading {wide_bar} {bytes} of {total_bytes}")
    }

    fn saying(quiet: bool, template: &'static str) -> Progress {
        Progress { begun: Instant::now(), quiet, template, bar: OnceLock::new() }
    }

    /// So many of so many are done.
    pub(super) fn at(&self, done: usize, of: usize) {
        if self.quiet || self.begun.elapsed() < PATIENCE {
            return;
        }
        // Draws nothing where standard error is no terminal.
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template(self.template);
            let style = style.expect("the template is a constant");
            ProgressBar::new(of as u64).with_style(style)
        });
        // A search plans its runs as it goes.
        bar.set_length(of as u64);
        bar.set_position(done as u64);
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// A file that is read, and how far.
pub(super) struct Watched<'a, R> {
    from: R,
    read: u64,
    /// Its length, in bytes.
    of: u64,
    progress: &'a Progress,
}

impl<'a, R> Watched<'a, R> {
    pub(super) fn new(from: R, of: u64, progress: &'a Progress) -> Watched<'a, R> {
        Watched { from, read: 0, of, progress }
    }
}

impl<R: Read> Read for Watched<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        self.read += read as u64;
        // What is no file has no length.
        self.progress.at(self.read as usize, self.of.max(self.read) as usize);
        Ok(read)
    }
}

impl Observer for Progress {
    fn done(&self, runs: usize, of: usize) {
        self.at(runs, of);
    }

    fn stop(&self) -> bool {
        interrupt::asked()
    }
}
