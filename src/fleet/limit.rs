//! Rate limits: objects that several targets share.
//!
//! A limit that refills continuously keeps one integer, what was taken and has not flowed back,
//! in tokens × µs of its window: taking n tokens adds n · window, and each µs takes off `limit`.
//! Everything is exact, also when the weather changes the limit, and the wait of a refused
//! attempt is (used + asked − limit) · window / limit, rounded up to the µs.

use std::mem::offset_of;

use windtunnel_policy::outcome::{FailureClass, Usage};
use windtunnel_policy::target::TargetId;
use windtunnel_policy::{Duration, Instant, Share};

use super::charge::{Ask, Settles, Weights};
use super::climate::nearest;
use crate::scenario::{LimitModel, LimitSpec, LimitUnit, Refill, RetryAfterForm};

const PPM: u128 = 1_000_000;
const DAY: Duration = Duration::from_secs(86_400);
const SECOND: u64 = 1_000_000;

/// One limit and what has been taken of it. What charging an attempt looks at is in one cache line, the first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Limit {
    taken: Taken,
    /// What is left for us by the weather and the other users.
    limit: u64,
    window: u64,
    charge: Weights,
    /// How what was charged is put right in the end; `None` where it stays.
    settles: Option<Settles>,
    /// What the weather at each target that shares it says: limit factor, background load.
    members: Vec<(TargetId, Share, u64)>,
    spec: LimitSpec,
}

const _: () = assert!(offset_of!(Limit, charge) + size_of::<Weights>() <= 64);

/// What has been taken of a limit.
#[derive(Clone, Copy, Debug)]
enum Taken {
    /// Flows back continuously.
    Level { scaled: u128, at: Instant },
    /// Comes back at the end of this window.
    Window { number: u64, count: u64 },
    /// Comes back when the attempt ends.
    Now(u64),
}

/// Why an attempt was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Refusal {
    /// Rate limited, or an exhausted quota.
    pub(super) class: FailureClass,
    /// What the answer says about waiting.
    pub(super) retry_after: Option<Duration>,
}

impl Refusal {
    /// Of two answers by two limits the one that counts: an exhausted quota before a rate, then
    /// the one that nobody can tell the end of, then the longer wait.
    pub(super) fn worse(one: Option<Refusal>, other: Option<Refusal>) -> Option<Refusal> {
        let weight = |refusal: &Refusal| {
            let quota = refusal.class == FailureClass::QuotaExhausted;
            (quota, refusal.retry_after.unwrap_or(Duration::MAX))
        };
        match (one, other) {
            (Some(a), Some(b)) => Some(if weight(&b) > weight(&a) { b } else { a }),
            (one, other) => one.or(other),
        }
    }
}

impl Limit {
    /// The limit with nothing taken, in clear weather.
    pub(super) fn new(model: &LimitModel) -> Limit {
        let spec = model.spec.clone();
        let window = if spec.unit == LimitUnit::DayQuota { DAY } else { spec.window };
        let mut limit = Limit {
            charge: Weights::by(&spec),
            settles: Settles::by(&spec),
            window: window.as_micros().max(1),
            members: model.targets.iter().map(|&t| (t, Share::ONE, 1_000_000)).collect(),
            limit: 0,
            taken: Taken::Now(0),
            spec,
        };
        limit.reset();
        limit
    }

    /// Back to nothing taken and clear weather.
    pub(super) fn reset(&mut self) {
        self.members.iter_mut().for_each(|m| (m.1, m.2) = (Share::ONE, 1_000_000));
        self.limit = self.left_for_us();
        self.taken = match (self.spec.unit, self.spec.refill) {
            (LimitUnit::Concurrency, _) => Taken::Now(0),
            (_, Refill::Continuous) => Taken::Level { scaled: 0, at: Instant::ZERO },
            (_, Refill::Window) => Taken::Window { number: 0, count: 0 },
        };
    }

    /// The weather at `target` leaves this share of the limit, and the other users' load is
    /// `background` parts per million of the ordinary. Of targets that share a limit, the one
    /// in the worst weather counts.
    pub(super) fn set_weather(
        &mut self,
        now: Instant,
        target: TargetId,
        factor: Share,
        background: u64,
    ) {
        self.flow_back(now);
        for member in self.members.iter_mut().filter(|m| m.0 == target) {
            (member.1, member.2) = (factor, background);
        }
        self.limit = self.left_for_us();
    }

    /// Takes what `ask` is charged at `now`, if there is room for it.
    #[inline(always)]
    pub(super) fn takes(&mut self, now: Instant, ask: Ask) -> bool {
        self.flow_back(now);
        let (amount, limit) = (self.charge(ask), self.limit);
        let (more, full) = (self.scaled(amount), self.scaled(limit));
        match &mut self.taken {
            Taken::Level { scaled, .. } => {
                let fits = *scaled + more <= full;
                *scaled += if fits { more } else { 0 };
                fits
            }
            Taken::Window { count, .. } | Taken::Now(count) => {
                let fits = *count + amount <= limit;
                *count += if fits { amount } else { 0 };
                fits
            }
        }
    }

    /// Puts back what it has just taken, as another limit refuses the attempt.
    pub(super) fn puts_back(&mut self, ask: Ask) {
        let amount = self.charge(ask);
        let less = self.scaled(amount);
        match &mut self.taken {
            Taken::Level { scaled, .. } => *scaled -= less,
            Taken::Window { count, .. } | Taken::Now(count) => *count -= amount,
        }
    }

