//! An end before time, for whoever interrupts or terminates the program: unfinished files go.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{fs, process};

use super::say::say;

/// The exit code of a program that an interrupt ended.
pub(super) const INTERRUPTED: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// What the first interrupt does; the second ends the program at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    EndsAtOnce,
    CompletesWorlds,
    CompletesVariants,
    /// What is under way is dropped, and what is known is reported.
    Concludes,
}

/// Waits for interrupts from now on. Where that cannot be, they end the program as ever.
pub(super) fn watch(first: First) {
    let _ = ctrlc::set_handler(move || {
        if ASKED.swap(true, Ordering::Relaxed) || first == First::EndsAtOnce {
            for file in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).iter() {
                // Those that were completed have another name by now.
                let _ = fs::remove_file(file);
            }
            process::exit(INTERRUPTED.into());
        }
        let what = match first {
            First::EndsAtOnce | First::CompletesWorlds => "worlds under way are completed",
            First::CompletesVariants => "variants under way are completed",
            First::Concludes => "what is known is reported",
        };
        say("interrupted", format_args!("{what}; once more to end at once"));
    });
}

/// True once an interrupt came.
pub(super) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Has this file removed where an interrupt ends the program.
pub(super) fn remove_at_end(unfinished: PathBuf) {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).push(unfinished);
}
