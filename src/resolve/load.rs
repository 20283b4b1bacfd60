//! From a name to a scenario that can be run.

use std::path::{Path, PathBuf};

use windtunnel_policy::config::Policy;

use super::{card::check_card, resolve};
use crate::input::{InputError, Place, SourceFile, read_yaml_as};
use crate::library::{Kind, find, find_beside, read_policy};
use crate::profile::Profile;
use crate::scenario::{Arrivals, ModelCard, Scenario, ScenarioFile};

impl Scenario {
    /// Loads a scenario: a path, or a shipped scenario's name. What it names (model cards,
    /// profiles, traces) is loaded with it, relative to it or shipped.
    ///
    /// # Errors
    /// A file cannot be found or read, or holds a mistake.
    pub fn load(name: &str) -> Result<Scenario, InputError> {
        Scenario::read(find(Kind::Scenario, name)?)
    }

    /// The same, with the kill switches of this file besides.
    ///
    /// # Errors
    /// A file cannot be found or read, or holds a mistake.
    pub fn load_with_switches(name: &str, switches: &Path) -> Result<Scenario, InputError> {
        let source = find(Kind::Scenario, name)?;
        let file: ScenarioFile = read_yaml_as("a scenario", &source)?;
        resolve(source, file, Some(&SourceFile::read(switches)?))
    }

    /// A scenario from a file's text.
    ///
    /// # Errors
    /// It, or a file it names, cannot be found or read or holds a mistake.
    pub fn read(source: SourceFile) -> Result<Scenario, InputError> {
        let file: ScenarioFile = read_yaml_as("a scenario", &source)?;
        resolve(source, file, None)
    }

    /// Reads and checks the policies the scenario names, in its order.
    ///
    /// # Errors
    /// One cannot be found or read, or holds a mistake.
    pub fn load_policies(&self) -> Result<Vec<Policy>, InputError> {
        self.policy_files()?.iter().map(read_policy).collect()
    }

    /// The files of the policies the scenario names, in its order.
    ///
    /// # Errors
    /// One cannot be found.
    pub fn policy_files(&self) -> Result<Vec<SourceFile>, InputError> {
        let at = Place::root(&self.source).key("policies");
        let find = |(i, name): (usize, &String)| {
            find_beside(Kind::Policy, name, &self.source).map_err(|e| at.index(i).adopt(e))
        };
        self.file.policies.iter().enumerate().map(find).collect()
    }

    /// The files on disk it was read from: its own, and the cards, profiles and traces it names.
    /// Shipped ones are not among them.
    pub fn files(&self) -> Vec<PathBuf> {
        let Some(folder) = &self.source.folder else { return Vec::new() };
        let cards = self.file.targets.values().map(|target| target.card.as_str());
        let recorded =
            self.file.classes.values().filter_map(|class| match &class.traffic.arrivals {
                Arrivals::Profile(used) => Some(used.file.as_str()),
                Arrivals::Trace(used) => Some(used.file.as_str()),
                _ => None,
            });
        let named = cards
            .chain(recorded)
            .chain(self.file.switches.as_deref())
            .map(|name| folder.join(name));
        let named = named.filter(|path| path.is_file());
        [PathBuf::from(&self.source.name)].into_iter().chain(named).collect()
    }
}

impl ModelCard {
    /// Reads and checks a model card from a file's text.
    ///
    /// # Errors
    /// The file holds a mistake.
    pub fn read(source: &SourceFile) -> Result<ModelCard, InputError> {
        let card: ModelCard = read_yaml_as("a model card", source)?;
        check_card(&card, &Place::root(source))?;
        Ok(card)
    }
}

impl Profile {
    /// Reads and checks a traffic profile from a file's text.
    ///
    /// # Errors
    /// The file holds a mistake.
    pub fn read(source: &SourceFile) -> Result<Profile, InputError> {
        let profile: Profile = read_yaml_as("a traffic profile", source)?;
        match profile.check() {
            Ok(()) => Ok(profile),
            Err(error) => Err(InputError::new(&source.name, error.to_string())
                .fix("make it anew with `windtunnel profile`")),
        }
    }
}
