//! Spaces: which fields of a policy may vary, how, and which policies a sweep therefore tries.
//!
//! Three steps. A [`Space`] is what a user wrote, in a file or as `--vary`. [`Space::around`] holds
//! it against a base policy, which gives a [`PolicySpace`]: every path leads to a field, every value
//! has a place. A [`Plan`] is the variants drawn from that, each checked as a policy file would be,
//! before anything runs.
//!
//! A variant is kept as [`Levels`], one small number for each dimension; its policy is made when it
//! is wanted, so that a plan of a million variants takes little room.

mod around;
mod dimension;
mod document;
mod expression;
mod file;
mod level;
mod limits;
mod path;
mod plan;
mod quantity;
mod range;
mod refusal;
mod sample;
mod schema_walk;
#[cfg(test)]
mod tests;
mod vary;

pub use around::{Applied, PolicySpace, Variant};
pub use dimension::Dimension;
pub use file::{Choice, Range, Scale, Space, SpaceFile, Vary};
pub use level::{Level, Levels};
pub use path::FieldPath;
pub use plan::{Alike, MOST_VARIANTS, Plan, Tally};
pub use quantity::{Kind, Quantity};
pub(crate) use sample::grouped;
pub use sample::{Method, Sampling};
