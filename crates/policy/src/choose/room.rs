//! Room for an attempt: time, waits, added latency and money.

use super::Chooser;
use crate::backoff::{self, Wait};
use crate::config::{BudgetScope, RetryAfterSource, Timeouts, TotalCovers};
use crate::event::{Request, StopReason};
use crate::gates::{self, Gate};
use crate::mix::{self, Draw};
use crate::slots::Slot;
use crate::target::{TargetId, Topology};
use crate::{Duration, Instant, Money};

/// What is the same for every candidate of one search.
pub(super) struct Room {
    total_left: Duration,
    min_useful: Duration,
    /// What the first output's deadline and the added latency say.
    others: Gate,
    /// The most that the attempt in flight may cost, for one beside it.
    at_stake: Money,
    /// What must fit the context window.
    pub(super) tokens: u64,
}

impl Chooser<'_> {
    /// Whether there is room for an attempt now at every target, as far as neither estimates nor
    /// money decide.
    #[inline(always)]
    pub(super) fn has_room(&self) -> bool {
        let (slot, class) = (&*self.slot, self.class);
        let remaining = remaining(slot, self.known.now);
        !remaining.is_zero()
            && remaining >= class.min_useful
            && class.max_added_latency.is_none_or(|most| self.known.now.since(slot.arrived) <= most)
    }

    /// The room for a hedge, which leaves the attempt beside it what that may cost.
    pub(super) fn room_beside(&self) -> Room {
        let slot = &*self.slot;
        let at_stake = estimated_cost(&slot.request, &self.rules.topology, slot.flight.target);
        Room { at_stake, ..self.room(Duration::ZERO) }
    }

    /// The room for an attempt that is sent after this wait.
    #[inline(always)]
    pub(super) fn room(&self, wait: Duration) -> Room {
        let (slot, class) = (&*self.slot, self.class);
        let added = (self.known.now + wait).since(slot.arrived);
        // What is estimated is the whole attempt; of a first output it is asked that it can be.
        let first_output = left(slot.first_output_by, self.known.now + wait);
        let others = gates::time(first_output, Duration::ZERO, Duration::ZERO)
            .and_then(|()| gates::added_latency(added, class.max_added_latency));
        Room {
            total_left: total_left(slot, &self.rules.policy.timeouts, self.known.now, wait),
            min_useful: if slot.attempts == 0 { Duration::ZERO } else { class.min_useful },
            others,
            at_stake: Money::ZERO,
            tokens: tokens(slot),
        }
    }

    /// Whether an attempt on this target fits the room.
    #[inline(always)]
    pub(super) fn affordable(&self, target: TargetId, needed: Duration, room: &Room) -> Gate {
        gates::time(room.total_left, needed, room.min_useful)?;
        room.others?;
        if self.class.ceiling == Money::MAX {
            return Ok(());
        }
        let slot = &*self.slot;
        let cost = estimated_cost(&slot.request, &self.rules.topology, target);
        gates::cost(slot.spent + slot.presumed + room.at_stake, cost, self.class.ceiling)
    }

    /// Backoff and wait hint together, where they leave `needed`.
    #[inline(always)]
    pub(super) fn wait_before(
        &self,
        index: u32,
        heeds_hint: bool,
        needed: Duration,
    ) -> Result<(Duration, Option<Duration>), StopReason> {
        let slot = &*self.slot;
        let draw = mix::draw(slot.request.salt, Draw::Jitter, u64::from(slot.attempts));
        let delay = backoff::delay(&self.rules.policy.backoff, index, slot.previous_wait, draw);
        let hint = match self.rules.policy.retry_after.source {
            _ if slot.lapse.waited => None,
            RetryAfterSource::Latest => slot.lapse.hint,
            RetryAfterSource::First => slot.first_hint,
        };
        // Nearly always nothing asks for more than the backoff, and that leaves time enough under
        // the closest limit of all.
        let class = self.class;
        let rest = remaining(slot, self.known.now).saturating_sub(delay);
        let least = class.min_useful.max(needed + Duration::from_micros(1));
        if hint.is_none() && class.max_added_latency.is_none() && rest >= least {
            return Ok((delay, None));
        }
        self.wait_that_fits(delay, hint, heeds_hint, draw, needed)
    }

    /// The same where something asks for more than the backoff, or leaves less.
    #[inline(never)]
    fn wait_that_fits(
        &self,
        delay: Duration,
        hint: Option<Duration>,
        heeds_hint: bool,
        draw: u64,
        needed: Duration,
    ) -> Result<(Duration, Option<Duration>), StopReason> {
        let (in_time, in_latency) = self.longest_wait(needed);
        let longest = in_time.min(in_latency);
        let heeded = hint.filter(|_| heeds_hint).map(|hint| (hint, mix::again(draw)));
        match backoff::wait(&self.rules.policy.retry_after, delay, heeded, longest) {
            Wait::For { wait, honoured } => Ok((wait, honoured)),
            Wait::TooLong if heeds_hint && hint.is_some() => Err(StopReason::WaitTooLong),
            Wait::TooLong if in_latency < in_time => Err(StopReason::AddedLatency),
            Wait::TooLong => Err(StopReason::Deadline),
        }
    }

    /// The wait before a recovery at another target; `None` where it does not fit.
    #[inline(always)]
    pub(super) fn failover_wait(&mut self) -> Option<Duration> {
        match self.rules.policy.backoff.before_failover {
            true => self.wait_before_failover(),
            false => Some(Duration::ZERO),
        }
    }

    fn wait_before_failover(&mut self) -> Option<Duration> {
        match self.wait_before(self.place_in_series(), false, Duration::ZERO) {
            Ok((wait, _)) => Some(wait),
            Err(reason) => {
                self.known.refusal.note(reason);
                None
            }
        }
    }

    /// Which retry comes next, from 0, where waits grow over several targets: a budget that starts anew
    /// starts their series anew.
    pub(super) fn place_in_series(&self) -> u32 {
        let flight = &self.slot.flight;
        let attempts = match self.class.attempts.scope {
            BudgetScope::Request => self.slot.attempts,
            BudgetScope::Group => self.tally.in_group(flight.group),
            BudgetScope::Target => self.tally.on_target(flight.target).attempts,
        };
        u32::from(attempts.saturating_sub(1))
    }

    /// The longest wait that leaves more than `needed` of the time, and that the added-latency
    /// budget still covers.
    pub(super) fn longest_wait(&self, needed: Duration) -> (Duration, Duration) {
        let (slot, class) = (&*self.slot, self.class);
        let least = class.min_useful.max(needed + Duration::from_micros(1));
        let total = match self.rules.policy.timeouts.total_covers {
            TotalCovers::Everything => {
                total_left(slot, &self.rules.policy.timeouts, self.known.now, Duration::ZERO)
            }
            // Only the product's limit runs while the policy's own stands still.
            TotalCovers::AttemptsOnly => left(slot.deadline, self.known.now),
        };
        let spare = |left: Duration, least| match left {
            Duration::MAX => Duration::MAX,
            left => left.saturating_sub(least),
        };
        let first = left(slot.first_output_by, self.known.now);
        let in_time = spare(total, least).min(spare(first, Duration::from_micros(1)));
        let in_latency = class
            .max_added_latency
            .map_or(Duration::MAX, |most| most.saturating_sub(self.known.now.since(slot.arrived)));
        (in_time, in_latency)
    }

    /// Time an attempt on this target is expected to need, the safety margin included.
    pub(super) fn needed(&mut self, target: TargetId) -> Duration {
        let envelope = &self.rules.policy.envelope;
        if !envelope.estimate.enabled {
            return Duration::ZERO;
        }
        let cut = self.rules.policy.timeouts.attempt.unwrap_or(Duration::MAX);
        self.expected(target).min(cut) + envelope.safety_margin
    }

    /// How long an attempt on this target is expected to take.
    pub(super) fn expected(&mut self, target: TargetId) -> Duration {
        let prior = self.rules.policy.envelope.estimate.prior;
        let prior = prior.unwrap_or(self.target(target).prior_latency);
        let class = self.slot.request.class;
        let estimates = self.known.health.estimates.as_mut().expect("kept where a decision asks");
        estimates.expected(class, target, prior, self.known.now)
    }
}

