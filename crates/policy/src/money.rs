//! Integer money: picodollars, so that a price per million tokens with six
//! decimals is a whole number per token.

use core::ops::{Add, AddAssign};

/// An amount of US dollars, in picodollars (10⁻¹² dollars); at most 18.4 million dollars.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Money(u64);

impl Money {
    /// Nothing.
    pub const ZERO: Money = Money(0);
    /// More than any bill: "no ceiling".
    pub const MAX: Money = Money(u64::MAX);
    /// One dollar.
    pub const DOLLAR: Money = Money(1_000_000_000_000);

    /// `pico` picodollars.
    pub const fn from_pico(pico: u64) -> Money {
        Money(pico)
    }

    /// The amount in picodollars.
    pub const fn as_pico(self) -> u64 {
        self.0
    }

    /// The amount in dollars, for people.
    pub fn as_dollars(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// `self - other`, never below nothing.
    pub const fn saturating_sub(self, other: Money) -> Money {
        Money(self.0.saturating_sub(other.0))
    }
}

impl Add for Money {
    type Output = Money;
    /// Saturates at [`Money::MAX`].
    fn add(self, other: Money) -> Money {
        Money(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Money {
    fn add_assign(&mut self, other: Money) {
        *self = *self + other;
    }
}

/// What a target charges, per token, in picodollars.
///
/// One dollar per million tokens is 1,000,000 picodollars per token.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Price {
    /// Per fresh input token.
    pub input: u64,
    /// Per input token read from the provider's cache.
    pub cached: u64,
    /// Per output token.
    pub output: u64,
}

impl Price {
    /// The higher of each.
    #[must_use]
    pub(crate) fn max(self, other: Price) -> Price {
        Price {
            input: self.input.max(other.input),
            cached: self.cached.max(other.cached),
            output: self.output.max(other.output),
        }
    }

    /// The bill for these token counts, saturating at [`Money::MAX`].
    #[inline]
    pub const fn bill(&self, input: u32, cached: u32, output: u32) -> Money {
        let fresh = input.saturating_sub(cached);
        // Up to a thousand dollars a million tokens, nothing can overflow.
        if (self.input | self.cached | self.output) < 1 << 30 {
            return Money(
                self.input * fresh as u64
                    + self.cached * cached as u64
                    + self.output * output as u64,
            );
        }
        let wide = self.input as u128 * fresh as u128
            + self.cached as u128 * cached as u128
            + self.output as u128 * output as u128;
        Money(if wide > u64::MAX as u128 { u64::MAX } else { wide as u64 })
    }
}
