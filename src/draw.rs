//! Keyed luck: every random number of a run is a pure function of a key and of
//! what it is for, never the next number of a shared sequence.
//!
//! A draw is named by the request's [`Key`], a [`Purpose`], the [`NameHash`] of
//! what it concerns, and a count (the try, or the time window). Two policies
//! that make the same choice therefore meet the same luck, and adding a target,
//! a purpose or a try moves no other draw. The generator is Philox2x64-10, whose
//! published known-answer vectors are tested below.
//!
//! Two kinds of randomness, one rule each:
//! - while a run is going on: [`Key::draw`], in any order;
//! - while a world is built: [`stream`], one sequential pass per purpose and owner.

mod philox;
mod purpose;
mod sticking;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

pub use purpose::Purpose;
pub use sticking::{BadSticking, Sticking, StickyThresholds};

/// 128 bits that name a request (or a whole world) in every draw made for it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(u64, u64);

impl Key {
    /// The key made of these 128 bits, which must already be well mixed: the
    /// output of [`stream`], [`Key::child`] or [`Key::of_world`].
    pub const fn new(high: u64, low: u64) -> Key {
        Key(high, low)
    }

    /// The key of the world grown from `seed`; neighbouring seeds give unrelated keys.
    pub const fn of_world(seed: u64) -> Key {
        // A fixed second half keeps seed 0 away from the all-zero block.
        Key(seed, u64::from_be_bytes(*b"windtunl")).child(0)
    }

    /// An independent key for part `tag` of what this key names: a request of a
    /// world, a layer of a request. Different tags never give the same key.
    pub const fn child(self, tag: u64) -> Key {
        let (high, low) = self.block(Purpose::ChildKey, NameHash(tag), 0);
        Key(high, low)
    }

    /// The draw for `purpose` about `subject`, the `nth` time; uniform on 64 bits.
    #[inline]
    pub const fn draw(self, purpose: Purpose, subject: NameHash, nth: u32) -> u64 {
        self.block(purpose, subject, nth).0
    }

    /// Two independent draws for the price of one; the first is what [`Key::draw`] gives.
    #[inline]
    pub const fn draw2(self, purpose: Purpose, subject: NameHash, nth: u32) -> (u64, u64) {
        self.block(purpose, subject, nth)
    }

    /// One Philox block. The first half of the key is Philox's key; the second
    /// half masks the subject in the counter. For one key the counter is an
    /// injection of (purpose, subject, nth), so two draws never share a block.
    #[inline]
    const fn block(self, purpose: Purpose, subject: NameHash, nth: u32) -> (u64, u64) {
        let counter = [self.1 ^ subject.0, nth as u64 | (purpose as u64) << 32];
        let [first, second] = philox::philox2x64_10(counter, self.0);
        (first, second)
    }
}

/// A stable 64-bit hash of a name: of a target, a route class, a weather event.
///
/// Draws hold on to names, not to positions in a list, so reordering a fleet
/// changes nothing. FNV-1a over the UTF-8 bytes, then the MurmurHash3 finaliser,
/// because FNV-1a alone leaves similar names close together.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameHash(u64);

impl NameHash {
    /// For draws that concern the request itself and no target.
    pub const NONE: NameHash = NameHash(0);

    /// The hash of `name`.
    pub const fn of(name: &str) -> NameHash {
        NameHash(finalise(fnv1a(0xcbf2_9ce4_8422_2325, name.as_bytes())))
    }

    /// The same subject seen by one named effect, so that two failure effects on
    /// one target have their own luck.
    pub const fn under(self, effect: &str) -> NameHash {
        NameHash(finalise(fnv1a(self.0, effect.as_bytes())))
    }

    /// The same subject seen by what `number` tells apart: another name's hash, a moment.
    pub const fn part(self, number: u64) -> NameHash {
        NameHash(finalise(fnv1a(self.0, &number.to_le_bytes())))
    }