/// Time left to a request; [`Duration::MAX`] for no limit.
#[inline]
pub(crate) fn remaining(slot: &Slot, now: Instant) -> Duration {
    left(slot.ends, now)
}

/// Time left for the whole at the moment an attempt is sent after this wait.
fn total_left(slot: &Slot, timeouts: &Timeouts, now: Instant, wait: Duration) -> Duration {
    let send = now + wait;
    let paid = match timeouts.total_covers {
        TotalCovers::Everything => send,
        TotalCovers::AttemptsOnly => now,
    };
    left(slot.deadline, send).min(left(slot.policy_deadline, paid))
}

impl Slot {
    /// Random bits for whether a ramping breaker admits the next attempt.
    pub(super) fn ramp_draw(&self) -> u64 {
        mix::draw(self.request.salt, Draw::Ramp, u64::from(self.attempts))
    }
}

/// What must fit the context window of a target.
#[inline(always)]
pub(super) fn tokens(slot: &Slot) -> u64 {
    u64::from(slot.request.input_tokens) + u64::from(slot.request.max_output_tokens)
}

/// The most one attempt of a request may cost at a target.
pub(crate) fn estimated_cost(request: &Request, topology: &Topology, target: TargetId) -> Money {
    let price = &topology.targets[usize::from(target.0)].price;
    price.bill(request.input_tokens, 0, request.max_output_tokens)
}

/// Time left until a deadline; [`Duration::MAX`] where there is none.
fn left(deadline: Instant, now: Instant) -> Duration {
    if deadline == Instant::FAR_FUTURE { Duration::MAX } else { deadline.since(now) }
}
