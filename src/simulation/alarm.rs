//! A request's timer and the wake-ups queued for it.
//!
//! A router sets a request's timer again and again, mostly to a later moment: with the first output the
//! wait for it ends and the deadline is next. Where a wake-up comes no later than the timer, none is
//! queued: the request is woken, and looks when its timer is. Most requests are closed by then, and have
//! cost one wake-up, not one for every timer that was set.

use windtunnel_policy::Instant;

/// The timer of one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Alarm {
    /// What was set last; [`Instant::FAR_FUTURE`] where nothing is.
    at: Instant,
    epoch: u32,
    /// The first wake-up that is queued, not after the timer, and another; [`Instant::FAR_FUTURE`]
    /// where there is none. Of three queued the one in the middle may be forgotten: when it comes,
    /// nobody waits for it.
    wakes: [Instant; 2],
}

/// What a wake-up finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Woken {
    /// Nothing to do.
    ForNothing,
    /// The timer fires, with this epoch.
    Fires(u32),
    /// The timer is later: a wake-up is to be queued for then, under this epoch.
    TooEarly(Instant, u32),
}

impl Alarm {
    /// No timer, and nothing queued.
    pub(super) const NONE: Alarm =
        Alarm { at: Instant::FAR_FUTURE, epoch: 0, wakes: [Instant::FAR_FUTURE; 2] };

    /// Sets the timer. Answers whether a wake-up is to be queued for then.
    #[inline(always)]
    pub(super) fn set(&mut self, at: Instant, epoch: u32) -> bool {
        (self.at, self.epoch) = (at, epoch);
        self.wants_wake_up()
    }

    /// Whether a wake-up is queued for a time before `at`.
    #[inline]
    pub(super) fn wakes_before(&self, at: Instant) -> bool {
        self.wakes[0] < at
    }

    /// A wake-up comes.
    #[inline]
    pub(super) fn wake(&mut self, now: Instant) -> Woken {
        if self.wakes[0] != now {
            return Woken::ForNothing;
        }
        self.wakes = [self.wakes[1], Instant::FAR_FUTURE];
        if self.at == now {
            self.at = Instant::FAR_FUTURE;
            return Woken::Fires(self.epoch);
        }
        match self.wants_wake_up() {
            true => Woken::TooEarly(self.at, self.epoch),
            false => Woken::ForNothing,
        }
    }

    /// Whether none is queued that comes in time; if so, there now is one.
    #[inline(always)]
    fn wants_wake_up(&mut self) -> bool {
        let wants = self.at < self.wakes[0];
        if wants {
            let later = self.wakes[0].min(self.wakes[1]);
            self.wakes = [self.at, later];
        }
        wants
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_micros(us)
    }

    #[test]
    fn a_later_timer_needs_no_wake_up_of_its_own() {
        let mut alarm = Alarm::NONE;
        assert!(alarm.set(at(8), 1));
        assert!(!alarm.set(at(20), 2));
        assert_eq!(alarm.wake(at(8)), Woken::TooEarly(at(20), 2));
        assert_eq!(alarm.wake(at(20)), Woken::Fires(2));
        assert_eq!(alarm.wake(at(20)), Woken::ForNothing);
    }

    #[test]
    fn a_deadline_that_is_set_again_after_a_wait_is_queued_once() {
        let mut alarm = Alarm::NONE;
        assert!(alarm.set(at(30), 1) && alarm.set(at(5), 2));
        assert_eq!(alarm.wake(at(5)), Woken::Fires(2));
        assert!(!alarm.set(at(30), 3));
        assert_eq!(alarm.wake(at(30)), Woken::Fires(3));
    }

    proptest! {
        /// Against a timer that is looked at every µs: it fires when it is set for, and never twice.
        #[test]
        fn it_fires_when_it_is_set_for(sets in prop::collection::vec((0_u64..9, 1_u64..30), 1..40)) {
            let (mut alarm, mut queued) = (Alarm::NONE, BTreeSet::new());
            let (mut timer, mut now) = (None, 0);
            for (epoch, (later, delay)) in (0_u32..).zip(sets) {
                for moment in now + 1..=now + later {
                    let due = timer.take_if(|(when, _)| *when == moment).map(|(_, epoch)| epoch);
                    let mut fired = None;
                    if queued.remove(&moment) {
                        match alarm.wake(at(moment)) {
                            Woken::Fires(epoch) => fired = Some(epoch),
                            Woken::TooEarly(then, _) => {
                                prop_assert!(then > at(moment));
                                queued.insert(then.as_micros());
                            }
                            Woken::ForNothing => {}
                        }
                    }
                    prop_assert_eq!(fired, due);
                }
                now += later;
                timer = Some((now + delay, epoch));
                if alarm.set(at(now + delay), epoch) {
                    queued.insert(now + delay);
                }
            }
        }
    }
}