    /// Takes what a refused attempt is charged, and says why it is refused where it is this limit
    /// that has no room. The wait it names counts from after that charge, so that it is enough.
    pub(super) fn refuse(&mut self, now: Instant, ask: Ask) -> Option<Refusal> {
        let fits = self.takes(now, ask);
        if fits {
            self.puts_back(ask);
        }
        if self.spec.charge_refused && self.spec.unit != LimitUnit::Concurrency {
            self.fill(ask);
        }
        if fits { None } else { Some(self.refusal(now, self.charge(ask))) }
    }

    /// Takes what `ask` is charged, but never more than fills the limit, so that a storm of
    /// refusals costs one window at most; what was over the limit already stays.
    fn fill(&mut self, ask: Ask) {
        let amount = self.charge(ask);
        let (more, full, limit) = (self.scaled(amount), self.scaled(self.limit), self.limit);
        match &mut self.taken {
            Taken::Level { scaled, .. } => *scaled = (*scaled).max(full.min(*scaled + more)),
            Taken::Window { count, .. } | Taken::Now(count) => {
                *count = (*count).max(limit.min(*count + amount));
            }
        }
    }

    /// Puts right what was taken at `taken_at` for `ask`, now that the attempt has ended and
    /// really used `used`; gives back its place at the same time.
    #[inline(always)]
    pub(super) fn settle(&mut self, now: Instant, taken_at: Instant, ask: Ask, used: Usage) {
        if let Taken::Now(count) = &mut self.taken {
            assert!(*count > 0, "a place given back was taken before");
            *count -= 1;
            return;
        }
        let Some(settles) = &self.settles else { return };
        let before = self.charge(ask);
        let after = settles.settled(before, used);
        if after > before {
            self.flow_back(now);
            self.add(after - before);
        } else if after < before {
            self.give_back(taken_at, before - after);
        }
    }

    /// Places taken at this moment; zero for limits over time.
    pub(super) fn places_taken(&self) -> u64 {
        if let Taken::Now(count) = self.taken { count } else { 0 }
    }

    /// What `ask` is charged when it comes in.
    #[inline]
    fn charge(&self, ask: Ask) -> u64 {
        self.charge.of(ask)
    }

    /// Takes more, of a limit that was brought up to now.
    #[inline]
    fn add(&mut self, amount: u64) {
        let more = self.scaled(amount);
        match &mut self.taken {
            Taken::Level { scaled, .. } => *scaled += more,
            Taken::Window { count, .. } | Taken::Now(count) => *count += amount,
        }
    }

    /// Gives back what was charged too much. What flows back by itself need not be worked out before:
    /// in either order it is taken off, and never below nothing.
    #[inline]
    fn give_back(&mut self, taken_at: Instant, amount: u64) {
        let less = self.scaled(amount);
        match &mut self.taken {
            Taken::Level { scaled, .. } => *scaled = scaled.saturating_sub(less),
            Taken::Window { number, count } => {
                // What an earlier window was charged is gone with it, at the latest when somebody asks.
                if taken_at.as_micros() / self.window == *number {
                    *count = count.saturating_sub(amount);
                }
            }
            Taken::Now(_) => {}
        }
    }

    /// Brings what is taken up to `now`.
    #[inline]
    fn flow_back(&mut self, now: Instant) {
        match &mut self.taken {
            Taken::Level { scaled, at } => {
                let back = u128::from(now.since(*at).as_micros()) * u128::from(self.limit);
                *scaled = scaled.saturating_sub(back);
                *at = now;
            }
            Taken::Window { number, count } => {
                let present = now.as_micros() / self.window;
                if present != *number {
                    (*number, *count) = (present, 0);
                }
            }
            Taken::Now(_) => {}
        }
    }

    #[inline]
    fn scaled(&self, amount: u64) -> u128 {
        u128::from(amount) * u128::from(self.window)
    }

    fn refusal(&self, now: Instant, amount: u64) -> Refusal {
        let class = match self.spec.unit {
            LimitUnit::DayQuota => FailureClass::QuotaExhausted,
            _ => FailureClass::RateLimited,
        };
        let retry_after = match self.spec.retry_after {
            RetryAfterForm::None => None,
            RetryAfterForm::Fixed(wait) => Some(wait),
            RetryAfterForm::Exact => self.wait(now, amount),
            RetryAfterForm::WholeSeconds => self
                .wait(now, amount)
                .map(|wait| Duration::from_secs(wait.as_micros().div_ceil(SECOND))),
        };
        Refusal { class, retry_after }
    }

    /// How long until `amount` fits, if nothing else is taken; `None` where waiting does not
    /// help or nobody can tell.
    fn wait(&self, now: Instant, amount: u64) -> Option<Duration> {
        if amount > self.limit || self.limit == 0 {
            return None;
        }
        match self.taken {
            Taken::Level { scaled, .. } => {
                let over = scaled + self.scaled(amount) - self.scaled(self.limit);
                let wait = over.div_ceil(u128::from(self.limit));
                Some(Duration::from_micros(u64::try_from(wait).unwrap_or(u64::MAX)))
            }
            Taken::Window { number, .. } => {
                let next = Instant::from_micros((number + 1).saturating_mul(self.window));
                Some(next.since(now))
            }
            Taken::Now(_) => None,
        }
    }

    /// The limit, less what the weather and the other users take of it.
    fn left_for_us(&self) -> u64 {
        let factor = self.members.iter().map(|m| m.1).min().unwrap_or(Share::ONE);
        let load = self.members.iter().map(|m| m.2).max().unwrap_or(1_000_000);
        let others = u128::from(self.spec.background.as_bits()) * u128::from(load) / PPM;
        let others = Share::from_bits(u64::try_from(others).unwrap_or(u64::MAX));
        nearest(factor.times(others.complement()), self.spec.limit)
    }
}
