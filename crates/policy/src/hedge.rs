//! When an attempt is so slow that a second one beside it is worth its price.

use crate::config::{Estimate, Hedge, Policy, Streaming};
use crate::estimate::Estimates;
use crate::event::Request;
use crate::target::TargetId;
use crate::{Duration, Instant};

/// How long attempts took lately to what would have made them win.
#[derive(Clone, Hash, Debug)]
pub(crate) struct HedgeDelays {
    at_least: Duration,
    prior: Option<Duration>,
    to_first_output: Estimates,
    to_end: Estimates,
}

/// With what an attempt wins over another of its request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WinsBy {
    /// It is passed on as it comes: with the first of it, be that its headers or a chunk without content.
    FirstOutput,
    /// Nothing of it is passed on before it is complete.
    End,
}

impl WinsBy {
    /// What holds for the attempts of a request.
    pub(crate) fn of(request: &Request, streaming: Streaming) -> WinsBy {
        match (request.streamed, streaming) {
            (false, _) | (true, Streaming::BufferThenRelease) => WinsBy::End,
            (true, Streaming::PassThrough | Streaming::AtHeaders | Streaming::AtFirstChunk) => {
                WinsBy::FirstOutput
            }
        }
    }
}

impl HedgeDelays {
    /// What a policy's hedges need to know, where it hedges; nothing seen yet.
    pub(crate) fn new(policy: &Policy, classes: usize, targets: usize) -> Option<HedgeDelays> {
        let Hedge { after_quantile, at_least, prior } = policy.hedge.clone()?;
        let estimate = Estimate { quantile: after_quantile, ..policy.envelope.estimate.clone() };
        let none_seen = Estimates::new(&estimate, classes, targets);
        Some(HedgeDelays { at_least, prior, to_first_output: none_seen.clone(), to_end: none_seen })
    }

    /// An attempt took this long to what it could win with, or was cut so long after its send.
    pub(crate) fn record(
        &mut self,
        wins_by: WinsBy,
        request: &Request,
        target: TargetId,
        elapsed: Duration,
        now: Instant,
    ) {
        self.of(wins_by).record(request.class, target, elapsed, now);
    }

    /// How long after its send a first attempt on this target is so slow that a second is worth
    /// it; `prior` is the target's own.
    pub(crate) fn delay(
        &mut self,
        wins_by: WinsBy,
        request: &Request,
        target: TargetId,
        prior: Duration,
        now: Instant,
    ) -> Duration {
        let prior = self.prior.unwrap_or(prior);
        let expected = self.of(wins_by).expected(request.class, target, prior, now);
        expected.max(self.at_least)
    }

    /// As new.
    pub(crate) fn reset(&mut self) {
        self.to_first_output.reset();
        self.to_end.reset();
    }

    fn of(&mut self, wins_by: WinsBy) -> &mut Estimates {
        match wins_by {
            WinsBy::FirstOutput => &mut self.to_first_output,
            WinsBy::End => &mut self.to_end,
        }
    }
}
