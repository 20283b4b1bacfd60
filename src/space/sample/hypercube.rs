//! A Latin hypercube: each dimension is cut into as many slices as there are points, and each slice
//! holds one point.

use super::unit;
use crate::draw::{Key, NameHash, Purpose};

/// A number no point has: draws for where in its slice a point lies begin here.
const WITHIN: u32 = 1 << 31;

/// The points of a Latin hypercube.
pub(super) struct Hypercube {
    key: Key,
    names: Vec<NameHash>,
    /// By dimension, the slice of each point.
    slices: Vec<Vec<u32>>,
}

impl Hypercube {
    /// With so many points, in dimensions of these names.
    pub(super) fn new(
        key: Key,
        names: impl IntoIterator<Item = NameHash>,
        count: u32,
    ) -> Hypercube {
        let names: Vec<NameHash> = names.into_iter().collect();
        let slices = names.iter().map(|name| permutation(key, *name, count)).collect();
        Hypercube { key, names, slices }
    }

    pub(super) fn coordinate(&self, index: u32, dimension: usize) -> f64 {
        let slices = &self.slices[dimension];
        let draw = self.key.draw(Purpose::Variant, self.names[dimension], WITHIN + index);
        (f64::from(slices[index as usize]) + unit(draw)) / slices.len() as f64
    }
}

/// The numbers below `count` in an order of luck: that of draws made for each.
fn permutation(key: Key, name: NameHash, count: u32) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    order.sort_by_cached_key(|&number| (key.draw(Purpose::Variant, name, number), number));
    order
}
