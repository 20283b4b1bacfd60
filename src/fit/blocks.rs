//! Times of a target in blocks of minutes, which a refit takes or leaves as a whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::at_target::AtTarget;
use super::cells::Cells;
use super::regression::Moments;

/// Minutes of a block, and more in a log so long that there would be too many.
pub(super) const BLOCK: u64 = 5;
/// Blocks of all targets together, about: each may hold thousands of cells.
const MOST_BLOCKS: usize = 1_024;

/// Times in one block at one target.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Block {
    /// To the first output, by prompt length in octaves.
    pub(super) first: BTreeMap<u8, Cells>,
    /// The same (µs) against prompt tokens.
    pub(super) first_by_prompt: Moments<2>,
    /// Given up before the first output, after this long.
    pub(super) given_up: Cells,
    /// How many of those the product's deadline cut: no failures of the target.
    pub(super) cut_short: u64,
    pub(super) headers: Cells,
    /// Nanoseconds per output token after the first.
    pub(super) pace: Cells,
    /// To failures before headers.
    pub(super) failing: Cells,
}

/// The blocks of one target, by when they are.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Blocks {
    /// Length of each.
    minutes: u64,
    /// Shared by copies of a target: refits change none of them.
    by: Arc<BTreeMap<u64, Block>>,
}

impl Default for Blocks {
    fn default() -> Blocks {
        Blocks { minutes: BLOCK, by: Arc::default() }
    }
}

impl Blocks {
    /// The block of a minute of the log's clock.
    pub(super) fn at(&mut self, minute: u64) -> &mut Block {
        Arc::make_mut(&mut self.by).entry(minute / self.minutes).or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.by.is_empty()
    }

    /// Their positions, ascending.
    pub(super) fn positions(&self) -> impl Iterator<Item = u64> + '_ {
        self.by.keys().copied()
    }

    pub(super) fn get(&self, position: u64) -> &Block {
        &self.by[&position]
    }

    /// The minute in the middle of a block.
    pub(super) fn middle(&self, position: u64) -> u64 {
        position * self.minutes + self.minutes / 2
    }

    /// Makes one block of two.
    fn double(&mut self) {
        self.minutes *= 2;
        let mut halves: BTreeMap<u64, Block> = BTreeMap::new();
        for (position, block) in std::mem::take(Arc::make_mut(&mut self.by)) {
            halves.entry(position / 2).or_default().merge(&block);
        }
        self.by = Arc::new(halves);
    }
}

impl Block {
    fn merge(&mut self, other: &Block) {
        for (&octave, cells) in &other.first {
            self.first.entry(octave).or_default().merge(cells, 1);
        }
        self.first_by_prompt.merge(&other.first_by_prompt, 1);
        self.given_up.merge(&other.given_up, 1);
        self.cut_short += other.cut_short;
        self.headers.merge(&other.headers, 1);
        self.pace.merge(&other.pace, 1);
        self.failing.merge(&other.failing, 1);
    }
}

/// Makes blocks longer where there are too many.
pub(super) fn bound(targets: &mut [AtTarget]) {
    let all: usize = targets.iter().map(|target| target.blocks.by.len()).sum();
    if all > MOST_BLOCKS {
        targets.iter_mut().for_each(|target| target.blocks.double());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_blocks_are_made_longer_and_hold_what_they_held() {
        let mut targets = vec![AtTarget::default(), AtTarget::default()];
        for minute in 0..4_000 {
            targets[0].blocks.at(minute).headers.add(minute + 1);
        }
        targets[1].blocks.at(17).headers.add(9);
        bound(&mut targets);
        let before: Vec<u64> = targets[0].blocks.positions().collect();
        assert_eq!(before.len(), 800, "four thousand minutes are 800 blocks: few enough");
        for minute in 4_000..6_000 {
            targets[0].blocks.at(minute).headers.add(minute + 1);
        }
        bound(&mut targets);
        let blocks = &targets[0].blocks;
        assert_eq!((blocks.positions().count(), blocks.middle(3)), (600, 35));
        let held = |position: u64| blocks.get(position).headers.total();
        assert!(blocks.positions().all(|position| held(position) == 10));
        assert_eq!(targets[1].blocks.get(1).headers.total(), 1);
    }
}
