//! A variant as numbers.

/// What a dimension is set to: the position of one of its listed values, or a point of its range
/// in the range's smallest units. `None` where a condition leaves the dimension out, or where it is as in
/// the base.
pub type Level = Option<u64>;

/// The level of every dimension, in their order.
pub type Levels = Vec<Level>;
