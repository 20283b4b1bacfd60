//! Files by name: the user's own, and those shipped inside the binary.

use std::path::Path;

use include_dir::{Dir, include_dir};
use windtunnel_policy::config::Policy;

use crate::input::{
    InputError, Place, SourceFile, check_name, did_you_mean, read_yaml_as, standard_input,
};

static DRILLS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/drills");
static MODELS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/models");
static POLICIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/policies");
static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/scenarios");
static SPACES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/spaces");

/// What a file is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// `scenarios/*.yaml`.
    Scenario,
    /// `policies/*.yaml`.
    Policy,
    /// `models/*.yaml`.
    Card,
    /// `models/traffic/*`.
    Profile,
    /// `spaces/*.yaml`.
    Space,
}

/// A shipped file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shipped {
    /// The name it is found by.
    pub name: String,
    /// Its path in the repository.
    pub path: String,
    /// Its text.
    pub text: &'static str,
}

impl Kind {
    /// Every kind, in the order they are listed.
    pub const ALL: [Kind; 5] =
        [Kind::Scenario, Kind::Policy, Kind::Card, Kind::Profile, Kind::Space];

    /// The word for it in messages.
    pub const fn noun(self) -> &'static str {
        match self {
            Kind::Scenario => "scenario",
            Kind::Policy => "policy",
            Kind::Card => "model card",
            Kind::Profile => "traffic profile",
            Kind::Space => "space",
        }
    }

    /// Its folder in the repository.
    pub const fn folder(self) -> &'static str {
        match self {
            Kind::Scenario => "scenarios",
            Kind::Policy => "policies",
            Kind::Card => "models",
            Kind::Profile => "models/traffic",
            Kind::Space => "spaces",
        }
    }

    fn shipped(self) -> Option<&'static Dir<'static>> {
        match self {
            Kind::Scenario => Some(&SCENARIOS),
            Kind::Policy => Some(&POLICIES),
            Kind::Card => Some(&MODELS),
            Kind::Profile => MODELS.get_dir("traffic"),
            Kind::Space => Some(&SPACES),
        }
    }
}

/// The shipped files of a kind, sorted by name.
pub fn list(kind: Kind) -> Vec<Shipped> {
    kind.shipped().map(|dir| files_in(dir, kind.folder())).unwrap_or_default()
}

/// The scenarios of the safety drills, sorted by name.
pub fn drills() -> Vec<Shipped> {
    files_in(&DRILLS, "drills")
}

fn files_in(dir: &'static Dir<'static>, folder: &str) -> Vec<Shipped> {
    let mut found: Vec<Shipped> = (dir.files())
        .filter_map(|file| {
            let leaf = file.path().file_name()?.to_str()?;
            let name = stem(leaf).filter(|name| !name.is_empty())?;
            let path = format!("{folder}/{leaf}");
            Some(Shipped { name: name.to_owned(), path, text: file.contents_utf8()? })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The file of this name: a path on disk, or a shipped file by its bare or its file name. The
/// scenario of a drill is a shipped scenario.
///
/// # Errors
/// There is no such file, or it cannot be read; names the nearest shipped one.
pub fn find(kind: Kind, name: &str) -> Result<SourceFile, InputError> {
    look_up(kind, name, Some(Path::new("")))
}

/// The file that another one names: a path relative to that one, or a shipped file. A shipped
/// file names shipped files only.
///
/// # Errors
/// There is no such file, or it cannot be read; names the nearest shipped one.
pub fn find_beside(kind: Kind, name: &str, by: &SourceFile) -> Result<SourceFile, InputError> {
    look_up(kind, name, by.folder.as_deref())
}

fn look_up(kind: Kind, name: &str, folder: Option<&Path>) -> Result<SourceFile, InputError> {
    if name.trim().is_empty() {
        return Err(InputError::new(format!("a {}", kind.noun()), "has an empty name"));
    }
    if let Some(folder) = folder {
        let path = folder.join(name);
        if name.contains(['/', '\\']) || path.is_file() {
            return SourceFile::read(&path);
        }
    }
    if name == "-" {
        return Err(standard_input());
    }
    let mut shipped = list(kind);
    if kind == Kind::Scenario {
        shipped.extend(drills());
    }
    let bare = stem(name).unwrap_or(name);
    if let Some(file) = shipped.iter().find(|file| file.name == bare) {
        let name = format!("{} (shipped)", file.path);
        return Ok(SourceFile { name, text: file.text.to_owned(), folder: None });
    }
    if let Some(path) = folder.map(|folder| folder.join(name)).filter(|path| path.is_dir()) {
        return SourceFile::read(&path);
    }
    let names = shipped.iter().map(|file| file.name.as_str());
    Err(InputError::new(name, format!("no file and no shipped {} of this name", kind.noun()))
        .fix(did_you_mean(bare, kind.noun(), names)))
}

/// Reads and checks a policy: a path, or a shipped policy's name.
///
/// # Errors
/// The file cannot be found or read, or holds a mistake.
pub fn load_policy(name: &str) -> Result<Policy, InputError> {
    read_policy(&find(Kind::Policy, name)?)
}

/// The shipped policy without recovery, whatever files lie about.
///
/// # Errors
/// Never, as long as the shipped policy is in order.
pub fn single() -> Result<Policy, InputError> {
    read_policy(&look_up(Kind::Policy, "single", None)?)
}

/// Reads and checks a policy from a file's text. One without a name takes its file's.
///
/// # Errors
/// The file holds a mistake.
pub fn read_policy(file: &SourceFile) -> Result<Policy, InputError> {
    let mut policy: Policy = read_yaml_as("a policy", file)?;
    if let Err(problems) = policy.validate() {
        let problem = problems.first().expect("a refusal names at least one problem");
        let place = Place::root(file).path(&problem.field);
        return Err(place.error(&problem.message).fix(&problem.fix));
    }
    if policy.name.is_empty() {
        let leaf = Path::new(&file.name).file_name().and_then(|leaf| leaf.to_str());
        policy.name = leaf.and_then(stem).unwrap_or(&file.name).to_owned();
    } else {
        check_name(&policy.name, &Place::root(file).key("name"))?;
    }
    Ok(policy)
}

/// A file's name without its ending; `None` where it is not that of a data file.
fn stem(leaf: &str) -> Option<&str> {
    [".yaml", ".yml", ".json"].iter().find_map(|ending| leaf.strip_suffix(ending))
}
