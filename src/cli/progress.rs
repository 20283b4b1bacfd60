//! How far an experiment is, on a terminal, for whoever waits longer than two seconds; and an end
//! before time for whoever interrupts it.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use windtunnel::experiment::Observer;

/// Whoever waits less needs no bar.
const PATIENCE: Duration = Duration::from_secs(2);

pub(super) struct Progress {
    begun: Instant,
    quiet: bool,
    bar: OnceLock<ProgressBar>,
    interrupted: Arc<AtomicBool>,
}

/// The exit code of a program that an interrupt ended.
const INTERRUPTED: i32 = 130;

impl Progress {
    pub(super) fn new(quiet: bool) -> Progress {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        // The first interrupt lets the worlds under way be completed; the second does not wait.
        // Without a handler (there is one already) an interrupt ends the program as ever.
        let _ = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::Relaxed) {
                process::exit(INTERRUPTED);
            }
            eprintln!("interrupted: worlds under way are completed; once more to end at once");
        });
        Progress { begun: Instant::now(), quiet, bar: OnceLock::new(), interrupted }
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Progress {
    fn done(&self, runs: usize, of: usize) {
        if self.quiet || self.begun.elapsed() < PATIENCE {
            return;
        }
        // Draws nothing where standard error is no terminal.
        let bar = self.bar.get_or_init(|| {
            let style = ProgressStyle::with_template("{wide_bar} {pos} of {len} runs")
                .expect("the template is a constant");
            ProgressBar::new(of as u64).with_style(style)
        });
        bar.set_position(runs as u64);
    }

    fn stop(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}
