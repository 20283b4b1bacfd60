//! Targets: a card, and what the scenario says differently.

use std::collections::BTreeMap;

use windtunnel_policy::Duration;
use windtunnel_policy::target::{Capabilities, Target};

use super::card::{Card, capabilities};
use super::{blocks, contracts, layers};
use crate::draw::NameHash;
use crate::input::{InputError, Place, check_name};
use crate::scenario::{FailureModel, LimitSpec, ScenarioFile, Stick, TargetModel, TargetSpec};

/// A target as the fleet and as the policy core see it, and its limits with their place.
pub(super) struct Resolved<'a> {
    pub(super) model: TargetModel,
    pub(super) facts: Target,
    pub(super) limits: &'a [LimitSpec],
    pub(super) limits_at: Place<'a>,
}

/// All targets, sorted by name.
pub(super) fn resolve<'a>(
    file: &'a ScenarioFile,
    cards: &'a BTreeMap<String, Card>,
    at: &Place<'a>,
) -> Result<Vec<Resolved<'a>>, InputError> {
    let targets = file.targets.iter().map(|(name, spec)| {
        target(name, spec, &cards[&spec.card], &file.stick, &at.key("targets").key(name))
    });
    targets.collect()
}

fn target<'a>(
    name: &str,
    spec: &'a TargetSpec,
    card: &'a Card,
    stick: &Stick,
    at: &Place<'a>,
) -> Result<Resolved<'a>, InputError> {
    let card_at = Place::root(&card.source);
    let card = &card.card;
    // Where a block comes from is where its mistakes are reported.
    let place = |replaced: bool, block: &str| {
        if replaced { at.key(block) } else { card_at.key(block) }
    };
    let price_at = place(spec.price.is_some(), "price");
    let price = spec.price.as_ref().unwrap_or(&card.price);
    let latency_at = place(spec.latency.is_some(), "latency");
    let latency = spec.latency.as_ref().unwrap_or(&card.latency);
    let capacity = spec.capacity.as_ref().unwrap_or(&card.capacity);
    blocks::capacity(capacity, &place(spec.capacity.is_some(), "capacity"))?;
    let failures = spec.failures.as_ref().unwrap_or(&card.failures);
    blocks::failures(failures, &place(spec.failures.is_some(), "failures"))?;
    let limits_at = place(spec.limits.is_some(), "limits");
    let limits = spec.limits.as_deref().unwrap_or(&card.limits);
    super::limits::check(limits, &limits_at)?;
    let upstream_proxy = spec.upstream_proxy.as_ref().or(card.upstream_proxy.as_ref());
    if let Some(proxy) = upstream_proxy {
        layers::proxy(proxy, &place(spec.upstream_proxy.is_some(), "upstream_proxy"))?;
    }
    let prompt_cache = spec.prompt_cache.as_ref().or(card.prompt_cache.as_ref());
    if let Some(cache) = prompt_cache {
        blocks::prompt_cache(cache, &place(spec.prompt_cache.is_some(), "prompt_cache"))?;
    }
    if spec.weight == 0 {
        return Err(at.key("weight").error("is zero").fix("leave the target out of its group"));
    }
    if spec.context_tokens.is_some_and(|tokens| tokens.get() == 0) {
        return Err(at.key("context_tokens").error("must be at least 1"));
    }
    check_name(&spec.account, &at.key("account"))?;
    let region = spec.region.as_ref().unwrap_or(&card.region);
    let deployment = spec.deployment.clone().unwrap_or_else(|| name.to_owned());
    if !region.is_empty() {
        check_name(region, &place(spec.region.is_some(), "region"))?;
    }
    check_name(&deployment, &at.key("deployment"))?;

    let model = TargetModel {
        name: name.to_owned(),
        hash: NameHash::of(name),
        provider: card.provider.clone(),
        model: card.model.clone(),
        region: region.clone(),
        deployment,
        account: spec.account.clone(),
        price: blocks::price(price, &price_at)?,
        bill_failed: price.failed,
        bill_cancelled: price.cancelled,
        latency: blocks::latency(latency, &latency_at)?,
        capacity: capacity.clone(),
        limits: Vec::new(),
        failures: FailureModel {
            mix: failures.mix.clone(),
            broken_streams: failures.broken_streams,
            stalled_streams: failures.stalled_streams,
            stick: failures.stick.unwrap_or(*stick),
        },
        quality: spec.quality.as_ref().unwrap_or(&card.quality).clone(),
        abort: spec.abort.as_ref().unwrap_or(&card.abort).clone(),
        upstream_proxy: upstream_proxy.cloned(),
        prompt_cache: prompt_cache.cloned(),
        max_output_tokens: card.max_output_tokens.get(),
    };
    let able = capabilities(&card.capabilities, &card_at.key("capabilities"))?;
    let context = spec.context_tokens.unwrap_or(card.context_tokens).get();
    let contract = contracts::contract(spec.contract.as_ref(), &at.key("contract"))?;
    let facts = Target { contract, ..facts(&model, able, context, spec) };
    Ok(Resolved { model, facts, limits, limits_at })
}

/// The target as the policy core sees it; the prior latency is set once traffic is known.
fn facts(model: &TargetModel, able: Capabilities, context: u32, spec: &TargetSpec) -> Target {
    Target {
        name: model.name.clone(),
        provider: model.provider.clone(),
        model: model.model.clone(),
        region: model.region.clone(),
        deployment: model.deployment.clone(),
        account: model.account.clone(),
        price: model.price,
        context_tokens: context,
        capabilities: able,
        weight: spec.weight,
        contract: Default::default(),
        priority: spec.priority,
        failover_in_flight: spec.failover_in_flight,
        prior_latency: Duration::ZERO,
    }
}
