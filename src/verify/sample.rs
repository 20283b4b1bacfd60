//! Targets for a policy that is looked at alone, by the roles policies speak of.

use windtunnel_policy::config::{KeyPart, Policy};
use windtunnel_policy::target::{
    Capabilities, Group, Role, RouteClass, SideEffects, Target, TargetId, Tenant, Topology,
};
use windtunnel_policy::{Duration, Money, Price, Share};

/// Two primaries of one model in two regions on one account, an equal fallback of another provider,
/// and an approved substitute with a larger window, a higher price and a smaller promise. One class
/// only asks, the other may write and has little money.
///
/// Where the policy divides a budget by tenant, there are two, the second with a quarter of it. Where a
/// breaker is keyed by capability, whoever writes requires tools.
pub(super) fn topology_for(policy: &Policy) -> Topology {
    let targets = vec![
        target("primary-east", "first", "model", "east"),
        target("primary-west", "first", "model", "west"),
        target("fallback", "second", "model", "east"),
        Target {
            context_tokens: 128_000,
            capabilities: named(&["streaming", "tools"]),
            price: Price { input: 3_000_000, cached: 300_000, output: 15_000_000 },
            ..target("substitute", "third", "other-model", "east")
        },
    ];
    let ask = class("ask", SideEffects::None);
    let write = RouteClass {
        deadline_first_output: Duration::from_secs(20),
        // Two attempts on the model's own targets, and a little more.
        max_cost: Money::from_pico(20_000_000_000),
        required: match policy.breakers.iter().any(|rule| rule.key.contains(&KeyPart::Capability)) {
            true => named(&["tools"]),
            false => Capabilities::NONE,
        },
        ..class("write", SideEffects::WritePossible)
    };
    let tenant = |name: &str, budget_share| Tenant { name: name.into(), budget_share };
    let tenants = match policy.retry_budgets.iter().any(|budget| budget.by_tenant) {
        true => vec![tenant("large", Share::ratio(3, 4)), tenant("small", Share::ratio(1, 4))],
        false => Vec::new(),
    };
    Topology { targets, classes: vec![ask, write], tenants }
}

fn target(name: &str, provider: &str, model: &str, region: &str) -> Target {
    Target {
        name: name.into(),
        provider: provider.into(),
        model: model.into(),
        region: region.into(),
        deployment: name.into(),
        account: "main".into(),
        price: Price { input: 2_500_000, cached: 1_250_000, output: 10_000_000 },
        context_tokens: 16_000,
        capabilities: named(&["streaming", "tools", "structured_output"]),
        weight: 1,
        priority: 0,
        contract: Default::default(),
        failover_in_flight: None,
        prior_latency: Duration::from_secs(4),
    }
}

fn named(names: &[&str]) -> Capabilities {
    let each = names.iter().filter_map(|name| Capabilities::named(name));
    each.fold(Capabilities::NONE, Capabilities::with)
}

fn class(name: &str, side_effects: SideEffects) -> RouteClass {
    let groups =
        [(Role::Primary, vec![0, 1]), (Role::Fallback(1), vec![2]), (Role::LargerWindow, vec![3])];
    let groups =
        groups.map(|(role, ids)| Group { role, targets: ids.into_iter().map(TargetId).collect() });
    RouteClass {
        name: name.into(),
        deadline_total: Duration::from_secs(60),
        deadline_first_output: Duration::MAX,
        side_effects,
        required: Capabilities::NONE,
        needs: Default::default(),
        substitutes: vec!["other-model".into()],
        max_cost: Money::MAX,
        groups: groups.into(),
    }
}
