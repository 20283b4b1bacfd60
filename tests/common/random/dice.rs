//! Choices of the generators; no luck of a run.

use serde_json::Value;

/// SplitMix64.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub(crate) fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }

    /// One of these, or nothing as often as all of them together.
    pub(crate) fn maybe(&mut self, of: &[&str]) -> Value {
        if self.one_in(2) { Value::Null } else { self.pick(of).into() }
    }

    pub(crate) fn percent(&mut self, of: &[u64]) -> Value {
        format!("{}%", self.pick(of)).into()
    }
}

/// The object without fields that are null: absent is the default.
pub(crate) fn without_nulls(mut object: Value) -> Value {
    if let Some(fields) = object.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    object
}
