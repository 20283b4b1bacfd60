//! Integer time: microseconds since an origin the embedder chooses.
//!
//! The core owns its time type because `std` has no far-future instant and
//! because a clock must never be within reach of a decision.

use core::ops::{Add, AddAssign, Sub};

/// A point in time, in microseconds since the embedder's own origin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

/// A span of time, in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Duration(u64);

impl Instant {
    /// The origin.
    pub const ZERO: Instant = Instant(0);
    /// Later than anything that happens: "never".
    pub const FAR_FUTURE: Instant = Instant(u64::MAX);

    /// The instant `us` microseconds after the origin.
    pub const fn from_micros(us: u64) -> Instant {
        Instant(us)
    }

    /// Microseconds since the origin.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to `self`; zero when `earlier` is later.
    pub const fn since(self, earlier: Instant) -> Duration {
        Duration(self.0.saturating_sub(earlier.0))
    }

    /// `self - d`, never before the origin.
    pub const fn saturating_sub(self, d: Duration) -> Instant {
        Instant(self.0.saturating_sub(d.0))
    }
}

impl Duration {
    /// No time at all.
    pub const ZERO: Duration = Duration(0);
    /// Longer than anything that happens: "no limit".
    pub const MAX: Duration = Duration(u64::MAX);

    /// `us` microseconds.
    pub const fn from_micros(us: u64) -> Duration {
        Duration(us)
    }

    /// `ms` milliseconds, saturating.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(ms.saturating_mul(1_000))
    }

    /// `s` seconds, saturating.
    pub const fn from_secs(s: u64) -> Duration {
        Duration(s.saturating_mul(1_000_000))
    }

    /// Length in microseconds.
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// True for no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// `self - other`, never below zero.
    pub const fn saturating_sub(self, other: Duration) -> Duration {
        Duration(self.0.saturating_sub(other.0))
    }

    /// `self * factor`, saturating.
    pub const fn saturating_mul(self, factor: u64) -> Duration {
        Duration(self.0.saturating_mul(factor))
    }

    /// `self * numerator / denominator`, rounded down, saturating.
    #[inline]
    pub const fn mul_div(self, numerator: u64, denominator: u64) -> Duration {
        // Nearly always the product fits, and division by 128 bits is slow.
        if let Some(product) = self.0.checked_mul(numerator) {
            return Duration(product / denominator);
        }
        let wide = self.0 as u128 * numerator as u128 / denominator as u128;
        Duration(if wide > u64::MAX as u128 { u64::MAX } else { wide as u64 })
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;
    /// Saturates at [`Instant::FAR_FUTURE`], so "never" stays never.
    fn add(self, d: Duration) -> Instant {
        Instant(self.0.saturating_add(d.0))
    }
}

impl Add for Duration {
    type Output = Duration;
    /// Saturates at [`Duration::MAX`].
    fn add(self, other: Duration) -> Duration {
        Duration(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Duration {
    fn add_assign(&mut self, other: Duration) {
        *self = *self + other;
    }
}

impl Sub for Instant {
    type Output = Duration;
    /// Zero when `other` is later.
    fn sub(self, other: Instant) -> Duration {
        self.since(other)
    }
}
