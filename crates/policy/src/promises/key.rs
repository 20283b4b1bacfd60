//! A key of 128 bits for what is hashed.

use core::hash::Hasher;

/// Two multiplicative hashes side by side, each a bijection in every word it takes.
pub(super) struct Key(u64, u64);

impl Default for Key {
    fn default() -> Key {
        Key(0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344)
    }
}

impl Key {
    /// All of it.
    pub(super) fn wide(&self) -> u128 {
        u128::from(mixed(self.0)) << 64 | u128::from(mixed(self.1))
    }

    fn word(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        self.1 = (self.1 ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93).rotate_left(37);
    }
}

impl Hasher for Key {
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(last));
        }
    }

    fn write_u8(&mut self, n: u8) {
        self.word(n.into());
    }

    fn write_u16(&mut self, n: u16) {
        self.word(n.into());
    }

    fn write_u32(&mut self, n: u32) {
        self.word(n.into());
    }

    fn write_u64(&mut self, n: u64) {
        self.word(n);
    }

    fn write_usize(&mut self, n: usize) {
        self.word(n as u64);
    }

    fn finish(&self) -> u64 {
        mixed(self.0 ^ self.1)
    }
}

/// Stafford's thirteenth finaliser: every bit depends on every bit.
const fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
