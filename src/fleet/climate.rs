//! What the weather at one target comes to, worked out once per change of weather.

use std::cell::Cell;
use std::sync::Arc;

use windtunnel_policy::{Instant, Share};

use crate::draw::{Key, NameHash, Sticking, StickyThresholds};
use crate::scenario::{FailureModel, Quality, Stick, TargetModel};
use crate::weather::{Conditions, Mix};
use crate::world::{Stickiness, WorldRequest};

/// The present conditions at a target, on top of its card's ordinary failures.
#[derive(Clone, Debug)]
pub(super) struct Climate {
    /// Speed of work, in parts per million.
    pub(super) speed: u64,
    /// Share of attempts that need more work, and how much in parts per million.
    pub(super) slow: (Share, u64),
    /// Slots for us: the weather's share of them, less the other tenants'.
    pub(super) slots: u32,
    /// Slots the other tenants hold.
    pub(super) others: u32,
    /// Share of complete answers that break their contract.
    pub(super) contract_failures: Share,
    /// Share of valid answers that do not do the job.
    pub(super) task_failures: Share,
    /// Share of streams that break off.
    pub(super) broken_streams: Share,
    /// Failure effects, the weather's first, each with its own luck.
    effects: Vec<Effect>,
    /// The card's own mix of failures, if it has any.
    baseline: Option<Effect>,
    /// How failures stick in this world.
    stickiness: Stickiness,
}

/// A failure effect as one target meets it.
#[derive(Clone, Debug)]
struct Effect {
    /// Keys its luck: the target as this effect sees it.
    subject: NameHash,
    share: Share,
    /// Whether it strikes attempts of a route class, by position; of all where absent.
    classes: Option<Arc<[bool]>>,
    strikes: StickyThresholds,
    window: u64,
    /// From when to when the present time window lasts, in µs, and whether all in it fail: drawn for
    /// the first attempt that asks. Nothing of the world before [`Climate::reset`] is left in it.
    present: Cell<(u64, u64, bool)>,
    mix: Arc<Vec<Mix>>,
}

/// No time window.
const NO_WINDOW: (u64, u64, bool) = (0, 0, false);

impl Climate {
    /// Clear weather at this target.
    pub(super) fn clear(model: &TargetModel) -> Climate {
        let mut climate = Climate {
            speed: 0,
            slow: (Share::ZERO, 0),
            slots: 0,
            others: 0,
            contract_failures: Share::ZERO,
            task_failures: Share::ZERO,
            broken_streams: Share::ZERO,
            effects: Vec::new(),
            baseline: None,
            stickiness: Stickiness::Declared,
        };
        climate.baseline = baseline(model.hash, &model.failures);
        climate.change(model, &Conditions::clear());
        climate
    }

    /// Clear weather again, in a world where failures stick like this.
    pub(super) fn reset(&mut self, model: &TargetModel, stickiness: Stickiness) {
        self.stickiness = stickiness;
        if let Some(baseline) = &mut self.baseline {
            baseline.stick(&stickiness.apply(model.failures.stick));
        }
        self.change(model, &Conditions::clear());
    }

    /// The weather changes to `conditions`.
    pub(super) fn change(&mut self, model: &TargetModel, conditions: &Conditions) {
        let capacity = &model.capacity;
        self.speed = conditions.speed_ppm;
        self.slow = conditions.slow;
        // The mean load of other tenants, without noise: rounded to the nearest slot.
        let others = u64::from(capacity.background_slots)
            .saturating_mul(conditions.background_ppm)
            .saturating_add(500_000)
            / 1_000_000;
        let standing = nearest(conditions.capacity, u64::from(capacity.slots));
        self.others = others.min(standing) as u32;
        self.slots = standing as u32 - self.others;
        let Quality { contract_failures, task_failures, .. } = model.quality;
        self.contract_failures = on_top(contract_failures, conditions.contract_failures);
        self.task_failures = on_top(task_failures, conditions.task_failures);
        self.broken_streams = on_top(model.failures.broken_streams, conditions.broken_streams);
        self.effects.clear();
        self.effects.extend(conditions.failures.iter().map(|failure| {
            let subject = model.hash.part(failure.effect.as_u64());
            let stick = self.stickiness.apply(failure.stick);
            let effect = Effect::new(subject, failure.share, &stick, Arc::clone(&failure.mix));
            Effect { classes: failure.classes.clone(), ..effect }
        }));
    }

