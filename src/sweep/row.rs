//! One variant's row.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What one variant set, and what came of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Its number; the base is 0.
    pub variant: u64,
    /// SHA-256 of its policy's data, in hexadecimal.
    pub policy: String,
    /// Its cells, by the header's fields.
    pub fields: Vec<Value>,
    /// Its figures, by the header's.
    pub figures: Vec<Figure>,
}

/// A value and its 95 % interval, as far as they are known.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Figure(Option<f64>, Option<f64>, Option<f64>);

impl Figure {
    /// A figure of a value and its interval.
    pub fn new(value: Option<f64>, ci95: Option<(f64, f64)>) -> Figure {
        Figure(value, ci95.map(|(lo, _)| lo), ci95.map(|(_, hi)| hi))
    }

    /// The value.
    pub fn value(self) -> Option<f64> {
        self.0
    }

    /// The interval.
    pub fn ci95(self) -> Option<(f64, f64)> {
        Some((self.1?, self.2?))
    }

    /// Value, low end, high end.
    pub fn parts(self) -> [Option<f64>; 3] {
        [self.0, self.1, self.2]
    }
}
