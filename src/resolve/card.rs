//! Model cards: found, read and checked, each once.

use std::collections::BTreeMap;

use windtunnel_policy::target::Capabilities;

use super::{blocks, frame};
use crate::input::{InputError, Place, SourceFile, check_name, did_you_mean, read_yaml_as};
use crate::library::{Kind, find_beside};
use crate::scenario::{ModelCard, ScenarioFile};

/// A card and its text.
pub(super) struct Card {
    pub(super) source: SourceFile,
    pub(super) card: ModelCard,
}

/// The cards of all targets, by the name the scenario gives them.
pub(super) fn load_cards(
    file: &ScenarioFile,
    source: &SourceFile,
) -> Result<BTreeMap<String, Card>, InputError> {
    let mut cards = BTreeMap::new();
    for (name, target) in &file.targets {
        if cards.contains_key(&target.card) {
            continue;
        }
        let at = Place::root(source).key("targets").key(name).key("card");
        let found = find_beside(Kind::Card, &target.card, source).map_err(|e| at.adopt(e))?;
        let card: ModelCard = read_yaml_as("a model card", &found)?;
        check_card(&card, &Place::root(&found))?;
        cards.insert(target.card.clone(), Card { source: found, card });
    }
    Ok(cards)
}

/// Checks what a card holds beyond its types.
pub(super) fn check_card(card: &ModelCard, at: &Place<'_>) -> Result<(), InputError> {
    check_name(&card.name, &at.key("name"))?;
    check_name(&card.provider, &at.key("provider"))?;
    check_name(&card.model, &at.key("model"))?;
    for (name, source) in &card.sources {
        let at = at.key("sources").key(name);
        if source.what.trim().is_empty() {
            return Err(at.key("what").error("says nothing").fix("say where the figures are from"));
        }
        if !is_date(&source.date) {
            let message = format!("expected a date such as 2025-06-10, found `{}`", source.date);
            return Err(at.key("date").error(message));
        }
    }
    cited(card, at)?;
    for (name, tokens) in
        [("context_tokens", card.context_tokens), ("max_output_tokens", card.max_output_tokens)]
    {
        if tokens.get() == 0 {
            return Err(at.key(name).error("must be at least 1"));
        }
    }
    capabilities(&card.capabilities, &at.key("capabilities"))?;
    blocks::price(&card.price, &at.key("price"))?;
    blocks::latency(&card.latency, &at.key("latency"))?;
    blocks::capacity(&card.capacity, &at.key("capacity"))?;
    super::limits::check(&card.limits, &at.key("limits"))?;
    if let Some(cache) = &card.prompt_cache {
        blocks::prompt_cache(cache, &at.key("prompt_cache"))?;
    }
    if let Some(proxy) = &card.upstream_proxy {
        super::layers::proxy(proxy, &at.key("upstream_proxy"))?;
    }
    blocks::failures(&card.failures, &at.key("failures"))
}

/// The set a list of names stands for.
pub(super) fn capabilities(names: &[String], at: &Place<'_>) -> Result<Capabilities, InputError> {
    let mut set = Capabilities::NONE;
    for (i, name) in names.iter().enumerate() {
        let one = Capabilities::named(name).ok_or_else(|| {
            let fix = did_you_mean(name, "capability", Capabilities::NAMES);
            at.index(i).error(format!("no capability is called `{name}`")).fix(fix)
        })?;
        set = set.with(one);
    }
    Ok(set)
}

/// Every block names a source the card lists.
fn cited(card: &ModelCard, at: &Place<'_>) -> Result<(), InputError> {
    let blocks = [
        ("price", Some(&card.price.source)),
        ("latency", Some(&card.latency.source)),
        ("capacity", Some(&card.capacity.source)),
        ("failures", Some(&card.failures.source)),
        ("quality", card.quality.source.as_ref()),
        ("abort", card.abort.source.as_ref()),
        ("prompt_cache", card.prompt_cache.as_ref().map(|cache| &cache.source)),
    ];
    let sources = || card.sources.keys();
    for (block, source) in blocks {
        if let Some(source) = source {
            frame::known(source, "source", sources(), &at.key(block).key("source"))?;
        }
    }
    match &card.limits_source {
        Some(source) => frame::known(source, "source", sources(), &at.key("limits_source")),
        None if card.limits.is_empty() => Ok(()),
        None => {
            Err(at.key("limits").error("the limits have no source").fix("add `limits_source: …`"))
        }
    }
}

/// `2025`, `2025-06` or `2025-06-10`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let within = |part: &str, digits: usize, most: u32| {
        part.len() == digits
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse().is_ok_and(|n: u32| (1..=most).contains(&n))
    };
    match parts.as_slice() {
        [year] => within(year, 4, 9999),
        [year, month] => within(year, 4, 9999) && within(month, 2, 12),
        [year, month, day] => within(year, 4, 9999) && within(month, 2, 12) && within(day, 2, 31),
        _ => false,
    }
}
