//! Draws from a request's salt: the core holds no generator, so that the same request has the
//! same luck under every policy.

/// What a draw is for; draws for different purposes are independent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub(crate) enum Draw {
    /// The jitter of a wait.
    Jitter = 1,
    /// A choice among targets: weighted, or the two of two choices.
    Choice = 2,
    /// The jitter of a breaker's open time.
    OpenJitter = 3,
    /// Whether a breaker that ramps admits the attempt.
    Ramp = 4,
    /// Which target a conversation stays with.
    Sticky = 5,
}

/// 64 bits for the `n`-th use of a purpose within the request of this salt.
pub(crate) const fn draw(salt: u64, purpose: Draw, n: u64) -> u64 {
    again(salt ^ again((purpose as u64) << 32 ^ n))
}

/// 32 bits that stand for a target's name in draws, whatever its position: FNV-1a, mixed.
pub(crate) fn anchor(name: &str) -> u64 {
    let fnv = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    again(fnv) >> 32
}

/// 64 further bits from a draw.
pub(crate) const fn again(draw: u64) -> u64 {
    // SplitMix64: its increment, then Stafford's thirteenth finaliser.
    let mut z = draw.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A whole number from 0 to `n - 1`, uniform to one part in 2⁶⁴ / `n`; 0 where `n` is 0.
pub(crate) const fn below(draw: u64, n: u64) -> u64 {
    ((draw as u128 * n as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixer_is_splitmix64() {
        // First outputs of the published reference for the seed 1234567.
        let mut state = 1_234_567_u64;
        for expected in [6_457_827_717_110_365_317, 3_203_168_211_198_807_973] {
            assert_eq!(again(state), expected);
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        }
    }

    #[test]
    fn below_covers_its_range() {
        assert_eq!(below(0, 10), 0);
        assert_eq!(below(u64::MAX, 10), 9);
        assert_eq!(below(u64::MAX, 0), 0);
        assert_eq!(below(1 << 63, 10), 5);
    }

    #[test]
    fn purposes_and_uses_are_independent() {
        // Of 64 bits about 32 differ between any two draws; the mean over 1,000 pairs has a
        // standard error of 4 / √1000 = 0.13.
        let differing = |a: fn(u64) -> u64, b: fn(u64) -> u64| {
            (0..1_000).map(|salt| (a(salt) ^ b(salt)).count_ones()).sum::<u32>() as f64 / 1_000.0
        };
        let jitter = |salt| draw(salt, Draw::Jitter, 0);
        for mean in [
            differing(jitter, |salt| draw(salt, Draw::Jitter, 1)),
            differing(jitter, |salt| draw(salt, Draw::Ramp, 0)),
            differing(jitter, |salt| draw(salt + 1, Draw::Jitter, 0)),
        ] {
            assert!((mean - 32.0).abs() < 5.0 * 0.13, "{mean}");
        }
    }

    #[test]
    fn tenths_are_tenths() {
        let mut counts = [0_u32; 10];
        for salt in 0..100_000 {
            counts[below(draw(salt, Draw::Choice, 0), 10) as usize] += 1;
        }
        // Standard deviation of each count: √(100,000 · 0.1 · 0.9) = 95.
        assert!(counts.iter().all(|c| c.abs_diff(10_000) < 5 * 95), "{counts:?}");
    }
}
