//! What targets promise and classes need.

use windtunnel_policy::contract::{Contract, Needs};
use windtunnel_policy::target::RouteClass;
use windtunnel_policy::{Money, Price, Share};

use super::blocks::dist;
use super::targets::Resolved;
use crate::input::{InputError, Place, check_name};
use crate::scenario::{ClassSpec, ContractSpec, JudgedModel, NeedsSpec, Tokens};

/// What a target promises.
pub(super) fn contract(
    spec: Option<&ContractSpec>,
    at: &Place<'_>,
) -> Result<Contract, InputError> {
    let Some(spec) = spec else { return Ok(Contract::default()) };
    check_name(&spec.name, &at.key("name"))?;
    some_version(spec.schema, at)?;
    Ok(Contract {
        name: spec.name.clone(),
        version: spec.version,
        schema: spec.schema.unwrap_or(0),
        languages: spec.languages.clone(),
        quality: spec.quality,
        schema_validity: spec.schema_validity,
    })
}

/// What a class needs.
pub(super) fn needs(spec: Option<&NeedsSpec>, at: &Place<'_>) -> Result<Needs, InputError> {
    let Some(spec) = spec else { return Ok(Needs::default()) };
    some_version(spec.schema, at)?;
    if spec.version > 0 && spec.contract.is_none() {
        let fix = "name the contract, or leave the version out";
        return Err(at.key("version").error("is of no contract").fix(fix));
    }
    let price_ceiling = spec.price_ceiling.as_ref().map(|ceiling| {
        let at_most = |money: Option<Money>| money.map_or(u64::MAX, |m| m.as_pico() / 1_000_000);
        let (input, output) =
            (at_most(ceiling.input_per_million), at_most(ceiling.output_per_million));
        Price { input, cached: u64::MAX, output }
    });
    Ok(Needs {
        contract: spec.contract.clone().map(|name| (name, spec.version)),
        schema: spec.schema,
        languages: spec.languages.clone(),
        quality_floor: spec.quality_floor,
        schema_floor: spec.schema_floor,
        context_tokens: spec.context_tokens.map_or(0, Tokens::get),
        regions: spec.regions.clone(),
        price_ceiling,
        disclose_substitutes: spec.disclose_substitutes,
    })
}

fn some_version(schema: Option<u32>, at: &Place<'_>) -> Result<(), InputError> {
    match schema {
        Some(0) => Err(at.key("schema").error("is 0").fix("versions begin with 1")),
        _ => Ok(()),
    }
}

/// When the application judges the answers of a class.
pub(super) fn judged(spec: &ClassSpec, at: &Place<'_>) -> Result<Option<JudgedModel>, InputError> {
    let Some(judged) = &spec.judged else { return Ok(None) };
    let at = at.key("judged");
    if judged.share == Share::ZERO {
        return Err(at.key("share").error("is zero").fix("leave `judged` out"));
    }
    let after = dist(&judged.after, &at.key("after"))?;
    Ok(Some(JudgedModel { share: judged.share, after }))
}

/// At least one target of the class's own model promises what the class needs.
pub(super) fn check(
    targets: &[Resolved<'_>],
    classes: &[RouteClass],
    at: &Place<'_>,
) -> Result<(), InputError> {
    for class in classes {
        let mut members = class.groups.iter().flat_map(|group| &group.targets);
        if !members.any(|id| class.accepts(&targets[usize::from(id.0)].facts)) {
            let at = at.key("classes").key(&class.name).key("needs");
            let message = "no target of the class promises so much";
            return Err(at.error(message).fix("see `contract` of the targets"));
        }
    }
    Ok(())
}
