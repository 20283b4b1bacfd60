//! Which targets there are: model cards, those of the provider that was hit first.

use crate::fit::NamedCard;
use crate::input::{InputError, SourceFile, did_you_mean, read_yaml};
use crate::library::{Kind, list};
use crate::scenario::ModelCard;

use super::file::Found;

/// A model card in use.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Target {
    pub(super) named: NamedCard,
    /// Its provider is the one that was hit.
    pub(super) hit: bool,
}

impl Target {
    /// Its card.
    pub(super) fn card(&self) -> &ModelCard {
        &self.named.card
    }
}

/// The targets of these names in their order of preference; those that the shipped cards suggest where
/// none is named.
///
/// # Errors
/// A card cannot be read, none is of the provider that was hit, or there is nothing to suggest.
pub(super) fn choose(found: &Found, named: &[String]) -> Result<Vec<Target>, InputError> {
    let provider = &found.incident.provider;
    let suggested = if named.is_empty() { suggested(found)? } else { named.to_vec() };
    let target = |named: NamedCard| Target { hit: named.card.provider == *provider, named };
    let targets: Vec<Target> = NamedCard::read(&suggested)?.into_iter().map(target).collect();
    if !targets.iter().any(|target| target.hit) {
        let there = targets.iter().map(|target| target.card().provider.as_str());
        return Err(found
            .at()
            .key("provider")
            .error(format!("no target is run by `{provider}`"))
            .fix(did_you_mean(provider, "provider", there)));
    }
    Ok(targets)
}

/// The shipped card of the provider whose model most other shipped cards serve, and those.
fn suggested(found: &Found) -> Result<Vec<String>, InputError> {
    let provider = &found.incident.provider;
    let mut cards = Vec::new();
    for shipped in list(Kind::Card) {
        let file = SourceFile { name: shipped.path, text: shipped.text.into(), folder: None };
        let card: ModelCard = read_yaml(&file)?;
        cards.push((shipped.name, card));
    }
    let elsewhere = |model: &str| -> Vec<String> {
        let others = cards.iter().filter(|(_, c)| c.model == *model && c.provider != *provider);
        others.map(|(name, _)| name.clone()).collect()
    };
    let own = cards.iter().filter(|(_, card)| card.provider == *provider);
    let best = own.map(|(name, card)| (name, elsewhere(&card.model))).max_by(|a, b| {
        // Of equals the first by name.
        a.1.len().cmp(&b.1.len()).then(b.0.cmp(a.0))
    });
    match best {
        Some((first, others)) if !others.is_empty() => {
            Ok([first.clone()].into_iter().chain(others).collect())
        }
        Some((first, _)) => Err(found
            .at()
            .key("provider")
            .error(format!("no shipped card offers another way than `{first}`"))
            .fix(format!("name your targets: `--target {first} --target CARD`"))),
        None => {
            let known = cards.iter().map(|(_, card)| card.provider.as_str());
            let near = did_you_mean(provider, "provider", known);
            Err(found
                .at()
                .key("provider")
                .error(format!("no shipped card is of the provider `{provider}`"))
                .fix(format!("name your targets with `--target CARD`; {near}")))
        }
    }
}
