//! A set of targets as bits, so that eligibility is a few machine words.

use crate::target::{MAX_TARGETS, TargetId};

const WORDS: usize = MAX_TARGETS / 64;

/// A set of targets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct TargetSet([u64; WORDS]);

impl TargetSet {
    /// No target.
    pub(crate) const EMPTY: TargetSet = TargetSet([0; WORDS]);

    /// Puts a target in; in already is fine.
    pub(crate) const fn insert(&mut self, target: TargetId) {
        let (word, bit) = place(target);
        self.0[word] |= 1 << bit;
    }

    /// Takes a target out; out already is fine.
    pub(crate) const fn remove(&mut self, target: TargetId) {
        let (word, bit) = place(target);
        self.0[word] &= !(1 << bit);
    }

    /// Whether a target is in.
    #[inline]
    pub(crate) const fn contains(&self, target: TargetId) -> bool {
        let (word, bit) = place(target);
        self.0[word] >> bit & 1 == 1
    }

    /// True for no target at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Whether a target is in both sets.
    pub(crate) fn meets(&self, other: &TargetSet) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    /// How many targets are in.
    pub(crate) fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Targets in either set.
    #[must_use]
    pub(crate) fn union(self, other: TargetSet) -> TargetSet {
        TargetSet(core::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// Targets in both sets.
    #[must_use]
    pub(crate) fn both(self, other: TargetSet) -> TargetSet {
        TargetSet(core::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// The targets in it, in order of their position.
    pub(crate) fn iter(self) -> impl Iterator<Item = TargetId> {
        (0..MAX_TARGETS as u16).map(TargetId).filter(move |target| self.contains(*target))
    }
}

/// A set that is nearly always empty, and says so at once.
#[derive(Clone, Copy, Hash, Debug, Default)]
pub(crate) struct RareSet {
    some: bool,
    targets: TargetSet,
}

impl RareSet {
    /// No target.
    pub(crate) const EMPTY: RareSet = RareSet { some: false, targets: TargetSet::EMPTY };

    /// Puts a target in; in already is fine.
    pub(crate) fn insert(&mut self, target: TargetId) {
        self.targets.insert(target);
        self.some = true;
    }

    /// Takes a target out; out already is fine.
    pub(crate) fn remove(&mut self, target: TargetId) {
        self.targets.remove(target);
        self.some = !self.targets.is_empty();
    }

    /// Whether a target is in.
    #[inline(always)]
    pub(crate) const fn contains(&self, target: TargetId) -> bool {
        self.some && self.targets.contains(target)
    }

    /// Whether a target is in this and in the other.
    #[inline(always)]
    pub(crate) fn meets(&self, other: &TargetSet) -> bool {
        self.some && self.targets.meets(other)
    }
}

impl FromIterator<TargetId> for TargetSet {
    fn from_iter<I: IntoIterator<Item = TargetId>>(targets: I) -> TargetSet {
        let mut set = TargetSet::EMPTY;
        for target in targets {
            set.insert(target);
        }
        set
    }
}

/// The word of a target and its bit there. No topology has more targets than there are bits; said
/// once more here, no word needs to be looked for beyond the last.
const fn place(target: TargetId) -> (usize, u32) {
    (target.0 as usize / 64 % WORDS, target.0 as u32 % 64)
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn set(ids: &[u16]) -> TargetSet {
        ids.iter().copied().map(TargetId).collect()
    }

    #[test]
    fn members_across_words() {
        let mut s = set(&[0, 63, 64, 255]);
        assert_eq!(s.len(), 4);
        assert!(s.contains(TargetId(64)) && !s.contains(TargetId(65)));
        s.remove(TargetId(64));
        s.remove(TargetId(65));
        assert_eq!(s.iter().map(|t| t.0).collect::<Vec<_>>(), [0, 63, 255]);
        assert!(!s.is_empty() && TargetSet::EMPTY.is_empty());
    }

    #[test]
    fn a_rare_set_says_what_it_holds() {
        let mut rare = RareSet::EMPTY;
        assert!(!rare.contains(TargetId(70)) && !rare.meets(&set(&[70])));
        rare.insert(TargetId(70));
        rare.insert(TargetId(3));
        rare.remove(TargetId(3));
        assert!(rare.contains(TargetId(70)) && rare.meets(&set(&[1, 70])));
        assert!(!rare.contains(TargetId(3)) && !rare.meets(&set(&[3])));
        rare.remove(TargetId(70));
        assert!(!rare.some && !rare.contains(TargetId(70)));
    }

    #[test]
    fn union() {
        let (a, b) = (set(&[1, 70]), set(&[70, 200]));
        assert_eq!(a.union(b), set(&[1, 70, 200]));
        assert_eq!(a.both(b), set(&[70]));
        assert!(a.meets(&b) && !a.meets(&set(&[2, 200])));
    }
}
