//! Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw,
//! "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// The golden ratio and √3 − 1, added to the key after each round.
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// The block for `counter` under `key`: for each key a permutation of the counters.
#[inline]
pub(super) const fn philox4x32_10(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut a, mut b, mut c, mut d] = counter;
    let [mut k0, mut k1] = key;
    let mut round = 0;
    while round < ROUNDS {
        let left = MULTIPLIERS[0] as u64 * a as u64;
        let right = MULTIPLIERS[1] as u64 * c as u64;
        a = (right >> 32) as u32 ^ b ^ k0;
        b = right as u32;
        c = (left >> 32) as u32 ^ d ^ k1;
        d = left as u32;
        k0 = k0.wrapping_add(WEYL[0]);
        k1 = k1.wrapping_add(WEYL[1]);
        round += 1;
    }
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The three rows "philox4x32 10" of Random123's `tests/kat_vectors`.
    #[test]
    fn matches_the_published_known_answers() {
        let zero = philox4x32_10([0; 4], [0; 2]);
        assert_eq!(zero, [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        let ones = philox4x32_10([u32::MAX; 4], [u32::MAX; 2]);
        assert_eq!(ones, [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi_counter = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        let pi = philox4x32_10(pi_counter, [0xa409_3822, 0x299f_31d0]);
        assert_eq!(pi, [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }
}
