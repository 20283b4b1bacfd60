//! Failures stick: part of a failure probability belongs to the request, part to
//! a stretch of time, and only the rest is fresh luck at every try.
//!
//! A failure of total probability p with shares s₁ + s₂ + s₃ = 1 is the union of
//! three independent strikes whose probabilities are conditional on the earlier
//! ones missing: q₁ = s₁p, q₂ = s₂p / (1 − s₁p), q₃ = s₃p / (1 − s₁p − s₂p). One
//! try then fails with probability p exactly, and a second try on the same target
//! fails more often than p² in the measure in which the failure sticks.

use std::fmt;

use windtunnel_policy::Share;

use super::{Key, NameHash, Purpose};

/// What a failure sticks to; the three shares sum to one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sticking {
    request: Share,
    window: Share,
    free: Share,
}

/// Shares that do not sum to one; holds the sum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BadSticking(pub f64);

impl Sticking {
    /// Half to request × target, a quarter to target × time window, a quarter to
    /// nothing: assumed where there is no evidence.
    pub const ASSUMED: Sticking = Sticking {
        request: Share::ratio(1, 2),
        window: Share::ratio(1, 4),
        free: Share::ratio(1, 4),
    };
    /// Every try has fresh luck: flatters retries.
    pub const INDEPENDENT: Sticking =
        Sticking { request: Share::ZERO, window: Share::ZERO, free: Share::ONE };
    /// A request that failed on a target always fails there again.
    pub const TO_REQUEST: Sticking =
        Sticking { request: Share::ONE, window: Share::ZERO, free: Share::ZERO };

    /// Shares sticking to request × target, to target × time window, and to nothing.
    ///
    /// Decimal fractions seldom sum to one in binary: a sum within 2⁻⁴⁸ of one is
    /// taken as one, and the difference goes to the largest share.
    ///
    /// # Errors
    /// The shares do not sum to one.
    pub fn new(request: Share, window: Share, free: Share) -> Result<Sticking, BadSticking> {
        let one = u128::from(Share::ONE.as_bits());
        let mut bits = [request, window, free].map(|share| u128::from(share.as_bits()));
        let sum: u128 = bits.iter().sum();
        if sum.abs_diff(one) > 1 << (63 - 48) {
            return Err(BadSticking(sum as f64 / one as f64));
        }
        let largest = bits.iter_mut().max().expect("there are three shares");
        *largest = *largest + one - sum;
        let [request, window, free] = bits.map(|b| Share::from_bits(b as u64));
        Ok(Sticking { request, window, free })
    }

    /// The thresholds of the three strikes for a failure of total probability `p`.
    ///
    /// Rounded down by at most 2⁻⁶³ each; p = 1 strikes always, and a share of
    /// zero never.
    pub fn thresholds(&self, p: Share) -> StickyThresholds {
        // Cumulated shares, not the shares themselves, are multiplied and rounded:
        // the last one is exactly p, so p = 1 leaves a quotient of exactly one.
        let to_request = self.request.times(p);
        let to_window = self.free.complement().times(p);
        let strike = |from: Share, to: Share| {
            Share::ratio(to.as_bits() - from.as_bits(), from.complement().as_bits())
        };
        StickyThresholds {
            request: to_request,
            window: strike(to_request, to_window),
            free: strike(to_window, p),
        }
    }
}

/// The probabilities of the three strikes of one failure, see [`Sticking::thresholds`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StickyThresholds {
    /// q₁, drawn once per request and target.
    pub request: Share,
    /// q₂, drawn once per target and time window.
    pub window: Share,
    /// q₃, drawn at every try.
    pub free: Share,
}

impl StickyThresholds {
    /// Whether the `nth` try of `request` on `target` fails, sent in time window
    /// number `window` of the world keyed `world`.
    ///
    /// `target` is the target as this failure effect sees it ([`NameHash::under`]).
    pub fn strike(
        &self,
        request: Key,
        world: Key,
        target: NameHash,
        window: u32,
        nth: u32,
    ) -> bool {
        self.strike_within(request, target, nth, || self.strikes_window(world, target, window))
    }

    /// The same where somebody else knows whether the window is struck.
    #[inline(always)]
    pub fn strike_within(
        &self,
        request: Key,
        target: NameHash,
        nth: u32,
        window_is_struck: impl FnOnce() -> bool,
    ) -> bool {
        hits(self.request, || request.draw(Purpose::FailureSticksToRequest, target, 0))
            || (self.window > Share::ZERO && window_is_struck())
            || hits(self.free, || request.draw(Purpose::FailureFree, target, nth))
    }

