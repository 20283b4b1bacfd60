//! What the rows of a log name, each with its position.

use std::collections::BTreeMap;

use super::row::Row;
use super::{MOST_NAMES, Names, TargetName, Unusable};

/// Names, each with its position.
#[derive(Default)]
pub(super) struct Interned {
    pub(super) names: Names,
    targets: BTreeMap<String, u16>,
    classes: BTreeMap<String, u16>,
}

/// What a class is called in a log without classes.
const ONLY_CLASS: &str = "all";

impl Interned {
    pub(super) fn can_hold(&self, row: &Row) -> Result<(), Unusable> {
        let full = |known: &BTreeMap<String, u16>, name: Option<&str>| {
            known.len() >= MOST_NAMES && name.is_some_and(|name| !known.contains_key(name))
        };
        match full(&self.targets, row.target.as_deref())
            || full(&self.classes, row.class.as_deref())
        {
            true => Err(Unusable::TooManyNames),
            false => Ok(()),
        }
    }

    pub(super) fn class(&mut self, row: &Row) -> u16 {
        let name = row.class.as_deref().unwrap_or(ONLY_CLASS);
        if let Some(&known) = self.classes.get(name) {
            return known;
        }
        let new = u16::try_from(self.names.classes.len()).expect("at most 256 names");
        self.classes.insert(name.to_owned(), new);
        self.names.classes.push(name.to_owned());
        new
    }

    pub(super) fn target(&mut self, row: &Row) -> u16 {
        let name = row.target.as_deref().unwrap_or_default();
        if let Some(&known) = self.targets.get(name) {
            return known;
        }
        let new = u16::try_from(self.names.targets.len()).expect("at most 256 names");
        self.targets.insert(name.to_owned(), new);
        let or = |value: &Option<String>, other: &str| value.clone().unwrap_or(other.to_owned());
        self.names.targets.push(TargetName {
            name: name.to_owned(),
            provider: or(&row.provider, "unknown"),
            model: or(&row.model, name),
            region: or(&row.region, ""),
        });
        new
    }
}
