//! The policy, the targets and the route class of a script.

use windtunnel_policy::config::Policy;
use windtunnel_policy::contract::{Contract, Needs};
use windtunnel_policy::target::{
    Capabilities, Group, Role, RouteClass, SideEffects, Target, TargetId, Tenant, Topology,
};
use windtunnel_policy::text::{parse_duration, parse_money, parse_share};
use windtunnel_policy::{Duration, Money, Price};

/// The policy: YAML, its comments the prose.
pub(crate) fn policy(text: &str) -> Result<Policy, String> {
    let bare = text.lines().all(|line| line.is_empty() || line.starts_with('#'));
    if bare {
        return Ok(Policy::default());
    }
    serde_saphyr::from_str(text).map_err(|e| e.to_string())
}

/// Lines `target NAME key=value…`, `group NAME…`, `class key=value…`, `tenant NAME SHARE`. A line
/// `class NAME: key=value…` adds a further class with the same groups.
pub(crate) fn topology(text: &str) -> Result<Topology, String> {
    let mut topology = Topology::default();
    let mut class = RouteClass {
        name: "chat".into(),
        deadline_total: Duration::MAX,
        deadline_first_output: Duration::MAX,
        side_effects: SideEffects::None,
        required: Capabilities::NONE,
        needs: Needs::default(),
        substitutes: Vec::new(),
        max_cost: Money::MAX,
        groups: Vec::new(),
    };
    let mut further: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["target", name, ref facts @ ..] => topology.targets.push(target(name, facts)?),
            ["group", ref names @ ..] => {
                let role = match class.groups.len() {
                    0 => Role::Primary,
                    n => Role::Fallback(n as u8),
                };
                let ids = names.iter().map(|name| target_id(&topology, name));
                class.groups.push(Group { role, targets: ids.collect::<Result<_, _>>()? });
            }
            ["class", name, ref facts @ ..] if name.ends_with(':') => {
                further.push((name.trim_end_matches(':'), facts.to_vec()));
            }
            ["class", ref facts @ ..] => facts_of(&mut class, facts)?,
            ["tenant", name, share] => topology
                .tenants
                .push(Tenant { name: name.into(), budget_share: parse_share(share)? }),
            [] => {}
            _ => return Err(format!("`{line}` is neither target, group, class nor tenant")),
        }
    }
    topology.classes.push(class);
    for (name, facts) in further {
        let mut class = RouteClass { name: name.into(), ..topology.classes[0].clone() };
        facts_of(&mut class, &facts)?;
        topology.classes.push(class);
    }
    Ok(topology)
}

/// The target of this name.
pub(crate) fn target_id(topology: &Topology, name: &str) -> Result<TargetId, String> {
    let place = topology.targets.iter().position(|t| t.name == name);
    place.map(|i| TargetId(i as u16)).ok_or_else(|| format!("no target `{name}`"))
}

/// The value of `key=value` among some words.
pub(crate) fn value<'a>(words: &[&'a str], key: &str) -> Option<&'a str> {
    words.iter().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
}

fn target(name: &str, facts: &[&str]) -> Result<Target, String> {
    let text = |key, default: &str| value(facts, key).unwrap_or(default).to_string();
    let number = |key: &str, default: u64| match value(facts, key) {
        None => Ok(default),
        Some(text) => text.parse().map_err(|_| format!("{key} is a number")),
    };
    // Dollars per million tokens are millionths of a dollar per token: 10⁶ picodollars.
    let per_million = |key: &str| number(key, 0).map(|dollars| dollars * 1_000_000);
    Ok(Target {
        name: name.into(),
        provider: text("provider", name),
        model: text("model", "m"),
        region: text("region", "here"),
        deployment: text("deployment", name),
        account: text("account", name),
        price: Price {
            input: per_million("input$")?,
            cached: per_million("cached$")?,
            output: per_million("output$")?,
        },
        context_tokens: number("context", u32::MAX.into())? as u32,
        capabilities: capabilities(value(facts, "can").unwrap_or(""))?,
        contract: Contract {
            name: text("contract", ""),
            version: number("version", 0)? as u32,
            schema: number("schema", 0)? as u32,
            languages: listed(value(facts, "speaks")),
            quality: value(facts, "quality").map(parse_share).transpose()?,
            schema_validity: value(facts, "valid").map(parse_share).transpose()?,
        },
        weight: number("weight", 1)? as u32,
        priority: number("priority", 0)? as u16,
        failover_in_flight: value(facts, "failover_in_flight").and_then(|n| n.parse().ok()),
        prior_latency: parse_duration(value(facts, "prior").unwrap_or("1s"))?,
    })
}

fn facts_of(class: &mut RouteClass, facts: &[&str]) -> Result<(), String> {
    if let Some(deadline) = value(facts, "deadline") {
        class.deadline_total = parse_duration(deadline)?;
    }
    if let Some(deadline) = value(facts, "first_output") {
        class.deadline_first_output = parse_duration(deadline)?;
    }
    if let Some(cost) = value(facts, "max_cost") {
        class.max_cost = parse_money(cost)?;
    }
    if let Some(models) = value(facts, "substitutes") {
        class.substitutes = models.split(',').map(Into::into).collect();
    }
    if let Some(names) = value(facts, "needs") {
        class.required = capabilities(names)?;
    }
    let number =
        |key: &str| value(facts, key).map(|n| n.parse().map_err(|_| "a version".to_string()));
    class.needs = Needs {
        contract: match value(facts, "contract") {
            None => None,
            Some(name) => Some((name.into(), number("version").transpose()?.unwrap_or(0))),
        },
        schema: number("schema").transpose()?,
        languages: listed(value(facts, "speaks")),
        quality_floor: value(facts, "floor").map(parse_share).transpose()?,
        schema_floor: value(facts, "keeps").map(parse_share).transpose()?,
        context_tokens: number("context").transpose()?.unwrap_or(0),
        regions: listed(value(facts, "in")),
        price_ceiling: None,
        disclose_substitutes: facts.contains(&"disclose"),
    };
    if facts.contains(&"writes") {
        class.side_effects = SideEffects::WritePossible;
    }
    Ok(())
}

fn listed(names: Option<&str>) -> Vec<String> {
    names.into_iter().flat_map(|names| names.split(',')).map(Into::into).collect()
}

fn capabilities(names: &str) -> Result<Capabilities, String> {
    names.split(',').filter(|n| !n.is_empty()).try_fold(Capabilities::NONE, |all, name| {
        Ok(all.with(Capabilities::named(name).ok_or_else(|| format!("no capability `{name}`"))?))
    })
}