    /// The first failure that strikes the `nth` try of `request` here at `now`, with the subject
    /// that keys what kind it is; each effect strikes or misses by its own luck.
    #[inline]
    pub(super) fn strike(
        &self,
        now: Instant,
        world: Key,
        request: &WorldRequest,
        nth: u32,
    ) -> Option<(NameHash, &[Mix])> {
        let by_weather = match self.effects.is_empty() {
            true => None,
            false => self.strike_by_weather(now, world, request, nth),
        };
        let effect = match by_weather {
            Some(effect) => effect,
            None => self.baseline.as_ref().filter(|it| it.strikes(now, world, request, nth))?,
        };
        Some((effect.subject, effect.mix.as_slice()))
    }

    #[inline(never)]
    fn strike_by_weather(
        &self,
        now: Instant,
        world: Key,
        request: &WorldRequest,
        nth: u32,
    ) -> Option<&Effect> {
        self.effects.iter().find(|effect| effect.strikes(now, world, request, nth))
    }
}

impl Effect {
    fn new(subject: NameHash, share: Share, stick: &Stick, mix: Arc<Vec<Mix>>) -> Effect {
        let mut effect = Effect {
            subject,
            share,
            classes: None,
            strikes: Sticking::ASSUMED.thresholds(share),
            window: 1,
            present: Cell::new(NO_WINDOW),
            mix,
        };
        effect.stick(stick);
        effect
    }

    fn stick(&mut self, stick: &Stick) {
        let sticking = Sticking::new(stick.request, stick.window, stick.free)
            .expect("stick shares are checked when the scenario is loaded");
        self.strikes = sticking.thresholds(self.share);
        self.window = stick.window_length.as_micros().max(1);
        self.present.set(NO_WINDOW);
    }

    /// Whether it strikes the `nth` try of `request` at `now`.
    #[inline(always)]
    fn strikes(&self, now: Instant, world: Key, request: &WorldRequest, nth: u32) -> bool {
        let concerned = self.classes.as_ref().is_none_or(|of| of[usize::from(request.class)]);
        let window_is_struck = || self.window_is_struck(now, world);
        concerned && self.strikes.strike_within(request.key, self.subject, nth, window_is_struck)
    }

    #[inline]
    fn window_is_struck(&self, now: Instant, world: Key) -> bool {
        let now = now.as_micros();
        let (from, to, struck) = self.present.get();
        if from <= now && now < to {
            return struck;
        }
        let number = now / self.window;
        // Longer than any run at one window a µs: the number is reduced, not refused.
        let struck = self.strikes.strikes_window(world, self.subject, number as u32);
        let from = number * self.window;
        self.present.set((from, from.saturating_add(self.window), struck));
        struck
    }
}

/// The card's kinds of failure as one effect that is always on.
fn baseline(target: NameHash, failures: &FailureModel) -> Option<Effect> {
    let bits = |kinds: &[crate::scenario::FailureShare]| {
        kinds.iter().map(|kind| kind.share.as_bits()).sum::<u64>()
    };
    let total = bits(&failures.mix);
    if total == 0 {
        return None;
    }
    let mix = failures.mix.iter().enumerate().map(|(i, kind)| Mix {
        up_to: Share::ratio(bits(&failures.mix[..=i]), total),
        class: kind.class,
        status: kind.status,
        phase: kind.phase,
        retry_after: kind.retry_after,
        takes: None,
        hang: kind.hang,
    });
    let subject = target.under("baseline");
    let share = Share::from_bits(total);
    Some(Effect::new(subject, share, &failures.stick, Arc::new(mix.collect())))
}

/// This share of `n`, rounded to the nearest: 80 % of 10 is 8, though 80 % in binary is a little
/// less.
pub(super) fn nearest(share: Share, n: u64) -> u64 {
    ((u128::from(n) * u128::from(share.as_bits()) + (1 << 62)) >> 63) as u64
}

/// Both shares together, at most one.
fn on_top(card: Share, weather: Share) -> Share {
    Share::from_bits(card.as_bits().saturating_add(weather.as_bits()))
}
