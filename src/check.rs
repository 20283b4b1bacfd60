//! Files checked without running anything: what `windtunnel check` does.

mod apart;
mod kind;

use std::collections::BTreeSet;
use std::path::Path;

pub use self::apart::told_apart;
pub use self::kind::{FileKind, kind_of};
use crate::input::{InputError, SourceFile};
use crate::library::{Kind, find, load_policy};
use crate::lint::{self, PolicyFile};
use crate::log::ColumnMap;
use crate::profile::Profile;
use crate::resolve::check_switches;
use crate::scenario::{ModelCard, Scenario};
use crate::space::Space;

/// What checking some files found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// What is wrong, at most one mistake a file, in the order of the files.
    pub mistakes: Vec<InputError>,
    /// What is valid and wasteful.
    pub warnings: Vec<InputError>,
}

/// One good file.
enum Part {
    Scenario(Box<Scenario>, Vec<PolicyFile>),
    Policy(Box<PolicyFile>),
    Other(FileKind),
}

/// Checks each file as what its content says it is: a scenario with all it names, a model card, a
/// policy, a traffic profile, a space, kill switches, a mapping of columns. Policies are held against the scenarios that name them, and against
/// those among the files.
pub fn check<P: AsRef<Path>>(paths: &[P]) -> Checked {
    let mut checked = Checked::default();
    let mut parts = Vec::new();
    for path in paths {
        match read(path.as_ref()) {
            Ok(part) => parts.push(part),
            Err(mistake) => checked.mistakes.push(told_apart(mistake)),
        }
    }
    let given: Vec<&PolicyFile> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Policy(file) => Some(file.as_ref()),
            _ => None,
        })
        .collect();
    for part in &parts {
        checked.warnings.extend(match part {
            Part::Scenario(scenario, named) => {
                let mut found = lint::scenario(scenario);
                for file in named.iter().chain(given.iter().copied()) {
                    found.extend(lint::pair(file, scenario));
                }
                found
            }
            Part::Policy(file) => lint::policy(file),
            Part::Other(_) => Vec::new(),
        });
    }
    // A policy that a scenario names may be among the files as well, as `./p.yaml` or as `p.yaml`.
    let mut told = BTreeSet::new();
    let place_apart =
        |warning: &InputError| warning.to_string().trim_start_matches("./").to_owned();
    checked.warnings.retain(|warning| told.insert(place_apart(warning)));
    checked
}

/// Checks one file, or the shipped one of this name; says what it is.
///
/// # Errors
/// The first mistake in it, or in a file it names.
pub fn check_file(path: &Path) -> Result<FileKind, InputError> {
    Ok(match read(path)? {
        Part::Scenario(..) => FileKind::Shipped(Kind::Scenario),
        Part::Policy(_) => FileKind::Shipped(Kind::Policy),
        Part::Other(kind) => kind,
    })
}

fn read(path: &Path) -> Result<Part, InputError> {
    let file = file_or_shipped(path)?;
    let kind = kind_of(&file).map_err(|mistake| mistake.seeking("a file that people write"))?;
    match kind {
        FileKind::Shipped(Kind::Scenario) => {
            let scenario = Scenario::read(file)?;
            let policies = scenario.policy_files()?.into_iter().map(PolicyFile::read);
            let policies = policies.collect::<Result<_, _>>()?;
            return Ok(Part::Scenario(Box::new(scenario), policies));
        }
        FileKind::Shipped(Kind::Policy) => {
            return Ok(Part::Policy(Box::new(PolicyFile::read(file)?)));
        }
        FileKind::Shipped(Kind::Card) => drop(ModelCard::read(&file)?),
        FileKind::Shipped(Kind::Profile) => drop(Profile::read(&file)?),
        FileKind::Shipped(Kind::Space) => check_space(file)?,
        FileKind::Switches => check_switches(&file)?,
        FileKind::Columns => drop(ColumnMap::read(&file)?),
    }
    Ok(Part::Other(kind))
}

/// Holds a space against the policy it names, or the documented default.
fn check_space(file: SourceFile) -> Result<(), InputError> {
    let space = Space::read(file)?;
    let base = space.base_policy()?.map_or_else(|| load_policy("conservative"), Ok)?;
    space.around(&base).map(drop)
}

/// The file, or the shipped one of this name.
fn file_or_shipped(path: &Path) -> Result<SourceFile, InputError> {
    let bare = path.to_str().filter(|name| !name.contains(['/', '\\']) && !path.exists());
    let shipped = bare.and_then(|name| Kind::ALL.iter().find_map(|kind| find(*kind, name).ok()));
    shipped.map_or_else(|| SourceFile::read(path), Ok)
}
