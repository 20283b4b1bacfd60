//! Counts of neighbouring cells: small ones in a quarter of the room. Most cells of a run count a few
//! observations, and its histograms are most of what it keeps in memory.

use super::CELLS_PER_CHUNK as CELLS;

/// A quarter of an octave.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) enum Chunk {
    /// Nothing was counted.
    #[default]
    Empty,
    /// No cell counts more than 65,535.
    Small(Box<[u16; CELLS]>),
    /// Some cell does.
    Large(Box<[u64; CELLS]>),
}

impl Chunk {
    /// Counts an observation.
    #[inline]
    pub(super) fn count(&mut self, place: usize) {
        match self {
            Chunk::Small(counts) if counts[place] < u16::MAX => counts[place] += 1,
            Chunk::Large(counts) => counts[place] += 1,
            _ => self.grow().count(place),
        }
    }

    /// Observations in a cell.
    #[inline]
    pub(super) fn at(&self, place: usize) -> u64 {
        match self {
            Chunk::Empty => 0,
            Chunk::Small(counts) => counts[place].into(),
            Chunk::Large(counts) => counts[place],
        }
    }

    /// Observations in all cells.
    pub(super) fn sum(&self) -> u64 {
        match self {
            Chunk::Empty => 0,
            Chunk::Small(counts) => counts.iter().map(|&count| u64::from(count)).sum(),
            Chunk::Large(counts) => counts.iter().sum(),
        }
    }

    /// Adds every observation of `other`.
    pub(super) fn add(&mut self, other: &Chunk) {
        match (&mut *self, other) {
            (_, Chunk::Empty) => {}
            (Chunk::Empty, _) => *self = other.clone(),
            (Chunk::Small(mine), Chunk::Small(theirs)) if fits(mine, theirs) => {
                mine.iter_mut().zip(theirs.iter()).for_each(|(mine, theirs)| *mine += theirs);
            }
            (Chunk::Small(_), _) => self.grow().add(other),
            (Chunk::Large(mine), _) => {
                mine.iter_mut().enumerate().for_each(|(place, mine)| *mine += other.at(place));
            }
        }
    }

    /// Makes room for more.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> &mut Chunk {
        *self = match self {
            Chunk::Empty => Chunk::Small(Box::new([0; CELLS])),
            Chunk::Small(counts) => Chunk::Large(Box::new(counts.map(u64::from))),
            Chunk::Large(_) => unreachable!("there is room for as much as a run can hold"),
        };
        self
    }
}

/// Whether the sums of two small chunks are small.
fn fits(mine: &[u16; CELLS], theirs: &[u16; CELLS]) -> bool {
    mine.iter().zip(theirs).all(|(mine, theirs)| mine.checked_add(*theirs).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(place: usize, times: u64) -> Chunk {
        let mut chunk = Chunk::Empty;
        (0..times).for_each(|_| chunk.count(place));
        chunk
    }

    #[test]
    fn a_cell_counts_on_beyond_what_is_small() {
        let mut chunk = counted(7, 65_535);
        chunk.count(9);
        assert!(matches!(chunk, Chunk::Small(_)));
        chunk.count(7);
        assert!(matches!(chunk, Chunk::Large(_)));
        assert_eq!([7, 8, 9].map(|place| chunk.at(place)), [65_536, 0, 1]);
        assert_eq!(chunk.sum(), 65_537);
    }

    #[test]
    fn sums_are_those_of_counting_everything_in_one() {
        // Nothing, small sums, sums that are small no longer, and large ones.
        let times = [0, 1, 40_000, 65_535, 70_000];
        for mine in times {
            for theirs in times {
                for place in [3, 4] {
                    let mut sum = counted(3, mine);
                    sum.add(&counted(place, theirs));
                    let mut all = counted(3, mine);
                    (0..theirs).for_each(|_| all.count(place));
                    assert_eq!(sum, all, "{mine} and {theirs}");
                    assert_eq!(sum.sum(), mine + theirs);
                }
            }
        }
    }
}
