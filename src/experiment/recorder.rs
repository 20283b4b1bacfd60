//! Who takes the rows of an experiment's runs, and who hears how far it is.

use crate::record::{Both, NoSink, Sink};

/// One run whose rows are wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunId {
    /// Position of the policy.
    pub policy: usize,
    /// Number of the world.
    pub world: u32,
    /// Position among all runs with rows: by world, then policy.
    pub ordinal: usize,
}

/// Takes the rows of the runs in which failures stick as declared.
pub trait Recorder: Sync {
    /// Takes the rows of one run.
    type Sink: Sink + Send;
    /// A run begins.
    fn start(&self, run: RunId) -> Self::Sink;
    /// It is over. Runs end in no particular order.
    fn finish(&self, run: RunId, sink: Self::Sink);
}

/// Keeps no rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl Recorder for NoRecorder {
    type Sink = NoSink;
    fn start(&self, _: RunId) -> NoSink {
        NoSink
    }
    fn finish(&self, _: RunId, _: NoSink) {}
}

/// Gives the rows of every run to both.
impl<A: Recorder, B: Recorder> Recorder for Both<&A, &B> {
    type Sink = Both<A::Sink, B::Sink>;
    fn start(&self, run: RunId) -> Self::Sink {
        Both(self.0.start(run), self.1.start(run))
    }
    fn finish(&self, run: RunId, Both(first, second): Self::Sink) {
        self.0.finish(run, first);
        self.1.finish(run, second);
    }
}

/// Is told how far an experiment is, and may end it early.
pub trait Observer: Sync {
    /// So many runs of so many are done.
    fn done(&self, runs: usize, of: usize);
    /// True to begin no further world.
    fn stop(&self) -> bool {
        false
    }
}

/// Looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn done(&self, _: usize, _: usize) {}
}
