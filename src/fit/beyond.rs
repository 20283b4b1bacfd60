//! Targets that a log does not show: what they answer, hold and charge is what their model cards say.

use std::path::Path;

use super::fitted_file::FittedFile;
use super::{ClassFit, Fit};
use crate::input::{InputError, SourceFile, read_yaml};
use crate::library::{Kind, find};
use crate::scenario::ModelCard;

/// A model card that a user has named: a shipped one, or a file of their own.
#[derive(Clone, PartialEq, Debug)]
pub struct NamedCard {
    pub(crate) card: ModelCard,
    /// The user's own; a shipped one needs no copy.
    own: Option<SourceFile>,
}

impl NamedCard {
    /// The cards of these names, in their order.
    ///
    /// # Errors
    /// One cannot be read, or is named twice.
    pub fn read(named: &[String]) -> Result<Vec<NamedCard>, InputError> {
        let mut cards: Vec<NamedCard> = Vec::new();
        for name in named {
            let file = find(Kind::Card, name)?;
            let card: ModelCard = read_yaml(&file)?;
            if cards.iter().any(|other| other.card.name == card.name) {
                return Err(InputError::new("--target", format!("`{}` is named twice", card.name))
                    .fix("name each target once, in the order they are tried"));
            }
            let own = Path::new(name).is_file().then_some(file);
            cards.push(NamedCard { card, own });
        }
        Ok(cards)
    }

    /// How a scenario beside which [`NamedCard::file`] is written names it.
    pub(crate) fn reference(&self) -> String {
        match self.own {
            Some(_) => format!("models/{}.yaml", self.card.name),
            None => self.card.name.clone(),
        }
    }

    /// The copy that the scenario takes with it.
    pub(crate) fn file<'a>(&self) -> Option<FittedFile<'a>> {
        let own = self.own.as_ref()?;
        Some(FittedFile::new(self.reference(), own.text.clone()))
    }

    /// What is taken from it, in words.
    pub(crate) fn said(&self) -> String {
        let assumed = self.card.sources.values().any(|source| source.assumed);
        format!(
            "{}: times, limits, prices and ordinary failures are those of {}{}",
            self.card.name,
            if self.own.is_some() { "your card" } else { "the shipped card" },
            if assumed { ", some of which nobody measured" } else { "" }
        )
    }
}

impl Fit {
    /// The same world with further targets, which every route class tries after those of the log.
    ///
    /// # Errors
    /// The log shows one of them.
    pub fn with(mut self, beyond: Vec<NamedCard>) -> Result<Fit, InputError> {
        for NamedCard { card, .. } in &beyond {
            // File systems may not tell capitals apart.
            let same = self.targets.iter().find(|fit| fit.name.eq_ignore_ascii_case(&card.name));
            if let Some(fitted) = same {
                let what = format!("the log shows `{}` already", fitted.name);
                return Err(InputError::new("--target", what).fix(
                    "it takes targets that the log does not show: call the card otherwise, or edit what `fit` writes",
                ));
            }
        }
        self.beyond = beyond;
        Ok(self)
    }

    /// What stands for targets that the log does not show, or that there is none.
    pub(super) fn said_of_targets(&self) -> Vec<String> {
        let alone = |class: &ClassFit| class.roles.groups.iter().map(Vec::len).sum::<usize>() < 2;
        if self.beyond.is_empty() && self.classes.iter().all(alone) {
            return vec![
                "every request has one target to go to: what another would have answered is not identified, and no policy fails over here; `--target CARD` brings in a target that the log does not show".into(),
            ];
        }
        let of = |card: &NamedCard| format!("{}; the log does not show it", card.said());
        self.beyond.iter().map(of).collect()
    }

    /// The names of the targets that were brought in.
    pub fn brought_in(&self) -> Vec<&str> {
        self.beyond.iter().map(|named| named.card.name.as_str()).collect()
    }

    /// Where this target's own totals are in [`Fit::lived`]; none where the log does not show it.
    pub fn position(&self, target: &str) -> Option<usize> {
        self.targets.iter().position(|fit| fit.name == target)
    }
}
