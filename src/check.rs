//! Files checked without running anything: what `windtunnel check` does.

use std::path::Path;

use crate::input::{InputError, SourceFile, read_yaml, top_level_keys};
use crate::library::{Kind, find, read_policy};
use crate::profile::Profile;
use crate::scenario::{ModelCard, Scenario};
use crate::schema;

/// Checks each file as what its content says it is: a scenario with all it names, a model card, a
/// policy, a traffic profile. Returns what is wrong, at most one mistake a file, in the order of the paths.
pub fn check<P: AsRef<Path>>(paths: &[P]) -> Vec<InputError> {
    paths.iter().filter_map(|path| check_file(path.as_ref()).err()).collect()
}

/// Checks one file, or the shipped one of this name; says what it is.
///
/// # Errors
/// The first mistake in it, or in a file it names.
pub fn check_file(path: &Path) -> Result<Kind, InputError> {
    let file = file_or_shipped(path)?;
    let kind = kind_of(&file)?;
    match kind {
        Kind::Scenario => drop(Scenario::read(file)?.load_policies()?),
        Kind::Policy => drop(read_policy(&file)?),
        Kind::Card => drop(ModelCard::read(&file)?),
        Kind::Profile => drop(Profile::read(&file)?),
    }
    Ok(kind)
}

/// The file, or the shipped one of this name.
fn file_or_shipped(path: &Path) -> Result<SourceFile, InputError> {
    let bare = path.to_str().filter(|name| !name.contains(['/', '\\']) && !path.exists());
    let shipped = bare.and_then(|name| Kind::ALL.iter().find_map(|kind| find(*kind, name).ok()));
    shipped.map_or_else(|| SourceFile::read(path), Ok)
}

/// What a file is: the kind most of its top-level fields belong to.
///
/// # Errors
/// The file is no YAML, or none of its fields tells.
pub fn kind_of(file: &SourceFile) -> Result<Kind, InputError> {
    // Whatever it is, it must be YAML: this tells mistakes in the text.
    read_yaml::<serde::de::IgnoredAny>(file)?;
    let keys = top_level_keys(file);
    let mut best = (0, None);
    for kind in Kind::ALL {
        let fields = schema::fields(kind);
        // Names and descriptions tell nothing, and two kinds have sources.
        let telling = |key: &&String| !matches!(key.as_str(), "name" | "description" | "sources");
        let score = keys.iter().filter(telling).filter(|key| fields.contains(key)).count();
        if score > best.0 {
            best = (score, Some(kind));
        }
    }
    best.1.ok_or_else(|| {
        InputError::new(
            &file.name,
            "is neither a scenario, nor a policy, a model card or a profile",
        )
        .fix("`windtunnel schema` prints what each holds")
    })
}
