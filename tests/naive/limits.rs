//! Rate limits, reckoned at every question from the list of all that ever happened to them.

use windtunnel::scenario::{
    Charge, LimitModel, LimitUnit, Refill, RetryAfterForm, Scenario, Settlement,
};
use windtunnel::weather::Conditions;
use windtunnel_policy::outcome::{FailureClass, Usage};
use windtunnel_policy::{Duration, Instant, Share};

/// One limit and its history.
pub(crate) struct Limit<'s> {
    model: &'s LimitModel,
    window: u64,
    history: Vec<(Instant, Entry)>,
}

enum Entry {
    Took(u64),
    /// Given back, of what was taken at that time.
    Gave(u64, Instant),
    /// Took this much for a refusal, but no more than fills the limit.
    Filled(u64),
    /// The limit is this from now on.
    Stands(u64),
}

/// This share of `n`, to the nearest.
pub(crate) fn nearest(share: Share, n: u64) -> u64 {
    let wide = u128::from(n) * u128::from(share.as_bits());
    (wide >> 62).div_ceil(2) as u64
}

impl<'s> Limit<'s> {
    pub(crate) fn all(scenario: &'s Scenario, skies: &[&Conditions]) -> Vec<Limit<'s>> {
        let limit = |model: &'s LimitModel| {
            let day = Duration::from_secs(86_400);
            let spec = &model.spec;
            let window = if spec.unit == LimitUnit::DayQuota { day } else { spec.window };
            let mut limit = Limit { model, window: window.as_micros(), history: Vec::new() };
            limit.on_weather(Instant::ZERO, skies);
            limit
        };
        scenario.limits.iter().map(limit).collect()
    }

    /// The worst weather of those who share it counts.
    pub(crate) fn on_weather(&mut self, now: Instant, skies: &[&Conditions]) {
        let sharing = || self.model.targets.iter().map(|t| skies[usize::from(t.0)]);
        let left = sharing().map(|sky| sky.limits).min().expect("somebody shares it");
        let load = sharing().map(|sky| sky.background_ppm).max().expect("somebody shares it");
        let others = u128::from(self.model.spec.background.as_bits()) * u128::from(load);
        let others = Share::from_bits((others / 1_000_000) as u64);
        let stands = nearest(left.times(others.complement()), self.model.spec.limit);
        self.history.push((now, Entry::Stands(stands)));
    }

    pub(crate) fn fits(&self, now: Instant, input: u32, most: u32) -> bool {
        let (level, limit) = self.level(now);
        level + self.scaled(self.charge(input, most)) <= self.scaled(limit)
    }

    pub(crate) fn take(&mut self, now: Instant, input: u32, most: u32) {
        let amount = self.charge(input, most);
        self.history.push((now, Entry::Took(amount)));
    }

    pub(crate) fn take_refused(&mut self, now: Instant, input: u32, most: u32) {
        if self.model.spec.charge_refused && self.model.spec.unit != LimitUnit::Concurrency {
            let amount = self.charge(input, most);
            self.history.push((now, Entry::Filled(amount)));
        }
    }

    /// Class and wait hint of a refusal.
    pub(crate) fn refusal(
        &self,
        now: Instant,
        input: u32,
        most: u32,
    ) -> (FailureClass, Option<Duration>) {
        let class = match self.model.spec.unit {
            LimitUnit::DayQuota => FailureClass::QuotaExhausted,
            _ => FailureClass::RateLimited,
        };
        let wait = self.wait(now, self.charge(input, most));
        let hint = match self.model.spec.retry_after {
            RetryAfterForm::None => None,
            RetryAfterForm::Fixed(fixed) => Some(fixed),
            RetryAfterForm::Exact => wait,
            RetryAfterForm::WholeSeconds => {
                wait.map(|wait| Duration::from_secs(wait.as_micros().div_ceil(1_000_000)))
            }
        };
        (class, hint)
    }

