//! What the layers outside the gateway make of a result: pure functions over what they heard.

use windtunnel_policy::Duration;
use windtunnel_policy::event::{Outcome, Terminal};

use crate::scenario::OuterLayer;

/// The layers around the gateway, by place: application, SDK.
pub(super) const PLACES: usize = 2;

/// What the innermost layer hears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Heard {
    /// An answer, or nothing that anybody waits for any more.
    Enough,
    /// A failure with a status.
    Failure { status: u16, retryable: bool, retry_after: Option<Duration> },
    /// Output that broke off.
    BrokenStream,
    /// The layer at this place gave its try up.
    TimedOut(usize),
}

impl Heard {
    /// What the gateway's result says, where no layer had given up before.
    pub(super) fn of(result: &Terminal) -> Heard {
        match result.outcome {
            Outcome::Answered(_) | Outcome::Refused(_) | Outcome::Cancelled => Heard::Enough,
            Outcome::Partial => Heard::BrokenStream,
            Outcome::Exhausted
            | Outcome::PolicyStop
            | Outcome::Deadline
            | Outcome::NoEligibleTarget
            | Outcome::TurnedAway => Heard::Failure {
                status: result.status,
                retryable: result.retryable,
                retry_after: result.retry_after,
            },
        }
    }
}

/// The innermost layer that sends again, given the tries each has made: the outer ones do not hear
/// of what an inner one repeats. A layer that does not repeat passes on what it heard.
pub(super) fn repeats(
    layers: &[Option<OuterLayer>; PLACES],
    tries: [u8; PLACES],
    heard: Heard,
) -> Option<usize> {
    (0..PLACES).rev().find(|&place| {
        layers[place]
            .as_ref()
            .is_some_and(|layer| tries[place] < layer.attempts && layer.would_repeat(place, heard))
    })
}

impl OuterLayer {
    fn would_repeat(&self, place: usize, heard: Heard) -> bool {
        match heard {
            Heard::Enough => false,
            Heard::Failure { status, retryable, .. } => {
                self.repeats.contains(&status) && (retryable || !self.heeds_retryable)
            }
            Heard::BrokenStream => self.repeats_broken_streams,
            // A layer inside the one that gave up was given up with the rest.
            Heard::TimedOut(by) => by >= place && self.repeats_timeouts,
        }
    }

    /// How long it waits before its next try, the `index`th repeat from 0, given a draw for its backoff
    /// and one for the jitter of a hint; `None` where the hint is too long for it.
    pub(super) fn wait(
        &self,
        index: u32,
        previous: Duration,
        (of_backoff, of_hint): (u64, u64),
        heard: Heard,
    ) -> Option<Duration> {
        let hint = match heard {
            Heard::Failure { retry_after, .. } => retry_after,
            _ => None,
        };
        self.retry_after.wait(self.backoff.delay(index, previous, of_backoff), hint, of_hint)
    }
}

#[cfg(test)]
mod tests {
    use windtunnel_policy::Share;
    use windtunnel_policy::config::{Backoff, Jitter, RetryAfter, RetryAfterMode};

    use super::*;

    const UNAVAILABLE: Heard = Heard::Failure { status: 503, retryable: true, retry_after: None };

    fn both() -> [Option<OuterLayer>; PLACES] {
        [Some(OuterLayer::default()), Some(OuterLayer::default())]
    }

    #[test]
    fn the_inner_loop_runs_first_and_the_outer_one_starts_it_anew() {
        assert_eq!(repeats(&both(), [1, 1], UNAVAILABLE), Some(1));
        assert_eq!(repeats(&both(), [1, 3], UNAVAILABLE), Some(0));
        assert_eq!(repeats(&both(), [3, 3], UNAVAILABLE), None);
        assert_eq!(repeats(&[None, None], [1, 1], UNAVAILABLE), None);
    }

    #[test]
    fn who_is_told_not_to_and_heeds_it_passes_the_failure_on() {
        let told = Heard::Failure { status: 503, retryable: false, retry_after: None };
        assert_eq!(repeats(&both(), [1, 1], told), None);
        let deaf = Some(OuterLayer { heeds_retryable: false, ..OuterLayer::default() });
        assert_eq!(repeats(&[deaf, both()[1].clone()], [1, 1], told), Some(0));
    }

    #[test]
    fn only_listed_statuses_and_no_broken_streams_unless_asked() {
        let bad = Heard::Failure { status: 400, retryable: true, retry_after: None };
        assert_eq!(repeats(&both(), [1, 1], bad), None);
        assert_eq!(repeats(&both(), [1, 1], Heard::BrokenStream), None);
        assert_eq!(repeats(&both(), [1, 1], Heard::Enough), None);
        let restarts = OuterLayer { repeats_broken_streams: true, ..OuterLayer::default() };
        assert_eq!(repeats(&[Some(restarts), None], [1, 1], Heard::BrokenStream), Some(0));
    }

    #[test]
    fn a_layer_does_not_repeat_what_an_outer_one_gave_up() {
        assert_eq!(repeats(&both(), [1, 1], Heard::TimedOut(1)), Some(1));
        assert_eq!(repeats(&both(), [1, 1], Heard::TimedOut(0)), Some(0));
        assert_eq!(repeats(&both(), [3, 1], Heard::TimedOut(0)), None);
    }

    #[test]
    fn a_hint_is_obeyed_up_to_a_minute() {
        let layer = OuterLayer::default();
        let seconds = |s| Some(Duration::from_secs(s));
        let after = |hint| {
            layer.wait(
                0,
                Duration::ZERO,
                (0, 0),
                Heard::Failure { status: 429, retryable: true, retry_after: hint },
            )
        };
        assert_eq!(after(None), Some(Duration::from_millis(500)));
        assert_eq!(after(seconds(20)), seconds(20));
        assert_eq!(after(seconds(61)), Some(Duration::from_millis(500)));
    }

    #[test]
    fn backoff_and_jitter_of_a_hint_have_luck_of_their_own() {
        let eight = Duration::from_secs(8);
        let usual = OuterLayer::default();
        let layer = OuterLayer {
            backoff: Backoff { base: eight, max: eight, jitter: Jitter::Full, ..usual.backoff },
            retry_after: RetryAfter {
                mode: RetryAfterMode::AtLeast,
                jitter: Share::ONE,
                ..usual.retry_after
            },
            ..OuterLayer::default()
        };
        let hinted = Heard::Failure {
            status: 429,
            retryable: true,
            retry_after: Some(Duration::from_secs(5)),
        };
        // A draw of nothing, and one of nearly all.
        let (no, all) = (0, u64::MAX);
        let after = |draws| layer.wait(0, Duration::ZERO, draws, hinted).map(Duration::as_micros);
        assert_eq!(after((no, no)), Some(5_000_000));
        assert_eq!(after((all, no)), Some(8_000_000));
        assert_eq!(after((no, all)), Some(10_000_000));
    }
}
