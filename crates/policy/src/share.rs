//! Probabilities and shares as integers: thresholds on 63 bits, so that
//! "always" and "never" are exact and no decision rests on a float.

/// A share between 0 and 1, in units of 2⁻⁶³.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Share(u64);

const ONE: u64 = 1 << 63;

impl Share {
    /// Nothing, or never.
    pub const ZERO: Share = Share(0);
    /// All, or always.
    pub const ONE: Share = Share(ONE);

    /// The nearest share to `p`; `None` unless `0 <= p <= 1`.
    pub fn new(p: f64) -> Option<Share> {
        // Scaling by a power of two is exact, so the same text gives the same bits everywhere.
        (0.0..=1.0).contains(&p).then_some(Share((p * ONE as f64) as u64))
    }

    /// `numerator / denominator`, rounded down and at most one; zero when the denominator is zero.
    pub const fn ratio(numerator: u64, denominator: u64) -> Share {
        if denominator == 0 {
            return Share::ZERO;
        }
        let wide = ((numerator as u128) << 63) / denominator as u128;
        Share(if wide > ONE as u128 { ONE } else { wide as u64 })
    }

    /// The share in units of 2⁻⁶³.
    pub const fn as_bits(self) -> u64 {
        self.0
    }

    /// The share in units of 2⁻⁶³, at most one.
    pub const fn from_bits(bits: u64) -> Share {
        Share(if bits > ONE { ONE } else { bits })
    }

    /// True for a share of `self` of all 64-bit draws.
    pub const fn hits(self, draw: u64) -> bool {
        (draw >> 1) < self.0
    }

    /// This share of `n`, rounded down.
    pub const fn of(self, n: u64) -> u64 {
        ((n as u128 * self.0 as u128) >> 63) as u64
    }

    /// The share as a float, for people.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// `1 - self`.
    pub const fn complement(self) -> Share {
        Share(ONE - self.0)
    }

    /// `self * other`, rounded down.
    pub const fn times(self, other: Share) -> Share {
        Share(((self.0 as u128 * other.0 as u128) >> 63) as u64)
    }
}
