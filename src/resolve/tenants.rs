//! Tenants: their shares of the traffic and of the retry budgets.

use std::collections::BTreeMap;

use windtunnel_policy::Share;
use windtunnel_policy::target::Tenant;

use super::frame::known;
use crate::input::{InputError, Place, check_name};
use crate::scenario::{ScenarioFile, TenantModel, TenantSpec};

/// No gateway of this kind tells more of them apart.
const MOST_TENANTS: usize = 1_000;

/// The tenants as the simulator sees them, sorted by name.
pub(super) fn resolve(file: &ScenarioFile, at: &Place<'_>) -> Result<Vec<TenantModel>, InputError> {
    let specs = &file.tenants;
    for (name, class) in &file.classes {
        if let Some(tenant) = &class.tenant {
            let at = at.key("classes").key(name).key("tenant");
            known(tenant, "tenant", specs.keys(), &at)?;
        }
    }
    if specs.is_empty() {
        return Ok(Vec::new());
    }
    let at = at.key("tenants");
    if specs.len() > MOST_TENANTS {
        return Err(at.error(format!("{} are more than {MOST_TENANTS}", specs.len())));
    }
    specs.keys().try_for_each(|name| check_name(name, &at.key(name)))?;
    let dealt = file.classes.values().any(|class| class.tenant.is_none());
    let up_to = traffic(specs, dealt, &at)?;
    let budget_shares = budget_shares(specs, &at)?;
    let tenants = specs.iter().zip(up_to).zip(budget_shares);
    let tenant = |(((name, spec), up_to), budget_share): (((&String, &TenantSpec), _), _)| {
        TenantModel { name: name.clone(), up_to, budget_share, priority: spec.priority }
    };
    Ok(tenants.map(tenant).collect())
}

/// The tenants as the policy core sees them.
pub(super) fn facts(tenants: &[TenantModel]) -> Vec<Tenant> {
    let fact = |tenant: &TenantModel| Tenant {
        name: tenant.name.clone(),
        budget_share: tenant.budget_share,
    };
    tenants.iter().map(fact).collect()
}

/// Shares of sessions of each tenant and all before it.
fn traffic(
    specs: &BTreeMap<String, TenantSpec>,
    dealt: bool,
    at: &Place<'_>,
) -> Result<Vec<Share>, InputError> {
    let shares: Vec<Share> = specs.values().map(|spec| spec.share).collect();
    let all = sum(&shares);
    if !is_whole(all, shares.len()) && (dealt || all > 0) {
        let message = format!("the shares add up to {}, not 100%", percent(all));
        let fix = match all {
            0 => "give each tenant its `share`, or every class its `tenant`",
            _ => "correct one of them",
        };
        return Err(at.error(message).fix(fix));
    }
    let mut reached = 0;
    let mut up_to: Vec<Share> = shares
        .iter()
        .map(|share| {
            reached += share.as_bits();
            Share::from_bits(reached)
        })
        .collect();
    // Decimals lie a hair below what they mean: the last who has any takes the rest.
    if let Some(last) = shares.iter().rposition(|share| *share > Share::ZERO) {
        up_to[last..].fill(Share::ONE);
    }
    Ok(up_to)
}

fn budget_shares(
    specs: &BTreeMap<String, TenantSpec>,
    at: &Place<'_>,
) -> Result<Vec<Share>, InputError> {
    let given: Vec<Share> = specs.values().filter_map(|spec| spec.budget_share).collect();
    let all = sum(&given);
    let open = (specs.len() - given.len()) as u64;
    let one = u128::from(Share::ONE.as_bits());
    if all > one {
        let message = format!("the budget shares add up to {}, more than 100%", percent(all));
        return Err(at.error(message).fix("lower one of them"));
    }
    let each = (one - all).checked_div(u128::from(open)).unwrap_or_default();
    let each = Share::from_bits(each as u64);
    Ok(specs.values().map(|spec| spec.budget_share.unwrap_or(each)).collect())
}

fn sum(shares: &[Share]) -> u128 {
    shares.iter().map(|share| u128::from(share.as_bits())).sum()
}

/// Whether so many decimals add up to one, as far as bits can say.
fn is_whole(all: u128, shares: usize) -> bool {
    // A decimal is read as a double: 53 bits of 63.
    let hair = (shares as u128) << 10;
    all.abs_diff(u128::from(Share::ONE.as_bits())) <= hair
}

fn percent(all: u128) -> String {
    let share = all as f64 / Share::ONE.as_bits() as f64;
    format!("{}%", (share * 1e6).round() / 1e4)
}