    pub(crate) fn settle(
        &mut self,
        now: Instant,
        sent: Instant,
        (input, most): (u32, u32),
        used: Usage,
    ) {
        use LimitUnit::{InputTokens, OutputTokens, TotalTokens};
        let before = self.charge(input, most);
        let spec = &self.model.spec;
        let factor = match spec.settlement {
            Settlement::OutputTimes(factor) => factor.ppm(),
            _ => 1_000_000,
        };
        let (input, output) = (u64::from(used.input), u64::from(used.output) * factor / 1_000_000);
        let after = match (spec.unit, spec.settlement) {
            (LimitUnit::Concurrency, _) => 0,
            (LimitUnit::Requests | LimitUnit::DayQuota, _) => before,
            (InputTokens, Settlement::None) => before,
            (_, Settlement::None) if spec.charge == Charge::PromptAndMax => before,
            (_, Settlement::None) => before + output,
            (InputTokens, _) => input,
            (OutputTokens, _) => output,
            (TotalTokens, _) => input + output,
        };
        if after > before {
            self.history.push((now, Entry::Took(after - before)));
        } else {
            self.history.push((now, Entry::Gave(before - after, sent)));
        }
    }

    fn charge(&self, input: u32, most: u32) -> u64 {
        let with_max = self.model.spec.charge == Charge::PromptAndMax;
        let most = if with_max { u64::from(most) } else { 0 };
        match self.model.spec.unit {
            LimitUnit::Requests | LimitUnit::Concurrency | LimitUnit::DayQuota => 1,
            LimitUnit::InputTokens => input.into(),
            LimitUnit::OutputTokens => most,
            LimitUnit::TotalTokens => u64::from(input) + most,
        }
    }

    /// What is taken at `now`, in units × µs of the window, and the limit.
    fn level(&self, now: Instant) -> (u128, u64) {
        let (mut level, mut limit, mut at) = (0_u128, 0, Instant::ZERO);
        let flows = self.model.spec.refill == Refill::Continuous;
        for (time, entry) in self.history.iter().map(|(t, e)| (*t, Some(e))).chain([(now, None)]) {
            if self.model.spec.unit == LimitUnit::Concurrency {
                // A place comes back only when it is given back.
            } else if flows {
                let back = u128::from((time - at).as_micros()) * u128::from(limit);
                level = level.saturating_sub(back);
            } else if self.number(time) != self.number(at) {
                level = 0;
            }
            at = time;
            match entry {
                Some(Entry::Took(amount)) => level += self.scaled(*amount),
                Some(Entry::Gave(amount, taken)) => {
                    let places = self.model.spec.unit == LimitUnit::Concurrency;
                    if flows || places || self.number(*taken) == self.number(time) {
                        level = level.saturating_sub(self.scaled(*amount));
                    }
                }
                Some(Entry::Filled(amount)) => {
                    let full = self.scaled(limit).min(level + self.scaled(*amount));
                    level = level.max(full);
                }
                Some(Entry::Stands(stands)) => limit = *stands,
                None => {}
            }
        }
        (level, limit)
    }

    /// How long until this much fits.
    fn wait(&self, now: Instant, amount: u64) -> Option<Duration> {
        let (level, limit) = self.level(now);
        let spec = &self.model.spec;
        if amount > limit || limit == 0 || spec.unit == LimitUnit::Concurrency {
            return None;
        }
        let micros = match spec.refill {
            Refill::Continuous => {
                let over = level + self.scaled(amount) - self.scaled(limit);
                over.div_ceil(u128::from(limit)) as u64
            }
            Refill::Window => (self.number(now) + 1) * self.window - now.as_micros(),
        };
        Some(Duration::from_micros(micros))
    }

    fn scaled(&self, amount: u64) -> u128 {
        u128::from(amount) * u128::from(self.window)
    }

    fn number(&self, at: Instant) -> u64 {
        at.as_micros() / self.window
    }
}
