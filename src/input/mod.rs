//! What users wrote, read with care: one clear error with file, line, column, field and remedy.
//!
//! Three steps, each with its own failure: a [`SourceFile`] is bytes that are text; [`read_yaml`]
//! makes a type of it; a [`Place`] names one value in it, for checks that need more than the type.

mod error;
mod naming;
mod nearest;
mod place;
mod source;
mod tree;
mod yaml;

pub use error::InputError;
pub(crate) use naming::{check_name, check_title};
pub(crate) use nearest::likeness;
pub use nearest::{did_you_mean, nearest};
pub use place::Place;
pub use source::SourceFile;
pub use source::open;
pub(crate) use source::{plain, standard_input};
pub use yaml::{read_yaml, read_yaml_as};

/// The fields at the top of a YAML file; none where it is no map.
pub fn top_level_keys(file: &SourceFile) -> Vec<String> {
    tree::Node::parse(&file.text).map_or(Vec::new(), |tree| tree.keys())
}

#[cfg(test)]
mod tests;