    /// Whether every request to `target` fails in this time window of the world keyed `world`.
    #[inline]
    pub fn strikes_window(&self, world: Key, target: NameHash, window: u32) -> bool {
        hits(self.window, || world.draw(Purpose::FailureSticksToWindow, target, window))
    }
}

/// Whether a draw hits; never and always need none.
#[inline]
fn hits(share: Share, draw: impl FnOnce() -> u64) -> bool {
    share > Share::ZERO && (share == Share::ONE || share.hits(draw()))
}

impl fmt::Display for BadSticking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the shares a failure sticks to must sum to 1, not {}", self.0)
    }
}

impl std::error::Error for BadSticking {}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(p: f64) -> Share {
        Share::new(p).expect("a share")
    }

    /// How often two tries in different windows both fail, of 2¹⁶ requests.
    fn two_tries(sticking: Sticking, p: f64) -> f64 {
        let thresholds = sticking.thresholds(share(p));
        let world = Key::of_world(3);
        let target = NameHash::of("primary").under("baseline");
        let n = 1 << 16;
        let both = (0..n).filter(|&id: &u32| {
            let request = world.child(u64::from(id));
            [0, 1].iter().all(|&nth| thresholds.strike(request, world, target, 2 * id + nth, nth))
        });
        both.count() as f64 / f64::from(n)
    }

    #[test]
    fn second_try_fails_as_far_as_the_failure_sticks() {
        let half = Sticking::new(share(0.5), Share::ZERO, share(0.5)).expect("sums to one");
        // 0.125 + 0.875 × (0.125 / 0.875)² = 1/7; five standard errors of 2¹⁶ draws.
        for (sticking, want) in
            [(half, 1.0 / 7.0), (Sticking::INDEPENDENT, 0.0625), (Sticking::TO_REQUEST, 0.25)]
        {
            let tolerance = 5.0 * (want * (1.0 - want) / 65_536.0_f64).sqrt();
            let got = two_tries(sticking, 0.25);
            assert!((got - want).abs() < tolerance, "{sticking:?}: {got} against {want}");
        }
    }

    #[test]
    fn tries_in_one_window_share_its_strike() {
        let thresholds = StickyThresholds {
            request: Share::ZERO,
            window: Share::ratio(1, 2),
            free: Share::ZERO,
        };
        let world = Key::of_world(9);
        let target = NameHash::of("t");
        let fails = |id, window| thresholds.strike(world.child(id), world, target, window, 0);
        for window in 0..64 {
            assert!((0..20).all(|id| fails(id, window) == fails(0, window)));
        }
        assert_ne!((0..64).filter(|&w| fails(0, w)).count() % 64, 0, "windows differ");
    }

    #[test]
    fn union_of_strikes_is_the_total() {
        for (s1, s2) in [(0.5, 0.25), (0.1, 0.2), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0)] {
            let sticking =
                Sticking::new(share(s1), share(s2), share(1.0 - s1 - s2)).expect("sums to one");
            for p in [0.0, 1e-9, 0.04, 0.25, 0.999, 1.0] {
                let q = sticking.thresholds(share(p));
                let miss = (1.0 - q.request.as_f64())
                    * (1.0 - q.window.as_f64())
                    * (1.0 - q.free.as_f64());
                assert!((1.0 - miss - p).abs() < 1e-15, "{s1} {s2} {p}: {q:?}");
            }
        }
    }

    #[test]
    fn always_and_never_are_exact() {
        let always = Sticking::ASSUMED.thresholds(Share::ONE);
        assert_eq!(always.request, Share::ratio(1, 2));
        assert_eq!(always.window, Share::ratio(1, 2));
        assert_eq!(always.free, Share::ONE);
        let never = Sticking::ASSUMED.thresholds(Share::ZERO);
        assert_eq!([never.request, never.window, never.free], [Share::ZERO; 3]);
        let stuck = Sticking::TO_REQUEST.thresholds(share(0.3));
        assert_eq!([stuck.window, stuck.free], [Share::ZERO; 2]);
    }

    #[test]
    fn shares_must_sum_to_one() {
        assert!(Sticking::new(share(0.1), share(0.2), share(0.7)).is_ok());
        let wrong = Sticking::new(share(0.5), share(0.5), share(0.5));
        assert_eq!(wrong, Err(BadSticking(1.5)));
        assert!(Sticking::new(share(0.5), share(0.25), share(0.2499)).is_err());
    }
}
