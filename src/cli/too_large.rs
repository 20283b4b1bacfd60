//! A file that grows beyond the shell's limit (`ulimit -f`): the write fails and is told, as on a full disk.

/// Has such writes fail. Where that cannot be, they end the program as ever.
#[cfg(unix)]
pub(super) fn fails_the_write() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::SIGXFSZ;

    // Nobody reads the flag: that the signal is caught is what makes the write return an error.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
pub(super) fn fails_the_write() {}