    /// The hash itself.
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

/// A sequential generator for building a world: its own for each seed, purpose and owner.
///
/// `owner` is the hash of the name of the route class, target or event built, so
/// that adding another moves no draw of this one.
pub fn stream(seed: u64, purpose: Purpose, owner: NameHash) -> ChaCha8Rng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&owner.0.to_le_bytes());
    bytes[16..].copy_from_slice(b"windtunnel world");
    let mut rng = ChaCha8Rng::from_seed(bytes);
    rng.set_stream(purpose as u64);
    rng
}

/// The draw in units of 2⁻⁶³, as [`Share`](windtunnel_policy::Share) counts.
pub const fn unit(draw: u64) -> u64 {
    draw >> 1
}

/// A whole number below `n`, by multiplying: each is met with probability 1/n
/// to within n · 2⁻⁶⁴. Zero when `n` is zero.
pub const fn below(draw: u64, n: u64) -> u64 {
    ((draw as u128 * n as u128) >> 64) as u64
}

const fn fnv1a(start: u64, bytes: &[u8]) -> u64 {
    let mut hash = start;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        i += 1;
    }
    hash
}

/// MurmurHash3's 64-bit finaliser: a bijection in which every input bit moves every output bit.
const fn finalise(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;

    #[test]
    fn fnv1a_matches_the_published_vectors() {
        for (text, want) in [
            ("", 0xcbf2_9ce4_8422_2325),
            ("a", 0xaf63_dc4c_8601_ec8c),
            ("foobar", 0x8594_4171_f739_67e8_u64),
        ] {
            assert_eq!(fnv1a(0xcbf2_9ce4_8422_2325, text.as_bytes()), want, "{text}");
        }
    }

    /// The bytes of every result rest on these. All but the last were computed
    /// apart, by a few lines of Python over the published algorithms.
    #[test]
    fn draws_are_pinned() {
        let world = Key::of_world(7);
        let request = world.child(41);
        let target = NameHash::of("azure/eastus");
        let pinned = [
            target.as_u64(),
            target.under("outage").as_u64(),
            request.draw(Purpose::FailureClass, target, 2),
            request.draw2(Purpose::FailureClass, target, 2).1,
            stream(7, Purpose::ArrivalGap, NameHash::of("chat")).next_u64(),
        ];
        assert_eq!(
            pinned,
            [
                6_171_252_544_487_099_396,
                17_589_000_874_148_931_374,
                16_896_541_667_005_116_701,
                2_719_115_243_287_443_389,
                13_631_561_377_435_711_736,
            ]
        );
    }

    #[test]
    fn first_of_two_draws_is_the_single_draw() {
        let key = Key::of_world(1);
        for nth in 0..100 {
            let pair = key.draw2(Purpose::Quality, NameHash::NONE, nth);
            assert_eq!(pair.0, key.draw(Purpose::Quality, NameHash::NONE, nth));
            assert_ne!(pair.0, pair.1);
        }
    }

    #[test]
    fn streams_differ_in_seed_purpose_and_owner() {
        let first = |seed, purpose, owner| stream(seed, purpose, NameHash::of(owner)).next_u64();
        let base = first(1, Purpose::ArrivalGap, "chat");
        assert_eq!(base, first(1, Purpose::ArrivalGap, "chat"));
        assert_ne!(base, first(2, Purpose::ArrivalGap, "chat"));
        assert_ne!(base, first(1, Purpose::Patience, "chat"));
        assert_ne!(base, first(1, Purpose::ArrivalGap, "batch"));
    }

    #[test]
    fn below_covers_its_range_and_no_more() {
        assert_eq!(below(0, 5), 0);
        assert_eq!(below(u64::MAX, 5), 4);
        assert_eq!(below(1 << 63, 10), 5);
        assert_eq!(below(u64::MAX, 0), 0);
        assert_eq!(unit(u64::MAX), (1 << 63) - 1);
    }
}
