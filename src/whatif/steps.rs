//! How far all runs of a question are, over its several experiments.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::experiment::Observer;

/// Tells an observer of one experiment after another as of one.
pub(super) struct Steps<'a> {
    observer: &'a dyn Observer,
    /// Runs of the experiments before.
    before: AtomicUsize,
    /// Runs of this one, as far as it has told.
    own: AtomicUsize,
    /// Runs of those behind it.
    behind: AtomicUsize,
}

impl<'a> Steps<'a> {
    /// Before the first experiment, with the runs of all those behind it.
    pub(super) fn new(observer: &'a dyn Observer, behind: usize) -> Steps<'a> {
        let [before, own, behind] = [0, 0, behind].map(AtomicUsize::new);
        Steps { observer, before, own, behind }
    }

    /// The next experiment begins, one of those behind, with so many runs.
    pub(super) fn next(&self, runs: usize) {
        self.before.fetch_add(self.own.swap(runs, Ordering::Relaxed), Ordering::Relaxed);
        self.behind.fetch_sub(runs, Ordering::Relaxed);
    }
}

impl Observer for Steps<'_> {
    fn done(&self, runs: usize, of: usize) {
        self.own.store(of, Ordering::Relaxed);
        let before = self.before.load(Ordering::Relaxed);
        self.observer.done(before + runs, before + of + self.behind.load(Ordering::Relaxed));
    }

    fn stop(&self) -> bool {
        self.observer.stop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[derive(Default)]
    struct Told(Mutex<Vec<(usize, usize)>>);

    impl Observer for Told {
        fn done(&self, runs: usize, of: usize) {
            self.0.lock().expect("nobody panics").push((runs, of));
        }
    }

    #[test]
    fn experiments_one_after_another_are_told_as_one() {
        let told = Told::default();
        let steps = Steps::new(&told, 5);
        (1..=4).for_each(|run| steps.done(run, 4));
        for (experiment, runs) in [(2, 2), (3, 3)] {
            steps.next(experiment);
            (1..=runs).for_each(|run| steps.done(run, runs));
        }
        let told = told.0.into_inner().expect("nobody panics");
        assert_eq!(told, (1..=9).map(|run| (run, 9)).collect::<Vec<_>>());
    }
}
